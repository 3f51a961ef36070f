#include "core/fourier/modes.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "core/base/aligned_buffer.hpp"
#include "core/base/error.hpp"
#include "core/base/summation.hpp"
#include "core/base/whole.hpp"
#include "core/fourier/rows.hpp"

namespace kestrel {

namespace {

/// Modes of a work item, and pairs of outliers of one.
constexpr std::size_t kItemModes = std::size_t{1} << 15, kItemPairs = 1024;
/// The sums go this far, in units of the bandwidth, beyond the frequency where the Gaussian has
/// decreased to the tolerance. So they change little when modes enter or leave with the bandwidth.
constexpr double kBeyond = 1.0;

/// k^e for e = 0, ..., kHighestDegree.
void powers_of(double k, double* power) {
  power[0] = 1.0;
  for (int e = 1; e <= kHighestDegree; ++e) power[e] = power[e - 1] * k;
}

}  // namespace

// ---- making

FourierModes::FourierModes(FourierGrid&& grid, double bytes, const RunOptions& options)
    : geometry_(grid.geometry()), weight_(grid.weight()) {
  const double square = grid.weight() * grid.weight();
  squared_share_ = grid.squared_weights() / square;
  for (const double w : grid.tail().outlier_weight) outlier_share_ += w * w / square;
  find_pairs(grid.tail(), grid.weight(), bytes);
  RawVector<double> cells = grid.take_cells();
  forward_transform(cells.data(), geometry_.box, options.parallel);
  keep_powers(grid, cells, options);
}

void FourierModes::find_pairs(const FourierTail& tail, double weight, double bytes) {
  const std::size_t max = whole_number<std::size_t>(std::max(0.0, bytes / sizeof(Pair)));
  const bool all = visit_tail_pairs(tail, geometry_.reach,
                                    [&](const Point3& a, const Point3& b, double product) {
                                      const Point3 u{a[0] - b[0], a[1] - b[1], a[2] - b[2]};
                                      pair_.push_back({u, 2 * product / (weight * weight)});
                                      return pair_.size() < max;
                                    });
  if (!all) {
    throw error(ErrorKind::memory, "there are too many pairs among the outliers to keep them all");
  }
}

void FourierModes::keep_powers(const FourierGrid& grid, const RawVector<double>& transformed,
                               const RunOptions& options) {
  const TransformBox& box = geometry_.box;
  std::array<std::vector<double>, 3> unspread = window_transforms(grid.window(), box);
  for (std::vector<double>& axis : unspread) {
    for (double& value : axis) value = 1 / value;
  }
  const std::size_t length = box.max[2] + 1;
  power_.resize(geometry_.modes());
  if (geometry_.phases) wave_.resize(2 * geometry_.modes());
  const double unit = 1 / grid.weight();
  for_rows_of_modes(
      box, options.parallel, [&](std::ptrdiff_t k0, std::ptrdiff_t k1, std::size_t row, int) {
        const double scale = unit * unspread[0][static_cast<std::size_t>(std::abs(k0))] *
                             unspread[1][static_cast<std::size_t>(std::abs(k1))];
        const double* from =
            transformed.data() + box.row(box.cell_of_mode(0, k0), box.cell_of_mode(1, k1));
        double* to = power_.data() + row * length;
        for (std::size_t k = 0; k < length; ++k) {
          const double factor = scale * unspread[2][k];
          const double re = factor * from[2 * k], im = factor * from[2 * k + 1];
          to[k] = (k == 0 ? 1 : 2) * (re * re + im * im);
          if (wave_.empty()) continue;
          wave_[2 * (row * length + k)] = re * grid.weight();
          wave_[2 * (row * length + k) + 1] = im * grid.weight();
        }
      });
}

double cut_of_degree(const FourierGeometry& geometry, int degree) {
  // x^degree exp(-x^2 / 2) is compared with its mean under the Gaussian, (degree - 1)!!. Of high
  // degrees, whose terms are largest far out, so is their sum over the sphere of radius x.
  double x = geometry.cut, mean = 1.0;
  for (int factor = degree - 1; factor > 1; factor -= 2) mean *= factor;
  const double ground = std::log(9 / (geometry.tolerance * mean));
  const double power = degree > 2 ? degree + static_cast<double>(geometry.d) - 1 : degree;
  for (int step = 0; step < 30; ++step) x = std::sqrt(2 * (ground + power * std::log(x)));
  return x;
}

// ---- densities

void FourierModes::density_cells(const FourierGeometry& to, const FourierWindow& window,
                                 const Form3& h, const ModeDerivative& derivative,
                                 const ParallelOptions& options, double* cells) const {
  if (wave_.empty()) throw error(ErrorKind::internal, "the modes have no phases");
  const TransformBox &box = to.box, &from = geometry_.box;
  // By axis and mode: what the window of the reading takes away, and the shift of the origin.
  const std::array<std::vector<double>, 3> transform = window_transforms(window, box);
  std::array<std::vector<std::complex<double>>, 3> factor;
  double volume = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    if (box.cells[a] > 1) volume *= to.period[a];
    const double shift = to.frequency_step(a) * (to.origin[a] - geometry_.origin[a]);
    for (std::size_t k = 0; k <= box.max[a]; ++k) {
      factor[a].push_back(std::polar(1 / transform[a][k], static_cast<double>(k) * shift));
    }
  }
  const auto factor_of = [&](std::size_t a, std::ptrdiff_t k) {
    const std::complex<double> value = factor[a][static_cast<std::size_t>(std::abs(k))];
    return k < 0 ? std::conj(value) : value;
  };
  const GaussianOfRows gaussian(h, to);
  const std::size_t length = box.max[2] + 1;
  std::vector<AlignedBuffer> scratch(parallel_workers(box.rows_of_modes(), options));
  for_rows_of_modes(
      box, options, [&](std::ptrdiff_t k0, std::ptrdiff_t k1, std::size_t, int worker) {
        AlignedBuffer& weight = scratch[static_cast<std::size_t>(worker)];
        if (weight.data() == nullptr) weight.resize(length + kRowPadding);
        gaussian.fill(k0, k1, length, weight.data());
        derivative.scale(k0, k1, length, weight.data());
        const std::size_t i = static_cast<std::size_t>(k0 +
                                                       static_cast<std::ptrdiff_t>(from.max[0])),
                          j = static_cast<std::size_t>(k1 +
                                                       static_cast<std::ptrdiff_t>(from.max[1]));
        const double* wave = wave_.data() + 2 * (i * (2 * from.max[1] + 1) + j) * (from.max[2] + 1);
        const std::complex<double> of_row =
            (derivative.is_odd() ? std::complex<double>(0, 1) : 1.0) * factor_of(0, k0) *
            factor_of(1, k1) / volume;
        double* mode = cells + box.row(box.cell_of_mode(0, k0), box.cell_of_mode(1, k1));
        for (std::size_t k = 0; k < length; ++k) {
          const std::complex<double> value = std::complex<double>(wave[2 * k], wave[2 * k + 1]) *
                                             of_row * factor[2][k] * weight.data()[k];
          mode[2 * k] = value.real();
          mode[2 * k + 1] = value.imag();
        }
      });
  inverse_transform(cells, box, options);
}

// ---- sums

/// A row of modes inside an ellipsoid.
struct FourierModes::Row {
  double k0, k1;
  std::ptrdiff_t first;  // the first value of the last mode number
  std::size_t count;
  const double* power;
  double* scratch;  // 2 (count + kRowPadding) doubles
  std::size_t stride;

  void fill(const GaussianOfRows& gaussian, double* out) const {
    gaussian.fill(k0, k1, first, count, out);
  }
  void times_power(double* weight) const {
    for (std::size_t i = 0; i < count; ++i) weight[i] *= power[i];
  }
  /// Adds the sums of the monomials of the mode numbers with these weights.
  void add(double* weight, const std::vector<Exponents>& monomials, int degree,
           double* total) const {
    double sum[kHighestDegree + 1], of_k0[kHighestDegree + 1], of_k1[kHighestDegree + 1];
    power_sums(weight, first, count, degree, sum);
    powers_of(k0, of_k0);
    powers_of(k1, of_k1);
    for (std::size_t m = 0; m < monomials.size(); ++m) {
      const Exponents& e = monomials[m];
      total[m] += of_k0[e[0]] * of_k1[e[1]] * sum[e[2]];
    }
  }
};

template <class Visit>
std::vector<double> FourierModes::sum_rows(const Form3& h, double cut, std::size_t sums,
                                           const RunOptions& options, const Visit& visit) const {
  const TransformBox& box = geometry_.box;
  const Form3 q = in_modes(h, geometry_), inverse = inverse_form(h, geometry_.d);
  // The ellipsoid t'ht <= cut^2 and the box around it.
  std::array<std::size_t, 3> max{};
  for (std::size_t a = 3 - geometry_.d; a < 3; ++a) {
    const double limit = cut * std::sqrt(inverse[4 * a]) / geometry_.frequency_step(a);
    max[a] =
        limit < static_cast<double>(box.max[a]) ? whole_number<std::size_t>(limit) : box.max[a];
  }
  const std::size_t columns = 2 * max[1] + 1, rows = (2 * max[0] + 1) * columns;
  const std::size_t of_item = std::max<std::size_t>(1, kItemModes / (max[2] + 1));
  const std::size_t items = (rows + of_item - 1) / of_item;
  const std::size_t stride = max[2] + 2 + kRowPadding;
  std::vector<double> partial(items * sums, 0.0);
  std::vector<AlignedBuffer> scratch(parallel_workers(items, options.parallel));
  parallel_for(items, options.parallel, [&](std::size_t item, int worker) {
    AlignedBuffer& memory = scratch[static_cast<std::size_t>(worker)];
    if (memory.data() == nullptr) memory.resize(2 * stride);
    for (std::size_t r = item * of_item; r < std::min(rows, (item + 1) * of_item); ++r) {
      Row row;
      row.k0 = static_cast<double>(r / columns) - static_cast<double>(max[0]);
      row.k1 = static_cast<double>(r % columns) - static_cast<double>(max[1]);
      const double b = q[2] * row.k0 + q[5] * row.k1;
      const double g = (q[0] * row.k0 + 2 * q[1] * row.k1) * row.k0 + q[4] * row.k1 * row.k1;
      const double inside = b * b - q[8] * (g - cut * cut);
      if (!(inside >= 0)) continue;
      const double half = std::sqrt(inside) / q[8], middle = -b / q[8];
      const double first = std::max(0.0, std::ceil(middle - half));
      const double last = std::min(static_cast<double>(box.max[2]), std::floor(middle + half));
      if (!(first <= last)) continue;
      row.first = whole_number<std::ptrdiff_t>(first);
      row.count = whole_number<std::size_t>(last - first) + 1;
      const std::size_t i = box.max[0] - max[0] + r / columns;
      const std::size_t j = box.max[1] - max[1] + r % columns;
      row.power = power_.data() + (i * (2 * box.max[1] + 1) + j) * (box.max[2] + 1) +
                  static_cast<std::size_t>(row.first);
      row.scratch = memory.data();
      row.stride = stride;
      visit(row, partial.data() + item * sums);
    }
  });
  std::vector<double> total(sums);
  for (std::size_t s = 0; s < sums; ++s) {
    total[s] = pairwise_sum(partial.data() + s, items, sums);
  }
  return total;
}

void FourierModes::scale_sums(const std::vector<Exponents>& monomials, double* sums) const {
  double volume = 1.0;
  for (std::size_t a = 3 - geometry_.d; a < 3; ++a) volume *= geometry_.period[a];
  for (std::size_t m = 0; m < monomials.size(); ++m) {
    double scale = 1 / volume;
    for (std::size_t a = 0; a < 3; ++a) {
      for (int e = 0; e < monomials[m][a]; ++e) scale *= geometry_.frequency_step(a);
    }
    sums[m] *= scale;
  }
}

void FourierModes::add_tail(const Form3& h, const std::vector<Exponents>& monomials, double scale,
                            const RunOptions& options, double* total) const {
  if (!geometry_.trimmed) return;
  const std::size_t sums = monomials.size(), items = (pair_.size() + kItemPairs - 1) / kItemPairs;
  std::vector<double> partial((items + 1) * sums, 0.0);
  // Beyond this, K_h(u) / K_h(0) is at most exp(-reach^2 / (4 max^2)), whatever h. A polynomial
  // adds a power of the distance.
  const double farthest = geometry_.reach / (std::sqrt(2.0) * geometry_.max);
  const double max =
      farthest * farthest + 2 * std::max(2, highest_degree(monomials)) * std::log(farthest);
  parallel_for(items + 1, options.parallel, [&](std::size_t item, int) {
    GaussianDerivatives derivatives(h, geometry_.d, highest_degree(monomials));
    const auto add = [&](const Point3& u, double weight) {
      if (!derivatives.evaluate(u, max)) return;
      for (std::size_t m = 0; m < sums; ++m) {
        partial[item * sums + m] += weight * derivatives.at(monomials[m]);
      }
    };
    if (item == items) return add({0, 0, 0}, outlier_share_);
    for (std::size_t p = item * kItemPairs; p < std::min(pair_.size(), (item + 1) * kItemPairs);
         ++p) {
      add(pair_[p].difference, pair_[p].weight);
    }
  });
  for (std::size_t m = 0; m < sums; ++m) {
    const double sign = degree_of(monomials[m]) % 4 == 0 ? 1 : -1;
    total[m] += sign * scale * pairwise_sum(partial.data() + m, items + 1, sums);
  }
}

std::vector<double> FourierModes::moments(const Form3& h, const std::vector<int>& degrees,
                                          const RunOptions& options) const {
  const std::vector<Exponents> monomials = monomials_of_degrees(geometry_.d, degrees);
  const int degree = highest_degree(monomials);
  const GaussianOfRows gaussian(h, geometry_);
  std::vector<double> total = sum_rows(h, cut(degree) + kBeyond, monomials.size(), options,
                                       [&](const Row& row, double* sum) {
                                         row.fill(gaussian, row.scratch);
                                         row.times_power(row.scratch);
                                         row.add(row.scratch, monomials, degree, sum);
                                       });
  scale_sums(monomials, total.data());
  add_tail(h, monomials, 1.0, options, total.data());
  return total;
}

std::vector<double> FourierModes::moments_of_both(const Form3& h, bool gradient,
                                                  const RunOptions& options) const {
  const std::vector<Exponents> monomials =
      monomials_of_degrees(geometry_.d, gradient ? std::vector<int>{0, 2} : std::vector<int>{0});
  const std::size_t sums = monomials.size();
  const int degree = gradient ? 2 : 0;
  const GaussianOfRows gaussian(h, geometry_);
  Form3 twice = h;
  for (double& value : twice) value *= 2;
  std::vector<double> total =
      sum_rows(h, cut(2) + kBeyond, 2 * sums, options, [&](const Row& row, double* sum) {
        double* once = row.scratch;
        double* square = row.scratch + row.stride;
        row.fill(gaussian, once);
        for (std::size_t i = 0; i < row.count; ++i) {
          square[i] = once[i] * once[i] * row.power[i];
        }
        row.times_power(once);
        row.add(once, monomials, degree, sum);
        row.add(square, monomials, degree, sum + sums);
      });
  scale_sums(monomials, total.data());
  scale_sums(monomials, total.data() + sums);
  add_tail(h, monomials, 1.0, options, total.data());
  add_tail(twice, monomials, 1.0, options, total.data() + sums);
  return total;
}

std::vector<double> FourierModes::smoothed_moments(const Form3& h, const Form3& pilot,
                                                   bool gradient, const RunOptions& options) const {
  const std::vector<Exponents> value = monomials_of_degree(geometry_.d, 0);
  const std::vector<Exponents> second =
      gradient ? monomials_of_degree(geometry_.d, 2) : std::vector<Exponents>{};
  const GaussianOfRows gaussian(h, geometry_), of_pilot(pilot, geometry_);
  std::vector<double> total = sum_rows(pilot, cut(2) + kBeyond, 1 + second.size(), options,
                                       [&](const Row& row, double* sum) {
                                         double* smooth = row.scratch;
                                         double* weight = row.scratch + row.stride;
                                         row.fill(of_pilot, weight);
                                         row.times_power(weight);
                                         row.fill(gaussian, smooth);
                                         for (std::size_t i = 0; i < row.count; ++i) {
                                           const double rest = weight[i] * (1 - smooth[i]);
                                           weight[i] = rest * (1 - smooth[i]);
                                           smooth[i] *= rest;
                                         }
                                         row.add(weight, value, 0, sum);
                                         if (gradient) row.add(smooth, second, 2, sum + 1);
                                       });
  scale_sums(value, total.data());
  scale_sums(second, total.data() + 1);
  // (1 - E)^2 = 1 - 2 E + E^2 and (1 - E) E, each term times the pilot's E.
  Form3 once = pilot, twice = pilot;
  for (std::size_t e = 0; e < 9; ++e) {
    once[e] += h[e];
    twice[e] += 2 * h[e];
  }
  add_tail(pilot, value, 1.0, options, total.data());
  add_tail(once, value, -2.0, options, total.data());
  add_tail(twice, value, 1.0, options, total.data());
  if (gradient) {
    add_tail(once, second, 1.0, options, total.data() + 1);
    add_tail(twice, second, -1.0, options, total.data() + 1);
  }
  return total;
}

}  // namespace kestrel
