#include "core/plan/pair_plan.hpp"

#include <limits>

#include "core/direct/engine.hpp"
#include "core/fgt/engine.hpp"
#include "core/plan/costs.hpp"

namespace kestrel {

namespace {

/// The number of samples from which on "fourier" is faster in two and in three dimensions.
double fourier_from(std::size_t d, PairUse use) {
  if (d != 2 && d != 3) return std::numeric_limits<double>::infinity();
  switch (use) {
    case PairUse::search:
    case PairUse::functional: return d == 2 ? kFourierSearch2From : kFourierSearch3From;
    case PairUse::curve: return d == 2 ? kFourierCurve2From : kFourierCurve3From;
    case PairUse::once: break;
  }
  return kFourierOnceFrom;
}

}  // namespace

std::string plan_pair_sums(const PairTask& task) {
  if (task.device) return "direct";
  if (task.d != 1) return task.n >= fourier_from(task.d, task.use) ? "fourier" : "direct";
  if (is_compact(task.kernel)) return "sweep";
  // Cells are worth their cost as soon as several bandwidths share them.
  if (task.use == PairUse::search || task.use == PairUse::curve) return "fgt";
  const double direct = direct_line_pairs_seconds(task.n, task.lanes);
  return fgt_pairs_seconds(task.n, task.spread) < direct ? "fgt" : "direct";
}

}  // namespace kestrel
