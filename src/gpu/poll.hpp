// The poll between launches, which decides whether to go on.
#ifndef KESTREL_GPU_POLL_HPP
#define KESTREL_GPU_POLL_HPP

#include <exception>

#include "core/base/parallel.hpp"

namespace kestrel {

/// The caller's poll, behind the C interface of the table: what it throws is kept here. A call's
/// fractions are mapped to those from `begin` to `end` of the whole. Keeps a reference to the poll.
struct PollState {
  const Poll* poll;
  double begin = 0.0, end = 1.0;
  std::exception_ptr thrown;

  explicit PollState(const Poll& ask_whom) : poll(&ask_whom) {}

  void rethrow() const {
    if (thrown) std::rethrow_exception(thrown);
  }

  static int ask(void* context, double fraction) {
    PollState& state = *static_cast<PollState*>(context);
    if (!*state.poll) return 0;
    try {
      (*state.poll)(state.begin + fraction * (state.end - state.begin));
    } catch (...) {
      state.thrown = std::current_exception();
      return 1;
    }
    return 0;
  }
};

}  // namespace kestrel

#endif
