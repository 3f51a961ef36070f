#include "core/fourier/tail.hpp"

#include <algorithm>
#include <cmath>

namespace kestrel {

namespace {

using Cube = std::array<double, 3>;

Cube cube_of(const Point3& z, double side) {
  return {std::floor(z[0] / side), std::floor(z[1] / side), std::floor(z[2] / side)};
}

/// Samples sorted by their cubes. Outliers come first in the numbering, then edge samples.
class TailCubes {
 public:
  TailCubes(const FourierTail& tail, double side) : tail_(tail) {
    const std::size_t n = tail.outlier.size() + tail.edge.size();
    order_.resize(n);
    for (std::size_t i = 0; i < n; ++i) order_[i] = {cube_of(point(i), side), i};
    std::sort(order_.begin(), order_.end());
  }

  const Point3& point(std::size_t i) const {
    const std::size_t m = tail_.outlier.size();
    return i < m ? tail_.outlier[i] : tail_.edge[i - m];
  }
  double weight(std::size_t i) const {
    const std::size_t m = tail_.outlier.size();
    return i < m ? tail_.outlier_weight[i] : tail_.edge_weight[i - m];
  }

  /// Calls visit(i) for the samples of the cubes from (c0, c1, c2 - 1) to (c0, c1, c2 + 1).
  template <class Visit>
  bool visit_three(const Cube& middle, const Visit& visit) const {
    const Cube first{middle[0], middle[1], middle[2] - 1};
    const auto before = [](const Entry& entry, const Cube& cube) { return entry.cube < cube; };
    for (auto at = std::lower_bound(order_.begin(), order_.end(), first, before);
         at != order_.end() && at->cube[0] == middle[0] && at->cube[1] == middle[1] &&
         at->cube[2] <= middle[2] + 1;
         ++at) {
      if (!visit(at->sample)) return false;
    }
    return true;
  }

 private:
  struct Entry {
    Cube cube;
    std::size_t sample;
    bool operator<(const Entry& other) const {
      return cube != other.cube ? cube < other.cube : sample < other.sample;
    }
  };
  const FourierTail& tail_;
  std::vector<Entry> order_;
};

}  // namespace

void FourierTail::add(const FourierTail& other) {
  outlier.insert(outlier.end(), other.outlier.begin(), other.outlier.end());
  edge.insert(edge.end(), other.edge.begin(), other.edge.end());
  outlier_weight.insert(outlier_weight.end(), other.outlier_weight.begin(),
                        other.outlier_weight.end());
  edge_weight.insert(edge_weight.end(), other.edge_weight.begin(), other.edge_weight.end());
}

bool file_sample(const FourierGeometry& geometry, const Point3& z, double weight,
                 FourierTail* tail) {
  if (!geometry.inside(z)) {
    if (geometry.reach == 0) return true;  // too far away to matter
    tail->outlier.push_back(z);
    tail->outlier_weight.push_back(weight);
    return true;
  }
  for (std::size_t a = 3 - geometry.d; a < 3 && geometry.reach > 0; ++a) {
    if (z[a] - geometry.low[a] <= geometry.reach || geometry.high[a] - z[a] <= geometry.reach) {
      tail->edge.push_back(z);
      tail->edge_weight.push_back(weight);
      break;
    }
  }
  return false;
}

bool visit_tail_pairs(const FourierTail& tail, double reach, const PairVisit& visit) {
  if (tail.outlier.empty()) return true;
  const TailCubes cubes(tail, reach);
  for (std::size_t i = 0; i < tail.outlier.size(); ++i) {
    const Point3& z = tail.outlier[i];
    const Cube home = cube_of(z, reach);
    const auto meet = [&](std::size_t j) {
      if (j <= i) return true;
      const Point3& other = cubes.point(j);
      for (std::size_t a = 0; a < 3; ++a) {
        if (std::fabs(z[a] - other[a]) > reach) return true;
      }
      return visit(z, other, cubes.weight(i) * cubes.weight(j));
    };
    for (double a = -1; a <= 1; ++a) {
      for (double b = -1; b <= 1; ++b) {
        if (!cubes.visit_three({home[0] + a, home[1] + b, home[2]}, meet)) return false;
      }
    }
  }
  return true;
}

}  // namespace kestrel
