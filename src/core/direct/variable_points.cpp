#include "core/direct/variable_points.hpp"

#include "core/data/costs.hpp"

namespace kestrel {

void variable_points(const VariableTask& task, const ParallelOptions& options, Span<double> out) {
  check_variable_task(task, out);
  const CompactPairs pairs(task, nullptr);
  with_compact_profile(task.kernel, [&](const auto& profile) {
    for_variable_points(task, options, out, [&](const double* at, double h) {
      return pairs.sum(profile, at, h, 0, pairs.size());
    });
  });
}

double variable_points_seconds(const VariableTask& task) {
  return 1e-9 * kVariablePairNs * static_cast<double>(task.x.rows) *
         static_cast<double>(task.at.size());
}

}  // namespace kestrel
