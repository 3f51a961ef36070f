#include "core/sketch/sketch_sample.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/fgt/density.hpp"
#include "core/fgt/line_sample.hpp"
#include "core/fgt/truncation.hpp"
#include "core/sketch/grid_modes.hpp"
#include "simd/sketch/whole_moments.hpp"

namespace kestrel {

namespace {

/// sum w z^a / a! over the samples of a cell, z = t / 2 their offsets from its centre in widths,
/// and then the sum of w^2. `unit`: the weight that stands for a unit of the sketch. If `squared`,
/// w are the squares of the weights, and the last sum is 0.
void write_moments(const LineSketch& sketch, const CellOfSketch& cell, bool squared, double unit,
                   const RunOptions& options, double* to) {
  constexpr int kMoments = LineSketch::kMoments;
  if (cell.full) {
    const WideInteger* sums = sketch.sums(cell.begin) + (squared ? kMoments : 0);
    const double scale = squared ? unit * unit : unit;
    for (int a = 0; a < kMoments; ++a) {
      to[a] = scale * std::ldexp(sums[a].value() / simd::kQuanta, -a);
    }
    to[kMoments] = unit * unit * sketch.squares(cell.begin);
  } else {
    double offset[LineSketch::kMostKept], weight[LineSketch::kMostKept], sum[kMaxMoments + 1];
    const KeptSamples& kept = sketch.kept();
    for (std::size_t i = cell.begin; i < cell.end; ++i) {
      const double y = std::ldexp(kept.x[i], -sketch.plan().exponent);
      const double w = unit * sketch.kept_units(i);
      offset[i - cell.begin] = (y - cell.key) - 0.5;
      weight[i - cell.begin] = squared ? w * w : w;
    }
    sum_powers(offset, sketch.plan().weighted() ? weight : nullptr, cell.end - cell.begin, kMoments,
               *options.table, sum);
    std::copy_n(sum, kMoments + 1, to);
  }
  if (squared) to[kMoments] = 0;
  divide_by_factorials(LineSketch::kMoments, to);
}

/// Where the weight of all samples below, in units, reaches `share`.
double position_of(const LineSketch& sketch, const std::vector<CellOfSketch>& cells, double share) {
  const KeptSamples& kept = sketch.kept();
  double before = 0;
  for (const CellOfSketch& cell : cells) {
    if (cell.full) {
      const double weight = sketch.weight(cell.begin);
      if (share < before + weight) {
        const double count = static_cast<double>(sketch.count(cell.begin));
        const double at = cell.key + (share - before) / weight + 0.5 / count;
        const ValueRange& range = sketch.range();
        return std::min(std::max(std::ldexp(at, sketch.plan().exponent), range.min), range.max);
      }
      before += weight;
      continue;
    }
    for (std::size_t i = cell.begin; i < cell.end; ++i) {
      before += sketch.kept_units(i);
      if (share < before) return kept.x[i];
    }
  }
  return sketch.range().max;
}

/// The least power of two at which `enough` moments of cells that are 2^-k of it, k = 0, 1, ...,
/// are not more than a sketch has, in widths of its cells.
template <class Enough>
int exponent_above_cells(const Enough& enough) {
  int halved = 0;
  while (enough(halved) > LineSketch::kMoments) ++halved;
  return halved;
}

int exponents_of_sums() {
  int above = 0;
  for (int order = 0; order <= kHighestPairOrder; order += 2) {
    const PairTruncation truncation(order);
    const auto enough = [&](int halved) { return truncation.moments_of(halved); };
    above = std::max(above, truncation.halvings + exponent_above_cells(enough));
  }
  return above;
}

/// The weights times `factor`, so that they sum to their number, as R has them. Those below a
/// thousandth of the mean have few digits, so that a density need not have digits next to them.
template <class Sketch>
WeightSums weights_of_mean_one(const Sketch& sketch, double* factor) {
  constexpr double kLeastWithDigits = 1.0 / 1024;
  const WeightSums weights = sketch.weight_sums();
  const double n = static_cast<double>(sketch.n());
  *factor = n / weights.sum;
  return {n, weights.squares * *factor * *factor, weights.max * *factor,
          std::max(weights.min_positive * *factor, kLeastWithDigits),
          static_cast<std::size_t>(sketch.n())};
}

/// Ties of samples that are sorted by all of their values.
class TieCount {
 public:
  void add(double count, double weight, double squares) {
    ties_.pairs += count * (count - 1);
    ties_.weight += weight * weight - squares;
  }
  void add(const Ties& more) {
    ties_.pairs += more.pairs;
    ties_.weight += more.weight;
  }
  /// Of weights that sum to their number n: `all` is their sum in units.
  Ties scaled(double n, double all) const {
    return {ties_.pairs, ties_.weight * (n / all * (n / all))};
  }

 private:
  Ties ties_;
};

}  // namespace

std::vector<CellOfSketch> cells_of(const LineSketch& sketch) {
  const std::vector<double>&full = sketch.full(), &kept = sketch.kept().x;
  std::vector<CellOfSketch> cells;
  std::size_t k = 0;
  for (std::size_t begin = 0, end; begin < kept.size(); begin = end) {
    const double key = sketch.cell_of(kept[begin]);
    for (end = begin + 1; end < kept.size() && sketch.cell_of(kept[end]) == key;) ++end;
    for (; k < full.size() && full[k] < key; ++k) cells.push_back({full[k], true, k, k + 1});
    cells.push_back({key, false, begin, end});
  }
  for (; k < full.size(); ++k) cells.push_back({full[k], true, k, k + 1});
  return cells;
}

WeightSums weights_of_sample(const LineSketch& sketch) {
  double factor;
  return weights_of_mean_one(sketch, &factor);
}

namespace {

GivenCells given_cells(const LineSketch& sketch, bool squared, const RunOptions& options) {
  double unit = 1;
  if (sketch.plan().weighted()) {
    weights_of_mean_one(sketch, &unit);
    unit *= std::ldexp(1.0, sketch.plan().weight_exponent);
  }
  GivenCells given{{}, {}, {}, {}, LineSketch::kMoments};
  for (const CellOfSketch& cell : cells_of(sketch)) {
    double moments[LineSketch::kMoments + 1];
    write_moments(sketch, cell, squared, unit, options, moments);
    given.keys.push_back(cell.key);
    given.moments.insert(given.moments.end(), moments, moments + LineSketch::kMoments);
    given.squares.push_back(moments[LineSketch::kMoments]);
    given.counts.push_back(
        static_cast<double>(cell.full ? sketch.count(cell.begin) : cell.end - cell.begin));
  }
  return given;
}

std::unique_ptr<const CellMoments> moments_of_cells(const LineSketch& sketch, bool squared,
                                                    const RunOptions& options) {
  return std::make_unique<const CellMoments>(given_cells(sketch, squared, options),
                                             sketch.plan().exponent, LineSketch::kMoments, options);
}

}  // namespace

GivenCells cells_with_moments(const LineSketch& sketch, const RunOptions& options) {
  return given_cells(sketch, false, options);
}

std::unique_ptr<const Sample> sample_of_sketch(const LineSketch& sketch,
                                               const RunOptions& options) {
  const std::size_t n = static_cast<std::size_t>(sketch.n());
  double factor;
  const WeightSums weights = weights_of_mean_one(sketch, &factor);
  std::unique_ptr<const Sample> sample;
  if (keeps_all(sketch)) {
    const KeptSamples& kept = sketch.kept();
    auto scaled = std::make_unique<std::vector<double>>(kept.w);
    for (double& w : *scaled) w *= factor;
    const Weights w = sketch.plan().weighted() ? Weights(scaled->data(), n) : Weights::ones(n);
    sample = std::make_unique<const Sample>(MatrixView{kept.x.data(), n, 1}, w);
    sample->prepared<std::vector<double>>([&] { return std::move(scaled); });
  } else {
    sample = std::make_unique<const Sample>(
        n, std::vector<double>{sketch.range().min, sketch.range().max});
    sample->prepared<LineSample>([&] {
      return std::make_unique<LineSample>(weights, sketch.range(),
                                          moments_of_cells(sketch, false, options));
    });
    if (sketch.plan().bounded) {
      sample->prepared<SquaredWeights>([&] {
        return std::make_unique<SquaredWeights>(SquaredWeights{
            LineSample(weights, sketch.range(), moments_of_cells(sketch, true, options))});
      });
    }
  }
  sample->prepared<WeightSums>([&] { return std::make_unique<WeightSums>(weights); });
  sample->prepared<Ties>([&] { return std::make_unique<Ties>(ties_of_sketch(sketch)); });
  sample->prepared<SampleCovariance>(
      [&] { return std::make_unique<SampleCovariance>(sketch.moments()); });
  return sample;
}

double least_sum_cells() { return std::ldexp(1.0, exponents_of_sums()); }

double least_sum_bandwidth(const LineSketch& sketch) {
  if (keeps_all(sketch)) return 0;
  return std::ldexp(least_sum_cells(), sketch.plan().exponent);
}

double least_density_bandwidth(const LineSketch& sketch) {
  if (keeps_all(sketch)) return 0;
  double factor;
  const WeightSums weights = weights_of_mean_one(sketch, &factor);
  const auto enough = [&](int halved) { return fgt_density_moments(weights, halved); };
  return std::ldexp(1.0, sketch.plan().exponent + kDensityHalvings + exponent_above_cells(enough));
}

Ties ties_of_sketch(const LineSketch& sketch) {
  const KeptSamples& kept = sketch.kept();
  TieCount ties;
  for (std::size_t begin = 0, end; begin < kept.size(); begin = end) {
    double weight = 0, squares = 0;
    for (end = begin; end < kept.size() && kept.x[end] == kept.x[begin]; ++end) {
      const double v = sketch.kept_units(end);
      weight += v;
      squares += v * v;
    }
    if (end - begin > 1) ties.add(static_cast<double>(end - begin), weight, squares);
  }
  double squares = 0;
  for (std::size_t k = 0; k < sketch.full().size(); ++k) squares += sketch.squares(k);
  const double others = static_cast<double>(sketch.n() - kept.size());
  ties.add(tied_pairs(sketch.ties(), others, squares));
  return ties.scaled(static_cast<double>(sketch.n()), sketch.in_units(sketch.weight_sums().sum));
}

std::vector<double> quantiles_of(const LineSketch& sketch, Span<const double> prob) {
  const std::vector<CellOfSketch> cells = cells_of(sketch);
  const double n = static_cast<double>(sketch.n());
  const double mean = sketch.in_units(sketch.weight_sums().sum) / n;
  std::vector<double> found;
  for (const double p : prob) {
    const double at = p * (n - 1), rank = std::floor(at);
    const double low = position_of(sketch, cells, rank * mean);
    const double high = at > rank ? position_of(sketch, cells, (rank + 1) * mean) : low;
    found.push_back(low + (at - rank) * (high - low));
  }
  return found;
}

int exponent_for(double bandwidth) { return cell_exponent(bandwidth, exponents_of_sums()); }

// ---- two and three variables

std::unique_ptr<const Sample> sample_of_sketch(const GridSketch& sketch,
                                               const SampleCovariance& moments) {
  double factor;
  const WeightSums weights = weights_of_mean_one(sketch, &factor);
  const double unit =
      sketch.plan().weighted() ? factor * std::ldexp(1.0, sketch.plan().weight_exponent) : 1.0;
  auto modes = std::make_unique<GridModes>(sketch, weights, unit);
  std::vector<double> ranges;
  for (std::size_t k = 0; k < sketch.d(); ++k) {
    ranges.push_back(sketch.ranges()[k].min);
    ranges.push_back(sketch.ranges()[k].max);
  }
  auto sample = std::make_unique<const Sample>(static_cast<std::size_t>(sketch.n()), ranges);
  const ModeSource* source = modes.get();
  sample->prepared<SpreadSamples>(
      [&] { return std::make_unique<SpreadSamples>(SpreadSamples{source}); });
  sample->prepared<Ties>([&] { return std::make_unique<Ties>(ties_of_sketch(sketch)); });
  sample->prepared<SampleCovariance>([&] { return std::make_unique<SampleCovariance>(moments); });
  sample->prepared<GridModes>([&] { return std::move(modes); });
  sample->prepared<WeightSums>([&] { return std::make_unique<WeightSums>(weights); });
  return sample;
}

std::vector<double> least_bandwidths(const GridSketch& sketch) {
  std::vector<double> least;
  for (const int exponent : sketch.plan().exponent) {
    least.push_back(sketch.keeps_all() ? 0.0 : std::ldexp(least_in_cells(sketch.d()), exponent));
  }
  return least;
}

Ties ties_of_sketch(const GridSketch& sketch) {
  const std::size_t d = sketch.d(), width = sketch.width_of_row();
  TieCount ties;
  double all = 0, spread = 0, squares_of_full = 0;
  for (const GridSketch::Tile* tile : sketch.tiles()) {
    const std::vector<double> rows = sorted_rows(tile->rows, width);
    for (std::size_t begin = 0, end; begin < rows.size(); begin = end) {
      const double* first = rows.data() + begin;
      double weight = 0, squares = 0;
      for (end = begin; end < rows.size() && std::equal(first, first + d, rows.data() + end);
           end += width) {
        const double v = sketch.plan().weighted() ? sketch.in_units(rows[end + d]) : 1.0;
        weight += v;
        squares += v * v;
      }
      if (end - begin > width) {
        ties.add(static_cast<double>((end - begin) / width), weight, squares);
      }
      all += weight;
    }
    if (!tile->full) continue;
    all += tile->moments[0].value() / simd::kQuanta;
    squares_of_full += tile->moments[1].value() / simd::kQuanta;
    spread += static_cast<double>(tile->count);
  }
  ties.add(tied_pairs(sketch.ties(), spread, squares_of_full));
  return ties.scaled(static_cast<double>(sketch.n()), all);
}

std::vector<int> exponents_for(Span<const double> bandwidths) {
  std::vector<int> exponents;
  for (const double h : bandwidths) {
    exponents.push_back(std::ilogb(h / least_in_cells(bandwidths.size) * (1 + 1e-12)));
  }
  return exponents;
}

}  // namespace kestrel
