// The root of a bandwidth matrix, which all engines take.
#ifndef KESTREL_CORE_KERNEL_ROOT_HPP
#define KESTREL_CORE_KERNEL_ROOT_HPP

#include <cstddef>
#include <vector>

#include "core/base/span.hpp"

namespace kestrel {

/// L of H = L L', lower triangular, d*d column-major, each number rounded once: the computation
/// keeps the digits that doubles lose if variables are strongly correlated. Only the lower triangle
/// of H is read. Empty if H is not positive definite. O(d^3).
std::vector<double> lower_root(Span<const double> H, std::size_t d);

/// The same, but throws error(input) if H is not positive definite.
std::vector<double> definite_root(Span<const double> H, std::size_t d);

/// L^-1, lower triangular, d*d column-major. O(d^3).
std::vector<double> inverse_of_root(Span<const double> root, std::size_t d);

/// The largest row sum of |L^-1| |L|: a coordinate of z = L^-1 u is a difference of terms that are,
/// together, at most that many times as large as the largest coordinate of z (Higham 2002, 7.2). 1
/// if L is diagonal. Does not depend on units. O(d^3).
double root_condition(Span<const double> root, std::size_t d);

/// A bound on the error of an estimate, relative to its largest value, from the rounding of L, and
/// of z if it is computed in doubles: 2^-51 times root_condition(). Rounding moves a coordinate by
/// about 2^-52 of its terms, and no kernel changes faster than by twice its peak per bandwidth.
/// (Measured with 200 samples: at most a quarter of the bound, for every engine.) 0 if L is
/// diagonal.
double root_rounding(Span<const double> root, std::size_t d);

}  // namespace kestrel

#endif
