// Direct sums of compact kernels with bandwidths that vary on the device: the counterpart of
// core/direct/variable_points.hpp.
#ifndef KESTREL_GPU_VARIABLE_HPP
#define KESTREL_GPU_VARIABLE_HPP

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "core/data/compact_pairs.hpp"

namespace kestrel {

/// The sums of the task, as by variable_points(), pair by pair; weights must not be negative.
///
/// Error relative to the largest value: 1e-12. With `single_precision` 1e-5, except that the
/// uniform kernel, and data of more than 2^24 of the smallest bandwidth, are computed in double
/// precision; a weight below 1e-26 may then count as zero. The same bits from run to run on one
/// kind of device.
///
/// Memory on the device: 16 d + 32 bytes for each sample and for each of at most a million points,
/// and 256 MiB of partial sums. So many samples are taken at a time that the data as given take 512
/// MiB.
///
/// `options.poll` is called between launches, about every 20 ms. Throws error(internal) if sizes do
/// not match, and gpu_error as gpu_table() does. O(n m).
void gpu_variable(const VariableTask& task, bool single_precision, const ParallelOptions& options,
                  Span<double> out);

}  // namespace kestrel

#endif
