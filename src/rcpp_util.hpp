// Shared by the glue files at the top of src/: R's objects as views, R's interrupts as a poll.
#ifndef KESTREL_RCPP_UTIL_HPP
#define KESTREL_RCPP_UTIL_HPP

#include <Rcpp.h>

#include <stdexcept>
#include <string>

#include "core/base/error.hpp"
#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "core/direct/direct.hpp"
#include "core/sweep/sweep.hpp"
#include "simd/table.hpp"

/// Rcpp makes the name of an exception's type a class of the condition in R.
struct kestrel_error_memory : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace kestrel {

/// The core's refusal of a grid, which R can answer with another engine.
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

inline Span<const double> view(const Rcpp::NumericVector& v) {
  return {v.begin(), static_cast<std::size_t>(v.size())};
}

inline Span<const double> entries(const Rcpp::NumericMatrix& m) {
  return {m.begin(), static_cast<std::size_t>(m.size())};
}

/// A poll that lets Ctrl-C and setTimeLimit() through and then tells `progress` (NULL or an R
/// function of the fraction done). unwindProtect turns R's jump into a C++ exception, which
/// parallel_for carries out of the loop and Rcpp continues at the boundary; R_ToplevelExec, the
/// usual way, would swallow time limits.
inline Poll r_poll(const Rcpp::Nullable<Rcpp::Function>& progress) {
  const bool reports = progress.isNotNull();
  const Rcpp::RObject function = reports ? Rcpp::RObject(progress.get()) : Rcpp::RObject();
  return [reports, function](double fraction) {
    Rcpp::unwindProtect([]() -> SEXP {
      R_CheckUserInterrupt();
      return R_NilValue;
    });
    if (reports) Rcpp::Function(SEXP(function))(fraction);
  };
}

inline const simd::Table& table_of(const std::string& isa) {
  const simd::Table* table = simd::find_table(isa.c_str());
  if (table == nullptr) {
    throw error(ErrorKind::input, "this machine has no instruction set named " + isa);
  }
  return *table;
}

inline RunOptions options(int threads, const std::string& isa,
                          const Rcpp::Nullable<Rcpp::Function>& progress) {
  RunOptions result;
  result.table = &table_of(isa);
  result.parallel.threads = threads;
  result.parallel.poll = r_poll(progress);
  return result;
}

inline KernelChoice choice(const std::string& kernel, bool product) {
  return {kernel_of_name(kernel), product ? KernelType::product : KernelType::radial};
}

}  // namespace kestrel

#endif
