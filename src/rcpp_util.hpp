// Shared by the glue files at the top of src/: R's objects as views, R's names as the core's types.
#ifndef KESTREL_RCPP_UTIL_HPP
#define KESTREL_RCPP_UTIL_HPP

#include <Rcpp.h>

#include <stdexcept>
#include <string>

#include "core/base/error.hpp"
#include "core/base/span.hpp"
#include "core/kernel/kernel.hpp"

/// Rcpp makes the name of an exception's type a class of the condition in R.
struct kestrel_error_memory : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace kestrel {

/// Turns the core's refusal of a grid into an exception that R can answer with another engine.
template <class Call>
auto translate_memory_error(const Call& call) {
  try {
    return call();
  } catch (const error& problem) {
    if (problem.kind != ErrorKind::memory) throw;
    throw kestrel_error_memory(problem.what());
  }
}

inline MatrixView view(const Rcpp::NumericMatrix& x) {
  return {x.begin(), static_cast<std::size_t>(x.nrow()), static_cast<std::size_t>(x.ncol())};
}

/// The columns of a matrix; any other vector or array is one column.
inline MatrixView columns_of(const Rcpp::NumericVector& x) {
  const std::size_t columns = Rf_isMatrix(x) ? static_cast<std::size_t>(Rf_ncols(x)) : 1;
  const std::size_t rows =
      Rf_isMatrix(x) ? static_cast<std::size_t>(Rf_nrows(x)) : static_cast<std::size_t>(x.size());
  return {x.begin(), rows, columns};
}

inline Span<const double> view(const Rcpp::NumericVector& v) {
  return {v.begin(), static_cast<std::size_t>(v.size())};
}

inline Span<const double> entries(const Rcpp::NumericMatrix& m) {
  return {m.begin(), static_cast<std::size_t>(m.size())};
}

/// kernel_type: R's name of the type.
inline KernelChoice choice(const std::string& kernel, const std::string& kernel_type) {
  return {kernel_of_name(kernel),
          kernel_type == "product" ? KernelType::product : KernelType::radial};
}

}  // namespace kestrel

#endif
