// The check that every engine applies to its weights.
#ifndef KESTREL_CORE_DATA_WEIGHTS_HPP
#define KESTREL_CORE_DATA_WEIGHTS_HPP

#include <cstddef>
#include <string>

#include "core/base/error.hpp"

namespace kestrel {

/// Throws error(input) unless there is one weight a sample.
inline void check_weight_count(std::size_t samples, std::size_t weights) {
  if (weights == samples) return;
  throw error(ErrorKind::input, "there are " + std::to_string(samples) + " samples but " +
                                    std::to_string(weights) + " weights");
}

}  // namespace kestrel

#endif
