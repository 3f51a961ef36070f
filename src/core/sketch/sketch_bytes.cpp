#include "core/sketch/sketch_bytes.hpp"

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
/// Words around the name, the samples and the cells.
constexpr std::size_t kFixedWords = 9;
/// Words of a cell.
constexpr std::size_t kCellWords = 1 + 2 * LineSketch::kMoments;

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
  /// Words from here to the end.
  std::uint64_t left() const { return (bytes_.size - at_) / kWord; }

 private:
  const Span<const unsigned char> bytes_;
  std::size_t at_ = 0;
};

[[noreturn]] void refuse(const char* what) { throw error(ErrorKind::input, what); }

}  // namespace

std::vector<unsigned char> bytes_of(const LineSketch& sketch) {
  const SketchPlan& plan = sketch.plan();
  Writer out;
  out.bytes.reserve(kWord *
                        (kFixedWords + sketch.kept().size() + kCellWords * sketch.full().size()) +
                    plan.column.size() + kWord);
  out.put(kMark);
  out.put(kVersion);
  out.put(static_cast<std::uint64_t>(static_cast<std::int64_t>(plan.exponent)));
  out.put(static_cast<std::uint64_t>(plan.column.size()));
  out.put(plan.column);
  out.put(static_cast<std::uint64_t>(sketch.kept().size()));
  out.put(static_cast<std::uint64_t>(sketch.full().size()));
  out.put(sketch.range().min);
  out.put(sketch.range().max);
  for (const double x : sketch.kept()) out.put(x);
  for (const double key : sketch.full()) out.put(key);
  for (std::size_t k = 0; k < sketch.full().size(); ++k) {
    for (int a = 0; a < LineSketch::kMoments; ++a) {
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
  if (bytes.size < kWord * kFixedWords || bytes.size % kWord != 0)
    refuse("the sketch is cut short");
  const std::size_t summed = bytes.size - kWord;
  Reader last({bytes.data + summed, kWord});
  if (checksum(bytes.data, summed, 0) != last.word())
    refuse("the bytes of the sketch were changed");
  const std::int64_t exponent = static_cast<std::int64_t>(in.word());
  const std::uint64_t name = in.word();
  if (exponent < -2000 || exponent > 2000 || name > bytes.size - kWord * kFixedWords) {
    refuse("the sketch has an impossible plan");
  }
  SketchPlan plan{static_cast<int>(exponent), in.text(static_cast<std::size_t>(name))};
  const std::uint64_t kept = in.left() < 5 ? 0 : in.word(), full = in.left() < 4 ? 0 : in.word();
  // Counts are compared with the size before they are added or multiplied.
  const std::uint64_t left = in.left() - 3;
  if (in.left() < 3 || kept > left || full > left || kept + full * kCellWords != left) {
    refuse("the sketch has another size than its samples and cells");
  }
  const double min = in.number(), max = in.number();
  std::vector<double> samples = in.numbers(kept), keys = in.numbers(full);
  std::vector<WideInteger> sums;
  for (std::uint64_t k = 0; k < full * LineSketch::kMoments; ++k) {
    const std::int64_t high = static_cast<std::int64_t>(in.word());
    sums.emplace_back(high, in.word());
  }
  return LineSketch::of_parts(std::move(plan), {min, max}, std::move(samples), std::move(keys),
                              std::move(sums));
}

}  // namespace kestrel
