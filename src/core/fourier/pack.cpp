#include "core/fourier/pack.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "core/base/error.hpp"
#include "core/data/cell_table.hpp"
#include "core/fourier/cubes.hpp"

namespace kestrel {

namespace {

/// Share of the tolerance for pairs of different clusters.
constexpr double kPairShare = 0.05;
/// Cubes of a reach along an axis: samples within reach of each other lie at most that many apart.
constexpr int kCubesOfReach = 2;
/// How many samples are looked at first.
constexpr std::size_t kLookedAt = 2000;
/// Clusters of at most that many samples are summed pair by pair: about where that takes as long as
/// a share of the grid, for the 50 sums of a search.
constexpr std::size_t kFewSamples = 24;

/// The distance beyond which pairs add at most kPairShare of the tolerance. With u = r / (sqrt(2)
/// max), a term of degree two is at most u^2 exp(-u^2 / 2) of one at distance zero, and the terms i
/// = j alone are 1 / n_eff of these.
double reach_of(double max, double tolerance, Weights w) {
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < w.size; ++i) {
    sum += w[i];
    squares += w[i] * w[i];
  }
  const double ground = std::log(sum * sum / squares / (kPairShare * tolerance));
  double u2 = 2 * ground;
  for (int step = 0; step < 20; ++step) u2 = 2 * (ground + std::log(u2));
  return max * std::sqrt(2 * u2);
}

/// Sets of numbers that are united two by two (Tarjan 1975).
class Sets {
 public:
  explicit Sets(std::size_t count) : above_(count) {
    std::iota(above_.begin(), above_.end(), std::size_t{0});
  }
  std::size_t of(std::size_t i) {
    while (above_[i] != i) i = above_[i] = above_[above_[i]];
    return i;
  }
  void unite(std::size_t i, std::size_t j) {
    i = of(i);
    j = of(j);
    above_[std::max(i, j)] = std::min(i, j);
  }

 private:
  std::vector<std::size_t> above_;
};

/// Whitened samples, and the cluster of each, numbered as they first come.
struct Clusters {
  struct Cluster {
    std::size_t first, count;  // its first sample, and how many
    Box3 box;                  // relative to that
    Point3 shift{};            // where the lower corner of its box goes
  };
  std::vector<std::size_t> of;
  std::vector<Cluster> cluster;
};

using CubeIndex = std::array<double, 3>;

std::uint64_t hash_of(const CubeIndex& at) {
  return hash_with(hash_with(hash_with(0, at[0]), at[1]), at[2]);
}

/// Calls visit(cube) for the cubes around one that come after it in lexicographic order.
template <class Visit>
void visit_later_cubes(const CubeIndex& at, std::size_t d, const Visit& visit) {
  const int side = kCubesOfReach;
  for (int a = d < 3 ? 0 : -side; a <= (d < 3 ? 0 : side); ++a) {
    for (int b = d < 2 ? 0 : -side; b <= (d < 2 ? 0 : side); ++b) {
      for (int c = -side; c <= side; ++c) {
        if (a > 0 || (a == 0 && (b > 0 || (b == 0 && c > 0)))) {
          visit(CubeIndex{at[0] + a, at[1] + b, at[2] + c});
        }
      }
    }
  }
}

/// z about a sample: the differences within a cluster keep their digits wherever it lies.
Point3 whitened_about(const FourierGeometry& frame, const MatrixView& x, std::size_t i,
                      std::size_t origin) {
  FourierGeometry about = frame;
  for (std::size_t k = 0; k < x.cols; ++k) about.centre[k] = x(origin, k);
  return about.whiten(x, i);
}

Clusters find_clusters(const MatrixView& x, const FourierGeometry& frame, double reach,
                       const RunOptions& options) {
  CellTable table(x.rows);
  std::vector<std::uint32_t> cube_of;
  std::vector<CubeIndex> cube;
  for (std::size_t i = 0; i < x.rows; ++i) {
    const Point3 z = frame.whiten(x, i);
    CubeIndex at;
    for (std::size_t a = 0; a < 3; ++a) at[a] = std::floor(z[a] * (kCubesOfReach / reach));
    cube_of.push_back(table.number(hash_of(at)));
    if (cube_of.back() == cube.size()) cube.push_back(at);
    if (i % 4096 == 0) poll_if_due(options.parallel);
  }
  Sets sets(cube.size());
  for (std::size_t c = 0; c < cube.size(); ++c) {
    visit_later_cubes(cube[c], x.cols, [&](const CubeIndex& at) {
      const std::uint32_t other = table.find(hash_of(at));
      if (other != CellTable::kNone) sets.unite(c, other);
    });
  }
  Clusters clusters;
  std::vector<std::size_t> number(cube.size(), cube.size());
  for (std::size_t i = 0; i < x.rows; ++i) {
    std::size_t& of_cube = number[sets.of(cube_of[i])];
    if (of_cube == cube.size()) {
      of_cube = clusters.cluster.size();
      clusters.cluster.push_back({i, 0, Box3::empty(x.cols)});
    }
    clusters.of.push_back(of_cube);
    Clusters::Cluster& cluster = clusters.cluster[of_cube];
    ++cluster.count;
    cluster.box.add(whitened_about(frame, x, i, cluster.first));
  }
  return clusters;
}

/// Puts boxes on shelves, with gaps of one reach: along the last axis up to a length, then along
/// the one before, and in three dimensions in layers.
class Shelves {
 public:
  Shelves(std::size_t d, double gap, double length) : d_(d), gap_(gap), length_(length) {}

  Point3 place(const Point3& extent) {
    if (d_ > 1 && at_[2] > 0 && at_[2] + extent[2] > length_) next(1);
    if (d_ > 2 && at_[1] > 0 && at_[1] + extent[1] > length_) next(0);
    const Point3 place = at_;
    for (std::size_t a = 0; a < 3; ++a) {
      taken_[a] = std::max(taken_[a], at_[a] + extent[a]);
      end_[a] = std::max(end_[a], taken_[a]);
    }
    at_[2] += extent[2] + gap_;
    return place;
  }
  const Point3& end() const { return end_; }

 private:
  void next(std::size_t axis) {
    at_[axis] = taken_[axis] + gap_;
    for (std::size_t a = axis + 1; a < 3; ++a) at_[a] = taken_[a] = 0;
  }

  std::size_t d_;
  double gap_, length_;
  Point3 at_{}, taken_{}, end_{};
};

Point3 extent_of(const Clusters::Cluster& cluster) {
  Point3 extent;
  for (std::size_t a = 0; a < 3; ++a) extent[a] = cluster.box.high[a] - cluster.box.low[a];
  return extent;
}

/// The volume of a box with a gap around it.
double volume_of(const Point3& extent, std::size_t d, double gap) {
  double volume = 1;
  for (std::size_t a = 3 - d; a < 3; ++a) volume *= extent[a] + gap;
  return volume;
}

/// Sets the shifts of clusters with more than `few` samples, and puts the others in a row beyond
/// them. Returns the end of the box of the former.
Point3 shift_clusters(std::size_t d, double gap, std::size_t few, Clusters* clusters) {
  std::vector<Clusters::Cluster>& all = clusters->cluster;
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Boxes of about the same size stand on a shelf.
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    const Point3 a = extent_of(all[i]), b = extent_of(all[j]);
    return a != b ? a > b : i < j;
  });
  double volume = 0, longest = 0;
  for (const Clusters::Cluster& cluster : all) {
    if (cluster.count <= few) continue;
    const Point3 extent = extent_of(cluster);
    volume += volume_of(extent, d, gap);
    longest = std::max({longest, extent[0], extent[1], extent[2]});
  }
  Shelves shelves(d, gap, std::max(longest, std::pow(volume, 1 / static_cast<double>(d))));
  for (const std::size_t i : order) {
    if (all[i].count > few) all[i].shift = shelves.place(extent_of(all[i]));
  }
  double beyond = shelves.end()[2] + 1.01 * gap;
  for (Clusters::Cluster& cluster : all) {
    if (cluster.count > few) continue;
    cluster.shift = {0, 0, beyond};
    beyond += extent_of(cluster)[2] + 1.01 * gap;
  }
  return shelves.end();
}

FourierGeometry frame_of(const MatrixView& x, const std::vector<double>& root) {
  FourierGeometry frame;
  frame.d = x.cols;
  std::copy(root.begin(), root.end(), frame.root.begin());
  frame.correlated = is_strongly_correlated({root.data(), root.size()}, x.cols);
  for (std::size_t k = 0; k < x.cols; ++k) {
    frame.scale[k] = 1 / root[k * x.cols + k];
    frame.centre[k] = x(0, k);
  }
  return frame;
}

/// Whether the clusters take less than half of the volume of all. Looks at a few samples first.
bool is_worth_packing(const Clusters& clusters, const Box3& all, std::size_t d, double gap) {
  Clusters packed = clusters;
  const Point3 end = shift_clusters(d, gap, 0, &packed);
  Point3 whole;
  for (std::size_t a = 0; a < 3; ++a) whole[a] = all.high[a] - all.low[a];
  return volume_of(end, d, gap) < 0.5 * volume_of(whole, d, gap);
}

/// Rows of positive weight, at most `max` of them, at equal distances.
PackedSamples rows_of(const MatrixView& x, Weights w, std::size_t max) {
  PackedSamples rows;
  rows.d = x.cols;
  const std::size_t step = std::max<std::size_t>(1, x.rows / max);
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < x.rows; i += step) {
    if (w[i] > 0) used.push_back(i);
  }
  for (std::size_t k = 0; k < x.cols; ++k) {
    for (const std::size_t i : used) rows.z.push_back(x(i, k));
  }
  for (const std::size_t i : used) rows.w.push_back(w[i]);
  return rows;
}

Box3 box_of(const MatrixView& x, const FourierGeometry& frame) {
  Box3 box = Box3::empty(x.cols);
  for (std::size_t i = 0; i < x.rows; ++i) box.add(frame.whiten(x, i));
  return box;
}

}  // namespace

PackedSamples pack_clusters(const MatrixView& x, Weights w, const std::vector<double>& root,
                            double max, double tolerance, const RunOptions& options) {
  check_weight_count(x.rows, w.size);
  const double gap = reach_of(max, tolerance, w);
  PackedSamples packed;
  for (const std::size_t rows : {kLookedAt, x.rows}) {
    if (rows > x.rows / 2 && rows != x.rows) continue;
    packed = rows_of(x, w, rows);
    if (packed.w.empty()) return {};
    const MatrixView samples = packed.view();
    const FourierGeometry frame = frame_of(samples, root);
    Clusters clusters = find_clusters(samples, frame, gap, options);
    if (!is_worth_packing(clusters, box_of(samples, frame), x.cols, gap)) return {};
    if (rows != x.rows) continue;
    const bool some_large =
        std::any_of(clusters.cluster.begin(), clusters.cluster.end(),
                    [](const Clusters::Cluster& c) { return c.count > kFewSamples; });
    const Point3 end = shift_clusters(x.cols, gap, some_large ? kFewSamples : 0, &clusters);
    for (std::size_t k = 0; k < x.cols; ++k) packed.high[k] = end[frame.axis(k)];
    std::vector<double> moved(packed.z.size());
    for (std::size_t i = 0; i < samples.rows; ++i) {
      const Clusters::Cluster& cluster = clusters.cluster[clusters.of[i]];
      const Point3 z = whitened_about(frame, samples, i, cluster.first);
      for (std::size_t k = 0; k < x.cols; ++k) {
        const std::size_t a = frame.axis(k);
        moved[k * samples.rows + i] = z[a] - cluster.box.low[a] + cluster.shift[a];
      }
    }
    packed.z = moved;
  }
  return packed;
}

}  // namespace kestrel
