// Sums over all pairs of samples on the device: what core/direct/pairs.hpp and core/direct/lscv.hpp
// are for the CPU.
#ifndef KESTREL_GPU_PAIRS_HPP
#define KESTREL_GPU_PAIRS_HPP

#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/direct/lscv.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

// All of them: error 1e-12 of the sum of the absolute values of the terms, of a polynomial's
// monomials each, as cancellation costs every engine the same digits; moments 1e-12 of
// the sum of w_i w_j K (1 + |u|^2), monomials 1e-12 of that of their absolute values; the same bits
// from run to run on one kind of device. With `single` terms are computed in single precision and
// sums of them added in double: error 1e-5, or 2e-7 |u|^2 where that is more, beyond seven
// bandwidths. At most 128 variables, for monomials 32. Polled between
// launches, about every 20 ms, or as long as the least of them takes: for moments that has 32,768
// points, for other sums 2,048 samples at all points. In two variables or more samples are taken
// about one centre, the middle of their range: they must lie within 512 bandwidths of it (less
// where H is strongly correlated); on a line within 1e150, for monomials 1e30, in single 1e7. Throw
// error as the functions of the CPU do, and gpu_error: GpuProblem::unsuited for samples too wide or
// too many variables. Memory on the device: 16 d + 16 bytes a sample, in single 8 d + 4 more, with
// moments 16 d more for each of the parts, of which there are at most eight and 131,072 / n + 1,
// and 128 MiB, or of many monomials one number for each and each 128 samples.

/// As direct_pair_laplacian(). O(n^2 d / 2) time.
double gpu_pair_laplacian(const MatrixView& x, Span<const double> w, double g, int order,
                          bool single, const RunOptions& options);

/// As direct_pair_moments(), in double. O(n^2 (d + order (d+order choose d) / 2) / 2) time.
std::vector<double> gpu_pair_moments(const MatrixView& x, Span<const double> w, double g, int order,
                                     const RunOptions& options);

/// As direct_lscv(), in double. O(n^2 d / 2) time; with moments about O(n^2 d (1 + d / 16)) on top.
LscvPairSums gpu_lscv(const MatrixView& x, Span<const double> w, Span<const double> root,
                      bool moments, const RunOptions& options);

/// As direct_lscv_curve(): squared distances are taken once for 16 bandwidths, and none is kept.
/// O(n^2 (d |h| / 16 + |h|) / 2) time.
PairCurve gpu_lscv_curve(const MatrixView& x, Span<const double> w, Span<const double> root,
                         Span<const double> h, bool single, const RunOptions& options);

}  // namespace kestrel

#endif
