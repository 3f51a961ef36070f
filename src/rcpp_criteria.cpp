// R to core: what selectors of a bandwidth minimise, and what they estimate on the way, of the sums
// of pairs_cpp().
#include <string>
#include <vector>

#include "core/criteria/criteria.hpp"
#include "core/fgt/image_sums.hpp"
#include "core/fourier/image_functionals.hpp"
#include "rcpp_fields.hpp"
#include "rcpp_pairs.hpp"
#include "rcpp_run.hpp"
#include "rcpp_sample.hpp"
#include "rcpp_util.hpp"

using namespace kestrel;

namespace {

LscvForm form_of(const Fields& fields) {
  return fields.get<std::string>("form") == "paper" ? LscvForm::paper : LscvForm::unbiased;
}

/// A number, with the attribute `gradient` if there is one.
Rcpp::NumericVector with_gradient(const SumWithGradient& found, std::size_t d) {
  Rcpp::NumericVector value = Rcpp::NumericVector::create(found.value);
  if (found.gradient.empty()) return value;
  const int size = static_cast<int>(d);
  value.attr("gradient") = Rcpp::NumericMatrix(size, size, found.gradient.begin());
  return value;
}

/// Functionals of one order.
struct Functionals {
  Rcpp::NumericVector g;
  int order;
};

Functionals unpack_functionals(const Rcpp::List& list) {
  const Fields fields(list, "a task of functionals", {"g", "order"});
  return {fields.get<Rcpp::NumericVector>("g"), fields.get<int>("order")};
}

/// Bounds of a variable: the lower, the upper, and whether they are the ends of a period.
ReflectingAxis unpack_bounds(const Rcpp::NumericVector& bounds) {
  return {bounds[0], bounds[1], 0, bounds[2] > 0};
}

/// As a share of all pairs.
Rcpp::NumericVector in_shares(const std::vector<double>& sums, double weight) {
  Rcpp::NumericVector shares = Rcpp::wrap(sums);
  for (double& share : shares) share = share / weight / weight;
  return shares;
}

}  // namespace

// [[Rcpp::export]]
Rcpp::NumericVector lscv_cpp(SEXP pairs, Rcpp::List task, Rcpp::List run) {
  const Fields fields(task, "a task of LSCV", {"H", "form", "gradient"});
  const Rcpp::NumericMatrix H = fields.get<Rcpp::NumericMatrix>("H");
  PairSums& sums = *pairs_of(pairs).sums;
  return with_gradient(translate_errors([&] {
                         return lscv(sums, entries(H), form_of(fields),
                                     fields.get<bool>("gradient"), unpack_run(run));
                       }),
                       sums.d());
}

/// For derivatives of an order of a density.
// [[Rcpp::export]]
Rcpp::NumericVector derivative_lscv_cpp(SEXP pairs, Rcpp::List task, Rcpp::List run) {
  const Fields fields(task, "a task of LSCV for derivatives", {"H", "order", "gradient"});
  const Rcpp::NumericMatrix H = fields.get<Rcpp::NumericMatrix>("H");
  PairSums& sums = *pairs_of(pairs).sums;
  return with_gradient(translate_errors([&] {
                         return derivative_lscv(sums, entries(H), fields.get<int>("order"),
                                                fields.get<bool>("gradient"), unpack_run(run));
                       }),
                       sums.d());
}

/// The same of SCV.
// [[Rcpp::export]]
Rcpp::NumericVector derivative_scv_cpp(SEXP pairs, Rcpp::List task, Rcpp::List run) {
  const Fields fields(task, "a task of SCV for derivatives", {"H", "G", "order", "gradient"});
  const Rcpp::NumericMatrix H = fields.get<Rcpp::NumericMatrix>("H"),
                            G = fields.get<Rcpp::NumericMatrix>("G");
  PairSums& sums = *pairs_of(pairs).sums;
  return with_gradient(translate_errors([&] {
                         return derivative_scv(sums, entries(H), entries(G),
                                               fields.get<int>("order"),
                                               fields.get<bool>("gradient"), unpack_run(run));
                       }),
                       sums.d());
}

/// At h^2 S for every h, with the kernel of the sums.
// [[Rcpp::export]]
Rcpp::NumericVector lscv_curve_cpp(SEXP pairs, Rcpp::List task, Rcpp::List run) {
  const Fields fields(task, "a task of a curve", {"S", "h", "form"});
  const Rcpp::NumericMatrix S = fields.get<Rcpp::NumericMatrix>("S");
  const Rcpp::NumericVector h = fields.get<Rcpp::NumericVector>("h");
  const HeldPairs& held = pairs_of(pairs);
  return Rcpp::wrap(translate_errors([&] {
    return lscv_curve(*held.sums, entries(S), view(h), held.kernel, form_of(fields),
                      unpack_run(run));
  }));
}

/// At one H with its gradient, or on a line at several.
// [[Rcpp::export]]
Rcpp::NumericVector scv_cpp(SEXP pairs, Rcpp::List task, Rcpp::List run) {
  const Fields fields(task, "a task of SCV", {"H", "G", "gradient"});
  const Rcpp::NumericVector H = fields.get<Rcpp::NumericVector>("H"),
                            G = fields.get<Rcpp::NumericVector>("G");
  PairSums& sums = *pairs_of(pairs).sums;
  const std::vector<SumWithGradient> found = translate_errors(
      [&] { return scv(sums, view(H), view(G), fields.get<bool>("gradient"), unpack_run(run)); });
  if (found.size() == 1) return with_gradient(found[0], sums.d());
  Rcpp::NumericVector values;
  for (const SumWithGradient& one : found) values.push_back(one.value);
  return values;
}

/// psi_r(g) of one order, for all multi-indices r.
// [[Rcpp::export]]
Rcpp::NumericVector psi_cpp(SEXP pairs, Rcpp::List task, Rcpp::List run) {
  const Functionals asked = unpack_functionals(task);
  return Rcpp::wrap(translate_errors([&] {
    return psi(*pairs_of(pairs).sums, Rcpp::as<double>(asked.g), asked.order, unpack_run(run));
  }));
}

/// The integrals of iterated Laplacians for every g; on a line psi_r(g).
// [[Rcpp::export]]
Rcpp::NumericVector eta_cpp(SEXP pairs, Rcpp::List task, Rcpp::List run) {
  const Functionals asked = unpack_functionals(task);
  return Rcpp::wrap(translate_errors(
      [&] { return eta(*pairs_of(pairs).sums, view(asked.g), asked.order, unpack_run(run)); }));
}

/// What images of the samples of a line add to psi_r(g), for every g. Images are those of bounds,
/// see unpack_bounds().
// [[Rcpp::export]]
Rcpp::NumericVector image_psi_cpp(SEXP sample, Rcpp::List task, Rcpp::NumericVector bounds,
                                  Rcpp::List run) {
  const Functionals asked = unpack_functionals(task);
  const Run how = unpack_run(run);
  const LineSample& line = line_sample(sample_of(sample), how);
  return in_shares(translate_errors([&] {
                     return fgt_image_psi(line, unpack_bounds(bounds), view(asked.g), asked.order,
                                          how);
                   }),
                   line.weights(part_of(how.parallel, 0, 0)).sum);
}

/// What pairs of a sample with its own images add to psi_0(g), for every g.
// [[Rcpp::export]]
Rcpp::NumericVector own_images_cpp(SEXP sample, Rcpp::NumericVector g, Rcpp::NumericVector bounds,
                                   Rcpp::List run) {
  const Run how = unpack_run(run);
  const Sample& of = sample_of(sample);
  const LineSample& line = line_sample(of, how);
  const SquaredWeights* squared = of.found<SquaredWeights>();
  return in_shares(translate_errors([&] {
                     return fgt_own_images(line, squared, unpack_bounds(bounds), view(g), how);
                   }),
                   line.weights(part_of(how.parallel, 0, 0)).sum);
}

/// psi_r of a sketch of several variables with the images of its samples, for all multi-indices r
/// of one order. g: a bandwidth for each variable; bounds: a column for each, see unpack_bounds().
// [[Rcpp::export]]
Rcpp::NumericVector image_functionals_cpp(SEXP sample, Rcpp::List task, Rcpp::NumericMatrix bounds,
                                          Rcpp::List run) {
  const Functionals asked = unpack_functionals(task);
  std::vector<ReflectingAxis> axes;
  for (int k = 0; k < bounds.ncol(); ++k) axes.push_back(unpack_bounds(bounds.column(k)));
  return Rcpp::wrap(translate_errors([&] {
    return image_functionals(sample_of(sample), view(asked.g), asked.order, axes, unpack_run(run));
  }));
}
