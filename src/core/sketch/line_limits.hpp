// Limits of the numbers in a sketch on a line.
#ifndef KESTREL_CORE_SKETCH_LINE_LIMITS_HPP
#define KESTREL_CORE_SKETCH_LINE_LIMITS_HPP

#include <cmath>

#include "core/base/error.hpp"

namespace kestrel {

/// The exponent of the quanta.
constexpr int kQuantumBits = 44;
/// Exponents of cells, so that 2^e and 2^-e leave room for sums of keys (cell_exponent()), and the
/// largest key.
constexpr int kMaxSketchExponent = 980;
/// Squares of responses are numbers.
constexpr int kMaxResponseExponent = 400;
inline const double kLargestKey = std::ldexp(1.0, 1000);

[[noreturn]] inline void refuse_parts(const char* what) { throw error(ErrorKind::input, what); }

}  // namespace kestrel

#endif
