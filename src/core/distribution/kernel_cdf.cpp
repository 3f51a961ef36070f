#include "core/distribution/kernel_cdf.hpp"

#include <algorithm>
#include <cmath>

#include "core/fgt/cell_moments.hpp"

namespace kestrel {

namespace {

/// By the errors of Taylor's series: rho = 1/4 and a polynomial of z, |z| <= 1/2, of 20 terms, and
/// rho = 1/64 with 8.
constexpr std::size_t kGaussianMoments = 20, kCosineMoments = 8;

/// The coefficients of (1 - s^inner)^outer in powers of u, s = start + direction u, constant first.
std::vector<double> profile_about(const KernelRow& row, double start, double direction) {
  const auto product = [](const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> c(a.size() + b.size() - 1, 0.0);
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t j = 0; j < b.size(); ++j) c[i + j] += a[i] * b[j];
    }
    return c;
  };
  std::vector<double> left{1.0}, profile{1.0};
  for (int k = 0; k < row.inner; ++k) left = product(left, {start, direction});
  for (double& coefficient : left) coefficient = -coefficient;
  left[0] += 1;
  for (int k = 0; k < row.outer; ++k) profile = product(profile, left);
  return profile;
}

/// The integral of p from zero, over `mass`.
std::vector<double> integral(const std::vector<double>& p, double mass) {
  std::vector<double> result{0.0};
  for (std::size_t k = 0; k < p.size(); ++k) {
    result.push_back(p[k] / (static_cast<double>(k + 1) * mass));
  }
  return result;
}

double polynomial(const std::vector<double>& p, double s) {
  double sum = 0.0;
  for (std::size_t k = p.size(); k-- > 0;) sum = sum * s + p[k];
  return sum;
}

double normal_cdf(double u) { return 0.5 * std::erfc(-u * std::sqrt(0.5)); }

}  // namespace

KernelCdf::KernelCdf(Kernel kernel) : form_(row_of(kernel).form) {
  moments_ = form_ == KernelForm::gaussian ? kGaussianMoments : kCosineMoments;
  if (form_ != KernelForm::power) return;
  const double mass = 2 * radial_integral(kernel, 1.0, 0);
  from_edge_ = integral(profile_about(row_of(kernel), 1, -1), mass);
  from_centre_ = integral(profile_about(row_of(kernel), 0, 1), mass);
  moments_ = from_edge_.size();
}

KernelCdf::Piece KernelCdf::piece_at(double u) const {
  if (u <= -0.5) return {0.0, 1.0, 1.0, 1.0, &from_edge_};
  if (u <= 0) return {0.5, -1.0, 0.0, -1.0, &from_centre_};
  if (u < 0.5) return {0.5, 1.0, 0.0, 1.0, &from_centre_};
  return {1.0, -1.0, 1.0, -1.0, &from_edge_};
}

double KernelCdf::value(double u) const {
  if (form_ == KernelForm::gaussian) return normal_cdf(u);
  if (u <= -1) return 0.0;
  if (u >= 1) return 1.0;
  if (form_ == KernelForm::power) {
    const Piece piece = piece_at(u);
    return piece.base + piece.sign * polynomial(*piece.p, piece.start + piece.direction * u);
  }
  // (1 + sin(pi u / 2)) / 2 as a square.
  const double root = std::sin(kPi / 4 * (1 - std::fabs(u)));
  return u < 0 ? root * root : 1 - root * root;
}

double KernelCdf::slope(double u) const {
  if (form_ == KernelForm::gaussian) return std::exp(-0.5 * u * u) / std::sqrt(2 * kPi);
  if (!(std::fabs(u) < 1)) return 0.0;
  if (form_ == KernelForm::cosine) return kPi / 4 * std::cos(kPi / 2 * u);
  const Piece piece = piece_at(u);
  const double s = piece.start + piece.direction * u;
  double sum = 0.0;
  for (std::size_t k = piece.p->size(); k-- > 1;) {
    sum = sum * s + static_cast<double>(k) * (*piece.p)[k];
  }
  return piece.sign * piece.direction * sum;
}

bool KernelCdf::is_smooth(double centre, double rho) const {
  if (form_ == KernelForm::gaussian) return true;
  const auto holds = [=](double u) { return std::fabs(centre - u) <= 0.5 * rho; };
  return !holds(-1) && !holds(0) && !holds(1);
}

void KernelCdf::derivatives(double centre, double rho, double* out) const {
  out[0] = value(centre);
  if (is_compact() && std::fabs(centre) > 1) {
    std::fill(out + 1, out + moments_ + 1, 0.0);
    return;
  }
  if (form_ == KernelForm::gaussian) {
    scaled_derivatives(centre, rho, static_cast<int>(moments_), out + 1);
    double factor = -rho / std::sqrt(2 * kPi);
    for (std::size_t a = 1; a <= moments_; ++a, factor = -factor) out[a] *= factor;
    return;
  }
  if (form_ == KernelForm::cosine) {
    // Every fourth derivative of the sine is the sine again.
    const double sine = std::sin(kPi / 2 * centre), cosine = std::cos(kPi / 2 * centre);
    const double cycle[] = {sine, cosine, -sine, -cosine};
    double factor = 0.5;
    for (std::size_t a = 1; a <= moments_; ++a) {
      factor *= -kPi / 2 * rho;
      out[a] = factor * cycle[a % 4];
    }
    return;
  }
  // Horner's rule for all derivatives at once: out[a] becomes that of order a, over a!.
  const Piece piece = piece_at(centre);
  const std::vector<double>& p = *piece.p;
  const double s = piece.start + piece.direction * centre;
  std::fill(out + 1, out + moments_ + 1, 0.0);
  double top = 0.0;
  for (std::size_t k = p.size(); k-- > 0;) {
    for (std::size_t a = p.size() - 1 - k; a > 1; --a) out[a] = out[a] * s + out[a - 1];
    out[1] = out[1] * s + top;
    top = top * s + p[k];
  }
  double factor = piece.sign;
  for (std::size_t a = 1; a <= moments_; ++a) {
    factor *= -piece.direction * rho * static_cast<double>(a);
    out[a] *= factor;
  }
}

}  // namespace kestrel
