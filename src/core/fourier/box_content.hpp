// What the samples in the box of a grid weigh and how far apart they are: what the error of a grid
// depends on.
#ifndef KESTREL_CORE_FOURIER_BOX_CONTENT_HPP
#define KESTREL_CORE_FOURIER_BOX_CONTENT_HPP

#include <array>
#include <cstddef>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/base/span.hpp"
#include "core/fourier/geometry.hpp"

namespace kestrel {

/// Bins of the histograms of BoxContent.
constexpr std::size_t kFourierBins = 256;

struct BoxContent {
  double weight = 0, squares = 0;  // sums of weights and of their squares
  /// By axis: the weight of ordered pairs so many bins apart, of kFourierBins from low to high.
  std::array<std::vector<double>, 3> at_lag;
};

/// Of the samples between geometry.low and geometry.high. O(n).
BoxContent look_into_box(const MatrixView& x, Span<const double> w, const FourierGeometry& geometry,
                         const RunOptions& options);

/// A lower bound on S(2H) / K_2H(0), S(2H) the mean over all pairs of samples of K_2H, where no
/// bandwidth matrix is larger than max^2 and one direction is that wide. The terms i = j alone give
/// 1 / n_eff. And S(2H) = int f^2 for the estimate f with bandwidth H, which is at least
/// (int_B f)^2 / |B| for the box B of the samples widened by 2.1 standard deviations, where 0.98 of
/// f's weight lies in each direction (Cauchy-Schwarz).
double min_sum(const BoxContent& content, const FourierGeometry& geometry);

/// What the images of all pairs of samples add to S(2H), when sample j has images at z_j + k
/// period, k = 1, -1, along an axis: relative to K_2H(0), at most. A pair at distance r has its
/// nearest image at distance period - r.
double image_sum(const BoxContent& content, const FourierGeometry& geometry, std::size_t axis,
                 double period);

}  // namespace kestrel

#endif
