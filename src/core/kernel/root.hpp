// The root of a bandwidth matrix, which all engines take.
#ifndef KESTREL_CORE_KERNEL_ROOT_HPP
#define KESTREL_CORE_KERNEL_ROOT_HPP

#include <cstddef>
#include <vector>

#include "core/base/span.hpp"

namespace kestrel {

/// L of H = L L', lower triangular, d*d column-major, each number rounded once: what a double loses
/// where variables are strongly correlated is kept while it is made. Only the lower triangle of H
/// is read. Empty where H is not positive definite. O(d^3).
std::vector<double> lower_root(Span<const double> H, std::size_t d);

/// The largest row sum of |L^-1| |L|: a coordinate of z = L^-1 u is a difference of terms that are,
/// together, at most that many times as large as the largest of z (Higham 2002, 7.2). 1 where L is
/// diagonal. Does not depend on units. O(d^3).
double root_condition(Span<const double> root, std::size_t d);

/// What the rounding of L, and of z where it is made in doubles, may do to an estimate, relative to
/// its largest value: 2^-51 times that. Rounding moves a coordinate by about 2^-52 of its terms,
/// and no kernel changes faster than by two of its peaks for each bandwidth. (Measured with 200
/// samples: a quarter of it at most, by every engine.) 0 where L is diagonal.
double root_rounding(Span<const double> root, std::size_t d);

}  // namespace kestrel

#endif
