// The mass of the normal kernel with correlations in boxes and orthants, by its Fourier series.
#ifndef KESTREL_CORE_QUERY_NORMAL_SERIES_HPP
#define KESTREL_CORE_QUERY_NORMAL_SERIES_HPP

#include <vector>

#include "core/fourier/layout.hpp"
#include "core/query/orthants.hpp"

namespace kestrel {

/// How a series is laid.
///
/// In a period P that holds all samples with kWholeNormal bandwidths on either side, the density is
/// the sum over m of c_m exp(2 pi i m u / P), and its integral from the lower end of the period up
/// to the point u is, axis by axis, the sum of c_m times
///
///     u for m = 0,   P sin(pi m u / P) exp(pi i m u / P) / (pi m) for m != 0.
///
/// So the shares of orthants on a grid are the modes times one matrix for each axis. For boxes the
/// integrals of all modes but those with m = 0 are periodic functions, which are read off cells as
/// a density is. The coefficients c_m come from the `fourier` engine.
///
/// Error: wrapping leaves 4e-18 of the mass for each axis. The modes beyond the cut of the Gaussian
/// exp(-t'Ht / 2) at tolerance / 9 add less than tolerance / 9 times (2 / pi) / cut^2 times 1 + 2
/// log(modes) / pi for each other axis. In all that is less than a tenth of the tolerance, which is
/// 1e-13. Rounding adds 4e-16 times the extent in bandwidths, if all mass is at its ends.
struct SeriesPlan {
  DensityFrame frame;  // along the axes of the data
  FourierGeometry geometry;
  double bytes = 0, seconds = 0;  // infinite if there is no such frame or too many cells
  double extent = 0;              // of the samples in bandwidths, along the longest axis
};

/// With a longer extent rounding may add more than 2e-13, which boxes do not allow.
constexpr double kMaxSeriesExtent = 500;

/// For a grid of these axes. O(n).
SeriesPlan plan_series(const QueryDensity& density, const std::vector<Span<const double>>& axes,
                       const RunOptions& options);

/// For so many boxes. O(n).
SeriesPlan plan_series_of_boxes(const QueryDensity& density, std::size_t boxes,
                                const RunOptions& options);

/// As orthants_on_grid() for the normal kernel. The plan must be finite.
void orthants_by_series(const SeriesPlan& plan, const QueryDensity& density,
                        const std::vector<Span<const double>>& axes, Side side,
                        const RunOptions& options, Span<double> out);

/// The masses of boxes, m*d limits, which may be infinite: those of query_boxes() for the normal
/// kernel, times the sum of weights. The plan, of plan_series_of_boxes(), must be finite. O(n + N
/// log N + 2^d m), N cells.
void boxes_by_series(const SeriesPlan& plan, const QueryDensity& density, const MatrixView& lower,
                     const MatrixView& upper, const RunOptions& options, Span<double> out);

}  // namespace kestrel

#endif
