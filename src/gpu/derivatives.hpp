// Derivatives of Gaussian kernel sums on the device: the counterpart of
// core/direct/derivatives.hpp.
#ifndef KESTREL_GPU_DERIVATIVES_HPP
#define KESTREL_GPU_DERIVATIVES_HPP

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/evaluation_points.hpp"
#include "core/data/weights.hpp"
#include "gpu/gpu_abi.h"

namespace kestrel {

/// What direct_derivatives() computes, which describes the arguments and results, for at most
/// KESTREL_GPU_MOMENT_VARIABLES variables and weights that are not negative.
///
/// Error: 1e-12 of the largest sum of the absolute values of the terms. The same bits from run to
/// run on one kind of device. Memory on the device as for gpu_density(), but up to 4 MiB of partial
/// sums for each monomial. Throws error as direct_derivatives() does, and gpu_error as gpu_table()
/// does. O(n m M), M the monomials up to
/// that order.
void gpu_derivatives(const MatrixView& x, Weights w, const EvaluationPoints& points,
                     Span<const double> root, int order, const RunOptions& options,
                     Span<double> out);

/// Expected seconds of that.
double gpu_derivative_seconds(double n, double m, std::size_t d, int order,
                              const kestrel_gpu_device& device);

}  // namespace kestrel

#endif
