#include "core/fgt/cell_order.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/parallel_sort.hpp"
#include "core/base/whole.hpp"
#include "core/data/quantiles.hpp"
#include "core/data/sample_moments.hpp"
#include "simd/fgt/cells.hpp"

namespace kestrel {

namespace {

/// Values whose slots are found together.
constexpr std::size_t kTogether = 512;
/// Slots whose cells are opened together.
constexpr std::size_t kSlotsOfBlock = 1024;
/// The place of a value beyond the slots.
constexpr std::uint32_t kOutside = std::numeric_limits<std::uint32_t>::max();

/// How many values of each chunk go to each slot, in blocks of slots.
struct SlotCounts {
  using Values = std::array<std::uint32_t, kSlotsOfBlock>;

  std::uint32_t* count;
  std::size_t chunks, slots;  // and one more slot

  std::size_t blocks() const { return slots / kSlotsOfBlock + 1; }
  /// Calls body(slot of the block, count) for each chunk in turn.
  template <class Body>
  void each(std::size_t block, const Body& body) const {
    const std::size_t from = block * kSlotsOfBlock, to = std::min(kSlotsOfBlock, slots + 1 - from);
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      std::uint32_t* counts = count + chunk * (slots + 1) + from;
      for (std::size_t slot = 0; slot < to; ++slot) body(slot, counts[slot]);
    }
  }
  Values of_block(std::size_t block) const {
    Values values{};
    each(block, [&](std::size_t slot, std::uint32_t more) { values[slot] += more; });
    return values;
  }
};

/// Into how many chunks n values are cut that go to this many slots: all chunks together have at
/// most as many counters as there are values.
std::size_t chunks_of(std::size_t n, std::size_t slots) {
  constexpr std::size_t kChunk = std::size_t{1} << 14;
  return std::max<std::size_t>(1, std::min(n / kChunk, n / (slots + 1)));
}

// 2^e and 2^-e leave room for sums of keys and lags.
constexpr int kMaxExponent = 980;

}  // namespace

int cell_exponent(double bandwidth, int halvings) {
  if (!(bandwidth > 0) || !std::isfinite(bandwidth)) {
    throw error(ErrorKind::input,
                "a bandwidth must be a positive number, not " + std::to_string(bandwidth));
  }
  const int exponent = std::ilogb(bandwidth) - halvings;
  if (exponent < -kMaxExponent || exponent > kMaxExponent) {
    throw error(ErrorKind::input, "a bandwidth must be between 1e-290 and 1e290");
  }
  return exponent;
}

bool fits_cells(const ValueRange& range, double bandwidth, int halvings) {
  const int exponent = std::ilogb(bandwidth);
  // Six more for sums of keys and lags.
  const auto is_numbered = [=](double value) {
    return std::isfinite(std::ldexp(value, halvings + 6 - exponent));
  };
  return exponent - halvings >= -kMaxExponent && exponent <= kMaxExponent &&
         is_numbered(range.min) && is_numbered(range.max);
}

ValueRange range_of(Span<const double> x, const ParallelOptions& options) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (x.size == 0) return {kInfinity, -kInfinity};
  const std::vector<double> range = column_ranges({x.data, x.size, 1}, options);
  if (std::isnan(range[0])) throw error(ErrorKind::input, "values must be finite");
  return {range[0], range[1]};
}

double ValueRange::cells(int exponent) const {
  const double scale = std::ldexp(1.0, -exponent);
  return min <= max ? std::floor(max * scale) - std::floor(min * scale) + 1 : 0.0;
}

CellOrder::CellOrder(Span<const double> x, Weights w, const ValueRange& range, int exponent,
                     const RunOptions& options)
    : exponent_(exponent),
      offset_(x.size),
      sorted_weight_(w.absent() ? 0 : w.size),
      weight_(w.absent() ? w : Weights(sorted_weight_.data(), w.size)),
      place_(x.size) {
  if (x.size > std::numeric_limits<std::uint32_t>::max() / 8) {
    throw error(ErrorKind::memory, "there are more values than the cells can number");
  }
  check_weights(w, part_of(options.parallel, 0, 0));
  const double min = std::ldexp(range.min, -exponent), max = std::ldexp(range.max, -exponent);
  if (x.size > 0 && !(std::isfinite(min) && std::isfinite(max))) {
    throw error(ErrorKind::input, "values are too large for this bandwidth");
  }
  const double n = static_cast<double>(x.size), cells = range.cells(exponent);
  if (cells <= 4 * n + 1024) {
    fill(x, w, std::floor(min), whole_number<std::size_t>(cells), options);
  } else {
    const double middle = median_of_every(x.size / 1000 + 1, x);
    fill(x, w, std::floor(std::ldexp(middle, -exponent) - 2 * n), 4 * x.size, options);
  }
}

// Sets keys and first places of the cells that hold values. Counts of the chunks become the places
// where their values begin. Returns how many of the values outside are below all slots.
std::size_t CellOrder::open_cells(double min, std::size_t slots, std::size_t chunks,
                                  const Outside& outside, std::uint32_t* next,
                                  const ParallelOptions& options) {
  std::size_t begin = 0;
  const auto open_outside = [&](std::size_t k) {
    if (key_.empty() || key_.back() != outside[k].first) {
      key_.push_back(outside[k].first);
      first_.push_back(begin);
    }
    ++begin;
  };
  std::size_t below = 0;
  while (below < outside.size() && outside[below].first < min) open_outside(below++);

  // First how many cells and values a block of slots has, then what its cells are.
  struct Block {
    std::size_t cells = 0, values = 0;
  };
  const SlotCounts counts{next, chunks, slots};
  std::vector<Block> blocks(counts.blocks());
  parallel_for(blocks.size(), options, [&](std::size_t block, int) {
    for (const std::uint32_t count : counts.of_block(block)) {
      blocks[block].cells += count > 0 ? 1 : 0;
      blocks[block].values += count;
    }
  });
  std::size_t cells = key_.size();
  for (Block& block : blocks) {
    const Block here = block;
    block = {cells, begin};
    cells += here.cells;
    begin += here.values;
  }
  key_.resize(cells);
  first_.resize(cells);
  parallel_for(blocks.size(), options, [&](std::size_t block, int) {
    SlotCounts::Values place = counts.of_block(block);
    Block at = blocks[block];
    for (std::size_t slot = 0; slot < kSlotsOfBlock; ++slot) {
      const std::uint32_t count = place[slot];
      place[slot] = static_cast<std::uint32_t>(at.values);
      if (count == 0) continue;
      key_[at.cells] = min + static_cast<double>(block * kSlotsOfBlock + slot);
      first_[at.cells++] = at.values;
      at.values += count;
    }
    counts.each(block, [&](std::size_t slot, std::uint32_t& count) {
      const std::uint32_t of_chunk = count;
      count = place[slot];
      place[slot] += of_chunk;
    });
  });
  for (std::size_t k = below; k < outside.size(); ++k) open_outside(k);
  first_.push_back(begin);
  return below;
}

// Sets the places of values to their slots, and counts them.
void CellOrder::find_slots(Span<const double> x, std::size_t begin, std::size_t end, double min,
                           std::size_t slots, const simd::Table& table, std::uint32_t* count,
                           Outside* outside) {
  const double scale = std::ldexp(1.0, -exponent_), last = static_cast<double>(slots);
  for (std::size_t from = begin; from < end; from += kTogether) {
    const std::size_t to = std::min(end, from + kTogether);
    std::uint32_t* place = place_.data() + from;
    const bool all_inside =
        table.cells->find_slots({scale, min, last}, x.data + from, to - from, place, nullptr);
    for (std::size_t i = from; !all_inside && i < to; ++i) {
      const double from_min = x[i] * scale - min;
      if (from_min >= 0 && from_min < last + 1) continue;
      const double key = std::floor(x[i] * scale);
      const double apart = from_min < 0 ? key : std::max(key, min + last + 1);
      outside->push_back({apart, static_cast<std::uint32_t>(i)});
      place_[i] = kOutside;
    }
    for (std::size_t i = from; i < to; ++i) {
      if (place_[i] != kOutside) ++count[place_[i]];
    }
  }
}

// A counting sort. The values are cut into chunks, each of which counts its own, so that each knows
// where those of its cells begin; the order within a cell is that of the values.
void CellOrder::fill(Span<const double> x, Weights w, double min, std::size_t slots,
                     const RunOptions& options) {
  const ParallelOptions part = part_of(options.parallel, 0, 0);
  const double scale = std::ldexp(1.0, -exponent_);
  const std::size_t chunks = chunks_of(x.size, slots);
  const auto start = [&](std::size_t chunk) {
    return x.size / chunks * chunk + std::min(chunk, x.size % chunks);
  };
  const RawArray<std::uint32_t> next(chunks * (slots + 1));
  std::vector<Outside> outside_of(chunks);
  parallel_for(chunks, part, [&](std::size_t chunk, int) {
    std::uint32_t* count = next.data() + chunk * (slots + 1);
    std::fill(count, count + slots + 1, std::uint32_t{0});
    find_slots(x, start(chunk), start(chunk + 1), min, slots, *options.table, count,
               &outside_of[chunk]);
  });
  Outside outside;
  for (const Outside& of : outside_of) outside.insert(outside.end(), of.begin(), of.end());
  parallel_sort(&outside, part);
  poll_if_due(options.parallel);
  const std::size_t below = open_cells(min, slots, chunks, outside, next.data(), part);
  poll_if_due(options.parallel);

  const std::size_t inside = x.size - outside.size();
  const auto put = [&](std::size_t i, std::size_t place, double key) {
    place_[i] = static_cast<std::uint32_t>(place);
    offset_[place] = (x[i] * scale - key) - 0.5;
    if (!w.absent()) sorted_weight_[place] = w[i];
  };
  parallel_for(chunks, part, [&](std::size_t chunk, int) {
    std::uint32_t* place = next.data() + chunk * (slots + 1);
    for (std::size_t i = start(chunk); i < start(chunk + 1); ++i) {
      const std::uint32_t slot = place_[i];
      if (slot != kOutside) put(i, place[slot]++, min + static_cast<double>(slot));
    }
  });
  for (std::size_t k = 0; k < outside.size(); ++k) {
    put(outside[k].second, k < below ? k : inside + k, outside[k].first);
  }
}

}  // namespace kestrel
