// Doubles that are whole numbers.
#ifndef KESTREL_SHARED_ROUNDING_HPP
#define KESTREL_SHARED_ROUNDING_HPP

namespace kestrel {

// Adding and subtracting 1.5 * 2^52 rounds to an integer, which then also stands in the low bits:
// beside it doubles count by one. For numbers below 2^51.
constexpr double kRoundingShift = 0x1.8p+52;

}  // namespace kestrel

#endif
