// Samples and their weights in ascending order.
#ifndef KESTREL_CORE_SKETCH_KEPT_SAMPLES_HPP
#define KESTREL_CORE_SKETCH_KEPT_SAMPLES_HPP

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

namespace kestrel {

/// Ascending by position, and then by weight. `w` is empty if samples have no weights.
struct KeptSamples {
  std::vector<double> x, w;

  std::size_t size() const { return x.size(); }
  bool empty() const { return x.empty(); }
  const double* weights(std::size_t from) const { return w.empty() ? nullptr : w.data() + from; }
  void append(const double* positions, const double* weights, std::size_t count) {
    x.insert(x.end(), positions, positions + count);
    if (weights != nullptr) w.insert(w.end(), weights, weights + count);
  }
};

/// Sorts `count` samples in place; weights may be null.
inline void sort_samples(double* x, double* w, std::size_t count) {
  if (w == nullptr) return std::sort(x, x + count);
  std::vector<std::pair<double, double>> pairs(count);
  for (std::size_t i = 0; i < count; ++i) pairs[i] = {x[i], w[i]};
  std::sort(pairs.begin(), pairs.end());
  for (std::size_t i = 0; i < count; ++i) std::tie(x[i], w[i]) = pairs[i];
}

/// Both in one order.
inline KeptSamples merged(const KeptSamples& a, const KeptSamples& b) {
  KeptSamples all;
  all.x.reserve(a.size() + b.size());
  if (a.w.empty() && b.w.empty()) {
    std::merge(a.x.begin(), a.x.end(), b.x.begin(), b.x.end(), std::back_inserter(all.x));
    return all;
  }
  all.w.reserve(a.size() + b.size());
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    const bool first = j == b.size() || (i < a.size() && std::make_pair(a.x[i], a.w[i]) <=
                                                             std::make_pair(b.x[j], b.w[j]));
    const KeptSamples& from = first ? a : b;
    std::size_t& at = first ? i : j;
    all.x.push_back(from.x[at]);
    all.w.push_back(from.w[at++]);
  }
  return all;
}

}  // namespace kestrel

#endif
