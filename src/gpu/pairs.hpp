// Sums over all pairs of samples on the device: the counterpart of core/direct/pairs.hpp and
// core/direct/lscv.hpp.
#ifndef KESTREL_GPU_PAIRS_HPP
#define KESTREL_GPU_PAIRS_HPP

#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"
#include "core/direct/lscv.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

// Error of all of them: 1e-12 of the sum of the absolute values of the terms (for a polynomial, of
// its monomials, since cancellation costs every engine the same digits); for moments 1e-12 of the
// sum of w_i w_j K (1 + |u|^2), for monomials 1e-12 of the sum of their absolute values. The same
// bits from run to run on one kind of device. With `single`, terms are computed in single precision
// and their sums added in double: the error is 1e-5, or 2e-7 |u|^2 where that is larger, beyond
// seven bandwidths.
//
// At most 128 variables, 32 for monomials. Polled between launches, about every 20 ms, or as long
// as the smallest launch takes: for moments one of 32,768 points, for other sums one of 2,048
// samples at all points.
//
// In two or more variables, samples are relative to one centre, the middle of their range. They
// must lie within 512 bandwidths of it (fewer if H is strongly correlated); on a line within 1e150,
// for monomials 1e30, in single precision 1e7. Throw error as the functions of the CPU do, and
// gpu_error: GpuProblem::unsuited for samples that span too much or for too many variables.
//
// Memory on a device: 16 d + 16 bytes a sample, in single precision 8 d + 4 more; 128 MiB, or for
// many monomials one number for each of them and each 128 samples; with moments at most 128 d bytes
// for each sample of a piece, which is all of them below 65,536.

/// As direct_pair_laplacian(). O(n^2 d / 2) time.
double gpu_pair_laplacian(const MatrixView& x, Weights w, double g, int order, bool single,
                          const RunOptions& options);

/// As direct_pair_moments(), in double. O(n^2 (d + order (d+order choose d) / 2) / 2) time.
std::vector<double> gpu_pair_moments(const MatrixView& x, Weights w, double g, int order,
                                     const RunOptions& options);

/// As direct_lscv(), in double. O(n^2 d / 2) time; with moments about O(n^2 d (1 + d / 16)) on top.
LscvPairSums gpu_lscv(const MatrixView& x, Weights w, Span<const double> root, bool moments,
                      const RunOptions& options);

/// As direct_lscv_curve(): squared distances are computed once for 16 bandwidths, and are not
/// stored. O(n^2 (d |h| / 16 + |h|) / 2) time.
PairCurve gpu_lscv_curve(const MatrixView& x, Weights w, Span<const double> root,
                         Span<const double> h, bool single, const RunOptions& options);

}  // namespace kestrel

#endif
