// A skeleton to copy: the smallest engine. Copy this folder's engine.hpp, engine.cpp and costs.hpp
// to src/core/NAME/, write NAME for skeleton, and add the engine to the list of
// src/core/plan/engines.cpp. Then replace the loop of run_skeleton() by something faster.
#ifndef KESTREL_CORE_SKELETON_ENGINE_HPP
#define KESTREL_CORE_SKELETON_ENGINE_HPP

#include "core/engine/density.hpp"

namespace kestrel {

/// Sums every pair, for the Gaussian kernel with any bandwidth matrix. Error: 1e-12 of the largest
/// value. O(n m d^2) time, O(d) memory a thread.
extern const DensityEngine skeleton_engine;

}  // namespace kestrel

#endif
