// Operations of bench/grid.R on arrays of gigabytes, without copies.
// [[Rcpp::plugins(cpp17)]]
#include <Rcpp.h>

#include <algorithm>
#include <cmath>
#ifdef __GLIBC__
#include <malloc.h>
#endif

// From here on freed memory stays with the process, its pages in place, so that a result of
// gigabytes does not cost page faults in every round.
// [[Rcpp::export]]
void keep_pages() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
#endif
}

// Gives that memory back to the system.
// [[Rcpp::export]]
void release_pages() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

// Zeros, in place.
// [[Rcpp::export]]
void clear(Rcpp::NumericVector grid) { std::fill(grid.begin(), grid.end(), 0.0); }

// The largest |scale a_i - b_i|, relative to the largest b_i.
// [[Rcpp::export]]
double grid_difference(Rcpp::NumericVector a, double scale, Rcpp::NumericVector b) {
  if (a.size() != b.size()) Rcpp::stop("grids of different sizes");
  double difference = 0, largest = 0;
  for (R_xlen_t i = 0; i < a.size(); ++i) {
    difference = std::max(difference, std::abs(scale * a[i] - b[i]));
    largest = std::max(largest, b[i]);
  }
  return difference / largest;
}
