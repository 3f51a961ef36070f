#include "core/fourier_density.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "core/error.hpp"
#include "core/kernel.hpp"
#include "core/fourier_forms.hpp"
#include "core/fourier_grid.hpp"
#include "core/fourier_reader.hpp"
#include "core/fourier_rows.hpp"

namespace kestrel {

namespace {

/// Values below this many times the tolerance and the largest value are summed anew.
constexpr double kFar = 1e4;

void check_task(const MatrixView& x, Span<const double> w, const EvaluationPoints& points,
                Span<const double> root, double tolerance, Span<double> out) {
  if (x.cols < 1 || x.cols > 3) {
    throw error(ErrorKind::input,
                "engine \"fourier\" takes one to three variables, not " + std::to_string(x.cols));
  }
  if (w.size != x.rows || points.dimension() != x.cols) {
    throw error(ErrorKind::input, "samples, weights and evaluation points do not fit together");
  }
  if (root.size != x.cols * x.cols || out.size != points.size()) {
    throw error(ErrorKind::internal, "bandwidth root or output of a wrong size");
  }
  if (!(tolerance >= 1e-13 && tolerance <= 0.01)) {
    throw error(ErrorKind::input, "the tolerance must be between 1e-13 and 0.01");
  }
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;

  void add(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  double length() const { return high - low; }
};

/// H in the coordinates of the grid. For points one by one the grid is laid along the axes of
/// L^-1, H = L L', where H is the identity; for a grid of points along those of the data, each in
/// units in which exp(-t'Ht/2) is as wide as that of a unit bandwidth.
Form3 choose_axes(std::size_t d, Span<const double> root, bool along_axes,
                  FourierGeometry* geometry) {
  Form3 identity{}, h{};
  for (std::size_t a = 3 - d; a < 3; ++a) identity[4 * a] = 1;
  geometry->d = d;
  if (!along_axes) {
    std::copy(root.begin(), root.end(), geometry->root.begin());
    return identity;
  }
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t l = 0; l < d; ++l) {
      double& value = h[3 * geometry->axis(k) + geometry->axis(l)];
      for (std::size_t m = 0; m <= std::min(k, l); ++m) value += root[m * d + k] * root[m * d + l];
    }
  }
  const Form3 inverse = inverse_form(h, d);
  for (std::size_t k = 0; k < d; ++k) {
    geometry->root[k * d + k] = 1 / std::sqrt(inverse[4 * geometry->axis(k)]);
  }
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t l = 0; l < d; ++l) {
      h[3 * geometry->axis(k) + geometry->axis(l)] /=
          geometry->root[k * d + k] * geometry->root[l * d + l];
    }
  }
  return h;
}

class FourierDensity {
 public:
  FourierDensity(const MatrixView& x, Span<const double> w, const EvaluationPoints& points,
                 Span<const double> root, double tolerance, const RunOptions& options)
      : x_(x), w_(w), points_(points), options_(options), on_axes_(!points.axes.empty()) {
    h_ = choose_axes(x.cols, root, on_axes_, &geometry_);
    geometry_.tolerance = tolerance;
    for (std::size_t k = 0; k < x.cols; ++k) {
      const double length = geometry_.root[k * x.cols + k];
      if (!(length > 0) || !std::isfinite(length) || !std::isfinite(1 / length)) {
        throw error(ErrorKind::input, "a bandwidth is outside the range of numbers");
      }
      geometry_.scale[k] = 1 / length;
      geometry_.determinant *= length;
    }
    measure();
  }

  /// Chooses period, modes and cells; false when no point is within reach of a sample.
  bool lay(double bytes);
  void compute(Span<double> out);
  /// A lower bound on the largest value of the estimate.
  double least_peak() const { return least_share_ * peak() * weight_; }

 private:
  double peak() const { return peak_of_form(h_, geometry_.d) / geometry_.determinant; }
  void measure();
  void spread_and_smooth(std::vector<double>* cells);

  MatrixView x_;
  Span<const double> w_;
  const EvaluationPoints& points_;
  const RunOptions& options_;
  bool on_axes_;
  FourierGeometry geometry_;
  Form3 h_;
  double weight_ = 0, least_share_ = 0;
  std::array<Range, 3> of_samples_, of_points_;
  std::array<std::array<double, 2>, 3> readable_{};
  std::unique_ptr<FourierWindow> window_;
};

void FourierDensity::measure() {
  const std::size_t d = x_.cols;
  double heaviest = 0;
  std::array<Range, 3> given;
  for (std::size_t i = 0; i < x_.rows; ++i) {
    if (!(w_[i] > 0)) continue;
    weight_ += w_[i];
    heaviest = std::max(heaviest, w_[i]);
    for (std::size_t k = 0; k < d; ++k) given[k].add(x_(i, k));
  }
  if (!(weight_ > 0)) return;
  for (std::size_t k = 0; k < d; ++k) {
    geometry_.centre[k] = given[k].low + 0.5 * given[k].length();
  }
  for (std::size_t i = 0; i < x_.rows; ++i) {
    if (!(w_[i] > 0)) continue;
    const Point3 z = geometry_.whiten(x_, i);
    for (std::size_t a = 3 - d; a < 3; ++a) of_samples_[a].add(z[a]);
  }
  if (on_axes_) {
    for (std::size_t k = 0; k < d; ++k) {
      for (const double v : points_.axes[k]) {
        of_points_[geometry_.axis(k)].add((v - geometry_.centre[k]) * geometry_.scale[k]);
      }
    }
  } else {
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const Point3 z = whitened_point(geometry_, points_, i);
      for (std::size_t a = 3 - d; a < 3; ++a) of_points_[a].add(z[a]);
    }
  }
  // The largest value is at least the heaviest sample's own term, and at least the mean over a box
  // that holds 0.93 of the weight: that of the samples and 2.1 standard deviations around it.
  double by_volume = 0.93 / peak_of_form(h_, d);
  for (std::size_t a = 3 - d; a < 3; ++a) {
    by_volume /= of_samples_[a].length() + 4.2 * std::sqrt(h_[4 * a]);
  }
  least_share_ = std::max(by_volume, heaviest / weight_);
}

bool FourierDensity::lay(double bytes) {
  FourierGeometry& g = geometry_;
  if (!(weight_ > 0)) return false;
  // Errors of phi are relative to 1, those of the estimate to its largest value.
  const double allowed = g.tolerance * std::min(1.0, least_share_);
  g.cut = std::sqrt(2 * std::log(9 / allowed));
  g.taps = FourierWindow::taps_for(allowed);
  window_ = std::make_unique<FourierWindow>(g.taps);
  g.least = g.most = 1;
  g.trimmed = true;
  Point3 cells{1, 1, 1}, modes{};
  std::array<Range, 3> all;
  for (std::size_t a = 3 - g.d; a < 3; ++a) {
    const double reach = std::sqrt(2 * h_[4 * a] * std::log(10 / allowed));
    Range samples = of_samples_[a], &points = of_points_[a];
    points = {std::max(points.low, samples.low - reach),
              std::min(points.high, samples.high + reach)};
    samples = {std::max(samples.low, points.low - reach),
               std::min(samples.high, points.high + reach)};
    readable_[a] = {points.low, points.high};
    if (!(points.length() >= 0) || !(samples.length() >= 0)) return false;
    g.low[a] = samples.low;
    g.high[a] = samples.high;
    all[a] = {std::min(samples.low, points.low), std::max(samples.high, points.high)};
    // No sample may be within reach of a point on the other side of the period.
    const double around = reach + std::max(samples.high - points.low, points.high - samples.low);
    // The window takes up some cells of about this length at each end.
    const double cell = kPi / (1.25 * g.cut);
    g.period[a] = std::max(around, all[a].length() + (FourierWindow::kMostTaps + 4) * cell);
    modes[a] = std::ceil(g.cut / g.frequency_step(a));
    cells[a] = std::ceil(2.5 * modes[a]);
  }
  const double needed = 8 * cells[0] * cells[1] * (cells[2] + 2);
  if (!(needed <= bytes)) {
    throw error(ErrorKind::memory, "a grid for this bandwidth needs " +
                                       std::to_string(needed / 1e9) + " GB, more than the " +
                                       std::to_string(bytes / 1e9) + " GB allowed");
  }
  for (std::size_t a = 0; a < 3; ++a) {
    g.box.most[a] = static_cast<std::size_t>(modes[a]);
    g.box.cells[a] = a < 3 - g.d ? 1 : smooth_number(static_cast<std::size_t>(cells[a]));
    if (a >= 3 - g.d) {
      g.origin[a] =
          all[a].low - (g.taps / 2 + 1) * g.period[a] / static_cast<double>(g.box.cells[a]);
    }
  }
  return true;
}

void FourierDensity::spread_and_smooth(std::vector<double>* cells) {
  const TransformBox& box = geometry_.box;
  FourierGrid grid(geometry_);
  grid.add(x_, w_, options_);
  *cells = grid.take_cells();
  forward_transform(cells->data(), box, options_.parallel);
  std::array<std::vector<double>, 3> unspread;
  double volume = geometry_.determinant;
  for (std::size_t a = 0; a < 3; ++a) {
    if (box.cells[a] > 1) volume *= geometry_.period[a];
    for (std::size_t k = 0; k <= box.most[a]; ++k) {
      const double f = static_cast<double>(k) / static_cast<double>(box.cells[a]);
      const double transform = box.cells[a] == 1 ? 1.0 : window_->transform(f);
      unspread[a].push_back(1 / (transform * transform));
    }
  }
  Form3 q = h_;
  for (std::size_t e = 0; e < 9; ++e) {
    q[e] *= geometry_.frequency_step(e / 3) * geometry_.frequency_step(e % 3);
  }
  const GaussianRows rows(q[8]);
  const std::size_t columns = 2 * box.most[1] + 1, length = box.most[2] + 1;
  std::vector<AlignedBuffer> scratch(static_cast<std::size_t>(parallel_threads(options_.parallel)));
  parallel_for((2 * box.most[0] + 1) * columns, options_.parallel, [&](std::size_t r, int worker) {
    AlignedBuffer& gaussian = scratch[static_cast<std::size_t>(worker)];
    if (gaussian.data() == nullptr) gaussian.resize(length + kRowPadding);
    const std::ptrdiff_t k0 =
        static_cast<std::ptrdiff_t>(r / columns) - static_cast<std::ptrdiff_t>(box.most[0]);
    const std::ptrdiff_t k1 =
        static_cast<std::ptrdiff_t>(r % columns) - static_cast<std::ptrdiff_t>(box.most[1]);
    const double a = static_cast<double>(k0), b = static_cast<double>(k1);
    rows.fill(q[2] * a + q[5] * b, (q[0] * a + 2 * q[1] * b) * a + q[4] * b * b, 0, length,
              gaussian.data());
    const double scale = unspread[0][static_cast<std::size_t>(std::abs(k0))] *
                         unspread[1][static_cast<std::size_t>(std::abs(k1))] / volume;
    double* mode = cells->data() + box.row(box.cell_of_mode(0, k0), box.cell_of_mode(1, k1));
    for (std::size_t k = 0; k < length; ++k) {
      const double factor = scale * unspread[2][k] * gaussian.data()[k];
      mode[2 * k] *= factor;
      mode[2 * k + 1] *= factor;
    }
  });
  inverse_transform(cells->data(), box, options_.parallel);
}

void FourierDensity::compute(Span<double> out) {
  std::vector<double> cells;
  spread_and_smooth(&cells);
  const FourierReader reader(geometry_, *window_, readable_, options_.table);
  if (on_axes_) {
    reader.read_axes(cells.data(), points_.axes, options_.parallel, out);
  } else {
    reader.read_points(cells.data(), points_, options_.parallel, out);
  }
}

}  // namespace

void fourier_density(const MatrixView& x, Span<const double> w, const EvaluationPoints& points,
                     Span<const double> root, double tolerance, double bytes,
                     const RunOptions& options, Span<double> out) {
  check_task(x, w, points, root, tolerance, out);
  std::fill(out.begin(), out.end(), 0.0);
  double far = std::numeric_limits<double>::infinity();
  {
    FourierDensity density(x, w, points, root, tolerance, options);
    if (density.lay(bytes)) {
      density.compute(out);
      const double largest = *std::max_element(out.begin(), out.end());
      far = kFar * tolerance * std::max(largest, density.least_peak());
    }
  }
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < out.size; ++i) {
    if (!(out[i] >= far)) chosen.push_back(i);
  }
  density_of_far_points(x, w, points, chosen, root, tolerance, options, out);
}

}  // namespace kestrel
