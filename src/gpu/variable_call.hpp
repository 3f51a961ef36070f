// Sums of compact kernels with bandwidths that vary as a user asks for them: the engine and the
// place, CPU or device, are chosen, and the CPU takes over from a device that fails.
#ifndef KESTREL_GPU_VARIABLE_CALL_HPP
#define KESTREL_GPU_VARIABLE_CALL_HPP

#include <string>

#include "core/data/compact_pairs.hpp"
#include "gpu/gpu_use.hpp"

namespace kestrel {

/// Computes the sums of the task with the engine that is `asked` for or "auto". A device takes the
/// engine "direct", in single precision if `single`. Throws as plan_variable().
void compute_variable(const VariableTask& task, const std::string& asked, bool single, GpuUse& use,
                      const ParallelOptions& options, Span<double> out);

}  // namespace kestrel

#endif
