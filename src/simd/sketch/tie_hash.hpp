// The hash of positions by which a sketch counts ties (core/sketch/tie_counters.hpp).
#ifndef KESTREL_SIMD_SKETCH_TIE_HASH_HPP
#define KESTREL_SIMD_SKETCH_TIE_HASH_HPP

#include <cstddef>
#include <cstdint>

namespace kestrel {
namespace simd {

// The position of a sample along an axis is three whole numbers: that of the cell, modulo
// kTiePrime, and the place in the cell in quanta, high 2^kTieLowBits + low, from 0 to 2^45. With
// three factors for each axis,
//
//   sum = (f_0 cell modulo kTiePrime) + f_1 high + f_2 low, over all axes,
//   v = (sum modulo 2^31 + the whole part of sum / 2^31) modulo 2^kTieBits,
//   hash = c_0 v^3 + c_1 v^2 + c_2 v + c_3 modulo kTiePrime,
//
// which is independent for any four different v (Carter & Wegman 1979). The upper 16 of the 31 bits
// are the number of a counter, and the lowest one is the sign, changed if the whole part of sum /
// 2^31 is odd. That part differs if two positions have the same v by chance, and so their signs are
// different as often as not.
//
// All products and sums are below 2^62, so that every language with integers of 64 bits computes
// the same.
constexpr std::uint64_t kTiePrime = 2147483647;  // 2^31 - 1
constexpr int kTieRootBits = 31;
constexpr int kTieBits = 30;
constexpr int kTieLowBits = 22;
constexpr int kTieSignBits = 15;  // below the number of the counter
constexpr std::size_t kTieCounters = 65536;

// The digits of pi after the point, 31 of every 32 bits.
constexpr std::uint32_t kTiePolynomial[4] = {608135816, 94570707, 320440878, 57701188};
constexpr std::uint32_t kTieFactors[9] = {604583970, 698298832,  137296536, 1817078921, 1160258022,
                                          953160567, 1045718735, 887688300, 1085024695};

}  // namespace simd
}  // namespace kestrel

#endif
