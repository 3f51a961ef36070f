#include "gpu/regression.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/data/ends.hpp"
#include "core/data/quantiles.hpp"
#include "gpu/devices.hpp"
#include "shared/local_fit.hpp"

namespace kestrel {

namespace {

/// The minimum power of a bandwidth: 1e-96 is the sixth power of the smallest 1 - u.
constexpr double kMinPower = 1e-190;
/// What a fit by a polynomial kernel takes an H200, and a pair by the Gaussian one, where it takes
/// all of them (gpu/cost.cpp).
constexpr double kCompactFitSeconds = 4e-10, kGaussianPairSeconds = 2e-12;
/// So that the unit is a finite number.
constexpr int kMaxExponent = 1000;

/// Whether test(value) holds for all of them.
template <class Test>
bool hold_all(Span<const double> values, const ParallelOptions& options, const Test& test) {
  constexpr std::size_t kStrip = std::size_t{1} << 16;
  std::vector<char> holds((values.size + kStrip - 1) / kStrip);
  parallel_for(holds.size(), part_of(options, 0, 0), [&](std::size_t strip, int) {
    const std::size_t end = std::min(values.size, (strip + 1) * kStrip);
    const double* const begin = values.data + strip * kStrip;
    holds[strip] = std::all_of(begin, values.data + end, test) ? 1 : 0;
  });
  return std::find(holds.begin(), holds.end(), 0) == holds.end();
}

void check_sample(const RegressionSample& sample, const ParallelOptions& options) {
  const std::size_t n = sample.x.size;
  if (sample.y.size != n || sample.w.size != n) {
    throw error(ErrorKind::input,
                "there are " + std::to_string(n) + " points but " + std::to_string(sample.y.size) +
                    " and " + std::to_string(sample.w.size) + " values that belong to them");
  }
  if (n >= kRegressionLimit) {
    throw error(ErrorKind::input, "there must be fewer than 2^31 points");
  }
  if (!hold_all(sample.x, options, [](double x) { return std::isfinite(x); })) {
    throw error(ErrorKind::input, "positions must be finite");
  }
}

/// The power of two by which distances are multiplied.
double unit_for(Span<const double> x, Span<const double> bandwidth,
                const ParallelOptions& options) {
  const Ends range = ends_of({x}, options)[0];
  const double widest =
      std::max(range.largest - range.least, *std::max_element(bandwidth.begin(), bandwidth.end()));
  return std::ldexp(1.0, -std::min(std::max(std::ilogb(widest), -kMaxExponent), kMaxExponent));
}

void check_powers(double unit, Span<const double> bandwidth, int powers) {
  const double min = *std::min_element(bandwidth.begin(), bandwidth.end());
  if (std::pow(min * unit, powers) >= kMinPower) return;
  throw gpu_error(GpuProblem::unsuited, "the observations span too many bandwidths");
}

}  // namespace

CrossValidation gpu_cross_validate(const RegressionSample& sample, Span<const double> bandwidth,
                                   Kernel kernel, bool local_linear, const RunOptions& options) {
  for (const double h : bandwidth) check_local_kernel({kernel, h, local_linear});
  check_sample(sample, options.parallel);
  const kestrel_gpu_table& table = gpu_table();
  const std::size_t count = bandwidth.size;
  std::vector<double> sum(kFitTotals * count, 0.0);
  if (count > 0 && sample.x.size > 0) {
    kestrel_gpu_regression request{};
    request.kernel = static_cast<int>(kernel);
    request.linear = local_linear ? 1 : 0;
    request.n = sample.x.size;
    request.x = sample.x.data;
    request.y = sample.y.data;
    const Weights w = sample.w;
    const auto is_one = [](double one) { return one == 1.0; };
    const bool equal = w.absent() || hold_all({w.data, w.size}, options.parallel, is_one);
    request.w = equal ? nullptr : w.data;
    request.bandwidth = bandwidth.data;
    request.count = count;
    request.unit = unit_for(sample.x, bandwidth, options.parallel);
    // The blocks of a device are made once for all bandwidths.
    request.trend = median_of_every(1, bandwidth);
    if (!is_compact(kernel)) {
      request.reach = kGaussianReach;
      request.cut = gaussian_cut(w);
    } else {
      check_powers(request.unit, bandwidth, kernel_degree(kernel) + (local_linear ? 2 : 0));
    }
    DeviceTeam team(
        [&](int device, const void* from) {
          void* regression = nullptr;
          char text[512] = "";
          check_gpu(table.regression_open(device, &request, from, &regression, text, sizeof text),
                    text);
          return regression;
        },
        table.regression_close);
    const double n = static_cast<double>(request.n), fits = n * static_cast<double>(count);
    const double seconds =
        is_compact(kernel) ? kCompactFitSeconds * fits : kGaussianPairSeconds * n * fits;
    const std::size_t most = piece_length(count, piece_count(seconds), 1);
    team.run((count + most - 1) / most, options.parallel,
             [&](std::size_t piece, const DeviceTeam::Turn& turn) {
               const std::size_t first = piece * most, end = std::min(count, first + most);
               char text[512] = "";
               turn.check(table.regression_sums(turn.handle, first, end - first,
                                                sum.data() + kFitTotals * first, PollState::ask,
                                                &turn.poll, text, sizeof text),
                          text);
             });
  }
  CrossValidation result;
  for (std::size_t k = 0; k < count; ++k) {
    const double* of = sum.data() + kFitTotals * k;
    result.squares.push_back(of[0]);
    result.in_sample.push_back(of[1]);
    result.trace.push_back(of[2]);
    result.unsupported.push_back(static_cast<std::size_t>(of[3]));
  }
  return result;
}

}  // namespace kestrel
