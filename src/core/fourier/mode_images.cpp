// Sums over pairs of samples and their images, from the modes of the samples.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <vector>

#include "core/base/aligned_buffer.hpp"
#include "core/base/error.hpp"
#include "core/base/summation.hpp"
#include "core/fourier/modes.hpp"
#include "core/fourier/rows.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

namespace {

/// sum over the maps of one sign of exp(-i t s'), t the modes 0, 1, ... of an axis. The images of
/// z - origin are sign (z - origin) + s'.
std::vector<std::complex<double>> waves_of_maps(const std::vector<ImageMap>& maps, int sign,
                                                const FourierGeometry& geometry, std::size_t axis) {
  std::vector<std::complex<double>> waves(geometry.box.max[axis] + 1);
  for (const ImageMap& map : maps) {
    if (map.sign != sign) continue;
    const long double moved = map.shift - (sign < 0 ? 2 : 0) * geometry.origin[axis];
    // In turns, which are reduced before they are rounded.
    const long double turn = geometry.box.cells[axis] == 1 ? 0 : moved / geometry.period[axis];
    for (std::size_t k = 0; k < waves.size(); ++k) {
      const long double turns = static_cast<long double>(k) * turn;
      const double part = static_cast<double>(turns - std::floor(turns));
      waves[k] += std::polar(1.0, -2 * kPi * part);
    }
  }
  return waves;
}

/// The real part of F conj(F of all images), along rows of modes. With F(t) = sum_j w_j exp(-i
/// t'(z_j - origin)) those of the images by maps of some signs are F at the frequencies with these
/// signs, times the waves of the maps.
class ImageRows {
 public:
  ImageRows(const FourierGeometry& geometry, const double* modes,
            const std::array<std::vector<ImageMap>, 3>& maps)
      : box_(geometry.box), modes_(modes) {
    for (std::size_t a = 0; a < 3; ++a) {
      waves_[a] = {waves_of_maps(maps[a], 1, geometry, a), waves_of_maps(maps[a], -1, geometry, a)};
    }
  }

  /// For the modes (k0, k1, k), k = 0, ..., max.
  void fill(std::ptrdiff_t k0, std::ptrdiff_t k1, double* out) const {
    const std::size_t length = box_.max[2] + 1;
    std::fill(out, out + length, 0.0);
    const double* plain = row_at(k0, k1);
    for (unsigned signs = 0; signs < 8; ++signs) {
      const std::size_t of[3] = {signs & 1, signs >> 1 & 1, signs >> 2 & 1};
      const std::complex<double> of_row = wave_at(0, of[0], k0) * wave_at(1, of[1], k1);
      const std::vector<std::complex<double>>& last = waves_[2][of[2]];
      if (of_row == 0.0 || last[0] == 0.0) continue;  // no maps of these signs
      // The other sign of the last axis: F(-t) is the conjugate of F(t).
      const std::ptrdiff_t turned = of[2] == 1 ? -1 : 1;
      const double* image =
          row_at(turned * (of[0] == 1 ? -k0 : k0), turned * (of[1] == 1 ? -k1 : k1));
      for (std::size_t k = 0; k < length; ++k) {
        const std::complex<double> at(plain[2 * k], -plain[2 * k + 1]),
            to(image[2 * k], static_cast<double>(turned) * image[2 * k + 1]);
        out[k] += (at * to * of_row * last[k]).real();
      }
    }
  }

 private:
  std::complex<double> wave_at(std::size_t a, std::size_t sign, std::ptrdiff_t k) const {
    const std::complex<double> wave = waves_[a][sign][static_cast<std::size_t>(std::abs(k))];
    return k < 0 ? std::conj(wave) : wave;
  }
  const double* row_at(std::ptrdiff_t k0, std::ptrdiff_t k1) const {
    const std::size_t i = static_cast<std::size_t>(k0 + static_cast<std::ptrdiff_t>(box_.max[0]));
    const std::size_t j = static_cast<std::size_t>(k1 + static_cast<std::ptrdiff_t>(box_.max[1]));
    return modes_ + 2 * (i * (2 * box_.max[1] + 1) + j) * (box_.max[2] + 1);
  }

  const TransformBox& box_;
  const double* const modes_;
  std::array<std::array<std::vector<std::complex<double>>, 2>, 3> waves_;  // of 1 and -1
};

}  // namespace

std::vector<double> FourierModes::image_moments(const Form3& h, int degree,
                                                const std::array<std::vector<ImageMap>, 3>& maps,
                                                const RunOptions& options) const {
  if (wave_.empty()) throw error(ErrorKind::internal, "the modes have no phases");
  const TransformBox& box = geometry_.box;
  const std::vector<Exponents> monomials = monomials_of_degree(geometry_.d, degree);
  const ImageRows rows(geometry_, wave_.data(), maps);
  const GaussianOfRows gaussian(h, geometry_);
  const double limit = std::pow(cut(degree) + 1, 2), last = static_cast<double>(box.max[2]);
  const std::size_t length = box.max[2] + 1, sums = monomials.size();
  std::vector<double> partial(box.rows_of_modes() * sums, 0.0);
  std::vector<AlignedBuffer> scratch(parallel_workers(box.rows_of_modes(), options.parallel));
  for_rows_of_modes(box, options.parallel,
                    [&](std::ptrdiff_t k0, std::ptrdiff_t k1, std::size_t row, int worker) {
                      const double of_k0 = static_cast<double>(k0), of_k1 = static_cast<double>(k1);
                      if (gaussian.least_form(of_k0, of_k1, 0, last) > limit) return;
                      AlignedBuffer& memory = scratch[static_cast<std::size_t>(worker)];
                      if (memory.data() == nullptr) memory.resize(2 * (length + kRowPadding));
                      double *weight = memory.data(), *product = weight + length + kRowPadding;
                      rows.fill(k0, k1, product);
                      gaussian.fill(k0, k1, length, weight);
                      for (std::size_t k = 0; k < length; ++k)
                        weight[k] *= (k == 0 ? 1 : 2) * product[k];
                      double sum[kHighestDegree + 1], power0[kHighestDegree + 1],
                          power1[kHighestDegree + 1];
                      power_sums(weight, 0, length, degree, sum);
                      power0[0] = power1[0] = 1;
                      for (int e = 1; e <= degree; ++e) {
                        power0[e] = power0[e - 1] * of_k0;
                        power1[e] = power1[e - 1] * of_k1;
                      }
                      for (std::size_t m = 0; m < sums; ++m) {
                        const Exponents& e = monomials[m];
                        partial[row * sums + m] = power0[e[0]] * power1[e[1]] * sum[e[2]];
                      }
                    });
  std::vector<double> total(sums);
  for (std::size_t m = 0; m < sums; ++m) {
    total[m] = pairwise_sum(partial.data() + m, box.rows_of_modes(), sums) / weight_ / weight_;
  }
  scale_sums(monomials, total.data());
  return total;
}

}  // namespace kestrel
