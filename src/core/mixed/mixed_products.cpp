#include "core/mixed/mixed_products.hpp"

#include <algorithm>
#include <cmath>

namespace kestrel {

namespace {

/// The distance beyond which a window is zero (shared/mixed_reach.hpp); 0 if there is none.
double reach_of(simd::MixedWindow window) {
  switch (window) {
    case simd::MixedWindow::gaussian: return kMixedGaussianReach;
    case simd::MixedWindow::epanechnikov: return kMixedEpanechnikovReach;
    case simd::MixedWindow::uniform:
    case simd::MixedWindow::triangle:
    case simd::MixedWindow::cubic: return kMixedUnitReach;
    default: return 0.0;
  }
}

/// The Gaussian kernel is taken to reach all samples if it reaches this many standard deviations.
constexpr double kSpreads = 4;

}  // namespace

MixedProducts::MixedProducts(const MixedSample& sample, const MixedKernel& kernel, bool by_point,
                             const MixedNeighbours* neighbours, const simd::MixedTable& table)
    : table_(table), by_point_(by_point) {
  std::vector<MixedForm> forms;
  for (std::size_t c = 0; c < sample.columns(); ++c) {
    if (!std::isfinite(kernel.h[c])) continue;
    const MixedForm form = kernel.form_of(c);
    std::size_t g = 0;
    while (g < forms.size() && forms[g] != form) ++g;
    if (g == forms.size()) {
      forms.push_back(form);
      const ContinuousKernel of(kernel, form);
      groups_.push_back({of, reach_of(of.window), {}, {}, {}, {}, {}});
      if (groups_[g].kernel.window == simd::MixedWindow::gaussian) ++gaussian_groups_;
    }
    Group& group = groups_[g];
    const double scale = group.kernel.scale / kernel.h[c];
    const bool reaches_all = group.kernel.window == simd::MixedWindow::gaussian &&
                             sample.unit(c) * scale * kSpreads < group.reach;
    has_reach_ = has_reach_ || (group.reach > 0 && neighbours == nullptr && !reaches_all);
    group.place.push_back(columns_.size());
    group.x.push_back(sample.x(c));
    group.scale.push_back(scale);
    if (neighbours != nullptr && neighbours->adaptive()) {
      group.scales.push_back(neighbours->scales(c));
    }
    group.at.push_back(0.0);
    columns_.push_back(c);
  }
  if (groups_.size() > 1) spare_.resize(MixedTiles::kTile);
}

bool MixedProducts::out_of_reach(const double* point, const double* low, const double* high) const {
  for (const Group& group : groups_) {
    if (group.reach == 0) continue;
    for (std::size_t k = 0; k < group.place.size(); ++k) {
      const std::size_t c = columns_[group.place[k]];
      const double away = std::max(low[c] - point[c], point[c] - high[c]);
      if (away * group.scale[k] > group.reach) return true;
    }
  }
  return false;
}

double MixedProducts::square_distance(std::size_t j, const double* point) const {
  double sum = 0;
  for (const Group& group : groups_) {
    if (group.kernel.window != simd::MixedWindow::gaussian) continue;
    for (std::size_t k = 0; k < group.x.size(); ++k) {
      const double scale = group.scales.empty() ? group.scale[k] : group.scales[k][j];
      const double u = (group.x[k][j] - point[columns_[group.place[k]]]) * scale;
      sum += u * u;
    }
  }
  return sum;
}

void MixedProducts::set_scales(const double* scale) {
  for (Group& group : groups_) {
    for (std::size_t k = 0; k < group.scale.size(); ++k) {
      group.scale[k] = group.kernel.scale * scale[columns_[group.place[k]]];
    }
  }
}

void MixedProducts::start(const double* point, double nearest) {
  nearest_ = nearest;
  for (Group& group : groups_) {
    for (std::size_t k = 0; k < group.at.size(); ++k) {
      group.at[k] = point[columns_[group.place[k]]];
    }
  }
}

simd::MixedProduct MixedProducts::product_of(const Group& group, double* value,
                                             double* const* slope) const {
  const ContinuousKernel& kernel = group.kernel;
  return {group.x.data(),
          group.at.data(),
          group.scale.data(),
          static_cast<int>(group.x.size()),
          kernel.window,
          kernel.q.empty() ? nullptr : kernel.q.data(),
          kernel.p.empty() ? nullptr : kernel.p.data(),
          kernel.terms,
          nearest_,
          value,
          slope,
          by_point_,
          kernel.odd,
          group.scales.empty() ? nullptr : group.scales.data(),
          kernel.inner};
}

void MixedProducts::fill(std::size_t begin, std::size_t count, double* value,
                         double* const* slope) {
  double* own[simd::kMixedColumns];
  std::size_t first = 0;
  for (; first < groups_.size(); ++first) {
    const Group& group = groups_[first];
    for (std::size_t k = 0; k < group.place.size() && slope != nullptr; ++k) {
      own[k] = slope[group.place[k]];
    }
    double* to = first == 0 ? value : spare_.data();
    table_.product(product_of(group, to, slope == nullptr ? nullptr : own), begin, count);
    if (first == 0) continue;
    for (std::size_t k = 0; k < group.place.size() && slope != nullptr; ++k) {
      table_.multiply(own[k], value, own[k], count);
    }
    for (std::size_t before = 0; before < first && slope != nullptr; ++before) {
      for (const std::size_t place : groups_[before].place) {
        table_.multiply(slope[place], to, slope[place], count);
      }
    }
    table_.multiply(value, to, value, count);
  }
  // Without columns every product is one.
  if (first == 0) {
    for (std::size_t j = 0; j < count; ++j) value[j] = 1.0;
  }
}

}  // namespace kestrel
