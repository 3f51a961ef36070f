// Where the faces, edges and corners of a box meet an ellipsoid: the kinks of what the box holds of
// the ellipsoid's slices.
#ifndef KESTREL_CORE_QUERY_BALL_EDGES_HPP
#define KESTREL_CORE_QUERY_BALL_EDGES_HPP

#include <Eigen/Core>
#include <cstddef>
#include <vector>

namespace kestrel {

constexpr std::size_t kMaxRadialAxes = 3;

/// Matrices of at most three axes: without memory of their own, and without threads.
using RadialMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 3, 3>;

/// Places along an axis, in bandwidths: two ends and the kinks between them. With two axes behind
/// it an axis has at most two limits of each, four corners, two roots of each.
struct Kinks {
  double place[2 + 2 * (2 + 2 + 4)];
  std::size_t count = 0;

  void add(double at) { place[count++] = at; }
};

/// The limits of some axes behind axis `axes[0]`: with two of these, an edge of the box. Their
/// intersection touches the ellipsoid where a quadratic form of the coordinate on axes[0] and of
/// the limits is the square of the radius.
struct BallEdges {
  std::vector<std::size_t> axes;
  std::vector<double> form;  // [axes][axes], in the units of z
};

/// The sets of limits behind axis i of the ellipsoid z = L u, |u| < 1.
std::vector<BallEdges> edges_behind(const RadialMatrix& lower, std::size_t i);

/// Adds where such limits meet the ellipsoid, between kinks.place[0] and kinks.place[1], the ends.
/// unit: L_ii; left: the squared radius that the axes before i leave; from, to: limits of each z,
/// and centre: what the axes before i add to it.
void add_kinks(const std::vector<BallEdges>& edges, double unit, double left, const double* from,
               const double* to, const double* centre, Kinks* kinks);

}  // namespace kestrel

#endif
