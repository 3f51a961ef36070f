#include "core/data/sample_moments.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/data/passes.hpp"
#include "core/data/weights.hpp"

namespace kestrel {
namespace {

// The sum of what term(i) is for all samples.
template <class Term>
double sum_of_terms(std::size_t n, const ParallelOptions& options, const Term& term) {
  std::vector<long double> sums(parts_of_pass(n));
  pass_over(n, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    long double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += term(i);
    sums[part] = sum;
  });
  long double all = 0;
  for (const long double sum : sums) all += sum;
  return static_cast<double>(all);
}

}  // namespace

std::vector<double> sample_covariance(const MatrixView& x, Span<const double> w,
                                      Span<double> centred, const ParallelOptions& options) {
  const std::size_t n = x.rows, d = x.cols;
  check_weight_count(n, w.size);
  if (centred.size != n * d) throw error(ErrorKind::internal, "centred sample of a wrong size");
  const double all = weight_sums(w, options).sum;
  for (std::size_t k = 0; k < d; ++k) {
    const double* from = x.data + k * n;
    double* value = centred.data + k * n;
    for (int pass = 0; pass < 2; ++pass) {
      const double mean =
          sum_of_terms(n, options, [&](std::size_t i) { return w[i] / all * from[i]; });
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
      covariance[k * d + l] = covariance[l * d + k] = sum_of_terms(n, options, [&](std::size_t i) {
        return static_cast<long double>(w[i] / all) * a[i] * b[i];
      });
    }
  }
  return covariance;
}

std::vector<double> column_ranges(const MatrixView& x, const ParallelOptions& options) {
  const std::size_t n = x.rows, d = x.cols, parts = parts_of_pass(n);
  std::vector<double> of_part(parts * 2 * d), ranges(2 * d);
  pass_over(n, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    for (std::size_t k = 0; k < d; ++k) {
      const double* column = x.data + k * n;
      double min = column[begin], max = column[begin];
      for (std::size_t i = begin + 1; i < end; ++i) {
        min = std::min(min, column[i]);
        max = std::max(max, column[i]);
      }
      of_part[(part * d + k) * 2] = min;
      of_part[(part * d + k) * 2 + 1] = max;
    }
  });
  std::copy(of_part.begin(), of_part.begin() + static_cast<std::ptrdiff_t>(2 * d), ranges.begin());
  for (std::size_t part = 1; part < parts; ++part) {
    for (std::size_t k = 0; k < d; ++k) {
      ranges[2 * k] = std::min(ranges[2 * k], of_part[(part * d + k) * 2]);
      ranges[2 * k + 1] = std::max(ranges[2 * k + 1], of_part[(part * d + k) * 2 + 1]);
    }
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

void divide(Span<const double> x, double unit, Span<double> out, const ParallelOptions& options) {
  if (out.size != x.size) throw error(ErrorKind::internal, "quotients of a wrong size");
  pass_over(x.size, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) out[i] = x[i] / unit;
  });
}

}  // namespace kestrel
