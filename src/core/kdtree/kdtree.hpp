// The kdtree engine: kernel sums of compact kernels at points anywhere, over the pairs in reach.
#ifndef KESTREL_CORE_KDTREE_KDTREE_HPP
#define KESTREL_CORE_KDTREE_KDTREE_HPP

#include <cstddef>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/evaluation_points.hpp"
#include "core/data/weights.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

/// Samples of a leaf and points of a block, at most. Half or twice as many are slower by at most a
/// sixth (measured for d = 2 and 3, n = m = 2e5 and 1e6, with AVX2).
constexpr std::size_t kTreeLeaf = 64, kTreeBlock = 64;

/// Whether nodes in reach of a whole block are summed by their moments.
bool has_tree_moments(const KernelChoice& choice, std::size_t d);

/// direct_density() (core/direct/direct.hpp) for the compact kernels, with the same arguments,
/// error, and bits for every number of threads. Throws error(input) for the Gaussian kernel, too.
/// O((n + m) log(n + m) + pairs near the edge of the support) time for the kernels that are
/// polynomials in u^2 with few monomials (KernelMoments), pairs in reach for the others. Memory:
/// 1.5 copies of the data.
void kdtree_density(const MatrixView& x, Weights w, const EvaluationPoints& points,
                    const KernelChoice& choice, Span<const double> root, const RunOptions& options,
                    Span<double> out);

}  // namespace kestrel

#endif
