// Derivatives of a density as a user asks for them: the engine and the place, CPU or device, are
// chosen, and the CPU takes over from a device that fails.
#ifndef KESTREL_GPU_DERIVATIVES_CALL_HPP
#define KESTREL_GPU_DERIVATIVES_CALL_HPP

#include <string>

#include "core/engine/density.hpp"
#include "gpu/gpu_use.hpp"

namespace kestrel {

/// Computes all derivatives of an order, sums divided by the number of samples, with the engine
/// that is `asked` for or "auto". A device takes the engine "direct". `use` then tells whether one
/// was used. Returns the name of the engine. out: as for direct_derivatives(). Throws as
/// plan_derivatives().
std::string compute_derivatives(const DensityTask& task, int order, const std::string& asked,
                                GpuUse& use, const RunOptions& how, Span<double> out);

}  // namespace kestrel

#endif
