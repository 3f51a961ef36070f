// A leave-one-out criterion of a density, and who computed it.
#ifndef KESTREL_CORE_LEAVE_ONE_OUT_CRITERION_HPP
#define KESTREL_CORE_LEAVE_ONE_OUT_CRITERION_HPP

#include <string>

#include "core/mixed/mixed_density.hpp"

namespace kestrel {

struct LeaveOneOut {
  MixedCriterion criterion;
  std::string engine;  // "direct" where pairs were summed one by one
};

}  // namespace kestrel

#endif
