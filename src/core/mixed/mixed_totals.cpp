#include "core/mixed/mixed_totals.hpp"

namespace kestrel {

void MixedTotals::add(const MixedTotals& other) {
  value_ += other.value_;
  inside_ += other.inside_;
  trace_ += other.trace_;
  unsupported_ += other.unsupported_;
  ridged_ += other.ridged_;
  const auto all = [](std::vector<double>& to, const std::vector<double>& from) {
    to.resize(from.size());
    for (std::size_t k = 0; k < from.size(); ++k) to[k] += from[k];
  };
  if (other.value_by_.empty()) return;
  all(value_by_, other.value_by_);
  all(inside_by_, other.inside_by_);
  all(trace_by_, other.trace_by_);
}

MixedCriterion MixedTotals::criterion(MixedMethod method, std::size_t n) const {
  MixedCriterion found;
  found.unsupported = unsupported_;
  found.ridged = ridged_;
  const double count = static_cast<double>(n);
  if (method == MixedMethod::least_squares) {
    found.value = value_ / count;
    for (const double by : value_by_) found.gradient.push_back(by / count);
    return found;
  }
  const double room = count - trace_ - 2;
  found.value = room > 0 ? std::log(inside_ / count) + (count + trace_) / room : HUGE_VAL;
  for (std::size_t k = 0; k < inside_by_.size(); ++k) {
    const double by = inside_by_[k] / inside_ + trace_by_[k] * (2 * count - 2) / (room * room);
    found.gradient.push_back(std::isfinite(found.value) ? by : 0.0);
  }
  return found;
}

}  // namespace kestrel
