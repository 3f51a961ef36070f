// R to core: densities on grids of samples that come chunk by chunk.
//
// As those of sketches, these functions have no generator of random numbers (rng = false), since
// workers of package future call them.
#include <memory>
#include <vector>

#include "core/base/whole.hpp"
#include "core/scanline/total.hpp"
#include "rcpp_fields.hpp"
#include "rcpp_run.hpp"
#include "rcpp_util.hpp"
#include "rcpp_weights.hpp"

using namespace kestrel;

namespace {

/// A total for a plan of R (R/stream-sources.R).
std::unique_ptr<ScanlineTotal> make_total(const Rcpp::List& plan) {
  const Fields fields(plan, "a plan of a stream",
                      {"axes", "root", "kernel", "kernel_type", "column", "weight",
                       "weight_exponent", "first", "count"});
  const KeptAxes given(fields.get<Rcpp::List>("axes"));
  const std::vector<RegularAxis> axes = find_regular_axes(given.views);
  if (axes.empty()) throw error(ErrorKind::unfit, "the steps of an axis are not equal");
  const Rcpp::NumericMatrix root = fields.get<Rcpp::NumericMatrix>("root");
  const KernelChoice kernel =
      choice(fields.get<std::string>("kernel"), fields.get<std::string>("kernel_type"));
  const TotalWeights weights{!fields.get<std::string>("weight").empty(),
                             fields.get<int>("weight_exponent")};
  try {
    return std::make_unique<ScanlineTotal>(
        Span<const RegularAxis>{axes.data(), axes.size()}, kernel, entries(root), weights,
        whole_number<std::size_t>(fields.get<double>("first")) - 1,
        whole_number<std::size_t>(fields.get<double>("count")));
  } catch (const error& problem) {
    if (problem.kind == ErrorKind::input) throw error(ErrorKind::unfit, problem.what());
    throw;
  }
}

ScanlineTotal& total_at(SEXP pointer) { return *Rcpp::XPtr<ScanlineTotal>(pointer); }

}  // namespace

/// A pointer to the sums of a plan, without samples.
// [[Rcpp::export(rng = false)]]
SEXP new_total_cpp(Rcpp::List plan) {
  return translate_errors(
      [&] { return SEXP(Rcpp::XPtr<ScanlineTotal>(make_total(plan).release())); });
}

/// Adds samples, a vector or a matrix, and their weights, NULL if the plan has none.
// [[Rcpp::export(rng = false)]]
void add_to_total_cpp(SEXP total, SEXP x, SEXP w, Rcpp::List run) {
  const HeldDoubles rows(x);
  const MatrixView samples = rows.columns();
  const Weights weights = Rf_isNull(w) ? Weights::ones(samples.rows) : weights_of(w);
  total_at(total).add(samples, weights, unpack_silent_run(run));
}

/// What is known of the samples when all have been added: their number and their effective number.
// [[Rcpp::export(rng = false)]]
Rcpp::List settle_total_cpp(SEXP total, Rcpp::List run) {
  ScanlineTotal& sums = total_at(total);
  sums.settle(unpack_silent_run(run));
  return Rcpp::List::create(Rcpp::Named("n") = static_cast<double>(sums.samples()),
                            Rcpp::Named("n_eff") = sums.effective_samples());
}

/// The sums of a total that is settled, for another one of the same plan.
// [[Rcpp::export(rng = false)]]
Rcpp::RawVector total_bytes_cpp(SEXP total, Rcpp::List run) {
  const ScanlineTotal& sums = total_at(total);
  Rcpp::RawVector bytes = Rcpp::no_init(static_cast<R_xlen_t>(sums.bytes()));
  sums.write(unpack_silent_run(run), {bytes.begin(), sums.bytes()});
  return bytes;
}

// [[Rcpp::export(rng = false)]]
void merge_total_cpp(SEXP total, Rcpp::RawVector bytes, Rcpp::List run) {
  total_at(total).merge({bytes.begin(), static_cast<std::size_t>(bytes.size())},
                        unpack_silent_run(run));
}

/// The density of a total that is settled at indices first, ..., first + count - 1 of the last
/// axis, counted from one.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector total_slab_cpp(SEXP total, double first, double count, Rcpp::List run) {
  const ScanlineTotal& sums = total_at(total);
  const std::size_t slices = whole_number<std::size_t>(count), size = slices * sums.points();
  Rcpp::NumericVector out = uninitialised(size);
  sums.slab(whole_number<std::size_t>(first) - 1, slices, unpack_silent_run(run),
            {out.begin(), size});
  return out;
}

/// Frees the memory of a total at once. It cannot be used afterwards.
// [[Rcpp::export(rng = false)]]
void close_total_cpp(SEXP total) { Rcpp::XPtr<ScanlineTotal>(total).release(); }
