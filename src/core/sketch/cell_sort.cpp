#include "core/sketch/cell_sort.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/whole.hpp"
#include "core/data/quantiles.hpp"
#include "simd/sketch/whole_moments.hpp"

namespace kestrel {

namespace {

/// The slot of a value outside of all slots.
constexpr std::uint32_t kBeyond = std::numeric_limits<std::uint32_t>::max();
/// Samples whose slots are found together.
constexpr std::size_t kFoundTogether = 512;
/// How many samples ahead a place is fetched into the cache before it is written to.
constexpr std::size_t kFetchedAhead = 32;
/// Cells this far from zero have numbers that leaves compute exactly.
constexpr double kFarthestCell = 1125899906842624.0;  // 2^50

}  // namespace

void CellSort::sort(Span<const double> x, Weights w, const ValueRange& range, int exponent,
                    const simd::Table& table) {
  scale_ = std::ldexp(1.0, -exponent);
  weighted_ = !w.absent();
  sorted_.resize(x.size);
  sorted_weight_.resize(weighted_ ? x.size : 0);
  below_.clear();
  above_.clear();
  key_.clear();
  first_.clear();
  placed_ = 0;
  const double n = static_cast<double>(x.size), cells = range.cells(exponent);
  double first = std::floor(range.min * scale_), slots = cells;
  if (!(cells <= 4 * n + 1024)) {
    first = std::floor(median_of_every(x.size / 1000 + 1, x) * scale_ - 2 * n);
    slots = 4 * n;
  }
  // Farther out all are sorted by comparison.
  if (std::fabs(first) + slots > kFarthestCell) slots = 0;
  const std::size_t count = whole_number<std::size_t>(slots);
  next_.assign(count + 1, 0);
  // The slots are found twice, because that takes less time than writing and reading them.
  find_slots(x, first, count, table,
             [&](std::size_t from, std::size_t size, const std::uint32_t* slot) {
               for (std::size_t k = 0; k < size; ++k) {
                 if (slot[k] != kBeyond) {
                   ++next_[slot[k]];
                   continue;
                 }
                 const double value = x[from + k];
                 (std::floor(value * scale_) < first || count == 0 ? below_ : above_)
                     .emplace_back(value, w[from + k]);
               }
             });
  add_outside(&below_);
  for (std::size_t slot = 0; slot < count; ++slot) {
    const std::size_t size = next_[slot];
    next_[slot] = static_cast<std::uint32_t>(placed_);
    if (size == 0) continue;
    open_cell(first + static_cast<double>(slot));
    placed_ += size;
  }
  find_slots(x, first, count, table,
             [&](std::size_t from, std::size_t size, const std::uint32_t* slot) {
               place({x.data + from, size}, w.part(from, size), slot);
             });
  add_outside(&above_);
  first_.push_back(placed_);
}

/// Calls visit(from, count, slot) for some samples after the other.
template <class Visit>
void CellSort::find_slots(Span<const double> x, double first, std::size_t slots,
                          const simd::Table& table, const Visit& visit) const {
  const double last = static_cast<double>(slots) - 1;
  std::uint32_t slot[kFoundTogether];
  for (std::size_t from = 0; from < x.size; from += kFoundTogether) {
    const std::size_t count = std::min(x.size - from, kFoundTogether);
    const bool all =
        slots > 0 && table.sketch->find_cells({scale_, first, last}, x.data + from, count, slot);
    for (std::size_t k = 0; k < count && !all; ++k) {
      const double key = std::floor(x[from + k] * scale_);
      const bool inside = slots > 0 && key >= first && key <= first + last;
      slot[k] = inside ? whole_number<std::uint32_t>(key - first) : kBeyond;
    }
    visit(from, count, slot);
  }
}

/// Those with a slot. Their places are in no cache, and each write would wait for its line.
void CellSort::place(Span<const double> x, Weights w, const std::uint32_t* slot) {
  for (std::size_t k = 0; k < x.size; ++k) {
    const std::uint32_t ahead = slot[std::min(k + kFetchedAhead, x.size - 1)];
    if (ahead != kBeyond) __builtin_prefetch(sorted_.data() + next_[ahead], 1);
    if (slot[k] != kBeyond) place(next_[slot[k]]++, x[k], w[k]);
  }
}

void CellSort::add_outside(Outside* outside) {
  std::sort(outside->begin(), outside->end());
  for (const auto& sample : *outside) {
    const double key = std::floor(sample.first * scale_);
    if (key_.empty() || key_.back() != key) open_cell(key);
    place(placed_++, sample.first, sample.second);
  }
}

void CellSort::open_cell(double key) {
  key_.push_back(key + 0.0);
  first_.push_back(placed_);
}

}  // namespace kestrel
