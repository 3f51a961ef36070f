// Gaussian sums over all pairs of samples on a line and images of samples, reflected at bounds or
// whole periods away, in linear time: for bandwidths of densities within bounds.
#ifndef KESTREL_CORE_FGT_IMAGE_SUMS_HPP
#define KESTREL_CORE_FGT_IMAGE_SUMS_HPP

#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/reflection.hpp"
#include "core/fgt/line_sample.hpp"

namespace kestrel {

/// out[k] = sum_{i,j} w_i w_j sum over the images x' of x_j, without x_j itself, of
/// phi_g^(order)(x_i - x'), g = g[k], i = j included: what images add to the sums over pairs of
/// fgt_pair_psi(). Images are those of reflect_rows() as far as kernels reach, whatever the reach
/// of the axis. Samples of a periodic axis may lie beyond the period.
///
/// Error: 1e-14 of the sum of |terms|, those of the pairs (x_i, x_j) with i = j included. Arguments
/// as for fgt_pair_psi(). O(n + cells) once, as there; for each power of two O(cells), and the
/// pairs of cells whose images are within reach; microseconds for every further g. The same bits
/// for every number of threads.
std::vector<double> fgt_image_psi(const LineSample& sample, const ReflectingAxis& axis,
                                  Span<const double> g, int order, const RunOptions& options);

/// out[k] = sum_i w_i^2 sum over the images x' of x_i, without x_i itself, of phi_g(x_i - x'),
/// g = g[k]: those of the terms with i = j for which order = 0.
///
/// A cell has the sum of w^2, but not that of w^2 z^a. So samples that are not known one by one
/// must have weights of one, or `squared` has the cells of such sums, unless the axis is periodic;
/// this throws error(internal) otherwise. O(n) for each g, or O(cells near the bounds).
std::vector<double> fgt_own_images(const LineSample& sample, const SquaredWeights* squared,
                                   const ReflectingAxis& axis, Span<const double> g,
                                   const RunOptions& options);

}  // namespace kestrel

#endif
