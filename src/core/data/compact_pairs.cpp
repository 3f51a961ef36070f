#include "core/data/compact_pairs.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace kestrel {

void check_variable_task(const VariableTask& task, Span<double> out) {
  const std::size_t d = task.x.cols;
  if (d >= 1 && d <= kVariableAxes && task.at.dimension() == d && task.w.size == task.x.rows &&
      out.size == task.at.size() && is_compact(task.kernel) &&
      task.h.size == (task.by_point ? out.size : task.x.rows)) {
    return;
  }
  throw error(ErrorKind::internal, "sizes of a sum with bandwidths that vary do not match");
}

CompactPairs::CompactPairs(const VariableTask& task, const std::size_t* order)
    : n_(task.x.rows), d_(task.x.cols) {
  const std::size_t room = (n_ + kPairLanes - 1) / kPairLanes * kPairLanes;
  for (std::size_t k = 0; k < d_; ++k) x_[k].assign(room, 0.0);
  weight_.assign(room, 0.0);
  if (!task.by_point) {
    h_.assign(room, 1.0);
    inverse_.assign(room, 1.0);
  }
  for (std::size_t j = 0; j < n_; ++j) {
    const std::size_t i = order == nullptr ? j : order[j];
    for (std::size_t k = 0; k < d_; ++k) x_[k][j] = task.x(i, k);
    weight_[j] = task.w[i];
    if (task.by_point) continue;
    h_[j] = task.h[i];
    inverse_[j] = 1 / h_[j];
    for (std::size_t k = 0; k < d_; ++k) weight_[j] /= h_[j];
  }
}

std::vector<double> some_distances(const VariableTask& task) {
  constexpr std::size_t most = 64;
  const std::size_t n = std::min(most, task.x.rows), m = std::min(most, task.at.size());
  std::vector<double> found, at(task.x.cols);
  for (std::size_t i = 0; i < m; ++i) {
    const std::size_t point = (2 * i + 1) * task.at.size() / (2 * m);
    task.at.copy(point, at.data());
    for (std::size_t j = 0; j < n; ++j) {
      const std::size_t sample = (2 * j + 1) * task.x.rows / (2 * n);
      double square = 0;
      for (std::size_t k = 0; k < task.x.cols; ++k) {
        const double u = (at[k] - task.x(sample, k)) / task.h[task.by_point ? point : sample];
        square += u * u;
      }
      found.push_back(std::sqrt(square));
    }
  }
  return found;
}

}  // namespace kestrel
