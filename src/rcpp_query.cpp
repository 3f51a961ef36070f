// R to core: the mass of a density in boxes, and the rows in boxes.
#include "core/query/normal_mixture.hpp"
#include "core/query/query.hpp"
#include "rcpp_run.hpp"
#include "rcpp_sample.hpp"

using namespace kestrel;

namespace {

/// Boxes, and the estimate to which the query refers.
struct Boxes {
  Rcpp::NumericMatrix lower, upper, root;
  KernelChoice kernel;
  int of;  // the number of the variable asked for, counted from one, or 0
};

Boxes unpack_boxes(const Rcpp::List& list) {
  const Fields fields(list, "a task of boxes",
                      {"lower", "upper", "root", "kernel", "kernel_type", "of"});
  return {fields.get<Rcpp::NumericMatrix>("lower"), fields.get<Rcpp::NumericMatrix>("upper"),
          fields.get<Rcpp::NumericMatrix>("root"),
          choice(fields.get<std::string>("kernel"), fields.get<std::string>("kernel_type")),
          fields.get<int>("of")};
}

}  // namespace

// [[Rcpp::export]]
Rcpp::List query_boxes_cpp(Rcpp::List sample, Rcpp::List task, Rcpp::List run) {
  const Sample data = unpack_sample(sample);
  const Boxes boxes = unpack_boxes(task);
  const QueryAnswers answers =
      query_boxes({data.x, data.w, boxes.kernel, entries(boxes.root)}, view(boxes.lower),
                  view(boxes.upper), boxes.of - 1, unpack_run(run));
  return Rcpp::List::create(Rcpp::Named("share") = answers.share,
                            Rcpp::Named("mean") = answers.mean,
                            Rcpp::Named("var") = answers.variance);
}

// [[Rcpp::export]]
Rcpp::NumericVector query_rows_cpp(Rcpp::List sample, Rcpp::NumericMatrix lower,
                                   Rcpp::NumericMatrix upper, Rcpp::List run) {
  const Sample data = unpack_sample(sample);
  return Rcpp::wrap(query_rows(data.x, data.w, view(lower), view(upper), unpack_run(run)));
}

/// The number of terms of a normal kernel for each observation, and the maximum number.
// [[Rcpp::export]]
Rcpp::NumericVector query_terms_cpp(Rcpp::NumericMatrix root) {
  const std::size_t d = static_cast<std::size_t>(root.ncol());
  return Rcpp::NumericVector::create(normal_mixture_terms(d, entries(root)), kMaxTerms);
}
