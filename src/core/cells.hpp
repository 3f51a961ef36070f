// Samples in cells of a power-of-two width, and the moments of each cell: what the `cells` engine
// makes its Gaussian sums of (Greengard & Strain 1991, with exact cells and a relative bound).
//
// A cell of width W = 2^e is [k W, (k + 1) W). Its key k is a double, exact however large, since a
// number of 2^53 W and more is itself a multiple of W; key differences of neighbours are exact too.
// A sample is known by its cell and its offset z = x / W - k - 1/2 in [-1/2, 1/2]. So no data need
// centring, and nothing is lost to a far origin, to outliers or to clusters.
#ifndef KESTREL_CORE_CELLS_HPP
#define KESTREL_CORE_CELLS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/run_options.hpp"
#include "core/span.hpp"

namespace kestrel {

/// The exponent e with bandwidth * 2^-halvings / 2 < 2^e <= bandwidth * 2^-halvings. Throws
/// error(input) for a bandwidth that is not positive, or outside 1e-290 .. 1e290.
int cell_exponent(double bandwidth, int halvings);

/// Bound on |phi^(order)(u + v) - its Taylor polynomial in v of `moments` terms|, |v| <= rho, over
/// exp(-max(0, |u| - rho)^2 / 4), for phi without its constant, exp(-u^2/2). By Cramer's bound on
/// Hermite functions (Abramowitz & Stegun 1964, 22.14.17).
double taylor_error(double rho, int order, int moments);

/// out[k] = rho^k phi^(k)(u), k < count, phi(u) = exp(-u^2/2), by the recurrence of the Hermite
/// polynomials, which is stable upwards.
void scaled_derivatives(double u, double rho, int count, double* out);

constexpr int kMostMoments = 40;

/// The sums over pairs (i, j) of samples of two cells, w_i w_j (z_j - z_i)^m / m! for
/// m = 0, 1, ..., added up over pairs of cells.
class DifferenceMoments {
 public:
  /// `moments`: a multiple of 4, at most kMostMoments.
  explicit DifferenceMoments(int moments) : moments_(moments) {}

  /// From the moments of the cells (CellMoments) of i and of j, each about its centre.
  void add(const double* left, const double* right);
  /// total[m] += the sums, m < moments.
  void add_to(double* total) const;

 private:
  const int moments_;
  int pending_ = 0;  // sixteen terms are added at a time: equal cells round the same way each time
  double sum_[kMostMoments] = {}, recent_[kMostMoments] = {};
};

/// The least of some values and the largest.
struct ValueRange {
  double least, most;

  /// How many cells of width 2^exponent lie between them, both ends counted.
  double cells(int exponent) const;
};

/// Throws error(input) when a value is not finite. O(n).
ValueRange range_of(Span<const double> x);

/// Throws error(input) unless there is one weight a sample.
void check_sizes(Span<const double> x, Span<const double> w);

/// Throws error(input) when a weight is negative or not finite. O(n).
void check_weights(Span<const double> w);

/// Values brought into the order of their cells, with their weights where they have any; inside a
/// cell they keep their order. Only cells that hold something are stored.
class CellOrder {
 public:
  /// w: empty, or one weight a value. Throws error(input) when check_weights does, and when a value
  /// leaves the range of a double in units of the width. By counting within about 2 n cells
  /// of the middle of the values, by sorting further out: O(n + m log m) for m values there.
  CellOrder(Span<const double> x, Span<const double> w, const ValueRange& range, int exponent);

  int exponent() const { return exponent_; }
  std::size_t cells() const { return key_.size(); }
  /// Ascending.
  double key(std::size_t cell) const { return key_[cell]; }
  /// The values of a cell are at places first(cell), ..., first(cell + 1) - 1.
  std::size_t first(std::size_t cell) const { return first_[cell]; }
  std::size_t count(std::size_t cell) const { return first_[cell + 1] - first_[cell]; }
  /// By place.
  const double* offset() const { return offset_.data(); }
  const double* weight() const { return weight_.data(); }
  /// Where value i of the input went.
  std::size_t place(std::size_t i) const { return place_[i]; }

 private:
  void fill(Span<const double> x, Span<const double> w, double least, std::size_t slots);

  int exponent_;
  std::vector<double> key_;
  std::vector<std::size_t> first_;
  std::vector<double> offset_, weight_;
  std::vector<std::uint32_t> place_;
};

/// Parts of cells, each small enough for a work item, and the items: item k is the pieces
/// first_piece[k], ..., first_piece[k + 1] - 1.
struct CellPieces {
  struct Piece {
    std::size_t cell;
    std::size_t begin, end;  // places
  };
  std::vector<Piece> piece;
  std::vector<std::size_t> first_piece;

  std::size_t items() const { return first_piece.size() - 1; }
};

/// Cuts the chosen cells, in their order, into pieces.
CellPieces cut_cells(const CellOrder& order, const std::vector<std::size_t>& chosen);

/// For each chosen cell its `moments` moments, sum of w z^a / a! at [a], and its
/// sum_{i<j} w_i w_j, made of positive terms only. O(samples moments).
struct CellSums {
  std::vector<double> moment, pair_weight;
};
CellSums sum_cells(const CellOrder& order, const std::vector<std::size_t>& chosen, int moments,
                   const RunOptions& options);

/// Moments of a weighted sample in cells: moment(c)[a] = sum over the cell of w z^a / a!. With
/// them every sum over pairs of a smooth function of the distance in units of the width.
///
/// Adds up over parts of the data: the object of the whole is that of one part after add() of the
/// others, up to rounding.
class CellMoments {
 public:
  /// Samples are brought into order so many at a time where they share a few cells: what a
  /// second-level cache holds.
  static constexpr std::size_t kPartSize = std::size_t{1} << 15;

  /// `moments`: how many a cell, a multiple of 4 up to kMostMoments. Throws error(input) for data
  /// that range_of or CellOrder refuse. O(n moments); the same bits for every number of
  /// threads.
  CellMoments(Span<const double> x, Span<const double> w, int exponent, int moments,
              const RunOptions& options)
      : CellMoments(x, w, range_of(x), exponent, moments, options) {}
  /// The same for a known range of x.
  CellMoments(Span<const double> x, Span<const double> w, const ValueRange& range, int exponent,
              int moments, const RunOptions& options);

  /// From samples in the order of their cells, with weights.
  CellMoments(const CellOrder& order, int moments, const RunOptions& options);

  /// Adds the cells of other data, of the same width and number of moments.
  void add(const CellMoments& other);
  /// The cells of twice the width, with `moments` of them, not fewer than now: exact but for
  /// rounding, and for what narrow cells could do without. O(cells moments^2).
  void coarsen(int moments);

  int exponent() const { return exponent_; }
  int moments() const { return moments_; }
  std::size_t cells() const { return key_.size(); }
  double key(std::size_t cell) const { return key_[cell]; }
  const double* moment(std::size_t cell) const {
    return moment_.data() + cell * static_cast<std::size_t>(moments_);
  }
  /// [m] = sum over the pairs i < j that share a cell of w_i w_j (z_i - z_j)^m / m!, m even (odd
  /// ones mean nothing). Summed over true pairs only: nothing that belongs to i = j is added and
  /// taken away again, whatever the weights.
  const std::vector<double>& within() const { return within_; }

 private:
  void pair_within(const CellOrder& order, const std::vector<double>& pair_weight,
                   const RunOptions& options);

  int exponent_;
  int moments_;
  std::vector<double> key_, moment_, within_;
};

}  // namespace kestrel

#endif
