// Integers of 128 bits, for sums that must not depend on the order of their terms.
#ifndef KESTREL_CORE_BASE_WIDE_INTEGER_HPP
#define KESTREL_CORE_BASE_WIDE_INTEGER_HPP

#include <cmath>
#include <cstdint>

#include "core/base/whole.hpp"

namespace kestrel {

/// high 2^64 + low, in two's complement; sums are modulo 2^128.
struct WideInteger {
  std::uint64_t low = 0;
  std::int64_t high = 0;

  WideInteger() = default;
  WideInteger(std::int64_t value)
      : low(static_cast<std::uint64_t>(value)), high(value < 0 ? -1 : 0) {}
  WideInteger(std::int64_t high_, std::uint64_t low_) : low(low_), high(high_) {}

  /// The whole part of a number below 2^126 in absolute value, rounded towards zero.
  static WideInteger of(double value) {
    if (std::fabs(value) < 0x1p62) return whole_number<std::int64_t>(value);
    if (value < 0) return -of(-value);
    // Exact: the rest has fewer digits than the value.
    const double high = std::floor(value * 0x1p-64);
    return {whole_number<std::int64_t>(high), whole_number<std::uint64_t>(value - high * 0x1p64)};
  }

  /// a b, |b| < 2^31.
  static WideInteger product(std::int64_t a, std::int64_t b) {
    const bool negative = (a < 0) != (b < 0);
    const std::uint64_t left = magnitude(a), right = magnitude(b);
    const std::uint64_t low = (left & 0xffffffffu) * right, high = (left >> 32) * right;
    WideInteger product(0, low);
    product += WideInteger(static_cast<std::int64_t>(high >> 32), high << 32);
    return negative ? -product : product;
  }

  WideInteger& operator+=(const WideInteger& other) {
    low += other.low;
    const std::uint64_t carry = low < other.low ? 1 : 0;
    high = static_cast<std::int64_t>(static_cast<std::uint64_t>(high) +
                                     static_cast<std::uint64_t>(other.high) + carry);
    return *this;
  }
  WideInteger operator-() const {
    WideInteger minus(static_cast<std::int64_t>(~static_cast<std::uint64_t>(high)), ~low);
    return minus += WideInteger(1);
  }
  /// The product with a factor below 2^31 in absolute value, modulo 2^128.
  WideInteger times(std::int64_t factor) const {
    const std::uint64_t by = magnitude(factor);
    const std::uint64_t least = (low & 0xffffffffu) * by, middle = (low >> 32) * by;
    WideInteger product(
        static_cast<std::int64_t>(static_cast<std::uint64_t>(high) * by + (middle >> 32)),
        middle << 32);
    product += WideInteger(0, least);
    return factor < 0 ? -product : product;
  }
  /// value 2^bits, 0 < bits < 64.
  WideInteger shifted(int bits) const {
    const std::uint64_t top = static_cast<std::uint64_t>(high) << bits | low >> (64 - bits);
    return {static_cast<std::int64_t>(top), low << bits};
  }
  /// The whole part of value 2^-bits, rounded down; 0 < bits < 64.
  WideInteger shifted_down(int bits) const {
    const std::uint64_t rest = static_cast<std::uint64_t>(high) << (64 - bits) | low >> bits;
    // The language leaves it to the compiler how negative numbers are shifted.
    const std::int64_t top = high < 0 ? -1 - ((-1 - high) >> bits) : high >> bits;
    return {top, rest};
  }
  bool operator==(const WideInteger& other) const { return low == other.low && high == other.high; }
  bool operator<(const WideInteger& other) const {
    return high != other.high ? high < other.high : low < other.low;
  }

  /// The value to two roundings: of 2^64 and, if it is not much larger, of itself.
  double rounded() const { return static_cast<double>(high) * 0x1p64 + static_cast<double>(low); }
  /// The nearest double, rounded once.
  double value() const {
    if (high < 0 && !(*this == WideInteger(INT64_MIN, 0))) return -(-*this).value();
    if (high == 0 || (high < 0 && low == 0)) {
      return high == 0 ? static_cast<double>(low) : -std::ldexp(1.0, 127);
    }
    // The leading 64 bits; their last one says whether any bit is left out, so that they are
    // rounded as the whole number would be.
    int shift = 0;
    for (std::uint64_t rest = static_cast<std::uint64_t>(high); rest != 0; rest >>= 1) ++shift;
    std::uint64_t lead = low;
    if (shift < 64) lead = static_cast<std::uint64_t>(high) << (64 - shift) | low >> shift;
    const bool any = shift < 64 && (low << (64 - shift)) != 0;
    return std::ldexp(static_cast<double>(any ? lead | 1 : lead), shift);
  }

 private:
  static std::uint64_t magnitude(std::int64_t value) {
    const std::uint64_t bits = static_cast<std::uint64_t>(value);
    return value < 0 ? 0 - bits : bits;
  }
};

}  // namespace kestrel

#endif
