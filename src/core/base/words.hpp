// Words of 64 bits as bytes, the lowest first, on every machine.
#ifndef KESTREL_CORE_BASE_WORDS_HPP
#define KESTREL_CORE_BASE_WORDS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace kestrel {

constexpr std::size_t kWordBytes = 8;

/// The same word, or with its bytes in the other order where the highest comes first in memory.
inline std::uint64_t lowest_byte_first(std::uint64_t word) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return __builtin_bswap64(word);
#else
  return word;
#endif
}

inline std::uint64_t load_word(const unsigned char* from) {
  std::uint64_t word;
  std::memcpy(&word, from, kWordBytes);
  return lowest_byte_first(word);
}

inline void store_word(std::uint64_t word, unsigned char* to) {
  word = lowest_byte_first(word);
  std::memcpy(to, &word, kWordBytes);
}

}  // namespace kestrel

#endif
