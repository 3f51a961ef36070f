// The mean and the covariance of a sketch of several variables, of which some are periodic.
#ifndef KESTREL_CORE_SKETCH_CIRCULAR_GRID_HPP
#define KESTREL_CORE_SKETCH_CIRCULAR_GRID_HPP

#include "core/base/span.hpp"
#include "core/data/sample_moments.hpp"
#include "core/sketch/grid_sketch.hpp"

namespace kestrel {

/// Those of the samples moved by whole periods into one that begins half of one before the mean
/// direction. `period` has one for each variable, 0 where there is none. The mean of a periodic
/// variable is relative to the mean direction.
///
/// Samples that are kept are moved one by one, and the others by the cells that they are spread
/// over. A window is symmetric, so that it only adds its variance, and the result is exact if no
/// spread sample is within half a window of an end of the period. A smooth density at an end adds
/// an error of the order of a cell^3, and k samples there one, at random, of a period for the root
/// of k among all samples.
///
/// The sketch is settled and has a sample. Throws error(unfit) for a period narrower than a window.
/// O(cells).
SampleCovariance circular_moments(const GridSketch& sketch, Span<const double> period);

}  // namespace kestrel

#endif
