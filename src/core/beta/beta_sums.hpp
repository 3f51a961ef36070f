// Sums of products of beta kernels, in time proportional to the numbers of samples and of points.
#ifndef KESTREL_CORE_BETA_BETA_SUMS_HPP
#define KESTREL_CORE_BETA_BETA_SUMS_HPP

#include <cstddef>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "core/beta/beta_cells.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

/// The weights of samples moved to the nodes of their cells, of the products of cells of one to
/// three variables. The first variable is fastest.
class BetaSums {
 public:
  /// x: n*d samples in the unit cube; b: one for each variable, 0 < b <= 1/4. O(n 20^d), and memory
  /// for nodes(). The same bits for every number of threads.
  BetaSums(const MatrixView& x, Weights w, Span<const double> b, const ParallelOptions& options);

  /// out[i] = sum_j w_j prod_k K_b_k(x_jk; u_ik), for points u in the unit cube: m*d. Error: 1e-13
  /// of the sum over the samples that a kernel reaches of its largest value. O(m r^d), r the nodes
  /// in reach along an axis, 200 or so.
  void at_points(const MatrixView& points, const ParallelOptions& options, Span<double> out) const;
  /// The same at the points of a grid, first axis fastest. O(m_d r nodes / N_d + ...), for axes of
  /// m_k points and N_k nodes.
  void on_grid(const std::vector<Span<const double>>& axes, const ParallelOptions& options,
               Span<double> out) const;

 private:
  void move(const MatrixView& x, Weights w, const ParallelOptions& options);
  void add_sample(double w, const std::vector<BetaPlace>& places);

  std::vector<BetaCells> cells_;
  std::vector<std::size_t> stride_;  // of the nodes of each axis, and the number of all
  std::vector<double> weight_;
};

/// The number of cells of each variable that have samples.
std::vector<std::size_t> count_beta_cells(const MatrixView& x, Span<const double> b,
                                          const ParallelOptions& options);

}  // namespace kestrel

#endif
