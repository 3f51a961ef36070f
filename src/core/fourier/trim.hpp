// Whether a few outliers are better left out of a grid.
#ifndef KESTREL_CORE_FOURIER_TRIM_HPP
#define KESTREL_CORE_FOURIER_TRIM_HPP

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/fourier/geometry.hpp"
#include "core/fourier/lay_grid.hpp"

namespace kestrel {

/// The grid that costs least, of `whole`, which is over all samples, and those over boxes that
/// leave out a share of the samples at each end of each axis, whose pairs are then summed one by
/// one. Looks for them only where that may be worth it: O(n log n) then. Throws error(memory) where
/// neither a grid nor the pairs keep to `bytes`.
FourierGeometry best_box(const MatrixView& x, Span<const double> w, const LaidGrid& whole,
                         double bytes, const RunOptions& options);

}  // namespace kestrel

#endif
