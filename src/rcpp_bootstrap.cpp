// R to core: the smoothed bootstrap. The core takes the fastest axis of a grid last, R first: the
// variables and axes that come here are in reverse order.
#include "core/base/whole.hpp"
#include "core/bootstrap/bootstrap.hpp"
#include "core/bootstrap/lattice.hpp"
#include "rcpp_fields.hpp"
#include "rcpp_run.hpp"
#include "rcpp_sample.hpp"
#include "rcpp_util.hpp"

using namespace kestrel;

namespace {

/// A key from two whole numbers below 2^32, as R keeps them.
std::uint64_t key_of(const Rcpp::NumericVector& key) {
  return whole_number<std::uint64_t>(key[0]) << 32 | whole_number<std::uint64_t>(key[1]);
}

/// The task: squared errors at bandwidths h for samples of a size; h and h0 are multiples of a
/// root.
struct Bootstrap {
  Rcpp::NumericMatrix root;
  double h0;
  Rcpp::NumericVector h, target;
  KeptAxes axes, widths;
  std::size_t size;
  std::uint64_t key;
  int replicates;
};

Bootstrap unpack_bootstrap(const Rcpp::List& list) {
  const Fields fields(list, "a task of a bootstrap",
                      {"root", "h0", "h", "axes", "widths", "target", "size", "key", "replicates"});
  return {fields.get<Rcpp::NumericMatrix>("root"),
          fields.get<double>("h0"),
          fields.get<Rcpp::NumericVector>("h"),
          fields.get<Rcpp::NumericVector>("target"),
          KeptAxes(fields.get<Rcpp::List>("axes")),
          KeptAxes(fields.get<Rcpp::List>("widths")),
          whole_number<std::size_t>(fields.get<double>("size")),
          key_of(fields.get<Rcpp::NumericVector>("key")),
          fields.get<int>("replicates")};
}

}  // namespace

/// One row a replicate, one column a bandwidth.
// [[Rcpp::export]]
Rcpp::NumericMatrix boot_errors_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  const Sample& data = sample_of(sample);
  const Bootstrap boot = unpack_bootstrap(task);
  const SmoothedSample samples(data.x(), data.w(), entries(boot.root), boot.h0, boot.size,
                               boot.key);
  const SquaredErrors errors({boot.axes.views, boot.widths.views}, entries(boot.root), view(boot.h),
                             view(boot.target));
  Rcpp::NumericMatrix out(boot.replicates, static_cast<int>(boot.h.size()));
  bootstrap_errors(samples, errors, static_cast<std::size_t>(boot.replicates), unpack_run(run),
                   {out.begin(), static_cast<std::size_t>(out.size())});
  return out;
}

/// Estimates at points, a row for each, from samples of the cells of a lattice: the first column is
/// their expectation, the others are replicates.
// [[Rcpp::export]]
Rcpp::NumericMatrix boot_lattice_cpp(Rcpp::List task, Rcpp::List run) {
  const Fields fields(task, "a task of a lattice",
                      {"weight", "position", "cell", "factor", "h", "order", "points", "size",
                       "key", "replicates"});
  const auto weight = fields.get<Rcpp::NumericVector>("weight"),
             position = fields.get<Rcpp::NumericVector>("position"),
             factor = fields.get<Rcpp::NumericVector>("factor"),
             h = fields.get<Rcpp::NumericVector>("h"),
             points = fields.get<Rcpp::NumericVector>("points");
  const auto cell = fields.get<Rcpp::IntegerVector>("cell");
  const int replicates = fields.get<int>("replicates");
  Rcpp::NumericMatrix out(static_cast<int>(points.size()), replicates + 1);
  lattice_replicates(Multinomial(view(weight)),
                     {view(position), {cell.begin(), static_cast<std::size_t>(cell.size())}},
                     {view(factor), view(h), fields.get<int>("order")}, view(points),
                     fields.get<double>("size"), key_of(fields.get<Rcpp::NumericVector>("key")),
                     static_cast<std::size_t>(replicates), unpack_run(run),
                     {out.begin(), static_cast<std::size_t>(out.size())});
  return out;
}
