#include "core/sketch/tie_counters.hpp"

#include <cmath>

#include "core/base/error.hpp"
#include "simd/sketch/whole_moments.hpp"

namespace kestrel {

namespace {

constexpr std::uint64_t kPrime = simd::kTiePrime;

WideInteger whole_quanta_of(double v) {
  return WideInteger::of(std::floor(v * simd::kQuanta + 0.5));
}

/// The estimate, of which `own` are the pairs of samples with themselves. In doubles, whose
/// rounding is nothing beside the standard error.
template <class Whole>
double pairs_beyond(const std::vector<Whole>& counters, double unit, double own) {
  double squares = 0;
  for (const Whole& counter : counters) {
    const double value = WideInteger(counter).value() / unit;
    squares += value * value;
  }
  const double error = std::sqrt(2.0 / static_cast<double>(simd::kTieCounters)) * squares;
  return squares - own > 3 * error ? squares - own : 0;
}

[[noreturn]] void refuse_counters() {
  throw error(ErrorKind::input, "counters of ties that no samples have");
}

/// What is left of `most` without the sizes of all counters.
template <class Whole>
WideInteger left_of(WideInteger most, const std::vector<Whole>& counters) {
  for (const Whole& counter : counters) {
    const WideInteger whole(counter), minus = -whole;
    // Compared one by one, so that no sum overflows. The least number is its own opposite.
    if (most < whole || most < minus || (whole == minus && whole.high < 0)) refuse_counters();
    most += whole < minus ? whole : minus;
  }
  return most;
}

}  // namespace

void TieCounters::open(bool weighted) {
  samples.resize(simd::kTieCounters, 0);
  if (weighted) weights.resize(simd::kTieCounters);
}

void TieCounters::add(const TieCounters& other) {
  if (other.empty()) return;
  open(!other.weights.empty());
  for (std::size_t k = 0; k < samples.size(); ++k) samples[k] += other.samples[k];
  for (std::size_t k = 0; k < weights.size(); ++k) weights[k] += other.weights[k];
}

void TieCounters::count(const std::uint64_t* hash, const double* v, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    samples[hash[i] >> simd::kTieSignBits] += 1 - 2 * static_cast<std::int64_t>(hash[i] & 1);
  }
  for (std::size_t i = 0; i < n && !weights.empty(); ++i) {
    const WideInteger quanta = whole_quanta_of(v[i]);
    weights[hash[i] >> simd::kTieSignBits] += (hash[i] & 1) == 0 ? quanta : -quanta;
  }
}

Ties tied_pairs(const TieCounters& counters, double samples, double squares) {
  const double pairs = pairs_beyond(counters.samples, 1, samples);
  if (counters.weights.empty()) return {pairs, pairs};
  return {pairs, pairs_beyond(counters.weights, simd::kQuanta, squares)};
}

std::uint64_t start_of_ties(std::size_t axis, double cell) {
  // Exact for every whole number.
  const double prime = static_cast<double>(kPrime), rest = std::fmod(cell, prime);
  const double whole = rest < 0 ? rest + prime : rest;
  return simd::kTieFactors[3 * axis] * whole_number<std::uint64_t>(whole) % kPrime;
}

std::uint64_t next_start_of_ties(std::size_t axis, std::uint64_t start) {
  return (start + simd::kTieFactors[3 * axis]) % kPrime;
}

void check_counters(const TieCounters& counters, std::uint64_t samples, bool weighted,
                    const WideInteger& weight) {
  const std::size_t wanted = samples > 0 ? simd::kTieCounters : 0;
  if (counters.samples.size() != wanted || counters.weights.size() != (weighted ? wanted : 0)) {
    refuse_counters();
  }
  // What is left are pairs of samples with different signs.
  if (left_of(WideInteger(0, samples), counters.samples).low % 2 != 0) refuse_counters();
  // Sums and counters may round a sample in different ways.
  WideInteger most = weight;
  most += WideInteger(0, samples);
  left_of(most, counters.weights);
}

}  // namespace kestrel
