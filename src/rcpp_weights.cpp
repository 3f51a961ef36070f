#include "rcpp_weights.hpp"

#include <algorithm>

#include "core/base/error.hpp"

// After Rcpp.h, which declares what R's own header leaves to C.
#include <R_ext/Altrep.h>

using namespace kestrel;

namespace {

R_altrep_class_t ones_class;

// The first datum of an object is its length, the second the array, if it was asked for. An array
// that may have been written to is marked by a first datum of NULL.
bool is_untouched(SEXP x) { return !Rf_isNull(R_altrep_data1(x)); }
SEXP array_of(SEXP x) { return R_altrep_data2(x); }

R_xlen_t length_of(SEXP x) {
  return is_untouched(x) ? static_cast<R_xlen_t>(REAL_RO(R_altrep_data1(x))[0])
                         : Rf_xlength(array_of(x));
}

void* data_of(SEXP x, Rboolean writeable) {
  if (Rf_isNull(array_of(x))) {
    const SEXP array = PROTECT(Rf_allocVector(REALSXP, length_of(x)));
    std::fill_n(REAL(array), Rf_xlength(array), 1.0);
    R_set_altrep_data2(x, array);
    UNPROTECT(1);
  }
  if (writeable) R_set_altrep_data1(x, R_NilValue);
  return REAL(array_of(x));
}

const void* data_if_there(SEXP x) {
  return Rf_isNull(array_of(x)) ? nullptr : REAL_RO(array_of(x));
}

double element_of(SEXP x, R_xlen_t i) { return is_untouched(x) ? 1.0 : REAL_RO(array_of(x))[i]; }

int has_no_missing(SEXP x) { return is_untouched(x) ? 1 : 0; }

SEXP sum_of(SEXP x, Rboolean) {
  return is_untouched(x) ? Rf_ScalarReal(static_cast<double>(length_of(x))) : nullptr;
}

}  // namespace

// [[Rcpp::init]]
void make_class_of_ones(DllInfo* library) {
  ones_class = R_make_altreal_class("ones", "kestrel", library);
  R_set_altrep_Length_method(ones_class, length_of);
  R_set_altvec_Dataptr_method(ones_class, data_of);
  R_set_altvec_Dataptr_or_null_method(ones_class, data_if_there);
  R_set_altreal_Elt_method(ones_class, element_of);
  R_set_altreal_No_NA_method(ones_class, has_no_missing);
  R_set_altreal_Sum_method(ones_class, sum_of);
}

Weights kestrel::weights_of(SEXP w) {
  if (TYPEOF(w) != REALSXP) throw error(ErrorKind::internal, "weights must be doubles");
  const std::size_t n = static_cast<std::size_t>(Rf_xlength(w));
  if (ALTREP(w) && R_altrep_inherits(w, ones_class) && is_untouched(w)) return Weights::ones(n);
  return {REAL_RO(w), n};
}

/// n weights that are all one: an object of a class whose numbers are computed when they are asked
/// for (ALTREP). It becomes an ordinary vector when somebody may write to it.
// [[Rcpp::export]]
SEXP ones_cpp(double n) {
  const Rcpp::Shield<SEXP> length(Rf_ScalarReal(n));
  return R_new_altrep(ones_class, length, R_NilValue);
}
