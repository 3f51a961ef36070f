// Samples spread over a grid: all that the `fourier` engine keeps of the samples in its box.
#ifndef KESTREL_CORE_FOURIER_GRID_HPP
#define KESTREL_CORE_FOURIER_GRID_HPP

#include <cstddef>
#include <vector>

#include "core/base/raw_array.hpp"
#include "core/data/weights.hpp"
#include "core/fourier/geometry.hpp"
#include "core/fourier/tail.hpp"
#include "core/fourier/window.hpp"

namespace kestrel {

/// grid(c) = sum_j w_j prod_a psi(c_a - g_aj), where g_j is the position of sample j in cells and
/// psi the window: the first half of a non-uniform Fourier transform of type 1 (Dutt & Rokhlin
/// 1993; Barnett, Magland & af Klinteberg 2019). Outliers are kept as they are.
///
/// Data may be added in parts: the result is, but for rounding, that of all of them at once.
class FourierGrid {
 public:
  /// Empty. Throws std::bad_alloc.
  FourierGrid(const FourierGeometry& geometry, const RunOptions& options);

  /// Spreads samples. O(n (taps^d + 20 taps d)); at most 45 MB besides the grid. The same bits for
  /// every number of threads. Throws error(internal) for another number of variables.
  void add(const MatrixView& x, Weights w, const RunOptions& options);

  /// Samples that are spread already: the sums of their weights and of the squares of these.
  /// Returns the cells, to which the caller adds what they add.
  RawVector<double>& add_spread(double weight, double squares) {
    weight_ += weight;
    squares_ += squares;
    return cells_;
  }

  const FourierGeometry& geometry() const { return geometry_; }
  const FourierWindow& window() const { return window_; }
  const FourierTail& tail() const { return tail_; }
  /// Sums of the weights and of their squares, outliers included.
  double weight() const { return weight_; }
  double squared_weights() const { return squares_; }
  /// Laid out as geometry().box.
  const RawVector<double>& cells() const { return cells_; }
  /// Moves the cells out.
  RawVector<double> take_cells() { return std::move(cells_); }

 private:
  FourierGeometry geometry_;
  FourierWindow window_;
  FourierTail tail_;
  double weight_ = 0, squares_ = 0;
  RawVector<double> cells_;
};

}  // namespace kestrel

#endif
