// Counts of a sample in many cells, whose number of random draws depends on the cells and not on
// the size of the sample.
#ifndef KESTREL_CORE_BOOTSTRAP_MULTINOMIAL_HPP
#define KESTREL_CORE_BOOTSTRAP_MULTINOMIAL_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/random.hpp"
#include "core/base/span.hpp"

namespace kestrel {

/// A binomial number of `count` trials, a whole number of at most 2^53, with probability p: below
/// ten expected successes (or failures) by inversion, otherwise by the rejection method BTRS of
/// Hormann (1993, "The generation of binomial random variates"). Its law is exact up to rounding.
/// O(1).
double draw_binomial(UniformStream* uniform, double count, double p);

/// Counts in cells with given probabilities. The number in a half of the cells, in a half of that,
/// and so on are binomial numbers given those before (Devroye 1986, "Non-uniform random variate
/// generation", section XI.1.4). Each has a stream of random numbers of its own.
class Multinomial {
 public:
  /// weight: not negative, with a positive sum, fewer than 2^31; need not sum to one. O(cells).
  explicit Multinomial(Span<const double> weight);

  std::size_t cells() const { return cells_; }
  /// The probability of a cell.
  double share(std::size_t cell) const { return sum_[leaves_ + cell] / sum_[1]; }
  /// The counts of `size` draws: a function of key and replicate alone. O(cells), and
  /// O(size log(cells)) if that is less. out[cell * stride] for each cell.
  void draw(double size, std::uint64_t key, std::uint32_t replicate, double* out,
            std::size_t stride) const;

 private:
  std::size_t cells_, leaves_;  // leaves_: the power of two that is not below cells_
  /// sum_[k] is that of the nodes 2 k and 2 k + 1; sum_[leaves_ + i] is the weight of cell i.
  std::vector<double> sum_;
};

}  // namespace kestrel

#endif
