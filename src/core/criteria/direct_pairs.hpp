// Sums over all pairs by the engine "direct".
#ifndef KESTREL_CORE_CRITERIA_DIRECT_PAIRS_HPP
#define KESTREL_CORE_CRITERIA_DIRECT_PAIRS_HPP

#include <string>
#include <vector>

#include "core/criteria/pair_sums.hpp"
#include "core/data/sample_moments.hpp"
#include "core/direct/lscv.hpp"

namespace kestrel {

/// In any dimension, with the Gaussian kernel. O(n^2) for each matrix, bandwidth or order
/// (core/direct/lscv.hpp, pairs.hpp). A device overrides the sums of these two headers.
class DirectPairs : public PairSums {
 public:
  /// Of the sample, which must outlive this, or of A (x - m) for its observations x: `axes` is A,
  /// d*d column-major, empty for x itself. O(n d^2) time and, with axes, O(n d) memory.
  DirectPairs(const Sample& sample, Span<const double> axes, const SampleMean& mean,
              const RunOptions& options);

  std::string engine() const override { return "direct"; }
  std::vector<SumWithGradient> gaussian(Span<const double> matrices, bool gradient,
                                        const RunOptions& options) override;
  Both both(Span<const double> H, bool gradient, const RunOptions& options) override;
  PairCurve curve(Span<const double> S, Span<const double> h, Kernel kernel,
                  const RunOptions& options) override;
  std::vector<double> derivatives(double g, int order, const RunOptions& options) override;
  std::vector<double> derivatives_at(Span<const double> M, int order,
                                     const RunOptions& options) override;
  std::vector<double> laplacians(Span<const double> g, int order,
                                 const RunOptions& options) override;

 protected:
  const MatrixView& x() const { return x_; }
  Weights w() const { return w_; }

  virtual LscvPairSums lscv_sums(Span<const double> root, bool moments, const RunOptions& options);
  virtual GaussianPairSums gaussian_sums(Span<const double> root, bool moments,
                                         const RunOptions& options);
  virtual PairCurve curve_sums(Span<const double> root, Span<const double> h,
                               const RunOptions& options);
  virtual std::vector<double> moment_sums(double g, int order, const RunOptions& options);
  virtual std::vector<double> laplacian_sums(Span<const double> g, int order,
                                             const RunOptions& options);

 private:
  SumWithGradient with_gradient(const GaussianPairSums& sums, Span<const double> root,
                                double share) const;

  std::vector<double> transformed_;  // if there are axes
  MatrixView x_;
  Weights w_;
};

}  // namespace kestrel

#endif
