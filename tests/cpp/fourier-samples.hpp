// Samples and bandwidth matrices for the tests of the fourier engine, and helpers.
#ifndef KESTREL_TOOLS_FOURIER_SAMPLES_HPP
#define KESTREL_TOOLS_FOURIER_SAMPLES_HPP

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "core/criteria/criteria.hpp"
#include "core/criteria/fourier_pairs.hpp"
#include "oracle.hpp"
#include "shapes.hpp"

namespace fourier_oracle {

using oracle::real;
using Matrix = std::vector<real>;  // d*d, column-major

struct Drawn {
  std::string name;
  std::size_t n, d;
  std::vector<double> x, w;

  kestrel::MatrixView view() const { return {x.data(), n, d}; }
  kestrel::Span<const double> weights() const { return {w.data(), n}; }
};

inline void PrintTo(const Drawn& sample, std::ostream* out) { *out << sample.name; }

/// Draws rows: draw(random, row) fills d numbers.
template <class Draw>
Drawn make(const std::string& name, std::size_t n, std::size_t d, Draw draw) {
  Drawn sample{name + "_d" + std::to_string(d), n, d, std::vector<double>(n * d),
               std::vector<double>(n, 1.0)};
  std::mt19937_64 random(std::hash<std::string>()(sample.name));
  std::vector<double> row(d);
  for (std::size_t i = 0; i < n; ++i) {
    draw(random, row);
    for (std::size_t k = 0; k < d; ++k) sample.x[k * n + i] = row[k];
  }
  return sample;
}

inline void correlated(std::mt19937_64& random, std::vector<double>& row, double rho) {
  double before = shapes::normal(random);
  for (double& v : row) {
    v = before;
    before = rho * before + std::sqrt(1 - rho * rho) * shapes::normal(random);
  }
}

/// Shapes that make cross-validation difficult: modes, ridges, edges, ties, tails, scales.
inline std::vector<Drawn> samples_of_every_kind(std::size_t n, std::size_t d) {
  using Random = std::mt19937_64;
  using Row = std::vector<double>;
  std::vector<Drawn> all;
  all.push_back(make("normal", n, d, [](Random& r, Row& row) { correlated(r, row, 0.7); }));
  all.push_back(make("trimodal", n, d, [](Random& r, Row& row) {
    const double centre = 2.5 * (static_cast<double>(r() % 3) - 1);
    for (double& v : row) v = centre * (&v == &row[0] ? 1 : 0.5) + 0.6 * shapes::normal(r);
  }));
  all.push_back(make("scales", n, d, [](Random& r, Row& row) {
    correlated(r, row, 0.9);
    row[0] *= 1000;
  }));
  all.push_back(make("ridges", n, d, [](Random& r, Row& row) {
    const std::size_t along = r() % row.size();
    for (double& v : row) v = (&v == &row[along] ? 1.0 : 0.1) * shapes::normal(r);
  }));
  all.push_back(make("uniform", n, d, [](Random& r, Row& row) {
    for (double& v : row) v = shapes::uniform(r);
  }));
  all.push_back(make("ties", n, d, [](Random& r, Row& row) {
    for (double& v : row) v = std::round(2 * shapes::normal(r)) / 2;
  }));
  all.push_back(make("heavy", n, d, [](Random& r, Row& row) {
    double chi = 0;
    for (int k = 0; k < 3; ++k) chi += std::pow(shapes::normal(r), 2) / 3;
    for (double& v : row) v = shapes::normal(r) / std::sqrt(chi);
  }));
  all.push_back(make("offset", n, d, [](Random& r, Row& row) {
    correlated(r, row, -0.4);
    for (double& v : row) v += 1e9;
  }));
  Drawn weighted = all[0];
  weighted.name = "weights_d" + std::to_string(d);
  for (std::size_t i = 0; i < n; ++i)
    weighted.w[i] = i % 4 == 0 ? 0 : 0.25 + static_cast<double>(i % 7);
  all.push_back(weighted);
  return all;
}

/// The lower Cholesky factor of the weighted covariance.
inline Matrix covariance_root(const Drawn& s) {
  const std::size_t d = s.d;
  real weight = 0;
  std::vector<real> mean(d, 0);
  for (std::size_t i = 0; i < s.n; ++i) {
    weight += s.w[i];
    for (std::size_t k = 0; k < d; ++k) mean[k] += s.w[i] * static_cast<real>(s.x[k * s.n + i]);
  }
  Matrix root(d * d, 0);
  for (std::size_t l = 0; l < d; ++l) {
    for (std::size_t k = l; k < d; ++k) {
      real sum = 0;
      for (std::size_t i = 0; i < s.n; ++i) {
        sum +=
            s.w[i] * (s.x[k * s.n + i] - mean[k] / weight) * (s.x[l * s.n + i] - mean[l] / weight);
      }
      sum /= weight;
      for (std::size_t m = 0; m < l; ++m) sum -= root[m * d + k] * root[m * d + l];
      root[l * d + k] = k == l ? std::sqrt(sum) : sum / root[l * d + l];
    }
  }
  return root;
}

/// L R diag(length^2) R' L', R a rotation in the plane of the first and the last axis.
inline std::vector<double> bandwidth_matrix(const Matrix& L, const std::vector<real>& length,
                                            real angle) {
  const std::size_t d = length.size();
  Matrix factor(d * d, 0);
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t l = 0; l < d; ++l) {
      for (std::size_t m = 0; m < d; ++m) {
        const std::size_t last = d - 1;
        real rotation = m == l ? 1 : 0;
        if (d > 1 && m == l && (m == 0 || m == last)) rotation = std::cos(angle);
        if (d > 1 && m == 0 && l == last) rotation = -std::sin(angle);
        if (d > 1 && m == last && l == 0) rotation = std::sin(angle);
        factor[l * d + k] += L[m * d + k] * rotation * length[l];
      }
    }
  }
  std::vector<double> H(d * d);
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t l = 0; l < d; ++l) {
      real sum = 0;
      for (std::size_t m = 0; m < d; ++m) sum += factor[m * d + k] * factor[m * d + l];
      H[l * d + k] = static_cast<double>(sum);
    }
  }
  return H;
}

inline kestrel::RunOptions threads(int count) {
  kestrel::RunOptions options;
  options.table = kestrel::simd::find_table("auto");
  options.parallel.threads = count;
  return options;
}

inline kestrel::Span<const double> span(const std::vector<double>& v) {
  return {v.data(), v.size()};
}

/// The normal-scale bandwidth in units of the covariance.
inline double normal_scale(const Drawn& s) {
  const double d = static_cast<double>(s.d);
  return std::pow(4 / ((d + 2) * static_cast<double>(s.n)), 1 / (d + 4));
}

inline kestrel::FourierDemand demand_for(const Drawn& s) {
  kestrel::FourierDemand demand;
  demand.min = (s.d == 3 ? 0.5 : 0.35) * normal_scale(s);
  demand.max = 1.6 * normal_scale(s);
  return demand;
}

/// Isotropic, anisotropic, rotated (in units of the covariance).
inline std::vector<std::vector<double>> matrices_for(const Drawn& s) {
  const Matrix root = covariance_root(s);
  const real h = normal_scale(s);
  std::vector<real> same(s.d, 0.8L * h), other(s.d, h), rotated(s.d, 0.9L * h);
  other[0] = 0.6L * h;
  other[s.d - 1] = 1.4L * h;
  rotated[0] = 1.5L * h;
  rotated[s.d - 1] = 0.65L * h;
  return {bandwidth_matrix(root, same, 0), bandwidth_matrix(root, other, 0),
          bandwidth_matrix(root, rotated, 0.7L)};
}

inline Drawn normal_sample(std::size_t n, std::size_t d) {
  return make("plain" + std::to_string(n), n, d,
              [](std::mt19937_64& random, std::vector<double>& row) {
                for (double& v : row) v = shapes::normal(random);
              });
}

/// Everything that criteria compute with the engine "fourier", in one vector.
inline std::vector<double> everything(const Drawn& s, const kestrel::RunOptions& options) {
  const kestrel::Sample sample(s.view(), s.weights());
  kestrel::FourierPairs sums(sample, demand_for(s), {}, options);
  std::vector<double> out;
  const auto keep = [&](const kestrel::SumWithGradient& found) {
    out.push_back(found.value);
    out.insert(out.end(), found.gradient.begin(), found.gradient.end());
  };
  for (const std::vector<double>& H : matrices_for(s)) {
    keep(sums.gaussian(span(H), true, options)[0]);
    keep(kestrel::lscv(sums, span(H), kestrel::LscvForm::unbiased, true, options));
    keep(kestrel::scv(sums, span(H), span(H), true, options)[0]);
    for (const double value : kestrel::psi(sums, std::sqrt(H[0]), 8, options)) out.push_back(value);
  }
  return out;
}

}  // namespace fourier_oracle

#endif
