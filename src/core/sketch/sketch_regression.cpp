#include "core/sketch/sketch_regression.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/parallel.hpp"
#include "core/base/two_part.hpp"
#include "core/regression/gaussian_curve.hpp"
#include "core/sketch/sketch_sample.hpp"
#include "simd/sketch/whole_moments.hpp"

namespace kestrel {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kNoSample = std::numeric_limits<std::size_t>::max();
/// Cells of a work item.
constexpr std::size_t kCellsTogether = 16;
/// The error that the squares may have, as a share of themselves.
constexpr double kMostError = 1e-12;
/// Lines through samples at nodes have all their digits where the spread is at least so many
/// squares of the cells' width, and enough of them in the narrowest cells, whose moments are
/// rounded, where it is at least this.
constexpr double kSpread = 1e-2, kLeastSpread = 1e-6;
/// Every sample must have a neighbour within so many bandwidths. Samples of a full cell beyond
/// kGaussianReach, where the kernel ends, then do not count beside it: they have 5e-17 of its
/// weight.
constexpr double kReachOfSketch = kGaussianReach - 1;
/// How much narrower cells are, as an exponent, where it is less.
constexpr int kNarrower = 4;

static_assert(LineSketch::kMoments == static_cast<int>(kNodes), "a moment for each polynomial");
using Powers = std::array<TwoPart, kNodes>;

/// The coefficients of t^a in T_k(t), at 16 k + a.
std::array<double, kNodes * kNodes> chebyshev_coefficients() {
  std::array<double, kNodes * kNodes> of{};
  of[0] = of[kNodes + 1] = 1;
  for (std::size_t k = 2; k < kNodes; ++k) {
    for (std::size_t a = 0; a < kNodes; ++a) {
      const double shifted = a > 0 ? of[kNodes * (k - 1) + a - 1] : 0.0;
      of[kNodes * k + a] = 2 * shifted - of[kNodes * (k - 2) + a];
    }
  }
  return of;
}

/// Both halves of the digits of kMoments sums, in units.
Powers powers_of(const WideInteger* sums) {
  Powers powers;
  for (std::size_t a = 0; a < kNodes; ++a) {
    const double high = sums[a].value();
    WideInteger rest = sums[a];
    rest += -WideInteger::of(high);
    powers[a] = {high / simd::kQuanta, rest.value() / simd::kQuanta};
  }
  return powers;
}

/// The sums of Chebyshev polynomials over a full cell, those with e and with e^2, where e is y
/// minus `reference`. Rounding a sum of T_k matters less the larger k is, since smooth functions
/// have small coefficients there.
void sum_full_cell(const LineSketch& sketch, std::size_t k, double reference, double* sum) {
  static const std::array<double, kNodes* kNodes> coefficients = chebyshev_coefficients();
  const SketchPlan& plan = sketch.plan();
  const WideInteger* sums = sketch.sums(k);
  const Powers one = powers_of(sums), v = powers_of(sums + kNodes),
               square = powers_of(sums + 2 * kNodes);
  const double unit = std::ldexp(1.0, plan.response_exponent);
  TwoPart r = exact_difference(reference, plan.response_origin);
  r = {r.high / unit, r.low / unit};
  double power[3 * kNodes];
  for (std::size_t a = 0; a < kNodes; ++a) {
    power[a] = one[a].value();
    power[kNodes + a] = unit * (v[a] - r * one[a]).value();
    power[2 * kNodes + a] =
        unit * unit * ((square[a] - r * v[a]) - r * (v[a] - r * one[a])).value();
  }
  for (std::size_t row = 0; row < 3 * kNodes; ++row) {
    const double* of = power + row / kNodes * kNodes;
    sum[row] = 0;
    for (std::size_t a = 0; a < kNodes; ++a) {
      sum[row] += coefficients[row % kNodes * kNodes + a] * of[a];
    }
  }
}

std::unique_ptr<const NodeCells> cells_at_nodes(const LineSketch& sketch,
                                                const RunOptions& options) {
  const SketchPlan& plan = sketch.plan();
  const std::vector<CellOfSketch> cells = cells_of(sketch);
  NodeLevel level;
  level.exponent = plan.exponent;
  RawArray<double> sums(cells.size() * 3 * kNodes);
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const CellOfSketch& cell = cells[c];
    double* sum = sums.data() + c * 3 * kNodes;
    level.key.push_back(cell.key);
    if (cell.full) {
      const WideInteger* of = sketch.sums(cell.begin);
      const double mean = of[kNodes].value() / of[0].value();
      level.reference.push_back(plan.response_origin + std::ldexp(mean, plan.response_exponent));
      sum_full_cell(sketch, cell.begin, level.reference[c], sum);
      continue;
    }
    level.reference.push_back(sketch.kept().w[cell.begin]);
    double t[LineSketch::kMostKept], e[LineSketch::kMostKept];
    for (std::size_t i = cell.begin; i < cell.end; ++i) {
      const double x = std::ldexp(sketch.kept().x[i], -plan.exponent);
      t[i - cell.begin] = 2 * exact_difference(x, cell.key + 0.5).high;
      e[i - cell.begin] = sketch.kept().w[i] - level.reference[c];
    }
    options.table->nodes->chebyshev_sums(t, nullptr, e, cell.end - cell.begin, 3, sum);
  }
  return std::make_unique<const NodeCells>(std::move(level), std::move(sums), options);
}

std::size_t cell_with(const NodeLevel& level, double key) {
  return static_cast<std::size_t>(std::lower_bound(level.key.begin(), level.key.end(), key) -
                                  level.key.begin());
}

/// Calls body(cell) for the halves of a cell that hold samples.
template <class Body>
void each_half(const NodeLevel& halves, double key, const Body& body) {
  for (std::size_t c = cell_with(halves, 2 * key);
       c < halves.cells() && halves.key[c] <= 2 * key + 1; ++c) {
    body(c);
  }
}

void add_to(const FitTotals& more, FitTotals* totals) {
  totals->squares += more.squares;
  totals->in_sample += more.in_sample;
  totals->trace += more.trace;
  totals->unsupported += more.unsupported;
}

}  // namespace

/// The distances of a point to the nearest place that has another sample and to the next one; those
/// of full cells are to the width of a cell, and not too small. Infinite if there are none.
struct SketchRegression::Nearby {
  double nearest = HUGE_VAL, next = HUGE_VAL;
  bool alone = true;  // no other sample that is kept has its place

  void add(double distance) {
    next = std::min(next, std::max(nearest, distance));
    nearest = std::min(nearest, distance);
  }
};

/// The terms of a fit: a weight in it, the distance to the point, and the weighted response.
struct SketchRegression::Terms {
  const LocalKernel& kernel;
  const double point, y, nearest;
  const std::size_t own;
  bool any_node = false;
  std::vector<std::array<long double, 3>> all;

  void add(double weight, long double away, double response) {
    const double u = static_cast<double>(away) / kernel.h, u0 = nearest / kernel.h;
    const long double k = std::exp(0.5 * (u0 - u) * (u0 + u));
    all.push_back({k * weight, away, k * response});
  }

  /// The fit, a line or a constant. Returns the mean square of the distances to their mean.
  double fit(bool line, LocalFit* fit) const {
    long double s0 = 0, s1 = 0, r0 = 0, spread = 0, product = 0;
    for (const auto& term : all) {
      s0 += term[0];
      s1 += term[0] * term[1];
      r0 += term[2];
    }
    const long double mean = s1 / s0, mean_y = r0 / s0;
    for (const auto& term : all) {
      const long double off = term[1] - mean;
      spread += term[0] * off * off;
      product += off * (term[2] - term[0] * mean_y);
    }
    const long double slope = line ? product / spread : 0, away = line ? mean : 0;
    fit->supported = true;
    fit->scale = std::exp(-0.5 * (nearest / kernel.h) * (nearest / kernel.h));
    fit->deviation = static_cast<double>(mean_y - slope * away);
    fit->constant = static_cast<double>(1 / s0 + (line ? away * away / spread : 0));
    return static_cast<double>(spread / s0);
  }
};

SketchRegression::SketchRegression(const LineSketch& sketch, const RunOptions& options)
    : sketch_(sketch),
      source_(std::make_unique<const LocalSource>(cells_at_nodes(sketch, options),
                                                  static_cast<double>(sketch.n()))),
      least_(std::ldexp(1.0, sketch.plan().exponent)) {
  for (std::size_t i = 0; i < sketch.kept().size(); ++i) {
    least_ = std::max(least_, nearby(sketch.kept().x[i], i).nearest / kReachOfSketch);
  }
}

/// The first sample that is kept in cell `key` of a level or beyond.
std::size_t SketchRegression::kept_from(double key, int exponent) const {
  const std::vector<double>& x = sketch_.kept().x;
  return static_cast<std::size_t>(std::lower_bound(x.begin(), x.end(), std::ldexp(key, exponent)) -
                                  x.begin());
}

bool SketchRegression::keeps_all(const NodeLevel& level, std::size_t cell) const {
  const std::size_t kept =
      kept_from(level.key[cell] + 1, level.exponent) - kept_from(level.key[cell], level.exponent);
  return level.weight[cell] == static_cast<double>(kept);
}

SketchRegression::Nearby SketchRegression::nearby(double point, std::size_t own) const {
  const std::vector<double>&x = sketch_.kept().x, &full = sketch_.full();
  Nearby found;
  const auto first = std::lower_bound(x.begin(), x.end(), point);
  const auto beyond = std::upper_bound(first, x.end(), point);
  found.alone = beyond - first <= (own == kNoSample ? 0 : 1);
  if (!found.alone) found.add(0);
  // Two places on either side.
  auto left = first;
  for (int places = 0; places < 2 && left != x.begin(); ++places) {
    found.add(point - left[-1]);
    left = std::lower_bound(x.begin(), left, left[-1]);
  }
  auto right = beyond;
  for (int places = 0; places < 2 && right != x.end(); ++places) {
    found.add(*right - point);
    right = std::upper_bound(right, x.end(), *right);
  }
  const int exponent = sketch_.plan().exponent;
  const double at = std::ldexp(point, -exponent);
  const auto above = std::lower_bound(full.begin(), full.end(), std::floor(at));
  const auto add_cell = [&](double edge) {
    const double distance = std::fabs(std::ldexp(exact_difference(at, edge).high, exponent));
    found.add(distance);
    found.add(distance);
  };
  if (above != full.end()) add_cell(*above + 1);
  if (above != full.begin()) add_cell(above[-1]);
  return found;
}

/// Adds the samples of a cell of a level, one by one where all are known, or else at its nodes.
void SketchRegression::add_terms(int exponent, std::size_t cell, Terms* terms) const {
  const NodeLevel& level = source_->cells()->level(exponent);
  const double key = level.key[cell], point = terms->point;
  if (keeps_all(level, cell)) {
    const std::vector<double>&x = sketch_.kept().x, &y = sketch_.kept().w;
    const std::size_t end = kept_from(key + 1, level.exponent);
    for (std::size_t j = kept_from(key, level.exponent); j < end; ++j) {
      const bool seen = std::fabs(x[j] - point) < kGaussianReach * terms->kernel.h;
      if (j == terms->own || !seen) continue;
      const TwoPart away = exact_difference(x[j], point);
      terms->add(1, static_cast<long double>(away.high) + away.low, y[j] - terms->y);
    }
    return;
  }
  const double at = std::ldexp(point, -level.exponent);
  if (terms->own != kNoSample && std::floor(at) == key) {
    each_half(source_->cells()->level(level.exponent - 1), key,
              [&](std::size_t c) { add_terms(level.exponent - 1, c, terms); });
    return;
  }
  const double *weight = level.column(cell), *response = weight + kNodes;
  const TwoPart from = exact_difference(key, at);
  for (std::size_t n = 0; n < kNodes; ++n) {
    const long double away = from.high + (from.low + (0.5L + 0.5L * node_tables().node[n]));
    terms->add(weight[n], std::ldexp(away, level.exponent),
               response[n] + (level.reference[cell] - terms->y) * weight[n]);
  }
  terms->any_node = true;
}

LocalFit SketchRegression::fit_at(const LocalKernel& kernel, double point, double y,
                                  std::size_t own) const {
  const Nearby near = nearby(point, own);
  const double h = kernel.h;
  LocalFit fit;
  if (!(near.nearest < kGaussianReach * h)) return fit;
  const bool line = kernel.local_linear && near.next < kGaussianReach * h;
  const double u = (line ? near.next : near.nearest) / h;
  const double reach = gaussian_reach(u, source_->cut(), kGaussianReach, h);
  fit.exact = kernel.local_linear && own != kNoSample && is_exact(near.alone, line ? 2 : 1);
  // Cells over which the kernel does not change by much, next to the nearest samples.
  const int finest = source_->cells()->finest();
  int exponent = std::max(finest, std::ilogb(h / std::max(2.0, u)));
  while (true) {
    poll_if_due({});
    const NodeLevel& level = source_->cells()->level(exponent);
    Terms terms{kernel, point, y, near.nearest, own, false, {}};
    const double last = std::floor(std::ldexp(point + reach, -level.exponent));
    for (std::size_t c = cell_with(level, std::floor(std::ldexp(point - reach, -level.exponent)));
         c < level.cells() && level.key[c] <= last; ++c) {
      add_terms(level.exponent, c, &terms);
    }
    const double spread = terms.fit(line, &fit);
    if (!line || !terms.any_node) return fit;
    const double share = std::ldexp(spread, -2 * level.exponent);
    if (share >= kSpread || level.exponent == finest) {
      if (!(share >= kLeastSpread)) fit.deviation = kUnknown;
      return fit;
    }
    exponent = std::max(finest, level.exponent - kNarrower);
  }
}

FitTotals SketchRegression::totals(const LocalKernel& kernel, const RunOptions& options) const {
  struct Part {
    FitTotals totals;
    double error = 0;
    std::vector<std::size_t> halves;
  };
  const NodeCells& cells = *source_->cells();
  FitTotals all;
  double error = 0;
  int exponent = cells.level(node_exponent(kernel.h, kernel.order)).exponent;
  std::vector<std::size_t> left(cells.level(exponent).cells());
  for (std::size_t c = 0; c < left.size(); ++c) left[c] = c;
  for (; !left.empty(); --exponent) {
    const GaussianCall call(*source_, kernel, exponent, *options.table);
    const NodeLevel& level = *call.level;
    const bool finest = exponent == cells.finest();
    std::vector<Part> parts((left.size() + kCellsTogether - 1) / kCellsTogether);
    parallel_for(parts.size(), options.parallel, [&](std::size_t item, int) {
      Part& part = parts[item];
      for (std::size_t k = item * kCellsTogether;
           k < std::min(left.size(), (item + 1) * kCellsTogether); ++k) {
        const std::size_t c = left[k];
        const bool known = keeps_all(level, c);
        const auto found = cell_totals(call, c);
        if (found && (found->is_accurate() || (finest && !known))) {
          add_to(found->totals, &part.totals);
          if (!found->is_accurate()) part.error += found->error;
        } else if (known) {
          const std::size_t end = kept_from(level.key[c] + 1, exponent);
          for (std::size_t i = kept_from(level.key[c], exponent); i < end; ++i) {
            part.totals.add(fit_at(kernel, sketch_.kept().x[i], sketch_.kept().w[i], i), 1);
          }
        } else if (finest) {
          part.error = HUGE_VAL;
        } else {
          each_half(cells.level(exponent - 1), level.key[c],
                    [&](std::size_t half) { part.halves.push_back(half); });
        }
      }
    });
    left.clear();
    for (const Part& part : parts) {
      add_to(part.totals, &all);
      error += part.error;
      left.insert(left.end(), part.halves.begin(), part.halves.end());
    }
  }
  if (!(error <= kMostError * all.squares)) all.squares = all.in_sample = all.trace = kUnknown;
  return all;
}

CrossValidation SketchRegression::cross_validate(Span<const double> bandwidth,
                                                 const LocalKernel& kernel,
                                                 const RunOptions& options) const {
  CrossValidation curve;
  curve.squares.assign(bandwidth.size, kUnknown);
  curve.in_sample = curve.trace = curve.squares;
  curve.unsupported.assign(bandwidth.size, 0);
  parallel_tasks(bandwidth.size, true, options.parallel,
                 [&](std::size_t k, int, const ParallelOptions& inner) {
                   LocalKernel one = kernel;
                   one.h = bandwidth[k];
                   if (!(one.h >= least_)) return;
                   const FitTotals found = totals(one, {options.table, inner});
                   curve.squares[k] = found.squares;
                   curve.in_sample[k] = found.in_sample;
                   curve.trace[k] = found.trace;
                   curve.unsupported[k] = static_cast<std::size_t>(found.unsupported);
                 });
  return curve;
}

std::vector<double> SketchRegression::fits(Span<const double> points, const LocalKernel& kernel,
                                           const RunOptions& options) const {
  std::vector<double> mean(points.size, kUnknown);
  if (!(kernel.h >= std::ldexp(1.0, source_->cells()->finest()))) return mean;
  const NodeLevel& level = source_->cells()->level(source_->cells()->finest());
  parallel_for(points.size, options.parallel, [&](std::size_t i, int) {
    const std::size_t at = cell_with(level, sketch_.cell_of(points[i]));
    const double y = level.reference[std::min(at, level.cells() - 1)];
    const LocalFit fit = fit_at(kernel, points[i], y, kNoSample);
    if (fit.supported) mean[i] = y + fit.deviation;
  });
  return mean;
}

}  // namespace kestrel
