// From how many samples on sums over pairs are faster by "fourier" than directly.
//
// Measured 2026-11: one core with AVX-512, normal data and three clusters.
#ifndef KESTREL_CORE_PLAN_COSTS_HPP
#define KESTREL_CORE_PLAN_COSTS_HPP

namespace kestrel {

/// A search for a matrix, or functionals, in two and three dimensions. Both engines take the same
/// time in two dimensions for Hlscv, Hscv and Hpi at 100 to 300 samples; in three at about 3,000
/// for Hscv, at 4,000 to 10,000 for Hlscv and at 10,000 for Hpi.
constexpr double kFourierSearch2From = 200;
constexpr double kFourierSearch3From = 5000;
/// A curve, of which direct sums take all bandwidths in one pass.
constexpr double kFourierCurve2From = 900;
constexpr double kFourierCurve3From = 7500;
/// One evaluation, which for few samples is not worth the preparation of a grid.
constexpr double kFourierOnceFrom = 2000;

}  // namespace kestrel

#endif
