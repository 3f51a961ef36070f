// Sums over all pairs of a sample, whichever engine computes them: what criteria.hpp is written
// over.
//
// There are n observations of d variables with weights w_i, W = sum w. K_M is the N(0, M) density.
// A bandwidth matrix M is d*d, symmetric positive definite, in squared units of the sample. A
// gradient by M is the symmetric matrix D, d*d, with dF = tr(D dM).
//
// Unless said otherwise a sum is W^-2 times that over the ordered pairs i != j, in the units of the
// density. The share of the pairs i = j is s = sum w^2 / W^2, which is 1 / n_eff.
#ifndef KESTREL_CORE_CRITERIA_PAIR_SUMS_HPP
#define KESTREL_CORE_CRITERIA_PAIR_SUMS_HPP

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/pair_curve.hpp"
#include "core/data/sample.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

/// A sum, or a criterion made of sums, and its gradient by a matrix, which is empty if it was not
/// asked for.
struct SumWithGradient {
  double value = 0.0;
  std::vector<double> gradient;
};

/// factor a + other b, of numbers of the same size.
std::vector<double> combined(Span<const double> a, double factor, Span<const double> b,
                             double other);

/// Adds factor * term to a sum; both have a gradient, or neither has one.
void add_multiple(double factor, const SumWithGradient& term, SumWithGradient* total);

/// K_M(0). Throws error(input) if M is not positive definite.
SumWithGradient normal_peak(Span<const double> M, std::size_t d, bool gradient);

/// D^alpha phi_g(0) of the N(0, g^2 I) density, for all multi-indices with |alpha| = order, in the
/// order of multi_indices(). Units x^-(d + order).
std::vector<double> normal_derivatives(std::size_t d, double g, int order);

/// The same of K_M for a matrix M: D^alpha K_M(0), order even.
std::vector<double> normal_derivatives_at(Span<const double> M, std::size_t d, int order);

/// (nabla^2)^(order/2) phi_g(0), order even and at most 10.
double normal_laplacian(std::size_t d, double g, int order);

/// The multi-indices alpha of R^d with |alpha| = order, even and at most 8, each as d exponents, in
/// descending lexicographic order: (2, 0), (1, 1), (0, 2).
std::vector<std::vector<int>> multi_indices(std::size_t d, int order);

/// How often D^alpha is in (nabla^2)^m = sum over |beta| = m of m! / beta! D^(2 beta), m = |alpha|
/// / 2: 0 unless all exponents are even and not negative.
template <class Index>
double laplacian_count(const Index& alpha, int m) {
  double count = std::tgamma(m + 1.0);
  for (const int e : alpha) {
    count *= e >= 0 && e % 2 == 0 ? 1 / std::tgamma(e / 2 + 1.0) : 0.0;
  }
  return count;
}

/// The sums of one sample by one engine. An engine implements those that it can compute; the others
/// throw error(internal). All have the same bits for any number of threads. Errors and costs are
/// those of the engine, and so are further errors that it throws. Not for several threads at once.
class PairSums {
 public:
  virtual ~PairSums() = default;
  PairSums(const PairSums&) = delete;
  PairSums& operator=(const PairSums&) = delete;

  std::size_t d() const { return d_; }
  /// s = sum w^2 / (sum w)^2.
  double squared_share() const { return squared_share_; }
  /// The name of the engine.
  virtual std::string engine() const = 0;

  /// The sum of K_M for several matrices M, one after the other, with the gradient by M.
  virtual std::vector<SumWithGradient> gaussian(Span<const double> matrices, bool gradient,
                                                const RunOptions& options);
  /// K*K and K at H, with gradients by H: for the Gaussian kernel K_2H and K_H.
  struct Both {
    SumWithGradient convolution, kernel;
  };
  virtual Both both(Span<const double> H, bool gradient, const RunOptions& options);
  /// The sum of K_(2H + 2G) - 2 K_(H + 2G) + K_2G for several H and as many G, one after the other,
  /// with the gradient by H; i = j included. It is not negative.
  virtual std::vector<SumWithGradient> smoothed(Span<const double> H, Span<const double> G,
                                                bool gradient, const RunOptions& options);
  /// K*K and K, of any kernel that the engine takes, at the matrices h^2 S.
  virtual PairCurve curve(Span<const double> S, Span<const double> h, Kernel kernel,
                          const RunOptions& options);
  /// D^alpha phi_g for all alpha of multi_indices(d, order). phi_g is the N(0, g^2 I) density.
  virtual std::vector<double> derivatives(double g, int order, const RunOptions& options);
  /// The same of K_M for a matrix M.
  virtual std::vector<double> derivatives_at(Span<const double> M, int order,
                                             const RunOptions& options);
  /// (nabla^2)^(order/2) phi_g for each g: in one dimension the derivative of that order.
  virtual std::vector<double> laplacians(Span<const double> g, int order,
                                         const RunOptions& options);

 protected:
  PairSums(const Sample& sample, const RunOptions& options);

  /// Turns a sum over w_i w_j, i < j, into one of this class.
  double in_shares(double sum) const { return 2 * sum / weight_ / weight_; }
  std::vector<double> in_shares(std::vector<double> sums) const;
  PairCurve in_shares(const PairCurve& curve) const {
    return {in_shares(curve.convolution), in_shares(curve.kernel)};
  }
  /// The number of matrices in a row of them. Throws error(internal) for a part of one.
  std::size_t matrices_in(Span<const double> matrices) const;

 private:
  [[noreturn]] void refuse(const char* what) const;

  std::size_t d_;
  double weight_, squared_share_;
};

}  // namespace kestrel

#endif
