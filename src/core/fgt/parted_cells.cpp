#include "core/fgt/parted_cells.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <numeric>

#include "core/base/parallel.hpp"
#include "core/data/cell_table.hpp"
#include "core/fgt/cell_sums.hpp"
#include "core/fgt/full_cells.hpp"

namespace kestrel {

namespace {

/// How many samples are looked at.
constexpr std::size_t kLookedAt = std::size_t{1} << 13;
/// The least samples of a part in a cell, on average, if only these suggest that there are so many:
/// in the tails sums at points cost more by moments than sample by sample.
constexpr double kMinOfEstimatedCell = 2 * kMinOfFullCell;

/// About how many cells hold the samples of a part. With n^a cells that hold n samples, the share a
/// of them holds one only (Karlin 1967, "Central limit theorems for certain infinite urn schemes").
double estimated_cells(Span<const double> x, int exponent) {
  const double scale = std::ldexp(1.0, -exponent);
  CellTable table(kLookedAt);
  std::vector<std::size_t> seen;
  for (std::size_t k = 0; k < kLookedAt; ++k) {
    const double key = std::floor(x[x.size / kLookedAt * k] * scale);
    const std::uint32_t cell = table.number(hash_with(0, key));
    if (cell == seen.size()) seen.push_back(0);
    ++seen[cell];
  }
  const double cells = static_cast<double>(seen.size());
  const double alone = static_cast<double>(std::count(seen.begin(), seen.end(), 1u));
  return cells * std::pow(PartedCells::kPartSize / kLookedAt, alone / cells);
}

}  // namespace

bool PartedCells::suit(Span<const double> x, const ValueRange& range, int exponent) {
  constexpr double kPart = static_cast<double>(kPartSize);
  return x.size > kPartSize && (range.cells(exponent) * kMinOfFullCell <= kPart ||
                                estimated_cells(x, exponent) * kMinOfEstimatedCell <= kPart);
}

PartedCells::PartedCells(Span<const double> x, Weights w, const ValueRange& range, int exponent,
                         int moments, const RunOptions& options)
    : row_(static_cast<std::size_t>(moments)) {
  // Parts of sorted samples span much less than all of them.
  const bool wide = range.cells(exponent) > static_cast<double>(kPartSize);
  const double n = static_cast<double>(x.size);
  for (std::size_t begin = 0; begin < x.size; begin += kPartSize) {
    const Span<const double> part{x.data + begin, std::min(kPartSize, x.size - begin)};
    const double done = static_cast<double>(begin) / n, share = static_cast<double>(part.size) / n;
    const RunOptions how{options.table, part_of(options.parallel, done, done + share)};
    const ValueRange of_part = wide ? range_of(part, part_of(how.parallel, 0, 0)) : range;
    add_part(CellOrder(part, w.part(begin, part.size), of_part, exponent, how), moments, how);
  }
}

void PartedCells::add_part(const CellOrder& order, int moments, const RunOptions& options) {
  std::vector<std::size_t> all(order.cells());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const CellSums sums = sum_cells(order, all, moments, options);
  const std::vector<std::size_t> place = open_cells(order);
  const std::size_t items = (all.size() + kCellsOfAddition - 1) / kCellsOfAddition;
  parallel_for(items, part_of(options.parallel, 1, 1), [&](std::size_t item, int) {
    const std::size_t last = std::min(all.size(), (item + 1) * kCellsOfAddition);
    for (std::size_t c = item * kCellsOfAddition; c < last; ++c) {
      double* to = sum_.data() + place[c] * row_;
      for (std::size_t a = 0; a < row_; ++a) to[a] += sums.moment(c)[a];
    }
  });
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

}  // namespace kestrel
