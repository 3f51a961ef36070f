// Leave-one-out fits of all observations, from which curves and residuals are made.
#ifndef KESTREL_CORE_REGRESSION_VALIDATION_HPP
#define KESTREL_CORE_REGRESSION_VALIDATION_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/regression/at_observations.hpp"
#include "core/regression/gaussian_curve.hpp"
#include "core/regression/local_fit.hpp"
#include "core/regression/regression.hpp"
#include "simd/sweep/sweep.hpp"

namespace kestrel {

/// The maximum number of samples that the direct sums of one block look at: at this number they
/// cost about as much as the sweep.
constexpr std::size_t kMaxDirect = 16 * kSweepBlock;

/// Leave-one-out fits of all observations in sorted order.
class Validation {
 public:
  /// The source is prepared for the Gaussian kernel. `observations`: how many of the first rows in
  /// the given order are observations; the others are images of them (RegressionSample).
  Validation(const LocalSource& source, const LocalFitter& fitter, std::size_t observations)
      : source_(source), sample_(source.sample()), fitter_(fitter), observations_(observations) {}

  /// Calls take(i, fit, sums) for every observation. Blocks come in any order, on several threads;
  /// each block is taken in order.
  template <class Take>
  void run(const LocalKernel& kernel, const RunOptions& options, const Take& take) const {
    check_local_kernel(kernel);
    local_sums(source_, sample_, kernel, 1, Anchors::edges, options,
               [&](const LocalSums& sums, int) { each_fit(kernel, sums, take); });
  }

  /// Sums over all fits at each of the bandwidths.
  std::vector<FitTotals> totals(const std::vector<LocalKernel>& kernels,
                                const RunOptions& options) const {
    const bool at_once =
        !images() && std::all_of(kernels.begin(), kernels.end(), [&](const LocalKernel& kernel) {
          return has_totals(source_, kernel);
        });
    if (at_once) return at_cells({kernels.data(), kernels.size()}, options);
    std::vector<FitTotals> found(kernels.size());
    const bool brief = local_sums_are_brief(kernels[0].kernel, sample_.size());
    parallel_tasks(kernels.size(), brief, options.parallel,
                   [&](std::size_t k, int, const ParallelOptions& inner) {
                     found[k] = totals(kernels[k], {options.table, inner});
                   });
    return found;
  }

 private:
  bool images() const { return observations_ < sample_.size(); }

  std::vector<FitTotals> at_cells(Span<const LocalKernel> kernels,
                                  const RunOptions& options) const {
    return gaussian_totals(source_, fitter_, kernels, options,
                           [&](std::size_t k, const LocalSums& sums, FitTotals& totals) {
                             each_fit(kernels[k], sums,
                                      [&](std::size_t i, const LocalFit& fit, const LocalSums&) {
                                        totals.add(fit, sample_.w()[i]);
                                      });
                           });
  }

  FitTotals totals(const LocalKernel& kernel, const RunOptions& options) const {
    if (!images() && has_totals(source_, kernel)) return at_cells({&kernel, 1}, options)[0];
    std::vector<FitTotals> blocks(local_slots(sample_, sample_));
    if (!images() && !kernel.local_linear && is_polynomial(kernel.kernel)) {
      if (constant_fits(kernel, options, blocks)) return totals_of(blocks);
      blocks.assign(blocks.size(), FitTotals());
    }
    run(kernel, options, [&](std::size_t i, const LocalFit& fit, const LocalSums& sums) {
      blocks[sums.slot()].add(fit, sample_.w()[i]);
    });
    return totals_of(blocks);
  }

  /// Calls take(i, fit, sums) for the observations of a block.
  template <class Take>
  void each_fit(const LocalKernel& kernel, const LocalSums& sums, const Take& take) const {
    poll_if_due({});
    for (std::size_t i = sums.begin(); i < sums.begin() + sums.count(); ++i) {
      if (sample_.given(i) >= observations_) continue;
      const LocalFit fit = fitter_.leave_one_out(kernel, sums, i);
      take(i, fit.unstable ? settled(kernel, sums, i, fit.exact) : fit, sums);
    }
  }

  LocalFit settled(const LocalKernel& kernel, const LocalSums& sums, std::size_t i,
                   bool exact) const {
    poll_if_due({});  // a window may hold all of the sample
    LocalFit fit = fitter_.direct(kernel, sample_.x()[i], sample_.y()[i], sums.first(i),
                                  sums.end(i), i, nullptr, nullptr);
    fit.exact = exact;
    return fit;
  }

  /// Local constant fits by a polynomial kernel, from the cheapest sums. Returns false if these
  /// lose digits at too many points for direct sums.
  bool constant_fits(const LocalKernel& kernel, const RunOptions& options,
                     std::vector<FitTotals>& blocks) const {
    check_local_kernel(kernel);
    std::vector<char> too_many(blocks.size(), 0);
    local_sums(source_, sample_, kernel, 1, Anchors::ends, options,
               [&](const LocalSums& sums, int) {
                 const bool done = constant_block(kernel, options, sums, blocks[sums.slot()]);
                 too_many[sums.slot()] = !done;
               });
    return std::find(too_many.begin(), too_many.end(), 1) == too_many.end();
  }

  bool constant_block(const LocalKernel& kernel, const RunOptions& options, const LocalSums& sums,
                      FitTotals& totals) const {
    std::uint32_t unstable[kSweepBlock];
    const double* w = sample_.w() + sums.begin();
    const SweepBlock& block = sums.block();
    simd::ConstantFits fits{};
    fits.s0 = block.of(0, 0);
    fits.r0 = block.of(0, 1);
    fits.w = w;
    fits.first = block.first;
    fits.end = block.end;
    fits.count = block.count;
    fits.min = fitter_.min_sum_of_a_sample();
    fits.unstable = unstable;
    options.table->sweep->constant_fits(fits);
    totals = {fits.squares, fits.in_sample, fits.trace, static_cast<double>(fits.unsupported)};
    std::size_t cost = 0;
    for (std::size_t k = 0; k < fits.unstable_count; ++k) {
      const std::size_t i = sums.begin() + unstable[k];
      cost += sums.end(i) - sums.first(i);
      if (cost > kMaxDirect) return false;
      totals.add(settled(kernel, sums, i, false), w[unstable[k]]);
    }
    return true;
  }

  const LocalSource& source_;
  const SortedSample& sample_;
  const LocalFitter& fitter_;
  const std::size_t observations_;
};

}  // namespace kestrel

#endif
