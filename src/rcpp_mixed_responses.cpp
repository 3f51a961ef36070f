// R to core: sums of many responses over mixed data, and the draws of bootstraps.
#include "core/base/random.hpp"
#include "core/base/whole.hpp"
#include "core/mixed/mixed_responses.hpp"
#include "rcpp_mixed.hpp"

using namespace kestrel;

namespace {

MixedFunctional functional_of(const std::string& name) {
  if (name == "sum") return MixedFunctional::sum;
  if (name == "square") return MixedFunctional::square;
  if (name == "mean_square") return MixedFunctional::mean_square;
  if (name == "mean") return MixedFunctional::mean;
  if (name == "slope") return MixedFunctional::slope;
  return MixedFunctional::fit;
}

}  // namespace

/// A matrix with a row for each point, or observation if there are none, and a column for each
/// column of the task's `y` (see MixedResponses; `column` counts from 1).
// [[Rcpp::export]]
Rcpp::NumericMatrix mixed_responses_cpp(SEXP sample, Rcpp::List task, SEXP points, Rcpp::List of,
                                        Rcpp::List run) {
  const MixedKernel kernel = unpack_regression(task);
  const Fields wanted(of, "responses", {"functional", "column", "leave_out", "y"});
  const auto y = wanted.get<Rcpp::NumericMatrix>("y");
  const MixedResponses responses{functional_of(wanted.get<std::string>("functional")),
                                 static_cast<std::size_t>(wanted.get<int>("column")) - 1,
                                 wanted.get<bool>("leave_out"), mixed_matrix(y)};
  const MixedSample& data = mixed_sample_of(sample);
  const Run how = unpack_run(run);
  const MixedRPoints at(points, data, how.parallel);
  const std::vector<double> found = mixed_responses(data, at.all(), kernel, responses, how);
  const int rows = static_cast<int>(at.all().size());
  Rcpp::NumericMatrix to(rows, y.ncol());
  for (std::size_t i = 0; i < found.size(); ++i) {
    to[static_cast<R_xlen_t>(i)] = std::isnan(found[i]) ? NA_REAL : found[i];
  }
  return to;
}

/// Uniform numbers for the replicates first, first + 1, ... of a bootstrap: a column for each, the
/// same whichever are drawn together.
// [[Rcpp::export]]
Rcpp::NumericMatrix replicate_draws_cpp(int count, int replicates, double first, double seed,
                                        Rcpp::List run) {
  Rcpp::NumericMatrix to = Rcpp::no_init(count, replicates);
  const std::size_t rows = static_cast<std::size_t>(count);
  const std::uint64_t key = whole_number<std::uint64_t>(seed);
  const std::uint32_t from = whole_number<std::uint32_t>(first);
  double* const numbers = to.begin();
  parallel_for(static_cast<std::size_t>(replicates), unpack_silent_run(run).parallel,
               [&](std::size_t b, int) {
                 for (std::size_t i = 0; i < rows; ++i) {
                   UniformStream uniform(key, from + static_cast<std::uint32_t>(b),
                                         static_cast<std::uint32_t>(i));
                   numbers[b * rows + i] = uniform.next();
                 }
               });
  return to;
}
