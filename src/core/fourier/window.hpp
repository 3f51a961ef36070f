// The Kaiser-Bessel window with which samples are spread over a grid, and its Fourier transform.
#ifndef KESTREL_CORE_FOURIER_WINDOW_HPP
#define KESTREL_CORE_FOURIER_WINDOW_HPP

#include "simd/fourier/spread.hpp"

namespace kestrel {

/// psi(u) = I0(beta sqrt(1 - (2 u / w)^2)) / I0(beta), |u| <= w / 2, u in cells of the grid. Its
/// energy outside a band is nearly the minimum for a function with that support (Kaiser & Kuo 1966;
/// Barnett, Magland & af Klinteberg 2019, section 2). beta = 2.53 w suits a grid 1.25 times as fine
/// as the highest frequency needs, if a Gaussian damps the errors of spreading near that frequency.
class FourierWindow {
 public:
  static constexpr int kMaxTaps = static_cast<int>(simd::kWindowTaps);
  /// Cells of a grid for each mode, along an axis: 1.25 times as many as the modes from -m to m
  /// need.
  static constexpr double kCellsOfMode = 2.5;

  /// `taps` = w, 8 to 16. O(taps) evaluations of psi for each term of its polynomials.
  explicit FourierWindow(int taps);

  /// The minimum number of taps for which the aliases of spreading, damped by a Gaussian that is
  /// 1e-1 tolerance at the highest frequency, stay below a tenth of the tolerance.
  static int taps_for(double tolerance);

  int taps() const { return taps_; }

  /// psi(j - w/2 + f), tap j, f in [0, 1], as polynomials: accurate to 4e-16 if a long double has
  /// 64 bits, to 1e-14 if it is a double (measured: 8e-15). Points into this object.
  simd::Window polynomials() const { return {even_, odd_, kTerms, taps_}; }

  /// The Fourier transform of psi, int psi(u) exp(2 pi i f u) du; f in cycles a cell, below 1/2.
  double transform(double f) const;

  /// int u^2 psi(u) du / int psi(u) du: what spreading adds to the variance of samples.
  double variance() const;

 private:
  static constexpr int kTerms = 10;  // terms of a tap's even and odd polynomial

  int taps_;
  double beta_;
  alignas(64) double even_[kTerms][kMaxTaps] = {}, odd_[kTerms][kMaxTaps] = {};
};

}  // namespace kestrel

#endif
