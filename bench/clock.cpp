// The clock of the benchmarks, and the time to which large n are compared.
// [[Rcpp::plugins(cpp17)]]
#include <Rcpp.h>

#include <algorithm>
#include <ctime>
#include <vector>

// Seconds of CPU that this process has used, all threads together.
// [[Rcpp::export]]
double process_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

// [[Rcpp::export]]
double sort_values(Rcpp::NumericVector x) {
  std::vector<double> values(x.begin(), x.end());
  std::sort(values.begin(), values.end());
  return values[0];
}
