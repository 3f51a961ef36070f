// Sums over all pairs by one engine, and by another where the first lacks memory.
#ifndef KESTREL_CORE_CRITERIA_FALLBACK_PAIRS_HPP
#define KESTREL_CORE_CRITERIA_FALLBACK_PAIRS_HPP

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/criteria/pair_sums.hpp"

namespace kestrel {

/// A sum that the first engine refuses with error(memory) comes from the second one; all of them do
/// if the first cannot even be made. The second is made when it is first needed, and then kept.
class FallbackPairs : public PairSums {
 public:
  using Make = std::function<std::unique_ptr<PairSums>()>;
  FallbackPairs(const Sample& sample, const Make& first, Make second, const RunOptions& options);

  /// The first one's name if it has computed a sum, or nothing was refused yet.
  std::string engine() const override;
  /// The one whose name that is.
  const PairSums& used() const { return served_ || second_ == nullptr ? *first_ : *second_; }

  std::vector<SumWithGradient> gaussian(Span<const double> matrices, bool gradient,
                                        const RunOptions& options) override;
  Both both(Span<const double> H, bool gradient, const RunOptions& options) override;
  std::vector<SumWithGradient> smoothed(Span<const double> H, Span<const double> G, bool gradient,
                                        const RunOptions& options) override;
  PairCurve curve(Span<const double> S, Span<const double> h, Kernel kernel,
                  const RunOptions& options) override;
  std::vector<double> derivatives(double g, int order, const RunOptions& options) override;
  std::vector<double> derivatives_at(Span<const double> M, int order,
                                     const RunOptions& options) override;
  std::vector<double> laplacians(Span<const double> g, int order,
                                 const RunOptions& options) override;

 private:
  template <class Sums>
  auto either(const Sums& sums) -> decltype(sums(std::declval<PairSums&>()));
  PairSums& second();

  Make make_second_;
  std::unique_ptr<PairSums> first_, second_;
  bool served_ = false;  // whether the first one has computed a sum
};

}  // namespace kestrel

#endif
