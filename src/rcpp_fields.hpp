// Takes a list of R apart by name: samples, tasks and runs come to C++ as lists.
#ifndef KESTREL_RCPP_FIELDS_HPP
#define KESTREL_RCPP_FIELDS_HPP

#include <Rcpp.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <string>

#include "core/base/error.hpp"

namespace kestrel {

/// Throws error(internal) for a field that the list lacks, one that it must not have, and one of
/// another type. Copies nothing, since Rcpp's vectors share R's memory, except for integers where
/// doubles are wanted.
class Fields {
 public:
  /// what: the name of the list in messages; known: the fields that it may have, whether they are
  /// read here or not.
  Fields(const Rcpp::List& list, const char* what, std::initializer_list<const char*> known)
      : list_(list), names_(Rf_getAttrib(list, R_NamesSymbol)), what_(what) {
    for (R_xlen_t i = 0; i < Rf_xlength(names_); ++i) {
      const char* name = CHAR(STRING_ELT(names_, i));
      const auto same = [name](const char* other) { return std::strcmp(name, other) == 0; };
      if (std::none_of(known.begin(), known.end(), same)) fail("has an unknown field", name);
    }
  }

  /// NULL if the list has no such field, like R's `$`.
  SEXP optional(const char* name) const {
    for (R_xlen_t i = 0; i < Rf_xlength(names_); ++i) {
      if (std::strcmp(CHAR(STRING_ELT(names_, i)), name) == 0) return VECTOR_ELT(list_, i);
    }
    return R_NilValue;
  }

  SEXP operator[](const char* name) const {
    const SEXP value = optional(name);
    if (Rf_isNull(value)) fail("lacks the field", name);
    return value;
  }

  template <class T>
  T get(const char* name) const {
    const SEXP value = (*this)[name];
    try {
      return Rcpp::as<T>(value);
    } catch (const std::exception&) {
      fail("has another type in the field", name);
    }
  }

 private:
  [[noreturn]] void fail(const char* problem, const char* name) const {
    throw error(ErrorKind::internal, std::string(what_) + " " + problem + " `" + name + "`.");
  }

  SEXP list_, names_;  // the caller's argument, which keeps both alive
  const char* what_;
};

}  // namespace kestrel

#endif
