// Other reference programs of bench/one-dimension.R: std::sort, windowed direct sums in double and,
// for the errors, in long double.
// [[Rcpp::plugins(cpp17)]]
#include <Rcpp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace {

struct Pair {
  double x, y;
};

std::vector<Pair> sorted_pairs(const Rcpp::NumericVector& x, const Rcpp::NumericVector& y) {
  std::vector<Pair> pairs(x.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = {x[i], y[i]};
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.x < b.x; });
  return pairs;
}

// sum K and sum y K over [from, to) with K = 1 - u^2, eight neighbours at a time, with GCC's vector
// extension, which uses whatever vectors the build has.
typedef double Lanes __attribute__((vector_size(64)));

#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
void window_sums(const double* x, const double* y, std::size_t from, std::size_t to, double at,
                 double scale, double* denominator, double* numerator) {
  Lanes k_sum = {0}, ky_sum = {0};
  std::size_t l = from;
  for (; l + 8 <= to; l += 8) {
    Lanes xs, ys;
    std::memcpy(&xs, x + l, sizeof xs);
    std::memcpy(&ys, y + l, sizeof ys);
    const Lanes d = xs - at, k = 1 - d * d * scale;
    k_sum += k;
    ky_sum += k * ys;
  }
  double k_total = 0, ky_total = 0;
  for (int lane = 0; lane < 8; ++lane) {
    k_total += k_sum[lane];
    ky_total += ky_sum[lane];
  }
  for (; l < to; ++l) {
    const double d = x[l] - at, k = 1 - d * d * scale;
    k_total += k;
    ky_total += k * y[l];
  }
  *denominator += k_total;
  *numerator += ky_total;
}

}  // namespace

// The time to which large n are compared: std::sort of the pairs (x, y) by x.
// [[Rcpp::export]]
double sort_pairs(Rcpp::NumericVector x, Rcpp::NumericVector y) { return sorted_pairs(x, y)[0].y; }

// Sums every window directly, for observations sorted by x; returns the sum over some of them
// (ranks from 1).
// [[Rcpp::export]]
Rcpp::NumericVector windowed_direct_cv(Rcpp::NumericVector x, Rcpp::NumericVector y,
                                       Rcpp::NumericVector bandwidths,
                                       Rcpp::IntegerVector observations) {
  const double *xs = x.begin(), *ys = y.begin();
  const std::size_t n = x.size();
  Rcpp::NumericVector squares(bandwidths.size());
  for (int b = 0; b < bandwidths.size(); ++b) {
    const double h = bandwidths[b], scale = 1 / (h * h);
    for (const int rank : observations) {
      const std::size_t i = rank - 1;
      const double at = xs[i];
      const auto outside = [&](double other) { return at - other >= h; };
      const auto inside = [&](double other) { return other - at < h; };
      const std::size_t left = std::partition_point(xs, xs + i, outside) - xs;
      const std::size_t right = std::partition_point(xs + i, xs + n, inside) - xs;
      if (right - left == 1) continue;
      double denominator = 0, numerator = 0;
      window_sums(xs, ys, left, i, at, scale, &denominator, &numerator);
      window_sums(xs, ys, i + 1, right, at, scale, &denominator, &numerator);
      const double residual = ys[i] - numerator / denominator;
      squares[b] += residual * residual;
    }
  }
  return squares;
}

// The same sum in long double, observation by observation: the reference for errors.
// [[Rcpp::export]]
Rcpp::NumericVector long_double_cv(Rcpp::NumericVector x, Rcpp::NumericVector y,
                                   Rcpp::NumericVector bandwidths) {
  const auto pairs = sorted_pairs(x, y);
  const std::size_t n = pairs.size();
  Rcpp::NumericVector squares(bandwidths.size());
  for (int b = 0; b < bandwidths.size(); ++b) {
    const double h = bandwidths[b];
    long double total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      long double denominator = 0, numerator = 0;
      const auto add = [&](const Pair& other) {
        const double distance = std::abs(other.x - pairs[i].x);
        if (!(distance < h)) return false;
        const long double u = (static_cast<long double>(other.x) - pairs[i].x) / h;
        denominator += 1 - u * u;
        numerator += (1 - u * u) * other.y;
        return true;
      };
      for (std::size_t l = i; l > 0 && add(pairs[l - 1]); --l) continue;
      for (std::size_t l = i + 1; l < n && add(pairs[l]); ++l) continue;
      if (denominator == 0) continue;
      const long double residual = pairs[i].y - numerator / denominator;
      total += residual * residual;
    }
    squares[b] = static_cast<double>(total);
  }
  return squares;
}
