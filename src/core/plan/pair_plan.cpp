#include "core/plan/pair_plan.hpp"

#include <limits>

#include "core/direct/engine.hpp"
#include "core/fgt/engine.hpp"

namespace kestrel {

namespace {

/// The number of samples from which on "fourier" is faster in two and in three dimensions. Timed in
/// 2026-11 on one core with AVX-512, with normal data and three clusters. For a search both engines
/// take the same time in two dimensions for Hlscv, Hscv and Hpi at 100 to 300 samples; in three at
/// about 3,000 for Hscv, at 4,000 to 10,000 for Hlscv and at 10,000 for Hpi. For a curve, of which
/// direct sums take all bandwidths in one pass, at 900 and 7,500. For few samples one evaluation is
/// not worth the preparation of a grid.
double fourier_from(std::size_t d, PairUse use) {
  if (d != 2 && d != 3) return std::numeric_limits<double>::infinity();
  switch (use) {
    case PairUse::search:
    case PairUse::functional: return d == 2 ? 200 : 5000;
    case PairUse::curve: return d == 2 ? 900 : 7500;
    case PairUse::once: break;
  }
  return 2000;
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
