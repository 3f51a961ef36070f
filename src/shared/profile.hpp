// Profiles of kernels, for numbers in double and in single precision.
#ifndef KESTREL_SHARED_PROFILE_HPP
#define KESTREL_SHARED_PROFILE_HPP

#include "shared/cosine.hpp"
#include "shared/kernel.hpp"
#include "shared/number.hpp"

namespace kestrel {
namespace number {

#include "shared/profile.inc"

/// The profile of a continuous compact kernel, from minus the squared distance.
template <KernelForm Form, int Inner, int Outer, class Real>
KESTREL_HD KESTREL_INLINE Real profile(Real minus_q) {
  if constexpr (Form == KernelForm::cosine) {
    cosine_profile<1>(&minus_q);
    return minus_q;
  } else {
    return power_profile<Outer>(rest_of_minus<Inner>(minus_q));
  }
}

}  // namespace number
}  // namespace kestrel

#endif
