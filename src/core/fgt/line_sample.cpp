#include "core/fgt/line_sample.hpp"

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "core/data/weights.hpp"
#include "core/fgt/full_cells.hpp"
#include "core/fgt/parted_cells.hpp"

namespace kestrel {

namespace {

/// Narrower cells need fewer moments a sample, but uniting them takes time for each cell. They pay
/// where at least this many samples of a part (FullCells::kPartSize) fall into each cell.
constexpr double kMinOfNarrowCell = 24;
/// Cells are halved up to kMaxHalved times. They get kMinMoments moments at least, so that the
/// density, whose bandwidth is smaller than the first one of a selector, finds enough.
constexpr int kMaxHalved = 4, kMinMoments = 28;

/// Cells that are kept beside those that they were united of: the bandwidths of a criterion are in
/// two octaves at most, and the next ones in one more.
constexpr std::size_t kMostUnited = 3;

}  // namespace

LineSample::LineSample(Span<const double> x, Weights w, const ParallelOptions& options)
    : x_(x), w_(w), range_(range_of(x, part_of(options, 0, 0))) {
  check_weight_count(x.size, w.size);
}

LineSample::LineSample(const WeightSums& weights, const ValueRange& range,
                       std::unique_ptr<const CellMoments> cells)
    : x_{nullptr, weights.positive},
      w_(Weights::ones(weights.positive)),
      range_(range),
      known_weights_(weights),
      kept_(std::move(cells)) {}

bool LineSample::has_full_cells(int exponent) const {
  return has_crowded_cells(exponent) || (w_.absent() && PartedCells::suit(x_, range_, exponent));
}

bool LineSample::has_crowded_cells(int exponent) const {
  if (!has_samples()) return true;
  const double samples = static_cast<double>(std::min(x_.size, FullCells::kPartSize));
  return kMinOfNarrowCell * range_.cells(exponent) <= samples;
}

bool LineSample::keeps_cells(int exponent, const std::function<int(int)>& enough) const {
  const int narrower = kept_ ? exponent - kept_->exponent() : -1;
  return narrower >= 0 && kept_->moments() >= enough(narrower);
}

LagTable* LineSample::kept_table(int exponent, int moments) const {
  for (const KeptTable& kept : tables_) {
    if (kept.exponent == exponent && kept.moments == moments) return kept.table.get();
  }
  return nullptr;
}

LagTable* LineSample::keep_table(int exponent, int moments, LagTable table) const {
  tables_.push_back({exponent, moments, std::make_unique<LagTable>(std::move(table))});
  return tables_.back().table.get();
}

CellMoments LineSample::cells(int exponent, const std::function<int(int)>& enough,
                              const RunOptions& options) const {
  if (!keeps_cells(exponent, enough)) {
    if (!has_samples()) {
      throw error(ErrorKind::unfit, "the cells of the sample are too wide for this bandwidth");
    }
    int halved = 0;
    while (halved < kMaxHalved && has_crowded_cells(exponent - halved - 1)) ++halved;
    const int moments = halved > 0 ? std::max(enough(halved), kMinMoments) : enough(0);
    kept_ =
        std::make_unique<const CellMoments>(x_, w_, range_, exponent - halved, moments, options);
    tables_.clear();
    united_.clear();
  }
  CellMoments found = *kept_;
  while (found.exponent() < exponent) found.coarsen(enough(0), *options.table);
  return found;
}

const CellMoments& LineSample::united(int exponent, const std::function<int(int)>& enough,
                                      const RunOptions& options) const {
  const int moments = enough(0);
  if (!keeps_cells(exponent, enough)) (void)cells(exponent, enough, options);
  if (kept_->exponent() == exponent) return *kept_;
  // The widest of those kept that are no wider than is asked.
  auto nearest = united_.end();
  for (auto one = united_.begin(); one != united_.end(); ++one) {
    const bool suits = (*one)->exponent() <= exponent && (*one)->moments() == moments;
    if (suits && (nearest == united_.end() || (*one)->exponent() > (*nearest)->exponent())) {
      nearest = one;
    }
  }
  if (nearest != united_.end() && (*nearest)->exponent() == exponent) {
    std::rotate(nearest, nearest + 1, united_.end());
    return *united_.back();
  }
  auto found = std::make_unique<CellMoments>(nearest == united_.end() ? *kept_ : **nearest);
  while (found->exponent() < exponent) found->coarsen(moments, *options.table);
  if (united_.size() == kMostUnited) united_.erase(united_.begin());
  united_.push_back(std::move(found));
  return *united_.back();
}

}  // namespace kestrel
