// Numbers with twice the digits of a double, as the sum of two doubles: for what is prepared once
// and would lose its digits in a double if a bandwidth is strongly correlated. Unlike a long double
// they are the same on every machine.
#ifndef KESTREL_CORE_BASE_TWO_PART_HPP
#define KESTREL_CORE_BASE_TWO_PART_HPP

#include <cmath>

namespace kestrel {

/// high + low, where high is the sum rounded to a double.
struct TwoPart {
  double high = 0, low = 0;
  double value() const { return high + low; }
};

/// a - b, exactly (Knuth 1998, 4.2.2, theorem B).
inline TwoPart exact_difference(double a, double b) {
  const double high = a - b, back = high - a;
  return {high, (a - (high - back)) - (b + back)};
}

/// The sum of both. For |low| <= |high|, or so nearly that the loss does not matter.
inline TwoPart joined(double high, double low) {
  const double sum = high + low;
  return {sum, low - (sum - high)};
}

// These are good to 2^-100 of their terms.

inline TwoPart operator+(const TwoPart& a, const TwoPart& b) {
  const TwoPart high = exact_difference(a.high, -b.high);
  return joined(high.high, high.low + (a.low + b.low));
}

inline TwoPart operator-(const TwoPart& a, const TwoPart& b) {
  const TwoPart high = exact_difference(a.high, b.high);
  return joined(high.high, high.low + (a.low - b.low));
}

inline TwoPart operator*(const TwoPart& a, const TwoPart& b) {
  const double high = a.high * b.high;
  return joined(high, std::fma(a.high, b.high, -high) + (a.high * b.low + a.low * b.high));
}

inline TwoPart operator*(const TwoPart& a, double b) { return a * TwoPart{b, 0}; }

inline TwoPart operator/(const TwoPart& a, const TwoPart& b) {
  const double first = a.high / b.high;
  const TwoPart rest = a - b * first;
  return joined(first, rest.value() / b.high);
}

/// The root of a positive number.
inline TwoPart square_root(const TwoPart& a) {
  const double first = std::sqrt(a.high);
  const TwoPart rest = a - TwoPart{first, 0} * first;
  return joined(first, rest.value() / (2 * first));
}

}  // namespace kestrel

#endif
