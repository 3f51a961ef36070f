// The modes of spread samples, smoothed by a Gaussian.
#ifndef KESTREL_CORE_FOURIER_SMOOTH_HPP
#define KESTREL_CORE_FOURIER_SMOOTH_HPP

#include "core/base/parallel.hpp"
#include "core/fourier/forms.hpp"
#include "core/fourier/geometry.hpp"
#include "core/fourier/mode_derivative.hpp"
#include "core/fourier/rows.hpp"
#include "core/fourier/window.hpp"

namespace kestrel {

/// What makes modes of a smoothed density of those of samples that are spread: exp(-t'ht / 2),
/// divided by the volume of the period and by the window's transform, which is raised to the power
/// `windows`: 1 for the spreading, and one more if values will be read off with the window.
class ModeFactors {
 public:
  ModeFactors(const FourierGeometry& geometry, const FourierWindow& window, const Form3& h,
              int windows);

  /// Those of the modes (k0, k1, k), first <= k < first + count. out has room for kRowPadding
  /// values more.
  void fill(std::ptrdiff_t k0, std::ptrdiff_t k1, std::size_t first, std::size_t count,
            double* out) const;
  /// The least t'ht of these modes.
  double least_form(std::ptrdiff_t k0, std::ptrdiff_t k1, std::size_t first,
                    std::size_t count) const {
    return rows_.least_form(static_cast<double>(k0), static_cast<double>(k1),
                            static_cast<double>(first), static_cast<double>(first + count - 1));
  }

 private:
  std::array<std::vector<double>, 3> unspread_;  // the window's share by axis and mode
  double volume_ = 1;
  GaussianOfRows rows_;
};

/// from: the forward_transform of samples that a FourierGrid with this geometry has spread. Each
/// mode is multiplied by its ModeFactors and by the factor of a derivative. `to` has the results,
/// and may be `from`. O(modes).
void smooth_modes(const FourierGeometry& geometry, const FourierWindow& window, const Form3& h,
                  int windows, const ModeDerivative& derivative, const ParallelOptions& options,
                  const double* from, double* to);

}  // namespace kestrel

#endif
