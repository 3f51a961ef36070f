// The leaf loops of Gaussian sums by interpolation at Chebyshev nodes (core/regression/nodes.hpp).
#ifndef KESTREL_SIMD_NODES_NODES_HPP
#define KESTREL_SIMD_NODES_NODES_HPP

#include <cstddef>

#include "simd/table.hpp"

namespace kestrel {
namespace simd {

// Nodes of a cell: the zeros of the Chebyshev polynomial T_16.
constexpr int kNodes = 16;

// Values at the nodes t_0 > t_1 > ... as their even and odd parts: v(t_n) + v(-t_n), n < 8, and
// then v(t_n) - v(-t_n). The kernel's matrices are symmetric under t -> -t together with the
// exchange of the cells, so that two cells at the same distance cost as much as one.
constexpr int kNodeHalf = kNodes / 2;

// Two cells of samples as a cell of points between them sees them. `matrix` has the kernel of the
// right one, 32 values for each of the 8 rows m: from the even part m to the even parts of the
// points, from the odd part m to the even parts, and from both to the odd parts. A column has the
// parts of the samples' weights and then, for a second column, of their weighted responses, to
// which `shift` times the weights is added. It is null where there is no cell.
struct NodePair {
  const double* matrix;
  const double *right, *left;
  double right_shift, left_shift;
};

struct NodeTable {
  // sum[16 c + k] = sum_i value_c[i] T_k(t_i), c < columns, where value_0 = w (1 if null), value_1
  // = w e, value_2 = w e^2.
  void (*chebyshev_sums)(const double* t, const double* w, const double* e, std::size_t count,
                         int columns, double* sum);
  // sum[n] += sum_m matrix[16 m + n] value[m].
  void (*add_product)(const double* matrix, const double* value, double* sum);
  // Adds, for K(u) u^q, q < powers <= 3, with matrices `stride` apart, and columns <= 2, the even
  // and odd parts of the pairs' sums to sum[16 (columns q + c)]. These are half of those above, so
  // that their sum and difference are the values.
  void (*add_pairs)(const NodePair* pair, std::size_t count, int columns, int powers,
                    std::size_t stride, double* sum);
  // value[stride f + i] = sum_k coefficient[16 f + k] T_k(t_i), f < functions <= 6.
  void (*interpolate)(const double* coefficient, int functions, const double* t, std::size_t count,
                      std::size_t stride, double* value);
};

extern const NodeTable* const kNodeTables[kSets];

}  // namespace simd
}  // namespace kestrel

#endif
