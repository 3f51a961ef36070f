// Where the faces, edges and corners of a box meet an ellipsoid. There the mass of the ellipsoid's
// slices inside the box has kinks.
#ifndef KESTREL_CORE_QUERY_BALL_EDGES_HPP
#define KESTREL_CORE_QUERY_BALL_EDGES_HPP

#include <cstddef>
#include <vector>

namespace kestrel {

constexpr std::size_t kMaxRadialAxes = 3;

/// Positions along an axis, in bandwidths: two ends and the kinks between them. If two axes follow,
/// there are at most two limits of each, four corners, and two roots for each of these.
struct Kinks {
  double place[2 + 2 * (2 + 2 + 4)];
  std::size_t count = 0;

  void add(double at) { place[count++] = at; }
};

/// The limits of some of the axes after axes[0]: two of them make an edge of the box. Their
/// intersection touches the ellipsoid where a quadratic form of the coordinate on axes[0] and of
/// the limits equals the squared radius.
struct BallEdges {
  std::vector<std::size_t> axes;
  std::vector<double> form;  // [axes][axes], in the units of z
};

/// The sets of limits on axes after i, for the ellipsoid z = L u, |u| < 1, with root[row * m +
/// column] of L.
std::vector<BallEdges> edges_behind(const std::vector<double>& root, std::size_t m, std::size_t i);

/// Adds the positions where these limits meet the ellipsoid, between the ends kinks.place[0] and
/// kinks.place[1]. unit: L_ii; left: the squared radius that the axes before i leave; from, to:
/// limits of each z; centre: the share of the axes before i in each z.
void add_kinks(const std::vector<BallEdges>& edges, double unit, double left, const double* from,
               const double* to, const double* centre, Kinks* kinks);

}  // namespace kestrel

#endif
