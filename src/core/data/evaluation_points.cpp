#include "core/data/evaluation_points.hpp"

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

}  // namespace kestrel
