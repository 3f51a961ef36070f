// Weights of a sample.
#ifndef KESTREL_CORE_DATA_WEIGHTS_HPP
#define KESTREL_CORE_DATA_WEIGHTS_HPP

#include <cassert>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"

namespace kestrel {

/// A view of the weights of `size` samples, which somebody else owns. Samples that nobody weighed
/// all have weight one, and then there is no memory to read.
struct Weights {
  const double* data = nullptr;
  std::size_t size = 0;

  Weights() = default;
  Weights(const double* values, std::size_t count) : data(values), size(count) {}
  Weights(Span<const double> given) : data(given.data), size(given.size) {}
  Weights(Span<double> given) : data(given.data), size(given.size) {}
  static Weights ones(std::size_t count) { return {nullptr, count}; }

  /// Whether every weight is one without being stored.
  bool absent() const { return data == nullptr; }
  double operator[](std::size_t i) const {
    assert(i < size);
    return data == nullptr ? 1.0 : data[i];
  }
  /// The weights of `count` samples from number `first` on.
  Weights part(std::size_t first, std::size_t count) const {
    return {data == nullptr ? nullptr : data + first, count};
  }
};

/// Throws error(input) unless there is one weight a sample.
void check_weight_count(std::size_t samples, std::size_t weights);

/// What is asked of the weights as a whole.
struct WeightSums {
  double sum = 0, squares = 0, max = 0;
  double min_positive = std::numeric_limits<double>::infinity();
  std::size_t positive = 0;  // how many are above zero
};

/// The weights as an array, for callees that cannot do without one. O(n) only if they are absent.
class WeightArray {
 public:
  explicit WeightArray(Weights w)
      : ones_(w.absent() ? w.size : 0, 1.0), data_(w.absent() ? ones_.data() : w.data) {}
  WeightArray(const WeightArray&) = delete;
  WeightArray& operator=(const WeightArray&) = delete;

  const double* data() const { return data_; }

 private:
  const std::vector<double> ones_;
  const double* const data_;
};

/// Throws error(input) when a weight is negative or not finite. O(n).
void check_weights(Weights w, const ParallelOptions& options);

/// w: finite, not negative; may be empty. Sums are of long doubles. One pass, O(n).
WeightSums weight_sums(Weights w, const ParallelOptions& options);

}  // namespace kestrel

#endif
