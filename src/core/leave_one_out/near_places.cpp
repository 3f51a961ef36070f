#include "core/leave_one_out/near_places.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kestrel {

namespace {

/// Squared distances beyond the nearest one, in bandwidths, from which terms are below 1e-20 of the
/// nearest.
constexpr double kCutOfSteps = 92.2;
/// Centres of cells with numbers below this are exact.
constexpr double kMostKeys = 0x1p51;

}  // namespace

const NodeLevel* cells_of_steps(const ResponseLine& line, const MixedKernel& kernel,
                                const RunOptions& options) {
  const double h = kernel.h[0];
  // All widths down to the least, for cells that are halved.
  line.source().prepare_gaussian(std::numeric_limits<double>::min(), kernel.order, 0.0, options);
  const NodeCells* cells = line.source().cells();
  const int exponent = node_exponent(h, kernel.order);
  if (cells == nullptr || exponent < cells->finest()) return nullptr;
  const NodeLevel& level = cells->level(exponent);
  const double most = std::max(std::fabs(level.key.front()), std::fabs(level.key.back()));
  return most < kMostKeys ? &level : nullptr;
}

NearPlaces::NearPlaces(const ResponseLine& line, const MixedKernel& kernel, const NodeLevel* level,
                       const simd::Table& table)
    : line_(line),
      places_(line.source().sample()),
      below_(kernel, MixedForm::distribution),
      h_(kernel.h[0]),
      level_(level),
      table_(table) {}

double NearPlaces::beyond(double low, double high) const {
  const double* x = places_.x();
  return std::max({0.0, x[0] - high, low - x[places_.size() - 1]}) / h_;
}

void NearPlaces::take(double reference, double low, double high, const double* split) {
  const double* x = places_.x();
  const std::size_t n = places_.size();
  const double away = beyond(low, high), reach = h_ * std::sqrt(away * away + kCutOfSteps);
  auto first = static_cast<std::size_t>(std::lower_bound(x, x + n, low - reach) - x);
  auto end = static_cast<std::size_t>(std::upper_bound(x + first, x + n, high + reach) - x);
  position_.clear();
  weight_.clear();
  split_ = 0;
  if (level_ == nullptr || first == end || is_far(low, high)) {
    add_places(reference, first, end, split);
  } else {
    const auto cell_of_place = [&](std::size_t p) {
      const auto next = std::upper_bound(level_->first.begin(), level_->first.end(), p);
      return static_cast<std::size_t>(next - level_->first.begin()) - 1;
    };
    const std::size_t begin = cell_of_place(first), last = cell_of_place(end - 1);
    for (std::size_t c = begin; c <= last; ++c) add_cell(reference, *level_, c, split);
    first = level_->first[begin];
    end = level_->first[last + 1];
  }
  left_ = static_cast<double>(line_.first(first));
  right_ = static_cast<double>(line_.size() - line_.first(end));
}

void NearPlaces::add_places(double reference, std::size_t first, std::size_t end,
                            const double* split) {
  const double *x = places_.x(), *w = places_.w();
  for (std::size_t p = first; p < end; ++p) {
    position_.push_back(x[p] - reference);
    weight_.push_back(w[p]);
    if (split != nullptr && x[p] <= *split) ++split_;
  }
}

void NearPlaces::add_nodes(double reference, const NodeLevel& level, std::size_t cell) {
  const double width = std::ldexp(1.0, level.exponent);
  const double from_reference = (level.key[cell] + 0.5) * width - reference;
  const double* weight = level.column(cell);
  for (std::size_t k = 0; k < kNodes; ++k) {
    position_.push_back(from_reference + 0.5 * width * node_tables().node[k]);
    weight_.push_back(weight[k]);
  }
}

/// The cell that has the split in it is halved until few places are left.
void NearPlaces::add_cell(double reference, const NodeLevel& level, std::size_t cell,
                          const double* split) {
  const NodeCells& cells = *line_.source().cells();
  const std::size_t first = level.first[cell], end = level.first[cell + 1];
  const double key = level.key[cell];
  const double of_split =
      split == nullptr ? -HUGE_VAL : std::floor(std::ldexp(*split, -level.exponent));
  const bool whole = level.exponent == cells.finest() || std::fabs(key) > 0.5 * kMostKeys;
  if (end - first <= kNodes || (key == of_split && whole)) {
    add_places(reference, first, end, split);
  } else if (key == of_split) {
    const NodeLevel& halves = cells.level(level.exponent - 1);
    const auto half = std::lower_bound(halves.first.begin(), halves.first.end(), first);
    for (auto c = static_cast<std::size_t>(half - halves.first.begin()); halves.first[c] < end;
         ++c) {
      add_cell(reference, halves, c, split);
    }
  } else {
    if (key < of_split) split_ += kNodes;
    add_nodes(reference, level, cell);
  }
}

void NearPlaces::integrated(double point, double side, std::size_t begin, std::size_t count,
                            double* value, double* slope) const {
  if (count == 0) return;
  const double* x = position_.data();
  const double scale = side * below_.scale / h_;
  const simd::MixedProduct product{&x,
                                   &point,
                                   &scale,
                                   1,
                                   below_.window,
                                   below_.q.empty() ? nullptr : below_.q.data(),
                                   below_.p.data(),
                                   below_.terms,
                                   0.0,
                                   value,
                                   slope == nullptr ? nullptr : &slope,
                                   false};
  table_.mixed->product(product, begin, count);
}

}  // namespace kestrel
