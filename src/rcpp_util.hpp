// Shared by the glue files at the top of src/: R's objects as views, R's names as the core's types.
#ifndef KESTREL_RCPP_UTIL_HPP
#define KESTREL_RCPP_UTIL_HPP

#include <Rcpp.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/large_pages.hpp"
#include "core/base/span.hpp"
#include "core/kernel/kernel.hpp"

/// Rcpp makes the name of an exception's type a class of the condition in R, which R then words.
struct kestrel_core_memory : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct kestrel_core_unfit : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace kestrel {

/// Turns an engine's refusals into exceptions that R can word, or answer with another engine.
template <class Call>
auto translate_errors(const Call& call) {
  try {
    return call();
  } catch (const error& problem) {
    if (problem.kind == ErrorKind::memory) throw kestrel_core_memory(problem.what());
    if (problem.kind == ErrorKind::unfit) throw kestrel_core_unfit(problem.what());
    throw;
  }
}

inline MatrixView view(const Rcpp::NumericMatrix& x) {
  return {x.begin(), static_cast<std::size_t>(x.nrow()), static_cast<std::size_t>(x.ncol())};
}

/// Doubles of R that are only read, and kept alive; other numbers are converted. Rcpp's vectors ask
/// R for memory to write to, and R then copies a vector that shares its memory with another one, as
/// the matrix of a vector does (as_points() of R/check.R).
class HeldDoubles {
 public:
  explicit HeldDoubles(SEXP x) : held_(Rcpp::r_cast<REALSXP>(x)) {}

  Span<const double> values() const {
    return {REAL_RO(held_), static_cast<std::size_t>(Rf_xlength(held_))};
  }
  /// The columns of a matrix; any other vector or array is one column.
  MatrixView columns() const {
    if (!Rf_isMatrix(held_)) return {values().data, values().size, 1};
    return {values().data, static_cast<std::size_t>(Rf_nrows(held_)),
            static_cast<std::size_t>(Rf_ncols(held_))};
  }

 private:
  const Rcpp::RObject held_;
};

inline Span<const double> view(const Rcpp::NumericVector& v) {
  return {v.begin(), static_cast<std::size_t>(v.size())};
}

inline Span<const double> entries(const Rcpp::NumericMatrix& m) {
  return {m.begin(), static_cast<std::size_t>(m.size())};
}

/// The axes of a grid.
struct KeptAxes {
  std::vector<Rcpp::NumericVector> kept;  // keeps converted vectors alive
  std::vector<Span<const double>> views;

  explicit KeptAxes(const Rcpp::List& given) {
    for (R_xlen_t k = 0; k < given.size(); ++k) {
      kept.emplace_back(Rcpp::as<Rcpp::NumericVector>(given[k]));
      views.push_back(view(kept.back()));
    }
  }
};

/// For an engine that writes all of it: filling it with zeros would be another pass over a large
/// grid.
inline Rcpp::NumericVector uninitialised(std::size_t size) {
  Rcpp::NumericVector values = Rcpp::no_init(static_cast<R_xlen_t>(size));
  prefer_large_pages(values.begin(), 8 * size);
  return values;
}

/// kernel_type: R's name of the type.
inline KernelChoice choice(const std::string& kernel, const std::string& kernel_type) {
  return {kernel_of_name(kernel),
          kernel_type == "product" ? KernelType::product : KernelType::radial};
}

}  // namespace kestrel

#endif
