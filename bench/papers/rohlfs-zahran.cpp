// The sequential program of Rohlfs & Zahran (2017), "Optimal Bandwidth Selection for Kernel
// Regression Using a Fast Grid Search and a GPU" (their program 3, section IV.C): leave-one-out
// cross-validation of the Nadaraya-Watson estimator with the Epanechnikov kernel, for a whole grid
// of bandwidths. O(n log n) for each observation, O(n^2 log n) in all.
//
// What is theirs: a sort of all distances for every observation, the sort itself, the order of the
// sweep, the sums that are kept, the k by n matrix of squared residuals and its reduction. What
// differs: double where their GPU made them use float, and no n by n matrices (each observation
// uses the same two rows again), which makes it faster than theirs.
// [[Rcpp::plugins(cpp17)]]
#include <Rcpp.h>

#include <cmath>
#include <utility>
#include <vector>

namespace {

// Section IV.B: "An iterative variant of QuickSort is used, modified from [12] to sort floating
// point numbers and to also sort an auxiliary variable." [12] is Finley's non-recursive quicksort:
// the first element is the pivot, a stack of ranges replaces the recursion, and the shorter range
// is sorted first, so that 300 levels are enough for any n.
void quicksort_iterative(double* key, double* auxiliary, int elements) {
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
    const double pivot = key[left], pivot_auxiliary = auxiliary[left];
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

// The sums over the neighbours of one observation, for each bandwidth (section III: "it is
// necessary to sum each of Y_l, Y_l (X_i - X_l)^2, and (X_i - X_l)^2"; the number of terms is the
// fourth, which the denominator of eq. 2 needs).
struct Sums {
  double count, squares, y, y_squares;
};

// Section IV.B, second paragraph: begin with the smallest bandwidth and the nearest observation;
// when the distance reaches the bandwidth, copy the sums over to the next one and go on.
void sweep(const double* distance, const double* y, int others, const double* bandwidths, int k,
           Sums* sums) {
  Sums running = {0, 0, 0, 0};
  int l = 0;
  for (int b = 0; b < k; ++b) {
    for (; l < others && distance[l] < bandwidths[b]; ++l) {
      const double square = distance[l] * distance[l];
      running.count += 1;
      running.squares += square;
      running.y += y[l];
      running.y_squares += y[l] * square;
    }
    sums[b] = running;
  }
}

// Section IV.B, third paragraph, and eq. 1-3: divide by the squared bandwidth, multiply by 0.75,
// and form the squared residual; M is whether the denominator of eq. 2 is non-zero.
double squared_residual(const Sums& sums, double bandwidth, double y, bool* supported) {
  const double square = bandwidth * bandwidth;
  const double denominator = 0.75 * (sums.count - sums.squares / square);
  const double numerator = 0.75 * (sums.y - sums.y_squares / square);
  *supported = denominator != 0;
  if (!*supported) return 0;
  const double residual = y - numerator / denominator;
  return residual * residual;
}

}  // namespace

// The sums over `observations` (numbered from 1; all of them give CV) of the squared leave-one-out
// residuals, for ascending bandwidths, and how many of these observations have no neighbour.
// [[Rcpp::export]]
Rcpp::List rohlfs_zahran_cv(Rcpp::NumericVector x, Rcpp::NumericVector y,
                            Rcpp::NumericVector bandwidths, Rcpp::IntegerVector observations) {
  const int n = x.size(), k = bandwidths.size(), m = observations.size();
  std::vector<double> distance(n), sorted_y(n), squared(static_cast<std::size_t>(m) * k);
  std::vector<Sums> sums(k);
  Rcpp::IntegerVector unsupported(k);
  for (int row = 0; row < m; ++row) {
    // Section IV.B, first paragraph: fill in abs(X_i - X_j) and Y_i, sort both. The observation
    // itself is left out here, where theirs takes it out of the sums at the end.
    const int j = observations[row] - 1;
    int others = 0;
    for (int i = 0; i < n; ++i) {
      if (i == j) continue;
      distance[others] = std::abs(x[i] - x[j]);
      sorted_y[others++] = y[i];
    }
    quicksort_iterative(distance.data(), sorted_y.data(), others);
    sweep(distance.data(), sorted_y.data(), others, bandwidths.begin(), k, sums.data());
    for (int b = 0; b < k; ++b) {
      // "the array is indexed as k separate groups of n"
      bool supported;
      squared[static_cast<std::size_t>(b) * m + row] =
          squared_residual(sums[b], bandwidths[b], y[j], &supported);
      unsupported[b] += !supported;
    }
  }
  // Section IV.B, the reductions: one sum for each bandwidth. The least of them is R's which.min().
  Rcpp::NumericVector squares(k);
  for (int b = 0; b < k; ++b) {
    const double* group = squared.data() + static_cast<std::size_t>(b) * m;
    for (int row = 0; row < m; ++row) squares[b] += group[row];
  }
  return Rcpp::List::create(Rcpp::Named("squares") = squares,
                            Rcpp::Named("unsupported") = unsupported);
}
