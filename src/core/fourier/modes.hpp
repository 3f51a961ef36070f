// The squared characteristic function of a sample on a grid of frequencies, and sums over it: they
// give every Gaussian sum over all pairs of samples at a cost that does not depend on their number.
#ifndef KESTREL_CORE_FOURIER_MODES_HPP
#define KESTREL_CORE_FOURIER_MODES_HPP

#include <array>
#include <cstddef>
#include <vector>

#include "core/data/reflection.hpp"
#include "core/fourier/forms.hpp"
#include "core/fourier/grid.hpp"
#include "core/fourier/mode_derivative.hpp"

namespace kestrel {

/// The frequency, times a bandwidth, where t^degree E(t) has decreased to the tolerance.
double cut_of_degree(const FourierGeometry& geometry, int degree);

/// A(t) = |phi(t)|^2, phi(t) = sum_j w_j exp(i t'z_j) / sum w, at the frequencies of a geometry,
/// and the pairs of outliers. With E_H(t) = exp(-t'Ht / 2) and the N(0, H) density K_H,
///
///     W^-2 sum_{i,j} w_i w_j (-1)^(r/2) D^alpha K_H(z_i - z_j)
///         = (2 pi)^-d int t^alpha A(t) E_H(t) dt,        r = |alpha| even,
///
/// i = j included. The integral is the trapezoid sum over the modes.
class FourierModes {
 public:
  /// Transforms the grid in place: O(N log N), N cells. Throws error(memory) if the pairs of
  /// outliers take more than `bytes`. Not to be called inside a parallel_for.
  FourierModes(FourierGrid&& grid, double bytes, const RunOptions& options);

  const FourierGeometry& geometry() const { return geometry_; }
  double weight() const { return weight_; }
  /// sum w^2 / (sum w)^2.
  double squared_share() const { return squared_share_; }

  /// The integral above for each monomial of the degrees, even and at most kHighestDegree, degree
  /// after degree. O(modes within the Gaussian).
  std::vector<double> moments(const Form3& h, const std::vector<int>& degrees,
                              const RunOptions& options) const;
  /// moments(h), degrees 0 and 2, then moments(2 h): for LSCV.
  std::vector<double> moments_of_both(const Form3& h, bool gradient,
                                      const RunOptions& options) const;
  /// The same integral with (1 - E_h)^2 instead of E_H, degree 0, and with (1 - E_h) E_h, degree 2,
  /// each times E_pilot: for SCV (Duong & Hazelton 2005), without cancellation.
  std::vector<double> smoothed_moments(const Form3& h, const Form3& pilot, bool gradient,
                                       const RunOptions& options) const;

  /// moments() of a diagonal h and one degree, of the pairs of samples with the images of samples,
  /// themselves included: z_i and sign z_j + shift, the sign and the shift of each axis one of its
  /// maps. Without the pairs of outliers. The period must be so long that no pair is nearer by
  /// whole periods. Throws error(internal) unless geometry().phases. O(modes 2^d).
  std::vector<double> image_moments(const Form3& h, int degree,
                                    const std::array<std::vector<ImageMap>, 3>& maps,
                                    const RunOptions& options) const;

  /// The cells from which a density with bandwidth matrix h, or a derivative of it, is read off, in
  /// z: the modes times the Gaussian and the derivative's factor, divided by the window's transform
  /// and the volume of the period, and transformed back. `to`: the geometry of that grid, of the
  /// same period but with other cells, no more modes and any origin. cells: to.box. Throws
  /// error(internal) unless geometry().phases. O(cells log cells).
  void density_cells(const FourierGeometry& to, const FourierWindow& window, const Form3& h,
                     const ModeDerivative& derivative, const ParallelOptions& options,
                     double* cells) const;

  double cut(int degree) const { return cut_of_degree(geometry_, degree); }

 private:
  struct Pair {
    Point3 difference;
    double weight;  // 2 w_i w_j / W^2
  };
  struct Row;

  template <class Visit>
  std::vector<double> sum_rows(const Form3& h, double cut, std::size_t sums,
                               const RunOptions& options, const Visit& visit) const;
  /// Adds scale * the share of the pairs of outliers in moments(h, degrees).
  void add_tail(const Form3& h, const std::vector<Exponents>& monomials, double scale,
                const RunOptions& options, double* total) const;
  void keep_powers(const FourierGrid& grid, const RawVector<double>& transformed,
                   const RunOptions& options);
  void find_pairs(const FourierTail& tail, double weight, double bytes);
  /// Turns sums over mode numbers into integrals.
  void scale_sums(const std::vector<Exponents>& monomials, double* sums) const;

  FourierGeometry geometry_;
  double weight_, squared_share_, outlier_share_ = 0;  // the latter: of outliers alone
  RawVector<double> power_;  // twice A if the last mode number is not zero
  /// sum_j w_j exp(-i t'(z_j - origin)), real and imaginary parts, if the geometry asks for phases.
  RawVector<double> wave_;
  std::vector<Pair> pair_;
};

}  // namespace kestrel

#endif
