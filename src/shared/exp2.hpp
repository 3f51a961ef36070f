// Constants of the exponential 2^v, v <= 0, and limits on v.
#ifndef KESTREL_SHARED_EXP2_HPP
#define KESTREL_SHARED_EXP2_HPP

#include "shared/rounding.hpp"
#include "shared/series.hpp"

namespace kestrel {

constexpr double kLn2 = 0.69314718055994530942;
constexpr double kLog2E = 1.4426950408889634;
constexpr double kRootHalfLog2E = 0.84932180028801904272;  // sqrt(log2(e) / 2)

// ---- on the CPU
//
// Polynomials of degree 10 that minimise the maximum relative error (Remez exchange in 60 digits):
// it is 2.1e-16, so that with the rounding of Horner's rule the result is within 4e-16. Degree 9
// would leave 1.4e-14, too much for an engine that is the reference for the others.

// 2^f on [-1/2, 1/2].
constexpr double kExp2[11] = {0x1.0000000000000p+0,  0x1.62e42fefa3a17p-1,  0x1.ebfbdff82c3b9p-3,
                              0x1.c6b08d703d490p-5,  0x1.3b2ab6fbde133p-7,  0x1.5d87fe9cc5198p-10,
                              0x1.4309126048759p-13, 0x1.ffcb55ea44f21p-17, 0x1.62c158154047ap-20,
                              0x1.b6740dd81a35bp-24, 0x1.e398d743a4ec7p-28};

// 2^f on [0, 1), for instruction sets that can subtract the floor.
constexpr double kExp2Floor[11] = {
    0x1.0000000000001p+0,  0x1.62e42fefa3808p-1,  0x1.ebfbdff8403a0p-3,  0x1.c6b08d6b43299p-5,
    0x1.3b2ab7a16a726p-7,  0x1.5d87e5b4dc4b4p-10, 0x1.430b5df3a1c84p-13, 0x1.ff86a18941673p-17,
    0x1.655c4d6154802p-20, 0x1.96584e04d7749p-24, 0x1.55f46a027475ap-27};

// ---- on a device, in double
//
// With kExp2Entries = 2^kExp2EntryBits: v = k + j / kExp2Entries + r, |r| <= 1 / (2 kExp2Entries).
// 2^(j / kExp2Entries) is in a table. 2^r is a polynomial that interpolates at Chebyshev nodes; its
// relative error is below 2.5e-15, the next term: (log(2) / 128)^5 / (2^4 5!).
constexpr int kExp2EntryBits = 6;
constexpr Series<5> kExp2Table = {
    {1.0, 0x1.62e42fefa0352p-1, 0x1.ebfbdff82ac52p-3, 0x1.c6b0c40d8c4e9p-5, 0x1.3b2ad0385b409p-7}};
// Adding kRoundingShift / kExp2Entries rounds to a multiple of 1 / kExp2Entries; the low word of
// the sum is k kExp2Entries + j.
// For |v| below this, that number fits in the word.
constexpr double kExp2Range = 33554432.0;  // 2^25

// The same with a longer table and a term less, for |v| below a quarter of that: relative error
// 1.8e-14, (log(2) / 512)^4 / (2^3 4!).
constexpr int kExp2LongEntryBits = 8;
constexpr Series<4> kExp2LongTable = {
    {0x1.fffffffffff62p-1, 0x1.62e42fefa39d9p-1, 0x1.ebfbe4e4d7394p-3, 0x1.c6b0902b5a0abp-5}};

// ---- on a device, in single
//
// 2^f on [-1/2, 1/2], relative error 2e-7; adding the shift rounds to an integer. Below 2^-126 the
// processor's own instruction gives zero.
constexpr Series<6> kExp2Single = {
    {1.0, 0x1.62e43p-1, 0x1.ebfa4cp-3, 0x1.c6afeep-5, 0x1.3cbf6p-7, 0x1.5ec866p-10}};
constexpr double kRoundingShiftSingle = 0x1.8p+23;
constexpr double kExp2SmallestSingle = -126.0;

// ---- everywhere

// Results below 2^-1021 are flushed to zero: a denormal costs a hundred times a normal number.
constexpr double kExp2Smallest = -1021.0;
// Here 2^v is zero however it is computed: v is clamped to this before anything else is computed
// from it.
constexpr double kExp2Zero = -1100.0;

// The logarithm of a weight of zero: so low that both exponentials of a device flush it to zero.
constexpr double kNoWeight = -4096.0;

}  // namespace kestrel

#endif
