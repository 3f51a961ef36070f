#include "core/plan/engines.hpp"

#include "core/base/error.hpp"
#include "core/direct/engine.hpp"
#include "core/fgt/engine.hpp"
#include "core/fourier/engine.hpp"
#include "core/kdtree/engine.hpp"
#include "core/scanline/engine.hpp"
#include "core/sweep/engine.hpp"

namespace kestrel {

const std::vector<const DensityEngine*>& density_engines() {
  static const std::vector<const DensityEngine*> engines{&direct_engine,  &kdtree_engine,
                                                         &sweep_engine,   &fgt_engine,
                                                         &fourier_engine, &scanline_engine};
  return engines;
}

const DensityEngine& density_engine(const std::string& name) {
  std::string names = "auto";
  for (const DensityEngine* engine : density_engines()) {
    if (engine->name == name) return *engine;
    names += std::string(", ") + engine->name;
  }
  throw error(ErrorKind::input, "engine must be one of " + names + ", not " + name);
}

}  // namespace kestrel
