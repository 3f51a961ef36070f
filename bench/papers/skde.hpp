// The serial programs of Lopez-Novoa (2015), "Contributions to the Efficient Use of General Purpose
// Coprocessors: Kernel Density Estimation as Case Study", chapter 6: density estimates on a regular
// grid with the radial Epanechnikov kernel, evaluation-point-wise (EP-KDE, algorithm 1) and
// sample-wise (S-KDE, algorithm 2), the latter with plain bounding boxes (section 3.2) or with chop
// & crop (section 3.3 and appendix), with or without atomic additions (section 4.2).
//
// What is theirs: the order of the loops, samples in the order given, one distance and one density
// for every evaluation point of a box or of a cropped slice, loops over a row of the grid left to
// the compiler's vectoriser ("#pragma simd", here OpenMP's), double precision; with atomic
// additions every row is first computed in private memory.
//
// What differs, always in their favour:
// - The half-widths of the box (eq. 6-8) are h sqrt(Sigma_kk), the norm of eq. 8 in closed form.
//   They, the inverse matrix and the constants of eq. 3 and 5 come from R, in no time.
// - What is the same for all slices (eq. 13, A_u and C_u of eq. 14) or all points (the coordinates
//   of an axis, reciprocals of the steps) is computed once; a density takes no branch.
// - Without atomic additions a density goes to the grid at once, not by way of private memory.
//
// What is corrected: b in eq. 15 is printed like a, and has the denominator 4 A_u C_u^2. Eq. 18
// turns the wrong way: eq. 14 is x = u cos - v sin, y = u sin + v cos. Eq. 19 takes the distance of
// the vertices from the sample, which bounds the ellipse only in the slice through the sample. Here
// the rectangle around the centre (eq. 16) has the half-widths sqrt((a cos)^2 + (b sin)^2) and
// sqrt((a sin)^2 + (b cos)^2), the smallest that there are.
//
// The first axis of a grid is the fastest in memory, as in R.
#ifndef KESTREL_BENCH_PAPERS_SKDE_HPP
#define KESTREL_BENCH_PAPERS_SKDE_HPP

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "skde-geometry.hpp"

namespace lopez_novoa {

// ---- EP-KDE: grid points [first, last), numbered as they lie in memory.
template <std::size_t... k>
inline void ep_kde(const Problem& p, std::size_t first, std::size_t last,
                   std::index_sequence<k...>) {
  constexpr int d = sizeof...(k);
  double inverse[d * d];
  std::copy(p.inverse, p.inverse + d * d, inverse);
  const double* const sample[] = {p.sample + k * p.samples...};
  const double constant = p.constant;
  for (std::size_t at = first; at < last; ++at) {
    double place[d];
    std::size_t rest = at;
    for (int i = 0; i < d; ++i) {
      place[i] = p.origin[i] + static_cast<double>(rest % p.points[i]) * p.step[i];
      rest /= p.points[i];
    }
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t s = 0; s < p.samples; ++s) {
      sum += density(distance(inverse, place[k] - sample[k][s]...), constant);
    }
    p.grid[at] += sum;
  }
}

// ---- S-KDE
// The present sample: its bounding box, and its contribution to the rows of the grid.
template <int d, bool atomic>
class Bump {
 public:
  explicit Bump(const Problem& p) : p_(p), scratch_(p.points[0]), axis_(p.points[0]) {
    for (int i = 0; i < p.points[0]; ++i) axis_[i] = p.origin[0] + i * p.step[0];
    std::copy(p.inverse, p.inverse + d * d, inverse_);
    stride_[0] = 1;
    for (int k = 1; k < d; ++k) stride_[k] = stride_[k - 1] * p.points[k - 1];
    for (int k = 0; k < d; ++k) per_unit_[k] = 1 / p.step[k];
  }
  // Returns false if the bounding box of sample s misses the grid.
  bool place(std::size_t s) {
    bool hits = true;
    for (int k = 0; k < d; ++k) {
      x_[k] = p_.sample[k * p_.samples + s];
      limit(k, 0, p_.reach[k]);
      hits = hits && from[k] < to[k];
      index[k] = from[k];
    }
    return hits;
  }
  // The points of axis k within `reach` of `centre`, which is relative to the sample.
  void limit(int k, double centre, double reach) {
    const Interval interval =
        points_within(x_[k] + centre - p_.origin[k], reach, per_unit_[k], p_.points[k]);
    from[k] = interval.from;
    to[k] = interval.to;
  }
  // The next index on the axes from `first` on; false after the last.
  bool next(int first) {
    for (int k = first; k < d; ++k) {
      if (++index[k] < to[k]) return true;
      index[k] = from[k];
    }
    return false;
  }
  // Evaluation point minus sample, axis k.
  double difference(int k) const { return p_.origin[k] + index[k] * p_.step[k] - x_[k]; }
  // The row at index[1], ..., index[d - 1], from[0] to to[0].
  void add_row() { add_row(std::make_index_sequence<d>()); }

  int from[d], to[d], index[d];

 private:
  template <std::size_t... k>
  void add_row(std::index_sequence<k...>) {
    const double e[] = {k == 0 ? 0 : difference(k)...};
    const int count = to[0] - from[0];
    const double x = x_[0], constant = p_.constant;
    double inverse[d * d];
    std::copy(inverse_, inverse_ + d * d, inverse);
    const double* const axis = axis_.data() + from[0];
    double* const row = p_.grid + (((k == 0 ? from[0] : index[k]) * stride_[k]) + ...);
    double* const into = atomic ? scratch_.data() : row;
#pragma omp simd
    for (int i = 0; i < count; ++i) {
      const double q = distance(inverse, k == 0 ? axis[i] - x : e[k]...);
      const double value = density(q, constant);
      into[i] = atomic ? value : into[i] + value;
    }
    if (!atomic) return;
    for (int i = 0; i < count; ++i) {
#pragma omp atomic
      row[i] += into[i];
    }
  }

  const Problem& p_;
  double inverse_[d * d], per_unit_[d], x_[d];
  std::size_t stride_[d];
  std::vector<double> scratch_, axis_;
};

// The whole bounding box.
template <int d, bool atomic>
inline void s_kde_box(const Problem& p) {
  Bump<d, atomic> bump(p);
  for (std::size_t s = 0; s < p.samples; ++s) {
    if (!bump.place(s)) continue;
    do bump.add_row();
    while (bump.next(1));
  }
}

// Slices of the axes 0 and 1, each cropped. In d = 2 the slice is the bounding box (section 4.2).
template <int d, bool atomic>
inline void s_kde_chop(const Problem& p) {
  Bump<d, atomic> bump(p);
  const Crop<d> crop(p.inverse);
  for (std::size_t s = 0; s < p.samples; ++s) {
    if (!bump.place(s)) continue;
    do {
      double e[d], centre[2], reach[2];
      for (int k = 2; k < d; ++k) e[k] = bump.difference(k);
      if (!crop.rectangle(e, centre, reach)) continue;
      for (int k = 0; k < 2; ++k) bump.limit(k, centre[k], reach[k]);
      if (bump.from[0] >= bump.to[0]) continue;
      for (bump.index[1] = bump.from[1]; bump.index[1] < bump.to[1]; ++bump.index[1]) {
        bump.add_row();
      }
    } while (bump.next(2));
  }
}

template <int d, bool atomic>
inline void s_kde(const Problem& p, bool chop) {
  if constexpr (d > 1) {
    if (chop) return s_kde_chop<d, atomic>(p);
  }
  s_kde_box<d, atomic>(p);
}

}  // namespace lopez_novoa

#endif
