// Cross-validation of kernel regression on the device: the counterpart of
// core/regression/regression.hpp.
#ifndef KESTREL_GPU_REGRESSION_HPP
#define KESTREL_GPU_REGRESSION_HPP

#include "core/regression/regression.hpp"

namespace kestrel {

/// As cross_validate(), with its error bound; the same bits from run to run on one kind of device.
/// O(n log n) time a bandwidth for polynomial kernels; for the Gaussian kernel as there. Polled
/// about every 20 ms, for the Gaussian kernel with wide windows of a million observations about
/// every 300 ms. Throws error as there, and gpu_error: GpuProblem::unsuited if powers of a
/// bandwidth, in units of the range of x, leave the range of numbers (below 1e-190; the power is
/// the kernel's degree, and two more for local linear fits: for the eighth power 1e-23 is enough),
/// and as gpu_table() does.
///
/// Memory on the device: 80 bytes an observation and, for a polynomial kernel of degree p (local
/// linear: p + 2 instead of p), 8 p + 16 more; and 32 MiB.
CrossValidation gpu_cross_validate(const RegressionSample& sample, Span<const double> bandwidth,
                                   Kernel kernel, bool local_linear, const RunOptions& options);

}  // namespace kestrel

#endif
