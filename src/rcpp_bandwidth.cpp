// R to core: sums over pairs of samples, for the bandwidth selectors.
#include "core/direct_pairs.hpp"
#include "rcpp_util.hpp"

using namespace kestrel;

// [[Rcpp::export]]
double pair_sum_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w, Rcpp::NumericMatrix root,
                    std::string kernel, bool product, int threads, std::string isa,
                    Rcpp::Nullable<Rcpp::Function> progress) {
  return direct_pair_sum(view(x), view(w), choice(kernel, product), entries(root),
                         options(threads, isa, progress));
}

// [[Rcpp::export]]
double pair_laplacian_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w, double g, int order,
                          int threads, std::string isa, Rcpp::Nullable<Rcpp::Function> progress) {
  return direct_pair_laplacian(view(x), view(w), g, order, options(threads, isa, progress));
}

// [[Rcpp::export]]
Rcpp::NumericVector pair_moments_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w, double g,
                                     int order, int threads, std::string isa,
                                     Rcpp::Nullable<Rcpp::Function> progress) {
  const std::vector<double> sums =
      direct_pair_moments(view(x), view(w), g, order, options(threads, isa, progress));
  const auto indices = even_multi_indices(static_cast<std::size_t>(x.ncol()), order);
  Rcpp::NumericVector out(sums.begin(), sums.end());
  Rcpp::CharacterVector names(out.size());
  for (std::size_t t = 0; t < indices.size(); ++t) {
    std::string name;
    for (std::size_t k = 0; k < indices[t].size(); ++k) {
      name += (k > 0 ? "," : "") + std::to_string(indices[t][k]);
    }
    names[static_cast<R_xlen_t>(t)] = name;
  }
  out.names() = names;
  return out;
}
