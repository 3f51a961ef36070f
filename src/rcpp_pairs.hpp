// Sums over all pairs of a sample between R and C++: R holds one pointer to them for a criterion.
#ifndef KESTREL_RCPP_PAIRS_HPP
#define KESTREL_RCPP_PAIRS_HPP

#include <Rcpp.h>

#include <memory>

#include "core/criteria/pair_sums.hpp"

namespace kestrel {

/// Sums that keep R's sample alive, and the kernel that they are asked for.
struct HeldPairs {
  Rcpp::RObject sample;
  std::unique_ptr<PairSums> sums;
  Kernel kernel;
};

/// Those of a pointer that pairs_cpp() made.
inline HeldPairs& pairs_of(SEXP pointer) { return *Rcpp::XPtr<HeldPairs>(pointer); }

}  // namespace kestrel

#endif
