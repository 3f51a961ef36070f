#include "core/engine/density.hpp"

namespace kestrel {

double DensityTask::points() const {
  if (at.axes.empty()) return static_cast<double>(at.matrix.rows);
  double count = 1;
  for (const Span<const double>& axis : at.axes) count *= static_cast<double>(axis.size);
  return count;
}

}  // namespace kestrel
