#include "core/mixed/mixed_responses.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "core/base/error.hpp"
#include "core/mixed/mixed_points.hpp"

namespace kestrel {

namespace {

/// Numbers of a row that are multiplied by all responses before the next ones.
constexpr std::size_t kResponseTile = 512;

/// The weights of all samples in the functional at the points of an item, one row after another.
class FunctionalRows {
 public:
  FunctionalRows(const MixedSample& sample, const MixedKernel& kernel,
                 const MixedResponses& responses, std::size_t most, const simd::Table& table)
      : sample_(sample),
        linear_(kernel.local_linear && sample.columns() > 0),
        responses_(responses),
        row_(sample, kernel,
             responses.functional == MixedFunctional::slope ? MixedRow::Use::gradients
                                                            : MixedRow::Use::variances,
             table),
        room_(most * sample.size()),
        change_(sample.size()) {}

  void start(const int* code, const double* position) { row_.start(code, position); }
  const double* row(std::size_t k) const { return room_.data() + k * sample_.size(); }

  /// Row k, at a point. False where it has no weights.
  bool take(std::size_t k, const double* point, std::size_t own) {
    double* to = room_.data() + k * sample_.size();
    const MixedFit& fit = row_.fit(point, 0.0, own);
    if (!fit.supported) {
      std::fill(to, to + sample_.size(), 0.0);
      return false;
    }
    row_.copy_weights(to);
    switch (responses_.functional) {
      case MixedFunctional::sum: scale(to, fit.scale); break;
      case MixedFunctional::square:
        scale(to, fit.scale);
        square(to);
        break;
      case MixedFunctional::mean_square:
        scale(to, 1 / fit.sum);
        square(to);
        break;
      case MixedFunctional::mean: scale(to, 1 / fit.sum); break;
      case MixedFunctional::fit:
        if (linear_) {
          times_line(point, fit.weight, to);
        } else {
          scale(to, 1 / fit.sum);
        }
        break;
      case MixedFunctional::slope: take_slope(point, fit, to); break;
    }
    return true;
  }

 private:
  void square(double* to) const {
    for (std::size_t j = 0; j < sample_.size(); ++j) to[j] *= to[j];
  }

  void scale(double* to, double factor) const {
    for (std::size_t j = 0; j < sample_.size(); ++j) to[j] *= factor;
  }

  void take_slope(const double* point, const MixedFit& fit, double* to) {
    const std::size_t c = responses_.column;
    if (linear_) {
      std::vector<double> line(sample_.columns() + 1);
      row_.slope_weights(c, line.data());
      times_line(point, line, to);
      scale(to, 1 / sample_.unit(c));
      return;
    }
    // Of a quotient, whose denominator is the sum of weights.
    row_.copy_slopes(c, change_.data());
    const double share = row_.sum_by_point(c) / fit.sum;
    for (std::size_t j = 0; j < sample_.size(); ++j) {
      to[j] = (change_[j] - to[j] * share) / fit.sum;
    }
  }

  /// Weights times line[0] + sum_c line[c + 1] z_c, with z as in MixedFit.
  void times_line(const double* point, const std::vector<double>& line, double* to) const {
    const std::size_t n = sample_.size();
    for (std::size_t begin = 0; begin < n; begin += kResponseTile) {
      const std::size_t count = std::min(kResponseTile, n - begin);
      double at[kResponseTile];
      std::fill(at, at + count, line[0]);
      for (std::size_t c = 0; c + 1 < line.size(); ++c) {
        const double* x = sample_.x(c) + begin;
        const double slope = line[c + 1] / sample_.unit(c), centre = point[c];
        for (std::size_t j = 0; j < count; ++j) at[j] += slope * (x[j] - centre);
      }
      for (std::size_t j = 0; j < count; ++j) to[begin + j] *= at[j];
    }
  }

  const MixedSample& sample_;
  const bool linear_;
  const MixedResponses& responses_;
  MixedRow row_;
  std::vector<double> room_, change_;
};

}  // namespace

std::vector<double> mixed_responses(const MixedSample& sample, const MixedSample& points,
                                    const MixedKernel& kernel, const MixedResponses& responses,
                                    const RunOptions& options) {
  check_mixed_kernel(kernel, sample.columns(), sample.factors() + sample.ordered());
  const std::size_t n = sample.size(), m = points.size(), all = responses.y.cols;
  const bool at_data = &points == &sample;
  const bool sum = responses.functional == MixedFunctional::sum ||
                   responses.functional == MixedFunctional::square;
  if (responses.y.rows != n || (responses.leave_out && !at_data)) {
    throw error(ErrorKind::internal, "responses that are not those of the sample");
  }
  std::vector<double> y(n * all);
  for (std::size_t b = 0; b < all; ++b) {
    poll_if_due(options.parallel);
    for (std::size_t j = 0; j < n; ++j) y[b * n + j] = responses.y(sample.given(j), b);
  }
  std::vector<double> found(m * all);
  const std::vector<MixedItem> items = mixed_items(points);
  const std::size_t most = most_points(items);
  std::vector<std::unique_ptr<FunctionalRows>> workers(
      parallel_workers(items.size(), options.parallel));
  const auto dot = options.table->mixed->dot;
  parallel_for(items.size(), options.parallel, [&](std::size_t number, int worker) {
    auto& rows = workers[static_cast<std::size_t>(worker)];
    if (rows == nullptr) {
      rows = std::make_unique<FunctionalRows>(sample, kernel, responses, most, *options.table);
    }
    const MixedItem& item = items[number];
    const std::size_t count = item.end - item.begin;
    rows->start(points.codes(item.cell), points.positions(item.cell));
    std::vector<double> point(sample.columns()), total(count * all);
    std::vector<char> supported(count);
    for (std::size_t k = 0; k < count; ++k) {
      poll_if_due({});
      const std::size_t i = item.begin + k;
      points.copy_row(i, point.data());
      supported[k] = rows->take(k, point.data(), responses.leave_out ? i : MixedRow::kNone);
    }
    for (std::size_t begin = 0; begin < n; begin += kResponseTile) {
      poll_if_due({});
      const std::size_t size = std::min(kResponseTile, n - begin);
      for (std::size_t b = 0; b < all; ++b) {
        const double* column = y.data() + b * n + begin;
        for (std::size_t k = 0; k < count; ++k) {
          total[k * all + b] += dot(rows->row(k) + begin, column, size);
        }
      }
    }
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t to = points.given(item.begin + k);
      const bool known = sum || supported[k];
      for (std::size_t b = 0; b < all; ++b) {
        found[b * m + to] = known ? total[k * all + b] : std::numeric_limits<double>::quiet_NaN();
      }
    }
  });
  return found;
}

}  // namespace kestrel
