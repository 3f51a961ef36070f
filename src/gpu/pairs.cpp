#include "gpu/pairs.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "core/data/tiles.hpp"
#include "core/data/weights.hpp"
#include "core/direct/pairs.hpp"
#include "gpu/devices.hpp"
#include "gpu/reach.hpp"

namespace kestrel {

namespace {

/// The largest coordinates on a line, so that squares of differences (for monomials: eighth powers)
/// do not overflow.
constexpr double kFarthestOnLine = 1e150, kFarthestOfMonomials = 1e30;
/// The same in single precision, where a coordinate is two numbers of 24 bits: 2^-48 of this is
/// 4e-8.
constexpr double kSingleReachOnLine = 1e7;

[[noreturn]] void throw_too_wide() {
  throw gpu_error(GpuProblem::unsuited, "the observations span too many bandwidths");
}

/// The sums to compute.
struct PairRequest {
  kestrel_gpu_pair_kind kind;
  std::vector<double> parameter;
  std::size_t sums;
  bool single = false;
};

/// The coordinates z of the sums, in which q = scale |z_i - z_j|^2 is that of `kernel`.
struct Coordinates {
  std::vector<double> matrix, centre;
  bool diagonal = true;
  double farthest = 0.0, scale = 1.0;
};

/// On a line z = x - c times a power of two is exact, and the rest of the factor enters q. So
/// samples are too far from a centre only if the numbers are too large. The middle of the samples
/// is the centre if it is within a factor of two of all of them: then subtracting it causes no
/// rounding. Otherwise the centre is zero.
Coordinates on_line(const simd::Whitening& map, double centre, double half, bool monomials) {
  Coordinates c;
  const double power = std::ldexp(1.0, std::ilogb(map.matrix[0])), rest = map.matrix[0] / power;
  c.matrix.assign(1, power);
  c.centre.assign(1, std::fabs(centre) >= 2 * half ? centre : 0.0);
  c.farthest = monomials ? kFarthestOfMonomials : kFarthestOnLine;
  c.scale = rest * rest;
  if (!((std::fabs(centre - c.centre[0]) + half) * power <= c.farthest)) throw_too_wide();
  return c;
}

Coordinates coordinates(const MatrixView& x, const TileKernel& kernel, const PairRequest& request,
                        const ParallelOptions& options) {
  const simd::Whitening map = kernel.whitening(nullptr);
  const bool line = x.cols == 1;
  Coordinates c;
  EvaluationPoints points;
  points.matrix = x;
  std::vector<double> half;
  measure_box(points, c.centre, half, options);
  if (line && !request.single) {
    return on_line(map, c.centre[0], half[0], request.kind == KESTREL_GPU_PAIR_MONOMIALS);
  }
  const double reach = line ? kSingleReachOnLine : gpu_reach(x.cols, false);
  if (!within_reach(kernel, half, reach)) throw_too_wide();
  c.matrix.assign(map.matrix, map.matrix + x.cols * x.cols);
  c.diagonal = map.diagonal;
  c.farthest = reach + kOutsideReach;
  return c;
}

/// Returns the requested sums and, in `scale` unless that is null, the scale of q.
std::vector<double> run_pairs(const MatrixView& x, Weights w, const TileKernel& kernel,
                              const PairRequest& asked, const RunOptions& options,
                              double* scale = nullptr) {
  check_weight_count(x.rows, w.size);
  const kestrel_gpu_table& table = gpu_table();
  const std::size_t max = asked.kind == KESTREL_GPU_PAIR_MONOMIALS
                              ? KESTREL_GPU_PAIR_MONOMIAL_VARIABLES
                              : KESTREL_GPU_PAIR_VARIABLES;
  if (x.cols > max) {
    throw gpu_error(GpuProblem::unsuited, "such sums over pairs on a CUDA device take at most " +
                                              std::to_string(max) + " variables");
  }
  const Coordinates c = coordinates(x, kernel, asked, options.parallel);
  kestrel_gpu_pairs request{};
  request.kind = asked.kind;
  request.single_precision = asked.single ? 1 : 0;
  request.d = static_cast<int>(x.cols);
  request.diagonal = c.diagonal ? 1 : 0;
  request.matrix = c.matrix.data();
  request.centre = c.centre.data();
  request.farthest = c.farthest;
  request.scale = c.scale;
  request.parameter = asked.parameter.data();
  request.count = asked.parameter.size();
  const WeightArray weights(w);
  std::size_t pieces = 0;
  DeviceTeam team(
      [&](int device, const void* from) {
        void* pairs = nullptr;
        std::size_t count = 0;
        char text[512] = "";
        check_gpu(table.pairs_open(device, &request, x.data, x.rows, weights.data(), x.rows, from,
                                   &pairs, &count, text, sizeof text),
                  text);
        if (pieces == 0) pieces = count;  // by prepare(), before other threads come
        return pairs;
      },
      table.pairs_close);
  team.prepare();
  // The longest ones first, so that all devices end together.
  std::vector<std::vector<double>> sums(pieces, std::vector<double>(asked.sums));
  team.run(pieces, options.parallel, [&](std::size_t k, const DeviceTeam::Turn& turn) {
    const std::size_t piece = pieces - 1 - k;
    char text[512] = "";
    turn.check(table.pairs_sum(turn.handle, piece, sums[piece].data(), PollState::ask, &turn.poll,
                               text, sizeof text),
               text);
  });
  std::vector<double> out(asked.sums, 0.0);
  for (const std::vector<double>& piece : sums) {
    for (std::size_t s = 0; s < out.size(); ++s) out[s] += piece[s];
  }
  if (scale != nullptr) *scale = c.scale;
  return out;
}

std::vector<double> isotropic_root(std::size_t d, double g) {
  std::vector<double> root(d * d, 0.0);
  for (std::size_t k = 0; k < d; ++k) root[k * d + k] = g;
  return root;
}

/// Appends a monomial's variables, each as often as its exponent says, and then factors of one.
void add_factors(const std::vector<int>& exponent, std::vector<double>* parameter) {
  const std::size_t d = exponent.size(), end = parameter->size() + KESTREL_GPU_PAIR_DEGREE;
  for (std::size_t k = 0; k < d; ++k) {
    parameter->insert(parameter->end(), static_cast<std::size_t>(exponent[k]),
                      static_cast<double>(k));
  }
  parameter->resize(end, static_cast<double>(d));
}

}  // namespace

double gpu_pair_laplacian(const MatrixView& x, Weights w, double g, int order, bool single,
                          const RunOptions& options) {
  const std::size_t d = x.cols;
  const ScaledNumber scale = laplacian_scale(d, g, order);
  const std::vector<double> root = isotropic_root(d, g);
  const TileKernel kernel(*options.table, {}, d, {root.data(), root.size()});
  std::vector<double> coefficient = laplacian_polynomial(d, order);
  double power = 1.0;  // |u|^2 = 2 ln(2) q
  for (double& c : coefficient) {
    c *= power;
    power *= 2 * kLn2;
  }
  return scale.times(
      run_pairs(x, w, kernel, {KESTREL_GPU_PAIR_POLYNOMIAL, coefficient, 1, single}, options)[0]);
}

std::vector<double> gpu_pair_moments(const MatrixView& x, Weights w, double g, int order,
                                     const RunOptions& options) {
  const std::size_t d = x.cols;
  const std::vector<std::vector<int>> exponents = even_multi_indices(d, order);
  laplacian_scale(d, g, 0);  // throws if g is not a bandwidth
  const std::vector<double> root = isotropic_root(d, g);
  const TileKernel kernel(*options.table, {}, d, {root.data(), root.size()});
  PairRequest request{KESTREL_GPU_PAIR_MONOMIALS, {}, exponents.size()};
  for (const std::vector<int>& exponent : exponents) add_factors(exponent, &request.parameter);
  double scale = 1.0;
  std::vector<double> sums = run_pairs(x, w, kernel, request, options, &scale);
  for (std::size_t s = 0; s < sums.size(); ++s) {
    int degree = 0;
    for (int e : exponents[s]) degree += e;
    sums[s] *= std::pow(2 * kLn2 * scale, degree / 2);  // |u|^2 = 2 ln(2) scale |v|^2
  }
  return sums;
}

LscvPairSums gpu_lscv(const MatrixView& x, Weights w, Span<const double> root, bool moments,
                      const RunOptions& options) {
  const std::size_t size = x.cols * x.cols;
  const TileKernel kernel(*options.table, {}, x.cols, root, std::sqrt(2.0));
  const PairRequest request = moments ? PairRequest{KESTREL_GPU_PAIR_MOMENTS, {}, 2 + 2 * size}
                                      : PairRequest{KESTREL_GPU_PAIR_CURVE, {1.0}, 2};
  const std::vector<double> sums = run_pairs(x, w, kernel, request, options);
  LscvPairSums out;
  out.convolution.sum = sums[0];
  out.kernel.sum = sums[1];
  if (moments) {
    const auto at = [&](std::size_t c) { return sums.data() + 2 + c * size; };
    out.convolution.moments.assign(at(0), at(1));
    out.kernel.moments.assign(at(1), at(2));
  }
  scale_lscv(x.cols, root, out);
  return out;
}

PairCurve gpu_lscv_curve(const MatrixView& x, Weights w, Span<const double> root,
                         Span<const double> h, bool single, const RunOptions& options) {
  const CurveFactors factors(x.cols, root, h);
  if (h.size == 0) return {};
  const TileKernel kernel(*options.table, {}, x.cols, root, factors.smallest);
  const PairRequest request{KESTREL_GPU_PAIR_CURVE, factors.factor, 2 * h.size, single};
  return factors.curve(run_pairs(x, w, kernel, request, options));
}

}  // namespace kestrel
