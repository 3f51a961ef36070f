// Words of 8 bytes, lowest byte first, as sketches are kept in.
#ifndef KESTREL_CORE_SKETCH_BYTE_WORDS_HPP
#define KESTREL_CORE_SKETCH_BYTE_WORDS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/span.hpp"
#include "core/base/words.hpp"

namespace kestrel {

/// Words of a text, which is filled up with zeros.
inline std::size_t words_of_text(std::size_t size) { return (size + kWordBytes - 1) / kWordBytes; }

/// Writes words.
class WordWriter {
 public:
  void put(std::uint64_t word) {
    unsigned char next[kWordBytes];
    store_word(word, next);
    bytes.insert(bytes.end(), next, next + kWordBytes);
  }
  void put(double value) {
    std::uint64_t word;
    std::memcpy(&word, &value, sizeof word);
    put(word);
  }
  void put(const std::string& text) {
    bytes.insert(bytes.end(), text.begin(), text.end());
    bytes.resize((bytes.size() + kWordBytes - 1) / kWordBytes * kWordBytes, 0);
  }

  std::vector<unsigned char> bytes;
};

/// Reads them. The caller has compared their number with that of the bytes.
class WordReader {
 public:
  explicit WordReader(Span<const unsigned char> bytes) : bytes_(bytes) {}

  std::uint64_t word() {
    at_ += kWordBytes;
    return load_word(bytes_.data + at_ - kWordBytes);
  }
  double number() {
    const std::uint64_t bits = word();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  std::vector<double> numbers(std::uint64_t count) {
    std::vector<double> values;
    values.reserve(count);
    for (std::uint64_t k = 0; k < count; ++k) values.push_back(number());
    return values;
  }
  std::string text(std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(bytes_.data + at_), size);
    at_ += (size + kWordBytes - 1) / kWordBytes * kWordBytes;
    return text;
  }

 private:
  const Span<const unsigned char> bytes_;
  std::size_t at_ = 0;
};

}  // namespace kestrel

#endif
