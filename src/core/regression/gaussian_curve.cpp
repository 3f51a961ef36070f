#include "core/regression/gaussian_curve.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/regression/at_observations.hpp"
#include "core/regression/gaussian_sums.hpp"
#include "core/regression/place_totals.hpp"

namespace kestrel {

namespace {

/// Cells with fewer samples, and fits in which a sample has a larger leverage, are summed sample by
/// sample.
constexpr double kLeastOfCell = 16;
constexpr double kMaxLeverage = 0.5;
/// Of a work item of cells: some tens of microseconds, milliseconds if it is done sample by sample.
constexpr std::size_t kSizeOfItem = 4096;
/// Bandwidths that are summed side by side. The kernel of one takes up to half a megabyte.
constexpr std::size_t kAtOnce = 32;

/// The cells, or the places, that begin the work items, and their number.
std::vector<std::size_t> items_of(const GaussianCall& call, bool by_cells) {
  const std::size_t units = by_cells ? call.level->cells() : call.source.places()->size();
  std::vector<std::size_t> items{0};
  std::size_t size = 0;
  for (std::size_t u = 0; u < units; ++u) {
    const auto first = [&](std::size_t k) -> std::size_t {
      return by_cells ? call.level->first[k] : call.source.places()->first(k);
    };
    size += kLeastBlock + (first(u + 1) - first(u)) / 16;
    if (size < kSizeOfItem) continue;
    items.push_back(u + 1);
    size = 0;
  }
  if (items.back() < units) items.push_back(units);
  return items;
}

}  // namespace

std::optional<CellTotals> cell_totals(const GaussianCall& call, std::size_t c) {
  const NodeLevel& level = *call.level;
  const double count = level.weight[c];
  if (!(count >= kLeastOfCell)) return std::nullopt;
  const CellAtNodes cell(call, level.key[c], level.reference[c]);
  // A^2, A^2 m and A^2 m^2: m is the fit relative to the line, and A turns residuals in the sample
  // into those without the observation.
  double value[3 * kNodes], deviation[kNodes], leverage[kNodes];
  for (std::size_t k = 0; k < kNodes; ++k) {
    const double s0 = cell.of(0, 0)[k];
    const double s1 = call.kernel.local_linear ? cell.of(1, 0)[k] : 0.0;
    const double s2 = call.kernel.local_linear ? cell.of(2, 0)[k] : 0.0;
    if (!is_accurate(call, s0 - 1, s1, s2, cell.bound, cell.bound_of_squares)) return std::nullopt;
    const FitSums sums{s0, cell.of(0, 1)[k], s1, call.kernel.local_linear ? cell.of(1, 1)[k] : 0.0,
                       s2};
    LocalFit fit = constant_fit(sums, 1.0);
    if (call.kernel.local_linear) make_line(sums, s1 / s0, cell.bound_of_squares, fit);
    deviation[k] = fit.deviation;
    leverage[k] = fit.constant;
    if (fit.unstable || !(std::fabs(leverage[k]) < kMaxLeverage)) return std::nullopt;
    const double a = 1 / (1 - leverage[k]);
    value[k] = a * a;
    value[kNodes + k] = a * a * deviation[k];
    value[2 * kNodes + k] = a * a * deviation[k] * deviation[k];
  }
  const double* ones = level.column(c);
  const double *e = ones + kNodes, *squares = e + kNodes;
  CellTotals all{{}, 0};
  FitTotals& found = all.totals;
  double size = 0;
  for (std::size_t k = 0; k < kNodes; ++k) {
    const double m = deviation[k], inside = squares[k] - 2 * m * e[k] + m * m * ones[k];
    found.squares += value[k] * inside;
    found.in_sample += inside;
    found.trace += leverage[k] * ones[k];
    size += squares[k];
  }
  // What polynomials of a higher degree would add.
  double rest[3];
  for (std::size_t f = 0; f < 3; ++f) {
    double coefficient[kNodes] = {};
    call.table.nodes->add_product(node_tables().coefficients, value + f * kNodes, coefficient);
    rest[f] = 0;
    for (std::size_t k = kNodes - 3; k < kNodes; ++k) rest[f] += std::fabs(coefficient[k]);
  }
  all.error = rest[0] * size + 2 * rest[1] * std::sqrt(count * std::max(0.0, size)) +
              rest[2] * count + 1e-15 * size;
  return all;
}

bool has_totals(const LocalSource& source, const LocalKernel& kernel) {
  if (!kernel.gaussian() || !source.sample().unit_weights()) return false;
  return source.places() != nullptr ||
         (source.cells() != nullptr &&
          node_exponent(kernel.h, kernel.order) >= source.cells()->finest());
}

namespace {

/// The work items of one bandwidth.
class CurveItems {
 public:
  CurveItems(const LocalSource& source, const LocalFitter& fitter, const LocalKernel& kernel,
             const simd::Table& table)
      : call_(source, source.sample(), kernel, 1, table),
        fitter_(fitter),
        by_cells_(call_.level != nullptr),
        first_(items_of(call_, by_cells_)) {}

  std::size_t count() const { return first_.size() - 1; }
  /// Calls `take` for the samples that cells and places leave out.
  void add(std::size_t item, const LocalTake& take, FitTotals& totals) const;

 private:
  void one_by_one(std::size_t begin, std::size_t end, const LocalTake& take) const {
    for (; begin < end; begin += kSweepBlock) {
      poll_if_due({});
      gaussian_block(call_, begin, std::min<std::size_t>(kSweepBlock, end - begin), 0, 0, take);
    }
  }
  void fit_samples(std::size_t begin, std::size_t end, const LocalTake& take,
                   FitTotals& totals) const;

  const GaussianCall call_;
  const LocalFitter& fitter_;
  const bool by_cells_;
  const std::vector<std::size_t> first_;
};

/// The samples are those of whole places.
void CurveItems::fit_samples(std::size_t begin, std::size_t end, const LocalTake& take,
                             FitTotals& totals) const {
  if (!places_pay(call_, begin, end)) {
    one_by_one(begin, end, take);
    return;
  }
  const Places& places = *call_.source.places();
  for (std::size_t i = begin; i < end;) {
    const std::size_t p = places.of(i), next = places.first(p + 1);
    if (next - i > 1) {
      add_place(call_, fitter_, p, totals);
    } else {
      one_by_one(i, next, take);
    }
    i = next;
  }
}

void CurveItems::add(std::size_t item, const LocalTake& take, FitTotals& totals) const {
  if (!by_cells_) {
    const Places& places = *call_.source.places();
    fit_samples(places.first(first_[item]), places.first(first_[item + 1]), take, totals);
    return;
  }
  const NodeLevel& level = *call_.level;
  for (std::size_t c = first_[item]; c < first_[item + 1]; ++c) {
    if (const auto found = cell_totals(call_, c); found && found->is_accurate()) {
      totals.squares += found->totals.squares;
      totals.in_sample += found->totals.in_sample;
      totals.trace += found->totals.trace;
      continue;
    }
    fit_samples(level.first[c], level.first[c + 1], take, totals);
  }
}

}  // namespace

std::vector<FitTotals> gaussian_totals(const LocalSource& source, const LocalFitter& fitter,
                                       Span<const LocalKernel> kernels, const RunOptions& options,
                                       const CurveTake& take) {
  std::vector<FitTotals> found;
  const double all = static_cast<double>(kernels.size);
  for (std::size_t from = 0; from < kernels.size; from += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, kernels.size - from);
    const double before = static_cast<double>(from) / all;
    const double after = static_cast<double>(from + count) / all;
    // Making these takes a fraction of the time of their sums.
    std::vector<std::unique_ptr<const CurveItems>> work(count);
    parallel_for(count, part_of(options.parallel, before, before), [&](std::size_t k, int) {
      work[k] =
          std::make_unique<const CurveItems>(source, fitter, kernels[from + k], *options.table);
    });
    std::vector<std::size_t> begin(count + 1, 0);
    for (std::size_t k = 0; k < count; ++k) begin[k + 1] = begin[k] + work[k]->count();
    std::vector<FitTotals> totals(begin[count]);
    parallel_for(totals.size(), part_of(options.parallel, before, after),
                 [&](std::size_t item, int) {
                   poll_if_due({});
                   const auto next = std::upper_bound(begin.begin(), begin.end(), item);
                   const auto k = static_cast<std::size_t>(next - begin.begin()) - 1;
                   const LocalTake each = [&](const LocalSums& sums, int) {
                     take(from + k, sums, totals[item]);
                   };
                   work[k]->add(item - begin[k], each, totals[item]);
                 });
    for (std::size_t k = 0; k < count; ++k) {
      const auto first = totals.begin() + static_cast<std::ptrdiff_t>(begin[k]);
      const auto last = totals.begin() + static_cast<std::ptrdiff_t>(begin[k + 1]);
      found.push_back(totals_of(std::vector<FitTotals>(first, last)));
    }
  }
  return found;
}

}  // namespace kestrel
