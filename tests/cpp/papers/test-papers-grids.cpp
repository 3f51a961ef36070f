// The papers' programs in bench/papers for regular grids (Lopez-Novoa 2015) against the package's
// exact engine: reference programs must be right before they are timed.
#include <algorithm>

#include "core/scanline/scanline.hpp"
#include "oracle.hpp"
#include "papers-expect.hpp"
#include "papers/skde-pipeline.hpp"
#include "papers/skde.hpp"

using namespace kestrel;
using namespace papers;
using shapes::Shape;

namespace {

// A sample on a grid that holds only part of it
template <int d>
struct Task {
  Shape shape = correlated(140, d);
  std::vector<double> origin, step, reach, inverse = inverse_of(shape), exact;
  std::vector<int> points;
  std::vector<RegularAxis> axes;

  Task() {
    static constexpr int count[] = {211, 37, 16, 9};
    std::size_t size = 1;
    for (std::size_t k = 0; k < d; ++k) {
      double square = 0;
      for (std::size_t l = 0; l <= k; ++l) {
        square += shape.root[l * d + k] * shape.root[l * d + k];
      }
      reach.push_back(std::sqrt(square));
      points.push_back(count[d - 1] + static_cast<int>(k));
      origin.push_back(k == 0 ? -4.2 : -1.3);
      step.push_back((k == 0 ? 8.1 : 3.3) / points[k]);
      axes.push_back({origin[k], step[k], static_cast<std::size_t>(points[k]), {}});
      size *= axes[k].count;
    }
    exact.resize(size);
    scanline_density(shape.samples(), shape.weights(), {axes.data(), axes.size()},
                     {Kernel::epanechnikov, KernelType::radial}, shape.bandwidth(), {}, exactly(),
                     {exact.data(), exact.size()});
  }
  // Calls fill(problem); the result is n times the density.
  template <class Fill>
  std::vector<double> filled(const Fill& fill) const {
    std::vector<double> grid(exact.size());
    const double peak = static_cast<double>(oracle::constant(Kernel::epanechnikov, d)) /
                        std::sqrt(determinant_of(shape));
    fill(lopez_novoa::Problem{shape.x.data(), shape.n, origin.data(), step.data(), points.data(),
                              reach.data(), inverse.data(), peak, grid.data()});
    return grid;
  }
  template <class Fill>
  void check(const char* name, const Fill& fill) const {
    SCOPED_TRACE(name);
    const std::vector<double> grid = filled(fill);
    const double largest = *std::max_element(exact.begin(), exact.end());
    ASSERT_GT(largest, 0);
    double error = 0;
    for (std::size_t i = 0; i < grid.size(); ++i) {
      error = std::max(error, std::fabs(grid[i] - exact[i]));
    }
    EXPECT_LE(error, 1e-12 * largest);
  }
};

using lopez_novoa::Problem;

template <int d>
void check_serial_grids() {
  const Task<d> task;
  task.check("EP", [&](const Problem& p) {
    lopez_novoa::ep_kde(p, 0, task.exact.size(), std::make_index_sequence<d>());
  });
  task.check("box", [](const Problem& p) { lopez_novoa::s_kde<d, false>(p, false); });
  task.check("box, atomic", [](const Problem& p) { lopez_novoa::s_kde<d, true>(p, false); });
  task.check("chop", [](const Problem& p) { lopez_novoa::s_kde<d, false>(p, true); });
  task.check("chop, atomic", [](const Problem& p) { lopez_novoa::s_kde<d, true>(p, true); });
}

template <int d>
void check_pipeline() {
  const Task<d> task;
  for (const double bytes : {0.0, 1e5, 1e7}) {
    const auto run = [&](bool overlapped) {
      return [=](const Problem& p) {
        lopez_novoa::HostDevice<d> device(p, bytes);
        const std::size_t chunk = device.chunk(), box = device.accelerator().box_points;
        EXPECT_EQ(chunk & (chunk - 1), 0u);
        EXPECT_TRUE(chunk == 1 || 8.0 * chunk * box <= bytes);
        EXPECT_GT(16.0 * chunk * box, bytes);
        const auto stages = lopez_novoa::run_pipeline<d>(device, p, chunk, overlapped);
        EXPECT_GT(stages.densities, 0u);
        EXPECT_GE(stages.total, std::max(stages.computation + stages.transfer,
                                         overlapped ? 0.0 : stages.consolidation));
      };
    };
    task.check("one after another", run(false));
    EXPECT_TRUE(common::same_bits(task.filled(run(true)), task.filled(run(false))));
  }
}

}  // namespace

TEST(LopezNovoa, SerialGrids) {
  check_serial_grids<1>();
  check_serial_grids<2>();
  check_serial_grids<3>();
  check_serial_grids<4>();
}

TEST(LopezNovoa, Pipeline) {
  check_pipeline<2>();
  check_pipeline<3>();
  check_pipeline<4>();
}
