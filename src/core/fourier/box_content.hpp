// The weight of the samples in the box of a grid, and their distances: the error of a grid depends
// on these.
#ifndef KESTREL_CORE_FOURIER_BOX_CONTENT_HPP
#define KESTREL_CORE_FOURIER_BOX_CONTENT_HPP

#include <array>
#include <cstddef>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"
#include "core/fourier/geometry.hpp"

namespace kestrel {

/// Bins of the histograms of BoxContent.
constexpr std::size_t kFourierBins = 256;

struct BoxContent {
  double weight = 0, squares = 0;  // sums of weights and of their squares
  /// By axis: the weight of ordered pairs that are that many bins apart, of kFourierBins from low
  /// to high.
  std::array<std::vector<double>, 3> at_lag;
};

/// About the samples between geometry.low and geometry.high. O(n).
BoxContent look_into_box(const MatrixView& x, Weights w, const FourierGeometry& geometry,
                         const RunOptions& options);

/// at_lag of the weights in kFourierBins bins.
std::vector<double> weight_at_lags(const double* bin);

/// A lower bound on S(2H) / K_2H(0), where S(2H) is the mean of K_2H over all pairs of samples, for
/// bandwidth matrices of at most max^2. The terms i = j alone give 1 / n_eff. The other bound:
/// S(2H) = int f^2 for the estimate f with bandwidth H. By Cauchy-Schwarz this is at least (int_B
/// f)^2 / |B| for the box B of the samples widened by 2.1 standard deviations, which holds 0.98 of
/// f's weight in each direction.
double min_sum(const BoxContent& content, const FourierGeometry& geometry);

/// An upper bound, relative to K_2H(0), on what the images of all pairs of samples add to S(2H), if
/// sample j has images at z_j + k period, k = 1, -1, along an axis. A pair at distance r has its
/// nearest image at distance period - r.
double image_sum(const BoxContent& content, const FourierGeometry& geometry, std::size_t axis,
                 double period);

}  // namespace kestrel

#endif
