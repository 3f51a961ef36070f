// R to core: the distribution function of an estimate on the line, and its quantiles.
#include "core/distribution/distribution.hpp"
#include "rcpp_run.hpp"
#include "rcpp_sample.hpp"

using namespace kestrel;

namespace {

/// Points, or probabilities, and the kernel of the estimate.
struct DistributionTask {
  Rcpp::NumericVector at;
  Kernel kernel;
  double h;
};

DistributionTask unpack_distribution(const Rcpp::List& list) {
  const Fields fields(list, "a task of a distribution", {"at", "kernel", "h"});
  return {fields.get<Rcpp::NumericVector>("at"), kernel_of_name(fields.get<std::string>("kernel")),
          fields.get<double>("h")};
}

/// The shares of the work that prepare the sample and that evaluate it.
constexpr double kPrepared = 0.5;

/// evaluate(distribution, at, options, out).
template <class Evaluate>
Rcpp::NumericVector evaluated(SEXP sample, const Rcpp::List& task, const Rcpp::List& run,
                              const Evaluate& evaluate) {
  const Sample& data = sample_of(sample);
  const DistributionTask wanted = unpack_distribution(task);
  const Run how = unpack_run(run);
  const RunOptions preparing{how.table, part_of(how.parallel, 0, kPrepared)};
  const Distribution distribution(line_sample(data, preparing), wanted.kernel, wanted.h, preparing);
  Rcpp::NumericVector out = Rcpp::no_init(wanted.at.size());
  evaluate(distribution, view(wanted.at), part_of(how.parallel, kPrepared, 1),
           Span<double>{out.begin(), static_cast<std::size_t>(out.size())});
  return out;
}

}  // namespace

// [[Rcpp::export]]
Rcpp::NumericVector distribution_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  return evaluated(sample, task, run, [](const Distribution& distribution, auto... rest) {
    distribution.values(rest...);
  });
}

// [[Rcpp::export]]
Rcpp::NumericVector distribution_quantiles_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  return evaluated(sample, task, run, [](const Distribution& distribution, auto... rest) {
    distribution.quantiles(rest...);
  });
}
