// Period, modes and cells of a grid for the samples in a box, from the error allowed.
//
// Along one axis of whitened coordinates, samples lie between low and high. The grid repeats them
// with a period:
//
//     origin      low                          high          origin + period
//       |..........[ x  xx xxx  x xx    x    x ]................|..........[ x  xx xxx  (image)
//       |<-------->                             <------------------------->
//       taps/2 + 1 cells                       a Gaussian of `max` must fade here
//
// and keeps the frequencies up to which a Gaussian of `min` is not negligible, 2 pi / period apart:
//
//       exp(-(min t)^2 / 2)      ' . _
//       -----------------------|-------'-._____     t = 0, 1, 2, ..., modes times 2 pi / period
//       0                                 cut / min
//
// A grid has 2.5 cells a mode, 1.25 times as many as these frequencies need: that leaves room for
// the window with which samples are spread.
//
// The tolerance is relative to the sum S(2H) over all pairs, of which min_sum() is a lower bound in
// units of K_2H(0). It is shared: a ninth is for the Gaussian at the cut, a tenth for the aliases
// of the window (FourierWindow::taps_for), 0.3 for the images on all axes together, 0.05 for the
// pairs of outliers farther apart than `reach`. The rest is left to rounding.
#ifndef KESTREL_CORE_FOURIER_LAY_GRID_HPP
#define KESTREL_CORE_FOURIER_LAY_GRID_HPP

#include "core/fourier/box_content.hpp"
#include "core/fourier/geometry.hpp"

namespace kestrel {

/// Where a Gaussian has decreased to a ninth of the tolerance, in its standard deviations.
double fourier_cut(double tolerance);

/// Sets reach and period for the box of a geometry. O(bins) for each step of a bisection.
void set_periods(const BoxContent& content, FourierGeometry* geometry);

struct LaidGrid {
  FourierGeometry geometry;  // complete only if the grid fits
  double bytes;              // of grid and modes
  bool fits;
};

/// `geometry` with reach, period, modes, cells and origin for its box, unless they take more than
/// `bytes`. O(bins) for each step of a bisection.
LaidGrid lay_grid(FourierGeometry geometry, const BoxContent& content, double bytes);

}  // namespace kestrel

#endif
