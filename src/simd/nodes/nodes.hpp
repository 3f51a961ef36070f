// The leaf loops of Gaussian sums by interpolation at Chebyshev nodes (core/regression/nodes.hpp).
#ifndef KESTREL_SIMD_NODES_NODES_HPP
#define KESTREL_SIMD_NODES_NODES_HPP

#include <cstddef>

#include "simd/table.hpp"

namespace kestrel {
namespace simd {

// Nodes of a cell: the zeros of the Chebyshev polynomial T_16.
constexpr int kNodes = 16;

// A cell of samples as a cell of points sees it. `matrix` has the kernel at every pair of nodes,
// matrix[16 m + n] from node m of the samples to node n of the points; `column` has the weights of
// the samples at the nodes and then, for a second column, their weighted responses, to which
// `shift` times the weights is added.
struct NodeSource {
  const double* matrix;
  const double* column;
  double shift;
};

struct NodeTable {
  // sum[16 c + k] = sum_i value_c[i] T_k(t_i), c < columns, where value_0 = w (1 if null), value_1
  // = w e, value_2 = w e^2.
  void (*chebyshev_sums)(const double* t, const double* w, const double* e, std::size_t count,
                         int columns, double* sum);
  // sum[16 c + n] += sum over the sources of sum_m matrix[16 m + n] column_c[m], c < columns <= 2.
  void (*add_products)(const NodeSource* source, std::size_t count, int columns, double* sum);
  // value[stride f + i] = sum_k coefficient[16 f + k] T_k(t_i), f < functions <= 6.
  void (*interpolate)(const double* coefficient, int functions, const double* t, std::size_t count,
                      std::size_t stride, double* value);
};

extern const NodeTable* const kNodeTables[kSets];

}  // namespace simd
}  // namespace kestrel

#endif
