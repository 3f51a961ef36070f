// Ties among samples that a sketch does not keep, by counters with random signs.
#ifndef KESTREL_CORE_SKETCH_TIE_COUNTERS_HPP
#define KESTREL_CORE_SKETCH_TIE_COUNTERS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/whole.hpp"
#include "core/base/wide_integer.hpp"
#include "core/data/ties.hpp"
#include "simd/sketch/tie_hash.hpp"

namespace kestrel {

/// Every sample adds the sign of its position to one of simd::kTieCounters sums, by a hash that is
/// the same everywhere (simd/sketch/tie_hash.hpp). So counters of parts are added, in any order.
/// Positions that differ by less than 2^-44 of a cell are equal.
///
/// The sum of the squares of the counters estimates the sum over positions of their squared numbers
/// of samples, F, without bias (Alon, Matias & Szegedy 1999; in the form of Charikar, Chen &
/// Farach-Colton 2004). Its standard error is at most (2 / kTieCounters)^(1/2) F = 0.0055 F.
struct TieCounters {
  std::vector<std::int64_t> samples;
  std::vector<WideInteger> weights;  // sums of floor(2^44 v + 1/2), none of samples without weights

  /// Without samples there are no counters.
  bool empty() const { return samples.empty(); }
  /// Makes counters of zero, unless they are there.
  void open(bool weighted);
  void add(const TieCounters& other);
  /// Adds samples with these hashes, and of these weights if they have any.
  void count(const std::uint64_t* hash, const double* v, std::size_t n);
};

/// The ties of so many samples, of which the sum of v^2 is `squares`. None unless there are more
/// than three standard errors.
Ties tied_pairs(const TieCounters& counters, double samples, double squares);

/// What the number of a cell, a whole number, adds to the sum that is hashed. (Of many samples of a
/// cell on a line the leaf simd::SketchTable::hash_ties has the rest.)
std::uint64_t start_of_ties(std::size_t axis, double cell);
/// start_of_ties() of the next cell.
std::uint64_t next_start_of_ties(std::size_t axis, std::uint64_t start);

/// What an axis adds to the sum that simd::SketchTable::hash_sums takes. start: start_of_ties() of
/// the cell; quanta: the place in it, from 0 to 2^45.
inline std::uint64_t position_of_tie(std::size_t axis, std::uint64_t start, double quanta) {
  const auto place = static_cast<std::uint64_t>(whole_number<std::int64_t>(quanta));
  const std::uint64_t high = place >> simd::kTieLowBits;
  const std::uint64_t low = place & ((std::uint64_t{1} << simd::kTieLowBits) - 1);
  return start + simd::kTieFactors[3 * axis + 1] * high + simd::kTieFactors[3 * axis + 2] * low;
}

/// Throws error(input) unless these can be counters of so many samples, which weigh `weight` quanta
/// if they have weights.
void check_counters(const TieCounters& counters, std::uint64_t samples, bool weighted,
                    const WideInteger& weight);

}  // namespace kestrel

#endif
