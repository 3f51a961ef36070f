// Samples sorted by the cells of a sketch.
#ifndef KESTREL_CORE_SKETCH_CELL_SORT_HPP
#define KESTREL_CORE_SKETCH_CELL_SORT_HPP

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/raw_array.hpp"
#include "core/base/span.hpp"
#include "core/data/weights.hpp"
#include "core/fgt/cell_order.hpp"
#include "simd/table.hpp"

namespace kestrel {

/// Samples of which those of one cell stand side by side. Cells are floor(x 2^-exponent) as it is
/// without rounding. (CellOrder rounds differences from its first cell, and may so take a value
/// next to the edge of a cell for one of its neighbour, which changes no sum of the engine `fgt`,
/// but would make the cell depend on the other samples.)
class CellSort {
 public:
  /// Sorts these, less than 2^32, and forgets those of the last call but for their memory. range:
  /// all lie in it; w: one weight each, absent if there are none. Samples within about 2 n cells of
  /// their median are sorted by counting, the m farther out by comparison: O(n + m log m).
  void sort(Span<const double> x, Weights w, const ValueRange& range, int exponent,
            const simd::Table& table);

  std::size_t cells() const { return key_.size(); }
  /// Ascending.
  double key(std::size_t cell) const { return key_[cell]; }
  std::size_t count(std::size_t cell) const { return first_[cell + 1] - first_[cell]; }
  /// The samples of a cell, in any order; they may be sorted.
  double* values(std::size_t cell) { return sorted_.data() + first_[cell]; }
  /// Their weights, null if there are none.
  double* weights(std::size_t cell) {
    return weighted_ ? sorted_weight_.data() + first_[cell] : nullptr;
  }

 private:
  /// Samples beyond the slots: positions and weights.
  using Outside = std::vector<std::pair<double, double>>;

  template <class Visit>
  void find_slots(Span<const double> x, double first, std::size_t slots, const simd::Table& table,
                  const Visit& visit) const;
  void add_outside(Outside* outside);
  void place(std::size_t at, double x, double w) {
    sorted_[at] = x + 0.0;  // zero has one sign here
    if (weighted_) sorted_weight_[at] = w + 0.0;
  }
  void place(Span<const double> x, Weights w, const std::uint32_t* slot);
  void open_cell(double key);

  double scale_ = 1;
  bool weighted_ = false;
  RawVector<double> sorted_, sorted_weight_;
  Outside below_, above_;
  std::vector<double> key_;
  std::vector<std::size_t> first_;
  std::vector<std::uint32_t> next_;  // narrow, so that the caches hold more of them
  std::size_t placed_ = 0;
};

}  // namespace kestrel

#endif
