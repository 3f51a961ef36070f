// What the kinds of kernels offer to queries.
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

/// A box; `origin` is what means are relative to: the point of the interval of the variable asked
/// for that is nearest to the tree's centre, so that they keep the digits of data far from zero and
/// of boxes far from the data.
struct QueryBox {
  std::vector<double> lower, upper;
  double origin = 0.0;
};

/// Doubles that one worker may write to.
struct QueryScratch {
  std::vector<double> mass, mean, variance;
};

class QueryKernel {
 public:
  virtual ~QueryKernel() = default;

  /// What the box holds of the rows of a node of the tree, the mean relative to the origin. `of` is
  /// the variable asked for, or -1: then only the mass is told.
  virtual BoxMoments answer(const QueryTree& tree, std::size_t node, const QueryBox& box,
                            std::ptrdiff_t of, QueryScratch& scratch) const = 0;

  /// One bandwidth of each axis.
  virtual Span<const double> scale() const = 0;

  /// Rows of a node that takes some milliseconds, and where rows are dearest (a corner of three
  /// axes, 1e5 terms) up to half a second.
  virtual std::size_t rows_at_once() const = 0;
};

/// Kernels that are products over the axes, and the normal one with any bandwidth matrix. root:
/// lower Cholesky factor of H, d*d column-major, in the units of x, diagonal but for the normal
/// kernel (the caller has checked it); `table` must outlive the object. Errors of answers: those of
/// query_boxes, which says the source, too. Throws error(input) where NormalMixture does, for a
/// normal kernel too close to singular. Takes what the terms of that mixture take: O(d) for a
/// diagonal root.
std::unique_ptr<QueryKernel> product_query(Kernel kernel, std::size_t d, Span<const double> root,
                                           const simd::Table* table);

/// Radial polynomial kernels in two and three dimensions; root as above, not diagonal in general.
/// Errors of answers: those of query_boxes. Throws error(input) for other dimensions and kernels.
/// O(2^d d) integrals over a ball's sections.
std::unique_ptr<QueryKernel> radial_query(Kernel kernel, std::size_t d, Span<const double> root);

}  // namespace kestrel

#endif
