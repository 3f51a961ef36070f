#include "core/fgt/full_cells.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/base/parallel.hpp"
#include "core/base/whole.hpp"
#include "core/data/passes.hpp"
#include "core/fgt/cell_sums.hpp"

namespace kestrel {

namespace {

/// The maximum number of work items, each of which has sums of its own, and the minimum of parts
/// that are worth that.
constexpr std::size_t kMaxItems = 64, kMinParts = 2;

}  // namespace

/// For one worker: the samples of a part, as given and in the order of their cells.
struct FullCells::Scratch {
  Scratch(std::size_t cells, bool weighted)
      : slot(kPartSize), offset(kPartSize), sorted(kPartSize), weight(weighted ? kPartSize : 0) {
    end.resize(cells);
  }

  RawArray<std::uint32_t> slot;
  RawArray<double> offset, sorted, weight;
  std::vector<std::size_t> end;  // of each cell
};

bool FullCells::suit(std::size_t samples, const ValueRange& range, int exponent) {
  return samples > kPartSize && range.cells(exponent) * kMinOfFullCell <= kPartSize;
}

FullCells::FullCells(Span<const double> x, Weights w, const ValueRange& range, int exponent,
                     int moments, const RunOptions& options)
    // One more, since the last value may be rounded up.
    : cells_(whole_number<std::size_t>(range.cells(exponent)) + 1),
      row_(static_cast<std::size_t>(moments) + 2),
      scale_(std::ldexp(1.0, -exponent)),
      first_(std::floor(range.min * scale_)) {
  check_weights(w, part_of(options.parallel, 0, 0));
  const std::size_t parts = (x.size + kPartSize - 1) / kPartSize;
  const std::size_t parts_of_item = std::max(kMinParts, (parts + kMaxItems - 1) / kMaxItems);
  const std::size_t items = (parts + parts_of_item - 1) / parts_of_item;
  std::vector<Scratch> scratch;
  for (std::size_t k = parallel_workers(items, options.parallel); k > 0; --k) {
    scratch.emplace_back(cells_, !w.absent());
  }
  other_.resize(items - 1);
  parallel_for(items, options.parallel, [&](std::size_t item, int worker) {
    RawArray<double>& sum = item == 0 ? sum_ : other_[item - 1];
    sum = RawArray<double>(cells_ * row_);
    std::fill(sum.data(), sum.data() + cells_ * row_, 0.0);
    const std::size_t end = std::min(parts, (item + 1) * parts_of_item);
    for (std::size_t part = item * parts_of_item; part < end; ++part) {
      poll_if_due(options.parallel);
      const std::size_t begin = part * kPartSize, count = std::min(kPartSize, x.size - begin);
      add_part({x.data + begin, count}, w.part(begin, count), *options.table,
               &scratch[static_cast<std::size_t>(worker)], sum.data());
    }
  });
  add_up(part_of(options.parallel, 0, 0));
}

void FullCells::add_part(Span<const double> x, Weights w, const simd::Table& table,
                         Scratch* scratch, double* sum) const {
  const std::uint32_t* slot = scratch->slot.data();
  std::vector<std::size_t>& end = scratch->end;
  table.cells->find_slots(slots(), x.data, x.size, scratch->slot.data(), scratch->offset.data());
  std::fill(end.begin(), end.end(), std::size_t{0});
  for (std::size_t i = 0; i < x.size; ++i) ++end[slot[i]];
  std::size_t before = 0;
  for (std::size_t& one : end) {
    const std::size_t count = one;
    one = before;
    before += count;
  }
  // What was the begin of a cell becomes its end.
  if (w.absent()) {
    for (std::size_t i = 0; i < x.size; ++i) {
      scratch->sorted[end[slot[i]]++] = scratch->offset[i];
    }
  } else {
    for (std::size_t i = 0; i < x.size; ++i) {
      const std::size_t place = end[slot[i]]++;
      scratch->sorted[place] = scratch->offset[i];
      scratch->weight[place] = w[i];
      if (w[i] > 0) sum[slot[i] * row_ + row_ - 1] += 1;
    }
  }
  double of_part[kMaxMoments + 1];
  for (std::size_t cell = 0, begin = 0; cell < cells_; begin = end[cell++]) {
    const std::size_t count = end[cell] - begin;
    if (count == 0) continue;
    double* to = sum + cell * row_;
    sum_powers(scratch->sorted.data() + begin,
               w.absent() ? nullptr : scratch->weight.data() + begin, count,
               static_cast<int>(row_) - 2, table, of_part);
    for (std::size_t a = 0; a + 1 < row_; ++a) to[a] += of_part[a];
    if (w.absent()) to[row_ - 1] += static_cast<double>(count);
  }
}

/// Pairwise, to keep rounding errors small.
void FullCells::add_up(const ParallelOptions& options) {
  const std::size_t items = other_.size() + 1;
  const auto sum_of = [&](std::size_t item) {
    return item == 0 ? sum_.data() : other_[item - 1].data();
  };
  parallel_for((cells_ + kCellsOfAddition - 1) / kCellsOfAddition, options,
               [&](std::size_t k, int) {
                 const std::size_t first = k * kCellsOfAddition,
                                   last = std::min(cells_, first + kCellsOfAddition);
                 for (std::size_t step = 1; step < items; step *= 2) {
                   for (std::size_t item = 0; item + step < items; item += 2 * step) {
                     double* to = sum_of(item);
                     const double* from = sum_of(item + step);
                     for (std::size_t i = first * row_; i < last * row_; ++i) to[i] += from[i];
                   }
                 }
                 for (std::size_t cell = first; cell < last; ++cell) {
                   divide_by_factorials(static_cast<int>(row_) - 2, sum_.data() + cell * row_);
                 }
               });
  other_.clear();
}

SortedSamples FullCells::samples_of(const std::vector<char>& chosen, Span<const double> x,
                                    Weights w, const RunOptions& options) const {
  struct Found {
    std::uint32_t cell;
    double offset, weight;
  };
  std::vector<std::vector<Found>> of_part(parts_of_pass(x.size));
  pass_over(x.size, part_of(options.parallel, 0, 0),
            [&](std::size_t part, std::size_t begin, std::size_t end) {
              constexpr std::size_t kTogether = 512;
              std::uint32_t slot[kTogether];
              double offset[kTogether];
              for (std::size_t from = begin; from < end; from += kTogether) {
                const std::size_t count = std::min(kTogether, end - from);
                options.table->cells->find_slots(slots(), x.data + from, count, slot, offset);
                for (std::size_t i = 0; i < count; ++i) {
                  if (chosen[slot[i]] == 0) continue;
                  of_part[part].push_back({slot[i], offset[i], w[from + i]});
                }
              }
            });
  std::vector<Found> all;
  for (const std::vector<Found>& some : of_part) all.insert(all.end(), some.begin(), some.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const Found& a, const Found& b) { return a.cell < b.cell; });
  SortedSamples sorted;
  for (std::size_t i = 0; i < all.size(); ++i) {
    sorted.offset.push_back(all[i].offset);
    sorted.weight.push_back(all[i].weight);
    if (i + 1 == all.size() || all[i + 1].cell != all[i].cell) sorted.end.push_back(i + 1);
  }
  return sorted;
}

}  // namespace kestrel
