// How many moments a cell needs and how far lags of cells have to be looked at, so that sums over
// all pairs of samples are accurate relative to themselves.
#ifndef KESTREL_CORE_FGT_TRUNCATION_HPP
#define KESTREL_CORE_FGT_TRUNCATION_HPP

namespace kestrel {

constexpr int kHighestPairOrder = 10;

/// Error, relative to the sum of |terms|, up to which cells are trusted with a sum over pairs; the
/// truncation is planned to be below a tenth of it.
constexpr double kPairTolerance = 5e-15;

/// What sums of phi^(order)((x_i - x_j) / g) are cut to, phi(u) = exp(-u^2/2), when cells are at
/// most 2^-halvings g wide: so many moments (Taylor's series), lags up to so many bandwidths.
///
/// For pairs of cells at lag l there are at most as many pairs of samples, N_l <= N_0 = sum W^2, as
/// i, j in a common cell (Cauchy and Schwarz), whose terms are at least min |phi^(order)(u)|,
/// |u| <= rho, rho the width in bandwidths. So both truncations are bounded relative to the sum of
/// |terms| whatever the data -- but for the pairs i = j in N_0, for which LagTable::evaluate looks
/// at the sums it got.
struct PairTruncation {
  explicit PairTruncation(int order);

  /// How many moments do for cells of 2^-halved of the widest width.
  int moments_of(int halved) const;

  int order;
  int halvings;        // widths are at most 2^-halvings of the bandwidth
  double min;          // min |phi^(order)(u)| in a cell of that width
  double taylor;       // the error of a pair by Taylor's series that is aimed at
  int moments;         // of cells that wide
  double reach = 7.0;  // lags are needed up to so many bandwidths
};

}  // namespace kestrel

#endif
