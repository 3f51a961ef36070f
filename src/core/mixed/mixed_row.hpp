// The weights of all samples at one point, and the local fit that they make.
#ifndef KESTREL_CORE_MIXED_MIXED_ROW_HPP
#define KESTREL_CORE_MIXED_MIXED_ROW_HPP

#include <cstddef>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/mixed/mixed_plane.hpp"
#include "core/mixed/mixed_products.hpp"
#include "core/mixed/mixed_sample.hpp"

namespace kestrel {

/// The weight of an observation at itself, `times` the product of the factors' kernels, the
/// derivatives of this product by each lambda, and the weight that was given.
struct MixedOwn {
  double weight;
  const double* slope;
  double times = 1.0, w = 1.0;
};

/// Sums of weights below this may have lost terms to underflow, and are computed anew relative to
/// the nearest sample.
constexpr double kLeastMixedSum = 1e-200;

/// The weights at one point after another, all with the same levels. Holds room for a few numbers
/// for each sample; one object a worker.
class MixedRow {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  /// What will be asked for: fits only; by_bandwidth() and by_lambda(), too; variance(); variance()
  /// and gradient(); or weight() and times(), for local constant fits.
  enum class Use { fits, criterion, variances, gradients, weights };

  /// neighbours: null if bandwidths are fixed.
  MixedRow(const MixedSample& sample, const MixedKernel& kernel, Use use, const simd::Table& table,
           const MixedNeighbours* neighbours = nullptr);

  /// For points with these levels.
  void start(const int* code, const double* position);
  /// Takes the bandwidths of a point, where these are distances to its neighbours.
  void take_bandwidths(std::size_t i);
  /// At a point, relative to this response; `own` is left out unless it is kNone. O(n (p + q)).
  /// local_linear: O(n p^2).
  const MixedFit& fit(const double* point, double reference, std::size_t own);

  /// After fit(), for what follows.
  void prepare_slopes();
  /// The derivatives of the fit, and of weight[0], by log(h_c) or lambda_k: sum_j dw_j t_j (v_j -
  /// fit_j) and -sum_j dw_j t_j^2, in the scale of the fit.
  struct Change {
    double fit, weight;
  };
  Change by_bandwidth(std::size_t c);
  Change by_lambda(std::size_t k);
  /// Of a sample with the levels of the point.
  MixedOwn own(std::size_t i) const {
    const double times = times_of(i);
    return {times * weights_.own, weights_.own_slope.data(), times, sample_.w(i)};
  }
  bool local_linear() const { return kernel_.local_linear; }
  /// sum_j l_j^2 e_j for the weights of the fit; and its derivative by column c, in the units of x,
  /// with the same of that unless `variance` is null. e in the order of the sample. After
  /// prepare_slopes(), in this order.
  double variance(const double* e);
  double gradient(std::size_t c, const double* e, double* variance);
  /// Of a local linear fit, see MixedPlane.
  void slope_weights(std::size_t c, double* a) const { plane_.slope_weights(c, a); }

  /// Of a local constant fit for a criterion: the derivative of its sum of weights by the parameter
  /// log(h_c) or, after these, lambda_k, in the scale of the fit.
  double sum_by(std::size_t parameter) const { return sums_[2 * (1 + parameter)]; }
  /// For Use::gradients: the derivative of the sum of weights by column c of the point.
  double sum_by_point(std::size_t c) const;
  /// The weights of all samples, in the scale of the fit, and the derivative of weight j by column
  /// c. Not for Use::fits and Use::criterion.
  void copy_weights(double* to) const;
  void copy_slopes(std::size_t c, double* to) const;
  /// The sum of b times the weights or, with a parameter, times their derivatives by it.
  double times(const double* b) const;
  double times(const double* b, std::size_t parameter) const;

 private:
  double times_of(std::size_t j) const {
    return sample_.w(j) * (neighbours_ == nullptr ? 1.0 : neighbours_->times(j));
  }
  double* row(std::size_t k) { return room_.data() + k * sample_.size(); }
  void take_samples_in_reach(const double* point);
  double nearest(const double* point, std::size_t own) const;
  void constant_fit(const double* point, double reference, std::size_t own);
  void fill_products(const double* point, std::size_t own);
  double sum_of_weights();
  Change change(const double* a, const double* b);
  Change constant_change(std::size_t parameter) const;
  double squares_of_spare(const double* e);

  const MixedSample& sample_;
  const MixedKernel& kernel_;
  const Use use_;
  const simd::MixedTable& table_;
  const MixedNeighbours* const neighbours_;
  bool there_ = true;  // the point has bandwidths
  MixedProducts products_;
  const std::vector<std::size_t>& column_;  // those with a finite bandwidth
  MixedPlane plane_;
  std::vector<double*> slope_of_column_;
  double nearest_ = 0.0;
  /// Of local constant fits for criteria: sums of dw and dw v for each parameter.
  std::vector<double> sums_;
  RawArray<double> room_;
  double *product_, *factor_, *weight_, *v_, *t_, *tq_, *spare_;
  std::vector<double*> slope_, lambda_slope_, z_;
  std::vector<std::size_t> counted_;  // cells
  MixedTiles tiles_;
  MixedSample::CellWeights weights_;
  MixedFit fit_;
};

}  // namespace kestrel

#endif
