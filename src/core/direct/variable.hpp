// Gaussian kernel sums on grids with a bandwidth for each sample.
#ifndef KESTREL_CORE_DIRECT_VARIABLE_HPP
#define KESTREL_CORE_DIRECT_VARIABLE_HPP

#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

/// out[i] = sum_j w_j K_h_j(e_i - x_j), K_h the N(0, h^2 I) density, at the points e_i of a grid,
/// first axis fastest. A kernel is a product of one factor for each axis, so that a sample takes as
/// many exponentials as the axes have points, and then a product and a sum for each point. Where
/// kernels reach much of the grid, these are products of matrices.
///
/// x: n*d samples; w: n weights; h: n positive bandwidths; axes: d ascending ones.
/// Error: rounding, 1e-15 of each sum, and terms farther away than 10 h_j along an axis, which are
/// left out: each is below 2e-22 of its kernel's largest value. The same bits for every number of
/// threads. Throws error(internal) if sizes do not match. O(n m), m the points within 10 h_j;
/// memory O(the lengths of the axes) for 512 samples.
void variable_grid(const MatrixView& x, Weights w, Span<const double> h,
                   const std::vector<Span<const double>>& axes, const RunOptions& options,
                   Span<double> out);

}  // namespace kestrel

#endif
