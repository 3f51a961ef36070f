// The mass of a density in the orthants at the points of a grid: its distribution function there.
#ifndef KESTREL_CORE_QUERY_ORTHANTS_HPP
#define KESTREL_CORE_QUERY_ORTHANTS_HPP

#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/query/query.hpp"

namespace kestrel {

/// The share of the density below the point in every variable, or above it.
enum class Side { below, above };

/// out: the shares for all points of a grid, the first axis fastest. axes: one for each of two or
/// three variables, ascending.
///
/// Kernels: product kernels (diagonal H) and the normal one with any H. Their masses are products
/// of one-dimensional ones, so the grid is a sum of outer products (orthants.cpp). The normal
/// kernel with correlations is summed either so, over the terms of its NormalMixture, or by the
/// series of its modes (normal_series.hpp), whichever is expected to take less time.
///
/// Error of a share:
/// - normal kernel, diagonal H: 1e-14 (1 + d) of itself (z bandwidths from the data the rounding of
///   points adds 6e-16 z^2);
/// - other product kernels: 1e-14 d of the whole mass;
/// - normal kernel with correlations: 2e-13 d of the whole mass.
///
/// O(n points) for each term, less for points out of reach of the samples; the series takes O(n)
/// and an FFT. The same bits for any number of threads; instruction sets differ in the last bits.
///
/// Throws error(input) as query_boxes does, and for other kernels and axes that do not ascend;
/// error(memory) if the series needs more than 1 GB and the mixture more than kMaxTerms terms.
void orthants_on_grid(const QueryDensity& density, const std::vector<Span<const double>>& axes,
                      Side side, const RunOptions& options, Span<double> out);

}  // namespace kestrel

#endif
