// Samples on the unit interval in cells, in which beta kernels are polynomials to rounding.
#ifndef KESTREL_CORE_BETA_BETA_CELLS_HPP
#define KESTREL_CORE_BETA_BETA_CELLS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"

namespace kestrel {

constexpr std::size_t kBetaNodes = 20;

/// Where a sample is: the number of its cell among those with samples, and the position in it.
struct BetaPlace {
  std::size_t cell;
  double t;  // from -1 to 1
};

/// A kernel at the nodes of cells first, first + 1, ..., those that it reaches.
struct BetaRow {
  std::size_t first = 0;
  std::vector<double> value;  // kBetaNodes for each
};

/// The cells of one variable (see README.md), of which only those with samples exist.
class BetaCells {
 public:
  /// x: samples in [0, 1]. O(n log n).
  BetaCells(Span<const double> x, double b, const ParallelOptions& options);

  std::size_t size() const { return id_.size(); }
  /// The distances of the nodes from the nearer end of the unit interval, kBetaNodes for each cell.
  const std::vector<double>& nodes() const { return node_; }
  /// A function that is smooth on cells at x, from its values at the nodes.
  double interpolated(double x, Span<const double> values) const;
  BetaPlace place(double x) const;
  /// Of a sample at t the weights of the nodes: the polynomials that are one at one node and zero
  /// at the others. At an end of the unit interval all of the weight is the first node's.
  void weights(const BetaPlace& place, double* out) const;
  /// The kernel at u, 0 <= u <= 1, at the nodes of all cells that it reaches.
  void row(double u, BetaRow* out) const;

 private:
  struct Cell {
    std::uint64_t id;
    double middle, half;  // of the distance from the nearer end, or of its logarithm
  };
  Cell cell_of(double y) const;
  /// Half as many cells as there can be on the unit interval. Those of the upper half have numbers
  /// from the last one down.
  std::uint64_t number(std::uint64_t cell, bool upper) const { return upper ? last_ - cell : cell; }

  double b_;
  std::uint64_t powers_;   // how many cells are even in the logarithm, and
  std::uint64_t doubled_;  // how many after them double
  double first_, width_;   // of the others, in asin(sqrt(y))
  std::uint64_t even_, last_;
  std::vector<std::uint64_t> id_;  // ascending
  std::vector<double> node_;       // kBetaNodes distances from the nearer end for each cell
};

/// The weights of the nodes cos(pi (j + 1/2) / 20) of panels between `breaks`, for integrals of
/// functions that are smooth on panels: those of samples x, which are between the first break and
/// the last one, with weights w. 20 numbers for each panel.
void move_to_panels(Span<const double> breaks, Span<const double> x, Span<const double> w,
                    const ParallelOptions& options, Span<double> out);

}  // namespace kestrel

#endif
