// The interface of the kinds of kernels for queries.
#ifndef KESTREL_CORE_QUERY_KERNEL_HPP
#define KESTREL_CORE_QUERY_KERNEL_HPP

#include <cstddef>
#include <memory>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/kernel/kernel.hpp"
#include "core/query/box_moments.hpp"
#include "core/query/tree.hpp"

namespace kestrel {

/// A box. Means are relative to `origin`: the point nearest to the tree's centre in the interval of
/// the variable asked for. So means keep the digits of data far from zero and of boxes far from the
/// data.
struct QueryBox {
  std::vector<double> lower, upper;
  double origin = 0.0;
};

/// Buffers of one worker.
struct QueryScratch {
  std::vector<double> mass, mean, variance;
};

class QueryKernel {
 public:
  virtual ~QueryKernel() = default;

  /// Mass and moments in the box of the kernels of a node's rows; the mean is relative to the
  /// origin. `of` is the variable asked for, or -1 if only the mass is wanted.
  virtual BoxMoments answer(const QueryTree& tree, std::size_t node, const QueryBox& box,
                            std::ptrdiff_t of, QueryScratch& scratch) const = 0;

  /// One bandwidth along each axis.
  virtual Span<const double> scale() const = 0;

  /// Nodes of this many rows take some milliseconds, and up to half a second where rows are most
  /// expensive (a corner of three axes, 1e5 terms).
  virtual std::size_t rows_at_once() const = 0;
};

/// Product kernels, and the normal kernel with any bandwidth matrix. root: lower Cholesky factor of
/// H, d*d column-major, in the units of x, diagonal except for the normal kernel (the caller has
/// checked it); `table` must outlive the object. Errors of answers, and the source: see
/// query_boxes. Throws error(input) where NormalMixture does, for a normal kernel too close to
/// singular. Time and memory are those of the mixture's terms: O(d) for a diagonal root.
std::unique_ptr<QueryKernel> product_query(Kernel kernel, std::size_t d, Span<const double> root,
                                           const simd::Table* table);

/// Radial polynomial kernels in two and three dimensions; root as above, not diagonal in general.
/// Errors of answers: see query_boxes. Throws error(input) for other dimensions and kernels. O(2^d
/// d) integrals over sections of a ball.
std::unique_ptr<QueryKernel> radial_query(Kernel kernel, std::size_t d, Span<const double> root);

}  // namespace kestrel

#endif
