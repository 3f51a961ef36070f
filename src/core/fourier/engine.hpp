// The fourier engine in the list of engines.
#ifndef KESTREL_CORE_FOURIER_ENGINE_HPP
#define KESTREL_CORE_FOURIER_ENGINE_HPP

#include <functional>
#include <memory>

#include "core/engine/density.hpp"
#include "core/fourier/layout.hpp"
#include "core/fourier/modes.hpp"

namespace kestrel {

/// The maximum memory for a grid.
constexpr double kFourierBytes = 1e9;

/// The modes that an earlier step of a call has made of a sample, which keeps this; null if there
/// are none any more. A density may be read off them.
struct ModesOfSample {
  std::function<const FourierModes*()> modes;
};

/// measure_density() of a task, with the modes that its sample has kept. O(n + m).
std::shared_ptr<const DataRange> extent_of(const DensityTask& task);

extern const DensityEngine fourier_engine;

}  // namespace kestrel

#endif
