// The serial programs of Michailidis & Margaritis (2013) for R.
// [[Rcpp::plugins(cpp17)]]
#include "michailidis-margaritis.hpp"

#include <Rcpp.h>

#include <vector>

namespace {

template <class Real>
Rcpp::NumericVector serial(const Rcpp::NumericMatrix& x, double h, std::size_t m) {
  const std::vector<Real> rows(x.begin(), x.end());
  const std::size_t nvar = x.nrow(), n = x.ncol();
  std::vector<Real> pdf(m);
  if (nvar == 1) {
    michailidis_margaritis::algorithm_1(rows.data(), m, rows.data(), n, static_cast<Real>(h),
                                        pdf.data());
  } else {
    michailidis_margaritis::algorithm_2(rows.data(), m, rows.data(), n, nvar, static_cast<Real>(h),
                                        pdf.data());
  }
  return Rcpp::NumericVector(pdf.begin(), pdf.end());
}

}  // namespace

// The density at the first m samples. x: variables * n.
// [[Rcpp::export]]
Rcpp::NumericVector michailidis_margaritis_serial(Rcpp::NumericMatrix x, double h, int m,
                                                  bool single) {
  if (m < 0 || m > x.ncol()) Rcpp::stop("more points than samples");
  return single ? serial<float>(x, h, m) : serial<double>(x, h, m);
}
