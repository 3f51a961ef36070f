// R to core: sketches of samples on a line.
//
// R keeps a sketch as its bytes (core/sketch/sketch_bytes.hpp). While one grows, chunk by chunk, it
// holds a pointer to it.
//
// These functions, and others that kde_sketch() calls, have no generator of random numbers (rng =
// false). Rcpp would seed it in a new process, and package future would report that a worker drew
// random numbers.
#include <string>
#include <utility>
#include <vector>

#include "core/base/whole.hpp"
#include "core/sketch/sketch_builder.hpp"
#include "core/sketch/sketch_bytes.hpp"
#include "core/sketch/sketch_sample.hpp"
#include "rcpp_fields.hpp"
#include "rcpp_run.hpp"
#include "rcpp_sample.hpp"
#include "rcpp_util.hpp"

using namespace kestrel;

/// The name of this type is the class of the condition in R (rcpp_util.hpp).
struct kestrel_core_sketch : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace {

/// A sample of a sketch, which it keeps.
class HeldSketch : public HeldSample {
 public:
  HeldSketch(LineSketch sketch, const RunOptions& options)
      : sketch_(std::move(sketch)), sample_(sample_of_sketch(sketch_, options)) {}

  const Sample& sample() const override { return *sample_; }

 private:
  const LineSketch sketch_;
  const std::unique_ptr<const Sample> sample_;
};

LineSketch read_sketch(const Rcpp::RawVector& bytes) {
  try {
    return sketch_of({bytes.begin(), static_cast<std::size_t>(bytes.size())});
  } catch (const error& problem) {
    if (problem.kind == ErrorKind::input) throw kestrel_core_sketch(problem.what());
    throw;
  }
}

Rcpp::RawVector raw_of(const LineSketch& sketch) {
  const std::vector<unsigned char> bytes = bytes_of(sketch);
  return Rcpp::RawVector(bytes.begin(), bytes.end());
}

SketchPlan unpack_plan(const Rcpp::List& list) {
  const Fields fields(list, "a plan of sketches",
                      {"exponent", "column", "weight", "weight_exponent"});
  return {fields.get<int>("exponent"), fields.get<std::string>("column"),
          fields.get<std::string>("weight"), fields.get<int>("weight_exponent")};
}

SketchBuilder& builder_at(SEXP pointer) { return *Rcpp::XPtr<SketchBuilder>(pointer); }

Rcpp::String utf8(const std::string& text) { return Rcpp::String(text, CE_UTF8); }

}  // namespace

/// The exponent of the widest cells that serve sums over pairs from this bandwidth on.
// [[Rcpp::export(rng = false)]]
int sketch_exponent_cpp(double bandwidth) { return exponent_for(bandwidth); }

/// A pointer to a sketch that grows, without samples.
// [[Rcpp::export(rng = false)]]
SEXP new_sketch_cpp(Rcpp::List plan) {
  return Rcpp::XPtr<SketchBuilder>(new SketchBuilder(LineSketch(unpack_plan(plan))));
}

/// The same with the samples of a sketch.
// [[Rcpp::export(rng = false)]]
SEXP read_sketch_cpp(Rcpp::RawVector bytes) {
  return Rcpp::XPtr<SketchBuilder>(new SketchBuilder(read_sketch(bytes)));
}

// [[Rcpp::export(rng = false)]]
Rcpp::RawVector sketch_bytes_cpp(SEXP sketch, Rcpp::List run) {
  return raw_of(builder_at(sketch).sum(unpack_silent_run(run)));
}

/// Adds samples, all finite and not too large for the cells, to the sketch of a pointer. w: their
/// weights, NULL if the plan has none.
// [[Rcpp::export(rng = false)]]
void add_to_sketch_cpp(SEXP sketch, SEXP x, SEXP w, Rcpp::List run) {
  const Span<const double> values = HeldDoubles(x).values();
  const bool weighted = !Rf_isNull(w);
  builder_at(sketch).add(values, weighted ? weights_of(w) : Weights::ones(values.size),
                         unpack_run(run));
}

/// The sum of several sketches, given as bytes, of one plan.
// [[Rcpp::export(rng = false)]]
Rcpp::RawVector merge_sketches_cpp(Rcpp::List sketches, Rcpp::List run) {
  LineSketch sum = read_sketch(sketches[0]);
  const Run how = unpack_run(run);
  for (R_xlen_t k = 1; k < sketches.size(); ++k) {
    sum.merge(read_sketch(sketches[k]), *how.table);
    poll_if_due(how.parallel);
  }
  return raw_of(sum);
}

/// What R says of a sketch.
// [[Rcpp::export(rng = false)]]
Rcpp::List sketch_info_cpp(Rcpp::RawVector bytes) {
  const LineSketch sketch = read_sketch(bytes);
  Rcpp::List info = Rcpp::List::create(
      Rcpp::Named("exponent") = sketch.plan().exponent,
      Rcpp::Named("column") = utf8(sketch.plan().column),
      Rcpp::Named("weight") = utf8(sketch.plan().weight),
      Rcpp::Named("weight_exponent") = sketch.plan().weight_exponent,
      Rcpp::Named("n") = static_cast<double>(sketch.n()),
      Rcpp::Named("range") = Rcpp::NumericVector::create(sketch.range().min, sketch.range().max),
      Rcpp::Named("kept") = static_cast<double>(sketch.kept().size()),
      Rcpp::Named("full") = static_cast<double>(sketch.full().size()),
      Rcpp::Named("sums") = least_sum_bandwidth(sketch),
      Rcpp::Named("density") = least_density_bandwidth(sketch));
  if (sketch.n() == 0) return info;
  const SampleCovariance moments = sketch.moments();
  info.push_back(moments.mean.first[0] + moments.mean.second[0], "mean");
  info.push_back(moments.covariance[0], "variance");
  const WeightSums weights = sketch.weight_sums();
  info.push_back(weights.sum * weights.sum / weights.squares, "n_eff");
  info.push_back(sketch.in_units(weights.sum) / static_cast<double>(sketch.n()), "mean_units");
  return info;
}

/// Of type 7, to the width of a cell.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector sketch_quantiles_cpp(Rcpp::RawVector bytes, Rcpp::NumericVector prob) {
  return Rcpp::wrap(quantiles_of(read_sketch(bytes), view(prob)));
}

/// Of a sketch without weights: the samples that are kept, the keys of the full cells, and their
/// sums as two matrices, a column for each cell: hi 2^22 + lo, in quanta.
// [[Rcpp::export(rng = false)]]
Rcpp::List sketch_parts_cpp(Rcpp::RawVector bytes) {
  constexpr int kLowBits = 22;
  const LineSketch sketch = read_sketch(bytes);
  const int cells = static_cast<int>(sketch.full().size());
  Rcpp::NumericMatrix high(LineSketch::kMoments, cells), low(LineSketch::kMoments, cells);
  for (int k = 0; k < cells; ++k) {
    const WideInteger* sums = sketch.sums(static_cast<std::size_t>(k));
    for (int a = 0; a < LineSketch::kMoments; ++a) {
      const WideInteger top = sums[a].shifted_down(kLowBits);
      WideInteger rest = sums[a];
      rest += -top.shifted(kLowBits);
      high(a, k) = top.value();
      low(a, k) = rest.value();
    }
  }
  return Rcpp::List::create(Rcpp::Named("kept") = Rcpp::wrap(sketch.kept().x),
                            Rcpp::Named("key") = Rcpp::wrap(sketch.full()),
                            Rcpp::Named("hi") = high, Rcpp::Named("lo") = low);
}

/// The bytes of the sketch without weights with these parts; sums as sketch_parts_cpp() has them,
/// of whole numbers below 2^53.
// [[Rcpp::export(rng = false)]]
Rcpp::RawVector sketch_of_parts_cpp(Rcpp::List plan, Rcpp::List parts) {
  const Fields fields(parts, "parts of a sketch", {"kept", "key", "hi", "lo", "range"});
  const std::vector<double> range = fields.get<std::vector<double>>("range"),
                            high = fields.get<std::vector<double>>("hi"),
                            low = fields.get<std::vector<double>>("lo");
  std::vector<WideInteger> sums;
  for (std::size_t k = 0; k < high.size(); ++k) {
    sums.push_back(WideInteger(whole_number<std::int64_t>(high[k])).shifted(22));
    sums.back() += WideInteger(whole_number<std::int64_t>(low[k]));
  }
  try {
    return raw_of(LineSketch::of_parts(unpack_plan(plan), {range[0], range[1]},
                                       {HUGE_VAL, -HUGE_VAL},
                                       {fields.get<std::vector<double>>("kept"), {}},
                                       fields.get<std::vector<double>>("key"), std::move(sums)));
  } catch (const error& problem) {
    if (problem.kind == ErrorKind::input) throw kestrel_core_sketch(problem.what());
    throw;
  }
}

/// The sample of a sketch with a sample at least, as sample_cpp() makes one of data.
// [[Rcpp::export(rng = false)]]
SEXP sketch_sample_cpp(Rcpp::RawVector bytes, Rcpp::List run) {
  return Rcpp::XPtr<HeldSample>(new HeldSketch(read_sketch(bytes), unpack_silent_run(run)));
}
