// Bandwidths that use cells of the same width: those from one power of two to the next.
#ifndef KESTREL_CORE_FGT_OCTAVES_HPP
#define KESTREL_CORE_FGT_OCTAVES_HPP

#include <cstddef>
#include <vector>

namespace kestrel {

/// The normal density of variance `variance` h^2.
struct PairBandwidth {
  double h;
  int variance;  // 1 or 2

  double deviation() const;
};

/// Bandwidths whose standard deviations lie in one octave. Cells for them are 2^exponent wide.
struct Octave {
  int exponent;
  std::vector<std::size_t> index;  // of the bandwidths, ascending
  double largest = 0.0;            // the largest of the standard deviations

  /// How many lags of cells are within `reach` deviations of the largest bandwidth.
  int lags(double reach) const;
};

/// In ascending order. Widths are at most 2^-halvings of every deviation, and more than half of
/// that for each. Throws error(input) as cell_exponent.
std::vector<Octave> octaves_of(const std::vector<PairBandwidth>& bandwidths, int halvings);

/// Turns a sum of phi^(order)((x_i - x_j) / g), times (2^exponent / g)^order and without the
/// constant of phi, into the sum of phi_g^(order)(x_i - x_j), in units x^-(1 + order).
double in_units_of_x(double sum, double g, int exponent, int order);

}  // namespace kestrel

#endif
