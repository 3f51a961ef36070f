#include "core/fourier/trim.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/parallel_sort.hpp"
#include "core/base/whole.hpp"
#include "core/data/passes.hpp"
#include "core/fourier/box_content.hpp"
#include "core/fourier/costs.hpp"
#include "core/fourier/ranges.hpp"
#include "core/fourier/tail.hpp"

namespace kestrel {

namespace {

/// The queries of a search, and the fraction of the modes that each visits.
constexpr double kQueries = 50, kVisited = 0.3;
/// Seconds: a grid that costs less is not trimmed, beside the search for outliers.
constexpr double kMinSeconds = 0.02;

/// Fractions of the samples that are left out at each end of each axis.
constexpr double kShares[] = {1e-4, 1e-3, 1e-2, 3e-2, 0.1};

/// Memory of a pair of the tail.
constexpr double kPairBytes = 32;

/// Seconds of making a grid and searching on it.
double seconds_of(const FourierGeometry& geometry, double pairs) {
  return 1e-9 * (kTrimCellNs * static_cast<double>(geometry.box.size()) +
                 kQueries * (kVisited * kTrimModeNs * static_cast<double>(geometry.modes()) +
                             kTrimPairNs * pairs));
}

/// The number of pairs of the tail; infinite if there are more than `max`.
double count_tail_pairs(const MatrixView& x, Weights w, const FourierGeometry& geometry, double max,
                        const ParallelOptions& options) {
  std::vector<FourierTail> of_part(parts_of_pass(x.rows));
  pass_over(x.rows, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (w[i] > 0) file_sample(geometry, geometry.whiten(x, i), w[i], &of_part[part]);
    }
  });
  FourierTail tail;
  for (const FourierTail& part : of_part) tail.add(part);
  double pairs = 0;
  const bool all = visit_tail_pairs(
      tail, geometry.reach, [&](const Point3&, const Point3&, double) { return ++pairs <= max; });
  return all ? pairs : kInfinity;
}

/// Coordinates of the samples with a weight, each axis in ascending order.
using SortedAxes = std::array<std::vector<double>, 3>;
SortedAxes sorted_axes(const MatrixView& x, Weights w, const FourierGeometry& geometry,
                       const RunOptions& options) {
  std::vector<SortedAxes> of_part(parts_of_pass(x.rows));
  pass_over(x.rows, part_of(options.parallel, 0, 0),
            [&](std::size_t part, std::size_t begin, std::size_t end) {
              for (std::size_t i = begin; i < end; ++i) {
                if (!(w[i] > 0)) continue;
                const Point3 z = geometry.whiten(x, i);
                for (std::size_t a = 3 - geometry.d; a < 3; ++a) of_part[part][a].push_back(z[a]);
              }
            });
  SortedAxes sorted;
  for (const SortedAxes& part : of_part) {
    for (std::size_t a = 0; a < 3; ++a) {
      sorted[a].insert(sorted[a].end(), part[a].begin(), part[a].end());
    }
  }
  for (std::vector<double>& column : sorted) {
    parallel_sort(&column, part_of(options.parallel, 0, 0));
  }
  return sorted;
}

/// The box without `cut` samples at each end of each axis.
FourierGeometry without(const FourierGeometry& whole, const SortedAxes& sorted, std::size_t cut) {
  FourierGeometry inner = whole;
  inner.trimmed = true;
  const std::size_t n = sorted[2].size();
  for (std::size_t a = 3 - whole.d; a < 3; ++a) {
    inner.low[a] = sorted[a][cut];
    inner.high[a] = sorted[a][n - 1 - cut];
  }
  return inner;
}

}  // namespace

FourierGeometry best_box(const MatrixView& x, Weights w, const LaidGrid& whole, double bytes,
                         const RunOptions& options) {
  FourierGeometry best = whole.geometry;
  double best_seconds = whole.fits ? seconds_of(whole.geometry, 0) : kInfinity;
  if (best_seconds <= kMinSeconds + 1e-9 * kTrimSampleNs * static_cast<double>(x.rows)) return best;
  const SortedAxes sorted = sorted_axes(x, w, whole.geometry, options);
  const std::size_t n = sorted[2].size();
  for (const double share : kShares) {
    const std::size_t cut = whole_number<std::size_t>(std::ceil(share * static_cast<double>(n)));
    if (2 * cut + 1 > n) break;
    const FourierGeometry inner = without(whole.geometry, sorted, cut);
    const BoxContent content = look_into_box(x, w, inner, options);
    if (!(content.weight > 0)) continue;
    const LaidGrid grid = lay_grid(inner, content, bytes);
    if (!grid.fits) continue;
    const double of_grid = seconds_of(grid.geometry, 0);
    if (of_grid >= best_seconds) continue;
    const double max_pairs = std::min((bytes - grid.bytes) / kPairBytes,
                                      (best_seconds - of_grid) / (1e-9 * kQueries * kTrimPairNs));
    const double seconds = seconds_of(
        grid.geometry,
        count_tail_pairs(x, w, grid.geometry, max_pairs, part_of(options.parallel, 0, 0)));
    if (seconds >= best_seconds) continue;
    best_seconds = seconds;
    best = grid.geometry;
  }
  if (std::isinf(best_seconds)) {
    throw error(ErrorKind::memory, "a grid for these bandwidths needs " + gigabytes(whole.bytes) +
                                       ", more than the " + gigabytes(bytes) +
                                       " allowed, and there are too many pairs among the outliers "
                                       "to sum them one by one");
  }
  return best;
}

}  // namespace kestrel
