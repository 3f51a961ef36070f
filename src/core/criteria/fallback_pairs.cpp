#include "core/criteria/fallback_pairs.hpp"

#include <utility>

#include "core/base/error.hpp"

namespace kestrel {

FallbackPairs::FallbackPairs(const Sample& sample, const Make& first, Make second,
                             const RunOptions& options)
    : PairSums(sample, options), make_second_(std::move(second)) {
  try {
    first_ = first();
  } catch (const error& problem) {
    if (problem.kind != ErrorKind::memory) throw;
    this->second();
  }
}

std::string FallbackPairs::engine() const { return used().engine(); }

PairSums& FallbackPairs::second() {
  if (second_ == nullptr) second_ = make_second_();
  return *second_;
}

template <class Sums>
auto FallbackPairs::either(const Sums& sums) -> decltype(sums(std::declval<PairSums&>())) {
  if (first_ != nullptr) {
    try {
      auto found = sums(*first_);
      served_ = true;
      return found;
    } catch (const error& problem) {
      if (problem.kind != ErrorKind::memory) throw;
    }
  }
  return sums(second());
}

std::vector<SumWithGradient> FallbackPairs::gaussian(Span<const double> matrices, bool gradient,
                                                     const RunOptions& options) {
  return either([&](PairSums& sums) { return sums.gaussian(matrices, gradient, options); });
}

PairSums::Both FallbackPairs::both(Span<const double> H, bool gradient, const RunOptions& options) {
  return either([&](PairSums& sums) { return sums.both(H, gradient, options); });
}

std::vector<SumWithGradient> FallbackPairs::smoothed(Span<const double> H, Span<const double> G,
                                                     bool gradient, const RunOptions& options) {
  return either([&](PairSums& sums) { return sums.smoothed(H, G, gradient, options); });
}

PairCurve FallbackPairs::curve(Span<const double> S, Span<const double> h, Kernel kernel,
                               const RunOptions& options) {
  return either([&](PairSums& sums) { return sums.curve(S, h, kernel, options); });
}

std::vector<double> FallbackPairs::derivatives(double g, int order, const RunOptions& options) {
  return either([&](PairSums& sums) { return sums.derivatives(g, order, options); });
}

std::vector<double> FallbackPairs::derivatives_at(Span<const double> M, int order,
                                                  const RunOptions& options) {
  return either([&](PairSums& sums) { return sums.derivatives_at(M, order, options); });
}

std::vector<double> FallbackPairs::laplacians(Span<const double> g, int order,
                                              const RunOptions& options) {
  return either([&](PairSums& sums) { return sums.laplacians(g, order, options); });
}

}  // namespace kestrel
