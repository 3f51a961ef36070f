#include "core/data/sample_moments.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/data/passes.hpp"
#include "core/data/weights.hpp"

namespace kestrel {
namespace {

// The sums of terms(i, k), k < count, for all samples i, with their weights. Two samples are added
// at a time, because a long double waits for its sum.
template <class Terms>
std::vector<long double> weighted_sums(std::size_t n, Weights w, std::size_t count,
                                       const ParallelOptions& options, const Terms& terms) {
  std::vector<long double> sums(parts_of_pass(n) * count);
  pass_over(n, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    for (std::size_t k = 0; k < count; ++k) {
      long double even = 0, odd = 0;
      const auto add = [&](std::size_t i, long double& sum) {
        const long double term = terms(i, k);
        sum += w.absent() ? term : w[i] * term;
      };
      for (std::size_t i = begin; i + 1 < end; i += 2) {
        add(i, even);
        add(i + 1, odd);
      }
      if ((end - begin) % 2 == 1) add(end - 1, even);
      sums[part * count + k] = even + odd;
    }
  });
  std::vector<long double> all(count, 0.0L);
  for (std::size_t i = 0; i < sums.size(); ++i) all[i % count] += sums[i];
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

SampleCovariance sample_covariance(const MatrixView& x, Weights w, const ParallelOptions& options) {
  const std::size_t n = x.rows, d = x.cols;
  check_weight_count(n, w.size);
  const long double all =
      weighted_sums(n, w, 1, options, [](std::size_t, std::size_t) { return 1.0L; })[0];
  const auto means = [&](const auto& value) {
    std::vector<double> mean;
    for (const long double sum : weighted_sums(n, w, d, options, value)) {
      mean.push_back(static_cast<double>(sum / all));
    }
    return mean;
  };
  SampleCovariance found;
  SampleMean& mean = found.mean;
  mean.first = means([&](std::size_t i, std::size_t k) -> long double { return x(i, k); });
  mean.second =
      means([&](std::size_t i, std::size_t k) -> long double { return x(i, k) - mean.first[k]; });
  std::vector<std::size_t> row, column;  // of the lower triangle
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t l = 0; l <= k; ++l) {
      row.push_back(k);
      column.push_back(l);
    }
  }
  const std::vector<long double> sums =
      weighted_sums(n, w, row.size(), options, [&](std::size_t i, std::size_t e) {
        return static_cast<long double>(mean.centred(x(i, row[e]), row[e])) *
               mean.centred(x(i, column[e]), column[e]);
      });
  found.covariance.resize(d * d);
  for (std::size_t e = 0; e < row.size(); ++e) {
    const double value = static_cast<double>(sums[e] / all);
    found.covariance[row[e] * d + column[e]] = found.covariance[column[e] * d + row[e]] = value;
  }
  return found;
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

void transform_rows(const MatrixView& x, const SampleMean& mean, Span<const double> a,
                    Span<double> out, const ParallelOptions& options) {
  const std::size_t n = x.rows, d = x.cols;
  if (a.size != d * d || out.size != n * d || mean.first.size() != d) {
    throw error(ErrorKind::internal, "transform of a wrong size");
  }
  pass_over(n, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    std::vector<double> row(d);
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t k = 0; k < d; ++k) row[k] = mean.centred(x.data[k * n + i], k);
      for (std::size_t k = 0; k < d; ++k) {
        double sum = 0;
        for (std::size_t l = 0; l < d; ++l) sum += row[l] * a[l * d + k];
        out[k * n + i] = sum;
      }
    }
  });
}

void divide_columns(const MatrixView& x, const SampleMean& mean, Span<const double> unit,
                    Span<double> out, const ParallelOptions& options) {
  const std::size_t n = x.rows, d = x.cols;
  if (unit.size != d || out.size != n * d || mean.first.size() != d) {
    throw error(ErrorKind::internal, "quotients of a wrong size");
  }
  pass_over(n, options, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t k = 0; k < d; ++k) {
      for (std::size_t i = begin; i < end; ++i) {
        out[k * n + i] = mean.centred(x.data[k * n + i], k) / unit[k];
      }
    }
  });
}

}  // namespace kestrel
