#include "core/fgt/source_cells.hpp"

#include <utility>

#include "core/fgt/cell_moments.hpp"
#include "core/fgt/cell_sums.hpp"

namespace kestrel {

SourceCells::SourceCells(const LineSample& sample, const Demand& demand,
                         const RunOptions& options) {
  if (!demand.need_samples && sample.has_full_cells(demand.exponent)) {
    take_full_cells(sample, demand, options);
  } else {
    sort_samples(sample, demand, options);
  }
}

void SourceCells::take_full_cells(const LineSample& sample, const Demand& demand,
                                  const RunOptions& options) {
  const CellMoments cells = sample.cells(demand.exponent, demand.enough, options);
  row_ = static_cast<std::size_t>(demand.enough(0));
  for (std::size_t c = 0; c < cells.cells(); ++c) {
    key_.push_back(cells.key(c));
    slot_.push_back(c);
    moment_.insert(moment_.end(), cells.moment(c), cells.moment(c) + row_);
  }
}

void SourceCells::sort_samples(const LineSample& sample, const Demand& demand,
                               const RunOptions& options) {
  order_ = std::make_unique<const CellOrder>(sample.x(), sample.w(), sample.range(),
                                             demand.exponent, options);
  std::vector<std::size_t> large;
  for (std::size_t c = 0; c < order_->cells(); ++c) {
    key_.push_back(order_->key(c));
    const bool many = order_->count(c) > demand.few;
    slot_.push_back(many ? large.size() : kNone);
    if (many) large.push_back(c);
  }
  CellSums sums = sum_cells(*order_, large, demand.enough(0), options);
  row_ = sums.moments + 1;
  moment_ = std::move(sums.sum);
}

}  // namespace kestrel
