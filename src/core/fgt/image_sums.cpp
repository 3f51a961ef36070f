// An image of x is sign x + shift. So a cell of samples has an image that is a cell, too: its
// moments are those of the cell, with their signs changed for odd powers if it is reflected. Images
// of all cells by one map are on one lattice, by a part of a cell off that of the samples:
//
//       samples   |---------|---------|---------|
//       images       |---------|---------|---------|
//                 >--< offset
//
// Pairs of a cell and an image whose centres are l + offset widths apart have the sums D_m(l) of
// lag_table.hpp, and phi^(r) has its series about rho (l + offset). At any lag there are at most as
// many pairs as there are i, j in a common cell (Cauchy and Schwarz), so that the truncation of
// sums over pairs (truncation.hpp) serves those with images.
#include "core/fgt/image_sums.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/parallel.hpp"
#include "core/base/whole.hpp"
#include "core/fgt/cell_moments.hpp"
#include "core/fgt/octaves.hpp"
#include "core/fgt/truncation.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

namespace {

/// A sum over pairs of samples and images at lags of cells.
class ImageLags {
 public:
  ImageLags(const CellMoments& cells, int lags, const RunOptions& options)
      : cells_(cells), lags_(lags), options_(options) {
    for (std::size_t c = 0; c < cells.cells(); ++c) key_.push_back(cells.key(c));
  }

  /// Adds the pairs with the images by a map, each `times`.
  void add(const ImageMap& map, double times) {
    const long double in_cells = std::ldexp(map.shift, -cells_.exponent());
    const long double nearest = std::floor(in_cells + 0.5L);
    const double whole = static_cast<double>(nearest);
    Lattice lattice{static_cast<double>(in_cells - nearest), times, {}};
    std::vector<DifferenceMoments> sums(static_cast<std::size_t>(2 * lags_ + 1),
                                        DifferenceMoments(cells_.moments(), *options_.table));
    if (map.sign < 0) mirror();
    std::size_t begin = 0;
    for (std::size_t i = first_cell(map, whole); i < key_.size(); ++i) {
      // An image of cell j is at key `turn` - key(j), or key(j) + whole.
      const double turn = (whole - key_[i]) - 1;
      if (map.sign < 0) {
        // Ascending i have descending j.
        const auto low = std::lower_bound(key_.begin(), key_.end(), turn - lags_);
        const auto high = std::upper_bound(low, key_.end(), turn + lags_);
        if (low == key_.end()) continue;
        if (high == key_.begin()) break;
        for (auto j = low; j < high; ++j) {
          lag_of(&sums, turn - *j).add(cells_.moment(i), mirrored(j - key_.begin()));
        }
      } else {
        const double at = key_[i] - whole;
        while (begin < key_.size() && key_[begin] < at - lags_) ++begin;
        if (begin == key_.size()) break;
        for (std::size_t j = begin; j < key_.size() && key_[j] <= at + lags_; ++j) {
          lag_of(&sums, key_[j] - at).add(cells_.moment(i), cells_.moment(j));
        }
      }
      if (i % kPolledItems == 0) poll_if_due(options_.parallel);
    }
    const std::size_t p = static_cast<std::size_t>(cells_.moments());
    lattice.d.assign(sums.size() * p, 0.0);
    for (std::size_t l = 0; l < sums.size(); ++l) sums[l].add_to(lattice.d.data() + l * p);
    lattices_.push_back(std::move(lattice));
  }

  /// The sum of phi^(order)((x_i - x') / g), times (2^exponent / g)^order and without the constant
  /// of phi.
  double evaluate(double g, int order) const {
    const double rho = std::ldexp(1.0, cells_.exponent()) / g;
    const int moments = cells_.moments();
    double derivative[kMaxMoments + kHighestPairOrder];
    double total = 0;
    for (const Lattice& lattice : lattices_) {
      double sum = 0;
      const double* d = lattice.d.data();
      for (int l = -lags_; l <= lags_; ++l, d += moments) {
        if (d[0] == 0) continue;  // no pairs
        scaled_derivatives(rho * (l + lattice.offset), rho, order + moments, derivative);
        double of_lag = 0;
        for (int m = 0; m < moments; ++m) of_lag += derivative[order + m] * d[m];
        sum += of_lag;
      }
      total += lattice.times * sum;
    }
    return total;
  }

 private:
  /// The images by one map: where they are, how often they count, and D for every lag.
  struct Lattice {
    double offset, times;
    std::vector<double> d;
  };

  DifferenceMoments& lag_of(std::vector<DifferenceMoments>* sums, double lag) const {
    return (*sums)[whole_number<std::size_t>(lag + lags_)];
  }

  /// The first cell that may have a pair.
  std::size_t first_cell(const ImageMap& map, double whole) const {
    const double least =
        map.sign < 0 ? (whole - key_.back()) - 1 - lags_ : (key_.front() + whole) - lags_;
    return static_cast<std::size_t>(std::lower_bound(key_.begin(), key_.end(), least) -
                                    key_.begin());
  }

  /// The moments of reflected cells, between zeros as those of CellMoments.
  void mirror() {
    if (!mirrored_.empty()) return;
    const std::size_t p = static_cast<std::size_t>(cells_.moments());
    mirrored_.assign(kMomentPadding + key_.size() * (p + kMomentPadding), 0.0);
    for (std::size_t c = 0; c < key_.size(); ++c) {
      double* to = mirrored_.data() + kMomentPadding + c * (p + kMomentPadding);
      for (std::size_t a = 0; a < p; ++a) {
        to[a] = a % 2 == 0 ? cells_.moment(c)[a] : -cells_.moment(c)[a];
      }
    }
  }
  const double* mirrored(std::ptrdiff_t cell) const {
    const std::size_t row = static_cast<std::size_t>(cells_.moments()) + kMomentPadding;
    return mirrored_.data() + kMomentPadding + static_cast<std::size_t>(cell) * row;
  }

  const CellMoments& cells_;
  const int lags_;
  const RunOptions& options_;
  std::vector<double> key_, mirrored_;
  std::vector<Lattice> lattices_;
};

/// The range of values that moments of cells can stand for, which may be wider than that of the
/// values by a cell.
ValueRange range_of_cells(const CellMoments& cells) {
  const double low = std::ldexp(cells.key(0), cells.exponent());
  const double high = std::ldexp(cells.key(cells.cells() - 1) + 1, cells.exponent());
  return {low, high};
}

/// They take little time beside the sums over pairs.
RunOptions without_progress(const RunOptions& options) {
  return {options.table, part_of(options.parallel, 0, 0)};
}

std::vector<PairBandwidth> of_variance_one(Span<const double> g) {
  std::vector<PairBandwidth> bandwidths;
  for (const double one : g) bandwidths.push_back({one, 1});
  return bandwidths;
}

/// Calls sum(cells, octave, truncation) for each octave of the bandwidths, with cells as wide as it
/// needs.
template <class Sum>
void for_each_octave(const LineSample& sample, Span<const double> g, int order,
                     const RunOptions& options, const Sum& sum) {
  const PairTruncation truncation(order);
  const std::vector<Octave> octaves = octaves_of(of_variance_one(g), truncation.halvings);
  if (octaves.empty() || sample.x().size == 0) return;
  const auto enough = [&](int halved) { return truncation.moments_of(halved); };
  for (const Octave& octave : octaves) {
    sum(sample.united(octave.exponent, enough, options), octave, truncation);
  }
}

/// phi((x_i - x') / g) of reflected samples, without its constant, from the moments of cells.
double own_reflections(const CellMoments& cells, const std::vector<ImageMap>& maps, double g,
                       double reach) {
  const double rho = std::ldexp(1.0, cells.exponent()) / g;
  const int moments = cells.moments();
  double derivative[kMaxMoments];
  double total = 0;
  for (const ImageMap& map : maps) {
    if (map.sign > 0) continue;
    const long double shift = std::ldexp(map.shift, -cells.exponent());
    for (std::size_t c = 0; c < cells.cells(); ++c) {
      // The image of a sample at offset z is u - 2 z widths away.
      const double u = static_cast<double>(shift - 2 * static_cast<long double>(cells.key(c)) - 1);
      if (std::fabs(u) * rho > reach + 1) continue;
      scaled_derivatives(rho * u, -2 * rho, moments, derivative);
      for (int a = 0; a < moments; ++a) total += derivative[a] * cells.moment(c)[a];
    }
  }
  return total;
}

/// The same from the samples.
double own_reflections(const LineSample& sample, const std::vector<ImageMap>& maps, double g,
                       double reach, const RunOptions& options) {
  const Span<const double> x = sample.x();
  const Weights w = sample.w();
  long double total = 0;
  for (const ImageMap& map : maps) {
    for (std::size_t i = 0; i < x.size && map.sign < 0; ++i) {
      if (i % kPolledItems == 0) poll_if_due(options.parallel);
      // The image is rounded to a double, as those of reflect_rows().
      const double u = (x[i] - static_cast<double>(map.shift - x[i])) / g;
      if (std::fabs(u) <= reach) total += w[i] * w[i] * std::exp(-0.5 * u * u);
    }
  }
  return static_cast<double>(total);
}

}  // namespace

std::vector<double> fgt_image_psi(const LineSample& sample, const ReflectingAxis& axis,
                                  Span<const double> g, int order, const RunOptions& all_options) {
  if (order < 0 || order > kHighestPairOrder || order % 2 != 0) {
    throw error(ErrorKind::input,
                "the order must be 0, 2, 4, 6, 8 or 10, not " + std::to_string(order));
  }
  const RunOptions options = without_progress(all_options);
  std::vector<double> out(g.size, 0.0);
  const auto sum = [&](const CellMoments& cells, const Octave& octave,
                       const PairTruncation& truncation) {
    const int lags = octave.lags(truncation.reach);
    const double reach = std::ldexp(static_cast<double>(lags), octave.exponent);
    const ValueRange range = range_of_cells(cells);
    ImageLags table(cells, lags, options);
    for (const ImageMap& map : image_maps(axis, range.min, range.max, reach)) {
      // The order is even, so that images in either direction have the same sum.
      if (map.sign < 0) table.add(map, 1);
      if (map.sign > 0 && map.shift > 0) table.add(map, 2);
    }
    for (const std::size_t k : octave.index) {
      out[k] = in_units_of_x(table.evaluate(g[k], order), g[k], octave.exponent, order);
    }
  };
  for_each_octave(sample, g, order, options, sum);
  return out;
}

std::vector<double> fgt_own_images(const LineSample& sample, const SquaredWeights* squared,
                                   const ReflectingAxis& axis, Span<const double> g,
                                   const RunOptions& all_options) {
  const RunOptions options = without_progress(all_options);
  const double reach = PairTruncation(0).reach;
  const WeightSums weights = sample.weights(options.parallel);
  std::vector<double> out(g.size, 0.0);
  // They are as far from their images for every sample.
  for (std::size_t k = 0; k < g.size; ++k) {
    for (const ImageMap& map : image_maps(axis, 0, 0, reach * g[k])) {
      const double u = static_cast<double>(map.shift / g[k]);
      if (map.sign > 0) out[k] += weights.squares * std::exp(-0.5 * u * u);
    }
  }
  if (!axis.periodic && sample.has_samples()) {
    for (std::size_t k = 0; k < g.size; ++k) {
      const auto maps = image_maps(axis, sample.range().min, sample.range().max, reach * g[k]);
      out[k] += own_reflections(sample, maps, g[k], reach, options);
    }
  } else if (!axis.periodic) {
    if (squared == nullptr && (weights.max > 1 || weights.squares != weights.sum)) {
      throw error(ErrorKind::internal, "the squared weights of cells are not known at each place");
    }
    for_each_octave(squared == nullptr ? sample : squared->line, g, 0, options,
                    [&](const CellMoments& cells, const Octave& octave, const PairTruncation&) {
                      const ValueRange range = range_of_cells(cells);
                      for (const std::size_t k : octave.index) {
                        const auto maps = image_maps(axis, range.min, range.max, reach * g[k]);
                        out[k] += own_reflections(cells, maps, g[k], reach);
                      }
                    });
  }
  for (std::size_t k = 0; k < g.size; ++k) out[k] = in_units_of_x(out[k], g[k], 0, 0);
  return out;
}

}  // namespace kestrel
