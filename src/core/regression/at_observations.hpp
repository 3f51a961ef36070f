// What fits at all observations give, in sorted order, and the way back to the given one.
#ifndef KESTREL_CORE_REGRESSION_AT_OBSERVATIONS_HPP
#define KESTREL_CORE_REGRESSION_AT_OBSERVATIONS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/raw_array.hpp"
#include "core/regression/regression.hpp"

namespace kestrel {

/// What Residuals has of one observation. Side by side, since observations in the given order are
/// anywhere in the sorted one.
struct OfObservation {
  double leave_one_out, in_sample, error2, variance;
};
struct GradientOfObservation {
  double value, variance;
};

/// e_i^2, and its mean with weights w over the others where e_i is NaN, of the first `rows` rows in
/// the given order.
void square_errors(const RawArray<OfObservation>& found, const SortedSample& line, std::size_t rows,
                   const ParallelOptions& options);

/// The numbers in sorted order of these rows.
RawArray<std::uint32_t> places_of_rows(const SortedSample& line, std::size_t rows,
                                       const ParallelOptions& options);

/// From these places into the given order. Leverages have been put there before.
void put_back(const RawArray<std::uint32_t>& place, std::size_t rows,
              const RawArray<OfObservation>& found, const RawArray<GradientOfObservation>& gradient,
              const Residuals& out, const ParallelOptions& options);

/// Throws error(internal) unless there is room for n observations.
void check_room(const Residuals& out, std::size_t n);

/// The sums over all blocks, pairwise.
FitTotals totals_of(const std::vector<FitTotals>& blocks);

}  // namespace kestrel

#endif
