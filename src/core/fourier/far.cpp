#include <cmath>
#include <limits>
#include <memory>

#include "core/data/passes.hpp"
#include "core/data/tiles.hpp"
#include "core/fourier/cubes.hpp"
#include "core/fourier/density.hpp"
#include "core/fourier/ranges.hpp"
#include "core/fourier/reader.hpp"

namespace kestrel {

namespace {

/// Side of a cube in bandwidths, and the maximum number of cubes.
constexpr double kSide = 2.0;
constexpr std::size_t kMaxCubes = std::size_t{1} << 22;
/// Blocks of a work item.
constexpr std::size_t kBlocksOfItem = 64;
/// Beyond this distance exp(-u^2 / 2) is no normal number.
constexpr double kFarthest = 38.0;
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

/// Axes that are not used have empty ranges; the box is [0, 0] there.
Box3 box_of(const std::array<Range, 3>& range) {
  Box3 box;
  for (std::size_t a = 0; a < 3; ++a) {
    if (range[a].length() >= 0) {
      box.low[a] = range[a].low;
      box.high[a] = range[a].high;
    }
  }
  return box;
}

/// Chosen points that share their samples.
struct PointBlock {
  const std::size_t *begin, *end;
};

/// The sample that minimises |z - z_j|^2 - 2 log(w_j / max w): the one that adds most at z.
struct Nearest {
  std::size_t sample = kNone;
  double value = kInfinity;
};

/// A worker's memory.
struct FarWorker {
  Workspace workspace;
  std::vector<std::size_t> found;
  std::vector<double> point, sample, weight;
};

class FarPoints {
 public:
  FarPoints(const MatrixView& x, Weights w, const EvaluationPoints& points,
            const std::vector<std::size_t>& chosen, Span<const double> root,
            const DataRange& extent, double tolerance, const RunOptions& options)
      : x_(x),
        w_(w),
        points_(points),
        chosen_(chosen),
        options_(options),
        frame_(extent.frame[0]),
        geometry_(frame_.geometry),
        heaviest_(extent.heaviest),
        scale_(kernel_scale({}, x.cols, root)),
        kernel_(*options.table, {}, x.cols, root),
        margin_(2 * std::log(extent.n / tolerance)) {}

  void run(Span<double> out);

 private:
  bool file();
  template <class Coordinates>
  std::unique_ptr<Cubes> file_in_cubes(const Box3& box, std::size_t items,
                                       const ParallelOptions& options,
                                       const Coordinates& coordinates) const;
  void cut_blocks();
  double value_at(const Point3& z, std::size_t sample) const;
  Nearest find_nearest(const Point3& z, std::size_t guess) const;
  void run_block(const PointBlock& block, std::size_t* guess, FarWorker* worker,
                 Span<double> out) const;
  void sum_block(const PointBlock& block, FarWorker* worker, Span<double> out) const;

  const MatrixView x_;
  const Weights w_;
  const EvaluationPoints& points_;
  const std::vector<std::size_t>& chosen_;
  const RunOptions options_;
  const DensityFrame& frame_;
  const FourierGeometry& geometry_;
  const double heaviest_;
  const ScaledNumber scale_;
  const TileKernel kernel_;
  const double margin_;  // exp(-margin / 2) n is the tolerance
  std::unique_ptr<Cubes> samples_, chosen_cubes_;
  std::vector<PointBlock> block_;
};

/// coordinates(i, &z) returns whether item i is to be filed.
template <class Coordinates>
std::unique_ptr<Cubes> FarPoints::file_in_cubes(const Box3& box, std::size_t items,
                                                const ParallelOptions& options,
                                                const Coordinates& coordinates) const {
  auto cubes = std::make_unique<Cubes>(box, kSide, kMaxCubes);
  std::vector<std::uint32_t> number(items);
  pass_over(items, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Point3 z;
      number[i] = coordinates(i, &z) && box.holds(z) ? cubes->number(z) : Cubes::kNowhere;
    }
  });
  cubes->file(number);
  return cubes;
}

/// Returns false if no point is within reach of the samples.
bool FarPoints::file() {
  const Box3 points = box_of(frame_.points).within(box_of(frame_.samples), kFarthest);
  const Box3 samples = box_of(frame_.samples).within(points, kFarthest);
  if (points.is_empty() || samples.is_empty()) return false;
  const ParallelOptions part = part_of(options_.parallel, 0.0, 0.1);
  samples_ = file_in_cubes(samples, x_.rows, part, [&](std::size_t i, Point3* z) {
    *z = geometry_.whiten(x_, i);
    return w_[i] > 0;
  });
  chosen_cubes_ = file_in_cubes(points, chosen_.size(), part, [&](std::size_t i, Point3* z) {
    *z = whitened_point(geometry_, points_, chosen_[i]);
    return true;
  });
  return true;
}

void FarPoints::cut_blocks() {
  for (std::size_t cube = 0; cube < chosen_cubes_->count(); ++cube) {
    const std::size_t* end = chosen_cubes_->end(cube);
    for (const std::size_t* begin = chosen_cubes_->begin(cube); begin < end; begin += kBlockSize) {
      block_.push_back({begin, std::min(end, begin + kBlockSize)});
    }
  }
}

void FarPoints::run(Span<double> out) {
  for (const std::size_t i : chosen_) out[i] = 0.0;
  if (!file()) return;
  cut_blocks();
  const std::size_t items = (block_.size() + kBlocksOfItem - 1) / kBlocksOfItem;
  std::vector<FarWorker> workers(parallel_workers(items, options_.parallel));
  const ParallelOptions rest = part_of(options_.parallel, 0.1, 1.0);
  parallel_for(items, rest, [&](std::size_t item, int worker) {
    std::size_t guess = kNone;
    const std::size_t last = std::min(block_.size(), (item + 1) * kBlocksOfItem);
    for (std::size_t b = item * kBlocksOfItem; b < last; ++b) {
      poll_if_due(rest);
      run_block(block_[b], &guess, &workers[static_cast<std::size_t>(worker)], out);
    }
  });
}

double FarPoints::value_at(const Point3& z, std::size_t sample) const {
  const Point3 other = geometry_.whiten(x_, sample);
  double sum = 0;
  for (std::size_t a = 0; a < 3; ++a) sum += (z[a] - other[a]) * (z[a] - other[a]);
  return w_[sample] < heaviest_ ? sum - 2 * std::log(w_[sample] / heaviest_) : sum;
}

Nearest FarPoints::find_nearest(const Point3& z, std::size_t guess) const {
  Nearest nearest;
  if (guess != kNone) nearest = {guess, value_at(z, guess)};
  samples_->visit({z, z}, nearest.value, [&](std::size_t cube) {
    for (const std::size_t* j = samples_->begin(cube); j < samples_->end(cube); ++j) {
      const double value = value_at(z, *j);
      if (value < nearest.value) nearest = {*j, value};
    }
  });
  return nearest;
}

/// The terms left out sum to less than the tolerance times the nearest sample's term. That sample
/// is nearest to the block's middle, and each of the block's points is within `radius` of the
/// middle.
void FarPoints::run_block(const PointBlock& block, std::size_t* guess, FarWorker* worker,
                          Span<double> out) const {
  Box3 box = Box3::empty(geometry_.d);
  for (const std::size_t* i = block.begin; i < block.end; ++i) {
    box.add(whitened_point(geometry_, points_, chosen_[*i]));
  }
  Point3 middle;
  double squared_radius = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    middle[a] = box.low[a] + 0.5 * (box.high[a] - box.low[a]);
    squared_radius += (box.high[a] - middle[a]) * (box.high[a] - middle[a]);
  }
  const Nearest nearest = find_nearest(middle, *guess);
  *guess = nearest.sample;
  const double farthest = std::sqrt(nearest.value) + std::sqrt(squared_radius);
  const double max = farthest * farthest + margin_;
  worker->found.clear();
  samples_->visit(box, max, [&](std::size_t cube) {
    poll_if_due(options_.parallel);
    for (const std::size_t* j = samples_->begin(cube); j < samples_->end(cube); ++j) {
      const Point3 z = geometry_.whiten(x_, *j);
      if (box.squared_distance({z, z}) <= max) worker->found.push_back(*j);
    }
  });
  sum_block(block, worker, out);
}

void FarPoints::sum_block(const PointBlock& block, FarWorker* worker, Span<double> out) const {
  const std::size_t d = geometry_.d, m = static_cast<std::size_t>(block.end - block.begin);
  const std::size_t n = worker->found.size();
  worker->sample.resize(n * d);
  worker->weight.resize(n);
  worker->point.resize(m * d);
  for (std::size_t j = 0; j < n; ++j) {
    worker->weight[j] = w_[worker->found[j]];
    for (std::size_t k = 0; k < d; ++k) worker->sample[k * n + j] = x_(worker->found[j], k);
  }
  for (std::size_t i = 0; i < m; ++i) {
    double v[3];
    points_.copy(chosen_[block.begin[i]], v);
    for (std::size_t k = 0; k < d; ++k) worker->point[k * m + i] = v[k];
  }
  EvaluationPoints at;
  at.matrix = {worker->point.data(), m, d};
  Workspace& workspace = worker->workspace;
  workspace.prepare(kernel_, 0);
  workspace.load_block(kernel_, at, {{}, {0, m}}, 0, m);
  const simd::SumFunction leaf =
      kernel_.table().direct->sum[static_cast<std::size_t>(kernel_.leaf())];
  double total[kBlockSize] = {};
  for (std::size_t first = 0; first < n; first += kernel_.tile_size()) {
    poll_if_due(options_.parallel);
    workspace.load_tile(kernel_, {worker->sample.data(), n, d}, {worker->weight.data(), n}, first,
                        std::min(n, first + kernel_.tile_size()));
    leaf(workspace.tile(), workspace.block(), workspace.parameters(kernel_), workspace.sum());
    for (std::size_t i = 0; i < m; ++i) total[i] += workspace.sum()[i];
  }
  for (std::size_t i = 0; i < m; ++i) out[chosen_[block.begin[i]]] = scale_.times(total[i]);
}

}  // namespace

void density_of_far_points(const MatrixView& x, Weights w, const EvaluationPoints& points,
                           const std::vector<std::size_t>& chosen, Span<const double> root,
                           const DataRange& extent, double tolerance, const RunOptions& options,
                           Span<double> out) {
  if (chosen.empty()) return;
  FarPoints(x, w, points, chosen, root, extent, tolerance, options).run(out);
}

}  // namespace kestrel
