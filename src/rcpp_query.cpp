// R to core: what boxes hold of a density, and of rows.
#include "core/query/normal_mixture.hpp"
#include "core/query/query.hpp"
#include "rcpp_util.hpp"

using namespace kestrel;

/// of: the number of the variable asked for, counted from one, or 0.
// [[Rcpp::export]]
Rcpp::List query_boxes_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w, Rcpp::NumericMatrix root,
                           std::string kernel, bool product, Rcpp::NumericMatrix lower,
                           Rcpp::NumericMatrix upper, int of, int threads, std::string isa,
                           Rcpp::Nullable<Rcpp::Function> progress) {
  const QueryAnswers answers =
      query_boxes({view(x), view(w), choice(kernel, product), entries(root)}, view(lower),
                  view(upper), of - 1, options(threads, isa, progress));
  return Rcpp::List::create(Rcpp::Named("share") = answers.share,
                            Rcpp::Named("mean") = answers.mean,
                            Rcpp::Named("var") = answers.variance);
}

// [[Rcpp::export]]
Rcpp::NumericVector query_rows_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w,
                                   Rcpp::NumericMatrix lower, Rcpp::NumericMatrix upper,
                                   int threads, std::string isa,
                                   Rcpp::Nullable<Rcpp::Function> progress) {
  return Rcpp::wrap(
      query_rows(view(x), view(w), view(lower), view(upper), options(threads, isa, progress)));
}

/// Terms that a normal kernel takes for each observation, and how many are taken at most.
// [[Rcpp::export]]
Rcpp::NumericVector query_terms_cpp(Rcpp::NumericMatrix root) {
  const std::size_t d = static_cast<std::size_t>(root.ncol());
  return Rcpp::NumericVector::create(normal_mixture_terms(d, entries(root)), kMaxTerms);
}
