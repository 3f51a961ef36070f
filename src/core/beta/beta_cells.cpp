#include "core/beta/beta_cells.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/beta/beta_kernel.hpp"
#include "core/kernel/kernel.hpp"

namespace kestrel {

namespace {

/// Below b / 4 cells are wide in the logarithm, a factor of exp(4).
constexpr double kFromPowers = 0.25, kPowerWidth = 4;
/// Up to 16 b they double. From there on they are two standard deviations of a kernel wide.
constexpr double kToDoubled = 16;
/// The logarithms of kernels that are left out are below the largest value by this: 1.6e-18 of it.
constexpr double kNegligible = 41;

/// The nodes cos(pi (j + 1/2) / 20), and the barycentric weights (Berrut & Trefethen 2004).
struct Nodes {
  std::array<double, kBetaNodes> at, weight;
  Nodes() {
    for (std::size_t j = 0; j < kBetaNodes; ++j) {
      const double angle = kPi * (static_cast<double>(j) + 0.5) / kBetaNodes;
      at[j] = std::cos(angle);
      weight[j] = (j % 2 == 0 ? 1 : -1) * std::sin(angle);
    }
  }
};

const Nodes& chebyshev_nodes() {
  static const Nodes kept;
  return kept;
}

/// At t the polynomials that are one at one node and zero at the others.
void polynomials(double t, double* out) {
  const Nodes& of = chebyshev_nodes();
  double sum = 0;
  for (std::size_t j = 0; j < kBetaNodes; ++j) {
    const double difference = t - of.at[j];
    if (difference == 0) {
      std::fill_n(out, kBetaNodes, 0.0);
      out[j] = 1;
      return;
    }
    out[j] = of.weight[j] / difference;
    sum += out[j];
  }
  for (std::size_t j = 0; j < kBetaNodes; ++j) out[j] /= sum;
}

/// x from the nearer end of the unit interval.
double distance(double x, bool* upper) {
  *upper = x > 0.5;
  return *upper ? 1 - x : x;
}

double angle_of(double y) { return std::asin(std::sqrt(y)); }

double square_of_sine(double angle) {
  const double sine = std::sin(angle);
  return sine * sine;
}

}  // namespace

BetaCells::BetaCells(Span<const double> x, double b, const ParallelOptions& options) : b_(b) {
  const double from = kFromPowers * b;
  // Cell 0 is the end itself; down to the least number above zero.
  powers_ = static_cast<std::uint64_t>(std::ceil((std::log(from) + 746) / kPowerWidth));
  doubled_ = 0;
  double edge = from;
  while (edge < kToDoubled * b && edge < 0.5) {
    edge *= 2;
    ++doubled_;
  }
  edge = std::min(edge, 0.5);
  first_ = angle_of(edge);
  const double left = kPi / 4 - first_;
  even_ = static_cast<std::uint64_t>(std::ceil(left / std::sqrt(b) - 1e-9));
  width_ = even_ > 0 ? left / static_cast<double>(even_) : 0;
  last_ = 2 * (powers_ + doubled_ + even_) + 1;
  id_.resize(x.size);
  serial_for(x.size, options, [&](std::size_t i) {
    bool upper;
    const double y = distance(x[i], &upper);
    id_[i] = number(cell_of(y).id, upper);
  });
  std::sort(id_.begin(), id_.end());
  id_.erase(std::unique(id_.begin(), id_.end()), id_.end());
  node_.resize(id_.size() * kBetaNodes);
  for (std::size_t c = 0; c < id_.size(); ++c) {
    const std::uint64_t id = std::min(id_[c], last_ - id_[c]);
    for (std::size_t j = 0; j < kBetaNodes; ++j) node_[c * kBetaNodes + j] = 0;
    if (id == 0) continue;
    // The middle and half width of a cell follow from any distance in it.
    const double d = static_cast<double>(id) - 0.5;
    const double p = static_cast<double>(powers_), q = static_cast<double>(doubled_);
    const double y = d < p       ? from * std::exp(kPowerWidth * (d - p))
                     : d < p + q ? from * std::exp2(d - p)
                                 : square_of_sine(first_ + width_ * (d - p - q));
    const Cell cell = cell_of(std::min(std::max(y, 5e-324), 0.5));
    for (std::size_t j = 0; j < kBetaNodes; ++j) {
      const double at = cell.middle + cell.half * chebyshev_nodes().at[j];
      node_[c * kBetaNodes + j] = id <= powers_ ? std::exp(at) : at;
    }
  }
}

BetaCells::Cell BetaCells::cell_of(double y) const {
  if (y == 0) return {0, 0, 1};
  const double from = kFromPowers * b_;
  if (y < from) {
    // Cells count from the end, and the last of them ends at `from`.
    const double steps = std::log(from / y) / kPowerWidth;
    const double down = std::min(std::floor(steps), static_cast<double>(powers_ - 1));
    const double half = kPowerWidth / 2;
    return {powers_ - static_cast<std::uint64_t>(down), std::log(from) - kPowerWidth * down - half,
            half};
  }
  int exponent;
  const double fraction = std::frexp(y / from, &exponent);
  static_cast<void>(fraction);
  const std::uint64_t doubling = static_cast<std::uint64_t>(std::max(exponent - 1, 0));
  if (doubling < doubled_) {
    const double low = from * std::exp2(static_cast<double>(doubling));
    const double high = std::min(2 * low, 0.5);
    return {powers_ + 1 + doubling, (low + high) / 2, (high - low) / 2};
  }
  if (even_ == 0) {
    // The last doubling ends at 1/2, which belongs to it.
    const double low = from * std::exp2(static_cast<double>(doubled_ - 1));
    return {powers_ + doubled_, (low + 0.5) / 2, (0.5 - low) / 2};
  }
  const double steps = (angle_of(y) - first_) / width_;
  const double step = std::min(std::max(std::floor(steps), 0.0), static_cast<double>(even_ - 1));
  const double low = square_of_sine(first_ + width_ * step),
               high = square_of_sine(first_ + width_ * (step + 1));
  return {powers_ + doubled_ + 1 + static_cast<std::uint64_t>(step), (low + high) / 2,
          (high - low) / 2};
}

BetaPlace BetaCells::place(double x) const {
  bool upper;
  const double y = distance(x, &upper);
  const Cell cell = cell_of(y);
  const std::uint64_t id = number(cell.id, upper);
  const auto at = std::lower_bound(id_.begin(), id_.end(), id);
  if (cell.id == 0) return {static_cast<std::size_t>(at - id_.begin()), 2};
  const double value = cell.id <= powers_ ? std::log(y) : y;
  return {static_cast<std::size_t>(at - id_.begin()), (value - cell.middle) / cell.half};
}

void BetaCells::weights(const BetaPlace& place, double* out) const {
  if (place.t != 2) return polynomials(place.t, out);
  std::fill_n(out, kBetaNodes, 0.0);
  out[0] = 1;
}

double BetaCells::interpolated(double x, Span<const double> values) const {
  const BetaPlace at = place(x);
  double share[kBetaNodes], sum = 0;
  weights(at, share);
  for (std::size_t j = 0; j < kBetaNodes; ++j) sum += share[j] * values[at.cell * kBetaNodes + j];
  return sum;
}

void move_to_panels(Span<const double> breaks, Span<const double> x, Span<const double> w,
                    const ParallelOptions& options, Span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  serial_for(x.size, options, [&](std::size_t i) {
    const double* after = std::upper_bound(breaks.begin() + 1, breaks.end() - 1, x[i]);
    const std::size_t panel = static_cast<std::size_t>(after - breaks.begin()) - 1;
    const double half = (breaks[panel + 1] - breaks[panel]) / 2;
    double share[kBetaNodes];
    polynomials((x[i] - breaks[panel] - half) / half, share);
    for (std::size_t j = 0; j < kBetaNodes; ++j) out[panel * kBetaNodes + j] += w[i] * share[j];
  });
}
void BetaCells::row(double u, BetaRow* out) const {
  const BetaKernel kernel(u, b_);
  const double least = kernel.log_peak() - kNegligible;
  double log_value[kBetaNodes];
  // Whether a cell has a kernel that counts, with its values.
  const auto reached = [&](std::size_t c, double* value) {
    const bool upper = id_[c] > last_ / 2;
    const std::uint64_t id = upper ? last_ - id_[c] : id_[c];
    if (id == 0) {
      std::fill_n(value, kBetaNodes, 0.0);
      value[0] = kernel.at_end(upper);
      return value[0] > 0;
    }
    bool any = false;
    for (std::size_t j = 0; j < kBetaNodes; ++j) {
      log_value[j] = kernel.log_at(node_[c * kBetaNodes + j], upper);
      any = any || log_value[j] >= least;
    }
    for (std::size_t j = 0; any && j < kBetaNodes; ++j) value[j] = std::exp(log_value[j]);
    return any;
  };
  bool upper;
  const double y = distance(kernel.mode(), &upper);
  const std::uint64_t centre = number(cell_of(y).id, upper);
  const std::size_t begin =
      static_cast<std::size_t>(std::lower_bound(id_.begin(), id_.end(), centre) - id_.begin());
  // To both sides of the mode kernels only fall.
  std::vector<double> below;
  double value[kBetaNodes];
  out->first = begin;
  while (out->first > 0 && reached(out->first - 1, value)) {
    below.insert(below.end(), value, value + kBetaNodes);
    --out->first;
  }
  out->value.clear();
  for (std::size_t c = below.size() / kBetaNodes; c > 0; --c) {
    const auto from = below.begin() + static_cast<std::ptrdiff_t>((c - 1) * kBetaNodes);
    out->value.insert(out->value.end(), from, from + kBetaNodes);
  }
  for (std::size_t c = begin; c < id_.size() && reached(c, value); ++c) {
    out->value.insert(out->value.end(), value, value + kBetaNodes);
  }
}

}  // namespace kestrel
