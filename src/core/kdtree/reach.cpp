#include "core/kdtree/reach.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/whole.hpp"
#include "core/data/tiles.hpp"
#include "core/kdtree/kdtree.hpp"

namespace kestrel {

namespace {

/// Samples and points that are looked at.
constexpr std::size_t kSamplesSeen = 512, kPointsSeen = 128;

/// Position i of `count` spread over [0, n), by multiples of the golden ratio: no period of the
/// data is theirs.
std::size_t spread_over(std::size_t n, std::size_t i, std::size_t count) {
  if (n <= count) return i;
  const double at = 0.6180339887498949 * static_cast<double>(i);
  return std::min(n - 1, whole_number<std::size_t>((at - std::floor(at)) * static_cast<double>(n)));
}

/// Distances of pairs, in which the reach is 1.
std::vector<double> distances(const MatrixView& x, const EvaluationPoints& points,
                              const KernelChoice& choice, const TileKernel& shape) {
  const std::size_t d = x.cols, n = std::min(x.rows, kSamplesSeen);
  const std::size_t m = std::min(points.size(), kPointsSeen);
  std::vector<double> found, point(d), sample(d), z(d);
  for (std::size_t i = 0; i < m; ++i) {
    points.copy(spread_over(points.size(), i, m), point.data());
    for (std::size_t j = 0; j < n; ++j) {
      const std::size_t at = spread_over(x.rows, j, n);
      for (std::size_t k = 0; k < d; ++k) sample[k] = x(at, k);
      whiten_one(shape.whitening(point.data()), sample.data(), z.data());
      double largest = 0, squares = 0;
      for (const double v : z) {
        largest = std::max(largest, std::fabs(v));
        squares += v * v;
      }
      found.push_back(choice.type == KernelType::product ? largest : std::sqrt(squares));
    }
  }
  return found;
}

}  // namespace

double share_of_pairs(const MatrixView& x, const EvaluationPoints& points,
                      const KernelChoice& choice, Span<const double> root,
                      const RunOptions& options) {
  const double n = static_cast<double>(x.rows), m = static_cast<double>(points.size());
  if (n == 0 || m == 0) return 1;
  const TileKernel shape(*options.table, {Kernel::epanechnikov, choice.type}, x.cols, root);
  const std::vector<double> distance = distances(x, points, choice, shape);
  const double all = static_cast<double>(distance.size()), d = static_cast<double>(x.cols);
  const auto within = [&](double radius) {
    const auto count =
        std::count_if(distance.begin(), distance.end(), [radius](double v) { return v <= radius; });
    return static_cast<double>(count) / all;
  };
  // The volume of a leaf as a share of the support's, and so its side, if the samples in reach were
  // spread evenly. Pairs count whose boxes, a leaf and a block, meet the edge of the support.
  const double reached = std::max(within(1), 1 / all);
  const double volume = choice.type == KernelType::product ? std::pow(2, d) : ball_volume(d);
  const auto side = [&](double of_leaf, double count) {
    return std::pow(volume * std::min(1.0, of_leaf / (count * reached)), 1 / d);
  };
  constexpr double kLeaf = kTreeLeaf, kBlock = kTreeBlock;
  const double margin = 0.6 * (side(kLeaf, n) + side(kBlock, m));
  const double inside = has_tree_moments(choice, x.cols) ? within(1 - margin) : 0;
  const double least = kLeaf / n;  // a leaf for each block
  return std::min(1.0, std::max(least, within(1 + margin) - inside));
}

}  // namespace kestrel
