// Sums of compact kernels on regular grids with a bandwidth for each sample.
#ifndef KESTREL_CORE_SCANLINE_VARIABLE_HPP
#define KESTREL_CORE_SCANLINE_VARIABLE_HPP

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"
#include "core/kernel/kernel.hpp"
#include "core/scanline/axis.hpp"

namespace kestrel {

/// out[i] = sum_j w_j K_h_j(e_i - x_j) at the points e_i of a grid, first axis fastest;
/// K_h(u) = h^-d K(u / h) for a compact radial kernel. As S-KDE does it (Lopez-Novoa 2015, ch. 6),
/// sample by sample, each added to the rows of the grid that its own kernel crosses.
///
/// Bandwidths are in ranges of a factor of two. Rows: the value is added at each point of a run, in
/// two parts, so that the sum is exact to rounding. Events: a range of Epanechnikov kernels with
/// long runs is added as in ScanlineTable::events, in integers of 128 bits. Each range has a unit
/// of its own. So narrow kernels, however high, cost wide ones no digits.
///
/// x: n*d samples, d = 1 to 3; w: n weights; h: n positive bandwidths; axes: d. Error: rounding,
/// 1e-15 of each sum for rows; for events 1e-14 of the largest kernel of the range, at most. Zero
/// where no sample reaches; never negative. The same bits for every number of threads. Throws
/// error(internal) if sizes do not match, error(input) where ScanlineGeometry does.
/// O(points times ranges + rows crossed) by events, O(points covered) by rows; 100 bytes a sample,
/// and 1 MiB a thread.
void variable_scanline(const MatrixView& x, Weights w, Span<const double> h, Kernel kernel,
                       Span<const RegularAxis> axes, const ParallelOptions& options,
                       Span<double> out);

}  // namespace kestrel

#endif
