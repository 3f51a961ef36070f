// The kernels of continuous columns as polynomials and windows of simd::MixedProduct.
#include <cmath>

#include "core/mixed/mixed_kernel.hpp"
#include "shared/mixed_reach.hpp"

namespace kestrel {

namespace {

/// The polynomial that Epanechnikov's window 1 - v / 5 is multiplied by, divided by its value at 0
/// (Gasser, Mueller & Mammitzsch 1985, on sqrt(5)).
SquarePolynomial epanechnikov_factor(int order) {
  if (order == 4) return {{1.0, -7.0 / 15}};
  if (order == 6) return {{1.0, -6.0 / 5, 33.0 / 125}};
  if (order == 8) return {{1.0, -11.0 / 5, 143.0 / 125, -143.0 / 875}};
  return {};
}

/// Q of the convolution of the Gaussian kernel with itself, at u / sqrt(2), divided by its value at
/// 0.
SquarePolynomial convolved_gaussian(int order) {
  if (order == 4) return {{1.0, -14.0 / 27, 1.0 / 27}};
  if (order == 6) return {{1.0, -484.0 / 453, 578.0 / 2265, -44.0 / 2265, 1.0 / 2265}};
  if (order == 8) {
    return {{1.0, -2030.0 / 1241, 4169.0 / 6205, -2764.0 / 26061, 967.0 / 130305, -2.0 / 8687,
             1.0 / 390915}};
  }
  return {};
}

/// (1 - v)^2 and (1 - v)^3.
SquarePolynomial power_of_bump(Kernel kernel) {
  if (kernel == Kernel::biweight) return {{1.0, -2.0, 1.0}};
  return {{1.0, -3.0, 3.0, -1.0}};
}

/// (-1)^k (pi / 2)^(2 k) / (2 k)! for `count` numbers k from `first` on: coefficients of t^(2 k) in
/// cos(pi t / 2). With 12 of them what is left out in [-1, 1] is below 1e-18.
std::vector<long double> cosine_series(int first, int count) {
  const long double quarter = std::acos(-1.0L) / 2;
  std::vector<long double> terms;
  long double term = 1;
  for (int k = 0; k < first + count; ++k) {
    if (k > 0) term *= -quarter * quarter / (2 * k * (2 * k - 1));
    if (k >= first) terms.push_back(term);
  }
  return terms;
}

/// From the coefficients of powers of t^2 to those of s = 2 t - 1, without the last ones, which do
/// not count.
std::vector<double> about_middle(const std::vector<long double>& of_squares) {
  std::vector<long double> sum;
  const auto times_t = [&] {
    sum.push_back(0);
    for (std::size_t k = sum.size(); k-- > 0;) sum[k] = (sum[k] + (k > 0 ? sum[k - 1] : 0)) / 2;
  };
  for (std::size_t k = of_squares.size(); k-- > 0;) {
    if (!sum.empty()) {
      times_t();
      times_t();
    } else {
      sum.push_back(0);
    }
    sum[0] += of_squares[k];
  }
  while (std::fabs(sum.back()) < 1e-19L) sum.pop_back();
  return {sum.begin(), sum.end()};
}

/// t^3 Q(2 t - 1), t = 1 - |u|, is the tricube kernel.
std::vector<double> tricube() {
  return {343.0 / 64, -147.0 / 16, 483.0 / 64, -29.0 / 8, 69.0 / 64, -3.0 / 16, 1.0 / 64};
}

/// For t = 1 - |u| / (2 sqrt(5)) the convolution is t^3 Q(2 t - 1), divided by its value at 0.
/// About t = 1/2 the terms are small.
std::vector<double> convolved_epanechnikov(int order) {
  if (order == 4)
    return {-47.0 / 64, 57.0 / 16, 189.0 / 64, -37.0 / 4, 363.0 / 64, -21.0 / 16, 7.0 / 64};
  if (order == 6) {
    return {-239.0 / 1536,   -3473.0 / 960, 7783.0 / 1536,   3773.0 / 192,
            -35273.0 / 1280, -2687.0 / 320, 121343.0 / 3840, -6807.0 / 320,
            17019.0 / 2560,  -33.0 / 32,    33.0 / 512};
  }
  if (order == 8) {
    return {6053.0 / 16384,      115901.0 / 143360,   -1697357.0 / 114688,  -18511.0 / 7168,
            50446563.0 / 573440, -7106103.0 / 143360, -81584621.0 / 573440, 1545377.0 / 8960,
            -73861.0 / 81920,    -455499.0 / 4096,    10113609.0 / 114688,  -244101.0 / 7168,
            849277.0 / 114688,   -3575.0 / 4096,      715.0 / 16384};
  }
  return {11.0 / 4, -2.0, 1.0 / 4};
}

/// The same for the other kernels, with t = 1 - |u| / 2; of the triangular and the tricube kernel
/// for t <= 1/2. That of the cosine is (sin(pi t) / pi - t cos(pi t)).
std::vector<double> convolved_power(Kernel kernel) {
  if (kernel == Kernel::triangular) return {2.0};
  if (kernel == Kernel::cosine) {
    // t^3 sum_k (-1)^(k + 1) pi^(2 k) 2 k / (2 k + 1)! t^(2 k - 2).
    std::vector<long double> terms = cosine_series(1, 16);
    long double four = 1;
    for (std::size_t k = 1; k <= terms.size(); ++k) {
      four *= 4;
      terms[k - 1] *= -four * 2 * k / (2 * k + 1);
    }
    return about_middle(terms);
  }
  if (kernel == Kernel::tricube) {
    return {10489804.0 / 6134535, 1242916.0 / 1226907, -708392.0 / 227205, 4866176.0 / 6134535,
            3728804.0 / 1226907,  -153244.0 / 61965,   -18488.0 / 72171,   9917048.0 / 6134535,
            -208628.0 / 227205,   174076.0 / 6134535,  97408.0 / 360855,   -39496.0 / 227205,
            75028.0 / 1226907,    -17212.0 / 1226907,  1456.0 / 681615,    -112.0 / 557685,
            56.0 / 6134535};
  }
  if (kernel == Kernel::biweight) {
    return {103.0 / 64, 15.0 / 16, -117.0 / 64, -1.0 / 4, 45.0 / 64, -3.0 / 16, 1.0 / 64};
  }
  return {4711.0 / 5120, 1121.0 / 640, -579.0 / 1024, -1329.0 / 640, 863.0 / 2560, 129.0 / 128,
          -723.0 / 2560, -107.0 / 640, 459.0 / 5120,  -1.0 / 64,     1.0 / 1024};
}

/// Of the triangular and the tricube kernel for t > 1/2, a polynomial of 2 t - 1.
std::vector<double> convolved_near(Kernel kernel) {
  if (kernel == Kernel::triangular) return {0.25, 0.75, 0.75, -0.75};
  if (kernel != Kernel::tricube) return {};
  return {2622451.0 / 12269070, 4710499.0 / 6134535, 430369.0 / 681615, -57304.0 / 120285,
          -43928.0 / 120285,    29602.0 / 40095,     33611.0 / 120285,  -346541.0 / 120285,
          150176.0 / 40095,     -81263.0 / 32805,    36803.0 / 32805,   -988.0 / 2673,
          4199.0 / 40095,       -437.0 / 8019,       1216.0 / 40095,    -1444.0 / 120285,
          779.0 / 240570,       -133.0 / 227205,     133.0 / 2044845,   -7.0 / 2044845};
}

/// With t = 1 - |u| / sqrt(5) the integral beyond |u| is t^2 Q(2 t - 1).
std::vector<double> epanechnikov_below(int order) {
  if (order == 4) return {-29.0 / 256, 283.0 / 256, -147.0 / 256, 21.0 / 256};
  if (order == 6) {
    return {-2413.0 / 8192, 2621.0 / 8192, 6723.0 / 4096,
            -6759.0 / 4096, 4455.0 / 8192, -495.0 / 8192};
  }
  if (order == 8) {
    return {-64657.0 / 524288,   -466981.0 / 524288, 1080519.0 / 524288, 745723.0 / 524288,
            -1899755.0 / 524288, 1117545.0 / 524288, -275275.0 / 524288, 25025.0 / 524288};
  }
  return {5.0 / 8, -1.0 / 8};
}

/// The same for the other kernels, with t = 1 - |u|. That of the cosine is (1 - cos(pi t / 2)) / 2.
std::vector<double> power_below(Kernel kernel) {
  if (kernel == Kernel::triangular) return {0.5};
  if (kernel == Kernel::cosine) {
    std::vector<long double> terms = cosine_series(1, 12);
    for (long double& term : terms) term *= -0.5L;
    return about_middle(terms);
  }
  if (kernel == Kernel::tricube) {
    return {8759.0 / 20736, 541.0 / 1728, -1577.0 / 5184, 61.0 / 5184, 125.0 / 1152,
            -367.0 / 5184,  119.0 / 5184, -7.0 / 1728,    7.0 / 20736};
  }
  if (kernel == Kernel::biweight) return {53.0 / 128, 29.0 / 128, -21.0 / 128, 3.0 / 128};
  return {289.0 / 1024, 367.0 / 1024, -39.0 / 512, -53.0 / 512, 45.0 / 1024, -5.0 / 1024};
}

/// The derivative of t^power Q(2 t - 1) is t^(power - 1) P(2 t - 1) with P(s) = power Q(s) + (1 +
/// s) Q'(s).
std::vector<double> derivative_about_edge(const std::vector<double>& q, int power) {
  std::vector<double> p(q.size());
  for (std::size_t k = 0; k < q.size(); ++k) {
    p[k] += (power + static_cast<double>(k)) * q[k];
    if (k > 0) p[k - 1] += static_cast<double>(k) * q[k];
  }
  return p;
}

/// P(v) = -2 Q'(v).
SquarePolynomial minus_twice_derivative(const SquarePolynomial& q) {
  SquarePolynomial p{{0.0}};
  for (int k = 0; k + 1 < SquarePolynomial::kTerms; ++k) p.term[k] = -2 * (k + 1) * q.term[k + 1];
  return p;
}

/// 2 Q', of powers of 2 t - 1: the derivative by t.
std::vector<double> twice_derivative(const std::vector<double>& q) {
  std::vector<double> p(q.size());
  for (std::size_t k = 1; k < q.size(); ++k) p[k - 1] = 2 * static_cast<double>(k) * q[k];
  return p;
}

std::vector<double> terms_of(const SquarePolynomial& of) {
  return {of.term, of.term + SquarePolynomial::kTerms};
}

/// By the order: 1 / integral of the kernel that is 1 at 0, and the integral of the square.
struct Constants {
  double plain, convolved;
};
Constants constants_of(Kernel kernel, int order) {
  const int k = order / 2 - 1;
  if (kernel == Kernel::gaussian) {
    static const double plain[] = {1.0, 1.5, 1.875, 2.1875};
    static const double convolved[] = {1.0, 27.0 / 16, 2265.0 / 1024, 43435.0 / 16384};
    const double root = std::sqrt(std::acos(-1.0));
    return {plain[k] / (std::sqrt(2.0) * root), convolved[k] / (2 * root)};
  }
  if (kernel == Kernel::uniform) return {0.5, 0.5};
  if (kernel == Kernel::biweight) return {15.0 / 16, 5.0 / 7};
  if (kernel == Kernel::triweight) return {35.0 / 32, 350.0 / 429};
  if (kernel == Kernel::triangular) return {1.0, 2.0 / 3};
  if (kernel == Kernel::tricube) return {70.0 / 81, 175.0 / 247};
  if (kernel == Kernel::cosine) {
    const double pi = std::acos(-1.0);
    return {pi / 4, pi * pi / 16};
  }
  static const double plain[] = {1.0, 15.0 / 8, 175.0 / 64, 3675.0 / 1024};
  static const double convolved[] = {3.0 / 25, 1.0 / 4, 315.0 / 832, 2205.0 / 4352};
  return {plain[k] * 0.15 * kSqrt5, convolved[k] * kSqrt5};
}

}  // namespace

ContinuousKernel::ContinuousKernel(const MixedKernel& kernel, MixedForm form)
    : window(simd::MixedWindow::uniform), terms(SquarePolynomial::kTerms) {
  const bool convolved = form == MixedForm::convolution;
  const Constants constants = constants_of(kernel.continuous, kernel.order);
  constant = convolved ? constants.convolved : constants.plain;
  odd = form == MixedForm::derivative;
  if (odd) powers = 2;
  if (form == MixedForm::distribution) {
    take_below(kernel);
  } else if (kernel.continuous == Kernel::gaussian) {
    window = simd::MixedWindow::gaussian;
    scale = convolved ? std::sqrt(0.5) : 1.0;
    if (kernel.order == 2) return;
    const SquarePolynomial factor =
        convolved ? convolved_gaussian(kernel.order) : gaussian_factor(kernel.order);
    SquarePolynomial slope = minus_twice_derivative(factor);
    for (int k = 0; k < terms; ++k) slope.term[k] += factor.term[k];
    q = terms_of(factor);
    p = terms_of(slope);
  } else if (convolved) {
    take_convolution(kernel);
  } else if (kernel.continuous == Kernel::epanechnikov) {
    window = simd::MixedWindow::epanechnikov;
    const SquarePolynomial whole =
        SquarePolynomial{{1.0, -0.2}} * epanechnikov_factor(kernel.order);
    q = terms_of(whole);
    p = terms_of(minus_twice_derivative(whole));
  } else {
    take_support(kernel.continuous);
  }
}

void ContinuousKernel::take_support(Kernel kernel) {
  if (kernel == Kernel::triangular) {
    window = simd::MixedWindow::triangle;
  } else if (kernel == Kernel::tricube) {
    window = simd::MixedWindow::cubic;
    q = tricube();
    p = derivative_about_edge(q, 3);
    terms = static_cast<int>(q.size());
  } else if (kernel == Kernel::cosine) {
    const std::vector<long double> series = cosine_series(0, 12);
    q.assign(series.begin(), series.end());
    p = twice_derivative(q);
    for (double& term : p) term = -term;
    terms = static_cast<int>(q.size());
  } else {
    const SquarePolynomial whole =
        kernel == Kernel::uniform ? SquarePolynomial{} : power_of_bump(kernel);
    q = terms_of(whole);
    p = terms_of(minus_twice_derivative(whole));
  }
}

void ContinuousKernel::take_convolution(const MixedKernel& kernel) {
  const bool uniform = kernel.continuous == Kernel::uniform;
  const bool epanechnikov = kernel.continuous == Kernel::epanechnikov;
  window = uniform ? simd::MixedWindow::triangle : simd::MixedWindow::cubic;
  scale = epanechnikov ? 0.5 / kSqrt5 : 0.5;
  q = uniform        ? std::vector<double>{1.0}
      : epanechnikov ? convolved_epanechnikov(kernel.order)
                     : convolved_power(kernel.continuous);
  p = uniform ? std::vector<double>{0.0} : derivative_about_edge(q, 3);
  terms = static_cast<int>(q.size());
  const std::vector<double> near = convolved_near(kernel.continuous);
  const std::vector<double> slope = twice_derivative(near);
  q.insert(q.end(), near.begin(), near.end());
  p.insert(p.end(), slope.begin(), slope.end());
  inner = static_cast<int>(near.size());
}

void ContinuousKernel::take_below(const MixedKernel& kernel) {
  constant = 1.0;
  powers = 0;
  if (kernel.continuous == Kernel::gaussian) {
    window = simd::MixedWindow::normal_below;
    const double height = constants_of(Kernel::gaussian, 2).plain;
    p = terms_of(gaussian_factor(kernel.order));
    for (double& term : p) term *= constants_of(Kernel::gaussian, kernel.order).plain;
    terms = kernel.order / 2;
    if (kernel.order == 2) return;
    // The integral is Phi(t) + t Q(t^2) exp(-t^2 / 2), Q (1 - v) + 2 v Q' = P - height.
    double before = 0;
    for (std::size_t k = 0; k < p.size(); ++k) {
      before = (p[k] - (k == 0 ? height : 0.0) + before) / (2 * static_cast<double>(k) + 1);
      q.push_back(before);
    }
    return;
  }
  const bool uniform = kernel.continuous == Kernel::uniform;
  const bool epanechnikov = kernel.continuous == Kernel::epanechnikov;
  window = uniform ? simd::MixedWindow::line_below : simd::MixedWindow::square_below;
  scale = epanechnikov ? 1.0 / kSqrt5 : 1.0;
  q = uniform        ? std::vector<double>{0.5}
      : epanechnikov ? epanechnikov_below(kernel.order)
                     : power_below(kernel.continuous);
  p = derivative_about_edge(q, uniform ? 1 : 2);
  terms = static_cast<int>(q.size());
}

}  // namespace kestrel
