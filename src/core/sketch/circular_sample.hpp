// A sketch of a periodic variable as the sample that selectors of bandwidths take.
#ifndef KESTREL_CORE_SKETCH_CIRCULAR_SAMPLE_HPP
#define KESTREL_CORE_SKETCH_CIRCULAR_SAMPLE_HPP

#include <memory>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/sample.hpp"
#include "core/sketch/line_sketch.hpp"

namespace kestrel {

/// The samples of a sketch moved by whole periods into one that begins, at zero, half of one before
/// the mean direction, for sums over pairs on the circle. A cell is moved as a whole, by its
/// centre, so that samples may be half of a cell beyond an end. `lower`: where a period begins.
///
/// Cells of the sketch lie off those of the sample. These are a quarter as wide, and each takes the
/// cells whose centres it has. So a sample is at most 5/8 of a cell of the sketch from the centre
/// of its cell, not 1/2, and the remainders of series of 16 terms grow by (5/4)^16 = 36. From
/// least_sum_bandwidth() on sums of order 6 still have an error of 1e-16 of the sum of |terms|;
/// smaller bandwidths must not be asked for.
///
/// The sketch has full cells, no wider than the period, and need not outlive this. O(cells
/// moments^2).
std::unique_ptr<const Sample> circular_sample(const LineSketch& sketch, double lower, double period,
                                              const RunOptions& options);

/// Quantiles of such a sample in its period, to the width of a cell. O(cells) each.
std::vector<double> circular_quantiles(const Sample& sample, Span<const double> prob);

}  // namespace kestrel

#endif
