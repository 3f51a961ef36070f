#include "core/sketch/sketch_bytes.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/files.hpp"

namespace kestrel {

namespace {

/// "KESTRELS", lowest byte first.
constexpr std::uint64_t kMark = 0x534c45525453454bu;
constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kWord = 8;
/// Words around the names, the samples and the cells.
constexpr std::size_t kFixedWords = 13;

/// Words of a sample that is kept, and of a cell.
std::size_t words_of_sample(bool weighted) { return weighted ? 2 : 1; }
std::size_t words_of_cell(std::size_t row) { return 1 + 2 * row; }
std::size_t words_of_name(std::size_t size) { return (size + kWord - 1) / kWord; }

class Writer {
 public:
  void put(std::uint64_t word) {
    const std::size_t at = bytes.size();
    bytes.resize(at + kWord);
    for (std::size_t byte = 0; byte < kWord; ++byte) {
      bytes[at + byte] = static_cast<unsigned char>(word >> (8 * byte));
    }
  }
  void put(double value) {
    std::uint64_t word;
    std::memcpy(&word, &value, sizeof word);
    put(word);
  }
  void put(const std::string& text) {
    bytes.insert(bytes.end(), text.begin(), text.end());
    bytes.resize((bytes.size() + kWord - 1) / kWord * kWord, 0);
  }

  std::vector<unsigned char> bytes;
};

class Reader {
 public:
  explicit Reader(Span<const unsigned char> bytes) : bytes_(bytes) {}

  std::uint64_t word() {
    std::uint64_t word = 0;
    for (std::size_t byte = 0; byte < kWord; ++byte) {
      word |= static_cast<std::uint64_t>(bytes_[at_ + byte]) << (8 * byte);
    }
    at_ += kWord;
    return word;
  }
  double number() {
    const std::uint64_t bits = word();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  std::vector<double> numbers(std::uint64_t count) {
    std::vector<double> values;
    for (std::uint64_t k = 0; k < count; ++k) values.push_back(number());
    return values;
  }
  std::string text(std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(bytes_.data + at_), size);
    at_ += (size + kWord - 1) / kWord * kWord;
    return text;
  }

 private:
  const Span<const unsigned char> bytes_;
  std::size_t at_ = 0;
};

[[noreturn]] void refuse(const char* what) { throw error(ErrorKind::input, what); }

}  // namespace

std::vector<unsigned char> bytes_of(const LineSketch& sketch) {
  const SketchPlan& plan = sketch.plan();
  const KeptSamples& kept = sketch.kept();
  Writer out;
  out.bytes.reserve(kWord * (kFixedWords + words_of_name(plan.column.size()) +
                             words_of_name(plan.weight.size()) +
                             words_of_sample(plan.weighted()) * kept.size() +
                             words_of_cell(sketch.row()) * sketch.full().size()));
  out.put(kMark);
  out.put(kVersion);
  for (const int exponent : {plan.exponent, plan.weight_exponent}) {
    out.put(static_cast<std::uint64_t>(static_cast<std::int64_t>(exponent)));
  }
  for (const std::size_t size :
       {plan.column.size(), plan.weight.size(), kept.size(), sketch.full().size()}) {
    out.put(static_cast<std::uint64_t>(size));
  }
  out.put(plan.column);
  out.put(plan.weight);
  for (const ValueRange& range : {sketch.range(), sketch.weight_range()}) {
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
  out.put(checksum(out.bytes.data(), out.bytes.size(), 0));
  return std::move(out.bytes);
}

LineSketch sketch_of(Span<const unsigned char> bytes) {
  Reader in(bytes);
  if (bytes.size < 2 * kWord || in.word() != kMark) refuse("these bytes are no sketch");
  const std::uint64_t version = in.word();
  if (version != kVersion) {
    const std::string known = std::to_string(kVersion);
    refuse(("the sketch has the version " + std::to_string(version) + ", not " + known).c_str());
  }
  if (bytes.size < kWord * kFixedWords || bytes.size % kWord != 0) {
    refuse("the sketch is cut short");
  }
  const std::size_t summed = bytes.size - kWord;
  Reader last({bytes.data + summed, kWord});
  if (checksum(bytes.data, summed, 0) != last.word())
    refuse("the bytes of the sketch were changed");
  const std::int64_t exponent = static_cast<std::int64_t>(in.word()),
                     weight_exponent = static_cast<std::int64_t>(in.word());
  const std::uint64_t column = in.word(), weight = in.word(), kept = in.word(), full = in.word();
  // Numbers are compared with the size before they are added or multiplied.
  const std::uint64_t left = bytes.size / kWord - kFixedWords;
  if (std::max(std::max(column, weight) / kWord, std::max(kept, full)) > left ||
      std::max(std::abs(exponent), std::abs(weight_exponent)) > 2000) {
    refuse("the sketch has an impossible plan");
  }
  const std::size_t row = LineSketch({0, "", weight > 0 ? "w" : ""}).row();
  if (words_of_name(column) + words_of_name(weight) + words_of_sample(weight > 0) * kept +
          words_of_cell(row) * full !=
      left) {
    refuse("the sketch has another size than its samples and cells");
  }
  SketchPlan plan{static_cast<int>(exponent), in.text(column), in.text(weight),
                  static_cast<int>(weight_exponent)};
  ValueRange ranges[2];
  for (ValueRange& range : ranges) {
    range.min = in.number();
    range.max = in.number();
  }
  KeptSamples samples;
  samples.x = in.numbers(kept);
  if (weight > 0) samples.w = in.numbers(kept);
  std::vector<double> keys = in.numbers(full);
  std::vector<WideInteger> sums;
  for (std::uint64_t k = 0; k < full * row; ++k) {
    const std::int64_t high = static_cast<std::int64_t>(in.word());
    sums.emplace_back(high, in.word());
  }
  return LineSketch::of_parts(std::move(plan), ranges[0], ranges[1], std::move(samples),
                              std::move(keys), std::move(sums));
}

}  // namespace kestrel
