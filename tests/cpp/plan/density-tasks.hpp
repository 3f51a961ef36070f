// Tasks of densities for tests of plans, with the data that they refer to.
#ifndef KESTREL_TESTS_PLAN_DENSITY_TASKS_HPP
#define KESTREL_TESTS_PLAN_DENSITY_TASKS_HPP

#include <cmath>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "core/engine/density.hpp"

namespace density_tasks {

using namespace kestrel;

/// n samples, spread evenly over the range (d = 1) or at random in a cube of that side, and as many
/// points as asked for, in it too, or a grid over it. The bandwidth is h in every direction.
struct Task {
  std::size_t d;
  std::vector<double> x, points, root;
  std::vector<std::vector<double>> axes;
  EvaluationPoints at;
  RunOptions how;
  std::unique_ptr<Sample> sample;
  KernelChoice kernel;
  double tolerance = 1e-12;

  Task(std::size_t n, std::size_t d_, double range, double h = 1) : d(d_), root(d_ * d_, 0.0) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(0, range);
    x.resize(n * d);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = d == 1 ? range * static_cast<double>(i) /
                          static_cast<double>(std::max<std::size_t>(1, n - 1))
                    : uniform(random);
    }
    for (std::size_t k = 0; k < d; ++k) root[k * (d + 1)] = h;
    sample = std::make_unique<Sample>(MatrixView{x.data(), n, d}, Weights::ones(n));
  }

  Task&& at_points(std::size_t m) {
    points.resize(m * d);
    for (std::size_t i = 0; i < points.size(); ++i) points[i] = x.empty() ? 0.0 : x[i % x.size()];
    at.matrix = {points.data(), m, d};
    return std::move(*this);
  }

  /// `power`: the exponent of the relative place of a point on its axis; 1 for equal steps.
  Task&& on_grid(std::size_t side, double low, double high, double power = 1) {
    std::vector<double> axis(side);
    for (std::size_t i = 0; i < side; ++i) {
      const double part = static_cast<double>(i) / static_cast<double>(side - 1);
      axis[i] = low + (high - low) * std::pow(part, power);
    }
    axes.assign(d, axis);
    for (const auto& one : axes) at.axes.push_back({one.data(), one.size()});
    return std::move(*this);
  }

  Task&& with_kernel(Kernel one) {
    kernel.kernel = one;
    return std::move(*this);
  }

  DensityTask view() const {
    return {*sample, at, kernel, {root.data(), root.size()}, tolerance, how};
  }
};

}  // namespace density_tasks

#endif
