// R to core: the mass of a density in boxes, and the rows in boxes.
#include "core/query/normal_mixture.hpp"
#include "core/query/orthants.hpp"
#include "core/query/query.hpp"
#include "rcpp_fields.hpp"
#include "rcpp_run.hpp"
#include "rcpp_sample.hpp"
#include "rcpp_util.hpp"

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

/// A grid, the estimate, and the side of its points that is asked for.
struct Orthants {
  KeptAxes axes;
  Rcpp::NumericMatrix root;
  KernelChoice kernel;
  Side side;
};

Orthants unpack_orthants(const Rcpp::List& list) {
  const Fields fields(list, "a task of orthants",
                      {"axes", "root", "kernel", "kernel_type", "upper"});
  return {KeptAxes(fields.get<Rcpp::List>("axes")), fields.get<Rcpp::NumericMatrix>("root"),
          choice(fields.get<std::string>("kernel"), fields.get<std::string>("kernel_type")),
          fields.get<bool>("upper") ? Side::above : Side::below};
}

}  // namespace

// [[Rcpp::export]]
Rcpp::List query_boxes_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  const Sample& data = sample_of(sample);
  const Boxes boxes = unpack_boxes(task);
  const QueryAnswers answers =
      query_boxes({data.x(), data.w(), boxes.kernel, entries(boxes.root)}, view(boxes.lower),
                  view(boxes.upper), boxes.of - 1, unpack_run(run));
  return Rcpp::List::create(Rcpp::Named("share") = answers.share,
                            Rcpp::Named("mean") = answers.mean,
                            Rcpp::Named("var") = answers.variance);
}

// [[Rcpp::export]]
Rcpp::NumericVector query_rows_cpp(SEXP sample, Rcpp::NumericMatrix lower,
                                   Rcpp::NumericMatrix upper, Rcpp::List run) {
  const Sample& data = sample_of(sample);
  return Rcpp::wrap(query_rows(data.x(), data.w(), view(lower), view(upper), unpack_run(run)));
}

/// The share of the density below the points of a grid in every variable, or above them, as a
/// vector.
// [[Rcpp::export]]
Rcpp::NumericVector query_orthants_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  const Sample& data = sample_of(sample);
  const Orthants orthants = unpack_orthants(task);
  std::size_t size = 1;
  for (const Span<const double>& axis : orthants.axes.views) size *= axis.size;
  Rcpp::NumericVector out = uninitialised(size);
  translate_errors([&] {
    orthants_on_grid({data.x(), data.w(), orthants.kernel, entries(orthants.root)},
                     orthants.axes.views, orthants.side, unpack_run(run), {out.begin(), size});
    return 0;
  });
  return out;
}

/// The number of terms of a normal kernel for each observation, and the maximum number.
// [[Rcpp::export]]
Rcpp::NumericVector query_terms_cpp(Rcpp::NumericMatrix root) {
  const std::size_t d = static_cast<std::size_t>(root.ncol());
  return Rcpp::NumericVector::create(normal_mixture_terms(d, entries(root)), kMaxTerms);
}
