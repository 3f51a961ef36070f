// Pieces of a task on all devices that may be used.
#ifndef KESTREL_GPU_DEVICES_HPP
#define KESTREL_GPU_DEVICES_HPP

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/parallel.hpp"
#include "gpu/loader.hpp"
#include "gpu/poll.hpp"

namespace kestrel {

/// How many pieces to cut a task into that takes an H200 so many seconds: 24, 8, 4, 2 or 1, so that
/// a piece takes 6 ms or more, and so that 2, 4 and 8 devices have equal shares. It must not depend
/// on the devices that there are, since results do not.
std::size_t piece_count(double seconds);

/// The size of a piece at least, in whatever it is measured; `usual`: but for tests.
double least_piece(double usual);

/// The length of equal pieces of `all`, a multiple of `unit`.
std::size_t piece_length(std::size_t all, std::size_t pieces, std::size_t unit);

/// What a task has on the devices of gpu_devices(): a handle on each that it uses. The first one
/// has the data from the host, all others from there.
class DeviceTeam {
 public:
  /// Opens a handle on a device; `from`: null, or another device's handle. Throws by check_gpu().
  using Open = std::function<void*(int device, const void* from)>;
  using Close = void (*)(void* handle);
  /// A device while it has a piece; `place` is its place in the team.
  struct Turn {
    void* handle;
    std::size_t place;
    PollState& poll;
    bool led;  // in a body of parallel_led_for()

    /// Throws for a code that a function of the table returned.
    void check(int code, const char* text) const {
      poll.rethrow();
      check_gpu(code, text);
    }
    /// Runs body(item) for each item on threads of the host, without polls: on those that help a
    /// led loop, or those of the options. `beside`: null, or what this thread does, with the
    /// device, before or meanwhile.
    void host_for(std::size_t items, const ParallelOptions& threads,
                  const std::function<void(std::size_t item)>& body,
                  const std::function<void()>& beside = nullptr) const;
  };
  using Body = std::function<void(std::size_t piece, const Turn& turn)>;

  /// Throws as gpu_devices(). Nothing is opened yet.
  DeviceTeam(Open open, Close close);
  DeviceTeam(const DeviceTeam&) = delete;
  DeviceTeam& operator=(const DeviceTeam&) = delete;
  ~DeviceTeam();

  /// The number of devices when the team was made.
  std::size_t size() const { return members_.size(); }

  /// Opens a handle on one device, unless there is one. Throws as run().
  void prepare();

  /// How to run the pieces.
  struct Way {
    /// The maximum number of devices that work at a time.
    std::size_t devices = static_cast<std::size_t>(-1);
    /// Whether bodies leave work of the host to other threads, by helped_for().
    bool helped = false;
  };

  /// Runs body(piece, turn) once for each piece. Any device takes any piece, and the host has one
  /// thread for each device. A body must write what belongs to its piece alone.
  ///
  /// If a device fails or is out of memory, its piece goes to another one, and it takes no more. If
  /// it was the last one, throws its gpu_error. Throws at once if the problem is
  /// GpuProblem::unsuited, and whatever else a body or the poll throws. A device that failed is not
  /// used again by any task (lose_gpu_device()).
  void run(std::size_t pieces, const ParallelOptions& options, const Body& body) {
    run(pieces, options, body, Way());
  }
  void run(std::size_t pieces, const ParallelOptions& options, const Body& body, const Way& way);

 private:
  struct Member {
    int number;
    void* handle = nullptr;
    std::unique_ptr<gpu_error> problem;
  };
  struct Round;

  void* open_first();
  bool have_handle(Member& member, const void* source);
  void open_all(const Round& round, const std::vector<std::size_t>& places, int devices);
  void take(Round& round, std::size_t k, std::size_t place, PollState& poll, bool led);
  void alone(Round& round, const ParallelOptions& options);
  void together(Round& round, const ParallelOptions& options, const Way& way);
  void retire();
  std::vector<std::size_t> able() const;

  const Open open_;
  const Close close_;
  std::vector<Member> members_;
};

#ifdef KESTREL_TEST_HOOKS
/// Lets pieces be so many times smaller.
void set_piece_factor(double factor);
#endif

}  // namespace kestrel

#endif
