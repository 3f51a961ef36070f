#include "core/sketch/sketch_builder.hpp"

#include <algorithm>

#include "core/base/parallel.hpp"

namespace kestrel {

namespace {

/// Parts are as few as there are threads, but not smaller than this.
constexpr std::size_t kLeastOfPart = std::size_t{1} << 17;

std::size_t size_of_part(std::size_t n, int threads) {
  const std::size_t share = n / static_cast<std::size_t>(threads) + 1;
  return std::min(kPartOfSketch, std::max(kLeastOfPart, share));
}

}  // namespace

void SketchBuilder::add(Span<const double> x, Weights w, const RunOptions& options) {
  of_worker_[0].check(x, w, part_of(options.parallel, 0, 0));
  const std::size_t size = size_of_part(x.size, parallel_threads(options.parallel));
  const std::size_t parts = (x.size + size - 1) / size;
  const std::size_t workers = static_cast<std::size_t>(parallel_workers(parts, options.parallel));
  while (of_worker_.size() < workers) of_worker_.emplace_back(plan());
  parallel_for(parts, options.parallel, [&](std::size_t part, int worker) {
    const std::size_t begin = part * size, count = std::min(size, x.size - begin);
    of_worker_[static_cast<std::size_t>(worker)].add_part({x.data + begin, count},
                                                          w.part(begin, count), options);
  });
}

LineSketch SketchBuilder::sum(const RunOptions& options) const {
  LineSketch sum = of_worker_[0];
  for (std::size_t k = 1; k < of_worker_.size(); ++k) {
    sum.merge(of_worker_[k], *options.table);
    poll_if_due(options.parallel);
  }
  return sum;
}

}  // namespace kestrel
