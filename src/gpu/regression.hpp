// Cross-validation of kernel regression on the device: what core/regression/regression.hpp is for
// the CPU.
#ifndef KESTREL_GPU_REGRESSION_HPP
#define KESTREL_GPU_REGRESSION_HPP

#include "core/regression/regression.hpp"

namespace kestrel {

/// As cross_validate(), to its error; the same bits from run to run on one kind of device.
/// O(n log n) time a bandwidth for polynomial kernels; the Gaussian one as there. Polled about
/// every 20 ms, with wide windows of a million observations in the Gaussian kernel every 300 ms.
/// Throws error as there, and gpu_error: GpuProblem::unsuited where powers of a bandwidth, in units
/// of the range of x, leave the range of numbers (below 1e-190; the eighth power of 1e-23 for the
/// kernel of degree 6 and local linear fits), and as gpu_table() does.
///
/// Memory on the device: of an observation 80 bytes and, for a polynomial kernel of degree p, 8 p +
/// 16 more, p + 2 in place of p for local linear fits; and 32 MiB.
CrossValidation gpu_cross_validate(const RegressionSample& sample, Span<const double> bandwidth,
                                   Kernel kernel, bool local_linear, const RunOptions& options);

}  // namespace kestrel

#endif
