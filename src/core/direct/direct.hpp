// The direct engine: kernel sums at evaluation points, one kernel value a pair. It is the reference
// for every other engine.
#ifndef KESTREL_CORE_DIRECT_DIRECT_HPP
#define KESTREL_CORE_DIRECT_DIRECT_HPP

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/evaluation_points.hpp"
#include "core/data/weights.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

/// out[i] = sum_j w_j K_H(e_i - x_j), i < m, with the normalised kernel, |H|^-1/2 included and
/// no division by n (Wand & Jones 1995, eq. 4.1).
///
/// x: n*d samples; w: n weights; points: m points of dimension d; root: lower Cholesky factor L of
/// H = L L', d*d column-major, in the units of x; out: m values in units of x^-d.
/// Error: at most 1e-12 of the largest value (measured: 2e-14). The same bits for every number of
/// threads; instruction sets differ in the last bits. A sum below the range of a double is 0.
/// Throws error(input) if sizes do not match, a root is not positive or a product kernel's root is
/// not diagonal. O(n m d) time; O(m d) memory and at most 64 MiB more.
void direct_density(const MatrixView& x, Weights w, const EvaluationPoints& points,
                    const KernelChoice& choice, Span<const double> root, const RunOptions& options,
                    Span<double> out);

}  // namespace kestrel

#endif
