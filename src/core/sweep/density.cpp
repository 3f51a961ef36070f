#include "core/sweep/density.hpp"

#include <vector>

#include "core/base/error.hpp"
#include "core/base/summation.hpp"

namespace kestrel {

namespace {

/// sum_{i<j} w_i w_j times the kernel: every pair is added once, at its right member.
double pair_sum(const SortedSample& sample, const SweepKernel& kernel, const RunOptions& options) {
  const double* w = sample.w();
  std::vector<double> block_sum(sweep_slots(sample, sample), 0.0);
  sweep_sums(sample, sample, kernel, {1}, SweepSide::left, options,
             [&](const SweepBlock& block, int) {
               double term[kSweepBlock];
               for (std::size_t i = 0; i < block.count; ++i) {
                 term[i] = w[block.begin + i] * block.of(0, 0)[i];
               }
               block_sum[block.slot] = pairwise_sum(term, block.count);
             });
  return pairwise_sum(block_sum.data(), block_sum.size());
}

}  // namespace

void sweep_density(Span<const double> x, Weights w, Span<const double> points, Kernel kernel,
                   double h, const RunOptions& options, Span<double> out) {
  if (out.size != points.size) throw error(ErrorKind::internal, "output of a wrong size");
  const SortedSample sample(x, w, {}, part_of(options.parallel, 0, 0.3));
  const SortedSample at(points, {}, {}, part_of(options.parallel, 0.3, 0.6));
  const RunOptions rest{options.table, part_of(options.parallel, 0.6, 1)};
  sweep_sums(sample, at, window_density(kernel, h), {1}, SweepSide::both, rest,
             [&](const SweepBlock& block, int) {
               for (std::size_t i = 0; i < block.count; ++i) {
                 out[at.given(block.begin + i)] = block.of(0, 0)[i];
               }
             });
}

PairCurve sweep_pair_curve(Span<const double> x, Weights w, Span<const double> bandwidth,
                           Kernel kernel, const RunOptions& options) {
  const SortedSample sample(x, w, {}, part_of(options.parallel, 0, 0));
  PairCurve curve;
  curve.convolution.assign(bandwidth.size, 0.0);
  curve.kernel.assign(bandwidth.size, 0.0);
  parallel_tasks(bandwidth.size, x.size <= kBriefSweep, options.parallel,
                 [&](std::size_t k, int, const ParallelOptions& inner) {
                   const RunOptions how{options.table, inner};
                   const SweepKernel kernel_at_h = window_density(kernel, bandwidth[k]);
                   curve.kernel[k] = pair_sum(sample, kernel_at_h, how);
                   for (const SweepKernel& part : window_convolution(kernel, bandwidth[k])) {
                     curve.convolution[k] += pair_sum(sample, part, how);
                   }
                 });
  return curve;
}

}  // namespace kestrel
