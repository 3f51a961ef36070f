// Gaussian kernel sums at points of a line, in linear time.
#ifndef KESTREL_CORE_FGT_DENSITY_HPP
#define KESTREL_CORE_FGT_DENSITY_HPP

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"
#include "core/fgt/line_sample.hpp"

namespace kestrel {

/// out[i] = sum_j w_j phi_h^(order)(e_i - x_j), phi_h the N(0, h^2) density; no division by n.
/// Units x^-(order + 1). `order`: of the derivative, 0 to kHighestDerivative.
///
/// Samples in any order, weights not negative; points: e, in any order. Error: at
/// most 1e-12 of the value at every point within 8 h of a sample of positive weight, so that
/// logarithms and scores may be taken there; farther out, 1e-12 of the largest weight's peak. Never
/// negative. Derivatives: at most 1e-14 of the sum of |terms|, or of the largest weight's peak. The
/// same bits for every number of threads. Throws error(input) for an h that is not positive or
/// outside 1e-290 .. 1e290, for an order that is not there, and for values and weights that
/// CellMoments refuses.
///
/// O(n + m + cells), O(m + cells) if the sample has its cells already. Cells of points cost more if
/// weights are so unequal that all samples within 38 h count. engine.cpp has times.
void fgt_density(const LineSample& sample, Span<const double> points, double h,
                 const RunOptions& options, Span<double> out, int order = 0);

/// The cells of samples are at most 2^-kDensityHalvings of the bandwidth wide.
constexpr int kDensityHalvings = 2;
/// How many moments fgt_density() needs, for samples of these weights, if their cells are 2^-halved
/// of that width.
int fgt_density_moments(const WeightSums& weights, int halved);

}  // namespace kestrel

#endif
