// The poll between launches, which decides whether to go on.
#ifndef KESTREL_GPU_POLL_HPP
#define KESTREL_GPU_POLL_HPP

#include <exception>

#include "core/base/parallel.hpp"

namespace kestrel {

/// Thrown by PollState::rethrow() where another device's work has ended the loop of all.
struct StoppedByOthers {};

/// The caller's poll, behind the C interface of the table: what it throws is kept here. A call's
/// fractions are mapped to those from `begin` to `end` of the whole. Keeps a reference to the poll.
/// In a loop over pieces on several devices, the loop's poll is asked instead.
struct PollState {
  const Poll* poll;
  double begin = 0.0, end = 1.0;
  bool in_loop = false;
  std::exception_ptr thrown;

  explicit PollState(const Poll& ask_whom) : poll(&ask_whom) {}

  void rethrow() const {
    if (thrown) std::rethrow_exception(thrown);
  }

  static int ask(void* context, double fraction) {
    PollState& state = *static_cast<PollState*>(context);
    try {
      if (state.in_loop) {
        if (loop_is_stopped()) throw StoppedByOthers();
        poll_if_due({});
      } else if (*state.poll) {
        (*state.poll)(state.begin + fraction * (state.end - state.begin));
      }
    } catch (...) {
      state.thrown = std::current_exception();
      return 1;
    }
    return 0;
  }
};

}  // namespace kestrel

#endif
