// R to core: what sketches have, as tables of numbers, and sketches of such tables.
#include "core/base/whole.hpp"
#include "rcpp_sketch.hpp"

using namespace kestrel;

namespace {

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

/// Tables have counters of ties as doubles.
Rcpp::NumericVector numbers_of(const std::vector<std::int64_t>& ties) {
  return Rcpp::NumericVector(ties.begin(), ties.end());
}

std::vector<std::int64_t> counters_of(const std::vector<double>& numbers) {
  std::vector<std::int64_t> ties;
  for (const double value : numbers) ties.push_back(whole_number<std::int64_t>(value));
  return ties;
}

}  // namespace

/// The numbers of the hash of ties (simd/sketch/tie_hash.hpp), for one variable.
// [[Rcpp::export(rng = false)]]
Rcpp::List tie_hash_cpp() {
  return Rcpp::List::create(
      Rcpp::Named("factors") = Rcpp::NumericVector(simd::kTieFactors, simd::kTieFactors + 3),
      Rcpp::Named("polynomial") =
          Rcpp::NumericVector(simd::kTiePolynomial, simd::kTiePolynomial + 4),
      Rcpp::Named("prime") = static_cast<double>(simd::kTiePrime),
      Rcpp::Named("low_bits") = simd::kTieLowBits, Rcpp::Named("root_bits") = simd::kTieRootBits,
      Rcpp::Named("bits") = simd::kTieBits, Rcpp::Named("sign_bits") = simd::kTieSignBits,
      Rcpp::Named("counters") = static_cast<double>(simd::kTieCounters));
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
/// Also all counters of ties, none if no tile is full.
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
      Rcpp::Named("cells") = parts(table.cells), Rcpp::Named("ties") = numbers_of(table.ties));
}

/// The bytes of the sketch with such a table, whose rows and keys are columns; range: two rows.
// [[Rcpp::export(rng = false)]]
Rcpp::RawVector grid_of_table_cpp(Rcpp::List plan, Rcpp::List table) {
  const Fields fields(table, "a table of a sketch",
                      {"rows", "tile", "sums", "cell", "cells", "ties", "range"});
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
    return raw_of(grid_of_table(
        unpack_plan(plan).grid(), ranges,
        {fields.get<std::vector<double>>("rows"), whole("tile"), whole("cell"), sums("sums"),
         sums("cells"), counters_of(fields.get<std::vector<double>>("ties"))}));
  });
}

/// Of a sketch without weights: the samples that are kept, the keys of the full cells, and their
/// sums as two matrices, a column for each cell: hi 2^22 + lo, in quanta. Also the counters of
/// ties.
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
                            Rcpp::Named("hi") = high, Rcpp::Named("lo") = low,
                            Rcpp::Named("ties") = numbers_of(sketch.ties().samples));
}

/// The bytes of the sketch without weights with these parts; sums as sketch_parts_cpp() has them,
/// of whole numbers below 2^53.
// [[Rcpp::export(rng = false)]]
Rcpp::RawVector sketch_of_parts_cpp(Rcpp::List plan, Rcpp::List parts) {
  const Fields fields(parts, "parts of a sketch", {"kept", "key", "hi", "lo", "ties", "range"});
  const std::vector<double> range = fields.get<std::vector<double>>("range"),
                            high = fields.get<std::vector<double>>("hi"),
                            low = fields.get<std::vector<double>>("lo");
  std::vector<WideInteger> sums;
  for (std::size_t k = 0; k < high.size(); ++k) {
    sums.push_back(
        joined_whole(whole_number<std::int64_t>(high[k]), whole_number<std::int64_t>(low[k])));
  }
  return refusing_sketches([&] {
    return raw_of(LineSketch::of_parts(
        unpack_plan(plan).line(), {range[0], range[1]}, {HUGE_VAL, -HUGE_VAL},
        {fields.get<std::vector<double>>("kept"), {}}, fields.get<std::vector<double>>("key"),
        std::move(sums), {counters_of(fields.get<std::vector<double>>("ties")), {}}));
  });
}

/// Of a sketch of one variable: the samples that are kept, and their weights or the responses of a
/// regression.
// [[Rcpp::export(rng = false)]]
Rcpp::List sketch_kept_cpp(Rcpp::RawVector bytes) {
  const LineSketch sketch = read_line(bytes);
  return Rcpp::List::create(Rcpp::Named("x") = Rcpp::wrap(sketch.kept().x),
                            Rcpp::Named("y") = Rcpp::wrap(sketch.kept().w));
}
