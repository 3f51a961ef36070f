// Gaussian sums over pairs, in four stages:
// 1. Bandwidths are put into octaves (octaves.hpp), each with one truncation (truncation.hpp).
// 2. From the first octave on for which that is cheaper (pair_cost.hpp), the samples become moments
//    of cells.
// 3. For each octave, whose cells are twice as wide as those of the one before, a table of lags
//    (lag_table.hpp) gives the sums of its bandwidths.
// 4. The other octaves, and sums whose accuracy the table cannot confirm, are summed pair by pair
//    (windows.hpp).
#include "core/fgt/pairs.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/parallel.hpp"
#include "core/fgt/cell_moments.hpp"
#include "core/fgt/lag_table.hpp"
#include "core/fgt/octaves.hpp"
#include "core/fgt/pair_cost.hpp"
#include "core/fgt/truncation.hpp"
#include "core/fgt/windows.hpp"

namespace kestrel {

namespace {

/// The first octave for which cells cost less than sums pair by pair, as they do for all later
/// ones; the number of octaves if there is none. If samples had to be counted for this, also the
/// samples in the order of the first octave's cells.
struct ByCells {
  std::size_t first;
  std::unique_ptr<CellOrder> finest;
};

ByCells octaves_by_cells(const LineSample& sample, const std::vector<Octave>& octaves,
                         const PairTruncation& truncation, const RunOptions& options) {
  const auto lags = [&](std::size_t o) { return octaves[o].lags(truncation.reach); };
  const double n = static_cast<double>(sample.x().size);
  // With far more samples than cells there is nothing to count.
  const double cells = std::min(n, sample.range().cells(octaves[0].exponent));
  const bool cheap = cell_seconds(cells * lags(0), n, truncation.moments) < sort_seconds(n);
  if (cheap || sample.has_full_cells(octaves[0].exponent)) return {0, nullptr};
  ByCells found{octaves.size(), std::make_unique<CellOrder>(sample.x(), sample.w(), sample.range(),
                                                            octaves[0].exponent, options)};
  CellCounts counts(*found.finest);
  for (std::size_t o = 0; o < octaves.size(); ++o) {
    counts.coarsen_to(octaves[o].exponent);
    const double sums = static_cast<double>(octaves[o].index.size());
    if (counts.favour_cells(lags(o), truncation.moments, sums)) {
      found.first = o;
      break;
    }
  }
  return found;
}

/// Tables of lags, one octave after another, in ascending order. Those that the sample keeps serve
/// again: a search asks for one bandwidth after the other, and most of them lie in one octave.
class Tables {
 public:
  /// finest: the samples in the order of the first octave's cells, null unless they were counted.
  Tables(const LineSample& sample, const CellOrder* finest, const PairTruncation& truncation,
         const RunOptions& options)
      : sample_(sample), truncation_(truncation), options_(options) {
    if (finest != nullptr) {
      cells_ = std::make_unique<CellMoments>(*finest, truncation.moments, options);
    }
  }

  const LagTable& of(const Octave& octave) {
    const int exponent = octave.exponent, moments = truncation_.moments;
    const int lags = octave.lags(truncation_.reach);
    if (cells_) {
      while (cells_->exponent() < exponent) cells_->coarsen(moments, *options_.table);
      own_ = std::make_unique<LagTable>(*cells_);
      own_->extend(*cells_, lags, options_);
      return *own_;
    }
    LagTable* table = sample_.kept_table(exponent, moments);
    if (table == nullptr || table->lags() < lags) {
      // First the cells, which may make the sample forget its tables.
      const auto enough = [&](int halved) { return truncation_.moments_of(halved); };
      const CellMoments& cells = sample_.united(exponent, enough, options_);
      table = sample_.kept_table(exponent, moments);
      if (table == nullptr) table = sample_.keep_table(exponent, moments, LagTable(cells));
      table->extend(cells, lags, options_);
    }
    return *table;
  }

 private:
  const LineSample& sample_;
  const PairTruncation& truncation_;
  const RunOptions& options_;
  std::unique_ptr<CellMoments> cells_;  // null unless the samples were counted
  std::unique_ptr<LagTable> own_;
};

/// Writes the sums of the bandwidths of octave `first` and later ones to out; those for which cells
/// are not accurate go to by_pair.
void sum_by_cells(Tables* tables, double alone, const std::vector<PairBandwidth>& bandwidths,
                  const std::vector<Octave>& octaves, std::size_t first,
                  const PairTruncation& truncation, std::vector<double>* out,
                  std::vector<std::size_t>* by_pair) {
  for (std::size_t o = first; o < octaves.size(); ++o) {
    const Octave& octave = octaves[o];
    const LagTable& table = tables->of(octave);
    for (const std::size_t k : octave.index) {
      const double g = bandwidths[k].deviation();
      const PairSum sum = table.evaluate(g, octave.lags(truncation.reach), truncation, alone);
      if (sum.accurate) {
        (*out)[k] = in_units_of_x(sum.value, g, octave.exponent, truncation.order);
      } else {
        by_pair->push_back(k);
      }
    }
  }
}

/// sum_{i<j} w_i w_j phi_g^(order)(x_i - x_j) for the normal densities of these bandwidths.
std::vector<double> pair_sums(const LineSample& sample,
                              const std::vector<PairBandwidth>& bandwidths, int order,
                              const RunOptions& all_options) {
  // Progress covers several loops whose cost is not known beforehand.
  const RunOptions options{all_options.table, part_of(all_options.parallel, 0, 1)};
  std::vector<double> out(bandwidths.size(), 0.0);
  const PairTruncation truncation(order);
  const std::vector<Octave> octaves = octaves_of(bandwidths, truncation.halvings);
  if (octaves.empty()) return out;

  const ByCells by_cells = octaves_by_cells(sample, octaves, truncation, options);
  std::vector<std::size_t> by_pair;
  for (std::size_t o = 0; o < by_cells.first; ++o) {
    by_pair.insert(by_pair.end(), octaves[o].index.begin(), octaves[o].index.end());
  }
  if (by_cells.first < octaves.size()) {
    const bool ordered = by_cells.finest && by_cells.first == 0;
    // Where samples are not known one by one, the error is relative to the sum with half of the
    // terms i = j, because both orders of a pair count once.
    const double alone = sample.has_samples() ? 0 : 0.5 * sample.weights({}).squares;
    Tables tables(sample, ordered ? by_cells.finest.get() : nullptr, truncation, options);
    sum_by_cells(&tables, alone, bandwidths, octaves, by_cells.first, truncation, &out, &by_pair);
  }
  if (!by_pair.empty()) {
    if (!sample.has_samples()) {
      throw error(ErrorKind::unfit, "the sums of this bandwidth need the samples one by one");
    }
    check_weights(sample.w(), part_of(options.parallel, 0, 0));
    const WindowSums windows(sample.x(), sample.w(), options.parallel);
    for (const std::size_t k : by_pair) {
      out[k] = windows.sum(bandwidths[k].h, bandwidths[k].variance, order, options);
    }
  }
  return out;
}

}  // namespace

std::vector<double> fgt_pair_psi(const LineSample& sample, Span<const double> g, int order,
                                 const RunOptions& options) {
  if (order < 0 || order > kHighestPairOrder || order % 2 != 0) {
    throw error(ErrorKind::input,
                "the order must be 0, 2, 4, 6, 8 or 10, not " + std::to_string(order));
  }
  std::vector<PairBandwidth> bandwidths;
  for (const double one : g) bandwidths.push_back({one, 1});
  return pair_sums(sample, bandwidths, order, options);
}

PairCurve fgt_pair_curve(const LineSample& sample, Span<const double> h,
                         const RunOptions& options) {
  std::vector<PairBandwidth> bandwidths;
  for (const int variance : {2, 1}) {
    for (const double one : h) bandwidths.push_back({one, variance});
  }
  const std::vector<double> sums = pair_sums(sample, bandwidths, 0, options);
  const auto middle = sums.begin() + static_cast<std::ptrdiff_t>(h.size);
  return {{sums.begin(), middle}, {middle, sums.end()}};
}

}  // namespace kestrel
