// Samples on a line as a sketch: sums over cells that parts of the data add to, in any order, with
// the same bits.
#ifndef KESTREL_CORE_SKETCH_LINE_SKETCH_HPP
#define KESTREL_CORE_SKETCH_LINE_SKETCH_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/base/wide_integer.hpp"
#include "core/data/sample_moments.hpp"
#include "core/data/weights.hpp"
#include "core/fgt/cell_order.hpp"
#include "core/sketch/cell_sort.hpp"
#include "core/sketch/kept_samples.hpp"
#include "core/sketch/tie_counters.hpp"
#include "simd/sketch/whole_moments.hpp"

namespace kestrel {

/// Samples that are sorted together, at most: so many that cells of few of them are rare.
constexpr std::size_t kPartOfSketch = std::size_t{1} << 22;

/// What all sketches that are added must have in common.
struct SketchPlan {
  int exponent;             // cells are 2^exponent wide
  std::string column;       // the name of the variable, in UTF-8
  std::string weight = "";  // that of the weights, empty if there are none
  int weight_exponent = 0;  // weights are about 2^weight_exponent, or less
  /// Of a regression, which has no weights: the name of the response, and what it is counted from
  /// and in: y = origin + v 2^response_exponent, |v| about one or less.
  std::string response = "";
  int response_exponent = 0;
  double response_origin = 0;
  /// Whether cells of weighted samples have the moments of squared weights, too, which sums over
  /// samples and their own images at bounds need.
  bool bounded = false;

  bool weighted() const { return !weight.empty(); }
  bool regression() const { return !response.empty(); }
  /// Whether samples have a second number, a weight or a response.
  bool paired() const { return weighted() || regression(); }
  bool operator==(const SketchPlan& other) const {
    return exponent == other.exponent && column == other.column && weight == other.weight &&
           weight_exponent == other.weight_exponent && response == other.response &&
           response_exponent == other.response_exponent &&
           response_origin == other.response_origin && bounded == other.bounded;
  }
};

/// Cells are [k W, (k + 1) W), W = 2^exponent, for all whole numbers k; no data determine them. A
/// cell with up to kMostKept samples keeps them. One with more has the sums S_a, a = 0, ...,
/// kMoments - 1, of the whole numbers floor(2^44 v t^a + 1/2), t = 2 (x / W - k) - 1
/// (simd/sketch/whole_moments.hpp). Here v is 1, or the weight in units of 2^weight_exponent; with
/// weights there are also the sum of floor(2^44 v^2 + 1/2) and the number of samples. If the plan
/// is `bounded`, the sums of floor(2^44 v^2 t^a + 1/2) for all a replace the first of these two.
/// Samples of weight zero are left out. Of a regression there are the sums with v = 1, with the
/// response in its units, and with the square of that, one after the other. The samples of full
/// cells are also counted by tie_counters.hpp, with floor(2^44 t + 1/2) + 2^44 as their places. So
/// a sketch is a function of the samples alone: how they were cut into parts, in which order parts
/// were added, the instruction set and the number of threads change no bit.
///
/// Rounding changes t^a by at most 2^-45 for each sample. The sums over pairs of the engine `fgt`
/// change by at most 7e-14 of the sum of |terms|, divided by the mean of v if there are weights,
/// and at random, which is far less.
class LineSketch {
 public:
  static constexpr std::size_t kMostKept = 16;
  static constexpr int kMoments = simd::kWholeMoments;
  /// Weights are less than so many units.
  static constexpr double kMostUnits = 16777216.0;  // 2^24

  explicit LineSketch(SketchPlan plan)
      : plan_(std::move(plan)),
        scale_(std::ldexp(1.0, -plan_.exponent)),
        units_(std::ldexp(1.0, -plan_.weight_exponent)),
        response_units_(std::ldexp(1.0, -plan_.response_exponent)),
        row_(plan_.regression()  ? 3 * kMoments
             : !plan_.weighted() ? kMoments
             : plan_.bounded     ? 2 * kMoments + 1
                                 : kMoments + 2) {}

  const SketchPlan& plan() const { return plan_; }
  /// The number of samples.
  std::uint64_t n() const { return n_; }
  /// Of the samples, and of their weights or responses; min is infinite if there are none.
  const ValueRange& range() const { return range_; }
  const ValueRange& second_range() const { return second_range_; }
  /// Of the weights, as far as their rounding allows; of samples without weights, the number.
  WeightSums weight_sums() const;

  /// Throws error(input) if a value is not finite or is too large for the cells: 2^1000 of them or
  /// more from zero. The same is for weights that are negative or not finite, or kMostUnits or
  /// more, and for responses as far from their origin. w: absent unless the plan has weights, or
  /// responses, which then take their place here. Returns the range of x.
  ValueRange check(Span<const double> x, Weights w, const ParallelOptions& options) const;
  /// Adds samples that check() has seen, at most kPartOfSketch of them, which lie in `range`, on
  /// one thread (SketchBuilder is for several). O(n moments). `sorted` is memory.
  void add(Span<const double> x, Weights w, const ValueRange& range, const RunOptions& options,
           CellSort* sorted);
  /// Adds a sketch. Throws error(input) if the plans differ. O(cells).
  void merge(const LineSketch& other, const simd::Table& table);

  /// The samples that are kept.
  const KeptSamples& kept() const { return kept_; }
  /// The keys k of the cells with sums, ascending.
  const std::vector<double>& full() const { return full_; }
  /// The sums of the k-th of these, row() numbers: kMoments, and with weights those of v^2,
  /// one or kMoments, and of 1; of a regression three times kMoments.
  const WideInteger* sums(std::size_t k) const { return pool_.data() + slot_[k] * row(); }
  std::size_t row() const { return static_cast<std::size_t>(row_); }
  /// How many samples it holds, and the sums of v and v^2.
  std::uint64_t count(std::size_t k) const;
  double weight(std::size_t k) const;
  double squares(std::size_t k) const;
  /// Of the samples of full cells, none if there are none.
  const TieCounters& ties() const { return ties_; }
  /// A weight in units, and that of the i-th sample that is kept.
  double in_units(double w) const { return w * units_; }
  double kept_units(std::size_t i) const { return plan_.weighted() ? in_units(kept_.w[i]) : 1.0; }
  /// A response in units.
  double response_in_units(double y) const { return (y - plan_.response_origin) * response_units_; }
  /// The key of the cell of a value.
  double cell_of(double x) const { return std::floor(x * scale_); }

  /// The mean and the variance (divisor n) of the samples, of which there is one at least: those of
  /// the cells' sums, without a rounding error that grows with n. O(cells).
  SampleCovariance moments() const;

  /// A sketch of its parts, for what reads them: `full` ascending, with row() `sums` each. Throws
  /// error(input) unless these are the parts of a sketch.
  static LineSketch of_parts(SketchPlan plan, const ValueRange& range,
                             const ValueRange& second_range, KeptSamples kept,
                             std::vector<double> full, std::vector<WideInteger> sums,
                             TieCounters ties);

 private:
  void open(const std::vector<double>& keys);
  void add_values(const double* x, const double* w, std::size_t count, double key,
                  const simd::Table& table, WideInteger* sums);
  void add_weighted(const double* x, const double* w, std::size_t count, double key,
                    const simd::Table& table, WideInteger* sums);
  void add_responses(const double* x, const double* y, std::size_t count, double key,
                     const simd::Table& table, WideInteger* sums) const;
  void count_ties(const double* x, const double* v, std::size_t count, double key,
                  const simd::Table& table);
  void add_run(const double* x, const double* v, std::size_t count, double key,
               const simd::Table& table, WideInteger* sums) const;
  void add_heavy(double x, double v, double key, WideInteger* sums) const;
  void settle(const KeptSamples& samples, const simd::Table& table);
  void check_parts() const;
  void check_second() const;
  WideInteger* sums_of(std::size_t k) { return pool_.data() + slot_[k] * row(); }

  SketchPlan plan_;
  double scale_, units_, response_units_;  // 1 / W, and of a weight and a response of one
  int row_;
  std::uint64_t n_ = 0;
  ValueRange range_{HUGE_VAL, -HUGE_VAL}, second_range_{HUGE_VAL, -HUGE_VAL};
  KeptSamples kept_;
  std::vector<double> full_;
  std::vector<std::uint32_t> slot_;  // where in the pool the sums of each full cell are
  std::vector<WideInteger> pool_;    // in the order in which cells became full
  TieCounters ties_;
};

}  // namespace kestrel

#endif
