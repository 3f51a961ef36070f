// R to core: what this build can do and what it runs on.
#include "config.hpp"
#include "core/base/available_memory.hpp"
#include "core/base/parallel.hpp"
#include "rcpp_run.hpp"

using namespace kestrel;

// [[Rcpp::export]]
Rcpp::CharacterVector isa_available_cpp() {
  const simd::Table* tables[simd::kSets];
  const std::size_t n = simd::available_tables(tables);
  Rcpp::CharacterVector names(static_cast<R_xlen_t>(n));
  for (std::size_t i = 0; i < n; ++i) names[static_cast<R_xlen_t>(i)] = tables[i]->name;
  return names;
}

/// The table of kernels: name, form and, for polynomials (1 - |u|^inner)^outer, the two exponents.
// [[Rcpp::export]]
Rcpp::List kernel_table_cpp() {
  Rcpp::CharacterVector name, form;
  Rcpp::IntegerVector inner, outer;
#define KESTREL_KERNEL(name_of, form_of, inner_of, outer_of) \
  name.push_back(#name_of);                                  \
  form.push_back(#form_of);                                  \
  inner.push_back(inner_of);                                 \
  outer.push_back(outer_of);
#include "shared/kernels.def"
  return Rcpp::List::create(Rcpp::Named("name") = name, Rcpp::Named("form") = form,
                            Rcpp::Named("inner") = inner, Rcpp::Named("outer") = outer);
}

// [[Rcpp::export]]
double ball_volume_cpp(double d) { return ball_volume(d); }

/// The most variables that sums take.
// [[Rcpp::export]]
int max_dimension_cpp() { return static_cast<int>(kMaxDimension); }

// [[Rcpp::export]]
std::string isa_used_cpp(std::string isa) { return table_of(isa).name; }

// [[Rcpp::export]]
double available_memory_cpp() { return available_memory(); }

// [[Rcpp::export(rng = false)]]
int thread_cap_cpp() { return thread_cap(); }

/// How many threads a call gets that asks for `threads`; 0 means that it does not say.
// [[Rcpp::export(rng = false)]]
int parallel_threads_cpp(int threads) {
  ParallelOptions asked;
  asked.threads = threads;
  return parallel_threads(asked);
}

// [[Rcpp::export(rng = false)]]
void set_thread_cap_cpp(int n) { set_thread_cap(n); }

// [[Rcpp::export]]
void end_threads_cpp() { end_threads(); }

/// Checks for Ctrl-C and time limits, during work of R's own.
// [[Rcpp::export(rng = false)]]
void poll_cpp() { r_poll(R_NilValue)(0); }

// [[Rcpp::export]]
Rcpp::List build_info_cpp() {
#if defined(__clang__)
  const std::string compiler = "clang " __clang_version__;
#elif defined(__GNUC__)
  const std::string compiler = "g++ " __VERSION__;
#else
  const std::string compiler = "unknown";
#endif
  return Rcpp::List::create(Rcpp::Named("compiler") = compiler,
                            Rcpp::Named("fftw3") = KESTREL_HAVE_FFTW3 != 0,
                            Rcpp::Named("cuda") = KESTREL_HAVE_CUDA != 0);
}
