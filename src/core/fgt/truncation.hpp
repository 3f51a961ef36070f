// How many moments a cell needs and up to which lag cells have to be looked at, so that sums over
// all pairs of samples have a relative accuracy.
#ifndef KESTREL_CORE_FGT_TRUNCATION_HPP
#define KESTREL_CORE_FGT_TRUNCATION_HPP

namespace kestrel {

constexpr int kHighestPairOrder = 10;

/// The maximum error, relative to the sum of |terms|, with which a sum over pairs is left to cells;
/// the truncation is planned to be below a tenth of it.
constexpr double kPairTolerance = 5e-15;

/// The truncation of sums of phi^(order)((x_i - x_j) / g), phi(u) = exp(-u^2/2), if cells are at
/// most 2^-halvings g wide: the number of moments (Taylor's series) and the largest lag, in
/// bandwidths.
///
/// At lag l there are at most as many pairs of samples, N_l <= N_0 = sum W^2, as there are i, j in
/// a common cell (Cauchy and Schwarz). The terms of the latter are at least min |phi^(order)(u)|,
/// |u| <= rho, rho the width in bandwidths. So both truncations are bounded relative to the sum of
/// |terms| whatever the data -- except that N_0 includes the pairs i = j, for which
/// LagTable::evaluate checks the sums it got.
struct PairTruncation {
  explicit PairTruncation(int order);

  /// How many moments are enough for cells of 2^-halved of the largest width.
  int moments_of(int halved) const;

  int order;
  int halvings;        // widths are at most 2^-halvings of the bandwidth
  double min;          // min |phi^(order)(u)| in a cell of that width
  double taylor;       // Taylor's series' error of a pair that is aimed at
  int moments;         // of cells that wide
  double reach = 7.0;  // lags are needed up to this many bandwidths
};

}  // namespace kestrel

#endif
