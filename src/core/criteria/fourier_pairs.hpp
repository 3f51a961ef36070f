// Sums over all pairs of a sample by the engine "fourier", in the interface of criteria.
#ifndef KESTREL_CORE_CRITERIA_FOURIER_PAIRS_HPP
#define KESTREL_CORE_CRITERIA_FOURIER_PAIRS_HPP

#include <string>
#include <vector>

#include "core/criteria/fourier_sums.hpp"
#include "core/criteria/pair_sums.hpp"

namespace kestrel {

/// Sums about A x, with the grid that the sample keeps for all queries of a call. For the range of
/// bandwidths of a curve the grid may be made anew, part by part.
class FourierPairs : public PairSums {
 public:
  /// Makes a grid unless the sample has one. `axes`: A, empty for x itself. The sample must outlive
  /// this. Errors and cost as of FourierSums.
  FourierPairs(const Sample& sample, const FourierDemand& demand, Span<const double> axes,
               const RunOptions& options);

  std::string engine() const override { return "fourier"; }
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
  Span<const double> axes() const { return {axes_.data(), axes_.size()}; }
  Span<const double> matrix(Span<const double> matrices, std::size_t m) const;
  std::vector<double> psi(double g, int order, const RunOptions& options);

  std::vector<double> axes_;
  double usual_min_, usual_max_;
  FourierSums& sums_;
};

}  // namespace kestrel

#endif
