#include "core/sketch/sketch_bytes.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/sketch/byte_words.hpp"

namespace kestrel {

namespace {

/// "KESTRELS", "KESTRELB", "KESTRELR" and "KESTRELG", lowest byte first.
constexpr std::uint64_t kMark = 0x534c45525453454bu, kBoundedMark = 0x424c45525453454bu,
                        kRegressionMark = 0x524c45525453454bu, kGridMark = 0x474c45525453454bu;
constexpr std::uint64_t kVersion = 2;
/// Words around the names, the samples and the cells.
constexpr std::size_t kFixedWords = 14;
/// Numbers of counters in a word, and the bits of each.
constexpr std::size_t kNumbersInWord = 4;
constexpr unsigned kBitsOfNumber = 16;

std::uint64_t mark_of(const SketchPlan& plan) {
  return plan.regression() ? kRegressionMark : plan.bounded ? kBoundedMark : kMark;
}

/// Words of a sample that is kept, and of a cell.
std::size_t words_of_sample(bool paired) { return paired ? 2 : 1; }
std::size_t words_of_cell(std::size_t row) { return 1 + 2 * row; }
/// Words of counters that are not zero.
std::uint64_t words_of_ties(std::uint64_t count, bool weighted) {
  return (count + kNumbersInWord - 1) / kNumbersInWord + (weighted ? 3 : 1) * count;
}

[[noreturn]] void refuse(const char* what) { throw error(ErrorKind::input, what); }

/// Reads mark and version, and checks the size and the checksum.
WordReader checked(Span<const unsigned char> bytes, std::uint64_t mark, std::size_t least) {
  WordReader in(bytes);
  if (bytes.size < 2 * kWordBytes || in.word() != mark) refuse("these bytes are no sketch");
  const std::uint64_t version = in.word();
  if (version != kVersion) {
    const std::string known = std::to_string(kVersion);
    refuse(("the sketch has the version " + std::to_string(version) + ", not " + known).c_str());
  }
  if (bytes.size < kWordBytes * least || bytes.size % kWordBytes != 0) {
    refuse("the sketch is cut short");
  }
  const std::size_t summed = bytes.size - kWordBytes;
  WordReader last({bytes.data + summed, kWordBytes});
  if (checksum(bytes.data, summed, 0) != last.word())
    refuse("the bytes of the sketch were changed");
  return in;
}

std::uint64_t as_word(std::int64_t value) { return static_cast<std::uint64_t>(value); }

/// Reads the parts of a sketch of several variables, and refuses to read beyond the end.
class GridReader {
 public:
  GridReader(const WordReader& in, std::size_t words) : in_(in), left_(words) {}

  std::uint64_t word() {
    take(1);
    return in_.word();
  }
  double number() {
    take(1);
    return in_.number();
  }
  std::int64_t whole() { return static_cast<std::int64_t>(word()); }
  int exponent() {
    const std::int64_t value = whole();
    if (value < -2000 || value > 2000) refuse("the sketch has an impossible plan");
    return static_cast<int>(value);
  }
  std::string text() {
    const std::uint64_t size = word();
    if (size / kWordBytes > left_) refuse("the sketch is cut short");
    take(words_of_text(size));
    return in_.text(size);
  }
  ValueRange range() {
    const double min = number();
    return {min, number()};
  }
  /// Throws error(input) unless so many words are left; so that no more memory is asked for than
  /// the bytes have.
  void expect(std::uint64_t words) const {
    if (words > left_) refuse("the sketch is cut short");
  }
  std::size_t left() const { return left_; }

 private:
  void take(std::uint64_t words) {
    expect(words);
    left_ -= words;
  }

  WordReader in_;
  std::size_t left_;
};

/// The numbers of the counters that are not zero.
std::vector<std::size_t> counters_in_use(const TieCounters& ties) {
  std::vector<std::size_t> numbers;
  for (std::size_t k = 0; k < ties.samples.size(); ++k) {
    const bool weighs = !ties.weights.empty() && !(ties.weights[k] == WideInteger());
    if (ties.samples[k] != 0 || weighs) numbers.push_back(k);
  }
  return numbers;
}

void put_ties(const TieCounters& ties, const std::vector<std::size_t>& numbers, WordWriter* out) {
  for (std::size_t begin = 0; begin < numbers.size(); begin += kNumbersInWord) {
    std::uint64_t word = 0;
    for (std::size_t k = begin; k < std::min(numbers.size(), begin + kNumbersInWord); ++k) {
      word |= static_cast<std::uint64_t>(numbers[k]) << (kBitsOfNumber * (k - begin));
    }
    out->put(word);
  }
  for (const std::size_t number : numbers) out->put(as_word(ties.samples[number]));
  for (std::size_t k = 0; k < numbers.size() && !ties.weights.empty(); ++k) {
    out->put(as_word(ties.weights[numbers[k]].high));
    out->put(ties.weights[numbers[k]].low);
  }
}

/// any: whether there are counters, which may all be zero.
template <class Reader>
TieCounters read_ties(std::uint64_t count, bool any, bool weighted, Reader* in) {
  TieCounters ties;
  if (any) ties.open(weighted);
  if (count > ties.samples.size()) refuse("the sketch has impossible counters");
  std::vector<std::size_t> numbers;
  std::uint64_t word = 0;
  for (std::uint64_t k = 0; k < count; ++k) {
    if (k % kNumbersInWord == 0) word = in->word();
    const std::size_t number = word % simd::kTieCounters;
    word >>= kBitsOfNumber;
    if (k > 0 && number <= numbers.back()) refuse("the counters of the sketch are not in order");
    numbers.push_back(number);
  }
  if (word != 0) refuse("the sketch has impossible counters");
  for (const std::size_t number : numbers) {
    ties.samples[number] = static_cast<std::int64_t>(in->word());
  }
  for (std::size_t k = 0; k < numbers.size() && weighted; ++k) {
    const std::int64_t high = static_cast<std::int64_t>(in->word());
    ties.weights[numbers[k]] = {high, in->word()};
  }
  if (counters_in_use(ties) != numbers) refuse("the sketch has impossible counters");
  return ties;
}

}  // namespace

std::vector<unsigned char> bytes_of(const LineSketch& sketch) {
  const SketchPlan& plan = sketch.plan();
  const KeptSamples& kept = sketch.kept();
  const bool regression = plan.regression();
  const std::string& second = regression ? plan.response : plan.weight;
  const std::vector<std::size_t> ties = counters_in_use(sketch.ties());
  WordWriter out;
  out.bytes.reserve(kWordBytes *
                    (kFixedWords + 1 + words_of_text(plan.column.size()) +
                     words_of_text(second.size()) + words_of_sample(plan.paired()) * kept.size() +
                     words_of_cell(sketch.row()) * sketch.full().size() +
                     words_of_ties(ties.size(), plan.weighted())));
  out.put(mark_of(plan));
  out.put(kVersion);
  if (regression) out.put(plan.response_origin);
  for (const int exponent :
       {plan.exponent, regression ? plan.response_exponent : plan.weight_exponent}) {
    out.put(static_cast<std::uint64_t>(static_cast<std::int64_t>(exponent)));
  }
  for (const std::size_t size :
       {plan.column.size(), second.size(), kept.size(), sketch.full().size()}) {
    out.put(static_cast<std::uint64_t>(size));
  }
  out.put(static_cast<std::uint64_t>(ties.size()));
  out.put(plan.column);
  out.put(second);
  for (const ValueRange& range : {sketch.range(), sketch.second_range()}) {
    out.put(range.min);
    out.put(range.max);
  }
  for (const double x : kept.x) out.put(x);
  for (const double w : kept.w) out.put(w);
  for (const double key : sketch.full()) out.put(key);
  for (std::size_t k = 0; k < sketch.full().size(); ++k) {
    for (std::size_t a = 0; a < sketch.row(); ++a) {
      out.put(static_cast<std::uint64_t>(sketch.sums(k)[a].high));
      out.put(sketch.sums(k)[a].low);
    }
  }
  put_ties(sketch.ties(), ties, &out);
  out.put(checksum(out.bytes.data(), out.bytes.size(), 0));
  return std::move(out.bytes);
}

LineSketch sketch_of(Span<const unsigned char> bytes) {
  const std::uint64_t mark = bytes.size >= kWordBytes ? WordReader(bytes).word() : kMark;
  const bool regression = mark == kRegressionMark, bounded = mark == kBoundedMark;
  const std::size_t fixed = kFixedWords + regression;
  WordReader in = checked(bytes, regression || bounded ? mark : kMark, fixed);
  const double origin = regression ? in.number() : 0.0;
  const std::int64_t exponent = static_cast<std::int64_t>(in.word()),
                     second_exponent = static_cast<std::int64_t>(in.word());
  const std::uint64_t column = in.word(), second = in.word(), kept = in.word(), full = in.word(),
                      ties = in.word();
  // Numbers are compared with the size before they are added or multiplied.
  const std::uint64_t left = bytes.size / kWordBytes - fixed;
  if (std::max(std::max(column, second) / kWordBytes, std::max({kept, full, ties})) > left ||
      std::max(std::abs(exponent), std::abs(second_exponent)) > 2000 ||
      ((regression || bounded) && second == 0)) {
    refuse("the sketch has an impossible plan");
  }
  const bool paired = second > 0;
  SketchPlan plan{static_cast<int>(exponent), std::string(), paired ? "w" : ""};
  if (regression) std::swap(plan.weight, plan.response);
  plan.bounded = bounded;
  const std::size_t row = LineSketch(plan).row();
  if (words_of_text(column) + words_of_text(second) + words_of_sample(paired) * kept +
          words_of_cell(row) * full + words_of_ties(ties, plan.weighted()) !=
      left) {
    refuse("the sketch has another size than its samples and cells");
  }
  plan.column = in.text(column);
  (regression ? plan.response : plan.weight) = in.text(second);
  (regression ? plan.response_exponent : plan.weight_exponent) = static_cast<int>(second_exponent);
  plan.response_origin = origin;
  ValueRange ranges[2];
  for (ValueRange& range : ranges) {
    range.min = in.number();
    range.max = in.number();
  }
  KeptSamples samples;
  samples.x = in.numbers(kept);
  if (paired) samples.w = in.numbers(kept);
  std::vector<double> keys = in.numbers(full);
  std::vector<WideInteger> sums;
  sums.reserve(full * row);
  for (std::uint64_t k = 0; k < full * row; ++k) {
    const std::int64_t high = static_cast<std::int64_t>(in.word());
    sums.emplace_back(high, in.word());
  }
  TieCounters counters = read_ties(ties, full > 0, plan.weighted(), &in);
  return LineSketch::of_parts(std::move(plan), ranges[0], ranges[1], std::move(samples),
                              std::move(keys), std::move(sums), std::move(counters));
}

// ---- several variables

std::vector<unsigned char> bytes_of(const GridSketch& sketch) {
  const GridPlan& plan = sketch.plan();
  const std::size_t width = sketch.width_of_row();
  const std::vector<const GridSketch::Tile*> tiles = sketch.tiles();
  WordWriter out;
  out.put(kGridMark);
  out.put(kVersion);
  out.put(static_cast<std::uint64_t>(plan.d()));
  for (std::size_t k = 0; k < plan.d(); ++k) {
    out.put(as_word(plan.exponent[k]));
    out.put(static_cast<std::uint64_t>(plan.column[k].size()));
    out.put(plan.column[k]);
    out.put(sketch.ranges()[k].min);
    out.put(sketch.ranges()[k].max);
  }
  out.put(as_word(plan.weight_exponent));
  out.put(static_cast<std::uint64_t>(plan.weight.size()));
  out.put(plan.weight);
  out.put(sketch.weight_range().min);
  out.put(sketch.weight_range().max);
  out.put(static_cast<std::uint64_t>(tiles.size()));
  for (const GridSketch::Tile* tile : tiles) {
    for (const std::int64_t part : tile->key) out.put(as_word(part));
    out.put(static_cast<std::uint64_t>(tile->full));
    out.put(tile->count);
    out.put(static_cast<std::uint64_t>(!tile->low.empty()));
    out.put(static_cast<std::uint64_t>(!tile->high.empty()));
    for (const double value : sorted_rows(tile->rows, width)) out.put(value);
    for (const WideInteger& sum : tile->moments) {
      out.put(as_word(sum.high));
      out.put(sum.low);
    }
    for (const std::int64_t cell : tile->high) out.put(as_word(cell));
    for (const std::int64_t cell : tile->low) out.put(as_word(cell));
  }
  const std::vector<std::size_t> ties = counters_in_use(sketch.ties());
  out.put(static_cast<std::uint64_t>(ties.size()));
  put_ties(sketch.ties(), ties, &out);
  out.put(checksum(out.bytes.data(), out.bytes.size(), 0));
  return std::move(out.bytes);
}

bool is_grid_sketch(Span<const unsigned char> bytes) {
  return bytes.size >= kWordBytes && WordReader(bytes).word() == kGridMark;
}

GridSketch grid_sketch_of(Span<const unsigned char> bytes) {
  constexpr std::size_t kLeastWords = 4;
  const WordReader begun = checked(bytes, kGridMark, kLeastWords);
  GridReader in(begun, bytes.size / kWordBytes - 3);
  const std::uint64_t d = in.word();
  if (d != 2 && d != 3) refuse("the sketch has an impossible plan");
  GridPlan plan;
  std::vector<ValueRange> ranges;
  for (std::uint64_t k = 0; k < d; ++k) {
    plan.exponent.push_back(in.exponent());
    plan.column.push_back(in.text());
    ranges.push_back(in.range());
  }
  plan.weight_exponent = in.exponent();
  plan.weight = in.text();
  const ValueRange weights = in.range();
  const GridSketch empty(plan);
  const std::uint64_t tiles = in.word();
  in.expect(tiles);
  std::vector<GridSketch::Tile> all;
  for (std::uint64_t t = 0; t < tiles; ++t) {
    GridSketch::Tile tile;
    for (std::int64_t& part : tile.key) part = in.whole();
    const std::uint64_t full = in.word();
    tile.count = in.word();
    const std::uint64_t cells = in.word(), wide = in.word();
    if (full > 1 || cells > 1 || wide > cells) refuse("the sketch has an impossible tile");
    if (t > 0 && !(all.back().key < tile.key)) refuse("the tiles of the sketch are not in order");
    tile.full = full == 1;
    if (tile.full) {
      in.expect(2 * empty.moments_of_tile());
      for (std::size_t m = 0; m < empty.moments_of_tile(); ++m) {
        const std::int64_t high = in.whole();
        tile.moments.emplace_back(high, in.word());
      }
    } else {
      in.expect(tile.count);
      in.expect(tile.count * empty.width_of_row());
      for (std::uint64_t i = 0; i < tile.count * empty.width_of_row(); ++i) {
        tile.rows.push_back(in.number());
      }
      if (sorted_rows(tile.rows, empty.width_of_row()) != tile.rows) {
        refuse("the samples of the sketch are not in order");
      }
    }
    in.expect((cells + wide) * GridSketch::cells_of_tile(d));
    for (std::size_t c = 0; c < wide * GridSketch::cells_of_tile(d); ++c) {
      tile.high.push_back(in.whole());
    }
    for (std::size_t c = 0; c < cells * GridSketch::cells_of_tile(d); ++c) {
      tile.low.push_back(in.whole());
    }
    all.push_back(std::move(tile));
  }
  const std::uint64_t count = in.word();
  const bool any = std::any_of(all.begin(), all.end(), [](const auto& tile) { return tile.full; });
  TieCounters ties = read_ties(count, any, plan.weighted(), &in);
  if (in.left() != 0) refuse("the sketch has another size than its samples and cells");
  return GridSketch::of_parts(std::move(plan), std::move(ranges), weights, std::move(all),
                              std::move(ties));
}

}  // namespace kestrel
