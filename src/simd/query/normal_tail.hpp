// Constants of the normal distribution's tails, shared by the instruction sets.
//
// With y >= 0 and s = (y - c) / (y + c), c = kTailScale, the integrals of t^order exp(-y t - t^2 /
// 2) / sqrt(2 pi) over t > 0 are polynomials in s divided by (y + c)^(order + 1). The coefficients
// interpolate at Chebyshev points of s for y <= 40, in 50 digits. Order 0 is the tail divided by
// exp(-y^2 / 2), Mills' ratio (the map from y to s: Shepherd & Laframboise 1981).
#ifndef KESTREL_SIMD_QUERY_NORMAL_TAIL_HPP
#define KESTREL_SIMD_QUERY_NORMAL_TAIL_HPP

namespace kestrel {
namespace simd {

constexpr double kTailScale = 5.5;

constexpr double kHalfLog2E = 0x1.71547652b82fep-1;     // 1 / (2 log 2)
constexpr double kNormalHeight = 0x1.9884533d43651p-2;  // 1 / sqrt(2 pi)

// Order 0: error 9.0e-18.
constexpr int kTailTerms = 22;
constexpr double kTail[kTailTerms] = {
    0x1.8c2b8893b5c8dp-1,   -0x1.5ed05c7e41a2dp-1,  0x1.1239b3f8c06d8p-1,   -0x1.77dbb5cdda9ddp-2,
    0x1.be33e6ee99763p-3,   -0x1.c15806fa4602bp-4,  0x1.71707b574d5b3p-5,   -0x1.c83edf446fe12p-7,
    0x1.4034e562df795p-9,   0x1.1ab346eec7d95p-12,  -0x1.5449629461155p-12, 0x1.2b890b48865e9p-14,
    0x1.11cda6957a3a2p-16,  -0x1.96a336cff8692p-17, 0x1.df63dc246343cp-22,  0x1.8e437e2d3ecacp-20,
    -0x1.1fc2aef329d6cp-22, -0x1.7d12c137cd0d6p-23, 0x1.b18c15f48ecdep-25,  0x1.89ff9d786ca78p-26,
    -0x1.8a89846983220p-28, -0x1.6693462ac8d58p-29};

// Order 1: error 1.6e-17.
constexpr int kTailFirstTerms = 24;
constexpr double kTailFirst[kTailFirstTerms] = {
    0x1.757df288fbb5dp+0,   -0x1.3885083b81089p+1,  0x1.5a9dab27c24e1p+1,   -0x1.2b7ad4a29380cp+1,
    0x1.a34bf2835506bp+0,   -0x1.db8c337c86a4bp-1,  0x1.a7102cc3bc2dep-2,   -0x1.0c260c49dfa36p-3,
    0x1.407a4bc2d6cd2p-6,   0x1.855de53f54ee1p-8,   -0x1.1d6df80e58ca1p-8,  0x1.5aa12d7f79b5cp-11,
    0x1.83a6b665226a3p-12,  -0x1.70f4249213961p-13, -0x1.048ce1bb0cb24p-16, 0x1.d6deb7fe49084p-16,
    -0x1.aa1e448c886bfp-20, -0x1.174a8f75729c0p-18, 0x1.341f112b8a3abp-21,  0x1.52313c1537a9bp-21,
    -0x1.98b519eb83220p-24, -0x1.7af87da63324ap-24, 0x1.e6a67cd21eab6p-28,  0x1.efa01f075c755p-28};

// Order 2: error 4.9e-17.
constexpr int kTailSecondTerms = 25;
constexpr double kTailSecond[kTailSecondTerms] = {
    0x1.57017d623e5f3p+2,   -0x1.97b29bc081edep+3,  0x1.1d9ce550d8784p+4,   -0x1.23ffc18671597p+4,
    0x1.cf14c5f969518p+3,   -0x1.1f605eeb35624p+3,  0x1.0e30691222bd0p+2,   -0x1.55ba17478f89cp+0,
    0x1.2316760d6ceacp-3,   0x1.be154642b4f2ap-4,   -0x1.e7b8a2ffee810p-5,  0x1.1089c7d5015f8p-8,
    0x1.e9146c406893ap-8,   -0x1.3d6c954305f06p-9,  -0x1.5ef2dc5b13177p-11, 0x1.07c1c81eb7343p-11,
    0x1.60fab1b23258ap-15,  -0x1.7b041386e51dep-14, -0x1.18e270e5b8a46p-21, 0x1.0f8cf07c582d5p-16,
    -0x1.f6c8a4780bbc1p-27, -0x1.7e84eda76289dp-19, -0x1.013f9d24ded9dp-22, 0x1.8699e56f8e51ap-22,
    0x1.853d40de09cf9p-24};

}  // namespace simd
}  // namespace kestrel

#endif
