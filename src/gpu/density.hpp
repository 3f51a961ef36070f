// The direct engine on the device: the counterpart of core/direct/direct.hpp.
#ifndef KESTREL_GPU_DENSITY_HPP
#define KESTREL_GPU_DENSITY_HPP

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/evaluation_points.hpp"
#include "core/data/weights.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

/// out[i] = sum_j w_j K_H(e_i - x_j) / divisor, i < m: the sums as by direct_density(), which
/// describes the arguments, are divided after that, so that sums which are exact have the same bits
/// as on the CPU. Weights must not be negative.
///
/// Error relative to the largest value: 1e-12; with `single_precision` 1e-5, except that the
/// uniform kernels, and points too scattered for it, are computed in double precision. The same
/// bits from run to run on one kind of device. In single precision a sum below 2^-100 is 0.
///
/// Memory on the device: 8 d + 8 bytes a sample for the data as given and at most 16 d + 24 for
/// what is computed from them. So many samples are taken at a time that the data as given take 512
/// MiB; with 256 MiB of partial sums this is at most 1.92 GiB (d = 2, correlated). In addition 24 d
/// + 16 bytes for each of at most a million points. Up to 512 MiB of it stay with the process
/// afterwards.
///
/// `options.parallel.poll` is called between launches, about every 20 ms. Returns whether the sums
/// are those of single precision. Throws error as direct_density() does, and gpu_error as
/// gpu_table() does. O(n m d) time.
bool gpu_density(const MatrixView& x, Weights w, const EvaluationPoints& points,
                 const KernelChoice& choice, Span<const double> root, bool single_precision,
                 const RunOptions& options, Span<double> out, double divisor = 1.0);

}  // namespace kestrel

#endif
