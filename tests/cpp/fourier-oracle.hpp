// Gaussian sums over all pairs with full bandwidth matrices, pair by pair in long double. Shares no
// code with the engine.
#ifndef KESTREL_TOOLS_FOURIER_ORACLE_HPP
#define KESTREL_TOOLS_FOURIER_ORACLE_HPP

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "fourier-samples.hpp"

namespace fourier_oracle {

using Index = std::vector<int>;  // exponents

/// The inverse and the determinant, by Gauss-Jordan elimination.
inline Matrix inverse(Matrix a, std::size_t d, real* determinant) {
  Matrix b(d * d, 0);
  for (std::size_t k = 0; k < d; ++k) b[k * d + k] = 1;
  *determinant = 1;
  for (std::size_t p = 0; p < d; ++p) {
    const real pivot = a[p * d + p];
    *determinant *= pivot;
    for (std::size_t j = 0; j < d; ++j) {
      a[j * d + p] /= pivot;
      b[j * d + p] /= pivot;
    }
    for (std::size_t i = 0; i < d; ++i) {
      const real factor = a[p * d + i];
      for (std::size_t j = 0; j < d && i != p; ++j) {
        a[j * d + i] -= factor * a[j * d + p];
        b[j * d + i] -= factor * b[j * d + p];
      }
    }
  }
  return b;
}

/// All multi-indices of R^d of some degree, in descending lexicographic order.
inline std::vector<Index> indices_of_degree(std::size_t d, int degree) {
  if (d == 1) return {{degree}};
  std::vector<Index> all;
  for (int first = degree; first >= 0; --first) {
    for (Index rest : indices_of_degree(d - 1, degree - first)) {
      rest.insert(rest.begin(), first);
      all.push_back(rest);
    }
  }
  return all;
}

/// W^-2 sum_{i,j} w_i w_j D^alpha K_H(x_i - x_j), for all multi-indices up to a degree, by
/// D_k (P e) = (D_k P - (H^-1 u)_k P) e: with v = H^-1 u,
/// P_(alpha + e_k) = -(v_k P_alpha + sum_l alpha_l (H^-1)_kl P_(alpha - e_l)).
class MeanDerivatives {
 public:
  MeanDerivatives(const Drawn& sample, const Matrix& H, int highest) : d_(sample.d) {
    real determinant, weight = 0;
    inverse_ = inverse(H, d_, &determinant);
    const real peak = 1 / std::sqrt(std::pow(2 * oracle::pi, static_cast<real>(d_)) * determinant);
    list_steps(highest);
    std::vector<real> total(step_.size(), 0);
    for (std::size_t i = 0; i < sample.n; ++i) weight += sample.w[i];
    for (std::size_t i = 0; i < sample.n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        const real product = (i == j ? 1 : 2) * (sample.w[i] / weight) * (sample.w[j] / weight);
        if (product == 0) continue;
        const real density = product * peak * std::exp(-look(sample, i, j) / 2);
        if (density == 0) continue;
        for (std::size_t m = 0; m < step_.size(); ++m) total[m] += density * polynomial(m);
      }
    }
    std::size_t m = 0;
    for (int degree = 0; degree <= highest; ++degree) {
      of_degree.push_back({});
      for (std::size_t c = indices_of_degree(d_, degree).size(); c > 0; --c) {
        of_degree.back().push_back(total[m++]);
      }
    }
  }

  /// By degree, in the order of indices_of_degree().
  std::vector<std::vector<real>> of_degree;

 private:
  struct Step {
    std::size_t axis, lower;
    std::vector<std::pair<std::size_t, real>> lowest;  // position, alpha_l (H^-1)_kl
  };

  void list_steps(int highest) {
    std::map<Index, std::size_t> place;
    for (int degree = 0; degree <= highest; ++degree) {
      for (const Index& index : indices_of_degree(d_, degree)) {
        Step step{};
        if (degree > 0) {
          while (index[step.axis] == 0) ++step.axis;
          Index lower = index;
          --lower[step.axis];
          step.lower = place.at(lower);
          for (std::size_t l = 0; l < d_; ++l) {
            if (lower[l] == 0) continue;
            Index lowest = lower;
            --lowest[l];
            step.lowest.push_back({place.at(lowest), lower[l] * inverse_[l * d_ + step.axis]});
          }
        }
        place[index] = step_.size();
        step_.push_back(step);
      }
    }
    polynomial_.resize(step_.size());
  }

  /// Sets v for a pair and returns u'H^-1 u.
  real look(const Drawn& sample, std::size_t i, std::size_t j) {
    v_.assign(d_, 0);
    real exponent = 0;
    for (std::size_t k = 0; k < d_; ++k) {
      for (std::size_t l = 0; l < d_; ++l) {
        const double* column = sample.x.data() + l * sample.n;
        v_[k] += inverse_[l * d_ + k] * (static_cast<real>(column[i]) - column[j]);
      }
      const double* column = sample.x.data() + k * sample.n;
      exponent += v_[k] * (static_cast<real>(column[i]) - column[j]);
    }
    return exponent;
  }

  /// To be called for m = 0, 1, ...
  real polynomial(std::size_t m) {
    real sum = -1;
    if (m > 0) {
      sum = v_[step_[m].axis] * polynomial_[step_[m].lower];
      for (const auto& term : step_[m].lowest) sum += term.second * polynomial_[term.first];
    }
    return polynomial_[m] = -sum;
  }

  std::size_t d_;
  Matrix inverse_;
  std::vector<Step> step_;
  std::vector<real> v_, polynomial_;
};

inline Matrix in_long_double(const std::vector<double>& H, real factor = 1) {
  Matrix out(H.begin(), H.end());
  for (real& v : out) v *= factor;
  return out;
}

inline real mean_kernel(const Drawn& sample, const Matrix& H) {
  return MeanDerivatives(sample, H, 0).of_degree[0][0];
}

/// sum w^2 / (sum w)^2 = 1 / n_eff.
inline real share(const Drawn& sample) {
  real weight = 0, squares = 0;
  for (const double w : sample.w) {
    weight += w;
    squares += static_cast<real>(w) * w;
  }
  return squares / (weight * weight);
}

inline real peak(const Matrix& H, std::size_t d) {
  real determinant;
  inverse(H, d, &determinant);
  return 1 / std::sqrt(std::pow(2 * oracle::pi, static_cast<real>(d)) * determinant);
}

struct Criterion {
  real value, size;  // size: of the terms
};

/// S(2H) - 2 (S(H) - diagonal), unbiased or as Andrzejewski et al. (2013).
inline Criterion lscv(const Drawn& sample, const Matrix& H, bool unbiased) {
  Matrix twice = H;
  for (real& v : twice) v *= 2;
  const real part = share(sample), factor = unbiased ? 1 / (1 - part) : 1;
  const real convolution = mean_kernel(sample, twice), kernel = mean_kernel(sample, H);
  const real pairs = kernel - part * peak(H, sample.d);
  return {convolution - 2 * factor * pairs, convolution + 2 * factor * kernel};
}

inline Criterion scv(const Drawn& sample, const Matrix& H, const Matrix& G) {
  Matrix none = G, once = G, twice = G, variance = H;
  for (std::size_t e = 0; e < G.size(); ++e) {
    none[e] = 2 * G[e];
    once[e] = 2 * G[e] + H[e];
    twice[e] = 2 * G[e] + 2 * H[e];
    variance[e] = 2 * H[e];
  }
  const real value = share(sample) * peak(variance, sample.d) + mean_kernel(sample, twice) -
                     2 * mean_kernel(sample, once) + mean_kernel(sample, none);
  return {value, value};
}

/// D with dF = tr(D dH), by central differences of the fourth order in long double.
template <class F>
inline Matrix slopes(const Matrix& H, std::size_t d, F value) {
  Matrix out(d * d, 0);
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t l = 0; l <= k; ++l) {
      const real step = 3e-5L * std::sqrt(H[k * d + k] * H[l * d + l]);
      const auto difference = [&](real by) {
        Matrix above = H, below = H;
        above[l * d + k] += by;
        below[l * d + k] -= by;
        if (k != l) {
          above[k * d + l] += by;
          below[k * d + l] -= by;
        }
        return value(above) - value(below);
      };
      const real slope = (8 * difference(step) - difference(2 * step)) / (12 * step);
      out[l * d + k] = out[k * d + l] = k == l ? slope : slope / 2;
    }
  }
  return out;
}

}  // namespace fourier_oracle

#endif
