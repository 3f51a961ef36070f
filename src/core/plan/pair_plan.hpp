// Which engine computes sums over all pairs of a sample, for selectors of a bandwidth.
#ifndef KESTREL_CORE_PLAN_PAIR_PLAN_HPP
#define KESTREL_CORE_PLAN_PAIR_PLAN_HPP

#include <cstddef>
#include <string>

#include "core/kernel/kernel.hpp"

namespace kestrel {

/// What sums are for. search: many matrices, one after the other; curve: many multiples of one
/// matrix; once: one of its multiples; functional: the derivatives at one bandwidth.
enum class PairUse { search, curve, once, functional };

struct PairTask {
  double n = 0;  // the effective number of samples
  std::size_t d = 0;
  PairUse use = PairUse::search;
  Kernel kernel = Kernel::gaussian;  // any but the Gaussian one only on a line
  double spread = 0;      // d = 1: the range of the samples in bandwidths, if there is one
  std::size_t lanes = 1;  // of the instruction set in use
  bool device = false;    // whether a device computes the sums
};

/// The engine that is expected to take the least time: "direct", on a line also "fgt" and "sweep",
/// in two and three dimensions "fourier". A pure function. The number of threads is no part of it,
/// since results must not depend on that. O(1).
std::string plan_pair_sums(const PairTask& task);

/// Up to this number of samples direct sums replace those of an engine that lacks memory; with more
/// of them they would take hours.
constexpr double kFewEnoughForDirect = 5e4;

}  // namespace kestrel

#endif
