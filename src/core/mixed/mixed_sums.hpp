// Sums of products of kernels with numbers at points, in which each column has a form of its own.
#ifndef KESTREL_CORE_MIXED_MIXED_SUMS_HPP
#define KESTREL_CORE_MIXED_MIXED_SUMS_HPP

#include <cstddef>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/mixed/mixed_sample.hpp"

namespace kestrel {

/// sum_j w_ij^power terms_j, with the products of kernels w_ij = scale prod_c K((x_jc - x_ic) /
/// h_c) prod_k table_k[z_jk, z_ik].
struct MixedSumTask {
  /// The forms of columns; the kernels are 1 at 0, and distribution functions 1 at the end.
  /// Factors are not taken from it.
  MixedKernel kernel;
  /// For each factor a matrix, a column for each level of a point, by column. The sample has no
  /// ordered factors.
  std::vector<MatrixView> tables;
  /// Kernels multiplied by `scale` are returned as weights, by `scale` times `divide` summed.
  double scale = 1.0, divide = 1.0;
  int power = 1;
  /// Points are the observations, in the same order as given: no sample counts at itself.
  bool leave_one_out = false;
  /// Rows as they were given; without columns the sum is that of the weights.
  MatrixView terms;
};

/// Point by point: the sums over the samples, one for each column of terms. If `weights` is not
/// null, the products of kernels go there, a column of samples as they were given for each point.
/// O(n m (p + terms)).
std::vector<double> mixed_kernel_sums(const MixedSample& sample, const MixedSample& points,
                                      const MixedSumTask& task, double* weights,
                                      const RunOptions& options);

}  // namespace kestrel

#endif
