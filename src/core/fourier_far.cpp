#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/direct.hpp"
#include "core/fourier_density.hpp"
#include "core/fourier_geometry.hpp"

namespace kestrel {

namespace {

/// Side of a cube, in bandwidths, where there is room for it: 2^21 cubes along an axis at most.
constexpr double kSide = 2.0;
constexpr int kMostLevels = 21;
/// Points that share their samples, at most and wanted on average.
constexpr std::size_t kPointsOfBlock = 128, kFewPoints = 8;
/// Bits of a digit of the sort.
constexpr int kDigit = 11;

/// A box of whitened coordinates.
struct Box {
  Point3 low, high;

  /// Squared distances to another one: between the nearest points and the farthest.
  double nearest(const Box& other) const {
    double sum = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const double gap = std::max({0.0, other.low[a] - high[a], low[a] - other.high[a]});
      sum += gap * gap;
    }
    return sum;
  }
  double farthest(const Box& other) const {
    double sum = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const double span = std::max(other.high[a] - low[a], high[a] - other.low[a]);
      sum += span * span;
    }
    return sum;
  }
};

/// Cubes of whitened space, numbered along a Morton curve: all those of a cube of twice the side
/// are neighbours, so that a sorted list of numbers is a tree.
class Cubes {
 public:
  Cubes(std::size_t d, const Box& all) : d_(d), low_(all.low), side_(kSide) {
    double most = 0;
    for (std::size_t a = 0; a < d; ++a) most = std::max(most, all.high[a] - all.low[a]);
    levels_ = 1;
    while (levels_ < kMostLevels && std::ldexp(side_, levels_) <= most) ++levels_;
    side_ = std::max(side_, std::ldexp(most, -levels_) * (1 + 1e-12));
  }

  int levels() const { return levels_; }
  std::uint64_t number(const Point3& z) const {
    std::uint64_t at[3] = {}, number = 0;
    for (std::size_t a = 0; a < d_; ++a) {
      at[a] = static_cast<std::uint64_t>((z[a] - low_[a]) / side_);
      at[a] = std::min(at[a], (std::uint64_t{1} << levels_) - 1);
    }
    for (int level = levels_; level-- > 0;) {
      for (std::size_t a = 0; a < d_; ++a) number = 2 * number + (at[a] >> level & 1);
    }
    return number;
  }
  /// The cube of 2^level sides that holds those with this number, their last level * d bits aside.
  Box cube(std::uint64_t number, int level) const {
    Point3 at{};
    for (int bit = levels_; bit-- > level;) {
      for (std::size_t a = 0; a < d_; ++a) {
        const std::size_t shift = static_cast<std::size_t>(bit) * d_ + (d_ - 1 - a);
        at[a] = 2 * at[a] + static_cast<double>(number >> shift & 1);
      }
    }
    Box box{};
    for (std::size_t a = 0; a < d_; ++a) {
      box.low[a] = low_[a] + at[a] * std::ldexp(side_, level);
      box.high[a] = box.low[a] + std::ldexp(side_, level);
    }
    return box;
  }
  int bits(int level) const { return level * static_cast<int>(d_); }

 private:
  std::size_t d_;
  Point3 low_;
  double side_;
  int levels_;
};

/// Things in the order of their cubes.
struct Sorted {
  std::vector<std::uint64_t> number;
  std::vector<std::size_t> item;

  /// Radix sort of the last `bits` bits; stable.
  void sort(int bits) {
    std::vector<std::uint64_t> other(number.size());
    std::vector<std::size_t> other_item(item.size());
    for (int shift = 0; shift < bits; shift += kDigit) {
      std::vector<std::size_t> start((std::size_t{1} << kDigit) + 1, 0);
      const std::uint64_t mask = (std::uint64_t{1} << kDigit) - 1;
      for (const std::uint64_t n : number) ++start[(n >> shift & mask) + 1];
      for (std::size_t s = 1; s < start.size(); ++s) start[s] += start[s - 1];
      for (std::size_t i = 0; i < number.size(); ++i) {
        const std::size_t to = start[number[i] >> shift & mask]++;
        other[to] = number[i];
        other_item[to] = item[i];
      }
      number.swap(other);
      item.swap(other_item);
    }
  }
};

class FarPoints {
 public:
  FarPoints(const MatrixView& x, Span<const double> w, const EvaluationPoints& points,
            const std::vector<std::size_t>& chosen, Span<const double> root, double tolerance,
            const RunOptions& options)
      : x_(x),
        w_(w),
        points_(points),
        root_(root),
        margin_(2 * std::log(10 * static_cast<double>(x.rows) / tolerance)),
        options_(options),
        d_(x.cols),
        cubes_(d_, range(chosen)) {
    for (std::size_t i = 0; i < x.rows; ++i) {
      if (!(w[i] > 0)) continue;
      samples_.number.push_back(cubes_.number(whitened_sample(i)));
      samples_.item.push_back(i);
    }
    samples_.sort(cubes_.bits(cubes_.levels()));
    for (const std::size_t i : chosen) {
      chosen_.number.push_back(cubes_.number(whitened_point(i)));
      chosen_.item.push_back(i);
    }
    chosen_.sort(cubes_.bits(cubes_.levels()));
    cut_blocks();
  }

  void run(Span<double> out) const {
    if (samples_.item.empty()) {
      for (const std::size_t i : chosen_.item) out[i] = 0.0;
      return;
    }
    parallel_for(block_.size() - 1, options_.parallel,
                 [&](std::size_t b, int) { run_block(block_[b], block_[b + 1], out); });
  }

 private:
  Point3 whitened(const double* v) const {
    Point3 z{};
    for (std::size_t k = 0; k < d_; ++k) {
      double u = v[k] - centre_[k];
      for (std::size_t l = 0; l < k; ++l) u -= root_[l * d_ + k] * z[l];
      z[k] = u / root_[k * d_ + k];
    }
    return z;
  }
  Point3 whitened_point(std::size_t i) const {
    double v[3];
    points_.copy(i, v);
    return whitened(v);
  }
  Point3 whitened_sample(std::size_t i) const {
    double v[3];
    for (std::size_t k = 0; k < d_; ++k) v[k] = x_(i, k);
    return whitened(v);
  }

  /// The box of samples and chosen points. Sets the centre.
  Box range(const std::vector<std::size_t>& chosen) {
    for (std::size_t k = 0; k < d_; ++k) centre_[k] = x_.rows > 0 ? x_(0, k) : 0.0;
    Box box{};
    for (std::size_t a = 0; a < d_; ++a) {
      box.low[a] = std::numeric_limits<double>::infinity();
      box.high[a] = -box.low[a];
    }
    const auto add = [&](const Point3& z) {
      for (std::size_t a = 0; a < d_; ++a) {
        box.low[a] = std::min(box.low[a], z[a]);
        box.high[a] = std::max(box.high[a], z[a]);
      }
    };
    for (std::size_t i = 0; i < x_.rows; ++i) {
      if (w_[i] > 0) add(whitened_sample(i));
    }
    for (const std::size_t i : chosen) add(whitened_point(i));
    return box;
  }

  /// Blocks of points in a common cube, of twice or four times the side where cubes hold few.
  void cut_blocks() {
    const std::size_t m = chosen_.number.size();
    for (int level = 0; level <= 2; ++level) {
      const int bits = cubes_.bits(level);
      block_.clear();
      for (std::size_t i = 0; i < m; ++i) {
        if (i == 0 || chosen_.number[i] >> bits != chosen_.number[i - 1] >> bits ||
            i - block_.back() == kPointsOfBlock) {
          block_.push_back(i);
        }
      }
      if (block_.size() * kFewPoints <= m) break;
    }
    block_.push_back(m);
  }

  /// The first sample at or behind `begin` whose number is not below `number`.
  std::size_t find(std::size_t begin, std::size_t end, std::uint64_t number) const {
    const auto at = [&](std::size_t i) {
      return samples_.number.begin() + static_cast<std::ptrdiff_t>(i);
    };
    return static_cast<std::size_t>(std::lower_bound(at(begin), at(end), number) -
                                    samples_.number.begin());
  }

  /// Calls visit(begin, end, cube, level) for the parts of a cube that hold samples.
  template <class Visit>
  void split(std::size_t begin, std::size_t end, int level, const Visit& visit) const {
    const int bits = cubes_.bits(level - 1);
    while (begin < end) {
      const std::uint64_t number = samples_.number[begin] >> bits << bits;
      const std::size_t next = find(begin, end, number + (std::uint64_t{1} << bits));
      visit(begin, next, cubes_.cube(number, level - 1));
      begin = next;
    }
  }

  /// Lowers `nearest` to an upper bound of the squared distance of any point of the box from its
  /// nearest sample. Near parts first: then the others are seldom looked into.
  void bound_nearest(const Box& box, std::size_t begin, std::size_t end, int level,
                     double* nearest) const {
    if (level == 0) return;
    struct Part {
      double distance;
      std::size_t begin, end;
    };
    std::array<Part, 8> part;
    std::size_t parts = 0;
    split(begin, end, level, [&](std::size_t from, std::size_t to, const Box& cube) {
      *nearest = std::min(*nearest, cube.farthest(box));
      const double distance = cube.nearest(box);
      std::size_t place = parts++;
      for (; place > 0 && part[place - 1].distance > distance; --place)
        part[place] = part[place - 1];
      part[place] = {distance, from, to};
    });
    for (std::size_t p = 0; p < parts; ++p) {
      if (part[p].distance < *nearest) {
        bound_nearest(box, part[p].begin, part[p].end, level - 1, nearest);
      }
    }
  }

  void collect(const Box& box, std::size_t begin, std::size_t end, int level, double most,
               std::vector<std::size_t>* found) const {
    if (level == 0) {
      for (std::size_t i = begin; i < end; ++i) found->push_back(samples_.item[i]);
      return;
    }
    split(begin, end, level, [&](std::size_t from, std::size_t to, const Box& cube) {
      if (cube.nearest(box) <= most) collect(box, from, to, level - 1, most, found);
    });
  }

  void run_block(std::size_t first, std::size_t last, Span<double> out) const {
    const std::size_t m = last - first, n = samples_.item.size();
    Box box{};
    std::vector<double> point(m * d_);
    for (std::size_t i = 0; i < m; ++i) {
      double v[3];
      points_.copy(chosen_.item[first + i], v);
      const Point3 z = whitened(v);
      for (std::size_t k = 0; k < d_; ++k) {
        point[k * m + i] = v[k];
        box.low[k] = i == 0 ? z[k] : std::min(box.low[k], z[k]);
        box.high[k] = i == 0 ? z[k] : std::max(box.high[k], z[k]);
      }
    }
    double nearest = std::numeric_limits<double>::infinity();
    bound_nearest(box, 0, n, cubes_.levels(), &nearest);
    std::vector<std::size_t> found;
    collect(box, 0, n, cubes_.levels(), nearest + margin_, &found);
    std::vector<double> sample(found.size() * d_), weight(found.size()), sum(m);
    for (std::size_t i = 0; i < found.size(); ++i) {
      weight[i] = w_[found[i]];
      for (std::size_t k = 0; k < d_; ++k) sample[k * found.size() + i] = x_(found[i], k);
    }
    EvaluationPoints at;
    at.matrix = {point.data(), m, d_};
    direct_density({sample.data(), found.size(), d_}, {weight.data(), weight.size()}, at, {}, root_,
                   options_, {sum.data(), m});
    for (std::size_t i = 0; i < m; ++i) out[chosen_.item[first + i]] = sum[i];
  }

  const MatrixView x_;
  const Span<const double> w_;
  const EvaluationPoints& points_;
  const Span<const double> root_;
  // exp(-margin / 2) n is a tenth of the tolerance.
  const double margin_;
  const RunOptions& options_;
  const std::size_t d_;
  Point3 centre_{};
  Cubes cubes_;
  Sorted samples_, chosen_;
  std::vector<std::size_t> block_;
};

}  // namespace

void density_of_far_points(const MatrixView& x, Span<const double> w,
                           const EvaluationPoints& points, const std::vector<std::size_t>& chosen,
                           Span<const double> root, double tolerance, const RunOptions& options,
                           Span<double> out) {
  if (chosen.empty()) return;
  FarPoints(x, w, points, chosen, root, tolerance, options).run(out);
}

}  // namespace kestrel
