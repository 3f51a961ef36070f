#include "core/data/tiles.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "core/base/parallel_sort.hpp"

namespace kestrel {

namespace {

// Whitened coordinates are cut here: their squares stay finite, and no kernel's support ever
// extends that far. Data as given (for the uniform kernels) are only kept from overflow.
constexpr double kFarthest = 1e150;
constexpr double kLargest = 1.7976931348623157e308;

}  // namespace

// ---- the kernel at a bandwidth

double gaussian_unit() { return std::sqrt(0.5 / kLn2); }

TileKernel::TileKernel(const simd::Table& table, const KernelChoice& choice, std::size_t d,
                       Span<const double> root, double width)
    : table_(&table),
      leaf_(simd::leaf_of(choice.kernel, choice.type == KernelType::product)),
      d_(d) {
  whitens_ = !is_indicator(choice.kernel);
  set_matrix(root, (choice.kernel == Kernel::gaussian ? gaussian_unit() : 1.0) / width);
  check_product_root(choice.type, d, root);
}

TileKernel::TileKernel(const simd::Table& table, std::size_t d, double g,
                       const std::vector<double>& coefficient)
    : table_(&table), leaf_(simd::Leaf::gaussian_polynomial), d_(d), coefficient_(coefficient) {
  std::vector<double> root(d * d, 0.0);
  for (std::size_t k = 0; k < d; ++k) root[k * d + k] = g;
  set_matrix({root.data(), root.size()}, gaussian_unit());
  // The leaf's variable is v = -|z|^2 = -|u|^2 / (2 ln 2).
  double factor = 1.0;
  for (double& c : coefficient_) {
    c *= factor;
    factor *= -2 * kLn2;
  }
}

void TileKernel::set_matrix(Span<const double> root, double unit) {
  matrix_.assign(d_ * d_, 0.0);
  stretch_.assign(d_, 1.0);
  root_.assign(d_ * d_, 0.0);
  diagonal_ = is_diagonal(d_, root);
  for (std::size_t k = 0; k < d_; ++k) {
    for (std::size_t l = 0; l <= k; ++l) root_[k * d_ + l] = root[l * d_ + k];
    for (std::size_t l = 0; l < k; ++l) {
      matrix_[k * d_ + l] = whitens_ ? root_[k * d_ + l] / root_[k * d_ + k] : 0.0;
      stretch_[l] = std::max(stretch_[l], std::fabs(matrix_[k * d_ + l]));
    }
    matrix_[k * d_ + k] = whitens_ ? unit / root_[k * d_ + k] : 1.0;
  }
}

std::size_t TileKernel::tile_size() const {
  const std::size_t fitting = (std::size_t{1} << 14) / (sizeof(double) * (d_ + 1));
  const std::size_t whole = fitting / simd::kLanes * simd::kLanes;
  return std::min<std::size_t>(512, std::max<std::size_t>(simd::kLanes, whole));
}

std::size_t TileKernel::chunk_size(std::size_t operations_of_a_pair) const {
  const std::size_t samples = (std::size_t{1} << 16) / (16 + operations_of_a_pair);
  return round_up(std::max<std::size_t>(samples, 1), tile_size());
}

simd::Whitening TileKernel::whitening(const double* centre) const {
  return {matrix_.data(), centre, d_, diagonal_ || !whitens_, whitens_ ? kFarthest : kLargest};
}

simd::Parameters TileKernel::parameters(double* scratch) const {
  return {d_, root_.data(), coefficient_.data(), static_cast<int>(coefficient_.size()) - 1,
          scratch};
}

void whiten_one(const simd::Whitening& map, const double* point, double* z) {
  for (std::size_t k = 0; k < map.d; ++k) {
    double v = (point[k] - map.centre[k]) * map.matrix[k * map.d + k];
    if (!map.diagonal) {
      for (std::size_t l = 0; l < k; ++l) v -= map.matrix[k * map.d + l] * z[l];
    }
    z[k] = std::min(std::max(-map.farthest, v), map.farthest);
  }
}

// ---- blocks

namespace {

/// Whitened coordinates of point i about `centre`.
void whiten_point(const TileKernel& kernel, const EvaluationPoints& points, std::size_t i,
                  const double* centre, double* raw, double* z) {
  points.copy(i, raw);
  whiten_one(kernel.whitening(centre), raw, z);
}

/// Sorts the points by cells of one radius; leaves `order` empty when all share one cell.
void sort_by_cell(const TileKernel& kernel, const EvaluationPoints& points, double radius,
                  const ParallelOptions& options, Blocks& blocks) {
  const std::size_t m = points.size(), d = kernel.dimension();
  std::vector<double> cell(m * d), centre(d), raw(d), z(d);
  points.copy(0, centre.data());
  bool one_cell = true;
  for (std::size_t i = 0; i < m; ++i) {
    if (i % kPolledItems == 0) poll_if_due(options);
    whiten_point(kernel, points, i, centre.data(), raw.data(), z.data());
    for (std::size_t k = 0; k < d; ++k) {
      // Cells relative to the first point, so that a cloud within one radius of it is one cell.
      cell[i * d + k] = std::floor(0.5 * (z[k] * kernel.stretch(k) / radius + 1.0));
      one_cell = one_cell && cell[i * d + k] == 0.0;
    }
  }
  if (one_cell) return;
  blocks.order.resize(m);
  std::iota(blocks.order.begin(), blocks.order.end(), std::size_t{0});
  const auto before = [&](std::size_t a, std::size_t b) {
    for (std::size_t k = d; k-- > 0;) {
      const double of_a = cell[a * d + k], of_b = cell[b * d + k];
      if (of_a != of_b) return of_a < of_b;
    }
    return a < b;
  };
  parallel_sort(&blocks.order, part_of(options, 0, 0), before);
}

}  // namespace

BlockWidth::BlockWidth(const EvaluationPoints& points, const TileKernel& kernel, double radius)
    : points_(points),
      kernel_(kernel),
      radius_(radius),
      centre_(kernel.dimension()),
      raw_(kernel.dimension()),
      z_(kernel.dimension()) {}

void BlockWidth::begin(std::size_t point) { points_.copy(point, centre_.data()); }

bool BlockWidth::holds(std::size_t point) {
  whiten_point(kernel_, points_, point, centre_.data(), raw_.data(), z_.data());
  for (std::size_t k = 0; k < z_.size(); ++k) {
    if (std::fabs(z_[k]) * kernel_.stretch(k) > 2 * radius_) return false;
  }
  return true;
}

Blocks cut_blocks(const EvaluationPoints& points, const TileKernel& kernel,
                  const ParallelOptions& options, std::size_t size, double radius) {
  const std::size_t m = points.size();
  Blocks blocks;
  if (m > 0 && kernel.whitens()) sort_by_cell(kernel, points, radius, options, blocks);
  BlockWidth width(points, kernel, radius);
  std::size_t start = 0;
  for (std::size_t i = 0; i < m; ++i) {
    if (i % kPolledItems == 0) poll_if_due(options);
    const bool opens =
        i == 0 || i - start == size || (kernel.whitens() && !width.holds(blocks.point(i)));
    if (!opens) continue;
    width.begin(blocks.point(i));
    blocks.start.push_back(i);
    start = i;
  }
  blocks.start.push_back(m);
  return blocks;
}

// ---- a worker's memory

void Workspace::prepare(const TileKernel& kernel, std::size_t monomials) {
  const std::size_t d = kernel.dimension();
  if (centre_.size() == d) return;
  centre_.assign(d, 0.0);
  tile_.stride = kernel.tile_size() + simd::kLanes;
  block_.stride = kBlockSize + simd::kLanes;
  tile_coordinate_.resize(d * tile_.stride);
  tile_weight_.resize(tile_.stride);
  corner_.stride = simd::kTargets + simd::kLanes;
  corner_coordinate_.resize(d * corner_.stride);
  corner_weight_.resize(corner_.stride);
  block_coordinate_.resize(d * block_.stride);
  block_weight_.resize(block_.stride);
  block_input_.resize(d * kBlockSize);
  sum_.resize(kBlockSize + simd::kTargets);
  scratch_.resize(simd::scratch_size(d, monomials));
  tile_.coordinate = tile_coordinate_.data();
  tile_.weight = tile_weight_.data();
  corner_.coordinate = corner_coordinate_.data();
  corner_.weight = corner_weight_.data();
  block_.coordinate = block_coordinate_.data();
  block_.weight = block_weight_.data();
}

void Workspace::load_block(const TileKernel& kernel, const EvaluationPoints& points,
                           const Blocks& blocks, std::size_t first, std::size_t last) {
  const std::size_t d = kernel.dimension(), count = last - first;
  std::vector<double> point(d);
  double* input = block_input_.data();
  for (std::size_t i = 0; i < count; ++i) {
    points.copy(blocks.point(first + i), point.data());
    for (std::size_t k = 0; k < d; ++k) input[k * kBlockSize + i] = point[k];
  }
  for (std::size_t k = 0; k < d; ++k) {
    centre_[k] = kernel.whitens() ? input[k * kBlockSize] : 0.0;
  }
  kernel.table().direct->whiten(kernel.whitening(centre_.data()), input, kBlockSize, count,
                                block_coordinate_.data(), block_.stride);
  block_.count = count;
}

void Workspace::set_block_weights(const double* weight, std::size_t count) {
  std::copy(weight, weight + count, block_weight_.data());
  std::fill_n(block_weight_.data() + count, simd::kTargets, 0.0);
}

void Workspace::load_tile(const TileKernel& kernel, const MatrixView& x, Weights w,
                          std::size_t first, std::size_t last) {
  const std::size_t count = last - first;
  kernel.table().direct->whiten(kernel.whitening(centre_.data()), x.data + first, x.rows, count,
                                tile_coordinate_.data(), tile_.stride);
  double* weight = tile_weight_.data();
  for (std::size_t i = 0; i < count; ++i) weight[i] = w[first + i];
  std::fill(weight + count, weight + count + simd::kLanes, 0.0);
  tile_.count = count;
}

void Workspace::load_corner(const TileKernel& kernel, std::size_t first, std::size_t last) {
  const auto copy = [&](const double* from, double* to) {
    std::copy(from + first, from + last, to);
    std::fill(to + (last - first), to + corner_.stride, 0.0);
  };
  for (std::size_t k = 0; k < kernel.dimension(); ++k) {
    copy(tile_coordinate_.data() + k * tile_.stride,
         corner_coordinate_.data() + k * corner_.stride);
  }
  copy(tile_weight_.data(), corner_weight_.data());
  corner_.count = last - first;
}

}  // namespace kestrel
