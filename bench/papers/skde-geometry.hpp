// Shared by the programs of Lopez-Novoa (2015), on the host and on an accelerator: a task, the
// distance and the density of a point, the bounding box of a sample and the rectangle around a
// slice of it (chapter 6, sections 3.2 and 3.3 and appendix). skde.hpp says what is theirs and what
// is not.
#ifndef KESTREL_BENCH_PAPERS_SKDE_GEOMETRY_HPP
#define KESTREL_BENCH_PAPERS_SKDE_GEOMETRY_HPP

#include <cmath>
#include <cstddef>

#if defined(__CUDACC__)
#define ON_BOTH __host__ __device__
#else
#define ON_BOTH
#endif

namespace lopez_novoa {

// Shared by all methods. For each axis, d values: where the grid begins, its steps, its points, and
// how far a sample reaches. inverse: d * d, of H = h^2 Sigma. constant: the density of a sample at
// its own position, (d + 2) / (2 c_d) |H|^-1/2 / n (eq. 3 and 5). grid: the estimate is added here.
struct Problem {
  const double* sample;  // m * d, column after column
  std::size_t samples;   // m
  const double* origin;
  const double* step;
  const int* points;
  const double* reach;
  const double* inverse;
  double constant;
  double* grid;
};

// computeDistance, eq. 11: the quadratic form of an evaluation point minus a sample, with the
// elements of the inverse matrix.
ON_BOTH inline double distance(const double* m, double x) { return m[0] * x * x; }
ON_BOTH inline double distance(const double* m, double x, double y) {
  return m[0] * x * x + 2 * m[1] * x * y + m[3] * y * y;
}
ON_BOTH inline double distance(const double* m, double x, double y, double z) {
  return m[0] * x * x + 2 * m[1] * x * y + m[4] * y * y + 2 * m[2] * x * z + 2 * m[5] * y * z +
         m[8] * z * z;
}
ON_BOTH inline double distance(const double* m, double x, double y, double z, double t) {
  return m[0] * x * x + 2 * m[1] * x * y + m[5] * y * y + 2 * m[2] * x * z + 2 * m[6] * y * z +
         m[10] * z * z + 2 * m[3] * x * t + 2 * m[7] * y * t + 2 * m[11] * z * t + m[15] * t * t;
}

// computeDensity, eq. 3, without a branch.
ON_BOTH inline double density(double q, double constant) {
  const double inside = 1 - q;
  return constant * (inside > 0 ? inside : 0);
}

// The points of an axis within `reach` of `middle`, both in its units and from its origin: the
// first, and the one after the last (adjustBoundingBox, algorithm 2).
struct Interval {
  int from, to;
};
ON_BOTH inline Interval points_within(double middle, double reach, double per_unit, int points) {
  const double low = std::ceil((middle - reach) * per_unit);
  const double high = std::floor((middle + reach) * per_unit) + 1;
  const double last = points;
  return {static_cast<int>(low < 0      ? 0
                           : low > last ? last
                                        : low),
          static_cast<int>(high > last ? last
                           : high < 0  ? 0
                                       : high)};
}

// Section 3.3 and appendix: the rectangle around the ellipse that a slice cuts from the ellipsoid.
template <int d>
class Crop {
 public:
  explicit Crop(const double* m) {
    for (int k = 0; k < d * d; ++k) m_[k] = m[k];
    const double a = m[0], b = 2 * m[1], c = m[d + 1];
    const double theta = std::atan2(b, a - c) / 2;  // eq. 13
    cos_ = std::cos(theta);
    sin_ = std::sin(theta);
    a_u_ = a * cos_ * cos_ + b * cos_ * sin_ + c * sin_ * sin_;  // eq. 14
    c_u_ = a * sin_ * sin_ - b * cos_ * sin_ + c * cos_ * cos_;
    a_square_ = 1 / (4 * a_u_ * a_u_ * c_u_);
    b_square_ = 1 / (4 * a_u_ * c_u_ * c_u_);
    half_a_ = 1 / (2 * a_u_);
    half_c_ = 1 / (2 * c_u_);
  }
  // e: differences of the slice and the sample on the axes 2 to d - 1. Sets the centre of the
  // ellipse, relative to the sample, and its half-widths; returns false if the slice misses the
  // ellipsoid.
  ON_BOTH bool rectangle(const double* e, double* centre, double* reach) const {
    double d_linear = 0, e_linear = 0, constant = -1;  // D', E' and F' of eq. 12
    for (int k = 2; k < d; ++k) {
      d_linear += 2 * m_[k] * e[k];
      e_linear += 2 * m_[d + k] * e[k];
      for (int l = 2; l < d; ++l) constant += m_[k * d + l] * e[k] * e[l];
    }
    const double d_u = d_linear * cos_ + e_linear * sin_;  // eq. 14
    const double e_u = -d_linear * sin_ + e_linear * cos_;
    const double numerator =
        -4 * constant * a_u_ * c_u_ + c_u_ * d_u * d_u + a_u_ * e_u * e_u;  // eq. 15
    if (!(numerator > 0)) return false;
    const double a2 = numerator * a_square_, b2 = numerator * b_square_;
    const double c_x = -d_u * half_a_, c_y = -e_u * half_c_;  // eq. 16
    centre[0] = c_x * cos_ - c_y * sin_;                      // eq. 18
    centre[1] = c_x * sin_ + c_y * cos_;
    reach[0] = std::sqrt(a2 * cos_ * cos_ + b2 * sin_ * sin_);  // eq. 19
    reach[1] = std::sqrt(a2 * sin_ * sin_ + b2 * cos_ * cos_);
    return true;
  }

 private:
  double m_[d * d];
  double cos_, sin_, a_u_, c_u_, a_square_, b_square_, half_a_, half_c_;
};

}  // namespace lopez_novoa

#endif
