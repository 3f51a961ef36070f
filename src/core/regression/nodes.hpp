// Sums of a smooth kernel over a sorted sample, by interpolation: the weights of the samples in a
// cell are moved to 16 Chebyshev nodes, where they give the same sums up to rounding.
#ifndef KESTREL_CORE_REGRESSION_NODES_HPP
#define KESTREL_CORE_REGRESSION_NODES_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/raw_array.hpp"
#include "core/base/run_options.hpp"
#include "core/base/two_part.hpp"
#include "core/data/sorted_sample.hpp"
#include "simd/nodes/nodes.hpp"

namespace kestrel {

/// The 16 nodes on [-1, 1], cos(pi (2 n + 1) / 32), and what maps values at them to other things.
constexpr std::size_t kNodes = simd::kNodes;
struct NodeTables {
  NodeTables();

  double node[kNodes];
  /// Matrices for NodeTable::add_product: from values at nodes to coefficients of Chebyshev
  /// polynomials; from sums of the polynomials to weights at the nodes; and from sums in the left
  /// half of a cell to sums in the cell.
  double coefficients[kNodes * kNodes], weights[kNodes * kNodes], left_half[kNodes * kNodes],
      right_half[kNodes * kNodes];
};
const NodeTables& node_tables();

/// From 16 values at the nodes to their even and odd parts (simd::NodePair), and back from what
/// NodeTable::add_pairs makes of these.
void to_parts(const double* value, double* parts);
void from_parts(const double* parts, double* value);

/// The cells [k W, (k + 1) W), W = 2^exponent, that hold samples, in ascending order. A position x
/// has t = 2 (x / W - k) - 1 in its cell, which is exact, so that a far origin costs no digits.
struct NodeLevel {
  int exponent = 0;
  std::vector<double> key;           // k
  std::vector<std::uint32_t> first;  // samples of cell c: first[c] .. first[c + 1] - 1
  std::vector<double> weight;        // the sum of w
  std::vector<double> reference;     // y of the cell's line at its centre
  std::size_t columns = 0;           // 1, 2 or 3
  /// columns times 16 values a cell: sums over its samples of w l_n(t), w e l_n(t), w e^2 l_n(t)
  /// with l_n the Lagrange polynomials of the nodes and e = y minus the cell's line.
  RawArray<double> at_nodes;

  /// Of the first two of these, the even and odd parts (simd::NodePair).
  RawArray<double> parts;

  std::size_t cells() const { return key.size(); }
  const double* column(std::size_t cell) const { return at_nodes.data() + cell * columns * kNodes; }
  const double* parts_of(std::size_t cell) const {
    return parts.data() + cell * columns_with_parts() * kNodes;
  }
  std::size_t columns_with_parts() const { return std::min<std::size_t>(columns, 2); }
  /// Sets the parts of a cell.
  void part(std::size_t cell);
};

/// Cells of all widths from one up to about a quarter of the range of the sample. Responses are
/// taken relative to a line in each cell, so that offsets, and a trend of the given slope, cost no
/// digits.
class NodeCells {
 public:
  /// `exponent`: of the narrowest cells. columns > 1 needs responses. The sample outlives the
  /// object. O(n); memory 8 to 24 bytes times 16 a cell. The same bits for any number of threads.
  NodeCells(const SortedSample& sample, std::size_t columns, double slope, int exponent,
            const RunOptions& options);
  /// Of cells without samples: `finest` has their keys and references, and `sums`, as
  /// NodeTable::chebyshev_sums, three columns each. There is no slope, and `first` counts the
  /// finest cells. O(cells).
  NodeCells(NodeLevel finest, RawArray<double> sums, const RunOptions& options);

  double slope() const { return slope_; }
  int finest() const { return levels_.front().exponent; }
  /// The level of that exponent, or the widest one if it is wider. exponent >= finest().
  const NodeLevel& level(int exponent) const;

 private:
  void open_cells(const SortedSample& sample, const ParallelOptions& options);
  void fill(const SortedSample& sample, const RunOptions& options);
  void move_to_nodes(const RunOptions& options);
  void unite(double range, const RunOptions& options);
  NodeLevel united(const NodeLevel& from, const RunOptions& options);

  double slope_;
  std::vector<NodeLevel> levels_;
  RawArray<double> sums_;  // of Chebyshev polynomials in the cells of the latest level
};

/// (y - reference) - slope * distance, rounded once: where a trend is steep, the terms are far
/// larger than what remains of them.
inline double off_line(double y, double reference, double slope, const TwoPart& distance) {
  if (slope == 0) return y - reference;
  return (exact_difference(y, reference) - distance * slope).value();
}

/// The exponent of the cells for a bandwidth: at most as wide as it is, and half as wide for
/// Gaussian kernels of higher order. Interpolation of K(u) u^2 at the nodes then errs by 1e-15
/// (Trefethen 2013, theorem 8.2, with Cramer's bound on Hermite functions), of K(u)^2 by 3e-14.
inline int node_exponent(double h, int order) { return std::ilogb(h) - (order > 2 ? 1 : 0); }

/// The exponent of the narrowest cells that pay: they hold `of_cell` samples in the mean, or more.
/// The sample has two different positions, and at least 4 of_cell observations. O(n), and again
/// for every width that is tried below 2^-61 of the largest |x|.
int finest_exponent(const SortedSample& sample, double of_cell, const ParallelOptions& options);

}  // namespace kestrel

#endif
