// The sequential program of Rohlfs & Zahran (2017), "Optimal Bandwidth Selection for Kernel
// Regression Using a Fast Grid Search and a GPU" (their program 3, section IV.C): leave-one-out
// cross-validation of the Nadaraya-Watson estimator with the Epanechnikov kernel, for a whole grid
// of bandwidths. O(n log n) for each observation, O(n^2 log n) in all. Their program 4, the same
// steps on a GPU, is rohlfs-zahran.cu.
//
// Two versions: `sequential` like theirs, with its n by n matrices; and `lean`, the stricter
// reference, in double and with one pair of rows that is reused, which makes it faster than theirs.
#ifndef KESTREL_BENCH_PAPERS_ROHLFS_ZAHRAN_HPP
#define KESTREL_BENCH_PAPERS_ROHLFS_ZAHRAN_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace rohlfs_zahran {

// Section IV.B: "An iterative variant of QuickSort is used, modified from [12] to sort floating
// point numbers and to also sort an auxiliary variable." [12] is Finley's non-recursive quicksort:
// the first element is the pivot, a stack of ranges replaces the recursion, and the shorter range
// is sorted first, so that 300 levels are enough for any n.
template <class Real>
void quicksort_iterative(Real* key, Real* auxiliary, int elements) {
  constexpr int levels = 300;
  int begin[levels], end[levels], i = 0;
  begin[0] = 0;
  end[0] = elements;
  while (i >= 0) {
    int left = begin[i], right = end[i] - 1;
    if (left >= right) {
      --i;
      continue;
    }
    const Real pivot = key[left], pivot_auxiliary = auxiliary[left];
    while (left < right) {
      while (key[right] >= pivot && left < right) --right;
      if (left < right) {
        key[left] = key[right];
        auxiliary[left++] = auxiliary[right];
      }
      while (key[left] <= pivot && left < right) ++left;
      if (left < right) {
        key[right] = key[left];
        auxiliary[right--] = auxiliary[left];
      }
    }
    key[left] = pivot;
    auxiliary[left] = pivot_auxiliary;
    begin[i + 1] = left + 1;
    end[i + 1] = end[i];
    end[i++] = left;
    if (end[i] - begin[i] > end[i - 1] - begin[i - 1]) {
      std::swap(begin[i], begin[i - 1]);
      std::swap(end[i], end[i - 1]);
    }
  }
}

// The numerator and the denominator of eq. 2 at a bandwidth.
template <class Real>
struct Fraction {
  Real numerator, denominator;
};

// Section IV.B, second paragraph: begin with the smallest bandwidth and the nearest observation;
// when the distance reaches the bandwidth, copy the sums over to the next one and go on. Section
// III: "it is necessary to sum each of Y_l, Y_l (X_i - X_l)^2, and (X_i - X_l)^2"; the number of
// terms is the fourth. Third paragraph: divided by the squared bandwidth and multiplied by 0.75.
// Calls take(b, fraction).
template <class Real, class Take>
void sweep(const Real* distance, const Real* y, int others, const std::vector<Real>& bandwidths,
           const Take& take) {
  Real count = 0, squares = 0, y_sum = 0, y_squares = 0;
  int l = 0;
  for (std::size_t b = 0; b < bandwidths.size(); ++b) {
    for (; l < others && distance[l] < bandwidths[b]; ++l) {
      const Real square = distance[l] * distance[l];
      count += 1;
      squares += square;
      y_sum += y[l];
      y_squares += y[l] * square;
    }
    const Real square = bandwidths[b] * bandwidths[b];
    take(b, Fraction<Real>{Real(0.75) * (y_sum - y_squares / square),
                           Real(0.75) * (count - squares / square)});
  }
}

// Eq. 1-3: M is whether the denominator is not zero.
template <class Real>
Real squared_residual(const Fraction<Real>& fit, Real y, int* unsupported) {
  if (fit.denominator == 0) {
    ++*unsupported;
    return 0;
  }
  const Real residual = y - fit.numerator / fit.denominator;
  return residual * residual;
}

// For every bandwidth: the sum of the squared leave-one-out residuals, n CV(h) with all
// observations, and how many observations have no neighbour.
template <class Real>
struct CrossValidation {
  std::vector<Real> squares;
  std::vector<int> unsupported;
};

// Section IV.B, the reductions, in the order of their block of 512 threads.
template <class Real>
Real reduction(const Real* value, int count) {
  constexpr int threads = 512;
  Real shared[threads] = {};
  for (int t = 0; t < threads; ++t) {
    for (int j = t; j < count; j += threads) shared[t] += value[j];
  }
  for (int half = threads / 2; half > 0; half /= 2) {
    for (int t = 0; t < half; ++t) shared[t] += shared[t + half];
  }
  return shared[0];
}

// As in the paper, over the first `rows` observations (in the paper all n). Real is float there.
// Section IV.A: two matrices of rows * n, two of rows * k and one of k * rows, all held at the same
// time; bandwidths ascending.
template <class Real>
CrossValidation<Real> sequential(const std::vector<Real>& x, const std::vector<Real>& y,
                                 const std::vector<Real>& bandwidths, int rows) {
  const std::size_t n = x.size(), k = bandwidths.size(), m = static_cast<std::size_t>(rows);
  std::vector<Real> distance(m * n), sorted_y(m * n);
  std::vector<Real> numerator(m * k), denominator(m * k), residual(k * m);
  CrossValidation<Real> result{{}, std::vector<int>(k)};
  for (std::size_t j = 0; j < m; ++j) {
    // First paragraph: fill in abs(X_i - X_j) and Y_i, sort both.
    Real *row = &distance[j * n], *row_y = &sorted_y[j * n];
    for (std::size_t i = 0; i < n; ++i) {
      row[i] = std::abs(x[i] - x[j]);
      row_y[i] = y[i];
    }
    quicksort_iterative(row, row_y, static_cast<int>(n));
    sweep(row, row_y, static_cast<int>(n), bandwidths, [&](std::size_t b, Fraction<Real> fit) {
      numerator[j * k + b] = fit.numerator;
      denominator[j * k + b] = fit.denominator;
    });
    // Third paragraph: "the final sums exclude the values corresponding to the jth observation",
    // whose distance is zero; "the array is indexed as k separate groups of n".
    for (std::size_t b = 0; b < k; ++b) {
      const Fraction<Real> fit = {numerator[j * k + b] - Real(0.75) * y[j],
                                  denominator[j * k + b] - Real(0.75)};
      residual[b * m + j] = squared_residual(fit, y[j], &result.unsupported[b]);
    }
  }
  for (std::size_t b = 0; b < k; ++b) result.squares.push_back(reduction(&residual[b * m], rows));
  return result;
}

// Over `observations`, numbered from 0. The observation itself is left out before the sort.
inline CrossValidation<double> lean(const std::vector<double>& x, const std::vector<double>& y,
                                    const std::vector<double>& bandwidths,
                                    const std::vector<std::size_t>& observations) {
  const std::size_t k = bandwidths.size(), m = observations.size();
  std::vector<double> distance(x.size()), sorted_y(x.size()), residual(k * m);
  CrossValidation<double> result{std::vector<double>(k), std::vector<int>(k)};
  for (std::size_t row = 0; row < m; ++row) {
    const std::size_t j = observations[row];
    int others = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (i == j) continue;
      distance[others] = std::abs(x[i] - x[j]);
      sorted_y[others++] = y[i];
    }
    quicksort_iterative(distance.data(), sorted_y.data(), others);
    sweep(distance.data(), sorted_y.data(), others, bandwidths,
          [&](std::size_t b, Fraction<double> fit) {
            residual[b * m + row] = squared_residual(fit, y[j], &result.unsupported[b]);
          });
  }
  for (std::size_t b = 0; b < k; ++b) {
    for (std::size_t row = 0; row < m; ++row) result.squares[b] += residual[b * m + row];
  }
  return result;
}

}  // namespace rohlfs_zahran

#endif
