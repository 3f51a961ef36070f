// Sums over all pairs on a line, by the engines that need the samples in their order.
#ifndef KESTREL_CORE_CRITERIA_LINE_PAIRS_HPP
#define KESTREL_CORE_CRITERIA_LINE_PAIRS_HPP

#include <string>
#include <vector>

#include "core/criteria/pair_sums.hpp"

namespace kestrel {

/// The engine "fgt", with the Gaussian kernel (core/fgt/pairs.hpp). Its cells are kept in the
/// sample, which must outlive this and have one variable.
class FgtPairs : public PairSums {
 public:
  FgtPairs(const Sample& sample, const RunOptions& options);

  std::string engine() const override { return "fgt"; }
  std::vector<SumWithGradient> gaussian(Span<const double> matrices, bool gradient,
                                        const RunOptions& options) override;
  PairCurve curve(Span<const double> S, Span<const double> h, Kernel kernel,
                  const RunOptions& options) override;
  std::vector<double> laplacians(Span<const double> g, int order,
                                 const RunOptions& options) override;

 private:
  const Sample& sample_;
};

/// The engine "sweep", with a polynomial kernel (sweep_pair_curve() of core/sweep/density.hpp): a
/// curve only.
class SweepPairs : public PairSums {
 public:
  SweepPairs(const Sample& sample, const RunOptions& options);

  std::string engine() const override { return "sweep"; }
  PairCurve curve(Span<const double> S, Span<const double> h, Kernel kernel,
                  const RunOptions& options) override;

 private:
  const Sample& sample_;
};

}  // namespace kestrel

#endif
