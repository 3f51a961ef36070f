// A sketch as the sample that estimators take.
#ifndef KESTREL_CORE_SKETCH_SKETCH_SAMPLE_HPP
#define KESTREL_CORE_SKETCH_SKETCH_SAMPLE_HPP

#include <memory>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/sample.hpp"
#include "core/data/sample_moments.hpp"
#include "core/data/ties.hpp"
#include "core/data/weights.hpp"
#include "core/fgt/cell_moments.hpp"
#include "core/sketch/grid_sketch.hpp"
#include "core/sketch/line_sketch.hpp"

namespace kestrel {

/// Whether all samples of a sketch are known one by one. Then every engine takes them.
inline bool keeps_all(const LineSketch& sketch) { return sketch.full().empty(); }

/// A cell of a sketch: one of full(), or some of kept().
struct CellOfSketch {
  double key;
  bool full;
  std::size_t begin, end;
};
/// In ascending order.
std::vector<CellOfSketch> cells_of(const LineSketch& sketch);

/// The samples of a sketch, which must outlive this, with what the engine `fgt` and the selectors
/// of bandwidths make of samples. If not all are known, only these can use it; the engine then
/// throws error(unfit) for a bandwidth below least_sum_bandwidth() or least_density_bandwidth().
/// There is a sample at least. O(cells moments).
std::unique_ptr<const Sample> sample_of_sketch(const LineSketch& sketch, const RunOptions& options);

/// The cells of a sketch with their moments, and the sums of the weights. Weights sum to their
/// number, as R has them. O(cells moments).
GivenCells cells_with_moments(const LineSketch& sketch, const RunOptions& options);
WeightSums weights_of_sample(const LineSketch& sketch);

/// The least bandwidth of sums over pairs, of any order, and of a density, for which the moments of
/// such cells are enough; 0 if all samples are known.
double least_sum_bandwidth(const LineSketch& sketch);
double least_density_bandwidth(const LineSketch& sketch);

/// That of sums in widths of cells.
double least_sum_cells();

/// Ties among the samples that are kept, and of those that are not the estimate of
/// tie_counters.hpp. O(cells).
Ties ties_of_sketch(const LineSketch& sketch);

/// Quantiles of type 7 (Hyndman & Fan 1996), to the width of a cell: samples that are not kept
/// count as equally spaced in their cells. A sample with a weight counts as so many. There is a
/// sample at least. O(cells) each.
std::vector<double> quantiles_of(const LineSketch& sketch, Span<const double> prob);

/// The same of two or three variables, for the engine `fourier`, with that mean and covariance. The
/// sketch is settled.
std::unique_ptr<const Sample> sample_of_sketch(const GridSketch& sketch,
                                               const SampleCovariance& moments);

/// The least bandwidth that the cells serve along each axis, given the others, for sums of degree 0
/// and 2; 0 if all samples are known.
std::vector<double> least_bandwidths(const GridSketch& sketch);
Ties ties_of_sketch(const GridSketch& sketch);

/// The exponents of the widest cells that serve sums from these bandwidths on.
std::vector<int> exponents_for(Span<const double> bandwidths);

/// The exponent of the widest cells that serve sums over pairs from this bandwidth on.
int exponent_for(double bandwidth);

}  // namespace kestrel

#endif
