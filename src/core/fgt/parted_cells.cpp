#include "core/fgt/parted_cells.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <unordered_map>

#include "core/base/parallel.hpp"
#include "core/fgt/cell_sums.hpp"

namespace kestrel {

namespace {

/// The maximum of cells that hold the samples of a part.
constexpr double kMaxPartedCells = static_cast<double>(PartedCells::kPartSize) / kMinOfFullCell;
/// How many samples are looked at. A part has 64 times as many. If these go on to lie in new cells,
/// as in the tails of Cauchy's distribution, it has about four times as many cells as are
/// estimated.
constexpr std::size_t kLookedAt = std::size_t{1} << 13;
constexpr double kTailCells = 4;

/// In how many cells the samples lie, from how many of the cells that some of them lie in are seen
/// once and twice (Chao 1984, "Nonparametric estimation of the number of classes in a population").
/// A lower bound, if there are ever new cells in a tail.
double estimated_cells(Span<const double> x, int exponent) {
  const double scale = std::ldexp(1.0, -exponent);
  std::unordered_map<double, std::size_t> seen(2 * kLookedAt);
  for (std::size_t k = 0; k < kLookedAt; ++k) {
    ++seen[std::floor(x[x.size / kLookedAt * k] * scale)];
  }
  double once = 0, twice = 0;
  for (const auto& cell : seen) {
    once += cell.second == 1 ? 1 : 0;
    twice += cell.second == 2 ? 1 : 0;
  }
  return static_cast<double>(seen.size()) + once * (once - 1) / (2 * (twice + 1));
}

}  // namespace

bool PartedCells::suit(Span<const double> x, const ValueRange& range, int exponent) {
  return x.size > kPartSize && (range.cells(exponent) <= kMaxPartedCells ||
                                kTailCells * estimated_cells(x, exponent) <= kMaxPartedCells);
}

PartedCells::PartedCells(Span<const double> x, Weights w, const ValueRange& range, int exponent,
                         int moments, const RunOptions& options)
    : range_(range), exponent_(exponent), row_(static_cast<std::size_t>(moments) + 2) {
  sort_parts(x, w, options, [&](const CellOrder& order, const RunOptions& part) {
    std::vector<std::size_t> all(order.cells());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const CellSums sums = sum_cells(order, all, moments, part);
    const std::vector<std::size_t> place = open_cells(order);
    const std::size_t items = (all.size() + kCellsOfAddition - 1) / kCellsOfAddition;
    parallel_for(items, part_of(part.parallel, 1, 1), [&](std::size_t item, int) {
      const std::size_t last = std::min(all.size(), (item + 1) * kCellsOfAddition);
      for (std::size_t c = item * kCellsOfAddition; c < last; ++c) {
        double* to = sum_.data() + place[c] * row_;
        for (std::size_t a = 0; a + 1 < row_; ++a) to[a] += sums.moment(c)[a];
        const Weights weight = order.weight().part(order.first(c), order.count(c));
        for (std::size_t i = 0; i < weight.size; ++i) to[row_ - 1] += weight[i] > 0 ? 1 : 0;
      }
    });
  });
}

/// take(order, options) for the samples of one part after the other.
template <class Take>
void PartedCells::sort_parts(Span<const double> x, Weights w, const RunOptions& options,
                             const Take& take) const {
  const double n = static_cast<double>(x.size);
  for (std::size_t begin = 0; begin < x.size; begin += kPartSize) {
    const std::size_t count = std::min(kPartSize, x.size - begin);
    const double done = static_cast<double>(begin) / n, share = static_cast<double>(count) / n;
    const RunOptions part{options.table, part_of(options.parallel, done, done + share)};
    const Span<const double> of_part{x.data + begin, count};
    // Parts of sorted samples span much less than all of them.
    const bool wide = range_.cells(exponent_) > kMaxPartedCells;
    const ValueRange range = wide ? range_of(of_part, part_of(part.parallel, 0, 0)) : range_;
    take(CellOrder(of_part, w.part(begin, count), range, exponent_, part), part);
  }
}

/// Makes room for the cells of a part, and returns their numbers.
std::vector<std::size_t> PartedCells::open_cells(const CellOrder& order) {
  std::vector<double> of_part, all;
  for (std::size_t c = 0; c < order.cells(); ++c) of_part.push_back(order.key(c));
  std::set_union(key_.begin(), key_.end(), of_part.begin(), of_part.end(), std::back_inserter(all));
  if (all.size() > key_.size()) {
    std::vector<double> sum(all.size() * row_, 0.0);
    for (std::size_t c = 0, to = 0; c < key_.size(); ++c) {
      while (all[to] < key_[c]) ++to;
      std::copy_n(moment(c), row_, sum.data() + to * row_);
    }
    key_.swap(all);
    sum_.swap(sum);
  }
  std::vector<std::size_t> number;
  std::size_t to = 0;
  for (const double key : of_part) {
    while (key_[to] < key) ++to;
    number.push_back(to);
  }
  return number;
}

SortedSamples PartedCells::samples_of(const std::vector<char>& chosen, Span<const double> x,
                                      Weights w, const RunOptions& options) const {
  std::vector<CellSample> all;
  sort_parts(x, w, options, [&](const CellOrder& order, const RunOptions&) {
    std::size_t cell = 0;
    for (std::size_t c = 0; c < order.cells(); ++c) {
      while (key_[cell] < order.key(c)) ++cell;
      if (chosen[cell] == 0) continue;
      for (std::size_t i = order.first(c); i < order.first(c + 1); ++i) {
        all.push_back({cell, order.offset()[i], order.weight()[i]});
      }
    }
  });
  return sorted_by_cell(&all);
}

}  // namespace kestrel
