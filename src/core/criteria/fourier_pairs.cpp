#include "core/criteria/fourier_pairs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>

#include "core/base/error.hpp"

namespace kestrel {

namespace {

/// How much farther the grid of a part of a curve goes.
constexpr double kCurveMargin = 1.05;
/// The ratio of the bandwidths of a part of a curve below the usual range.
constexpr double kCurvePart = 8;

}  // namespace

FourierPairs::FourierPairs(const Sample& sample, const FourierDemand& demand,
                           Span<const double> axes, const RunOptions& options)
    : PairSums(sample, options),
      axes_(axes.begin(), axes.end()),
      usual_min_(demand.min),
      usual_max_(demand.max),
      sums_(sample.prepared<FourierSums>([&] {
        const SpreadSamples* spread = sample.found<SpreadSamples>();
        if (spread != nullptr) return std::make_unique<FourierSums>(*spread->source);
        return std::make_unique<FourierSums>(sample.x(), sample.w(), demand, options);
      })) {
  // Then all bandwidths share one grid.
  if (sums_.expect(demand)) {
    usual_min_ = 0;
    usual_max_ = HUGE_VAL;
  }
}

Span<const double> FourierPairs::matrix(Span<const double> matrices, std::size_t m) const {
  return {matrices.data + m * d() * d(), d() * d()};
}

std::vector<SumWithGradient> FourierPairs::gaussian(Span<const double> matrices, bool gradient,
                                                    const RunOptions& options) {
  std::vector<SumWithGradient> out;
  for (std::size_t m = 0; m < matrices_in(matrices); ++m) {
    out.push_back(sums_.gaussian(matrix(matrices, m), gradient, options, axes()));
  }
  return out;
}

PairSums::Both FourierPairs::both(Span<const double> H, bool gradient, const RunOptions& options) {
  return sums_.both(H, gradient, options, axes());
}

std::vector<SumWithGradient> FourierPairs::smoothed(Span<const double> H, Span<const double> G,
                                                    bool gradient, const RunOptions& options) {
  std::vector<SumWithGradient> out;
  for (std::size_t m = 0; m < matrices_in(H); ++m) {
    out.push_back(sums_.smoothed(matrix(H, m), matrix(G, m), gradient, options, axes()));
  }
  return out;
}

/// Above the usual range, in it, and below in parts: one grid for all would have to be both long
/// and fine. There is room for a search between neighbours on a curve.
PairCurve FourierPairs::curve(Span<const double> S, Span<const double> h, Kernel kernel,
                              const RunOptions& options) {
  if (kernel != Kernel::gaussian) {
    throw error(ErrorKind::internal, "the engine \"fourier\" takes the Gaussian kernel");
  }
  const std::array<double, 2> reached = sums_.relative_bandwidths(S, axes(), options);
  std::map<double, std::vector<std::size_t>> parts;
  for (std::size_t k = 0; k < h.size; ++k) {
    const double least = h[k] * reached[0];
    if (least >= usual_min_) {
      parts[h[k] * reached[1] > usual_max_ ? 2.0 : 1.0].push_back(k);
    } else {
      parts[-std::floor(std::log(usual_min_ / least) / std::log(kCurvePart))].push_back(k);
    }
  }
  PairCurve curve{std::vector<double>(h.size), std::vector<double>(h.size)};
  for (const auto& numbered : parts) {
    const std::vector<std::size_t>& part = numbered.second;
    const auto [least, largest] = std::minmax_element(
        part.begin(), part.end(), [&](std::size_t a, std::size_t b) { return h[a] < h[b]; });
    try {
      sums_.prepare(h[*least] * reached[0] / kCurveMargin, h[*largest] * reached[1] * kCurveMargin,
                    options);
    } catch (const error& problem) {
      // Without memory for a grid for all of these, each may still have one of its own.
      if (problem.kind != ErrorKind::memory) throw;
    }
    for (const std::size_t k : part) {
      std::vector<double> H(S.begin(), S.end());
      for (double& value : H) value *= h[k] * h[k];
      const Both sums = sums_.both({H.data(), H.size()}, false, options, axes());
      curve.convolution[k] = sums.convolution.value;
      curve.kernel[k] = sums.kernel.value;
    }
  }
  return curve;
}

/// With i = j.
std::vector<double> FourierPairs::psi(double g, int order, const RunOptions& options) {
  std::vector<double> G(d() * d(), 0.0);
  for (std::size_t k = 0; k < d(); ++k) G[k * d() + k] = g * g;
  return sums_.psi({G.data(), G.size()}, order, options, axes());
}

std::vector<double> FourierPairs::derivatives(double g, int order, const RunOptions& options) {
  std::vector<double> out = psi(g, order, options);
  const std::vector<double> at_zero = normal_derivatives(d(), g, order);
  for (std::size_t t = 0; t < out.size(); ++t) out[t] -= squared_share() * at_zero[t];
  return out;
}

std::vector<double> FourierPairs::derivatives_at(Span<const double> M, int order,
                                                 const RunOptions& options) {
  std::vector<double> out = sums_.psi(M, order, options, axes());
  const std::vector<double> at_zero = normal_derivatives_at(M, d(), order);
  for (std::size_t t = 0; t < out.size(); ++t) out[t] -= squared_share() * at_zero[t];
  return out;
}

std::vector<double> FourierPairs::laplacians(Span<const double> g, int order,
                                             const RunOptions& options) {
  const std::vector<Exponents> monomials = monomials_of_degree(d(), order);
  std::vector<double> out;
  for (const double one : g) {
    const std::vector<double> all = psi(one, order, options);
    double sum = 0;
    for (std::size_t t = 0; t < all.size(); ++t) {
      sum += laplacian_count(monomials[t], order / 2) * all[t];
    }
    out.push_back(sum - squared_share() * normal_laplacian(d(), one, order));
  }
  return out;
}

}  // namespace kestrel
