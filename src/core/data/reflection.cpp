#include "core/data/reflection.hpp"

#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "core/base/whole.hpp"
#include "core/data/passes.hpp"

namespace kestrel {

namespace {

/// v + k p for whole numbers k from `first` to `last`, which are doubles since there may be many.
struct Lattice {
  long double v, p;
  double first, last;

  double count() const { return last < first ? 0 : last - first + 1; }
  double at(double k) const { return static_cast<double>(v + k * p); }
};

/// How far two bounds move a value by a period, or by two reflections.
long double step_of(const ReflectingAxis& axis) {
  return (axis.periodic ? 1 : 2) * (static_cast<long double>(axis.upper) - axis.lower);
}

/// The values within reach of two bounds that v becomes by whole periods, or by an even number of
/// reflections.
Lattice lattice_of(const ReflectingAxis& axis, long double v) {
  const long double p = step_of(axis);
  const long double low = static_cast<long double>(axis.lower) - axis.reach - v;
  const long double high = static_cast<long double>(axis.upper) + axis.reach - v;
  return {v, p, static_cast<double>(std::ceil(low / p)), static_cast<double>(std::floor(high / p))};
}

long double mirrored(double bound, double x) { return 2 * static_cast<long double>(bound) - x; }

/// Whether x, within the bounds, has images. An infinite bound is not near.
bool has_images(const ReflectingAxis& axis, double x) {
  return x - axis.lower <= axis.reach || axis.upper - x <= axis.reach;
}

bool has_two_bounds(const ReflectingAxis& axis) {
  return std::isfinite(axis.lower) && std::isfinite(axis.upper);
}

/// x and its images.
double count_of(const ReflectingAxis& axis, double x) {
  if (!has_images(axis, x)) return 1;
  if (!has_two_bounds(axis)) return 2;
  const double even = lattice_of(axis, x).count();
  return axis.periodic ? even : even + lattice_of(axis, mirrored(axis.lower, x)).count();
}

/// Row i and its images.
double count_of(const std::vector<ReflectingAxis>& axes, const MatrixView& x, std::size_t i) {
  double rows = 1;
  for (std::size_t k = 0; k < x.cols; ++k) rows *= count_of(axes[k], x(i, k));
  return rows;
}

/// x, and after it its images.
void images_of(const ReflectingAxis& axis, double x, std::vector<double>* out) {
  out->assign(1, x);
  if (!has_images(axis, x)) return;
  if (!has_two_bounds(axis)) {
    const double bound = std::isfinite(axis.lower) ? axis.lower : axis.upper;
    out->push_back(static_cast<double>(mirrored(bound, x)));
    return;
  }
  const Lattice odd = lattice_of(axis, mirrored(axis.lower, x)), even = lattice_of(axis, x);
  for (double k = odd.first; k <= odd.last && !axis.periodic; ++k) out->push_back(odd.at(k));
  for (double k = even.first; k <= even.last; ++k) {
    if (k != 0) out->push_back(even.at(k));
  }
}

/// Rows and images of each part of a pass.
std::vector<double> count_parts(const MatrixView& x, const std::vector<ReflectingAxis>& axes,
                                const ParallelOptions& options) {
  std::vector<double> of_part(parts_of_pass(x.rows), 0.0);
  pass_over(x.rows, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) of_part[part] += count_of(axes, x, i);
  });
  return of_part;
}

}  // namespace

double count_reflected(const MatrixView& x, const std::vector<ReflectingAxis>& axes,
                       const ParallelOptions& options) {
  const std::vector<double> of_part = count_parts(x, axes, options);
  return std::accumulate(of_part.begin(), of_part.end(), 0.0);
}

void reflect_rows(const MatrixView& x, Weights w, const std::vector<ReflectingAxis>& axes,
                  const ParallelOptions& options, Span<double> x_out, Span<double> w_out) {
  const std::size_t n = x.rows, d = x.cols, rows = x_out.size / d;
  const std::vector<double> of_part = count_parts(x, axes, options);
  if (std::accumulate(of_part.begin(), of_part.end(), 0.0) != static_cast<double>(rows)) {
    throw error(ErrorKind::internal, "the images are not as many as were counted");
  }
  // Where the images of each part begin.
  std::vector<std::size_t> first(of_part.size(), n);
  for (std::size_t part = 1; part < first.size(); ++part) {
    const std::size_t before = whole_number<std::size_t>(of_part[part - 1]);
    first[part] = first[part - 1] + before - kSamplesOfPart;
  }
  pass_over(n, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    for (std::size_t k = 0; k < d; ++k) {
      for (std::size_t i = begin; i < end; ++i) x_out[k * rows + i] = x(i, k);
    }
    std::vector<std::vector<double>> images(d);
    std::vector<std::size_t> chosen(d);  // one of the images of each variable, the last the fastest
    std::size_t next = first[part];
    for (std::size_t i = begin; i < end; ++i) {
      if (w_out.size > 0) w_out[i] = w[i];
      std::size_t of_row = 1;
      for (std::size_t k = 0; k < d; ++k) {
        images_of(axes[k], x(i, k), &images[k]);
        of_row *= images[k].size();
        chosen[k] = 0;
      }
      for (std::size_t image = 1; image < of_row; ++image, ++next) {
        if (image % kPolledItems == 0) poll_if_due(options);
        for (std::size_t k = d; k-- > 0 && ++chosen[k] == images[k].size();) chosen[k] = 0;
        if (w_out.size > 0) w_out[next] = w[i];
        for (std::size_t k = 0; k < d; ++k) x_out[k * rows + next] = images[k][chosen[k]];
      }
    }
  });
}

std::vector<ImageMap> image_maps(const ReflectingAxis& axis, double min, double max, double reach) {
  std::vector<ImageMap> maps;
  if (!has_two_bounds(axis)) {
    const double bound = std::isfinite(axis.lower) ? axis.lower : axis.upper;
    if (!std::isfinite(bound)) return maps;
    const long double shift = 2 * static_cast<long double>(bound);
    if (shift >= 2 * static_cast<long double>(min) - reach &&
        shift <= 2 * static_cast<long double>(max) + reach) {
      maps.push_back({-1, shift});
    }
    return maps;
  }
  // Distances of values are at most `farthest`, and their sums from 2 min to 2 max.
  const long double farthest = static_cast<long double>(max) - min + reach;
  const long double step = step_of(axis);
  const double moves = static_cast<double>(std::floor(farthest / step));
  for (double k = -moves; k <= moves; ++k) {
    if (k != 0) maps.push_back({1, k * step});
  }
  if (axis.periodic) return maps;
  const long double turn = 2 * static_cast<long double>(axis.lower);
  const double first =
      static_cast<double>(std::ceil((2 * static_cast<long double>(min) - reach - turn) / step));
  const double last =
      static_cast<double>(std::floor((2 * static_cast<long double>(max) + reach - turn) / step));
  for (double k = first; k <= last; ++k) maps.push_back({-1, turn + k * step});
  return maps;
}

}  // namespace kestrel
