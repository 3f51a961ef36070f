// Moments of the runs of a cell, one run at a time.
#ifndef KESTREL_CORE_SWEEP_SCAN_HPP
#define KESTREL_CORE_SWEEP_SCAN_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/run_options.hpp"
#include "core/data/sorted_sample.hpp"
#include "core/sweep/cells.hpp"
#include "core/sweep/kernel.hpp"
#include "simd/sweep/sweep.hpp"

namespace kestrel {

enum class ScanDirection { forwards, backwards };

/// Moments (simd/sweep/sweep.hpp) about the first or last sample of the cell, or about a moving
/// one. O(1) a sample for each run that is requested. Memory: two vectors of one run, and backwards
/// 8 (degree + 1) / 256 bytes a sample and column.
class SweepScan {
 public:
  SweepScan(const SortedSample& sample, const SweepKernel& kernel, int columns, bool moving,
            ScanDirection direction, const simd::SweepTable& table);

  /// Computes the moments of this run of the cell. Forwards, the runs of a cell must be requested
  /// in the order of the samples.
  void reach(const SweepCell& cell, std::size_t run);
  /// Takes from another scan, of the same direction and anchor, what that has computed for the cell
  /// as a whole.
  void take_over(SweepScan& other, const SweepCell& cell);

  SweepScan(const SweepScan&) = delete;
  SweepScan& operator=(const SweepScan&) = delete;

  const double* moments() const { return position_0_; }
  ScanDirection direction() const { return direction_; }

 private:
  simd::SweepRun run_at(std::size_t run) const;
  void start(const SweepCell& cell);
  void scan_forwards(std::size_t run);
  void scan_backwards(std::size_t run);
  void sum_runs();
  void move_anchor(double distance, double* moment) const;

  const SortedSample& sample_;
  const int columns_;
  const std::size_t size_;  // moments
  const double h_;
  const bool moving_;
  const ScanDirection direction_;
  const simd::SweepScanFunction scan_, total_;
  SweepCell cell_;
  std::size_t run_ = 0;  // scanned last
  std::vector<double> memory_;
  double* position_0_;          // in memory_: moments of the run
  std::vector<double> behind_;  // backwards: moments of all samples after each run
};

/// The number of values for each power in SweepScan::moments().
constexpr std::size_t kSweepStride = simd::kSweepRun + 2 * simd::kSweepPadding;

/// The position of a degree in simd::kSweepDegrees.
std::size_t position_of_degree(int degree);

}  // namespace kestrel

#endif
