#include "core/criteria/pair_sums.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "core/base/error.hpp"
#include "core/data/weights.hpp"
#include "core/direct/pairs.hpp"
#include "core/kernel/derivative.hpp"
#include "core/kernel/root.hpp"

namespace kestrel {

namespace {

void append(const std::vector<double>& matrix, std::vector<double>* matrices) {
  matrices->insert(matrices->end(), matrix.begin(), matrix.end());
}

/// He_r(0) of a probabilists' Hermite polynomial, r even: (-1)^(r/2) (r - 1)!!.
double hermite_at_zero(int r) {
  double value = 1;
  for (int k = 1; k < r; k += 2) value *= -k;
  return value;
}

}  // namespace

std::vector<double> combined(Span<const double> a, double factor, Span<const double> b,
                             double other) {
  std::vector<double> out(a.size);
  for (std::size_t e = 0; e < a.size; ++e) out[e] = factor * a[e] + other * b[e];
  return out;
}

void add_multiple(double factor, const SumWithGradient& term, SumWithGradient* total) {
  total->value += factor * term.value;
  for (std::size_t e = 0; e < total->gradient.size(); ++e) {
    total->gradient[e] += factor * term.gradient[e];
  }
}

SumWithGradient normal_peak(Span<const double> M, std::size_t d, bool gradient) {
  const std::vector<double> root = definite_root(M, d);
  SumWithGradient peak;
  peak.value = kernel_scale({}, d, {root.data(), root.size()}).times(1);
  if (!gradient) return peak;
  // dK_M(0) = -K_M(0) / 2 tr(M^-1 dM).
  const std::vector<double> inverse = inverse_of_root({root.data(), root.size()}, d);
  peak.gradient.assign(d * d, 0.0);
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t l = 0; l < d; ++l) {
      double sum = 0;
      for (std::size_t m = std::max(k, l); m < d; ++m)
        sum += inverse[k * d + m] * inverse[l * d + m];
      peak.gradient[l * d + k] = -0.5 * peak.value * sum;
    }
  }
  return peak;
}

std::vector<double> normal_derivatives(std::size_t d, double g, int order) {
  const ScaledNumber scale = laplacian_scale(d, g, order);
  std::vector<double> out;
  for (const std::vector<int>& index : multi_indices(d, order)) {
    const bool odd = std::any_of(index.begin(), index.end(), [](int e) { return e % 2 != 0; });
    double value = odd ? 0.0 : 1.0;
    for (const int e : index) value *= odd ? 1.0 : hermite_at_zero(e);
    out.push_back(odd ? 0.0 : scale.times(value));
  }
  return out;
}

std::vector<double> normal_derivatives_at(Span<const double> M, std::size_t d, int order) {
  const std::vector<double> root = definite_root(M, d);
  const DerivativeMap map(d, order, {root.data(), root.size()});
  std::vector<double> sums(map.monomials().size(), 0.0), out(map.size());
  sums[0] = 1;  // u = 0
  map.apply(sums.data(), out.data());
  const ScaledNumber scale = kernel_scale({}, d, {root.data(), root.size()});
  for (double& value : out) value = scale.times(value);
  return out;
}

double normal_laplacian(std::size_t d, double g, int order) {
  const ScaledNumber scale = laplacian_scale(d, g, order);
  double value = 1;
  for (int m = 0; m < order / 2; ++m) value *= -(static_cast<double>(d) + 2 * m);
  return scale.times(value);
}

std::vector<std::vector<int>> multi_indices(std::size_t d, int order) {
  std::vector<std::vector<int>> all = even_multi_indices(d, order);
  const auto of_order = std::find_if(all.begin(), all.end(), [&](const std::vector<int>& index) {
    return std::accumulate(index.begin(), index.end(), 0) == order;
  });
  all.erase(all.begin(), of_order);
  return all;
}

PairSums::PairSums(const Sample& sample, const RunOptions& options) : d_(sample.d()) {
  // One pass for all sums of a call.
  const WeightSums& weights = sample.prepared<WeightSums>([&] {
    return std::make_unique<WeightSums>(weight_sums(sample.w(), part_of(options.parallel, 0, 0)));
  });
  weight_ = weights.sum;
  squared_share_ = weights.squares / weights.sum / weights.sum;
}

std::vector<double> PairSums::in_shares(std::vector<double> sums) const {
  for (double& sum : sums) sum = in_shares(sum);
  return sums;
}

std::size_t PairSums::matrices_in(Span<const double> matrices) const {
  if (matrices.size % (d_ * d_) != 0) {
    throw error(ErrorKind::internal, "a bandwidth matrix of a wrong size");
  }
  return matrices.size / (d_ * d_);
}

void PairSums::refuse(const char* what) const {
  throw error(ErrorKind::internal, "the engine \"" + engine() + "\" has no " + what);
}

std::vector<SumWithGradient> PairSums::gaussian(Span<const double>, bool, const RunOptions&) {
  refuse("sums at a bandwidth matrix");
}

PairCurve PairSums::curve(Span<const double>, Span<const double>, Kernel, const RunOptions&) {
  refuse("sums at multiples of a bandwidth matrix");
}

std::vector<double> PairSums::laplacians(Span<const double>, int, const RunOptions&) {
  refuse("sums of derivatives");
}

std::vector<double> PairSums::derivatives(double g, int order, const RunOptions& options) {
  if (d_ != 1) refuse("sums of partial derivatives");
  return laplacians({&g, 1}, order, options);
}

std::vector<double> PairSums::derivatives_at(Span<const double>, int, const RunOptions&) {
  refuse("sums of partial derivatives of a kernel with a matrix");
}

PairSums::Both PairSums::both(Span<const double> H, bool gradient, const RunOptions& options) {
  std::vector<double> matrices = combined(H, 2, H, 0);
  append(combined(H, 1, H, 0), &matrices);
  std::vector<SumWithGradient> sums =
      gaussian({matrices.data(), matrices.size()}, gradient, options);
  for (double& slope : sums[0].gradient) slope *= 2;  // by H, not by 2 H
  return {sums[0], sums[1]};
}

std::vector<SumWithGradient> PairSums::smoothed(Span<const double> H, Span<const double> G,
                                                bool gradient, const RunOptions& options) {
  if (H.size != G.size) throw error(ErrorKind::internal, "not as many pilots as bandwidths");
  const std::size_t count = matrices_in(H), size = d_ * d_;
  // The matrices a H + 2 G with the factors of their sums.
  constexpr double kOf[] = {2, 1, 0}, kFactor[] = {1, -2, 1};
  std::vector<double> matrices;
  for (std::size_t m = 0; m < count; ++m) {
    const Span<const double> h{H.data + m * size, size}, g{G.data + m * size, size};
    for (const double of : kOf) append(combined(h, of, g, 2), &matrices);
  }
  const std::vector<SumWithGradient> sums =
      gaussian({matrices.data(), matrices.size()}, gradient, options);
  std::vector<SumWithGradient> out(count);
  for (std::size_t m = 0; m < count; ++m) {
    out[m].gradient.assign(gradient ? size : 0, 0.0);
    for (std::size_t t = 0; t < 3; ++t) {
      SumWithGradient sum = sums[3 * m + t];
      const double* at = matrices.data() + (3 * m + t) * size;
      add_multiple(squared_share_, normal_peak({at, size}, d_, gradient), &sum);
      for (double& slope : sum.gradient) slope *= kOf[t];  // by H
      add_multiple(kFactor[t], sum, &out[m]);
    }
    // It is the integral of a square, and below zero by rounding only.
    out[m].value = std::max(out[m].value, 0.0);
  }
  return out;
}

}  // namespace kestrel
