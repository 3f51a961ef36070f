// The references of bench/direct.R: the limit of the machine, and a plain loop.
// [[Rcpp::plugins(cpp17)]]
#include <Rcpp.h>

#include <cmath>
#include <cstddef>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>

#pragma GCC push_options
#pragma GCC target("avx512f")
namespace {
// Twelve independent chains of fused multiply-adds keep two ports busy at a latency of four; the
// counter is an integer, so that counting takes none of their slots.
double run_avx512(long long rounds) {
  __m512d a[12];
  const __m512d b = _mm512_set1_pd(0.999999), c = _mm512_set1_pd(1e-6);
#pragma GCC unroll 12
  for (int i = 0; i < 12; ++i) a[i] = _mm512_set1_pd(i + 1e-9 * rounds);
  for (long long r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) a[i] = _mm512_fmadd_pd(a[i], b, c);
  }
  __m512d sum = _mm512_setzero_pd();
#pragma GCC unroll 12
  for (int i = 0; i < 12; ++i) sum = _mm512_add_pd(sum, a[i]);
  double out[8];
  _mm512_storeu_pd(out, sum);
  return out[0];
}
}  // namespace
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx2,fma")
namespace {
double run_avx2(long long rounds) {
  __m256d a[12];
  const __m256d b = _mm256_set1_pd(0.999999), c = _mm256_set1_pd(1e-6);
#pragma GCC unroll 12
  for (int i = 0; i < 12; ++i) a[i] = _mm256_set1_pd(i + 1e-9 * rounds);
  for (long long r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) a[i] = _mm256_fmadd_pd(a[i], b, c);
  }
  __m256d sum = _mm256_setzero_pd();
#pragma GCC unroll 12
  for (int i = 0; i < 12; ++i) sum = _mm256_add_pd(sum, a[i]);
  double out[4];
  _mm256_storeu_pd(out, sum);
  return out[0];
}
}  // namespace
#pragma GCC pop_options
#endif

// 12 * rounds vector multiply-adds of that instruction set, as fast as possible.
// [[Rcpp::export]]
double multiply_adds(std::string isa, double rounds) {
#if defined(__x86_64__)
  const auto whole = static_cast<long long>(rounds);
  if (isa == "avx512") return run_avx512(whole);
  if (isa == "avx2") return run_avx2(whole);
#endif
  return NA_REAL;
}

// The same sum as the direct engine's, written in the obvious way: one exp() of one squared
// distance per pair. x: d*n, points: d*m, both in units of the bandwidth.
// [[Rcpp::export]]
Rcpp::NumericVector scalar_loop(Rcpp::NumericMatrix x, Rcpp::NumericMatrix points) {
  const int n = x.ncol(), m = points.ncol(), d = x.nrow();
  Rcpp::NumericVector out(m);
  for (int i = 0; i < m; ++i) {
    const double* e = &points(0, i);
    double sum = 0;
    for (int j = 0; j < n; ++j) {
      const double* s = &x(0, j);
      double q = 0;
      for (int k = 0; k < d; ++k) q += (e[k] - s[k]) * (e[k] - s[k]);
      sum += std::exp(-0.5 * q);
    }
    out[i] = sum;
  }
  return out;
}

namespace {
#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default"), optimize("O3")))
#endif
void triad_once(double* __restrict to, const double* from, const double* times, double factor,
                std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) to[i] = from[i] + factor * times[i];
}
}  // namespace

// a = b + factor c, three arrays of `size` doubles, `rounds` times (McCalpin's STREAM triad): 24
// bytes an element; the line that is written counts once.
// [[Rcpp::export]]
double triad(double size, int rounds) {
  const auto n = static_cast<std::size_t>(size);
  static std::vector<double> a, b, c;
  if (a.size() != n) {
    a.assign(n, 0.0);
    b.assign(n, 1.0);
    c.assign(n, 2.0);
  }
  for (int r = 0; r < rounds; ++r) triad_once(a.data(), b.data(), c.data(), r, n);
  return a[n / 2];
}
