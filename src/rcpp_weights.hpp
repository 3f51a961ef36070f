// Weights between R and C++. If a user gives none, R has a vector of ones that holds no memory
// until R reads it as an array, which no sum of the core makes it do.
#ifndef KESTREL_RCPP_WEIGHTS_HPP
#define KESTREL_RCPP_WEIGHTS_HPP

#include <Rcpp.h>

#include "core/data/weights.hpp"

namespace kestrel {

/// A view of R's vector of weights, absent for the ones of ones_cpp() that nobody can have changed.
/// Throws error(internal) for another type.
Weights weights_of(SEXP w);

}  // namespace kestrel

#endif
