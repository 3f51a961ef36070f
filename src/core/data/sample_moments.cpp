#include "core/data/sample_moments.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/data/passes.hpp"
#include "core/data/weights.hpp"

namespace kestrel {
namespace {

// The sum of term(i) for all samples i.
template <class Term>
long double sum_of_terms(std::size_t n, const ParallelOptions& options, const Term& term) {
  std::vector<long double> sums(parts_of_pass(n));
  pass_over(n, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    long double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += term(i);
    sums[part] = sum;
  });
  long double all = 0;
  for (const long double sum : sums) all += sum;
  return all;
}

struct Range {
  double min, max;
};

// Four lanes, since a chain of comparisons waits for each of its results.
Range range_of_part(const double* x, std::size_t begin, std::size_t end) {
  double min[4], max[4], nothing[4] = {};
  std::fill(min, min + 4, x[begin]);
  std::fill(max, max + 4, x[begin]);
  const auto look = [&](std::size_t lane, double value) {
    min[lane] = value < min[lane] ? value : min[lane];
    max[lane] = value > max[lane] ? value : max[lane];
    nothing[lane] += value - value;  // 0, or not a number
  };
  std::size_t i = begin;
  for (; i + 4 <= end; i += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) look(lane, x[i + lane]);
  }
  for (; i < end; ++i) look(0, x[i]);
  const double none = nothing[0] + nothing[1] + nothing[2] + nothing[3];
  return {*std::min_element(min, min + 4) + none, *std::max_element(max, max + 4) + none};
}

}  // namespace

std::vector<double> sample_covariance(const MatrixView& x, Weights w, Span<double> centred,
                                      const ParallelOptions& options) {
  const std::size_t n = x.rows, d = x.cols;
  check_weight_count(n, w.size);
  if (centred.size != n * d) throw error(ErrorKind::internal, "centred sample of a wrong size");
  const long double all = sum_of_terms(n, options, [&](std::size_t i) { return w[i]; });
  for (std::size_t k = 0; k < d; ++k) {
    const double* from = x.data + k * n;
    double* value = centred.data + k * n;
    for (int pass = 0; pass < 2; ++pass) {
      const auto weighted = [&](std::size_t i) { return static_cast<long double>(w[i]) * from[i]; };
      const double mean = static_cast<double>(sum_of_terms(n, options, weighted) / all);
      pass_over(n, options, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) value[i] = from[i] - mean;
      });
      from = value;
    }
  }
  std::vector<double> covariance(d * d);
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t l = 0; l <= k; ++l) {
      const double *a = centred.data + k * n, *b = centred.data + l * n;
      const auto product = [&](std::size_t i) {
        return static_cast<long double>(w[i]) * a[i] * b[i];
      };
      const long double sum = sum_of_terms(n, options, product);
      covariance[k * d + l] = covariance[l * d + k] = static_cast<double>(sum / all);
    }
  }
  return covariance;
}

std::vector<double> column_ranges(const MatrixView& x, const ParallelOptions& options) {
  const std::size_t parts = parts_of_pass(x.rows), d = x.cols;
  std::vector<Range> of_part(parts * d);
  pass_over(x.rows, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    for (std::size_t k = 0; k < d; ++k) {
      of_part[k * parts + part] = range_of_part(x.column(k).data, begin, end);
    }
  });
  std::vector<double> ranges;
  for (std::size_t k = 0; k < d; ++k) {
    const Range* first = of_part.data() + k * parts;
    Range all = *first;
    for (const Range* part = first; part < first + parts; ++part) {
      // Once not a number, always not a number.
      all.min = all.min < part->min ? all.min : part->min;
      all.max = all.max > part->max ? all.max : part->max;
      if (std::isnan(part->min)) break;
    }
    ranges.insert(ranges.end(), {all.min, all.max});
  }
  return ranges;
}

void transform_rows(const MatrixView& x, Span<const double> a, Span<double> out,
                    const ParallelOptions& options) {
  const std::size_t n = x.rows, d = x.cols;
  if (a.size != d * d || out.size != n * d)
    throw error(ErrorKind::internal, "transform of a wrong size");
  pass_over(n, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    std::vector<double> row(d);
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t k = 0; k < d; ++k) row[k] = x.data[k * n + i];
      for (std::size_t k = 0; k < d; ++k) {
        double sum = 0;
        for (std::size_t l = 0; l < d; ++l) sum += row[l] * a[l * d + k];
        out[k * n + i] = sum;
      }
    }
  });
}

void divide_columns(const MatrixView& x, Span<const double> unit, Span<double> out,
                    const ParallelOptions& options) {
  const std::size_t n = x.rows, d = x.cols;
  if (unit.size != d || out.size != n * d) {
    throw error(ErrorKind::internal, "quotients of a wrong size");
  }
  pass_over(n, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t k = 0; k < d; ++k) {
      for (std::size_t i = k * n + begin; i < k * n + end; ++i) out[i] = x.data[i] / unit[k];
    }
  });
}

}  // namespace kestrel
