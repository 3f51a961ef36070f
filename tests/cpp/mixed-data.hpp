// Awkward samples of mixed data, and the continuous kernels in long double.
#ifndef KESTREL_TESTS_MIXED_DATA_HPP
#define KESTREL_TESTS_MIXED_DATA_HPP

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/mixed/mixed_sample.hpp"
#include "shapes.hpp"

namespace mixed_data {

using namespace kestrel;

using real = long double;

struct Data {
  std::string name;
  std::size_t n, p;
  std::vector<double> x, ordered, y, w;  // w may be empty
  std::vector<int> factor;
  int levels = 3, ordered_levels = 4;

  Weights weights() const { return w.empty() ? Weights() : Weights(w.data(), n); }
  double weight(std::size_t i) const { return w.empty() ? 1.0 : w[i]; }

  MixedRows rows() const {
    return {{x.data(), n, p}, {factor.data(), n}, {ordered.data(), n, 1}, n, 1};
  }
  MixedSample sample() const {
    return MixedSample(rows(), {levels, ordered_levels}, {y.data(), n}, weights(), {});
  }
};

/// draw(random, i): the columns of row i are draws of it.
template <class Draw>
Data make(const std::string& name, std::size_t n, std::size_t p, const Draw& draw) {
  Data data{name, n, p, {}, {}, {}, {}, {}};
  std::mt19937_64 random(std::hash<std::string>()(name));
  for (std::size_t k = 0; k < n * p; ++k) data.x.push_back(draw(random, k % n));
  for (std::size_t i = 0; i < n; ++i) {
    data.factor.push_back(1 + static_cast<int>(random() % 3));
    data.ordered.push_back(1 + static_cast<double>(random() % 4));
    const double first = p > 0 ? data.x[i] : 0.0;
    data.y.push_back(std::sin(first) + 0.5 * data.factor[i] + 0.3 * shapes::normal(random));
  }
  return data;
}

inline std::vector<Data> shapes_of_data() {
  const auto normal = [](std::mt19937_64& random, std::size_t) { return shapes::normal(random); };
  std::vector<Data> all;
  for (const std::size_t n : {2, 3, 33, 70}) {
    all.push_back(make("normal" + std::to_string(n), n, 2, normal));
  }
  all.push_back(make("factors", 40, 0, normal));
  all.push_back(make("four", 40, 4, normal));
  all.push_back(make("ties", 60, 2, [](std::mt19937_64& random, std::size_t) {
    return std::round(2 * shapes::normal(random)) / 2;
  }));
  all.push_back(make("offset", 50, 2, [](std::mt19937_64& random, std::size_t) {
    return 1e9 + std::round(1e4 * shapes::normal(random)) / 1e4;
  }));
  all.push_back(make("outlier", 50, 2, [](std::mt19937_64& random, std::size_t i) {
    return shapes::normal(random) + (i == 7 ? 30.0 : 0.0);
  }));
  Data tilted = make("trend", 50, 2, normal);
  for (std::size_t i = 0; i < tilted.n; ++i) tilted.y[i] += 1e5 * tilted.x[i] + 1e7;
  all.push_back(tilted);
  return all;
}

/// Some of these with weights of two decades, of which every seventh is zero.
inline std::vector<Data> weighted_shapes() {
  std::vector<Data> all;
  for (Data data : shapes_of_data()) {
    if (data.n < 33) continue;
    data.name += "_weighted";
    std::mt19937_64 random(std::hash<std::string>()(data.name));
    double sum = 0, positive = 0;
    for (std::size_t i = 0; i < data.n; ++i) {
      data.w.push_back(i % 7 == 3 ? 0 : std::exp(shapes::normal(random)));
      sum += data.w[i];
      positive += data.w[i] > 0 ? 1 : 0;
    }
    for (double& w : data.w) w *= positive / sum;
    all.push_back(data);
  }
  return all;
}

/// Shapes for oracles that take long.
inline std::vector<Data> small_shapes() {
  std::vector<Data> all;
  for (const Data& data : shapes_of_data()) {
    if (data.n <= 40 || data.name == "ties" || data.name == "outlier") all.push_back(data);
  }
  return all;
}

/// Cells of several leaves, on a lattice with steps of 1/8, and kernels that reach few of them. The
/// uniform kernel reaches just one step.
inline Data leaves() {
  Data data = make("leaves", 700, 2, [](std::mt19937_64& random, std::size_t) {
    return std::round(8 * shapes::normal(random)) / 8;
  });
  for (std::size_t i = 0; i < data.n; ++i) {
    data.factor[i] = i % 10 == 0 ? 2 : 1;
    data.ordered[i] = 1;
  }
  return data;
}
inline std::vector<MixedKernel> narrow_kernels() {
  std::vector<MixedKernel> all;
  for (const Kernel continuous : {Kernel::epanechnikov, Kernel::uniform, Kernel::biweight}) {
    MixedKernel kernel;
    kernel.continuous = continuous;
    kernel.h = {0.125, 0.25};
    kernel.lambda = {0.2, 0.4};
    all.push_back(kernel);
    kernel.h[0] = HUGE_VAL;
    all.push_back(kernel);
  }
  return all;
}

/// Without responses.
inline MixedSample sample_of(const Data& data) {
  return MixedSample(data.rows(), {data.levels, data.ordered_levels}, {}, data.weights(), {});
}

inline std::string name_of(const testing::TestParamInfo<Data>& info) { return info.param.name; }

inline RunOptions on(const simd::Table* table, int threads = 1) { return {table, {threads, {}}}; }

inline real power(real base, int k) {
  real value = 1;
  for (int i = 0; i < k; ++i) value *= base;
  return value;
}

constexpr Kernel kContinuous[] = {Kernel::gaussian, Kernel::epanechnikov, Kernel::uniform,
                                  Kernel::biweight, Kernel::triweight,    Kernel::triangular,
                                  Kernel::tricube,  Kernel::cosine};
inline bool has_order(Kernel kernel, int order) {
  return order == 2 || kernel == Kernel::gaussian || kernel == Kernel::epanechnikov;
}

/// A continuous kernel with K(0) = 1, written out.
inline real continuous(const MixedKernel& kernel, real u) {
  const real v = u * u;
  if (kernel.continuous == Kernel::uniform) return v <= 1 ? 1 : 0;
  if (kernel.continuous == Kernel::biweight) return v < 1 ? power(1 - v, 2) : 0;
  if (kernel.continuous == Kernel::triweight) return v < 1 ? power(1 - v, 3) : 0;
  if (kernel.continuous == Kernel::triangular) return v < 1 ? 1 - std::fabs(u) : 0;
  if (kernel.continuous == Kernel::tricube) return v < 1 ? power(1 - v * std::fabs(u), 3) : 0;
  if (kernel.continuous == Kernel::cosine) return v < 1 ? std::cos(std::acos(real{0}) * u) : 0;
  if (kernel.continuous == Kernel::epanechnikov) {
    if (v >= 5) return 0;
    const real q = kernel.order == 2   ? 1
                   : kernel.order == 4 ? (15 - 7 * v) / 15
                   : kernel.order == 6
                       ? (175 - 210 * v + 46.2L * v * v) / 175
                       : (3675 - 8085 * v + 4204.2L * v * v - 600.6L * v * v * v) / 3675;
    return (1 - v / 5) * q;
  }
  const real q = kernel.order == 2   ? 1
                 : kernel.order == 4 ? (3 - v) / 3
                 : kernel.order == 6 ? (15 - 10 * v + v * v) / 15
                                     : (105 - 105 * v + 21 * v * v - v * v * v) / 105;
  return q * std::exp(-v / 2);
}

/// The weight of observation j at observation i, times its own.
inline real weight(const Data& data, const MixedKernel& kernel, std::size_t j, std::size_t i) {
  real value = data.weight(j);
  for (std::size_t c = 0; c < data.p; ++c) {
    const real off = static_cast<real>(data.x[c * data.n + j]) - data.x[c * data.n + i];
    if (std::isfinite(kernel.h[c])) value *= continuous(kernel, off / kernel.h[c]);
  }
  const real lambda = kernel.lambda[0], other = kernel.lambda[1];
  const bool same = data.factor[i] == data.factor[j];
  if (kernel.factor == FactorKernel::li_racine) {
    value *= same ? 1 : lambda;
  } else {
    value *= same ? 1 - lambda : lambda / (data.levels - 1);
  }
  const int apart = static_cast<int>(std::fabs(data.ordered[i] - data.ordered[j]));
  real all = 1;
  if (kernel.ordered == OrderedKernel::racine_li_yan) {
    all = 0;
    for (int level = 1; level <= data.ordered_levels; ++level) {
      all += power(other, std::abs(level - static_cast<int>(data.ordered[j])));
    }
  }
  if (kernel.ordered == OrderedKernel::wang_van_ryzin) {
    return value * (1 - other) * (apart == 0 ? 1 : power(other, apart) / 2);
  }
  return value * power(other, apart) / all;
}

/// The probability of level `to` by a kernel at the level `from`.
inline real unordered(const Data& data, const MixedKernel& kernel, int from, int to) {
  const real lambda = kernel.lambda[0], others = data.levels - 1;
  if (kernel.factor == FactorKernel::li_racine) {
    return (from == to ? 1 : lambda) / (1 + others * lambda);
  }
  return from == to ? 1 - lambda : lambda / others;
}

inline real ordered(const Data& data, const MixedKernel& kernel, int from, int to) {
  const real lambda = kernel.lambda[1];
  const int apart = std::abs(from - to);
  if (kernel.ordered == OrderedKernel::li_racine) {
    return (1 - lambda) / (1 + lambda) * power(lambda, apart);
  }
  if (kernel.ordered == OrderedKernel::wang_van_ryzin) {
    return (1 - lambda) * (apart == 0 ? 1 : power(lambda, apart) / 2);
  }
  real all = 0;
  for (int level = 1; level <= data.ordered_levels; ++level) {
    all += power(lambda, std::abs(level - from));
  }
  return power(lambda, apart) / all;
}

/// Sums that depend on two levels only, computed once for each two.
class LevelSums {
 public:
  template <class Compute>
  real of(int one, int other, const Compute& compute) {
    const auto found = known_.find({one, other});
    if (found != known_.end()) return found->second;
    return known_[{one, other}] = compute();
  }

 private:
  std::map<std::pair<int, int>, real> known_;
};

/// The integral of a function on [from, to] by Gauss and Legendre's rule with 5 points on parts:
/// exact for polynomials of degree 9.
template <class Function>
real integral(real from, real to, const Function& function, int parts = 60) {
  static const real x[] = {0, 0.538469310105683091036314420700208805L,
                           0.906179845938663992797626878299392965L};
  static const real w[] = {0.568888888888888888888888888888888889L,
                           0.478628670499366468041291514835638193L,
                           0.236926885056189087514264040719917363L};
  real sum = 0;
  const real half = (to - from) / (2 * parts);
  for (int part = 0; part < parts; ++part) {
    const real middle = from + (2 * part + 1) * half;
    sum += w[0] * function(middle);
    for (int k = 1; k < 3; ++k) {
      sum += w[k] * (function(middle + half * x[k]) + function(middle - half * x[k]));
    }
  }
  return half * sum;
}

inline real reach_of(const MixedKernel& kernel) {
  return kernel.continuous == Kernel::gaussian       ? 14
         : kernel.continuous == Kernel::epanechnikov ? std::sqrt(real{5})
                                                     : 1;
}

/// The same, in pieces between the places where the kernel and its image about `size` are not
/// smooth.
template <class Function>
real integral_of_pieces(const MixedKernel& kernel, real from, real to, real size,
                        const Function& function, int parts = 12) {
  if (kernel.continuous == Kernel::gaussian) return integral(from, to, function);
  real sum = 0, at = from;
  for (const real end : {real{0}, size, to}) {
    if (!(end > at && end <= to)) continue;
    sum += integral(at, end, function, parts);
    at = end;
  }
  return sum;
}

/// In how many parts a piece of the kernel is integrated: the rule is exact for degree 9.
inline int parts_of(const MixedKernel& kernel) {
  return kernel.continuous == Kernel::cosine ? 6 : 1;
}

/// Constants: the integral of the kernel that is 1 at 0.
inline real whole_of(const MixedKernel& kernel) {
  const real reach = reach_of(kernel);
  return integral_of_pieces(
      kernel, -reach, reach, 0, [&](real u) { return continuous(kernel, u); }, parts_of(kernel));
}

}  // namespace mixed_data

#endif
