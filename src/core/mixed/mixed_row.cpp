#include "core/mixed/mixed_row.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace kestrel {

MixedRow::MixedRow(const MixedSample& sample, const MixedKernel& kernel, Use use,
                   const simd::Table& table, const MixedNeighbours* neighbours)
    : sample_(sample),
      kernel_(kernel),
      use_(use),
      table_(*table.mixed),
      neighbours_(neighbours),
      products_(sample, kernel, use == Use::gradients, neighbours, *table.mixed),
      column_(products_.columns()),
      plane_(sample.columns(), kernel.order == 2, *table.mixed),
      room_(sample.size() * (7 + 2 * sample.columns() + kernel.lambda.size())) {
  if (kernel.type != BandwidthType::fixed && neighbours == nullptr) {
    throw error(ErrorKind::internal, "bandwidths without the distances of neighbours");
  }
  std::size_t next = 0;
  const auto take = [&] { return row(next++); };
  product_ = take();
  factor_ = take();
  weight_ = take();
  v_ = take();
  t_ = take();
  tq_ = take();
  spare_ = take();
  for (std::size_t c = 0; c < sample.columns(); ++c) slope_.push_back(take());
  for (std::size_t c = 0; c < sample.columns(); ++c) z_.push_back(take());
  for (std::size_t k = 0; k < kernel.lambda.size(); ++k) lambda_slope_.push_back(take());
  for (const std::size_t c : column_) slope_of_column_.push_back(slope_[c]);
}

void MixedRow::start(const int* code, const double* position) {
  weights_ = sample_.weights(kernel_, {code, position});
  const std::size_t cells = sample_.cells(), all = kernel_.lambda.size();
  tiles_.clear();
  counted_.clear();
  for (std::size_t cell = 0; cell < cells; ++cell) {
    bool counts = weights_.value[cell] != 0;
    for (std::size_t k = 0; k < all && (use_ == Use::criterion || use_ == Use::weights); ++k) {
      counts = counts || weights_.slope[k * cells + cell] != 0;
    }
    if (!counts) continue;
    const std::size_t first = sample_.first(cell), end = sample_.first(cell + 1);
    tiles_.add(first, end);
    counted_.push_back(cell);
    const auto fill = [&](double* to, double value) {
      for (std::size_t j = first; j < end; ++j) to[j] = value * times_of(j);
    };
    fill(factor_, weights_.value[cell]);
    for (std::size_t k = 0; k < all; ++k) fill(lambda_slope_[k], weights_.slope[k * cells + cell]);
  }
}

void MixedRow::take_bandwidths(std::size_t i) {
  if (neighbours_ == nullptr || neighbours_->adaptive()) return;
  double scale[simd::kMixedColumns];
  there_ = neighbours_->copy_scales(i, scale);
  products_.set_scales(scale);
}

/// Leaves of samples that are out of reach add nothing.
void MixedRow::take_samples_in_reach(const double* point) {
  tiles_.clear();
  for (const std::size_t cell : counted_) {
    const std::size_t first = sample_.first(cell), end = sample_.first(cell + 1);
    for (std::size_t k = 0; k < sample_.leaves(cell); ++k) {
      if (products_.out_of_reach(point, sample_.low(cell, k), sample_.high(cell, k))) continue;
      const std::size_t begin = first + k * MixedSample::kLeaf;
      tiles_.add(begin, std::min(end, begin + MixedSample::kLeaf));
    }
  }
}

/// The least sum of squares in bandwidths to a sample whose weight counts.
double MixedRow::nearest(const double* point, std::size_t own) const {
  constexpr double kFarthest = kFarthestMixed * kFarthestMixed;
  double least = kFarthest;
  tiles_.each_sample([&](std::size_t j) {
    if (j == own || factor_[j] == 0) return;
    least = std::min(least, products_.square_distance(j, point));
  });
  return least < kFarthest ? least : 0.0;
}

void MixedRow::fill_products(const double* point, std::size_t own) {
  products_.start(point, nearest_);
  const bool slopes = use_ == Use::criterion || use_ == Use::weights ||
                      (use_ == Use::gradients && !kernel_.local_linear);
  double* slope[simd::kMixedColumns];
  tiles_.each([&](std::size_t begin, std::size_t count) {
    for (std::size_t k = 0; k < column_.size(); ++k) slope[k] = slope_of_column_[k] + begin;
    products_.fill(begin, count, product_ + begin, slopes ? slope : nullptr);
  });
  if (own == kNone) return;
  product_[own] = 0;
  for (double* of : slope_of_column_) of[own] = 0;
}

double MixedRow::sum_of_weights() {
  double sum = 0;
  tiles_.each([&](std::size_t begin, std::size_t count) {
    table_.multiply(factor_ + begin, product_ + begin, weight_ + begin, count);
    sum += table_.dot(factor_ + begin, product_ + begin, count);
  });
  return sum;
}

/// One pass, with the arrays of a tile in the same place as those of the one before.
void MixedRow::constant_fit(const double* point, double reference, std::size_t own) {
  const std::size_t columns = sample_.columns(), factors = kernel_.lambda.size();
  const bool slopes = use_ == Use::criterion;
  const double* y = sample_.responses() ? sample_.y(false) : nullptr;
  products_.start(point, nearest_);
  sums_.assign(2 * (1 + columns + factors), 0.0);
  tiles_.each([&](std::size_t begin, std::size_t count) {
    products_.fill(begin, count, product_, slopes ? slope_of_column_.data() : nullptr);
    if (own >= begin && own < begin + count) {
      product_[own - begin] = 0;
      for (double* of : slope_of_column_) of[own - begin] = 0;
    }
    if (y != nullptr) table_.offsets(y + begin, reference, 1.0, v_, count);
    const auto add = [&](const double* one, const double* other, std::size_t to) {
      double* sum = sums_.data() + 2 * to;
      if (y != nullptr) {
        table_.add_sums(one, other, v_, count, sum);
      } else {
        *sum += table_.dot(one, other, count);
      }
    };
    add(factor_ + begin, product_, 0);
    for (std::size_t k = 0; k < column_.size() && slopes; ++k) {
      add(factor_ + begin, slope_of_column_[k], 1 + column_[k]);
    }
    for (std::size_t k = 0; k < factors && slopes; ++k) {
      if (std::isinf(kernel_.lambda[k])) continue;
      add(lambda_slope_[k] + begin, product_, 1 + columns + k);
    }
  });
  fit_.sum = sums_[0];
}

const MixedFit& MixedRow::fit(const double* point, double reference, std::size_t own) {
  const std::size_t p = kernel_.local_linear ? sample_.columns() : 0;
  const bool brief = p == 0 && (use_ == Use::fits || use_ == Use::criterion);
  const auto sum_up = [&] {
    if (brief) {
      constant_fit(point, reference, own);
    } else {
      fill_products(point, own);
      fit_.sum = sum_of_weights();
    }
  };
  nearest_ = 0.0;
  fit_.sum = 0.0;
  if (products_.has_reach()) take_samples_in_reach(point);
  if (there_) sum_up();
  if (there_ && products_.gaussian() && std::fabs(fit_.sum) < kLeastMixedSum) {
    nearest_ = nearest(point, own);
    sum_up();
  }
  fit_.scale = std::exp(-0.5 * nearest_);
  fit_.ridged = false;
  fit_.beta.assign(p + 1, 0.0);
  fit_.weight.assign(p + 1, 0.0);
  fit_.supported = fit_.sum != 0 && std::isfinite(1 / fit_.sum);
  if (!fit_.supported) return fit_;
  fit_.weight[0] = 1 / fit_.sum;
  if (brief) {
    fit_.beta[0] = sums_[1] / fit_.sum;
    return fit_;
  }
  if (!sample_.responses()) return fit_;
  const double* y = sample_.y(kernel_.local_linear);
  tiles_.each([&](std::size_t begin, std::size_t count) {
    table_.offsets(y + begin, reference, 1.0, v_ + begin, count);
    for (std::size_t c = 0; c < p; ++c) {
      table_.offsets(sample_.x(c) + begin, point[c], 1 / sample_.unit(c), z_[c] + begin, count);
    }
  });
  if (p > 0) {
    plane_.solve({tiles_, weight_, v_, z_, spare_}, fit_);
    return fit_;
  }
  double level = 0;
  tiles_.each([&](std::size_t begin, std::size_t count) {
    level += table_.dot(weight_ + begin, v_ + begin, count);
  });
  fit_.beta[0] = level / fit_.sum;
  return fit_;
}

void MixedRow::prepare_slopes() {
  if (use_ == Use::criterion && fit_.beta.size() == 1) return;
  const std::size_t p = fit_.beta.size() - 1;
  tiles_.each([&](std::size_t begin, std::size_t count) {
    const double* z[simd::kMixedColumns];
    for (std::size_t k = 0; k < p; ++k) z[k] = z_[k] + begin;
    table_.lines(z, static_cast<int>(p), fit_.weight.data(), fit_.beta.data(), v_ + begin,
                 t_ + begin, tq_ + begin, count);
  });
}

MixedRow::Change MixedRow::change(const double* a, const double* b) {
  Change found{0.0, 0.0};
  tiles_.each([&](std::size_t begin, std::size_t count) {
    table_.multiply(a + begin, b + begin, spare_ + begin, count);
    found.fit += table_.dot(spare_ + begin, tq_ + begin, count);
    found.weight -= table_.dot3(spare_ + begin, t_ + begin, t_ + begin, count);
  });
  return found;
}

MixedRow::Change MixedRow::by_bandwidth(std::size_t c) {
  if (!kernel_.local_linear || sample_.columns() == 0) return constant_change(c);
  return std::isfinite(kernel_.h[c]) ? change(factor_, slope_[c]) : Change{0.0, 0.0};
}

MixedRow::Change MixedRow::by_lambda(std::size_t k) {
  if (!kernel_.local_linear || sample_.columns() == 0) {
    return constant_change(sample_.columns() + k);
  }
  return change(lambda_slope_[k], product_);
}

MixedRow::Change MixedRow::constant_change(std::size_t parameter) const {
  const double* sum = sums_.data() + 2 * (1 + parameter);
  return {(sum[1] - fit_.beta[0] * sum[0]) / fit_.sum, -sum[0] / (fit_.sum * fit_.sum)};
}

double MixedRow::squares_of_spare(const double* e) {
  double sum = 0;
  tiles_.each([&](std::size_t begin, std::size_t count) {
    table_.multiply(spare_ + begin, spare_ + begin, t_ + begin, count);
    sum += table_.dot(t_ + begin, e + begin, count);
  });
  return sum;
}

double MixedRow::variance(const double* e) {
  tiles_.each([&](std::size_t begin, std::size_t count) {
    table_.multiply(weight_ + begin, t_ + begin, spare_ + begin, count);
  });
  return squares_of_spare(e);
}

double MixedRow::gradient(std::size_t c, const double* e, double* variance) {
  const std::size_t p = sample_.columns();
  double sum = 0, unit = 1;
  if (kernel_.local_linear) {
    unit = sample_.unit(c);
    double a[simd::kMixedColumns + 1] = {}, none[simd::kMixedColumns + 1] = {};
    plane_.slope_weights(c, a);
    tiles_.each([&](std::size_t begin, std::size_t count) {
      const double* z[simd::kMixedColumns];
      for (std::size_t k = 0; k < p; ++k) z[k] = z_[k] + begin;
      table_.lines(z, static_cast<int>(p), a, none, v_ + begin, t_ + begin, spare_ + begin, count);
      table_.multiply(weight_ + begin, t_ + begin, spare_ + begin, count);
    });
    sum = fit_.beta[c + 1];
  } else if (std::isfinite(kernel_.h[c])) {
    const double share = sum_by_point(c) / fit_.sum;
    tiles_.each([&](std::size_t begin, std::size_t count) {
      for (std::size_t j = begin; j < begin + count; ++j) {
        spare_[j] = (factor_[j] * slope_[c][j] - weight_[j] * share) / fit_.sum;
      }
      sum += table_.dot(spare_ + begin, v_ + begin, count);
    });
  } else {
    if (variance != nullptr) *variance = 0.0;
    return 0.0;
  }
  if (variance != nullptr) *variance = squares_of_spare(e) / (unit * unit);
  return sum / unit;
}

double MixedRow::sum_by_point(std::size_t c) const {
  double change = 0;
  if (!std::isfinite(kernel_.h[c])) return change;
  tiles_.each([&](std::size_t begin, std::size_t count) {
    change += table_.dot(factor_ + begin, slope_[c] + begin, count);
  });
  return change;
}

void MixedRow::copy_weights(double* to) const {
  std::fill(to, to + sample_.size(), 0.0);
  tiles_.each([&](std::size_t begin, std::size_t count) {
    std::copy(weight_ + begin, weight_ + begin + count, to + begin);
  });
}

void MixedRow::copy_slopes(std::size_t c, double* to) const {
  std::fill(to, to + sample_.size(), 0.0);
  if (!std::isfinite(kernel_.h[c])) return;
  tiles_.each([&](std::size_t begin, std::size_t count) {
    table_.multiply(factor_ + begin, slope_[c] + begin, to + begin, count);
  });
}

double MixedRow::times(const double* b) const {
  double sum = 0;
  tiles_.each([&](std::size_t begin, std::size_t count) {
    sum += table_.dot(weight_ + begin, b + begin, count);
  });
  return sum;
}

double MixedRow::times(const double* b, std::size_t parameter) const {
  const std::size_t columns = sample_.columns();
  const bool bandwidth = parameter < columns;
  if (bandwidth && !std::isfinite(kernel_.h[parameter])) return 0.0;
  const double* one = bandwidth ? factor_ : lambda_slope_[parameter - columns];
  const double* other = bandwidth ? slope_[parameter] : product_;
  double sum = 0;
  tiles_.each([&](std::size_t begin, std::size_t count) {
    sum += table_.dot3(one + begin, other + begin, b + begin, count);
  });
  return sum;
}

}  // namespace kestrel
