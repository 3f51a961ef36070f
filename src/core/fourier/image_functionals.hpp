// Density derivative functionals of two or three variables with bounds, of samples on a grid.
#ifndef KESTREL_CORE_FOURIER_IMAGE_FUNCTIONALS_HPP
#define KESTREL_CORE_FOURIER_IMAGE_FUNCTIONALS_HPP

#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/reflection.hpp"
#include "core/data/sample.hpp"

namespace kestrel {

/// W^-2 sum_ij w_i w_j sum over x_j and its images x' of D^alpha phi_g(x_i - x'), g a bandwidth for
/// each variable, for the alpha of the order, even and at most 10, in descending lexicographic
/// order. Images are those of reflect_rows() at the bounds of `axes`, one for each variable, as far
/// as kernels reach, whatever the reach of the axes.
///
/// The sample is on a grid (SpreadSamples). Its modes have a period that holds the samples on it
/// and their images; pairs of outliers are summed one by one. Error: the tolerance of the grid, of
/// the sum of the absolute values of the Fourier integrand. Throws error(unfit) for bandwidths that
/// the grid does not serve, and if it is too large. O(N log N), N cells. The same bits for every
/// number of threads.
std::vector<double> image_functionals(const Sample& sample, Span<const double> g, int order,
                                      const std::vector<ReflectingAxis>& axes,
                                      const RunOptions& options);

}  // namespace kestrel

#endif
