#include "core/data/row_draws.hpp"

#include <numeric>

#include "core/base/error.hpp"

namespace kestrel {

RowDraws::RowDraws(Weights weight, const ParallelOptions& options) : size_(weight.size) {
  const std::size_t n = size_;
  if (n >= std::size_t{1} << 31) {
    throw error(ErrorKind::memory, "rows are drawn from at most 2^31 of them");
  }
  if (weight.absent()) return;
  share_.resize(n);
  other_.resize(n);
  double sum = 0;
  serial_for(n, options, [&](std::size_t i) { sum += weight[i]; });
  if (!(sum > 0)) throw error(ErrorKind::input, "there is no row with a positive weight");
  std::iota(other_.begin(), other_.end(), std::uint32_t{0});
  // Rows whose share is below 1 / n stand in front, the others at the back.
  std::vector<std::uint32_t> order(n);
  std::size_t small = 0, large = n;
  serial_for(n, options, [&](std::size_t i) {
    share_[i] = weight[i] / sum * static_cast<double>(n);
    order[share_[i] < 1 ? small++ : --large] = static_cast<std::uint32_t>(i);
  });
  // Each small cell is filled up by the first of the large ones, which may thereby become small
  // itself.
  serial_for(n, options, [&](std::size_t k) {
    if (small == 0 || large >= n || k + 1 >= n) return;
    const std::uint32_t from = order[large];
    other_[order[k]] = from;
    share_[from] += share_[order[k]] - 1;
    if (share_[from] < 1) ++large;
  });
}

}  // namespace kestrel
