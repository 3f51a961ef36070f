// R to core: the Fourier engine over all pairs of a sample, which keeps its grid between calls.
#include <memory>

#include "core/criteria/fourier_criteria.hpp"
#include "core/fourier/engine.hpp"
#include "rcpp_run.hpp"
#include "rcpp_sample.hpp"

using namespace kestrel;

namespace {

FourierCriteria& criteria_of(SEXP sample) {
  return sample_of(sample).prepared<FourierCriteria>([]() -> std::unique_ptr<FourierCriteria> {
    throw error(ErrorKind::internal, "the sample has no Fourier grid");
  });
}

/// A query at a bandwidth matrix; H and what it gives are in the units of the axes times x.
struct Criterion {
  Rcpp::NumericMatrix H, axes;
  bool gradient;
};

Criterion criterion_of(const Fields& fields) {
  return {fields.get<Rcpp::NumericMatrix>("H"), fields.get<Rcpp::NumericMatrix>("axes"),
          fields.get<bool>("gradient")};
}

/// A value and, if asked for, its gradient by the bandwidth matrix.
template <class Query>
Rcpp::List value_and_gradient(const Criterion& asked, const Query& query) {
  const int d = asked.gradient ? asked.H.ncol() : 0;
  Rcpp::NumericMatrix slope(d, d);
  const Span<double> written{slope.begin(), static_cast<std::size_t>(slope.size())};
  const double value = translate_errors([&] { return query(entries(asked.H), written); });
  return Rcpp::List::create(Rcpp::Named("value") = value, Rcpp::Named("gradient") = slope);
}

}  // namespace

/// Makes a grid unless the sample has one: for bandwidths in a range, in units of the root; if tol
/// is not 0, with room for a density of that error; and with phases, to compute it.
// [[Rcpp::export]]
void fourier_grid_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  const Sample& data = sample_of(sample);
  data.prepared<FourierCriteria>([&] {
    const Fields fields(task, "a task of a grid", {"root", "range", "tol", "phases"});
    const Rcpp::NumericMatrix root = fields.get<Rcpp::NumericMatrix>("root");
    const Rcpp::NumericVector range = fields.get<Rcpp::NumericVector>("range");
    FourierDemand demand;
    demand.root.assign(root.begin(), root.end());
    demand.min = range[0];
    demand.max = range[1];
    demand.density_tolerance = fields.get<double>("tol");
    demand.phases = fields.get<bool>("phases");
    return translate_errors([&] {
      return std::make_unique<FourierCriteria>(data.x(), data.w(), demand, unpack_run(run));
    });
  });
  // A density that follows may be read off its modes.
  data.prepared<ModesOfSample>([&] {
    return std::make_unique<ModesOfSample>(
        ModesOfSample{[&data] { return data.found<FourierCriteria>()->kept_modes(); }});
  });
}

/// Replaces the grid by one for this range only, unless the present one serves it.
// [[Rcpp::export]]
void fourier_prepare_cpp(SEXP sample, Rcpp::NumericVector range, Rcpp::List run) {
  translate_errors([&] {
    criteria_of(sample).prepare(range[0], range[1], unpack_run(run));
    return 0;
  });
}

// [[Rcpp::export]]
Rcpp::List fourier_lscv_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  const Fields fields(task, "a task of LSCV", {"H", "axes", "form", "gradient"});
  const LscvForm form =
      fields.get<std::string>("form") == "paper" ? LscvForm::paper : LscvForm::unbiased;
  const Criterion asked = criterion_of(fields);
  return value_and_gradient(asked, [&](Span<const double> H, Span<double> slope) {
    return criteria_of(sample).lscv(H, form, slope, unpack_run(run), entries(asked.axes));
  });
}

// [[Rcpp::export]]
Rcpp::List fourier_scv_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  const Fields fields(task, "a task of SCV", {"H", "G", "axes", "gradient"});
  const Rcpp::NumericMatrix G = fields.get<Rcpp::NumericMatrix>("G");
  const Criterion asked = criterion_of(fields);
  return value_and_gradient(asked, [&](Span<const double> H, Span<double> slope) {
    return criteria_of(sample).scv(H, entries(G), slope, unpack_run(run), entries(asked.axes));
  });
}

// [[Rcpp::export]]
Rcpp::NumericVector fourier_psi_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  const Fields fields(task, "a task of functionals", {"G", "axes", "order"});
  const Rcpp::NumericMatrix G = fields.get<Rcpp::NumericMatrix>("G"),
                            axes = fields.get<Rcpp::NumericMatrix>("axes");
  return Rcpp::wrap(translate_errors([&] {
    return criteria_of(sample).psi(entries(G), fields.get<int>("order"), unpack_run(run),
                                   entries(axes));
  }));
}
