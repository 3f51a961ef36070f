// Kernels as the sweep engine takes them: polynomials on a window.
#ifndef KESTREL_CORE_SWEEP_KERNEL_HPP
#define KESTREL_CORE_SWEEP_KERNEL_HPP

#include <vector>

#include "core/kernel/kernel.hpp"

namespace kestrel {

using Polynomial = std::vector<double>;  // coefficients, constant first

/// The anchors that powers of distances are about. They decide where the relative error of a sum is
/// small.
enum class Anchors {
  edges,    ///< everywhere: t = 1 - u about samples such that all powers are of positive numbers
  nearest,  ///< close to the point: u about the nearest sample of each cell
  ends      ///< where the sum is not far below the weight in the window: the cheapest, t or u about
            ///< the end of a cell
};

/// A sum over the samples x_j inside the window of a point e: fl(|e - x_j|) < h, or <= h when
/// `closed`. Each polynomial gives one sum; it is given in the edge coordinate t = 1 - u,
/// u = |e - x_j| / h, and in u.
struct SweepKernel {
  double h = 1.0;
  bool closed = false;
  Anchors anchors = Anchors::edges;
  std::vector<Polynomial> in_edge, in_distance;  // all of one size, degree + 1; one of them may be
                                                 // empty where the anchors do not need it
  std::vector<double> left_sign;  // factor of the samples left of the point, one a polynomial

  std::size_t sums() const { return left_sign.size(); }
  int degree() const {
    return static_cast<int>((in_edge.empty() ? in_distance : in_edge)[0].size()) - 1;
  }
};

/// sum K(u)^power, power 1 or 2, with K(0) = 1: a Nadaraya-Watson denominator or numerator.
/// Throws error(input) when the kernel is not polynomial.
SweepKernel window_sum(Kernel kernel, double h, int power = 1, Anchors anchors = Anchors::edges);

/// The three sums of K(u)^power ((x_j - e) / h)^q, q = 0, 1, 2, with K(0) = 1: local linear fits.
SweepKernel window_moments(Kernel kernel, double h, int power = 1);

/// The normalised kernel at h, K(u) / h.
SweepKernel window_density(Kernel kernel, double h);

/// (K*K)(u) / h, K normalised (Wand & Jones 1995, 3.3), as a sum over one window. Kernels that are
/// not a polynomial in u^2, such as the triangular one, need two, since their convolution has a
/// knot at u = 1. The polynomials are in the edge coordinate unless their condition is too high:
/// then they are in the distance, about the nearest samples, with errors relative to the weight in
/// the window.
std::vector<SweepKernel> window_convolution(Kernel kernel, double h);

}  // namespace kestrel

#endif
