// A Gaussian kernel sum and its derivatives, to be read off at points that are not known yet.
#ifndef KESTREL_CORE_FOURIER_FIELD_HPP
#define KESTREL_CORE_FOURIER_FIELD_HPP

#include <memory>

#include "core/base/raw_array.hpp"
#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/fourier/density_grid.hpp"
#include "core/fourier/layout.hpp"
#include "core/fourier/reader.hpp"

namespace kestrel {

/// f(e) = sum_j w_j K_H(e - x_j), H = L L', with its first and second derivatives by u = L^-1 e, up
/// to one factor. A view of nothing: the samples may go once it is made.
class FourierField {
 public:
  /// For points in the box of samples and `points`, which may have no rows. x: n*d samples, d = 1
  /// to 3; w: n weights; root: L, d*d column-major. Error: `tolerance` of the largest f, and of the
  /// largest sum of the absolute values of the terms of each derivative. Nothing if the grids would
  /// need more than `bytes`, or if coordinates round more than the tolerance allows. O(n + N log
  /// N), N cells, and 8 N bytes for each derivative.
  static std::unique_ptr<FourierField> make(const MatrixView& x, Weights w,
                                            const MatrixView& points, Span<const double> root,
                                            double tolerance, double bytes,
                                            const RunOptions& options);
  FourierField(const FourierField&) = delete;
  FourierField& operator=(const FourierField&) = delete;

  /// How many values a point has: f and its derivatives, in the order of the Monomials of degree 2.
  std::size_t values() const { return values_; }
  /// An upper bound on f anywhere.
  double largest() const { return largest_; }
  /// The values at the point v, d coordinates. Returns false outside of the box, and where no
  /// sample is within reach. O(taps^d).
  bool read(const double* v, double* out) const;

 private:
  FourierField(DataRange&& extent, const DensityLayout& layout, double tolerance);
  void fill(const MatrixView& x, Weights w, const RunOptions& options);

  const DataRange extent_;
  const DensityLayout layout_;
  DensityGrid grid_;
  std::size_t values_;
  RawVector<double> cells_;
  double largest_ = 0;
  std::unique_ptr<const FourierReader> reader_;
};

}  // namespace kestrel

#endif
