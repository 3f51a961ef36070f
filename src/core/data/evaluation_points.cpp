#include "core/data/evaluation_points.hpp"

#include <string>

#include "core/base/error.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

std::size_t EvaluationPoints::size() const {
  if (axes.empty()) return matrix.rows;
  std::size_t m = 1;
  for (const auto& axis : axes) m *= axis.size;
  return m;
}

std::size_t EvaluationPoints::dimension() const { return axes.empty() ? matrix.cols : axes.size(); }

void EvaluationPoints::copy(std::size_t i, double* out) const {
  if (axes.empty()) {
    for (std::size_t k = 0; k < matrix.cols; ++k) out[k] = matrix(i, k);
    return;
  }
  for (std::size_t k = 0; k < axes.size(); ++k) {
    out[k] = axes[k][i % axes[k].size];
    i /= axes[k].size;
  }
}

void check_density_sizes(const MatrixView& x, Weights w, const EvaluationPoints& points,
                         Span<const double> root, Span<double> out) {
  check_weight_count(x.rows, w.size);
  if (points.dimension() != x.cols) {
    throw error(ErrorKind::input, "samples have " + std::to_string(x.cols) +
                                      " variables but evaluation points " +
                                      std::to_string(points.dimension()));
  }
  if (root.size != x.cols * x.cols || out.size != points.size()) {
    throw error(ErrorKind::internal, "bandwidth root or output of a wrong size");
  }
}

}  // namespace kestrel
