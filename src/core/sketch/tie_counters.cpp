#include "core/sketch/tie_counters.hpp"

#include <cmath>

#include "core/base/error.hpp"
#include "core/base/whole.hpp"
#include "simd/sketch/whole_moments.hpp"

namespace kestrel {

namespace {

constexpr std::uint64_t kPrime = simd::kTiePrime;

}  // namespace

void add_counters(const TieCounters& from, TieCounters* to) {
  if (from.empty()) return;
  to->resize(simd::kTieCounters, 0);
  for (std::size_t k = 0; k < simd::kTieCounters; ++k) (*to)[k] += from[k];
}

double tied_pairs(const TieCounters& counters, double samples) {
  // Whole numbers up to 2^53, and beyond them the estimate is not as good as the sum.
  double squares = 0;
  for (const std::int64_t counter : counters) {
    squares += static_cast<double>(counter) * static_cast<double>(counter);
  }
  const double error = std::sqrt(2.0 / static_cast<double>(simd::kTieCounters)) * squares;
  const double pairs = squares - samples;
  return pairs > 3 * error ? pairs : 0;
}

std::uint64_t start_of_ties(double key) {
  // Exact for every key.
  const double prime = static_cast<double>(kPrime), rest = std::fmod(key, prime);
  return simd::kTieFactors[0] * whole_number<std::uint64_t>(rest < 0 ? rest + prime : rest) %
         kPrime;
}

void TiePosition::add(std::size_t axis, std::int64_t cell, double place) {
  const std::int64_t prime = static_cast<std::int64_t>(kPrime);
  const std::uint64_t rest = static_cast<std::uint64_t>((cell % prime + prime) % prime);
  const std::uint64_t quanta = whole_number<std::uint64_t>(std::floor(place * simd::kQuanta + 0.5));
  const std::uint64_t high = quanta >> simd::kTieLowBits;
  const std::uint64_t low = quanta - (high << simd::kTieLowBits);
  const std::uint32_t* factor = simd::kTieFactors + 3 * axis;
  sum_ += factor[0] * rest % kPrime + factor[1] * high + factor[2] * low;
}

void TiePosition::count(TieCounters* counters) const {
  const std::uint64_t above = sum_ >> simd::kTieRootBits;
  const std::uint64_t below = sum_ - (above << simd::kTieRootBits);
  const std::uint64_t v = (above + below) % (std::uint64_t{1} << simd::kTieBits);
  std::uint64_t hash = 0;
  for (const std::uint32_t coefficient : simd::kTiePolynomial) {
    hash = (hash * v + coefficient) % kPrime;
  }
  (*counters)[hash >> simd::kTieSignBits] += (hash + above) % 2 == 0 ? 1 : -1;
}

void check_counters(const TieCounters& counters, std::uint64_t samples) {
  const auto refuse = [] {
    throw error(ErrorKind::input, "counters of ties that no samples have");
  };
  if (counters.size() != (samples > 0 ? simd::kTieCounters : 0)) refuse();
  std::uint64_t all = 0;
  for (const std::int64_t counter : counters) {
    // Compared one by one, so that no sum overflows.
    const std::uint64_t size = counter < 0 ? ~static_cast<std::uint64_t>(counter) + 1
                                           : static_cast<std::uint64_t>(counter);
    if (size > samples - all) refuse();
    all += size;
  }
  // What is left are pairs of samples with different signs.
  if ((samples - all) % 2 != 0) refuse();
}

}  // namespace kestrel
