#include "core/fourier/geometry.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "core/base/error.hpp"
#include "core/base/parallel_sort.hpp"
#include "core/base/whole.hpp"
#include "core/data/weights.hpp"
#include "core/fourier/ranges.hpp"
#include "core/fourier/tail.hpp"
#include "core/fourier/window.hpp"
#include "core/kernel/kernel.hpp"
#include "core/kernel/root.hpp"

namespace kestrel {

namespace {

/// Bins of the histograms by which the period is chosen.
constexpr std::size_t kBins = 256;

/// Seconds of a cell and its transform, of a mode in a query, of a pair of the tail in a query;
/// queries of a search, and the share of the modes that they visit. They choose how far to trim,
/// and promise no times (2026-11, 2.5 GHz Xeon).
constexpr double kCellSeconds = 2.5e-8, kModeSeconds = 3e-9, kPairSeconds = 3e-8;
constexpr double kQueries = 50, kVisited = 0.3;
/// Seconds that looking for outliers takes for each sample: a grid that costs less is not worth it.
constexpr double kTrimSeconds = 4e-6, kMinSeconds = 0.02;

/// Of the root of coordinates in double precision: a correlation of 0.97 of two variables. Others
/// take a tenth longer.
constexpr double kMaxCondition = 8;

/// Weighted totals over the samples, in parts of fixed size added in order.
template <class Add>
std::vector<double> add_parts(std::size_t n, std::size_t sums, const RunOptions& options,
                              const Add& add) {
  const std::size_t parts = (n + kFourierPart - 1) / kFourierPart;
  std::vector<double> partial(parts * sums, 0.0), total(sums, 0.0);
  parallel_for(parts, options.parallel, [&](std::size_t part, int) {
    double* sum = partial.data() + part * sums;
    for (std::size_t i = part * kFourierPart; i < std::min(n, (part + 1) * kFourierPart); ++i)
      add(i, sum);
  });
  for (std::size_t part = 0; part < parts; ++part) {
    for (std::size_t s = 0; s < sums; ++s) total[s] += partial[part * sums + s];
  }
  return total;
}

void check_demand(const MatrixView& x, Span<const double> w, const FourierDemand& demand) {
  if (x.cols < 1 || x.cols > 3) {
    throw error(ErrorKind::input,
                "engine \"fourier\" takes one to three variables, not " + std::to_string(x.cols));
  }
  check_weight_count(x.rows, w.size);
  if (!demand.root.empty() && demand.root.size() != x.cols * x.cols) {
    throw error(ErrorKind::internal, "scale matrix of a wrong size");
  }
  if (!(demand.min > 0) || !(demand.max >= demand.min) || !std::isfinite(demand.max)) {
    throw error(ErrorKind::input, "bandwidths must be positive and in ascending order");
  }
  if (!(demand.tolerance == 0 ||
        (demand.tolerance >= kMinFourierTolerance && demand.tolerance <= kMaxFourierTolerance))) {
    throw error(ErrorKind::input, "the tolerance must be between 1e-13 and 0.01");
  }
}

/// Sums of the weights, of their squares, and of the weighted values; checks them all.
std::vector<double> check_samples(const MatrixView& x, Span<const double> w,
                                  const RunOptions& options) {
  std::vector<double> total = add_parts(x.rows, 2 + x.cols, options, [&](std::size_t i, double* s) {
    if (!(w[i] >= 0) || !std::isfinite(w[i])) {
      throw error(ErrorKind::input, "weights must be finite and not negative");
    }
    s[0] += w[i];
    s[1] += w[i] * w[i];
    for (std::size_t k = 0; k < x.cols; ++k) {
      if (!std::isfinite(x(i, k))) throw error(ErrorKind::input, "samples must be finite");
      if (w[i] > 0) s[2 + k] += w[i] * x(i, k);
    }
  });
  if (!(total[0] > 0)) throw error(ErrorKind::input, "there is no sample with a positive weight");
  if (!std::isfinite(total[1])) throw error(ErrorKind::input, "weights are too large to square");
  return total;
}

/// The lower Cholesky factor of the covariance about the centre, divisor sum w.
void sample_root(const MatrixView& x, Span<const double> w, double weight,
                 FourierGeometry* geometry, const RunOptions& options) {
  const std::size_t d = x.cols;
  std::vector<double> s = add_parts(x.rows, d * d, options, [&](std::size_t i, double* sum) {
    for (std::size_t l = 0; l < d; ++l) {
      for (std::size_t k = l; k < d; ++k) {
        sum[l * d + k] +=
            w[i] * (x(i, k) - geometry->centre[k]) * (x(i, l) - geometry->centre[l]) / weight;
      }
    }
  });
  for (std::size_t l = 0; l < d; ++l) {
    const double variance = s[l * d + l];
    for (std::size_t m = 0; m < l; ++m) {
      for (std::size_t k = l; k < d; ++k) {
        s[l * d + k] -= geometry->root[m * d + l] * geometry->root[m * d + k];
      }
    }
    if (!(s[l * d + l] > 1e-14 * variance) || !std::isfinite(variance)) {
      throw error(ErrorKind::input, "the covariance of the samples is singular: variable " +
                                        std::to_string(l + 1) +
                                        " is a combination of those before it");
    }
    for (std::size_t k = l; k < d; ++k) {
      geometry->root[l * d + k] = s[l * d + k] / std::sqrt(s[l * d + l]);
    }
  }
}

/// What the samples in the box weigh, and how far apart they are.
struct BoxContent {
  double weight = 0, squares = 0;
  std::array<std::vector<double>, 3> at_lag;  // by axis: weight of ordered pairs so many bins apart
};

BoxContent look_into_box(const MatrixView& x, Span<const double> w, const FourierGeometry& geometry,
                         const RunOptions& options) {
  Point3 bins_of_length{};
  for (std::size_t a = 0; a < 3; ++a) {
    const double range = geometry.high[a] - geometry.low[a];
    bins_of_length[a] = range > 0 ? kBins / range : 0.0;
  }
  std::vector<double> sums =
      add_parts(x.rows, 2 + 3 * kBins, options, [&](std::size_t i, double* sum) {
        const Point3 z = geometry.whiten(x, i);
        if (!geometry.inside(z)) return;
        sum[0] += w[i];
        sum[1] += w[i] * w[i];
        for (std::size_t a = 0; a < 3; ++a) {
          const double bin = (z[a] - geometry.low[a]) * bins_of_length[a];
          sum[2 + a * kBins + std::min(kBins - 1, whole_number<std::size_t>(bin))] += w[i];
        }
      });
  BoxContent content;
  content.weight = sums[0];
  content.squares = sums[1];
  for (std::size_t a = 3 - geometry.d; a < 3; ++a) {
    const double* bin = sums.data() + 2 + a * kBins;
    content.at_lag[a].assign(kBins, 0.0);
    for (std::size_t i = 0; i < kBins; ++i) {
      for (std::size_t j = i; j < kBins; ++j) {
        content.at_lag[a][j - i] += (i == j ? 1 : 2) * bin[i] * bin[j];
      }
    }
  }
  return content;
}

/// A lower bound on S(2H) / K_2H(0) where no bandwidth matrix is larger than most^2 and one
/// direction is that wide. The terms i = j alone give 1 / n_eff. And S(2H) = int f^2 for the
/// estimate f with bandwidth H, which is at least (int_B f)^2 / |B| for the box B of the samples
/// widened by 2.1 standard deviations, where 0.98 of f's weight lies in each direction
/// (Cauchy-Schwarz).
double min_sum(const BoxContent& content, const FourierGeometry& geometry) {
  const double widest = std::sqrt(2.0) * geometry.max, narrow = std::sqrt(2.0) * geometry.min;
  double by_volume = widest / narrow;
  for (std::size_t a = 3 - geometry.d; a < 3; ++a) {
    by_volume *=
        0.93 * std::sqrt(2 * kPi) * narrow / (geometry.high[a] - geometry.low[a] + 3 * widest);
  }
  return std::max(by_volume, content.squares / (content.weight * content.weight));
}

/// The least period at which the images of all pairs, at distance period - distance or more,
/// come to `allowed` of K_2H(0) times the square of the weight.
double min_period(const BoxContent& content, const FourierGeometry& geometry, std::size_t axis,
                  double allowed) {
  const double range = geometry.high[axis] - geometry.low[axis], bin = range / kBins;
  const auto images = [&](double period) {
    double sum = 0.0;
    for (std::size_t lag = 0; lag < kBins; ++lag) {
      const double u = (period - bin * static_cast<double>(lag + 1)) / (2 * geometry.max);
      sum += content.at_lag[axis][lag] * std::exp(-u * u);
    }
    return sum / (content.weight * content.weight);
  };
  double above = range + 2 * geometry.max * std::sqrt(-std::log(allowed));
  double below = range + std::min(0.25 * (above - range), 4 * geometry.max);
  while (above - below > 0.002 * (above - range)) {
    const double middle = 0.5 * (above + below);
    (images(middle) <= allowed ? above : below) = middle;
  }
  return above;
}

/// Period, modes and cells for the geometry's box. False when bytes() would exceed `bytes`, with
/// what they would be in `needed`.
bool lay_grid(const BoxContent& content, double bytes, FourierGeometry* geometry, double* needed) {
  FourierGeometry& g = *geometry;
  const double min = min_sum(content, g);
  g.reach = 2 * g.max * std::sqrt(-std::log(0.05 * g.tolerance * min));
  Point3 cells{1, 1, 1}, modes{0, 0, 0};
  for (std::size_t a = 3 - g.d; a < 3; ++a) {
    const double range = g.high[a] - g.low[a];
    g.period[a] = min_period(content, g, a, 0.3 / static_cast<double>(g.d) * g.tolerance * min);
    modes[a] = std::ceil(g.cut / g.min / g.frequency_step(a));
    // Spreading must not wrap around: between the samples and their images the window has room.
    const double for_window = (FourierWindow::kMaxTaps + 3) * g.period[a] / (g.period[a] - range);
    cells[a] = std::ceil(std::max(2.5 * modes[a], for_window));
  }
  *needed = 8 * (cells[0] * cells[1] * (cells[2] + 2) +
                 (2 * modes[0] + 1) * (2 * modes[1] + 1) * (modes[2] + 1));
  if (!(*needed <= bytes)) return false;
  for (std::size_t a = 0; a < 3; ++a) {
    g.box.max[a] = whole_number<std::size_t>(modes[a]);
    g.box.cells[a] = a < 3 - g.d ? 1 : smooth_number(whole_number<std::size_t>(cells[a]));
    g.origin[a] = g.low[a] - (g.taps / 2 + 1) * g.period[a] / static_cast<double>(g.box.cells[a]);
  }
  *needed = g.bytes();
  return true;
}

/// Seconds of making a grid and searching on it.
double seconds_of(const FourierGeometry& geometry, double pairs) {
  return kCellSeconds * static_cast<double>(geometry.box.size()) +
         kQueries * (kVisited * kModeSeconds * static_cast<double>(geometry.modes()) +
                     kPairSeconds * pairs);
}

/// The pairs of the tail, infinitely many when there are more than `max`.
double count_tail_pairs(const MatrixView& x, Span<const double> w, const FourierGeometry& geometry,
                        double max) {
  FourierTail tail;
  for (std::size_t i = 0; i < x.rows; ++i) {
    if (w[i] > 0) file_sample(geometry, geometry.whiten(x, i), w[i], &tail);
  }
  double pairs = 0;
  const bool all = visit_tail_pairs(
      tail, geometry.reach, [&](const Point3&, const Point3&, double) { return ++pairs <= max; });
  return all ? pairs : std::numeric_limits<double>::infinity();
}

/// The geometry that costs least among those whose box leaves out a share of the samples at each
/// end of each axis.
void trim(const MatrixView& x, Span<const double> w, const FourierDemand& demand, bool fits,
          double needed, FourierGeometry* geometry, const RunOptions& options) {
  constexpr double kShares[] = {1e-4, 1e-3, 1e-2, 3e-2, 0.1};
  std::vector<std::vector<double>> sorted(3);
  for (std::size_t i = 0; i < x.rows; ++i) {
    if (!(w[i] > 0)) continue;
    const Point3 z = geometry->whiten(x, i);
    for (std::size_t a = 3 - x.cols; a < 3; ++a) sorted[a].push_back(z[a]);
  }
  for (std::vector<double>& column : sorted) {
    parallel_sort(&column, part_of(options.parallel, 0, 0));
  }
  double best = fits ? seconds_of(*geometry, 0) : std::numeric_limits<double>::infinity();
  const FourierGeometry whole = *geometry;
  for (const double share : kShares) {
    FourierGeometry candidate = whole;
    candidate.trimmed = true;
    const std::size_t n = sorted[2].size();
    const std::size_t cut = whole_number<std::size_t>(std::ceil(share * static_cast<double>(n)));
    if (2 * cut + 1 > n) break;
    for (std::size_t a = 3 - x.cols; a < 3; ++a) {
      candidate.low[a] = sorted[a][cut];
      candidate.high[a] = sorted[a][n - 1 - cut];
    }
    const BoxContent content = look_into_box(x, w, candidate, options);
    double bytes = 0;
    if (!(content.weight > 0)) continue;
    if (!lay_grid(content, demand.bytes, &candidate, &bytes) || seconds_of(candidate, 0) >= best) {
      continue;
    }
    // Each pair takes 32 bytes.
    const double max = std::min((demand.bytes - bytes) / 32,
                                (best - seconds_of(candidate, 0)) / (kQueries * kPairSeconds));
    const double seconds = seconds_of(candidate, count_tail_pairs(x, w, candidate, max));
    if (seconds >= best) continue;
    best = seconds;
    *geometry = candidate;
  }
  if (std::isinf(best)) {
    throw error(ErrorKind::memory, "a grid for these bandwidths needs " + gigabytes(needed) +
                                       ", more than the " + gigabytes(demand.bytes) +
                                       " allowed, and there are too many pairs among the outliers "
                                       "to sum them one by one");
  }
}

/// The box of all samples with a weight.
void set_range(const MatrixView& x, Span<const double> w, FourierGeometry* geometry,
               const RunOptions& options) {
  const std::array<Range, 3> range = ranges_of(x.rows, options, [&](std::size_t i, auto add) {
    if (!(w[i] > 0)) return;
    const Point3 z = geometry->whiten(x, i);
    for (std::size_t a = 0; a < 3; ++a) {
      if (!std::isfinite(z[a])) {
        throw error(ErrorKind::input, "samples leave the range of numbers");
      }
      add(a, z[a]);
    }
  });
  for (std::size_t a = 0; a < 3; ++a) {
    geometry->low[a] = range[a].low;
    geometry->high[a] = range[a].high;
  }
}

}  // namespace

bool is_strongly_correlated(Span<const double> root, std::size_t d) {
  return root_condition(root, d) > kMaxCondition;
}

double default_fourier_tolerance(std::size_t d) { return d < 3 ? 1e-12 : 1e-9; }

double FourierGeometry::frequency_step(std::size_t a) const {
  return a < 3 - d ? 0.0 : 2 * kPi / period[a];
}

std::size_t FourierGeometry::modes() const {
  return (2 * box.max[0] + 1) * (2 * box.max[1] + 1) * (box.max[2] + 1);
}

double FourierGeometry::bytes() const { return 8.0 * static_cast<double>(box.size() + modes()); }

std::string gigabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g GB", bytes / 1e9);
  return text;
}

FourierGeometry fourier_geometry(const MatrixView& x, Span<const double> w,
                                 const FourierDemand& demand, const RunOptions& options) {
  check_demand(x, w, demand);
  const std::vector<double> total = check_samples(x, w, options);
  FourierGeometry geometry;
  geometry.d = x.cols;
  geometry.tolerance = demand.tolerance > 0 ? demand.tolerance : default_fourier_tolerance(x.cols);
  geometry.min = demand.min;
  geometry.max = demand.max;
  geometry.taps = FourierWindow::taps_for(geometry.tolerance);
  geometry.cut = std::sqrt(2 * std::log(9 / geometry.tolerance));
  for (std::size_t k = 0; k < x.cols; ++k) geometry.centre[k] = total[2 + k] / total[0];
  if (demand.root.empty()) {
    sample_root(x, w, total[0], &geometry, options);
  } else {
    std::copy(demand.root.begin(), demand.root.end(), geometry.root.begin());
  }
  geometry.correlated = is_strongly_correlated({geometry.root.data(), x.cols * x.cols}, x.cols);
  for (std::size_t k = 0; k < x.cols; ++k) geometry.determinant *= geometry.root[k * x.cols + k];
  if (!(geometry.determinant > 0) || !std::isfinite(geometry.determinant)) {
    throw error(ErrorKind::input, "the scale matrix is outside the range of numbers");
  }
  for (std::size_t k = 0; k < x.cols; ++k) geometry.scale[k] = 1 / geometry.root[k * x.cols + k];
  set_range(x, w, &geometry, options);
  double needed = 0;
  const bool fits =
      lay_grid(look_into_box(x, w, geometry, options), demand.bytes, &geometry, &needed);
  const double worth_it = kMinSeconds + kTrimSeconds * static_cast<double>(x.rows);
  if (!fits || seconds_of(geometry, 0) > worth_it) {
    trim(x, w, demand, fits, needed, &geometry, options);
  }
  return geometry;
}

}  // namespace kestrel
