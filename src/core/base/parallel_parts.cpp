// Loops that are shares of a longer piece of work.
#include <algorithm>
#include <memory>

#include "core/base/parallel.hpp"

namespace kestrel {

ParallelOptions part_of(const ParallelOptions& options, double begin, double end) {
  ParallelOptions part = options;
  if (!options.poll) return part;
  const auto reached = std::make_shared<double>(begin);
  part.poll = [begin, end, reached, poll = options.poll](double fraction) {
    // Rounding must not pass the end, where the next part begins.
    *reached = std::max(*reached, std::min(end, begin + fraction * (end - begin)));
    poll(*reached);
  };
  return part;
}

void parallel_tasks(std::size_t tasks, bool brief, const ParallelOptions& options,
                    const std::function<void(std::size_t, int, const ParallelOptions&)>& body) {
  const std::size_t threads = static_cast<std::size_t>(parallel_threads(options));
  if (!brief || threads == 1 || tasks < 2 * threads) {
    const double all = static_cast<double>(tasks);
    for (std::size_t task = 0; task < tasks; ++task) {
      const double before = static_cast<double>(task);
      body(task, 0, part_of(options, before / all, (before + 1) / all));
    }
    return;
  }
  ParallelOptions inner;
  inner.threads = 1;
  parallel_for(tasks, options, [&](std::size_t task, int worker) { body(task, worker, inner); });
}

}  // namespace kestrel
