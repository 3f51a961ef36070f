// R to core: sums over all pairs of a sample, by the engine and in the place that suit them.
#include "rcpp_pairs.hpp"

#include <string>
#include <utility>

#include "core/criteria/fallback_pairs.hpp"
#include "core/criteria/fourier_pairs.hpp"
#include "core/criteria/line_pairs.hpp"
#include "core/direct/engine.hpp"
#include "core/fourier/engine.hpp"
#include "core/plan/pair_plan.hpp"
#include "gpu/device_pairs.hpp"
#include "rcpp_fields.hpp"
#include "rcpp_run.hpp"
#include "rcpp_sample.hpp"
#include "rcpp_util.hpp"

using namespace kestrel;

namespace {

PairUse use_of(const std::string& name) {
  if (name == "search") return PairUse::search;
  if (name == "curve") return PairUse::curve;
  return name == "once" ? PairUse::once : PairUse::functional;
}

/// What R asks for; matrices of R are alive as long as its list.
struct PairRequest {
  std::string engine;  // "auto" if the user named none
  PairUse use;
  Kernel kernel;
  double n;                  // the effective number of samples
  std::size_t bandwidths;    // of a curve
  double bandwidth;          // on a line, 0 if there are several
  Rcpp::NumericMatrix axes;  // of the samples A (x - m); without columns for x itself
  SampleMean mean;
  FourierDemand demand;
};

PairRequest unpack_request(const Rcpp::List& list) {
  const Fields fields(
      list, "a task of pairs",
      {"engine", "use", "kernel", "n", "bandwidths", "bandwidth", "axes", "mean", "grid"});
  PairRequest asked{fields.get<std::string>("engine"),
                    use_of(fields.get<std::string>("use")),
                    kernel_of_name(fields.get<std::string>("kernel")),
                    fields.get<double>("n"),
                    static_cast<std::size_t>(fields.get<double>("bandwidths")),
                    fields.get<double>("bandwidth"),
                    Rcpp::NumericMatrix(0, 0),
                    {},
                    {}};
  if (!Rf_isNull(fields.optional("axes"))) {
    asked.axes = fields.get<Rcpp::NumericMatrix>("axes");
    asked.mean = unpack_mean(fields.get<Rcpp::NumericMatrix>("mean"));
  }
  if (Rf_isNull(fields.optional("grid"))) return asked;
  const Fields grid(fields.get<Rcpp::List>("grid"), "a task of a grid",
                    {"root", "range", "tol", "phases"});
  const Rcpp::NumericMatrix root = grid.get<Rcpp::NumericMatrix>("root");
  const Rcpp::NumericVector range = grid.get<Rcpp::NumericVector>("range");
  asked.demand.root.assign(root.begin(), root.end());
  asked.demand.min = range[0];
  asked.demand.max = range[1];
  asked.demand.density_tolerance = grid.get<double>("tol");
  asked.demand.phases = grid.get<bool>("phases");
  return asked;
}

/// For the choice between the CPU and a device.
ExpectedWork expected_work(const Sample& sample, const PairRequest& asked, const Run& run) {
  // With its gradient.
  constexpr double kEvaluationsOfSearch = 50;
  const double n = static_cast<double>(sample.n());
  const double density = direct_seconds({}, sample.d(), n, n, 0, run.table->lanes);
  const double evaluations = asked.use == PairUse::search ? kEvaluationsOfSearch : 1;
  return {evaluations, density / run.parallel.threads};
}

std::unique_ptr<PairSums> direct_pairs(const Sample& sample, const PairRequest& asked,
                                       const Run& run) {
  auto pairs = std::make_unique<DevicePairs>(sample, entries(asked.axes), asked.mean, run.place(),
                                             run.single, expected_work(sample, asked, run), run);
  // A search stays where it began. A functional decides by its order.
  if (asked.use == PairUse::search) pairs->settle(gradient_work(sample.d()));
  if (asked.use == PairUse::curve || asked.use == PairUse::once) {
    pairs->settle(curve_work(sample.d(), asked.bandwidths));
  }
  return pairs;
}

std::string chosen_engine(const Sample& sample, const PairRequest& asked, const Run& run) {
  if (asked.engine != "auto") return asked.engine;
  PairTask task;
  task.n = asked.n;
  task.d = sample.d();
  task.use = asked.use;
  task.kernel = asked.kernel;
  task.lanes = run.table->lanes;
  task.device = run.backend == Backend::cuda;
  if (task.d == 1 && asked.bandwidth > 0) {
    const std::vector<double>& range = sample.ranges(part_of(run.parallel, 0, 0));
    task.n = static_cast<double>(sample.n());
    task.spread = (range[1] - range[0]) / asked.bandwidth;
  }
  return plan_pair_sums(task);
}

std::unique_ptr<PairSums> make_pairs(const Sample& sample, const PairRequest& asked,
                                     const Run& run) {
  const std::string engine = chosen_engine(sample, asked, run);
  if (engine == "fgt") return std::make_unique<FgtPairs>(sample, run);
  if (engine == "sweep") return std::make_unique<SweepPairs>(sample, run);
  if (engine == "direct") return direct_pairs(sample, asked, run);
  const auto fourier = [&]() -> std::unique_ptr<PairSums> {
    auto pairs = std::make_unique<FourierPairs>(sample, asked.demand, entries(asked.axes), run);
    // A density that follows may be read off its modes.
    sample.prepared<ModesOfSample>([&sample] {
      return std::make_unique<ModesOfSample>(
          ModesOfSample{[&sample] { return sample.found<FourierSums>()->kept_modes(); }});
    });
    return pairs;
  };
  // Unless the user asked for that engine, and unless they would take hours, direct sums take over
  // where its grid would need too much memory.
  const bool few = static_cast<double>(sample.n()) <= kFewEnoughForDirect;
  if (asked.engine != "auto" || !few) return fourier();
  return std::make_unique<FallbackPairs>(
      sample, fourier, [&sample, asked, run] { return direct_pairs(sample, asked, run); }, run);
}

}  // namespace

/// Sums that several criteria and functionals share, as a pointer. `use` says what for, as in
/// core/plan/pair_plan.hpp; `grid` is for the engine "fourier".
// [[Rcpp::export]]
SEXP pairs_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  const PairRequest asked = unpack_request(task);
  const Run how = unpack_run(run);
  return translate_errors([&] {
    auto held = std::make_unique<HeldPairs>();
    held->sample = sample;
    held->kernel = asked.kernel;
    held->sums = make_pairs(sample_of(sample), asked, how);
    return Rcpp::XPtr<HeldPairs>(held.release());
  });
}

/// Where the sums were computed: engine, backend and, if it was one, the device.
// [[Rcpp::export]]
Rcpp::List pairs_by_cpp(SEXP pairs) {
  const PairSums* sums = pairs_of(pairs).sums.get();
  if (const auto* either = dynamic_cast<const FallbackPairs*>(sums)) sums = &either->used();
  const auto* direct = dynamic_cast<const DevicePairs*>(sums);
  Rcpp::List by = direct == nullptr ? Rcpp::List::create(Rcpp::Named("backend") = "cpu")
                                    : place_list(direct->place());
  by.push_front(sums->engine(), "engine");
  return by;
}

/// The engine for sums over pairs in two dimensions or more, on the CPU.
// [[Rcpp::export]]
std::string plan_pairs_cpp(double n, int d, std::string use) {
  PairTask task;
  task.n = n;
  task.d = static_cast<std::size_t>(d);
  task.use = use_of(use);
  return plan_pair_sums(task);
}
