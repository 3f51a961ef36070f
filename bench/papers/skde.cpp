// The serial programs of Lopez-Novoa (2015), "Contributions to the Efficient Use of General Purpose
// Coprocessors: Kernel Density Estimation as Case Study", chapter 6: density estimates on a regular
// grid with the radial Epanechnikov kernel, evaluation-point-wise (EP-KDE, algorithm 1) and
// sample-wise (S-KDE, algorithm 2), the latter with plain bounding boxes (section 3.2) or with chop
// & crop (section 3.3 and appendix), with or without atomic additions (section 4.2).
//
// What is theirs: the order of the loops, samples as they come, one distance and one density for
// every evaluation point of a box or of a cropped slice, loops over a row of the grid left to the
// vector unit ("#pragma simd", here OpenMP's), double precision; with atomic additions every row is
// first computed in private memory.
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
//
// Last, not theirs: in one dimension the plainest vector loop, each sample adding its parabola to
// the points that it reaches.
// [[Rcpp::plugins(cpp17, openmp)]]
#include <Rcpp.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace {

// What all methods share. Per axis, d values: where the grid begins, its steps, its points, and how
// far a sample reaches. inverse: d * d, of H = h^2 Sigma. constant: the density that a sample has
// at its own place, (d + 2) / (2 c_d) |H|^-1/2 / n (eq. 3 and 5). grid: the estimate is added here.
struct Problem {
  const double* sample;  // m * d, column after column
  std::size_t samples;   // m
  const double* origin;
  const double* step;
  const int* points;
  const double* reach;
  const double* inverse;
  double constant;
  double* grid;
};

// computeDistance, eq. 11: the quadratic form of an evaluation point minus a sample, with the
// elements of the inverse matrix.
inline double distance(const double* m, double x) { return m[0] * x * x; }
inline double distance(const double* m, double x, double y) {
  return m[0] * x * x + 2 * m[1] * x * y + m[3] * y * y;
}
inline double distance(const double* m, double x, double y, double z) {
  return m[0] * x * x + 2 * m[1] * x * y + m[4] * y * y + 2 * m[2] * x * z + 2 * m[5] * y * z +
         m[8] * z * z;
}
inline double distance(const double* m, double x, double y, double z, double t) {
  return m[0] * x * x + 2 * m[1] * x * y + m[5] * y * y + 2 * m[2] * x * z + 2 * m[6] * y * z +
         m[10] * z * z + 2 * m[3] * x * t + 2 * m[7] * y * t + 2 * m[11] * z * t + m[15] * t * t;
}

// computeDensity, eq. 3, without a branch.
inline double density(double q, double constant) { return constant * std::max(0.0, 1 - q); }

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
// Section 3.3 and appendix: the rectangle around the ellipse that a slice cuts from the ellipsoid.
template <int d>
class Crop {
 public:
  explicit Crop(const double* m) : m_(m) {
    const double a = m[0], b = 2 * m[1], c = m[d + 1];
    const double theta = std::atan2(b, a - c) / 2;  // eq. 13
    cos_ = std::cos(theta);
    sin_ = std::sin(theta);
    a_u_ = a * cos_ * cos_ + b * cos_ * sin_ + c * sin_ * sin_;  // eq. 14
    c_u_ = a * sin_ * sin_ - b * cos_ * sin_ + c * cos_ * cos_;
    a_square_ = 1 / (4 * a_u_ * a_u_ * c_u_);
    b_square_ = 1 / (4 * a_u_ * c_u_ * c_u_);
    half_a_ = 1 / (2 * a_u_);
    half_c_ = 1 / (2 * c_u_);
  }
  // e: differences of the slice and the sample on the axes 2 to d - 1. Gives the centre of the
  // ellipse, from the sample, and its half-widths; false where the slice misses the ellipsoid.
  bool rectangle(const double* e, double* centre, double* reach) const {
    double d_linear = 0, e_linear = 0, constant = -1;  // D', E' and F' of eq. 12
    for (int k = 2; k < d; ++k) {
      d_linear += 2 * m_[k] * e[k];
      e_linear += 2 * m_[d + k] * e[k];
      for (int l = 2; l < d; ++l) constant += m_[k * d + l] * e[k] * e[l];
    }
    const double d_u = d_linear * cos_ + e_linear * sin_;  // eq. 14
    const double e_u = -d_linear * sin_ + e_linear * cos_;
    const double numerator =
        -4 * constant * a_u_ * c_u_ + c_u_ * d_u * d_u + a_u_ * e_u * e_u;  // eq. 15
    if (!(numerator > 0)) return false;
    const double a2 = numerator * a_square_, b2 = numerator * b_square_;
    const double c_x = -d_u * half_a_, c_y = -e_u * half_c_;  // eq. 16
    centre[0] = c_x * cos_ - c_y * sin_;                      // eq. 18
    centre[1] = c_x * sin_ + c_y * cos_;
    reach[0] = std::sqrt(a2 * cos_ * cos_ + b2 * sin_ * sin_);  // eq. 19
    reach[1] = std::sqrt(a2 * sin_ * sin_ + b2 * cos_ * cos_);
    return true;
  }

 private:
  const double* m_;
  double cos_, sin_, a_u_, c_u_, a_square_, b_square_, half_a_, half_c_;
};

// The sample at hand: its bounding box, and what is added to the rows of the grid.
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
  // False where the bounding box of sample s misses the grid.
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
  // adjustBoundingBox: the points of axis k within `reach` of `centre`, counted from the sample.
  void limit(int k, double centre, double reach) {
    const double middle = x_[k] + centre - p_.origin[k];
    const double low = std::ceil((middle - reach) * per_unit_[k]);
    const double high = std::floor((middle + reach) * per_unit_[k]) + 1;
    const double points = p_.points[k];
    from[k] = static_cast<int>(std::min(std::max(low, 0.0), points));
    to[k] = static_cast<int>(std::max(std::min(high, points), 0.0));
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

// All of the bounding box.
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

// ---- one function for each instruction set, everything inlined into it
#if defined(__x86_64__)
#define EVERY_ISA __attribute__((flatten, target_clones("avx512f", "avx2", "default")))
#else
#define EVERY_ISA
#endif

EVERY_ISA void ep_kde(const Problem& p, int d, std::size_t first, std::size_t last) {
  switch (d) {
    case 1: return ep_kde(p, first, last, std::make_index_sequence<1>());
    case 2: return ep_kde(p, first, last, std::make_index_sequence<2>());
    case 3: return ep_kde(p, first, last, std::make_index_sequence<3>());
    default: return ep_kde(p, first, last, std::make_index_sequence<4>());
  }
}

EVERY_ISA void s_kde(const Problem& p, int d, bool chop) {
  switch (d) {
    case 1: return s_kde<1, false>(p, chop);
    case 2: return s_kde<2, false>(p, chop);
    case 3: return s_kde<3, false>(p, chop);
    default: return s_kde<4, false>(p, chop);
  }
}

EVERY_ISA void s_kde_atomic(const Problem& p, int d, bool chop) {
  switch (d) {
    case 1: return s_kde<1, true>(p, chop);
    case 2: return s_kde<2, true>(p, chop);
    case 3: return s_kde<3, true>(p, chop);
    default: return s_kde<4, true>(p, chop);
  }
}

// d = 1. In steps of the grid: a sample at c reaches R, and adds top - bend (i - c)^2 to point i.
EVERY_ISA void direct_rows(const Problem& p) {
  const double reach = p.reach[0] / p.step[0], per_unit = 1 / p.step[0];
  const double top = p.constant, bend = p.constant / (reach * reach);
  double* const grid = p.grid;
  for (std::size_t s = 0; s < p.samples; ++s) {
    const double c = (p.sample[s] - p.origin[0]) * per_unit;
    const double first = std::max(std::ceil(c - reach), 0.0);
    const double last = std::min(std::floor(c + reach), p.points[0] - 1.0);
    const int from = static_cast<int>(std::min(first, last + 1)), to = static_cast<int>(last) + 1;
#pragma omp simd
    for (int i = from; i < to; ++i) {
      const double u = i - c;
      grid[i] += top - bend * u * u;
    }
  }
}

// Arguments as of the exported functions.
Problem problem(const Rcpp::NumericMatrix& x, const Rcpp::List& task, Rcpp::NumericVector& grid) {
  const int d = x.ncol();
  if (d < 1 || d > 4) Rcpp::stop("one to four axes");
  // Of the task's own vectors, which the caller keeps: nothing is coerced.
  const auto element = [&](const char* name, SEXPTYPE type, R_xlen_t length) -> SEXP {
    const SEXP values = task[name];
    if (TYPEOF(values) != type || Rf_xlength(values) != length)
      Rcpp::stop("not as it should be: %s", name);
    return values;
  };
  const auto numbers = [&](const char* name, R_xlen_t length) {
    return static_cast<const double*>(REAL(element(name, REALSXP, length)));
  };
  Problem p;
  p.sample = x.begin();
  p.samples = x.nrow();
  p.origin = numbers("origin", d);
  p.step = numbers("step", d);
  p.points = INTEGER(element("points", INTSXP, d));
  p.reach = numbers("reach", d);
  p.inverse = numbers("inverse", d * d);
  p.constant = *numbers("constant", 1);
  p.grid = grid.begin();
  R_xlen_t size = 1;
  for (int k = 0; k < d; ++k) size *= p.points[k];
  if (grid.size() != size) Rcpp::stop("grid has the wrong length");
  return p;
}

}  // namespace

// x: the samples used, m * d, d = 1 to 4. task: list of origin, step (real) and points (integer) of
// the grid, reach = h sqrt(diag(Sigma)), inverse of H, and constant (see Problem). grid, real,
// first axis fastest: the densities are added to it in place.

// Grid points first to last, numbered from 1.
// [[Rcpp::export]]
void lopez_novoa_ep_kde(Rcpp::NumericMatrix x, Rcpp::List task, double first, double last,
                        Rcpp::NumericVector grid) {
  const Problem p = problem(x, task, grid);
  if (first < 1 || last > grid.size()) Rcpp::stop("points outside of the grid");
  ep_kde(p, x.ncol(), static_cast<std::size_t>(first) - 1, static_cast<std::size_t>(last));
}

// chop: chop & crop where d >= 2 (d = 2: the slice is the box); atomic: atomic additions.
// [[Rcpp::export]]
void lopez_novoa_s_kde(Rcpp::NumericMatrix x, Rcpp::List task, bool chop, bool atomic,
                       Rcpp::NumericVector grid) {
  const Problem p = problem(x, task, grid);
  atomic ? s_kde_atomic(p, x.ncol(), chop) : s_kde(p, x.ncol(), chop);
}

// d = 1.
// [[Rcpp::export]]
void direct_rows(Rcpp::NumericMatrix x, Rcpp::List task, Rcpp::NumericVector grid) {
  const Problem p = problem(x, task, grid);
  if (x.ncol() != 1) Rcpp::stop("one axis");
  direct_rows(p);
}
