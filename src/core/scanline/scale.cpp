#include "core/scanline/scale.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/whole.hpp"

namespace kestrel {

namespace {

constexpr std::size_t kCells = std::size_t{1} << 17;
/// Slack for rounding, on bounds that are computed in doubles.
constexpr double kMore = 1 + 1e-9;

}  // namespace

ScanlineHistogram::ScanlineHistogram(const ScanlineGeometry& geometry) : axes_(geometry.axes()) {
  std::array<double, simd::kScanlineAxes> width{}, length{};
  double all = 1;
  for (std::size_t a = 0; a < axes_; ++a) {
    reach_[a] = geometry.reach(a) * (1 + 1e-6) + 1e-5;
    length[a] = static_cast<double>(geometry.count(a) - 1) + 2 * reach_[a];
    // A little more than half the reach, so that rounding never makes a window one cell longer.
    width[a] = reach_[a] * 0.500001;
    all *= std::floor(length[a] / width[a]) + 1;
  }
  while (all > static_cast<double>(kCells)) {
    std::size_t max = 0;
    for (std::size_t a = 1; a < axes_; ++a) {
      if (length[a] / width[a] > length[max] / width[max]) max = a;
    }
    all /= std::floor(length[max] / width[max]) + 1;
    width[max] *= 2;
    all *= std::floor(length[max] / width[max]) + 1;
  }
  std::size_t cells = 1;
  for (std::size_t a = 0; a < axes_; ++a) {
    cells_[a] = whole_number<std::size_t>(length[a] / width[a]) + 1;
    // The samples within reach of a point lie in an interval of twice the reach.
    window_[a] = whole_number<std::size_t>(2 * reach_[a] / width[a]) + 2;
    scale_[a] = 1 / width[a];
    cells *= cells_[a];
  }
  weight_.assign(cells, 0);
  samples_.assign(cells, 0);
}

void ScanlineHistogram::add(const ScanlineIndex& index, double weight) {
  std::size_t cell = 0;
  for (std::size_t a = 0; a < axes_; ++a) {
    const double at = (index.base[a] + index.part[a] + reach_[a]) * scale_[a];
    const std::size_t index = at > 0 ? whole_number<std::size_t>(at) : 0;
    cell = cell * cells_[a] + std::min(index, cells_[a] - 1);
  }
  // Rounded down, plus one: an upper bound.
  weight_[cell] += whole_number<std::uint64_t>(weight * kWeightUnit) + 1;
  ++samples_[cell];
}

void ScanlineHistogram::add(const ScanlineHistogram& other) {
  for (std::size_t c = 0; c < weight_.size(); ++c) {
    weight_[c] += other.weight_[c];
    samples_[c] += other.samples_[c];
  }
}

simd::ScanlineLineCells ScanlineHistogram::line_cells() const {
  return {reach_[1], scale_[1], static_cast<double>(cells_[1])};
}

void ScanlineHistogram::add_line(Span<const std::uint32_t> samples,
                                 Span<const std::uint64_t> weight) {
  // All samples are at index zero of the axis with one point.
  std::uint64_t* weights =
      weight_.data() + whole_number<std::size_t>(reach_[0] * scale_[0]) * cells_[1];
  std::uint32_t* counts = samples_.data() + (weights - weight_.data());
  for (std::size_t c = 0; c < cells_[1]; ++c) {
    counts[c] += samples[c];
    weights[c] += weight[c];
  }
}

/// Replaces each cell by the sum of a window of cells along an axis, of which it is the first.
void ScanlineHistogram::sum_windows(std::size_t axis, std::vector<std::uint64_t>* cells) const {
  std::size_t stride = 1;
  for (std::size_t a = axis + 1; a < axes_; ++a) stride *= cells_[a];
  const std::size_t length = cells_[axis], window = window_[axis];
  std::vector<std::uint64_t> line(length);
  for (std::size_t c = 0; c < cells->size(); c += stride * length) {
    for (std::uint64_t* first = cells->data() + c; first != cells->data() + c + stride; ++first) {
      for (std::size_t i = 0; i < length; ++i) line[i] = first[i * stride];
      std::uint64_t sum = 0;
      for (std::size_t i = length; i-- > 0;) {
        sum += line[i];
        if (i + window < length) sum -= line[i + window];
        first[i * stride] = sum;
      }
    }
  }
}

ScanlineActive ScanlineHistogram::max_active() {
  ScanlineActive max;
  for (std::size_t a = 0; a < axes_; ++a) sum_windows(a, &weight_);
  max.weight = static_cast<double>(*std::max_element(weight_.begin(), weight_.end())) / kWeightUnit;
  weight_.assign(samples_.begin(), samples_.end());
  for (std::size_t a = 0; a < axes_; ++a) sum_windows(a, &weight_);
  max.samples = static_cast<double>(*std::max_element(weight_.begin(), weight_.end()));
  return max;
}

namespace {

ScanlineScale scale_of_events(const ScanlineGeometry& geometry, const ScanlineActive& active,
                              std::size_t block, int limbs) {
  ScanlineScale scale;
  const double radius = geometry.radius(), all = 0x1p62;
  const double farthest = std::min(radius + 0.5, static_cast<double>(block));
  const double of_a = active.samples * farthest * farthest / 2 * kMore;
  double rounding = active.samples * (farthest + 1) / 2 * kMore;
  const double peak = active.weight * radius * radius * kMore;
  scale.unit = std::min(std::ilogb((all - rounding - of_a) / (peak * kMore)),
                        50 - std::ilogb((radius + 1) * (radius + 1)));
  if (scale.unit + active.finest < 0) rounding += of_a;
  scale.step = std::min(50, std::ilogb(all / (2 * rounding * kMore)) + 1);
  scale.first_bound = std::ldexp(peak, scale.unit) + rounding;
  scale.other_bound = std::ldexp(rounding, scale.step);
  const double of_two = std::ldexp(rounding, -scale.unit - scale.step);
  scale.limbs = limbs != 0 ? limbs : of_two <= std::ldexp(peak, -53) ? 2 : 4;
  return scale;
}

ScanlineScale scale_of_rows(const ScanlineActive& active, const ScanlineTask& task) {
  ScanlineScale scale;
  const double all = 0x1p62;
  const double rounding = active.samples / 2 * kMore, peak = active.weight * kMore;
  scale.unit = std::min(51, std::ilogb((all - rounding) / (peak * kMore)));
  scale.step = std::min(50, std::ilogb(all / (2 * rounding * kMore)) + 1);
  scale.first_bound = std::ldexp(peak, scale.unit) + rounding;
  scale.other_bound = std::ldexp(rounding, scale.step);
  const bool whole = is_indicator(task.choice.kernel) && scale.unit + active.finest >= 0;
  scale.limbs = task.limbs != 0 ? std::min(task.limbs, 2) : whole ? 1 : 2;
  return scale;
}

}  // namespace

ScanlineScale choose_scale(const ScanlineGeometry& geometry, const ScanlineActive& active,
                           std::size_t block, const ScanlineTask& task) {
  return task.method == ScanlineMethod::rows ? scale_of_rows(active, task)
                                             : scale_of_events(geometry, active, block, task.limbs);
}

}  // namespace kestrel
