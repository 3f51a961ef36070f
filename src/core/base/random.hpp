// Random numbers that are functions of their position, so that threads may draw them in any order.
#ifndef KESTREL_CORE_BASE_RANDOM_HPP
#define KESTREL_CORE_BASE_RANDOM_HPP

#include <array>
#include <cstddef>
#include <cstdint>

namespace kestrel {

/// Philox4x32-10 (Salmon, Moraes, Dror & Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3"):
/// a bijection of the counters for each key. It passes TestU01's BigCrush.
inline std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                           std::uint64_t key) {
  std::uint32_t first = static_cast<std::uint32_t>(key);
  std::uint32_t second = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t even = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t odd = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(odd >> 32) ^ counter[1] ^ first,
               static_cast<std::uint32_t>(odd),
               static_cast<std::uint32_t>(even >> 32) ^ counter[3] ^ second,
               static_cast<std::uint32_t>(even)};
    first += 0x9E3779B9;
    second += 0xBB67AE85;
  }
  return counter;
}

/// Uniform numbers strictly between 0 and 1, for one item of one stream: the same whenever they are
/// drawn. At most 2^33 calls.
class UniformStream {
 public:
  UniformStream(std::uint64_t key, std::uint32_t stream, std::uint32_t item)
      : key_(key), stream_(stream), item_(item) {}

  /// A number with 52 random bits.
  double next() { return (static_cast<double>(bits() >> 12) + 0.5) * 0x1p-52; }
  /// Two numbers with 32 random bits each.
  std::array<double, 2> next_two() {
    const std::uint64_t two = bits();
    return {(static_cast<double>(two >> 32) + 0.5) * 0x1p-32,
            (static_cast<double>(two & 0xffffffff) + 0.5) * 0x1p-32};
  }

 private:
  std::uint64_t bits() {
    if (half_ == 0) block_ = philox({count_++, item_, stream_, 0}, key_);
    const std::size_t at = 2 * half_;
    half_ = 1 - half_;
    return std::uint64_t{block_[at]} << 32 | block_[at + 1];
  }

  const std::uint64_t key_;
  const std::uint32_t stream_, item_;
  std::uint32_t count_ = 0;
  std::size_t half_ = 0;
  std::array<std::uint32_t, 4> block_{};
};

}  // namespace kestrel

#endif
