#include "core/plan/variable.hpp"

#include <vector>

#include "core/base/error.hpp"
#include "core/direct/variable_points.hpp"
#include "core/kdtree/variable.hpp"
#include "core/scanline/variable.hpp"
#include "core/scanline/variable_geometry.hpp"

namespace kestrel {

namespace {

/// The axes of a grid that the scanline engine takes, else empty.
std::vector<RegularAxis> variable_axes(const VariableTask& task) {
  if (task.by_point || task.at.axes.empty()) return {};
  const std::vector<RegularAxis> axes = find_regular_axes(task.at.axes);
  return takes_variable_axes(task.h, {axes.data(), axes.size()}) ? axes
                                                                 : std::vector<RegularAxis>();
}

}  // namespace

VariablePlan plan_variable(const VariableTask& task, const std::string& asked) {
  const VariablePlan direct{"direct", variable_points_seconds(task)};
  if (asked == "direct") return direct;
  const VariablePlan tree{"kdtree", variable_tree_seconds(task)};
  if (asked == "kdtree") return tree;
  const std::vector<RegularAxis> axes = variable_axes(task);
  if (axes.empty()) {
    if (asked != "scanline") return tree.seconds < direct.seconds ? tree : direct;
    throw error(ErrorKind::unfit, "the scanline engine takes sample points on regular grids");
  }
  const VariablePlan scanline{
      "scanline", variable_scanline_seconds(task.h, task.kernel, {axes.data(), axes.size()})};
  if (asked == "scanline") return scanline;
  const VariablePlan& best = tree.seconds < direct.seconds ? tree : direct;
  return scanline.seconds < best.seconds ? scanline : best;
}

void variable_sums(const VariableTask& task, const std::string& engine,
                   const ParallelOptions& options, Span<double> out) {
  if (engine == "direct") return variable_points(task, options, out);
  if (engine == "kdtree") return variable_tree(task, options, out);
  const std::vector<RegularAxis> axes = variable_axes(task);
  variable_scanline(task.x, task.w, task.h, task.kernel, {axes.data(), axes.size()}, options, out);
}

}  // namespace kestrel
