// R to core: the Fourier engine over all pairs, kept between calls.
#include <memory>

#include "core/criteria/fourier_criteria.hpp"
#include "rcpp_util.hpp"

using namespace kestrel;

namespace {

/// The sums and the data they are of.
struct Kept {
  Rcpp::NumericMatrix x;
  Rcpp::NumericVector w;
  std::unique_ptr<FourierCriteria> sums;
};

Span<double> entries_of(Rcpp::NumericMatrix& m) {
  return {m.begin(), static_cast<std::size_t>(m.size())};
}

/// A value and, when asked for, its gradient by the bandwidth matrix.
template <class Query>
Rcpp::List value_and_gradient(const Rcpp::NumericMatrix& H, bool gradient, const Query& query) {
  Rcpp::NumericMatrix slope(gradient ? H.nrow() : 0, gradient ? H.ncol() : 0);
  const double value = translate_memory_error([&] { return query(entries_of(slope)); });
  return Rcpp::List::create(Rcpp::Named("value") = value, Rcpp::Named("gradient") = slope);
}

}  // namespace

// [[Rcpp::export]]
SEXP fourier_sums_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w, Rcpp::NumericMatrix root,
                      double min, double max, double tolerance, int threads, std::string isa,
                      Rcpp::Nullable<Rcpp::Function> progress) {
  FourierDemand demand;
  demand.root.assign(root.begin(), root.end());
  demand.min = min;
  demand.max = max;
  demand.tolerance = tolerance;
  auto kept = std::make_unique<Kept>(Kept{x, w, nullptr});
  kept->sums = translate_memory_error([&] {
    return std::make_unique<FourierCriteria>(view(kept->x), view(kept->w), demand,
                                             options(threads, isa, progress));
  });
  return Rcpp::XPtr<Kept>(kept.release());
}

// [[Rcpp::export]]
void fourier_prepare_cpp(SEXP kept, double min, double max, int threads, std::string isa,
                         Rcpp::Nullable<Rcpp::Function> progress) {
  const Rcpp::XPtr<Kept> sums(kept);
  translate_memory_error([&] {
    sums->sums->prepare(min, max, options(threads, isa, progress));
    return 0;
  });
}

// [[Rcpp::export]]
Rcpp::List fourier_lscv_cpp(SEXP kept, Rcpp::NumericMatrix H, bool paper, bool gradient,
                            int threads, std::string isa, Rcpp::Nullable<Rcpp::Function> progress) {
  const Rcpp::XPtr<Kept> sums(kept);
  return value_and_gradient(H, gradient, [&](Span<double> slope) {
    return sums->sums->lscv(entries(H), paper ? LscvForm::paper : LscvForm::unbiased, slope,
                            options(threads, isa, progress));
  });
}

// [[Rcpp::export]]
Rcpp::List fourier_scv_cpp(SEXP kept, Rcpp::NumericMatrix H, Rcpp::NumericMatrix G, bool gradient,
                           int threads, std::string isa, Rcpp::Nullable<Rcpp::Function> progress) {
  const Rcpp::XPtr<Kept> sums(kept);
  return value_and_gradient(H, gradient, [&](Span<double> slope) {
    return sums->sums->scv(entries(H), entries(G), slope, options(threads, isa, progress));
  });
}

// [[Rcpp::export]]
Rcpp::NumericVector fourier_psi_cpp(SEXP kept, Rcpp::NumericMatrix G, int order, int threads,
                                    std::string isa, Rcpp::Nullable<Rcpp::Function> progress) {
  const Rcpp::XPtr<Kept> sums(kept);
  return Rcpp::wrap(translate_memory_error(
      [&] { return sums->sums->psi(entries(G), order, options(threads, isa, progress)); }));
}
