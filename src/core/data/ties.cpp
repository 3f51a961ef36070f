#include "core/data/ties.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "core/base/error.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

namespace {

constexpr std::uint64_t kFree = std::numeric_limits<std::uint64_t>::max();
/// The half of an entry that holds the index of a sample, below 2^31.
constexpr std::uint64_t kSampleBits = 0xffffffffULL;
/// How many samples' entries are prefetched together.
constexpr std::size_t kAhead = 32;

/// The finalizer of MurmurHash3 (Appleby 2011): every input bit affects every output bit, so that
/// samples on a lattice spread over the table.
std::uint64_t mixed(std::uint64_t bits) {
  bits = (bits ^ (bits >> 33)) * 0xff51afd7ed558ccdULL;
  bits = (bits ^ (bits >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return bits ^ (bits >> 33);
}

std::uint64_t hash_of(const MatrixView& x, std::size_t i) {
  std::uint64_t hash = 0;
  for (std::size_t k = 0; k < x.cols; ++k) {
    const double value = x(i, k) + 0.0;  // -0 becomes 0
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    hash = mixed(hash * 31 + bits);
  }
  return hash;
}

bool equal(const MatrixView& x, std::size_t i, std::size_t j) {
  for (std::size_t k = 0; k < x.cols; ++k) {
    if (x(i, k) != x(j, k)) return false;
  }
  return true;
}

}  // namespace

Ties count_ties(const MatrixView& x, Weights p, const ParallelOptions& options) {
  const std::size_t n = x.rows;
  check_weight_count(n, p.size);
  if (n >= std::size_t{1} << 31) {
    throw error(ErrorKind::memory, "ties are counted among at most 2^31 samples");
  }
  std::size_t size = 16;
  while (size < 2 * n) size *= 2;
  // Open addressing. An entry is the index of the first sample with its value, and above that half
  // of its hash, which usually tells other values apart without reading them. The table is larger
  // than the caches, so entries are prefetched.
  std::vector<std::uint64_t> entry(size, kFree);
  std::vector<std::uint32_t> leader, follower;
  std::array<std::uint64_t, kAhead> hash;
  for (std::size_t begin = 0; begin < n; begin += kAhead) {
    const std::size_t end = std::min(n, begin + kAhead);
    if (begin % kPolledItems == 0) poll_if_due(options);
    for (std::size_t i = begin; i < end; ++i) {
      hash[i - begin] = hash_of(x, i);
      __builtin_prefetch(&entry[hash[i - begin] & (size - 1)], 1);
    }
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint64_t tag = hash[i - begin] & ~kSampleBits;
      std::size_t at = hash[i - begin] & (size - 1);
      const auto other = [&](std::uint64_t found) {
        return found != kFree &&
               ((found & ~kSampleBits) != tag || !equal(x, found & kSampleBits, i));
      };
      while (other(entry[at])) at = (at + 1) & (size - 1);
      if (entry[at] == kFree) {
        entry[at] = tag | i;
      } else {
        leader.push_back(static_cast<std::uint32_t>(entry[at] & kSampleBits));
        follower.push_back(static_cast<std::uint32_t>(i));
      }
    }
  }
  Ties ties;
  if (leader.empty()) return ties;
  // Number and weight of the equal samples so far, kept at the first of them.
  const WeightArray given(p);
  std::vector<double> count(n, 1.0), weight(given.data(), given.data() + n);
  serial_for(leader.size(), options, [&](std::size_t t) {
    ties.pairs += 2 * count[leader[t]];
    ties.weight += 2 * weight[leader[t]] * p[follower[t]];
    count[leader[t]] += 1;
    weight[leader[t]] += p[follower[t]];
  });
  return ties;
}

}  // namespace kestrel
