// R to core: the smoothed bootstrap. The core has the fastest axis of a grid last, R first: what
// comes here has the variables and axes of R in reverse.
#include "core/base/whole.hpp"
#include "core/bootstrap/bootstrap.hpp"
#include "rcpp_points.hpp"

using namespace kestrel;

namespace {

/// Two whole numbers below 2^32 as R keeps them.
std::uint64_t key_of(const Rcpp::NumericVector& key) {
  return whole_number<std::uint64_t>(key[0]) << 32 | whole_number<std::uint64_t>(key[1]);
}

}  // namespace

/// For tests: the sample of a replicate, counted from one, that boot_errors_cpp() draws.
// [[Rcpp::export]]
Rcpp::NumericMatrix boot_sample_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w,
                                    Rcpp::NumericMatrix root, double h0, double size,
                                    Rcpp::NumericVector key, int replicate) {
  const SmoothedSample samples(view(x), view(w), entries(root), h0, whole_number<std::size_t>(size),
                               key_of(key));
  Rcpp::NumericMatrix out(whole_number<int>(size), x.ncol());
  samples.draw(static_cast<std::uint32_t>(replicate - 1), {},
               {out.begin(), static_cast<std::size_t>(out.size())});
  return out;
}

/// One row a replicate, one column a bandwidth.
// [[Rcpp::export]]
Rcpp::NumericMatrix boot_errors_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w,
                                    Rcpp::NumericMatrix root, double h0, Rcpp::NumericVector h,
                                    Rcpp::List axes, Rcpp::List widths, Rcpp::NumericVector target,
                                    double size, Rcpp::NumericVector key, int replicates,
                                    int threads, std::string isa,
                                    Rcpp::Nullable<Rcpp::Function> progress) {
  const KeptPoints points(axes);
  const KeptPoints steps(widths);
  const SmoothedSample samples(view(x), view(w), entries(root), h0, whole_number<std::size_t>(size),
                               key_of(key));
  const SquaredErrors errors({points.at.axes, steps.at.axes}, entries(root), view(h), view(target));
  Rcpp::NumericMatrix out(replicates, static_cast<int>(h.size()));
  bootstrap_errors(samples, errors, static_cast<std::size_t>(replicates),
                   options(threads, isa, progress),
                   {out.begin(), static_cast<std::size_t>(out.size())});
  return out;
}
