#include "core/fgt/source_cells.hpp"

#include <utility>

#include "core/fgt/cell_moments.hpp"
#include "core/fgt/cell_sums.hpp"
#include "core/fgt/parted_cells.hpp"

namespace kestrel {

SourceCells::SourceCells(const LineSample& sample, const Demand& demand,
                         const RunOptions& options) {
  const Span<const double> x = sample.x();
  const int exponent = demand.exponent, moments = demand.enough(0);
  if (demand.need_samples) {
    sort_samples(sample, demand, options);
  } else if (sample.keeps_cells(exponent, demand.enough) || sample.has_crowded_cells(exponent)) {
    take_moments(sample.cells(exponent, demand.enough, options), moments);
  } else if (PartedCells::suit(x, sample.range(), exponent)) {
    // Not kept: what sums over pairs need beside moments would take time.
    take_moments(PartedCells(x, sample.w(), sample.range(), exponent, moments, options), moments);
  } else {
    sort_samples(sample, demand, options);
  }
}

template <class Cells>
void SourceCells::take_moments(const Cells& cells, int moments) {
  row_ = static_cast<std::size_t>(moments);
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
