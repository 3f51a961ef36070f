#include "core/sketch/sketch_sample.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/whole.hpp"
#include "core/fgt/density.hpp"
#include "core/fgt/line_sample.hpp"
#include "core/fgt/truncation.hpp"

namespace kestrel {

namespace {

/// A cell of a sketch, in ascending order of the cells: one of full(), or some of kept().
struct CellOfSketch {
  double key;
  bool full;
  std::size_t begin, end;
};

std::vector<CellOfSketch> cells_of(const LineSketch& sketch) {
  const std::vector<double>&full = sketch.full(), &kept = sketch.kept();
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

/// sum z^a / a! over the samples of a cell, z = t / 2 their offsets from its centre in widths.
void write_moments(const LineSketch& sketch, const CellOfSketch& cell, const RunOptions& options,
                   double* to) {
  if (cell.full) {
    for (int a = 0; a < LineSketch::kMoments; ++a) {
      to[a] = std::ldexp(sketch.sums(cell.begin)[a].value() / simd::kQuanta, -a);
    }
  } else {
    double offset[LineSketch::kMostKept], sum[kMaxMoments + 1];
    for (std::size_t i = cell.begin; i < cell.end; ++i) {
      const double y = std::ldexp(sketch.kept()[i], -sketch.plan().exponent);
      offset[i - cell.begin] = (y - cell.key) - 0.5;
    }
    sum_powers(offset, nullptr, cell.end - cell.begin, LineSketch::kMoments, *options.table, sum);
    std::copy_n(sum, LineSketch::kMoments, to);
  }
  divide_by_factorials(LineSketch::kMoments, to);
}

std::unique_ptr<LineSample> line_of(const LineSketch& sketch, const RunOptions& options) {
  GivenCells given{{}, {}, LineSketch::kMoments};
  for (const CellOfSketch& cell : cells_of(sketch)) {
    given.keys.push_back(cell.key);
    given.moments.resize(given.moments.size() + LineSketch::kMoments);
    write_moments(sketch, cell, options,
                  given.moments.data() + given.moments.size() - LineSketch::kMoments);
  }
  auto cells = std::make_unique<const CellMoments>(given, sketch.plan().exponent,
                                                   LineSketch::kMoments, options);
  return std::make_unique<LineSample>(static_cast<std::size_t>(sketch.n()), sketch.range(),
                                      std::move(cells));
}

/// The sample that is number `rank` in ascending order, from 0.
double ordered_sample(const LineSketch& sketch, const std::vector<CellOfSketch>& cells,
                      double rank) {
  double before = 0;
  for (const CellOfSketch& cell : cells) {
    const double count =
        static_cast<double>(cell.full ? sketch.count(cell.begin) : cell.end - cell.begin);
    if (rank < before + count) {
      if (!cell.full) return sketch.kept()[cell.begin + whole_number<std::size_t>(rank - before)];
      const double at = cell.key + (rank - before + 0.5) / count;
      const ValueRange& range = sketch.range();
      return std::min(std::max(std::ldexp(at, sketch.plan().exponent), range.min), range.max);
    }
    before += count;
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

}  // namespace

std::unique_ptr<const Sample> sample_of_sketch(const LineSketch& sketch,
                                               const RunOptions& options) {
  const std::size_t n = static_cast<std::size_t>(sketch.n());
  std::unique_ptr<const Sample> sample;
  if (keeps_all(sketch)) {
    sample =
        std::make_unique<const Sample>(MatrixView{sketch.kept().data(), n, 1}, Weights::ones(n));
  } else {
    sample = std::make_unique<const Sample>(
        n, std::vector<double>{sketch.range().min, sketch.range().max});
    sample->prepared<LineSample>([&] { return line_of(sketch, options); });
  }
  sample->prepared<Ties>([&] { return std::make_unique<Ties>(least_ties(sketch)); });
  sample->prepared<SampleCovariance>(
      [&] { return std::make_unique<SampleCovariance>(sketch.moments()); });
  return sample;
}

double least_sum_bandwidth(const LineSketch& sketch) {
  if (keeps_all(sketch)) return 0;
  return std::ldexp(1.0, sketch.plan().exponent + exponents_of_sums());
}

double least_density_bandwidth(const LineSketch& sketch) {
  if (keeps_all(sketch)) return 0;
  const Weights w = Weights::ones(static_cast<std::size_t>(sketch.n()));
  const auto enough = [&](int halved) { return fgt_density_moments(w, halved); };
  return std::ldexp(1.0, sketch.plan().exponent + kDensityHalvings + exponent_above_cells(enough));
}

Ties least_ties(const LineSketch& sketch) {
  const std::vector<double>& kept = sketch.kept();
  Ties ties;
  for (std::size_t begin = 0, end; begin < kept.size(); begin = end) {
    for (end = begin + 1; end < kept.size() && kept[end] == kept[begin];) ++end;
    const double equal = static_cast<double>(end - begin);
    ties.pairs += equal * (equal - 1);
  }
  // The variance of t, in which a cell is two wide.
  constexpr double kRoundedToZero = 1e-12;
  for (std::size_t k = 0; k < sketch.full().size(); ++k) {
    const double count = static_cast<double>(sketch.count(k));
    const double one = sketch.sums(k)[1].value() / simd::kQuanta / count;
    const double two = sketch.sums(k)[2].value() / simd::kQuanta / count;
    if (two - one * one < kRoundedToZero) ties.pairs += count * (count - 1);
  }
  ties.weight = ties.pairs;
  return ties;
}

std::vector<double> quantiles_of(const LineSketch& sketch, Span<const double> prob) {
  const std::vector<CellOfSketch> cells = cells_of(sketch);
  std::vector<double> found;
  for (const double p : prob) {
    const double at = p * (static_cast<double>(sketch.n()) - 1), rank = std::floor(at);
    const double low = ordered_sample(sketch, cells, rank);
    const double high = at > rank ? ordered_sample(sketch, cells, rank + 1) : low;
    found.push_back(low + (at - rank) * (high - low));
  }
  return found;
}

int exponent_for(double bandwidth) { return cell_exponent(bandwidth, exponents_of_sums()); }

}  // namespace kestrel
