// Rounding doubles to whole numbers.
#ifndef KESTREL_SHARED_ROUNDING_HPP
#define KESTREL_SHARED_ROUNDING_HPP

namespace kestrel {

// Adding 1.5 * 2^52 rounds a number below 2^51 to an integer, which then also stands in the low
// bits, as doubles near 1.5 * 2^52 are one apart; subtracting it again gives the integer.
constexpr double kRoundingShift = 0x1.8p+52;

}  // namespace kestrel

#endif
