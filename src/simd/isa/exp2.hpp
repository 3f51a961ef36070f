// Constants of the exponential 2^v, v <= 0, shared by the instruction sets.
//
// Polynomials of degree 10 that minimise the maximum relative error (Remez exchange in 60 digits):
// it is 2.1e-16, so that with the rounding of Horner's rule the result is within 4e-16. Degree 9
// would leave 1.4e-14, too much for an engine that is the reference for the others.
#ifndef KESTREL_SIMD_ISA_EXP2_HPP
#define KESTREL_SIMD_ISA_EXP2_HPP

namespace kestrel {
namespace simd {

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

// Adding 1.5 * 2^52 rounds to an integer, which then also stands in the low bits; subtracting it
// again gives the integer.
constexpr double kRoundingShift = 0x1.8p+52;

// Results below 2^-1021 are flushed to zero: a denormal costs a hundred times a normal number.
constexpr double kExp2Smallest = -1021.0;

}  // namespace simd
}  // namespace kestrel

#endif
