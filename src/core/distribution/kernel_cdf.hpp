// The distribution functions of the kernels on the line.
#ifndef KESTREL_CORE_DISTRIBUTION_KERNEL_CDF_HPP
#define KESTREL_CORE_DISTRIBUTION_KERNEL_CDF_HPP

#include <cstddef>
#include <vector>

#include "core/kernel/kernel.hpp"

namespace kestrel {

/// C(u), the integral of K from -infinity to u, and its Taylor series about the centre of a cell.
class KernelCdf {
 public:
  explicit KernelCdf(Kernel kernel);

  /// With a small relative error where it is small.
  double value(double u) const;
  /// C'(u) = K(u).
  double slope(double u) const;

  /// Samples u = centre - rho z, |z| <= 1/2, of a cell in which C is smooth: out[a] is the
  /// derivative of order a of C(centre - rho z) by z at z = 0, a <= moments(). The series of
  /// moments() terms has an error below 1e-17, and for centre > -12 below 2e-15 of C(centre).
  void derivatives(double centre, double rho, double* out) const;

  bool is_compact() const { return form_ != KernelForm::gaussian; }
  /// Cells must be at most 2^-halvings() of the bandwidth wide.
  int halvings() const { return form_ == KernelForm::gaussian ? 2 : 6; }
  std::size_t moments() const { return moments_; }
  /// Beyond this, 1 - C(u) is below 1e-17.
  double reach() const { return form_ == KernelForm::gaussian ? 8.5 : 1.0; }
  /// Before this, C(u) is zero in doubles.
  double farthest() const { return form_ == KernelForm::gaussian ? 39.0 : 1.0; }
  /// Whether the series holds for a cell with this centre: C has no kink and no edge in it.
  bool is_smooth(double centre, double rho) const;
  /// Samples of a cell up to which their values cost less than the series.
  std::size_t few() const { return form_ == KernelForm::gaussian ? 2 : 12; }

 private:
  /// C(u) = base + sign p(s), where s = start + direction u.
  struct Piece {
    double base, sign, start, direction;
    const std::vector<double>* p;
  };
  Piece piece_at(double u) const;

  KernelForm form_;
  std::size_t moments_;
  // The integral of K from the edge of the support, by the distance to it, and from 0. Each is used
  // up to a distance of 1/2, where its terms do not cancel.
  std::vector<double> from_edge_, from_centre_;
};

}  // namespace kestrel

#endif
