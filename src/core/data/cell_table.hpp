// Numbers for the cells of a lattice in which samples lie, by hashing.
#ifndef KESTREL_CORE_DATA_CELL_TABLE_HPP
#define KESTREL_CORE_DATA_CELL_TABLE_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace kestrel {

/// The finalizer of MurmurHash3 (Appleby 2011): every input bit affects every output bit, so that
/// samples on a lattice spread over a table.
inline std::uint64_t mixed_bits(std::uint64_t bits) {
  bits = (bits ^ (bits >> 33)) * 0xff51afd7ed558ccdULL;
  bits = (bits ^ (bits >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return bits ^ (bits >> 33);
}

/// A hash of several numbers: begin with 0 and add one after the other. Zeros of both signs are
/// equal.
inline std::uint64_t hash_with(std::uint64_t hash, double value) {
  value += 0.0;  // -0 becomes 0
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return mixed_bits(hash * 31 + bits);
}

/// Numbers hashes 0, 1, 2, ... in the order in which they first come. Two cells with the same hash
/// of 64 bits count as one.
class CellTable {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  /// For at most `max` cells, below 2^31. O(max).
  explicit CellTable(std::size_t max) {
    std::size_t size = 16;
    while (size < 2 * max) size *= 2;
    slot_.resize(size, {0, kNone});
  }

  std::size_t count() const { return count_; }
  /// The number of a cell, a new one if it has none. O(1) expected.
  std::uint32_t number(std::uint64_t hash) {
    Slot& slot = slot_[place_of(hash)];
    if (slot.number == kNone) slot = {hash, count_++};
    return slot.number;
  }
  /// The number of a cell, or kNone.
  std::uint32_t find(std::uint64_t hash) const { return slot_[place_of(hash)].number; }

 private:
  struct Slot {
    std::uint64_t hash;
    std::uint32_t number;
  };
  std::size_t place_of(std::uint64_t hash) const {
    std::size_t place = hash & (slot_.size() - 1);
    while (slot_[place].number != kNone && slot_[place].hash != hash) {
      place = (place + 1) & (slot_.size() - 1);
    }
    return place;
  }

  std::vector<Slot> slot_;
  std::uint32_t count_ = 0;
};

}  // namespace kestrel

#endif
