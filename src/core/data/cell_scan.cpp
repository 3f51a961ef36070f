#include "core/data/cell_scan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/base/error.hpp"
#include "core/data/cell_table.hpp"
#include "core/data/passes.hpp"

namespace kestrel {

namespace {

/// How many samples a thin scan should have at least, and of how many samples the cells are tried
/// first.
constexpr std::size_t kThin = 512, kFirstChosen = 16;
/// Halvings of the side after which a double has no digits left.
constexpr std::size_t kMaxLevels = 100;

/// A number that is the same for all coordinates in a cell, in units of its side: the bits of a sum
/// that is rounded to a whole number, that of the middle of the cell. Cells of half the side lie in
/// these.
std::uint64_t cell_along_axis(double z) {
  z = (z - 0.5) + 1.5 * static_cast<double>(std::uint64_t{1} << 52);
  std::uint64_t bits;
  std::memcpy(&bits, &z, sizeof bits);
  return bits;
}

std::uint64_t cell_of(const double* z, std::size_t d, double per_side) {
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < d; ++k) {
    sum = (sum + cell_along_axis(z[k] * per_side)) * 0x9e3779b97f4a7c15ULL;  // 2^64 / golden ratio
  }
  return mixed_bits(sum);
}

/// z = L^-1 (x_i - x_1). The first sample is as good an origin as any.
class Coordinates {
 public:
  Coordinates(const MatrixView& x, Span<const double> root) : x_(x), root_(root) {
    for (std::size_t k = 0; k < x.cols; ++k) scale_.push_back(1 / root[k * x.cols + k]);
  }

  double first(std::size_t i) const { return (x_(i, 0) - x_(0, 0)) * scale_[0]; }
  void set(std::size_t i, double* z) const {
    const std::size_t d = x_.cols;
    for (std::size_t k = 0; k < d; ++k) {
      double value = x_(i, k) - x_(0, k);
      for (std::size_t l = 0; l < k; ++l) value -= root_[l * d + k] * z[l];
      z[k] = value * scale_[k];
    }
  }

 private:
  const MatrixView x_;
  const Span<const double> root_;
  std::vector<double> scale_;
};

/// Samples with their coordinates, one after the other.
struct Places {
  std::size_t d;
  std::vector<double> z, weight;

  std::size_t count() const { return weight.size(); }
  const double* at(std::size_t i) const { return z.data() + i * d; }
  void add(const double* from, double of_weight) {
    z.insert(z.end(), from, from + d);
    weight.push_back(of_weight);
  }
};

/// The cells of some samples.
class ChosenCells {
 public:
  ChosenCells(const Coordinates& coordinates, std::size_t n, std::size_t d, double side,
              std::size_t count)
      : d_(d), per_side_(1 / side), table_(count) {
    std::vector<double> z(d);
    for (std::size_t c = 0; c < count; ++c) {
      coordinates.set(n / count * c, z.data());
      table_.number(cell_of(z.data(), d, per_side_));
      strip_[strip_of(z[0])] = true;
    }
  }

  /// Whether one of them may have this first coordinate: there is no need for the others if not.
  bool may_hold(double first) const { return strip_[strip_of(first)]; }
  bool holds(const double* z) const {
    return table_.find(cell_of(z, d_, per_side_)) != CellTable::kNone;
  }

 private:
  static constexpr std::size_t kStrips = 4096;
  std::size_t strip_of(double z) const { return cell_along_axis(z * per_side_) % kStrips; }

  std::size_t d_;
  double per_side_;
  CellTable table_;
  std::array<bool, kStrips> strip_{};
};

/// The samples in the cells of `chosen` samples, or all if that is not fewer.
Places places_of(const MatrixView& x, Weights w, Span<const double> root, double side,
                 std::size_t chosen, const ParallelOptions& options) {
  const Coordinates coordinates(x, root);
  const bool all_cells = chosen >= x.rows;
  const ChosenCells cells(coordinates, x.rows, x.cols, side, all_cells ? 0 : chosen);
  std::vector<Places> of_part(parts_of_pass(x.rows), Places{x.cols, {}, {}});
  pass_over(x.rows, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    std::vector<double> z(x.cols);
    std::array<std::size_t, 512> possible;
    for (std::size_t from = begin; from < end; from += possible.size()) {
      const std::size_t to = std::min(end, from + possible.size());
      // Most samples are in none of them, at random places in their order: so there is no branch.
      std::size_t count = 0;
      for (std::size_t i = from; i < to; ++i) {
        possible[count] = i;
        count += all_cells || cells.may_hold(coordinates.first(i)) ? 1 : 0;
      }
      for (std::size_t c = 0; c < count; ++c) {
        const std::size_t i = possible[c];
        if (!(w[i] > 0)) continue;
        coordinates.set(i, z.data());
        if (all_cells || cells.holds(z.data())) of_part[part].add(z.data(), w[i]);
      }
    }
  });
  Places all{x.cols, {}, {}};
  for (const Places& part : of_part) {
    all.z.insert(all.z.end(), part.z.begin(), part.z.end());
    all.weight.insert(all.weight.end(), part.weight.begin(), part.weight.end());
  }
  return all;
}

/// Sums over the samples of every cell. Coordinates are relative to the first of them, so that ties
/// are exactly zero.
class CellSums {
 public:
  CellSums(const Places& places, double side) : places_(places), table_(places.count()) {
    const std::size_t d = places.d;
    cell_.reserve(places.count());
    for (std::size_t i = 0; i < places.count(); ++i) {
      const double* z = places.at(i);
      const std::uint32_t cell = table_.number(cell_of(z, d, 1 / side));
      cell_.push_back(cell);
      if (cell == first_.size()) {
        first_.push_back(i);
        sum_.resize(sum_.size() + stride(), 0.0);
      }
      const double weight = places.weight[i];
      const double* from = places.at(first_[cell]);
      double* sum = sum_.data() + cell * stride();
      *sum++ += weight;
      *sum++ += weight * weight;
      for (std::size_t k = 0; k < d; ++k) *sum++ += weight * (z[k] - from[k]);
      for (std::size_t k = 0; k < d; ++k) {
        for (std::size_t l = k; l < d; ++l) {
          *sum++ += weight * (z[k] - from[k]) * (z[l] - from[l]);
        }
      }
    }
  }

  std::size_t count() const { return first_.size(); }
  std::uint32_t cell(std::size_t i) const { return cell_[i]; }
  /// The weight of the ordered pairs i != j in a cell. That of a single sample is zero.
  double pairs(std::size_t cell) const {
    const double* sum = sum_.data() + cell * stride();
    return std::max(0.0, sum[0] * sum[0] - sum[1]);
  }
  /// Whether all samples of a cell are in one place.
  bool is_one_place(std::size_t cell) const {
    const double* square = sum_.data() + cell * stride() + 2 + places_.d;
    for (std::size_t k = 0; k < places_.d; square += places_.d - k, ++k) {
      if (*square > 0) return false;
    }
    return true;
  }

  std::vector<double> covariance() const {
    const std::size_t d = places_.d;
    std::vector<double> total(d * d, 0.0);
    double freedom = 0;
    for (std::size_t cell = 0; cell < count(); ++cell) {
      if (is_one_place(cell)) continue;
      const double* sum = sum_.data() + cell * stride();
      const double *mean = sum + 2, *square = mean + d;
      freedom += sum[0] - sum[1] / sum[0];
      for (std::size_t k = 0; k < d; ++k) {
        for (std::size_t l = k; l < d; ++l) {
          total[l * d + k] += *square++ - mean[k] * mean[l] / sum[0];
        }
      }
    }
    for (std::size_t k = 0; k < d; ++k) {
      for (std::size_t l = k; l < d; ++l) {
        if (freedom > 0) total[l * d + k] /= freedom;
        total[k * d + l] = total[l * d + k];
      }
    }
    return total;
  }

 private:
  std::size_t stride() const { return 2 + places_.d + places_.d * (places_.d + 1) / 2; }

  const Places& places_;
  CellTable table_;
  std::vector<std::uint32_t> cell_;
  std::vector<std::size_t> first_;
  std::vector<double> sum_;
};

}  // namespace

std::vector<CellLevel> scan_cells(const MatrixView& x, Weights w, Span<const double> root,
                                  double widest, double few, bool thin,
                                  const ParallelOptions& options) {
  check_weight_count(x.rows, w.size);
  if (x.rows >= std::size_t{1} << 31) {
    throw error(ErrorKind::memory, "there are too many samples to count their neighbours");
  }
  std::size_t chosen = thin ? kFirstChosen : x.rows;
  Places places = places_of(x, w, root, widest, chosen, options);
  while (places.count() < kThin && chosen < x.rows) {
    chosen *= std::max<std::size_t>(2, kThin / std::max<std::size_t>(1, places.count()));
    places = places_of(x, w, root, widest, chosen, options);
  }
  double squares = 0, tied = 0;
  for (const double weight : places.weight) squares += weight * weight;
  std::vector<CellLevel> levels;
  double side = widest;
  while (places.count() > 0 && levels.size() < kMaxLevels) {
    poll_if_due(options);
    const CellSums cells(places, side);
    CellLevel level{side, tied, cells.covariance()};
    std::vector<char> stays(cells.count());
    for (std::size_t cell = 0; cell < cells.count(); ++cell) {
      const double neighbours = cells.pairs(cell) / squares;
      level.neighbours += neighbours;
      stays[cell] = !cells.is_one_place(cell);
      if (!stays[cell]) tied += neighbours;
    }
    levels.push_back(level);
    if (level.neighbours < few) break;
    Places next{x.cols, {}, {}};
    for (std::size_t i = 0; i < places.count(); ++i) {
      if (stays[cells.cell(i)]) next.add(places.at(i), places.weight[i]);
    }
    places = next;
    side /= 2;
  }
  return levels;
}

}  // namespace kestrel
