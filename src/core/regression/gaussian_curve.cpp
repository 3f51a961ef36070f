#include "core/regression/gaussian_curve.hpp"

#include <algorithm>
#include <cmath>

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
    const simd::NodeSource values{node_tables().coefficients, value + f * kNodes, 0.0};
    call.table.nodes->add_products(&values, 1, 1, coefficient);
    rest[f] = 0;
    for (std::size_t k = kNodes - 3; k < kNodes; ++k) rest[f] += std::fabs(coefficient[k]);
  }
  all.error = rest[0] * size + 2 * rest[1] * std::sqrt(count * std::max(0.0, size)) +
              rest[2] * count + 1e-15 * size;
  return all;
}

bool gaussian_totals(const LocalSource& source, const LocalFitter& fitter,
                     const LocalKernel& kernel, const RunOptions& options,
                     std::vector<FitTotals>& totals, const LocalTake& take) {
  const GaussianCall call(source, source.sample(), kernel, 1, *options.table);
  const bool unit = source.sample().unit_weights();
  const bool by_cells = unit && call.level != nullptr;
  if (!by_cells && !(unit && source.places() != nullptr)) return false;
  const auto one_by_one = [&](std::size_t begin, std::size_t end, std::size_t item, int worker) {
    for (; begin < end; begin += kSweepBlock) {
      poll_if_due({});
      gaussian_block(call, begin, std::min<std::size_t>(kSweepBlock, end - begin), item, worker,
                     take);
    }
  };
  // Whole places.
  const auto fit_samples = [&](std::size_t begin, std::size_t end, std::size_t item, int worker) {
    if (!places_pay(call, begin, end)) {
      one_by_one(begin, end, item, worker);
      return;
    }
    const Places& places = *source.places();
    for (std::size_t i = begin; i < end;) {
      const std::size_t p = places.of(i), next = places.first(p + 1);
      if (next - i > 1) {
        add_place(call, fitter, p, totals[item]);
      } else {
        one_by_one(i, next, item, worker);
      }
      i = next;
    }
  };
  const std::vector<std::size_t> items = items_of(call, by_cells);
  totals.assign(items.size() - 1, FitTotals());
  parallel_for(items.size() - 1, options.parallel, [&](std::size_t item, int worker) {
    poll_if_due({});
    if (!by_cells) {
      const Places& places = *source.places();
      fit_samples(places.first(items[item]), places.first(items[item + 1]), item, worker);
      return;
    }
    const NodeLevel& level = *call.level;
    for (std::size_t c = items[item]; c < items[item + 1]; ++c) {
      if (const auto found = cell_totals(call, c); found && found->is_accurate()) {
        totals[item].squares += found->totals.squares;
        totals[item].in_sample += found->totals.in_sample;
        totals[item].trace += found->totals.trace;
        continue;
      }
      fit_samples(level.first[c], level.first[c + 1], item, worker);
    }
  });
  return true;
}

}  // namespace kestrel
