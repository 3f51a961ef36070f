// The clock of the benchmarks.
// [[Rcpp::plugins(cpp17)]]
#include <Rcpp.h>

#include <ctime>

// Seconds of CPU that this process has used, all threads together.
// [[Rcpp::export]]
double process_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}
