#include "core/sweep_density.hpp"

#include <string>

#include "core/error.hpp"
#include "core/tiles.hpp"

namespace kestrel {

namespace {

void check_bandwidth(double h) {
  if (!(h > 0) || !(1 / h > 0) || !(1 / h < 1e308)) {
    throw error(ErrorKind::input, "the bandwidth must be positive, not " + std::to_string(h));
  }
}

/// sum_{i<j} w_i w_j of the kernel: every pair once, at its right member.
double pair_sum(const SortedSample& sample, const SweepKernel& kernel, const RunOptions& options,
                SweepSums& sums) {
  sweep_sums(sample, sample, kernel, 1, SweepSide::left, options, sums);
  const double* w = sample.ascending().w;
  double* sum = sums.of(0, 0);
  for (std::size_t i = 0; i < sample.size(); ++i) sum[i] *= w[i];
  return pairwise_sum(sum, sample.size());
}

}  // namespace

void sweep_density(Span<const double> x, Span<const double> w, Span<const double> points,
                   Kernel kernel, double h, const RunOptions& options, Span<double> out) {
  check_bandwidth(h);
  if (out.size != points.size) throw error(ErrorKind::internal, "output of a wrong size");
  const SortedSample sample(x, w, {}), at(points, {}, {});
  SweepSums sums;
  sweep_sums(sample, at, window_density(kernel, h), 1, SweepSide::both, options, sums);
  for (std::size_t i = 0; i < at.size(); ++i) out[at.given(i)] = sums.of(0, 0)[i];
}

PairCurve sweep_pair_curve(Span<const double> x, Span<const double> w, Span<const double> bandwidth,
                           Kernel kernel, const RunOptions& options) {
  for (const double h : bandwidth) check_bandwidth(h);
  const SortedSample sample(x, w, {});
  PairCurve curve;
  curve.convolution.assign(bandwidth.size, 0.0);
  curve.kernel.assign(bandwidth.size, 0.0);
  std::vector<SweepSums> workers(static_cast<std::size_t>(parallel_threads(options.parallel)));
  parallel_tasks(bandwidth.size, options.parallel,
                 [&](std::size_t k, int worker, const ParallelOptions& inner) {
                   const RunOptions how{options.table, inner};
                   SweepSums& sums = workers[static_cast<std::size_t>(worker)];
                   const SweepKernel kernel_at_h = window_density(kernel, bandwidth[k]);
                   curve.kernel[k] = pair_sum(sample, kernel_at_h, how, sums);
                   for (const SweepKernel& part : window_convolution(kernel, bandwidth[k])) {
                     curve.convolution[k] += pair_sum(sample, part, how, sums);
                   }
                 });
  return curve;
}

}  // namespace kestrel
