// R to core: sketches of samples on a line, and of two or three variables.
//
// R keeps a sketch as its bytes (core/sketch/sketch_bytes.hpp). While one grows, chunk by chunk, it
// holds a pointer to it.
//
// These functions, and others that kde_sketch() calls, have no generator of random numbers (rng =
// false). Rcpp would seed it in a new process, and package future would report that a worker drew
// random numbers.
#include "rcpp_sketch.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/sketch/circular_grid.hpp"
#include "core/sketch/circular_sample.hpp"
#include "core/sketch/grid_modes.hpp"
#include "core/sketch/sketch_builder.hpp"
#include "core/sketch/sketch_sample.hpp"
#include "rcpp_run.hpp"
#include "rcpp_sample.hpp"
#include "rcpp_util.hpp"

using namespace kestrel;

namespace {

/// A sample of a sketch, which it keeps.
template <class Sketch>
class HeldSketch : public HeldSample {
 public:
  template <class Make>
  HeldSketch(Sketch sketch, const Make& make)
      : sketch_(std::move(sketch)), sample_(make(sketch_)) {}

  const Sample& sample() const override { return *sample_; }
  const Sketch& sketch() const { return sketch_; }

 private:
  const Sketch sketch_;
  const std::unique_ptr<const Sample> sample_;
};

/// What bytes were read as: a sketch of either kind.
struct ReadSketch {
  std::unique_ptr<LineSketch> line;
  std::unique_ptr<GridSketch> grid;
};

ReadSketch& read_at(SEXP pointer) { return *Rcpp::XPtr<ReadSketch>(pointer).checked_get(); }

/// A sketch that grows, which R holds a pointer to.
class GrowingSketch {
 public:
  virtual ~GrowingSketch() = default;
  virtual void add(SEXP x, SEXP w, const Run& run) = 0;
  virtual Rcpp::RawVector bytes(const Run& run) = 0;
};

Weights weights_or_ones(SEXP w, std::size_t n) {
  return Rf_isNull(w) ? Weights::ones(n) : weights_of(w);
}

class GrowingLine : public GrowingSketch {
 public:
  explicit GrowingLine(const LineSketch& sketch) : builder_(sketch) {}
  void add(SEXP x, SEXP w, const Run& run) override {
    const Span<const double> values = HeldDoubles(x).values();
    builder_.add(values, weights_or_ones(w, values.size), run);
  }
  Rcpp::RawVector bytes(const Run& run) override { return raw_of(builder_.sum(run)); }

 private:
  SketchBuilder builder_;
};

class GrowingGrid : public GrowingSketch {
 public:
  explicit GrowingGrid(GridSketch sketch) : sketch_(std::move(sketch)) {}
  void add(SEXP x, SEXP w, const Run& run) override {
    const HeldDoubles held(x);
    const MatrixView rows = held.columns();
    sketch_.add(rows, weights_or_ones(w, rows.rows), run);
  }
  Rcpp::RawVector bytes(const Run& run) override {
    sketch_.settle(run);
    return raw_of(sketch_);
  }

 private:
  GridSketch sketch_;
};

GrowingSketch& growing_at(SEXP pointer) { return *Rcpp::XPtr<GrowingSketch>(pointer); }

Rcpp::String utf8(const std::string& text) { return Rcpp::String(text, CE_UTF8); }

/// What R says of a sketch of several variables: as of one, but `full` counts tiles, and the range,
/// the mean and the covariance have a column for each variable.
Rcpp::List grid_info(const GridSketch& sketch) {
  const std::size_t d = sketch.d();
  const int columns = static_cast<int>(d);
  Rcpp::CharacterVector names(columns);
  Rcpp::NumericMatrix range(2, columns), covariance(columns, columns);
  Rcpp::NumericVector mean(columns);
  double kept = 0, full = 0, cells = 0;
  for (const GridSketch::Tile* tile : sketch.tiles()) {
    kept += static_cast<double>(tile->rows.size() / sketch.width_of_row());
    full += tile->full;
    cells += static_cast<double>(tile->low.size());
  }
  const bool some = sketch.n() > 0;
  const SampleCovariance moments = some ? sketch.moments() : SampleCovariance{};
  for (int k = 0; k < columns; ++k) {
    const std::size_t at = static_cast<std::size_t>(k);
    names[k] = utf8(sketch.plan().column[at]);
    range(0, k) = sketch.ranges()[at].min;
    range(1, k) = sketch.ranges()[at].max;
    if (some) mean[k] = moments.mean.first[at] + moments.mean.second[at];
    for (int l = 0; l < columns && some; ++l) {
      covariance(k, l) = moments.covariance[at * d + static_cast<std::size_t>(l)];
    }
  }
  const std::vector<double> least = least_bandwidths(sketch);
  Rcpp::List info = Rcpp::List::create(
      Rcpp::Named("exponent") = Rcpp::wrap(sketch.plan().exponent), Rcpp::Named("column") = names,
      Rcpp::Named("weight") = utf8(sketch.plan().weight),
      Rcpp::Named("weight_exponent") = sketch.plan().weight_exponent,
      Rcpp::Named("n") = static_cast<double>(sketch.n()), Rcpp::Named("range") = range,
      Rcpp::Named("kept") = kept, Rcpp::Named("full") = full, Rcpp::Named("cells") = cells,
      Rcpp::Named("tied") = ties_of_sketch(sketch).pairs, Rcpp::Named("sums") = Rcpp::wrap(least),
      Rcpp::Named("density") = Rcpp::wrap(least), Rcpp::Named("response") = "",
      Rcpp::Named("response_exponent") = 0, Rcpp::Named("response_origin") = 0.0,
      Rcpp::Named("bounded") = false);
  if (!some) return info;
  const WeightSums weights = sketch.weight_sums();
  info.push_back(mean, "mean");
  info.push_back(covariance, "variance");
  info.push_back(weights.sum * weights.sum / weights.squares, "n_eff");
  info.push_back(sketch.in_units(weights.sum) / static_cast<double>(sketch.n()), "mean_units");
  return info;
}

}  // namespace

/// The exponents of the widest cells that serve sums over pairs from these bandwidths on, one for
/// each variable.
// [[Rcpp::export(rng = false)]]
Rcpp::IntegerVector sketch_exponents_cpp(Rcpp::NumericVector bandwidths) {
  if (bandwidths.size() == 1) return Rcpp::wrap(exponent_for(bandwidths[0]));
  return Rcpp::wrap(exponents_for(view(bandwidths)));
}

/// The least bandwidths that cells of these exponents serve.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector sketch_least_cpp(Rcpp::IntegerVector exponents) {
  Rcpp::NumericVector least(exponents.size());
  const std::size_t d = static_cast<std::size_t>(exponents.size());
  const double cells = d == 1 ? least_sum_cells() : least_in_cells(d);
  for (R_xlen_t k = 0; k < exponents.size(); ++k) least[k] = std::ldexp(cells, exponents[k]);
  return least;
}

/// A pointer to a sketch that grows, without samples.
// [[Rcpp::export(rng = false)]]
SEXP new_sketch_cpp(Rcpp::List plan) {
  const AnyPlan unpacked = unpack_plan(plan);
  if (unpacked.is_grid()) {
    return Rcpp::XPtr<GrowingSketch>(new GrowingGrid(GridSketch(unpacked.grid())));
  }
  return Rcpp::XPtr<GrowingSketch>(new GrowingLine(LineSketch(unpacked.line())));
}

/// The same with the samples of a sketch.
// [[Rcpp::export(rng = false)]]
SEXP read_sketch_cpp(Rcpp::RawVector bytes) {
  if (is_grid(bytes)) return Rcpp::XPtr<GrowingSketch>(new GrowingGrid(read_grid(bytes)));
  return Rcpp::XPtr<GrowingSketch>(new GrowingLine(read_line(bytes)));
}

// [[Rcpp::export(rng = false)]]
Rcpp::RawVector sketch_bytes_cpp(SEXP sketch, Rcpp::List run) {
  return growing_at(sketch).bytes(unpack_silent_run(run));
}

/// Adds samples, all finite and not too large for the cells, to the sketch of a pointer: a vector,
/// or a matrix. w: their weights, NULL if the plan has none.
// [[Rcpp::export(rng = false)]]
void add_to_sketch_cpp(SEXP sketch, SEXP x, SEXP w, Rcpp::List run) {
  const Run how = unpack_run(run);
  refusing_sketches([&] { growing_at(sketch).add(x, w, how); });
}

/// The sum of several sketches, given as bytes, of one plan.
// [[Rcpp::export(rng = false)]]
Rcpp::RawVector merge_sketches_cpp(Rcpp::List sketches, Rcpp::List run) {
  const Run how = unpack_run(run);
  if (is_grid(sketches[0])) {
    GridSketch sum = read_grid(sketches[0]);
    for (R_xlen_t k = 1; k < sketches.size(); ++k) {
      sum.merge(read_grid(sketches[k]), how);
      poll_if_due(how.parallel);
    }
    sum.settle(how);
    return raw_of(sum);
  }
  LineSketch sum = read_line(sketches[0]);
  for (R_xlen_t k = 1; k < sketches.size(); ++k) {
    sum.merge(read_line(sketches[k]), *how.table);
    poll_if_due(how.parallel);
  }
  return raw_of(sum);
}

/// The sketch of these bytes, as a pointer: sketch_info_cpp() and then sketch_sample_cpp() take it.
// [[Rcpp::export(rng = false)]]
SEXP unpack_sketch_cpp(Rcpp::RawVector bytes) {
  auto read = std::make_unique<ReadSketch>();
  if (is_grid(bytes)) {
    read->grid = std::make_unique<GridSketch>(read_grid(bytes));
  } else {
    read->line = std::make_unique<LineSketch>(read_line(bytes));
  }
  return Rcpp::XPtr<ReadSketch>(read.release());
}

/// What R says of a sketch, of unpack_sketch_cpp().
// [[Rcpp::export(rng = false)]]
Rcpp::List sketch_info_cpp(SEXP read) {
  if (read_at(read).grid) return grid_info(*read_at(read).grid);
  const LineSketch& sketch = *read_at(read).line;
  const SketchPlan& plan = sketch.plan();
  Rcpp::List info = Rcpp::List::create(
      Rcpp::Named("exponent") = sketch.plan().exponent,
      Rcpp::Named("column") = utf8(sketch.plan().column),
      Rcpp::Named("weight") = utf8(sketch.plan().weight),
      Rcpp::Named("weight_exponent") = sketch.plan().weight_exponent,
      Rcpp::Named("n") = static_cast<double>(sketch.n()),
      Rcpp::Named("range") = Rcpp::NumericVector::create(sketch.range().min, sketch.range().max),
      Rcpp::Named("kept") = static_cast<double>(sketch.kept().size()),
      Rcpp::Named("full") = static_cast<double>(sketch.full().size()),
      Rcpp::Named("tied") = ties_of_sketch(sketch).pairs,
      Rcpp::Named("sums") = least_sum_bandwidth(sketch),
      Rcpp::Named("density") = least_density_bandwidth(sketch),
      Rcpp::Named("response") = utf8(plan.response),
      Rcpp::Named("response_exponent") = plan.response_exponent,
      Rcpp::Named("response_origin") = plan.response_origin, Rcpp::Named("bounded") = plan.bounded);
  if (sketch.n() == 0) return info;
  const SampleCovariance moments = sketch.moments();
  info.push_back(moments.mean.first[0] + moments.mean.second[0], "mean");
  info.push_back(moments.covariance[0], "variance");
  const WeightSums weights = sketch.weight_sums();
  info.push_back(weights.sum * weights.sum / weights.squares, "n_eff");
  info.push_back(sketch.in_units(weights.sum) / static_cast<double>(sketch.n()), "mean_units");
  return info;
}

/// The sample of a sketch with a sample at least, as sample_cpp() makes one of data. It takes the
/// sketch of unpack_sketch_cpp().
// [[Rcpp::export(rng = false)]]
SEXP sketch_sample_cpp(SEXP read, Rcpp::List run) {
  ReadSketch from = std::move(read_at(read));
  if (from.grid) {
    const auto make = [](const GridSketch& sketch) {
      return sample_of_sketch(sketch, sketch.moments());
    };
    return Rcpp::XPtr<HeldSample>(new HeldSketch<GridSketch>(std::move(*from.grid), make));
  }
  const Run how = unpack_silent_run(run);
  const auto make = [&](const LineSketch& sketch) { return sample_of_sketch(sketch, how); };
  return Rcpp::XPtr<HeldSample>(new HeldSketch<LineSketch>(std::move(*from.line), make));
}

/// Quantiles of that sample, of one variable: of type 7, to the width of a cell.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector sketch_quantiles_cpp(SEXP sample, Rcpp::NumericVector prob) {
  const Rcpp::XPtr<HeldSample> held(sample);
  const auto* const of_line = dynamic_cast<const HeldSketch<LineSketch>*>(held.checked_get());
  if (of_line == nullptr) throw error(ErrorKind::internal, "a sample is not that of a sketch");
  return Rcpp::wrap(quantiles_of(of_line->sketch(), view(prob)));
}

/// The same of a sketch of periodic variables, in a period around the mean direction. lower: where
/// periods begin; period: 0 where there is none.
// [[Rcpp::export(rng = false)]]
SEXP circular_sample_cpp(Rcpp::RawVector bytes, Rcpp::NumericVector lower,
                         Rcpp::NumericVector period, Rcpp::List run) {
  if (is_grid(bytes)) {
    const auto make = [&](const GridSketch& sketch) {
      return translate_errors(
          [&] { return sample_of_sketch(sketch, circular_moments(sketch, view(period))); });
    };
    return Rcpp::XPtr<HeldSample>(new HeldSketch<GridSketch>(read_grid(bytes), make));
  }
  const Run how = unpack_silent_run(run);
  const auto make = [&](const LineSketch& sketch) {
    return circular_sample(sketch, lower[0], period[0], how);
  };
  return Rcpp::XPtr<HeldSample>(new HeldSketch<LineSketch>(read_line(bytes), make));
}

/// Quantiles of that sample, to the width of a cell.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector circular_quantiles_cpp(SEXP sample, Rcpp::NumericVector prob) {
  return Rcpp::wrap(circular_quantiles(sample_of(sample), view(prob)));
}
