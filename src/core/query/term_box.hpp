// A box and the nodes of a tree, in bandwidths, relative to one term of a mixture of product
// kernels.
#ifndef KESTREL_CORE_QUERY_TERM_BOX_HPP
#define KESTREL_CORE_QUERY_TERM_BOX_HPP

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/base/span.hpp"
#include "core/query/kernel.hpp"
#include "simd/query/query.hpp"

namespace kestrel {

/// The term moves the kernel of every row by `shift` bandwidths along each axis. The centres of a
/// node's kernels lie between those of its lowest and of its highest row:
///
///     lower                                       upper          limits of the box
///       |-------------------------------------------|
///       |        [ c     c  c        c ]            |            centres of the node's kernels
///       |<------>|                     |<---------->|
///       min_above                        min_below
///       |<---------------------------->|                         max_above
///                |<-------------------------------->|            max_below
///
/// The centres' distances above the lower limit and below the upper one are at least min_ and at
/// most max_, in bandwidths; for centres beyond the limit they are negative.
class TermBox {
 public:
  /// h: one bandwidth along each axis; of: the variable whose moments are relative to the box's
  /// origin, or -1. The arguments must outlive the object.
  TermBox(const QueryTree& tree, const QueryBox& box, std::ptrdiff_t of, Span<const double> h);

  /// Switches to the term with these shifts, one an axis.
  void use(const double* shift) {
    for (std::size_t k = 0; k < axis_.size(); ++k) axis_[k].shift = shift[k];
  }

  const QueryTree& tree() const { return tree_; }
  const simd::QueryAxis& axis(std::size_t k) const { return axis_[k]; }
  /// Values of a leaf's rows on axis k.
  const double* rows(std::size_t leaf, std::size_t k) const {
    return tree_.coordinate.data() + k * tree_.stride + tree_.nodes[leaf].begin;
  }

  double min_above(std::size_t node, std::size_t k) const { return above(low(node, k), k); }
  double max_above(std::size_t node, std::size_t k) const { return above(high(node, k), k); }
  double min_below(std::size_t node, std::size_t k) const { return below(high(node, k), k); }
  double max_below(std::size_t node, std::size_t k) const { return below(low(node, k), k); }

  /// Whether all kernels of a node lie between the limits of axis k, if a kernel ends that many
  /// bandwidths from its centre.
  bool holds(std::size_t node, std::size_t k, double end) const {
    return min_above(node, k) >= end && min_below(node, k) >= end;
  }
  /// A lower bound on the squared distance of the centres of a node's kernels from the box.
  double gap2(std::size_t node) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < axis_.size(); ++k) {
      const double gap = std::max({0.0, -max_above(node, k), -max_below(node, k)});
      sum += gap * gap;
    }
    return sum;
  }

 private:
  double low(std::size_t node, std::size_t k) const { return tree_.low[node * tree_.d + k]; }
  double high(std::size_t node, std::size_t k) const { return tree_.high[node * tree_.d + k]; }
  double above(double x, std::size_t k) const {
    return -((axis_[k].lower - x) * axis_[k].inverse - axis_[k].shift);
  }
  double below(double x, std::size_t k) const {
    return (axis_[k].upper - x) * axis_[k].inverse - axis_[k].shift;
  }

  const QueryTree& tree_;
  std::vector<simd::QueryAxis> axis_;
};

inline TermBox::TermBox(const QueryTree& tree, const QueryBox& box, std::ptrdiff_t of,
                        Span<const double> h)
    : tree_(tree), axis_(tree.d) {
  for (std::size_t k = 0; k < tree.d; ++k) {
    const double lower = box.lower[k], upper = box.upper[k];
    const double origin = static_cast<std::ptrdiff_t>(k) == of ? box.origin : 0.0;
    simd::QueryAxis& axis = axis_[k];
    axis.lower = lower;
    axis.upper = upper;
    axis.width = h[k];
    axis.inverse = 1 / h[k];
    axis.shift = 0.0;
    // Each is halved first: the difference of finite limits may overflow.
    axis.half = (upper / 2 - lower / 2) / h[k];
    axis.origin = origin;
    axis.lower_at = lower - origin;
    axis.upper_at = upper - origin;
    axis.middle_at = (lower - origin) / 2 + (upper - origin) / 2;
  }
}

}  // namespace kestrel

#endif
