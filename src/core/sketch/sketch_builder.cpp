#include "core/sketch/sketch_builder.hpp"

#include <algorithm>

#include "core/base/parallel.hpp"

namespace kestrel {

namespace {

/// Parts are as many as there are threads, or a multiple of that, but not smaller than this.
constexpr std::size_t kLeastOfPart = std::size_t{1} << 17;
/// Samples that all threads together sort at a time, 8 bytes each, with weights 16.
constexpr std::size_t kSortedTogether = 24000000;

std::size_t size_of_part(std::size_t n, std::size_t threads) {
  const std::size_t most = std::min(kPartOfSketch, kSortedTogether / threads + 1);
  const std::size_t rounds = (n + threads * most - 1) / (threads * most);
  return std::max(kLeastOfPart, n / (threads * std::max<std::size_t>(1, rounds)) + 1);
}

}  // namespace

void SketchBuilder::add(Span<const double> x, Weights w, const RunOptions& options) {
  const ValueRange range = of_worker_[0].sketch.check(x, w, part_of(options.parallel, 0, 0));
  const auto threads = static_cast<std::size_t>(parallel_threads(options.parallel));
  const std::size_t size = size_of_part(x.size, threads);
  const std::size_t parts = (x.size + size - 1) / size;
  const std::size_t workers = static_cast<std::size_t>(parallel_workers(parts, options.parallel));
  while (of_worker_.size() < workers) of_worker_.push_back({LineSketch(plan()), {}});
  parallel_for(parts, options.parallel, [&](std::size_t part, int worker) {
    const std::size_t begin = part * size, count = std::min(size, x.size - begin);
    Worker& own = of_worker_[static_cast<std::size_t>(worker)];
    own.sketch.add({x.data + begin, count}, w.part(begin, count), range, options, &own.sorted);
  });
}

LineSketch SketchBuilder::sum(const RunOptions& options) const {
  LineSketch sum = of_worker_[0].sketch;
  for (std::size_t k = 1; k < of_worker_.size(); ++k) {
    sum.merge(of_worker_[k].sketch, *options.table);
    poll_if_due(options.parallel);
  }
  return sum;
}

}  // namespace kestrel
