// Whether a few outliers should be left out of a grid.
#ifndef KESTREL_CORE_FOURIER_TRIM_HPP
#define KESTREL_CORE_FOURIER_TRIM_HPP

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"
#include "core/fourier/geometry.hpp"
#include "core/fourier/lay_grid.hpp"

namespace kestrel {

/// The cheapest grid: `whole`, which covers all samples, or one over a box that leaves out a
/// fraction of the samples at each end of each axis, whose pairs are then summed one by one.
/// Searches for these only if `whole` is expensive; O(n log n) then. Throws error(memory) if no
/// grid with its pairs fits in `bytes`.
FourierGeometry best_box(const MatrixView& x, Weights w, const LaidGrid& whole, double bytes,
                         const RunOptions& options);

}  // namespace kestrel

#endif
