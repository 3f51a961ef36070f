// Quadratic forms, monomials and derivatives of the normal density on up to three axes: the algebra
// of the `fourier` engine.
#ifndef KESTREL_CORE_FOURIER_FORMS_HPP
#define KESTREL_CORE_FOURIER_FORMS_HPP

#include <array>
#include <cstddef>
#include <vector>

#include "core/fourier/geometry.hpp"

namespace kestrel {

/// A quadratic form on three axes, row-major; zero on the axes that a geometry does not use.
using Form3 = std::array<double, 9>;

/// Exponents of a monomial on three axes.
using Exponents = std::array<int, 3>;

/// The monomials of d variables of exactly this degree, in descending lexicographic order (that of
/// even_multi_indices), on the axes of a geometry.
std::vector<Exponents> monomials_of_degree(std::size_t d, int degree);

/// The same for several degrees, one after the other.
std::vector<Exponents> monomials_of_degrees(std::size_t d, const std::vector<int>& degrees);

constexpr int kHighestDegree = 10;

/// The inverse of a form on the last d axes.
Form3 inverse_form(const Form3& h, std::size_t d);
/// K_h(0) = (2 pi)^(-d/2) |h|^(-1/2).
double peak_of_form(const Form3& h, std::size_t d);

/// A lower bound on the largest value of an estimate with bandwidth matrix h from samples in a box
/// with sides of this length, relative to the peak of one kernel with the weight of all: its mean
/// over the box widened by 2.1 standard deviations, which holds 0.89 of the weight (d = 3).
double least_share(const Form3& h, std::size_t d, const Point3& length);

/// The least standard deviation along an axis, given the others, of N(0, h): the condition of modes
/// that are cut off axis by axis.
double least_deviation(const Form3& h, std::size_t d);

/// The minimum and maximum eigenvalue.
std::array<double, 2> eigenvalue_range(const Form3& h, std::size_t d);

int degree_of(const Exponents& e);
int highest_degree(const std::vector<Exponents>& monomials);

/// Derivatives D^alpha K_h(u) of the N(0, h) density, of all degrees up to `degree`.
class GaussianDerivatives {
 public:
  GaussianDerivatives(const Form3& h, std::size_t d, int degree);

  /// O((degree + d choose d)). Returns false, and evaluates nothing, if u'h^-1 u > max.
  bool evaluate(const Point3& u, double max);
  double at(const Exponents& e) const { return value_[index_of(e)]; }

 private:
  static constexpr int kSide = kHighestDegree + 1;
  static std::size_t index_of(const Exponents& e) {
    return static_cast<std::size_t>((e[0] * kSide + e[1]) * kSide + e[2]);
  }

  Form3 inverse_;
  double peak_;
  std::size_t d_;
  int degree_;
  std::vector<double> value_;
};

}  // namespace kestrel

#endif
