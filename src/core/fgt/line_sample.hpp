// A sample on a line, whose cells serve the sums of several bandwidths.
#ifndef KESTREL_CORE_FGT_LINE_SAMPLE_HPP
#define KESTREL_CORE_FGT_LINE_SAMPLE_HPP

#include <functional>
#include <memory>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/sample.hpp"
#include "core/fgt/cell_moments.hpp"
#include "core/fgt/cell_order.hpp"
#include "core/fgt/lag_table.hpp"

namespace kestrel {

/// A selector sums at one pilot bandwidth after the other, and the density follows at a third. All
/// need moments of cells, and narrow cells can be united to wider ones in O(cells). So the first
/// sum makes cells narrower than it needs, where they are still full, and they are kept.
class LineSample {
 public:
  /// Views of n values and as many weights, which must outlive this. Throws error(input) if the
  /// numbers differ or a value is not finite. O(n).
  LineSample(Span<const double> x, Weights w, const ParallelOptions& options = {});

  /// Samples that are known only by the moments of their cells, and the sums of their weights;
  /// there is one at least.
  LineSample(const WeightSums& weights, const ValueRange& range,
             std::unique_ptr<const CellMoments> cells);

  /// Whether the samples are known one by one. Else nothing but their number may be asked of x()
  /// and w().
  bool has_samples() const { return x_.data != nullptr || x_.size == 0; }
  /// O(n), O(1) if the samples are not known.
  WeightSums weights(const ParallelOptions& options) const {
    return has_samples() ? weight_sums(w_, options) : known_weights_;
  }
  Span<const double> x() const { return x_; }
  Weights w() const { return w_; }
  const ValueRange& range() const { return range_; }

  /// Moments of cells 2^exponent wide; enough(k): how many are enough for cells 2^-k as wide. O(n)
  /// unless kept cells serve, O(cells) if they do. Throws error(input) for data that CellOrder
  /// refuses, and error(unfit) if no samples are known and kept cells do not serve. Not for several
  /// threads at once.
  CellMoments cells(int exponent, const std::function<int(int)>& enough,
                    const RunOptions& options) const;

  /// The same as a reference, which is good until the next call of either. The last few of these
  /// are kept, since a search asks for one bandwidth after the other: O(1) for them.
  const CellMoments& united(int exponent, const std::function<int(int)>& enough,
                            const RunOptions& options) const;

  /// Whether cells() will find kept cells that serve.
  bool keeps_cells(int exponent, const std::function<int(int)>& enough) const;
  /// A table of lags of the cells 2^exponent wide that cells() gives, with this number of moments
  /// where they are united; null if none is kept. O(tables). A table is kept until cells() makes
  /// others.
  LagTable* kept_table(int exponent, int moments) const;
  LagTable* keep_table(int exponent, int moments, LagTable table) const;

  /// Whether so many samples come to each cell 2^exponent wide that cells() need not sort all of
  /// them at once.
  bool has_full_cells(int exponent) const;
  /// Whether so many that sums need not look at them one by one, and narrower cells might pay.
  bool has_crowded_cells(int exponent) const;

 private:
  const Span<const double> x_;
  const Weights w_;
  const ValueRange range_;
  const WeightSums known_weights_;
  struct KeptTable {
    int exponent, moments;
    std::unique_ptr<LagTable> table;
  };
  mutable std::unique_ptr<const CellMoments> kept_;
  mutable std::vector<KeptTable> tables_;
  mutable std::vector<std::unique_ptr<const CellMoments>> united_;  // the last one last
};

/// What a sample keeps whose samples are not known, but the moments of their squared weights are.
struct SquaredWeights {
  LineSample line;  // its cells are those of samples with these as weights
};

/// Of a sample of one variable, which keeps it: all sums of a call share its cells.
inline const LineSample& line_sample(const Sample& sample, const RunOptions& options) {
  return sample.prepared<LineSample>([&] {
    return std::make_unique<LineSample>(sample.x().column(0), sample.w(), options.parallel);
  });
}

}  // namespace kestrel

#endif
