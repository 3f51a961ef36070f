#include "core/sweep/scan.hpp"

#include <algorithm>
#include <utility>

namespace kestrel {

namespace {

simd::SweepScanFunction scan_of(const simd::SweepTable& table, const SweepKernel& kernel,
                                int columns, bool moving, ScanDirection direction) {
  const std::size_t back = direction == ScanDirection::backwards ? 1 : 0;
  const auto& scans = moving ? table.moving[back] : table.fixed[back];
  return scans[columns - 1][position_of_degree(kernel.degree())];
}

}  // namespace

std::size_t position_of_degree(int degree) {
  const auto* end = simd::kSweepDegrees + simd::kSweepDegreeCount;
  return static_cast<std::size_t>(std::find(simd::kSweepDegrees, end, degree) -
                                  simd::kSweepDegrees);
}

SweepScan::SweepScan(const SortedSample& sample, const SweepKernel& kernel, int columns,
                     bool moving, ScanDirection direction, const simd::SweepTable& table)
    : sample_(sample),
      columns_(columns),
      size_(static_cast<std::size_t>(columns * (kernel.degree() + 1))),
      h_(kernel.h),
      moving_(moving),
      direction_(direction),
      scan_(scan_of(table, kernel, columns, moving, direction)),
      total_(table.total[columns - 1][position_of_degree(kernel.degree())]),
      memory_(size_ * kSweepStride + 2 * simd::kSweepPadding, 0.0) {
  // Vectors are stored from position 1 on, backwards from 0 on: there a cache line begins.
  const std::size_t line = 64 / sizeof(double),
                    first = direction == ScanDirection::forwards ? 1 : 0;
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data()) / sizeof(double);
  position_0_ = memory_.data() + simd::kSweepPadding + (line - (address + first) % line) % line;
}

void SweepScan::start(const SweepCell& cell) {
  cell_ = cell;
  run_ = cell.runs();
  if (direction_ == ScanDirection::backwards) sum_runs();
}

void SweepScan::take_over(SweepScan& other, const SweepCell& cell) {
  if (cell_.begin == cell.begin && cell_.end == cell.end) return;
  if (other.cell_.begin != cell.begin || other.cell_.end != cell.end) return;
  cell_ = cell;
  run_ = cell.runs();
  std::swap(behind_, other.behind_);
  other.cell_ = SweepCell();
}

void SweepScan::reach(const SweepCell& cell, std::size_t run) {
  if (cell_.begin != cell.begin || cell_.end != cell.end) start(cell);
  if (direction_ == ScanDirection::backwards) {
    if (run_ != run) scan_backwards(run);
  } else {
    while (run_ > run) scan_forwards(run_ - 1);
  }
}

simd::SweepRun SweepScan::run_at(std::size_t run) const {
  const std::size_t begin = cell_.begin_of(run);
  simd::SweepRun task{};
  task.x = sample_.x() + begin;
  task.w = sample_.unit_weights() ? nullptr : sample_.w() + begin;
  task.y = columns_ == 2 ? sample_.y() + begin : nullptr;
  task.line = cell_.line;
  task.count = cell_.end_of(run) - begin;
  task.scale = 1.0 / h_;
  task.stride = kSweepStride;
  return task;
}

void SweepScan::scan_forwards(std::size_t run) {
  double before[2 * (simd::kSweepHighestDegree + 1)];
  simd::SweepRun task = run_at(run);
  task.moments = position_0_;
  task.anchor = sample_.x()[cell_.begin];
  if (run_ < cell_.runs()) {
    const std::size_t last = cell_.end_of(run_) - cell_.begin_of(run_);
    for (std::size_t k = 0; k < size_; ++k) before[k] = task.moments[k * kSweepStride + last];
    task.outer = before;
    if (moving_) task.anchor = task.x[-1];
  }
  scan_(task);
  run_ = run;
}

void SweepScan::scan_backwards(std::size_t run) {
  simd::SweepRun task = run_at(run);
  task.moments = position_0_;
  task.anchor = sample_.x()[cell_.end - 1];
  if (run > 0) {
    task.outer = behind_.data() + run * size_;
    if (moving_) task.anchor = task.x[task.count];
  }
  scan_(task);
  run_ = run;
}

/// behind_ of run k is about the last sample of the cell or, with a moving anchor, about the first
/// one after the run.
void SweepScan::sum_runs() {
  const std::size_t runs = cell_.runs();
  behind_.assign(std::max<std::size_t>(runs, 1) * size_, 0.0);
  for (std::size_t k = 1; k < runs; ++k) {
    simd::SweepRun task = run_at(k - 1);
    double* sum = behind_.data() + k * size_;
    task.anchor = moving_ ? task.x[0] : sample_.x()[cell_.end - 1];
    task.moments = sum;
    total_(task);
    double behind[2 * (simd::kSweepHighestDegree + 1)];
    std::copy(sum - size_, sum, behind);
    if (moving_ && k > 1) move_anchor((task.x[task.count] - task.x[0]) * task.scale, behind);
    for (std::size_t q = 0; q < size_; ++q) sum[q] += behind[q];
  }
}

/// M_q <- sum_r C(q, r) d^(q-r) M_r, in every column.
void SweepScan::move_anchor(double distance, double* moment) const {
  const std::size_t powers = size_ / static_cast<std::size_t>(columns_);
  for (double* m = moment; m < moment + size_; m += powers) {
    for (std::size_t k = 0; k + 1 < powers; ++k) {
      for (std::size_t q = powers - 1; q > k; --q) m[q] += distance * m[q - 1];
    }
  }
}

}  // namespace kestrel
