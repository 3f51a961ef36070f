// Weights between R and C++. A user who gives no weights gets a vector of ones that holds no
// memory until R itself reads it as an array: the sums of the core never do.
#ifndef KESTREL_RCPP_WEIGHTS_HPP
#define KESTREL_RCPP_WEIGHTS_HPP

#include <Rcpp.h>

#include "core/data/weights.hpp"

namespace kestrel {

/// The ones of n samples: an object of R's class for numbers that are computed when they are asked
/// for (ALTREP). It becomes an ordinary vector when somebody may write to it.
SEXP ones(R_xlen_t n);

/// A view of R's vector of weights, absent for ones() that nobody can have changed. Throws
/// error(internal) for another type.
Weights weights_of(SEXP w);

}  // namespace kestrel

#endif
