// What a pair of a sample and a point costs in the leaf loops of tiles, for plans.
#ifndef KESTREL_CORE_DATA_PAIR_SECONDS_HPP
#define KESTREL_CORE_DATA_PAIR_SECONDS_HPP

#include <cstddef>

#include "core/kernel/kernel.hpp"

namespace kestrel {

/// Expected seconds of one pair in d variables, with an instruction set that has so many lanes. A
/// product kernel of several variables costs as many kernels of one; the uniform kernel in several
/// dimensions costs more than this says.
double pair_seconds(const KernelChoice& kernel, std::size_t d, std::size_t lanes);

}  // namespace kestrel

#endif
