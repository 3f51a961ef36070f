// R to core: sketches of samples on a line, and of two or three variables.
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
#include "core/sketch/grid_modes.hpp"
#include "core/sketch/grid_sketch.hpp"
#include "core/sketch/sketch_builder.hpp"
#include "core/sketch/sketch_bytes.hpp"
#include "core/sketch/sketch_regression.hpp"
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
template <class Sketch>
class HeldSketch : public HeldSample {
 public:
  template <class Make>
  HeldSketch(Sketch sketch, const Make& make)
      : sketch_(std::move(sketch)), sample_(make(sketch_)) {}

  const Sample& sample() const override { return *sample_; }

 private:
  const Sketch sketch_;
  const std::unique_ptr<const Sample> sample_;
};

Span<const unsigned char> span_of(const Rcpp::RawVector& bytes) {
  return {bytes.begin(), static_cast<std::size_t>(bytes.size())};
}

bool is_grid(const Rcpp::RawVector& bytes) { return is_grid_sketch(span_of(bytes)); }

/// What `call` returns; words of the core about a sketch become a condition of their own.
template <class Call>
auto refusing_sketches(const Call& call) {
  try {
    return call();
  } catch (const error& problem) {
    if (problem.kind == ErrorKind::input) throw kestrel_core_sketch(problem.what());
    throw;
  }
}

LineSketch read_line(const Rcpp::RawVector& bytes) {
  return refusing_sketches([&] { return sketch_of(span_of(bytes)); });
}

GridSketch read_grid(const Rcpp::RawVector& bytes) {
  return refusing_sketches([&] { return grid_sketch_of(span_of(bytes)); });
}

template <class Sketch>
Rcpp::RawVector raw_of(const Sketch& sketch) {
  const std::vector<unsigned char> bytes = bytes_of(sketch);
  return Rcpp::RawVector(bytes.begin(), bytes.end());
}

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

struct AnyPlan {
  std::vector<int> exponent;
  std::vector<std::string> column;
  std::string weight;
  int weight_exponent;
  std::string response;
  int response_exponent;
  double response_origin;

  bool is_grid() const { return exponent.size() > 1; }
  SketchPlan line() const {
    return {exponent[0], column[0],         weight,         weight_exponent,
            response,    response_exponent, response_origin};
  }
  GridPlan grid() const { return {exponent, column, weight, weight_exponent}; }
};

AnyPlan unpack_plan(const Rcpp::List& list) {
  const Fields fields(list, "a plan of sketches",
                      {"exponent", "column", "weight", "weight_exponent", "response",
                       "response_exponent", "response_origin"});
  return {fields.get<std::vector<int>>("exponent"), fields.get<std::vector<std::string>>("column"),
          fields.get<std::string>("weight"),        fields.get<int>("weight_exponent"),
          fields.get<std::string>("response"),      fields.get<int>("response_exponent"),
          fields.get<double>("response_origin")};
}

/// Tables have whole numbers as hi 2^22 + lo.
constexpr int kLowBits = 22;

void split_whole(const WideInteger& value, double* high, double* low) {
  const WideInteger top = value.shifted_down(kLowBits);
  WideInteger rest = value;
  rest += -top.shifted(kLowBits);
  *high = top.value();
  *low = rest.value();
}

WideInteger joined_whole(std::int64_t high, std::int64_t low) {
  WideInteger value = WideInteger(high).shifted(kLowBits);
  value += WideInteger(low);
  return value;
}

GrowingSketch& growing_at(SEXP pointer) { return *Rcpp::XPtr<GrowingSketch>(pointer); }

/// The regressions of a sketch, which it keeps.
class HeldRegressionSketch {
 public:
  HeldRegressionSketch(LineSketch sketch, const Run& run)
      : sketch_(std::move(sketch)), made(sketch_, run) {}

 private:
  const LineSketch sketch_;

 public:
  const SketchRegression made;
};

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
      Rcpp::Named("sums") = Rcpp::wrap(least), Rcpp::Named("density") = Rcpp::wrap(least),
      Rcpp::Named("response") = "", Rcpp::Named("response_exponent") = 0,
      Rcpp::Named("response_origin") = 0.0);
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
  growing_at(sketch).add(x, w, unpack_run(run));
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

/// What R says of a sketch.
// [[Rcpp::export(rng = false)]]
Rcpp::List sketch_info_cpp(Rcpp::RawVector bytes) {
  if (is_grid(bytes)) return grid_info(read_grid(bytes));
  const LineSketch sketch = read_line(bytes);
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
      Rcpp::Named("sums") = least_sum_bandwidth(sketch),
      Rcpp::Named("density") = least_density_bandwidth(sketch),
      Rcpp::Named("response") = utf8(plan.response),
      Rcpp::Named("response_exponent") = plan.response_exponent,
      Rcpp::Named("response_origin") = plan.response_origin,
      Rcpp::Named("response_range") =
          Rcpp::NumericVector::create(sketch.second_range().min, sketch.second_range().max));
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
  return Rcpp::wrap(quantiles_of(read_line(bytes), view(prob)));
}

/// Of a sketch of several variables: the rows that are kept, with their weights if there are any.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix sketch_rows_cpp(Rcpp::RawVector bytes) {
  const GridSketch sketch = read_grid(bytes);
  const std::vector<double> rows = kept_rows(sketch);
  const int width = static_cast<int>(sketch.width_of_row()),
            n = static_cast<int>(rows.size() / sketch.width_of_row());
  Rcpp::NumericMatrix out(n, width);
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < width; ++k) out(i, k) = rows[static_cast<std::size_t>(i * width + k)];
  }
  return out;
}

/// Of a sketch of several variables without weights: the rows that are kept, a row each, keys of
/// tiles and cells, a column each, and sums and cells as hi 2^22 + lo. Counts are the first sums.
// [[Rcpp::export(rng = false)]]
Rcpp::List grid_table_cpp(Rcpp::RawVector bytes) {
  const GridSketch sketch = read_grid(bytes);
  const GridTable table = table_of(sketch);
  const int d = static_cast<int>(sketch.d());
  const auto keys = [&](const std::vector<std::int64_t>& of) {
    Rcpp::NumericMatrix out(d, static_cast<int>(of.size()) / d);
    for (std::size_t i = 0; i < of.size(); ++i) {
      out[static_cast<R_xlen_t>(i)] = static_cast<double>(of[i]);
    }
    return out;
  };
  const auto parts = [&](const std::vector<WideInteger>& of) {
    Rcpp::NumericMatrix out(2, static_cast<int>(of.size()));
    for (std::size_t i = 0; i < of.size(); ++i) {
      split_whole(of[i], &out(0, static_cast<int>(i)), &out(1, static_cast<int>(i)));
    }
    return out;
  };
  return Rcpp::List::create(
      Rcpp::Named("rows") = sketch_rows_cpp(bytes), Rcpp::Named("tile") = keys(table.tile),
      Rcpp::Named("sums") = parts(table.sums), Rcpp::Named("cell") = keys(table.cell),
      Rcpp::Named("cells") = parts(table.cells));
}

/// The bytes of the sketch with such a table, whose rows and keys are columns; range: two rows.
// [[Rcpp::export(rng = false)]]
Rcpp::RawVector grid_of_table_cpp(Rcpp::List plan, Rcpp::List table) {
  const Fields fields(table, "a table of a sketch",
                      {"rows", "tile", "sums", "cell", "cells", "range"});
  const auto whole = [&](const char* name) {
    std::vector<std::int64_t> out;
    for (const double value : fields.get<std::vector<double>>(name)) {
      out.push_back(whole_number<std::int64_t>(value));
    }
    return out;
  };
  const auto sums = [&](const char* name) {
    const std::vector<std::int64_t> halves = whole(name);
    std::vector<WideInteger> out;
    for (std::size_t i = 0; i + 1 < halves.size(); i += 2) {
      out.push_back(joined_whole(halves[i], halves[i + 1]));
    }
    return out;
  };
  const std::vector<double> limits = fields.get<std::vector<double>>("range");
  std::vector<ValueRange> ranges;
  for (std::size_t k = 0; k + 1 < limits.size(); k += 2)
    ranges.push_back({limits[k], limits[k + 1]});
  return refusing_sketches([&] {
    return raw_of(grid_of_table(unpack_plan(plan).grid(), ranges,
                                {fields.get<std::vector<double>>("rows"), whole("tile"),
                                 whole("cell"), sums("sums"), sums("cells")}));
  });
}

/// Of a sketch without weights: the samples that are kept, the keys of the full cells, and their
/// sums as two matrices, a column for each cell: hi 2^22 + lo, in quanta.
// [[Rcpp::export(rng = false)]]
Rcpp::List sketch_parts_cpp(Rcpp::RawVector bytes) {
  const LineSketch sketch = read_line(bytes);
  const int cells = static_cast<int>(sketch.full().size());
  Rcpp::NumericMatrix high(LineSketch::kMoments, cells), low(LineSketch::kMoments, cells);
  for (int k = 0; k < cells; ++k) {
    const WideInteger* sums = sketch.sums(static_cast<std::size_t>(k));
    for (int a = 0; a < LineSketch::kMoments; ++a) {
      split_whole(sums[a], &high(a, k), &low(a, k));
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
    sums.push_back(
        joined_whole(whole_number<std::int64_t>(high[k]), whole_number<std::int64_t>(low[k])));
  }
  return refusing_sketches([&] {
    return raw_of(LineSketch::of_parts(unpack_plan(plan).line(), {range[0], range[1]},
                                       {HUGE_VAL, -HUGE_VAL},
                                       {fields.get<std::vector<double>>("kept"), {}},
                                       fields.get<std::vector<double>>("key"), std::move(sums)));
  });
}

/// Of a sketch of one variable: the samples that are kept, and the responses of a regression.
// [[Rcpp::export(rng = false)]]
Rcpp::List sketch_kept_cpp(Rcpp::RawVector bytes) {
  const LineSketch sketch = read_line(bytes);
  return Rcpp::List::create(Rcpp::Named("x") = Rcpp::wrap(sketch.kept().x),
                            Rcpp::Named("y") = Rcpp::wrap(sketch.kept().w));
}

/// The regressions of a sketch that has full cells.
// [[Rcpp::export(rng = false)]]
SEXP sketch_regression_cpp(Rcpp::RawVector bytes, Rcpp::List run) {
  return Rcpp::XPtr<HeldRegressionSketch>(
      new HeldRegressionSketch(read_line(bytes), unpack_silent_run(run)));
}

// [[Rcpp::export(rng = false)]]
double sketch_regression_least_cpp(SEXP regression) {
  return Rcpp::XPtr<HeldRegressionSketch>(regression)->made.least_bandwidth();
}

/// As regression_cv_cpp(), NaN where the cells do not serve a bandwidth.
// [[Rcpp::export(rng = false)]]
Rcpp::List sketch_regression_cv_cpp(SEXP regression, Rcpp::NumericVector h, bool local_linear,
                                    Rcpp::List run) {
  const CrossValidation curve =
      Rcpp::XPtr<HeldRegressionSketch>(regression)
          ->made.cross_validate(view(h), {Kernel::gaussian, 1, local_linear}, unpack_run(run));
  return Rcpp::List::create(Rcpp::Named("squares") = curve.squares,
                            Rcpp::Named("insample") = curve.in_sample,
                            Rcpp::Named("trace") = curve.trace);
}

/// The fit at points, NaN where there is none.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector sketch_regression_fit_cpp(SEXP regression, double h, bool local_linear,
                                              Rcpp::NumericVector points, Rcpp::List run) {
  return Rcpp::wrap(
      Rcpp::XPtr<HeldRegressionSketch>(regression)
          ->made.fits(view(points), {Kernel::gaussian, h, local_linear}, unpack_run(run)));
}

/// The sample of a sketch with a sample at least, as sample_cpp() makes one of data.
// [[Rcpp::export(rng = false)]]
SEXP sketch_sample_cpp(Rcpp::RawVector bytes, Rcpp::List run) {
  if (is_grid(bytes)) {
    const auto make = [](const GridSketch& sketch) { return sample_of_sketch(sketch); };
    return Rcpp::XPtr<HeldSample>(new HeldSketch<GridSketch>(read_grid(bytes), make));
  }
  const Run how = unpack_silent_run(run);
  const auto make = [&](const LineSketch& sketch) { return sample_of_sketch(sketch, how); };
  return Rcpp::XPtr<HeldSample>(new HeldSketch<LineSketch>(read_line(bytes), make));
}
