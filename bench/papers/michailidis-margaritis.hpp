// The serial programs of Michailidis & Margaritis (2013), "Accelerating Kernel Density Estimation
// on the GPU Using the CUDA Framework", section 3.1: algorithm 1 (one variable) and algorithm 2
// (several, a product of Gaussian kernels with one bandwidth). O(n^2 variables), O(n) memory.
//
// What is theirs: two loops over all pairs, a kernel function with an exponential of its own for
// every variable, the divisions by h in the innermost statement, a two-dimensional array of n rows
// for several variables. What differs: sums have the same precision as the terms, float as in their
// GPU programs or double, and the outer loop may end before n.
// that of the sums too, and the outer loop may end before n.
#ifndef KESTREL_BENCH_PAPERS_MICHAILIDIS_MARGARITIS_HPP
#define KESTREL_BENCH_PAPERS_MICHAILIDIS_MARGARITIS_HPP

#include <cmath>
#include <cstddef>

namespace michailidis_margaritis {

// "The kernel is a C user-defined function which contains the formula of the Gaussian kernel."
template <class Real>
Real kernel(Real z) {
  return Real(0.3989422804014327) * std::exp(Real(-0.5) * z * z);  // 1 / sqrt(2 pi)
}

// Algorithm 1: the density of y[0], ..., y[n - 1] at x[0], ..., x[m - 1]; m = n in the paper.
template <class Real>
void algorithm_1(const Real* x, std::size_t m, const Real* y, std::size_t n, Real h, Real* pdf) {
  for (std::size_t i = 0; i < m; ++i) {
    Real sum_ker = 0;
    for (std::size_t j = 0; j < n; ++j) sum_ker = sum_ker + kernel((x[i] - y[j]) / h) / h;
    pdf[i] = sum_ker / static_cast<Real>(n);
  }
}

// Algorithm 2: x and y have rows of nvar values.
template <class Real>
void algorithm_2(const Real* x, std::size_t m, const Real* y, std::size_t n, std::size_t nvar,
                 Real h, Real* pdf) {
  for (std::size_t i = 0; i < m; ++i) {
    Real sum_ker = 0;
    for (std::size_t j = 0; j < n; ++j) {
      Real prod_ker = 1;
      for (std::size_t k = 0; k < nvar; ++k) {
        prod_ker = prod_ker * kernel((x[i * nvar + k] - y[j * nvar + k]) / h) / h;
      }
      sum_ker = sum_ker + prod_ker;
    }
    pdf[i] = sum_ker / static_cast<Real>(n);
  }
}

}  // namespace michailidis_margaritis

#endif
