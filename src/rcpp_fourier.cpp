// R to core: the Fourier engine over all pairs, kept between calls.
#include <memory>

#include "core/criteria/fourier_criteria.hpp"
#include "rcpp_run.hpp"
#include "rcpp_sample.hpp"

using namespace kestrel;

namespace {

/// The sums, and the data that they refer to.
struct Kept {
  Sample data;
  std::unique_ptr<FourierCriteria> sums;
};

/// A query of them at a bandwidth matrix.
struct Criterion {
  Rcpp::NumericMatrix H;
  bool gradient;
};

Criterion criterion_of(const Fields& fields) {
  return {fields.get<Rcpp::NumericMatrix>("H"), fields.get<bool>("gradient")};
}

/// A value and, if asked for, its gradient by the bandwidth matrix.
template <class Query>
Rcpp::List value_and_gradient(const Criterion& asked, const Query& query) {
  const int d = asked.gradient ? asked.H.ncol() : 0;
  Rcpp::NumericMatrix slope(d, d);
  const Span<double> written{slope.begin(), static_cast<std::size_t>(slope.size())};
  const double value = translate_memory_error([&] { return query(entries(asked.H), written); });
  return Rcpp::List::create(Rcpp::Named("value") = value, Rcpp::Named("gradient") = slope);
}

}  // namespace

/// For bandwidths from min to max, in units of the root.
// [[Rcpp::export]]
SEXP fourier_sums_cpp(Rcpp::List sample, Rcpp::NumericMatrix root, double min, double max,
                      Rcpp::List run) {
  FourierDemand demand;
  demand.root.assign(root.begin(), root.end());
  demand.min = min;
  demand.max = max;
  auto kept = std::make_unique<Kept>(Kept{unpack_sample(sample), nullptr});
  kept->sums = translate_memory_error([&] {
    return std::make_unique<FourierCriteria>(kept->data.x, kept->data.w, demand, unpack_run(run));
  });
  return Rcpp::XPtr<Kept>(kept.release());
}

// [[Rcpp::export]]
void fourier_prepare_cpp(SEXP kept, double min, double max, Rcpp::List run) {
  const Rcpp::XPtr<Kept> sums(kept);
  translate_memory_error([&] {
    sums->sums->prepare(min, max, unpack_run(run));
    return 0;
  });
}

// [[Rcpp::export]]
Rcpp::List fourier_lscv_cpp(SEXP kept, Rcpp::List task, Rcpp::List run) {
  const Rcpp::XPtr<Kept> sums(kept);
  const Fields fields(task, "a task of LSCV", {"H", "form", "gradient"});
  const LscvForm form =
      fields.get<std::string>("form") == "paper" ? LscvForm::paper : LscvForm::unbiased;
  return value_and_gradient(criterion_of(fields), [&](Span<const double> H, Span<double> slope) {
    return sums->sums->lscv(H, form, slope, unpack_run(run));
  });
}

// [[Rcpp::export]]
Rcpp::List fourier_scv_cpp(SEXP kept, Rcpp::List task, Rcpp::List run) {
  const Rcpp::XPtr<Kept> sums(kept);
  const Fields fields(task, "a task of SCV", {"H", "G", "gradient"});
  const Rcpp::NumericMatrix G = fields.get<Rcpp::NumericMatrix>("G");
  return value_and_gradient(criterion_of(fields), [&](Span<const double> H, Span<double> slope) {
    return sums->sums->scv(H, entries(G), slope, unpack_run(run));
  });
}

// [[Rcpp::export]]
Rcpp::NumericVector fourier_psi_cpp(SEXP kept, Rcpp::NumericMatrix G, int order, Rcpp::List run) {
  const Rcpp::XPtr<Kept> sums(kept);
  return Rcpp::wrap(
      translate_memory_error([&] { return sums->sums->psi(entries(G), order, unpack_run(run)); }));
}
