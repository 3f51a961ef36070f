#include "gpu/devices.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/led.hpp"

namespace kestrel {

namespace {

/// The seconds of a piece at least: starting one takes about 0.2 ms.
constexpr double kPieceSeconds = 0.006;

#ifdef KESTREL_TEST_HOOKS
double piece_factor = 1.0;
#endif

}  // namespace

double least_piece(double usual) {
#ifdef KESTREL_TEST_HOOKS
  return usual / piece_factor;
#else
  return usual;
#endif
}

std::size_t piece_count(double seconds) {
  const double pieces = seconds / least_piece(kPieceSeconds);
  for (const std::size_t count : {24, 8, 4, 2}) {
    if (pieces >= static_cast<double>(count)) return count;
  }
  return 1;
}

std::size_t piece_length(std::size_t all, std::size_t pieces, std::size_t unit) {
  const std::size_t length = std::max<std::size_t>(1, (all + pieces - 1) / pieces);
  if (least_piece(static_cast<double>(unit)) < 1.0) return length;
  return (length + unit - 1) / unit * unit;
}

#ifdef KESTREL_TEST_HOOKS
void set_piece_factor(double factor) { piece_factor = factor; }
#endif

/// The pieces that are not done yet, and which of them this round of all devices has done.
struct DeviceTeam::Round {
  const Body& body;
  const std::vector<std::size_t>& left;
  double begin, share;  // of the task's fractions
  const void* source;   // a handle that has the data
  std::vector<char> done;
};

DeviceTeam::DeviceTeam(Open open, Close close) : open_(std::move(open)), close_(close) {
  for (const int number : gpu_devices()) {
    members_.emplace_back();
    members_.back().number = number;
  }
}

DeviceTeam::~DeviceTeam() {
  // A forked process has nothing of its own on the devices to free.
  if (!gpu_here()) return;
  for (const Member& member : members_) {
    if (member.handle != nullptr) close_(member.handle);
  }
}

void DeviceTeam::Turn::host_for(std::size_t items, const ParallelOptions& threads,
                                const std::function<void(std::size_t item)>& body,
                                const std::function<void()>& beside) const {
  if (led && beside) {
    // The leader takes the first item itself, see helped_for().
    return helped_for(1 + items, [&](std::size_t item) {
      if (item > 0) return body(item - 1);
      beside();
    });
  }
  if (beside) beside();
  if (led) return helped_for(items, body);
  ParallelOptions unpolled = threads;
  unpolled.poll = nullptr;
  parallel_for(items, unpolled, [&](std::size_t item, int) { body(item); });
}

std::vector<std::size_t> DeviceTeam::able() const {
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < members_.size(); ++place) {
    if (members_[place].problem == nullptr) places.push_back(place);
  }
  return places;
}

void* DeviceTeam::open_first() {
  for (const Member& member : members_) {
    if (member.handle != nullptr) return member.handle;
  }
  for (Member& member : members_) {
    if (member.problem != nullptr) continue;
    try {
      return member.handle = open_(member.number, nullptr);
    } catch (const gpu_error& problem) {
      if (problem.problem == GpuProblem::unsuited) throw;
      member.problem = std::make_unique<gpu_error>(problem);
      retire();
    }
  }
  // No place is empty: gpu_devices() has one device or more.
  throw gpu_error(*members_.back().problem);
}

void DeviceTeam::prepare() {
  gpu_table();  // throws if it can no longer be used: after a fork, or a failure of the driver
  open_first();
}

void DeviceTeam::retire() {
  for (Member& member : members_) {
    if (member.problem == nullptr) continue;
    if (member.handle != nullptr) close_(member.handle);
    member.handle = nullptr;
    if (member.problem->problem == GpuProblem::failed) {
      lose_gpu_device(member.number, *member.problem);
    }
  }
}

/// Opens a handle on the device unless it has one. Returns false, and notes the problem, if it
/// fails.
bool DeviceTeam::have_handle(Member& member, const void* source) {
  if (member.problem != nullptr) return false;
  if (member.handle != nullptr) return true;
  try {
    try {
      member.handle = open_(member.number, source);
    } catch (const gpu_error& problem) {
      // The device that has the data may be the one that failed.
      if (problem.problem != GpuProblem::failed) throw;
      member.handle = open_(member.number, nullptr);
    }
  } catch (const gpu_error& problem) {
    if (problem.problem == GpuProblem::unsuited) throw;
    member.problem = std::make_unique<gpu_error>(problem);
  }
  return member.problem == nullptr;
}

/// Before any device has a piece: a copy from a device that computes may wait until it is done.
void DeviceTeam::open_all(const Round& round, const std::vector<std::size_t>& places, int devices) {
  ParallelOptions threads;
  threads.threads = devices;
  parallel_for(static_cast<std::size_t>(devices), threads,
               [&](std::size_t k, int) { have_handle(members_[places[k]], round.source); });
}

void DeviceTeam::take(Round& round, std::size_t k, std::size_t place, PollState& poll, bool led) {
  Member& member = members_[place];
  // Else another device takes the piece in the next round.
  if (!have_handle(member, round.source)) return;
  try {
    round.body(round.left[k], {member.handle, place, poll, led});
    round.done[k] = 1;
  } catch (const StoppedByOthers&) {
    // The loop has the exception that has stopped it.
  } catch (const gpu_error& problem) {
    if (problem.problem == GpuProblem::unsuited) throw;
    member.problem = std::make_unique<gpu_error>(problem);
  }
}

void DeviceTeam::alone(Round& round, const ParallelOptions& options) {
  const std::size_t place = able().front();
  PollState poll(options.poll);
  const double each = round.share / static_cast<double>(round.left.size());
  for (std::size_t k = 0; k < round.left.size() && members_[place].problem == nullptr; ++k) {
    poll.begin = round.begin + each * static_cast<double>(k);
    poll.end = poll.begin + each;
    take(round, k, place, poll, false);
  }
}

void DeviceTeam::together(Round& round, const ParallelOptions& options, const Way& way) {
  const std::vector<std::size_t> places = able();
  const int devices = static_cast<int>(std::min({way.devices, places.size(), round.left.size()}));
  open_all(round, places, devices);
  ParallelOptions threads = part_of(options, round.begin, round.begin + round.share);
  threads.threads = way.helped ? std::max(devices, parallel_threads(options)) : devices;
  const auto one = [&](std::size_t k, int worker) {
    PollState poll(threads.poll);
    poll.in_loop = true;
    take(round, k, places[static_cast<std::size_t>(worker)], poll, way.helped);
  };
  if (way.helped) {
    parallel_led_for(round.left.size(), devices, threads, one);
  } else {
    parallel_for(round.left.size(), threads, one);
  }
}

void DeviceTeam::run(std::size_t pieces, const ParallelOptions& options, const Body& body,
                     const Way& way) {
  gpu_table();  // throws if it can no longer be used: after a fork, or a failure of the driver
  std::vector<std::size_t> left(pieces);
  std::iota(left.begin(), left.end(), std::size_t{0});
  while (!left.empty()) {
    const void* const source = open_first();
    const double share = static_cast<double>(left.size()) / static_cast<double>(pieces);
    Round round{body, left, 1.0 - share, share, source, std::vector<char>(left.size(), 0)};
    ParallelOptions threads;
    threads.threads = static_cast<int>(std::min(way.devices, able().size()));
    if (parallel_workers(left.size(), threads) > 1) {
      together(round, options, way);
    } else {
      alone(round, options);
    }
    retire();
    std::vector<std::size_t> undone;
    for (std::size_t k = 0; k < left.size(); ++k) {
      if (round.done[k] == 0) undone.push_back(left[k]);
    }
    left = std::move(undone);
  }
}

}  // namespace kestrel
