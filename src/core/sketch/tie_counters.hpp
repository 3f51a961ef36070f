// Ties among samples that a sketch does not keep, by counters with random signs.
#ifndef KESTREL_CORE_SKETCH_TIE_COUNTERS_HPP
#define KESTREL_CORE_SKETCH_TIE_COUNTERS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simd/sketch/tie_hash.hpp"

namespace kestrel {

/// simd::kTieCounters sums of signs, or none of them. Every sample adds the sign of its position to
/// one of them, by a hash that is the same everywhere (simd/sketch/tie_hash.hpp). So counters of
/// parts are added, in any order. Positions that differ by less than 2^-44 of a cell are equal.
///
/// The sum of the squares of the counters estimates the sum over positions of their squared numbers
/// of samples, F, without bias (Alon, Matias & Szegedy 1999; in the form of Charikar, Chen &
/// Farach-Colton 2004). Its standard error is at most (2 / kTieCounters)^(1/2) F = 0.0055 F.
using TieCounters = std::vector<std::int64_t>;

/// Adds counters. If `to` has none, they are zero.
void add_counters(const TieCounters& from, TieCounters* to);

/// The ordered pairs of different samples in one position, for counters of so many samples. None
/// unless there are more than three standard errors.
double tied_pairs(const TieCounters& counters, double samples);

/// What the number of a cell on a line adds to the sum that is hashed.
std::uint64_t start_of_ties(double key);

/// The hash of a position in several variables, of which it is made axis by axis.
class TiePosition {
 public:
  /// place: 0 <= place <= 1, the place in the cell.
  void add(std::size_t axis, std::int64_t cell, double place);
  /// Adds the sign to the counter.
  void count(TieCounters* counters) const;

 private:
  std::uint64_t sum_ = 0;
};

/// Throws error(input) unless these can be counters of so many samples, none if there are none.
void check_counters(const TieCounters& counters, std::uint64_t samples);

}  // namespace kestrel

#endif
