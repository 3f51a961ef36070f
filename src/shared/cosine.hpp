// The cosine kernel as a series.
#ifndef KESTREL_SHARED_COSINE_HPP
#define KESTREL_SHARED_COSINE_HPP

#include "shared/series.hpp"

namespace kestrel {

// cos(pi r / 2) is an entire function of q = r^2, so it needs no square root. Its Taylor series to
// q^11 has a remainder below 1e-19 on [0, 1]. The coefficients are (pi/2)^(2k) / (2k)!; the signs
// come with (-q)^k.
constexpr Series<12> kCosine = {
    {0x1.0000000000000p+0, 0x1.3bd3cc9be45dep+0, 0x1.03c1f081b5ac4p-2, 0x1.55d3c7e3cbffap-6,
     0x1.e1f506891babbp-11, 0x1.a6d1f2a204a8cp-16, 0x1.f9d38a3763cc3p-22, 0x1.b6e24f44b128fp-28,
     0x1.20c62c2f2d7f5p-34, 0x1.2a0c591af8314p-41, 0x1.ef6e308d6d1c4p-49, 0x1.52ae4120fde27p-56}};
constexpr int kCosineTerms = decltype(kCosine)::kTerms;

// Single precision takes the terms to q^7; the remainder is below 7e-11.
constexpr int kCosineSingleTerms = 8;

}  // namespace kestrel

#endif
