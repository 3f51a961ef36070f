// Queries with radial kernels that are powers of 1 - u'u.
#include <cmath>
#include <string>

#include "core/base/error.hpp"
#include "core/base/small_matrix.hpp"
#include "core/query/kernel.hpp"
#include "core/query/radial_nest.hpp"

namespace kestrel {

namespace {

int power_of(Kernel kernel) {
  if (is_polynomial(kernel) && row_of(kernel).inner == 2) return row_of(kernel).outer;
  throw error(ErrorKind::input, "queries take radial kernels that are powers of 1 - u'u");
}

/// Has the marginal kernel for each set of axes that a box may cut. An axis whose limits lie beyond
/// the ellipsoid does not matter: the marginal without it is again a power of 1 - u'u, larger by
/// 1/2. So most rows that are cut at all take one short sum, and those at a corner nests of sums.
class RadialQuery : public QueryKernel {
 public:
  RadialQuery(Kernel kernel, std::size_t d, Span<const double> root);

  BoxMoments answer(const QueryTree& tree, std::size_t node, const QueryBox& box, std::ptrdiff_t of,
                    QueryScratch& scratch) const override;
  Span<const double> scale() const override { return {reach_.data(), d_}; }
  std::size_t rows_at_once() const override { return d_ == 3 ? 64 : 512; }

 private:
  struct Marginal {
    std::vector<std::size_t> axes;  // the variable asked for comes last
    RadialNest nest;
  };
  Marginal marginal(std::size_t set, std::ptrdiff_t of, int power) const;
  Overlap overlap(const QueryTree& tree, std::size_t node, const QueryBox& box) const;
  BoxMoments row(const QueryTree& tree, std::size_t i, const QueryBox& box,
                 std::ptrdiff_t of) const;
  BoxMoments whole(BoxMoments rows, const QueryTree& tree, const QueryBox& box,
                   std::ptrdiff_t of) const;

  std::size_t d_;
  std::vector<double> H_, reach_;    // reach_: half the ellipsoid's extent on each axis
  double second_moment_;             // of u_k
  std::vector<Marginal> marginals_;  // [(of + 1) << d_ | set]
};

RadialQuery::RadialQuery(Kernel kernel, std::size_t d, Span<const double> root)
    : d_(d), H_(lower_times_transpose(root, d)), reach_(d) {
  if (d > kMaxRadialAxes) {
    throw error(ErrorKind::input, "queries take radial kernels in at most " +
                                      std::to_string(kMaxRadialAxes) + " dimensions, not " +
                                      std::to_string(d));
  }
  const int power = power_of(kernel);
  for (std::size_t a = 0; a < d; ++a) reach_[a] = std::sqrt(H_[a * d + a]);
  second_moment_ = 1.0 / (static_cast<double>(d) + 2 + 2 * power);
  for (std::ptrdiff_t of = -1; of < static_cast<std::ptrdiff_t>(d); ++of) {
    for (std::size_t set = 0; set < (std::size_t{1} << d); ++set) {
      marginals_.push_back(marginal(set, of, power));
    }
  }
}

RadialQuery::Marginal RadialQuery::marginal(std::size_t set, std::ptrdiff_t of, int power) const {
  std::vector<std::size_t> axes;
  for (std::size_t k = 0; k < d_; ++k) {
    if ((set >> k & 1) != 0 && static_cast<std::ptrdiff_t>(k) != of) axes.push_back(k);
  }
  if (of >= 0) axes.push_back(static_cast<std::size_t>(of));
  if (axes.empty()) axes.push_back(0);  // for no box
  const std::size_t m = axes.size();
  std::vector<double> H(m * m);
  for (std::size_t a = 0; a < m; ++a) {
    for (std::size_t b = 0; b < m; ++b) H[b * m + a] = H_[axes[b] * d_ + axes[a]];
  }
  return {axes, RadialNest(m, H, power + static_cast<double>(d_ - m) / 2)};
}

Overlap RadialQuery::overlap(const QueryTree& tree, std::size_t node, const QueryBox& box) const {
  Overlap overlap = Overlap::inside;
  for (std::size_t k = 0; k < d_; ++k) {
    const double low = tree.low[node * d_ + k], high = tree.high[node * d_ + k];
    if (box.lower[k] - high >= reach_[k] || low - box.upper[k] >= reach_[k])
      return Overlap::outside;
    const bool held = low - box.lower[k] >= reach_[k] && box.upper[k] - high >= reach_[k];
    if (!held) overlap = Overlap::across;
  }
  return overlap;
}

/// Rows whose kernels lie entirely in the box.
BoxMoments RadialQuery::whole(BoxMoments rows, const QueryTree& tree, const QueryBox& box,
                              std::ptrdiff_t of) const {
  if (of < 0) return {rows.mass, 0.0, 0.0};
  const std::size_t k = static_cast<std::size_t>(of);
  rows.mean += tree.centre - box.origin;
  rows.square += rows.mass * second_moment_ * H_[k * d_ + k];
  return rows;
}

BoxMoments RadialQuery::row(const QueryTree& tree, std::size_t i, const QueryBox& box,
                            std::ptrdiff_t of) const {
  double from[kMaxRadialAxes], to[kMaxRadialAxes];
  std::size_t set = 0;
  for (std::size_t k = 0; k < d_; ++k) {
    const double x = tree.coordinate[k * tree.stride + i];
    from[k] = box.lower[k] - x;
    to[k] = box.upper[k] - x;
    if (from[k] >= reach_[k] || to[k] <= -reach_[k]) return {};
    if (from[k] > -reach_[k] || to[k] < reach_[k]) set |= std::size_t{1} << k;
  }
  BoxMoments one;
  one.mass = tree.weight[i];
  const double at = of < 0 ? 0.0 : tree.coordinate[static_cast<std::size_t>(of) * tree.stride + i];
  if (set == 0) {
    one.mean = of < 0 ? 0.0 : at - tree.centre;
    return whole(one, tree, box, of);
  }
  const Marginal& kernel = marginals_[static_cast<std::size_t>(of + 1) << d_ | set];
  double min[kMaxRadialAxes], largest[kMaxRadialAxes];
  for (std::size_t a = 0; a < kernel.axes.size(); ++a) {
    min[a] = from[kernel.axes[a]];
    largest[a] = to[kernel.axes[a]];
  }
  BoxMoments held = kernel.nest.hold(min, largest, of >= 0);
  held.mass *= one.mass;
  held.square *= one.mass;
  if (of >= 0) held.mean += at - box.origin;
  return held;
}

BoxMoments RadialQuery::answer(const QueryTree& tree, std::size_t node, const QueryBox& box,
                               std::ptrdiff_t of, QueryScratch&) const {
  BoxMoments total;
  tree.visit(
      node, [&](std::size_t at) { return overlap(tree, at, box); },
      [&](std::size_t at) { total.merge(whole(tree.nodes[at].rows, tree, box, of)); },
      [&](std::size_t leaf) {
        for (std::size_t i = tree.nodes[leaf].begin; i < tree.nodes[leaf].end; ++i) {
          total.merge(row(tree, i, box, of));
        }
      });
  return total;
}

}  // namespace

std::unique_ptr<QueryKernel> radial_query(Kernel kernel, std::size_t d, Span<const double> root) {
  return std::unique_ptr<QueryKernel>(new RadialQuery(kernel, d, root));
}

}  // namespace kestrel
