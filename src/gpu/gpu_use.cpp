#include "gpu/gpu_use.hpp"

#include "gpu/cost.hpp"

namespace kestrel {

bool GpuUse::choose(double cpu, const std::function<double(const kestrel_gpu_device&)>& seconds) {
  if (on_device() || asked_ == Backend::cpu) return on_device();
  const bool weighed = asked_ == Backend::automatic;
  // Whether there is a device is worth asking only if even one that takes no time would pay off.
  if (weighed && (!gpu_built() || !gpu_pays_off(cpu, 0))) return false;
  try {
    const kestrel_gpu_device& device = gpu_device();
    // One device is weighed, so that the choice does not depend on how many there are.
    if (!weighed || gpu_pays_off(cpu, seconds(device))) device_ = gpu_name();
  } catch (const gpu_error& problem) {
    fall_back(problem);
  }
  return on_device();
}

void GpuUse::fall_back(const gpu_error& problem) {
  device_.clear();
  tell_(problem);
}

}  // namespace kestrel
