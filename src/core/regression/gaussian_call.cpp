#include "core/regression/gaussian_call.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/whole.hpp"
#include "shared/local_fit.hpp"

namespace kestrel {

namespace {

/// How far s_0 may be below the largest sum in its cell, and the spread below its terms where
/// variances are made of it: sums err by some eps of these.
constexpr double kMaxNodeLoss = 50, kMaxVarianceLoss = 1e4;
/// Sums below this share of the lightest weight may miss what lies beyond the reach.
constexpr double kLeastSum = 0.01;

/// The matrix of simd::NodePair from one of nodes to nodes. The parts of weights are sums and
/// differences, and those of what comes out are half of these, which makes the factor of 1/4.
void set_parts(const double* full, double* parts) {
  constexpr std::size_t half = kNodes / 2;
  const auto at = [&](std::size_t m, std::size_t n) { return full[kNodes * m + n]; };
  for (std::size_t m = 0; m < half; ++m) {
    const std::size_t mirrored = kNodes - 1 - m;
    double* row = parts + 2 * kNodes * m;
    for (std::size_t n = 0; n < half; ++n) {
      const double even = at(m, n) + at(mirrored, n), odd = at(m, n) - at(mirrored, n);
      const std::size_t other = kNodes - 1 - n;
      const double even_at_other = at(m, other) + at(mirrored, other);
      const double odd_at_other = at(m, other) - at(mirrored, other);
      row[n] = 0.25 * (even + even_at_other);
      row[half + n] = 0.25 * (odd + odd_at_other);
      row[2 * half + n] = 0.25 * (even - even_at_other);
      row[3 * half + n] = 0.25 * (odd - odd_at_other);
    }
  }
}

}  // namespace

NodeKernel::NodeKernel(const SquarePolynomial* factor, int count, int power, double rho,
                       double ratio, double span) {
  // Terms beyond are together below 1e-16 of the lightest sample at the point.
  const double exponent = 37 + std::log(ratio) + (factor[0].term[1] != 0 ? 10.0 * power : 0.0);
  const double reach = std::min(kGaussianReach, std::sqrt(2 * exponent / power));
  lags_ = whole_number<int>(std::max(0.0, std::min(std::ceil(reach / rho) + 1, span)));
  const NodeTables& tables = node_tables();
  const bool plain =
      std::all_of(factor, factor + count, [](const SquarePolynomial& of) { return of.is_one(); });
  matrix_.resize(static_cast<std::size_t>(count * (lags_ + 1)) * kMatrix);
  for (int lag = 0; lag <= lags_; ++lag) {
    double full[3][kMatrix];  // from node m of the samples to node n of the points
    for (std::size_t m = 0; m < kNodes; ++m) {
      for (std::size_t n = 0; n < kNodes - m; ++n) {
        const double u = rho * (lag + 0.5 * (tables.node[m] - tables.node[n])), v = u * u;
        // The nodes are symmetric about 0.
        const std::size_t mirrored = kNodes * (kNodes - 1 - n) + (kNodes - 1 - m);
        double term = std::exp(-0.5 * power * v);
        for (int q = 0; q < count; ++q) {
          full[q][kNodes * m + n] = full[q][mirrored] = plain ? term : term * factor[q](v);
          term *= u;
        }
      }
    }
    for (int q = 0; q < count; ++q) set_parts(full[q], matrix_.data() + start(q, lag));
    const double near = rho * std::max(0, lag - 1), far = rho * (lag + 1);
    const double decay = std::exp(-0.5 * power * near * near);
    bound_.push_back(decay * factor[0].bound(far * far));
    bound_of_squares_.push_back(decay * far * far * (count > 2 ? factor[2].bound(far * far) : 1.0));
  }
}

GaussianCall::GaussianCall(const LocalSource& from, const SortedSample& to, const LocalKernel& k,
                           int of_power, const simd::Table& set)
    : source(from),
      points(to),
      kernel(k),
      power(of_power),
      table(set),
      factors(k, of_power),
      leave_one_out(&from.sample() == &to),
      responses(from.responses() && of_power == 1),
      powers(k.local_linear  ? 3
             : !k.gradient   ? 1
             : of_power == 1 ? 2
                             : 3),
      cut(from.cut() + (factors.all_one ? 0 : 44)) {
  static_assert(SquarePolynomial::kTerms == simd::kFactorTerms, "leaves read these polynomials");
  const NodeCells* cells = source.cells();
  const int exponent = node_exponent(kernel.h, kernel.order);
  if (cells == nullptr || exponent < cells->finest() || points.size() == 0) return;
  const NodeLevel& used = cells->level(exponent);
  const double scale = std::ldexp(1.0, -used.exponent);
  open(used, std::floor(points.x()[0] * scale), std::floor(points.x()[points.size() - 1] * scale));
}

GaussianCall::GaussianCall(const LocalSource& from, const LocalKernel& k, int exponent,
                           const simd::Table& set)
    : GaussianCall(from, from.sample(), k, 1, set) {
  const NodeLevel& used = from.cells()->level(exponent);
  open(used, used.key.front(), used.key.back());
}

/// first, last: the cells of the first and the last point.
void GaussianCall::open(const NodeLevel& used, double first, double last) {
  level = &used;
  const double scale = std::ldexp(1.0, -used.exponent);
  // No two cells are farther apart.
  const double span = std::max(used.key.back() - first, last - used.key.front());
  nodes = std::make_unique<const NodeKernel>(factors.of, powers, power, 1 / (scale * kernel.h),
                                             source.weight_ratio(), span);
}

CellAtNodes::CellAtNodes(const GaussianCall& call, double key, double response)
    : columns(call.responses ? 2 : 1) {
  constexpr std::size_t kMany = 64;
  const NodeLevel& level = *call.level;
  const NodeKernel& nodes = *call.nodes;
  const double width = std::ldexp(1.0, level.exponent);
  simd::NodePair pairs[kMany];
  double parts[6 * kNodes] = {};
  std::size_t waiting = 0;
  const auto add_up = [&] {
    call.table.nodes->add_pairs(pairs, waiting, columns, call.powers, nodes.stride(), parts);
    waiting = 0;
  };
  each_lag(level, key, nodes.lags(), [&](int lag, std::size_t right, std::size_t left) {
    simd::NodePair& pair = pairs[waiting];
    pair = {nodes.matrix(lag), nullptr, nullptr, 0.0, 0.0};
    const auto add = [&](std::size_t s, double distance, const double*& column, double& shift) {
      if (s == level.cells()) return;
      column = level.parts_of(s);
      shift = off_line(level.reference[s], response, call.kernel.slope, {distance * width, 0});
      bound += level.weight[s] * nodes.bound(lag);
      bound_of_squares += level.weight[s] * nodes.bound_of_squares(lag);
    };
    add(right, lag, pair.right, pair.right_shift);
    add(left, -lag, pair.left, pair.left_shift);
    if (++waiting == kMany) add_up();
  });
  add_up();
  for (std::size_t f = 0; f < static_cast<std::size_t>(call.powers * columns); ++f) {
    from_parts(parts + f * kNodes, sum + f * kNodes);
  }
  if (!call.factors.all_one) return;
  // Sums of positive terms err by some eps of their largest value in the cell. What lies beyond the
  // reach counts beside a sum that is far smaller than the lightest sample.
  bound = std::max(*std::max_element(of(0, 0), of(0, 0) + kNodes),
                   kLeastSum * call.source.min_weight());
  if (call.powers == 3) bound_of_squares = *std::max_element(of(2, 0), of(2, 0) + kNodes);
}

bool has_digits(double sum, double bound) { return std::fabs(sum) * kMaxNodeLoss > bound; }

bool is_accurate(const GaussianCall& call, double s0, double s1, double s2, double bound,
                 double bound_of_squares) {
  if (!has_digits(s0, bound)) return false;
  if (call.powers < 3) return true;
  const double mean = s1 / s0, spread = s2 - s1 * mean;
  // Variances, whose terms cancel to no less than this.
  if (call.power == 2) return spread * kMaxVarianceLoss > bound_of_squares;
  const double terms = bound_of_squares + std::fabs(mean) * (std::sqrt(bound * bound_of_squares) +
                                                             std::fabs(mean) * bound);
  const double pull = std::fabs(mean) * std::sqrt(std::fabs(s0 / spread));
  const double loss = terms / spread * (std::fabs(mean) + pull + std::min(1.0, pull * pull));
  return spread > 0 && loss < kMaxLoss;
}

}  // namespace kestrel
