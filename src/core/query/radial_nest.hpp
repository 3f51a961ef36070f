// The mass of one radial polynomial kernel in a box, integrated axis within axis.
#ifndef KESTREL_CORE_QUERY_RADIAL_NEST_HPP
#define KESTREL_CORE_QUERY_RADIAL_NEST_HPP

#include <cstddef>
#include <vector>

#include "core/base/span.hpp"
#include "core/query/ball_edges.hpp"
#include "core/query/box_moments.hpp"
#include "core/query/legendre_rule.hpp"

namespace kestrel {

/// The nodes of short innermost integrals and of each piece of the outer ones.
struct RadialRules {
  explicit RadialRules(int outer_nodes);

  LegendreRule inner;
  std::vector<double> place, weight;  // of outer nodes, on [0, 1]
};

/// The kernel c (1 - z' H^-1 z)^power in m dimensions, on the ellipsoid where that is positive.
/// power is a multiple of 1/2, so that these kernels include the marginals of radial polynomial
/// kernels: leaving out an axis adds 1/2.
///
/// With H = L L' and z = L u the box is cut into nested slices: each axis u_i is limited by the box
/// and by what the axes before it leave of the ball. With two axes, the ellipse and a box that is
/// open to the right:
///
///                      .............
///                  .....           .....
///               ....                   ....
///        upper ..   +----------+-----------------------------
///             ..    |          :           ..
///             .     |          :            .      the box
///             .     |          :            .
///             ..    |          :           ..
///              ..   |          :          ..
///               ....|          :       ....
///        lower     .+----------+-----------------------------
///                      .............
///                   a          z1   k1  k2  b
///
/// z_1 runs from the limit a to b, where the ellipse ends. At z_1 the slice holds z_2 from the
/// lower limit to the upper one (:). Beyond k1 its lower end is the ellipse, and beyond k2 its
/// upper end is, too.
///
/// The innermost integral is one of powers of a cosine (cosine_moments.hpp). The outer ones are cut
/// at kinks, where a face, an edge or a corner of the box leaves the ball (ball_edges.hpp). Between
/// kinks the integrand is smooth except for half-integer powers at the ends. The substitution u = a
/// + (b - a) (2 - 3 cos t + cos^3 t) / 4 makes these integers (Sidi 1993: sin^3), and a
/// Gauss-Legendre rule in t is used. Its nodes are dense at the ends, near which there may be other
/// kinks.
class RadialNest {
 public:
  /// H: m*m column-major; m <= kMaxRadialAxes. Throws error(input) if rounding keeps H from being
  /// positive definite.
  RadialNest(std::size_t m, const std::vector<double>& H, double power);
  /// With other rules, for tests of the error.
  RadialNest(std::size_t m, const std::vector<double>& H, double power, const RadialRules& rules);

  /// For z in [from, to] (m limits each): the mass and, with `moments`, the mean and square of the
  /// last z. Error: 1e-11 of the kernel's mass (measured, see test-query-radial). Takes about 0.1
  /// us for one axis, 10 us for a corner of two, 1 ms for one of three.
  BoxMoments hold(const double* from, const double* to, bool moments) const;

 private:
  struct Slice;

  BoxMoments level(const Slice& slice, std::size_t i) const;
  BoxMoments last_level(const Slice& slice) const;

  std::size_t m_;
  std::vector<double> root_;  // L, [row * m + column]
  int exponent_;              // of cos in the innermost integral: 2 power + 1
  double constant_;
  RadialRules rules_;
  std::vector<std::vector<BallEdges>> edges_;  // for every level but the last
};

}  // namespace kestrel

#endif
