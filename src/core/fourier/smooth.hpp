// The modes of spread samples, smoothed by a Gaussian.
#ifndef KESTREL_CORE_FOURIER_SMOOTH_HPP
#define KESTREL_CORE_FOURIER_SMOOTH_HPP

#include "core/base/parallel.hpp"
#include "core/fourier/forms.hpp"
#include "core/fourier/geometry.hpp"
#include "core/fourier/mode_derivative.hpp"
#include "core/fourier/window.hpp"

namespace kestrel {

/// from: the forward_transform of samples that a FourierGrid with this geometry has spread. Each
/// mode is multiplied by exp(-t'ht / 2) and the factor of a derivative, and divided by the volume
/// of the period and by the window's transform, which is raised to the power `windows`: 1 for the
/// spreading, and one more if values will be read off with the window. `to` has the results, and
/// may be `from`. O(modes).
void smooth_modes(const FourierGeometry& geometry, const FourierWindow& window, const Form3& h,
                  int windows, const ModeDerivative& derivative, const ParallelOptions& options,
                  const double* from, double* to);

}  // namespace kestrel

#endif
