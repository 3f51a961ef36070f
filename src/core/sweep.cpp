#include "core/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "simd/sweep.hpp"

namespace kestrel {

namespace {

using Side = SortedSample::Side;

constexpr std::size_t kPadding = simd::kSweepPadding;
constexpr std::size_t kRun = simd::kSweepRun;
constexpr std::size_t kStride = kRun + 1 + kPadding;

/// Samples of the cells that one work item takes, and points of one item where windows are found.
constexpr std::size_t kGroup = std::size_t{1} << 16;

std::size_t position_of_degree(int degree) {
  const auto* end = simd::kSweepDegrees + simd::kSweepDegreeCount;
  return static_cast<std::size_t>(std::find(simd::kSweepDegrees, end, degree) -
                                  simd::kSweepDegrees);
}

/// One direction: sums over the samples to the left of each point.
class LeftSums {
 public:
  LeftSums(const SortedSample& sample, const SortedSample& points, bool mirrored,
           const SweepKernel& kernel, int columns, const RunOptions& options, SweepSums& out)
      : x_(mirrored ? sample.mirrored() : sample.ascending()),
        mirror_(mirrored ? sample.ascending() : sample.mirrored()),
        e_(mirrored ? points.mirrored() : points.ascending()),
        n_(sample.size()),
        m_(points.size()),
        leave_one_out_(&sample == &points),
        unit_weights_(sample.unit_weights()),
        mirrored_(mirrored),
        kernel_(kernel),
        columns_(columns),
        moments_(static_cast<std::size_t>(columns * (kernel.degree() + 1))),
        options_(options),
        out_(out) {
    const double never = std::numeric_limits<double>::infinity();
    outside_ = kernel.closed ? std::nextafter(kernel.h, never) : kernel.h;
    const std::size_t degree = position_of_degree(kernel.degree());
    const std::size_t column = static_cast<std::size_t>(columns - 1);
    const simd::SweepTable& table = *options.table->sweep;
    near_moves_ = kernel.anchors == Anchors::nearest;
    edge_moves_ = kernel.anchors == Anchors::edges;
    scan_near_ = (near_moves_ ? table.scan_moving : table.scan_fixed)[column][degree];
    scan_edge_ = (edge_moves_ ? table.scan_moving : table.scan_fixed)[column][degree];
    total_ = table.total[column][degree];
    sum_ = table.sum[column][degree];
    near_coefficient_ = flat(near_moves_ ? kernel.in_distance : kernel.in_edge);
    edge_coefficient_ = flat(edge_moves_ ? kernel.in_edge : kernel.in_distance);
  }

  void run() {
    find_windows();
    const std::vector<Stage> groups = cut_groups();
    out_.scratch.resize(std::max(out_.scratch.size(),
                                 static_cast<std::size_t>(parallel_threads(options_.parallel))));
    parallel_for(groups.size() - 1, options_.parallel, [&](std::size_t group, int worker) {
      run_group(groups[group], groups[group + 1].begin,
                out_.scratch[static_cast<std::size_t>(worker)]);
    });
    hand_over_windows();
  }

 private:
  /// A cell [begin, ...) and where the one before it begins.
  struct Stage {
    std::size_t before, begin;
  };

  static std::vector<double> flat(const std::vector<Polynomial>& polynomials) {
    std::vector<double> all;
    for (const Polynomial& p : polynomials) all.insert(all.end(), p.begin(), p.end());
    return all;
  }

  /// first_[i]: the samples before it are out of reach of point i; last_[i]: those from it on are
  /// not to the left. Both are found by comparing differences, as the kernel itself does.
  void find_windows() {
    constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    first_.resize(m_ + kPadding);
    std::fill(first_.end() - kPadding, first_.end(), kNone);
    if (!leave_one_out_) last_.assign(m_ + kPadding, kNone);
    // A sample at the place of a point counts on the left side only.
    const double left = mirrored_ ? std::numeric_limits<double>::denorm_min() : 0.0;
    parallel_for((m_ + kGroup - 1) / kGroup, options_.parallel, [&](std::size_t item, int) {
      const std::size_t begin = item * kGroup, count = std::min(kGroup, m_ - begin);
      find(outside_, begin, count, first_.data());
      if (!leave_one_out_) find(left, begin, count, last_.data());
    });
  }

  void find(double bound, std::size_t begin, std::size_t count, std::uint32_t* found) const {
    const double point = e_.x[begin];
    const double* start = std::partition_point(
        x_.x, x_.x + n_, [&](double sample) { return point - sample >= bound; });
    options_.table->sweep->count_leading(x_.x, static_cast<std::size_t>(start - x_.x), e_.x + begin,
                                         count, bound, found + begin);
  }

  std::size_t last(std::size_t i) const { return leave_one_out_ ? i : last_[i]; }
  /// Where the cell behind the one that begins at sample c begins: a search in steps of doubling
  /// size, then by halves.
  std::size_t next_cell(std::size_t c) const {
    const double start = x_.x[c];
    const auto inside = [&](std::size_t j) { return !(x_.x[j] - start >= outside_); };
    std::size_t step = 1, low = c;
    while (low + step < n_ && inside(low + step)) {
      low += step;
      step *= 2;
    }
    std::size_t high = std::min(n_, low + step);
    while (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      (inside(middle) ? low : high) = middle;
    }
    return high;
  }

  /// Groups of whole cells. With one thread there is no use in finding them beforehand; what each
  /// cell gives does not depend on its group.
  std::vector<Stage> cut_groups() const {
    std::vector<Stage> groups{{0, 0}};
    if (parallel_threads(options_.parallel) > 1 && n_ > kGroup) {
      std::size_t before = 0, begin = 0;
      while (begin < n_) {
        const std::size_t next = next_cell(begin);
        before = begin;
        begin = next;
        if (begin < n_ && begin - groups.back().begin >= kGroup) groups.push_back({before, begin});
      }
    }
    // One more stage behind the last cell, for the points to the right of all samples.
    groups.push_back({n_, n_ + 1});
    return groups;
  }

  void run_group(const Stage& first, std::size_t end, SweepScratch& scratch) const {
    // Points of earlier cells: at most at the first sample, and with the cell before in reach.
    std::size_t i = 0, count = m_;
    while (count > 0 && first.begin > 0) {
      const std::size_t half = count / 2, at = i + half;
      const bool earlier =
          last(at) < first.begin || (last(at) == first.begin && first_[at] <= first.before);
      i = earlier ? at + 1 : i;
      count = earlier ? count - half - 1 : half;
    }
    for (std::size_t c = first.begin, next; c < end; c = next) {
      next = c < n_ ? next_cell(c) : n_ + 1;
      const std::size_t begin = i;
      i = points_until(i, c, std::min(next, n_));
      if (i > begin) run_cell(c, begin, i, scratch);
    }
  }

  /// The points from i on that belong to the cell [c, end): the last sample to their left is in it
  /// and so is its first one in their reach, or they come before it.
  std::size_t points_until(std::size_t i, std::size_t c, std::size_t end) const {
    if (leave_one_out_) return end;
    while (i < m_ && last_[i] <= end && (last_[i] <= c || first_[i] <= c)) ++i;
    return i;
  }

  /// Sums of the points [from, to): samples [c, last) of this cell, and [first, c) of the one
  /// before. Points are taken in batches that need one run of each.
  void run_cell(std::size_t c, std::size_t from, std::size_t to, SweepScratch& scratch) const {
    Cell cell;
    cell.begin = c;
    cell.end = last(to - 1);
    cell.reference = columns_ == 2 ? reference_of_cell(c, cell.end - c) : 0.0;
    cell.edge = first_[from] < c ? c - first_[from] : 0;
    prepare_edge(cell, scratch);
    for (std::size_t i = from; i < to;) {
      const std::size_t near = run_of(last(i) - c),
                        edge = run_of(c - std::min<std::size_t>(c, first_[i]));
      while (cell.near_runs <= near) scan_near(cell, scratch);
      if (first_[i] < c && cell.edge_run != edge) scan_edge(cell, edge, scratch);
      const std::size_t end = end_of_batch(cell, i, to, near, edge);
      simd::SweepPoints task = task_at(i, end - i, cell.reference);
      if (last(end - 1) > c) task.near = near_piece(cell, near, i, scratch);
      if (first_[i] < c) task.edge = edge_piece(cell, edge, i, scratch);
      sum_(task);
      i = end;
    }
  }

  struct Cell {
    std::size_t begin, end;
    std::size_t edge;  // samples of the cell before that are in reach of some point
    double reference;
    std::size_t near_runs = 0;                            // scanned so far
    std::size_t edge_run = static_cast<std::size_t>(-1);  // scanned last
  };

  /// The run that holds the last of `count` samples.
  static std::size_t run_of(std::size_t count) { return count == 0 ? 0 : (count - 1) / kRun; }

  simd::SweepRun run_at(const Side& side, std::size_t begin, std::size_t count,
                        double reference) const {
    simd::SweepRun run{};
    run.x = side.x + begin;
    run.w = unit_weights_ ? nullptr : side.w + begin;
    run.y = columns_ == 2 ? side.y + begin : nullptr;
    run.reference = reference;
    run.count = count;
    run.scale = 1.0 / kernel_.h;
    run.stride = kStride;
    return run;
  }

  /// The next run of the cell, forwards.
  void scan_near(Cell& cell, SweepScratch& scratch) const {
    const std::size_t begin = cell.begin + cell.near_runs * kRun;
    double before[2 * (simd::kSweepHighestDegree + 1)];
    simd::SweepRun run = run_at(x_, begin, std::min(kRun, cell.end - begin), cell.reference);
    scratch.near.resize(moments_ * kStride);
    run.moments = scratch.near.data();
    run.anchor = x_.x[cell.begin];
    if (cell.near_runs > 0) {
      for (std::size_t k = 0; k < moments_; ++k) before[k] = run.moments[k * kStride + kRun];
      run.before = before;
      if (near_moves_) run.anchor = x_.x[begin - 1];
    }
    scan_near_(run);
    ++cell.near_runs;
  }

  /// Moments of what comes before each run of the cell before, which is taken backwards.
  void prepare_edge(const Cell& cell, SweepScratch& scratch) const {
    const std::size_t runs = run_of(cell.edge) + 1, start = n_ - cell.begin;
    scratch.edge.resize(moments_ * kStride);
    scratch.before_edge.assign(runs * moments_, 0.0);
    for (std::size_t k = 1; k < runs; ++k) {
      simd::SweepRun run = run_at(mirror_, start + (k - 1) * kRun, kRun, cell.reference);
      double* sum = scratch.before_edge.data() + k * moments_;
      run.anchor = edge_moves_ ? run.x[kRun - 1] : mirror_.x[start];
      run.moments = sum;
      total_(run);
      double before[2 * (simd::kSweepHighestDegree + 1)];
      std::copy(sum - moments_, sum, before);
      if (k > 1 && edge_moves_) move_anchor((run.x[kRun - 1] - run.x[-1]) * run.scale, before);
      for (std::size_t q = 0; q < moments_; ++q) sum[q] += before[q];
    }
  }

  /// M_q <- sum_r C(q, r) d^(q-r) M_r, in every column.
  void move_anchor(double d, double* moment) const {
    const std::size_t size = moments_ / static_cast<std::size_t>(columns_);
    for (double* m = moment; m < moment + moments_; m += size) {
      for (std::size_t k = 0; k + 1 < size; ++k) {
        for (std::size_t q = size - 1; q > k; --q) m[q] += d * m[q - 1];
      }
    }
  }

  void scan_edge(Cell& cell, std::size_t k, SweepScratch& scratch) const {
    const std::size_t start = n_ - cell.begin, begin = start + k * kRun;
    simd::SweepRun run =
        run_at(mirror_, begin, std::min(kRun, cell.edge - k * kRun), cell.reference);
    run.moments = scratch.edge.data();
    run.before = k > 0 ? scratch.before_edge.data() + k * moments_ : nullptr;
    run.anchor = mirror_.x[edge_moves_ && k > 0 ? begin - 1 : start];
    scan_edge_(run);
    cell.edge_run = k;
  }

  /// Points from i on whose last sample to the left is in this run of the cell, and whose first one
  /// in reach is in this run of the one before.
  std::size_t end_of_batch(const Cell& cell, std::size_t i, std::size_t to, std::size_t near,
                           std::size_t edge) const {
    const std::uint32_t most = static_cast<std::uint32_t>(cell.begin + (near + 1) * kRun);
    if (leave_one_out_) {
      to = std::min<std::size_t>(to, most + 1);
    } else {
      to = first_where(last_, i, to, [most](std::uint32_t bound) { return bound > most; });
    }
    if (edge == 0) return to;
    const std::uint32_t least = static_cast<std::uint32_t>(cell.begin - edge * kRun);
    return first_where(first_, i, to, [least](std::uint32_t bound) { return bound >= least; });
  }

  template <class Condition>
  static std::size_t first_where(const std::vector<std::uint32_t>& bounds, std::size_t from,
                                 std::size_t to, const Condition& condition) {
    const std::uint32_t* start = bounds.data();
    const auto before = [&](std::uint32_t bound) { return !condition(bound); };
    return static_cast<std::size_t>(std::partition_point(start + from, start + to, before) - start);
  }

  /// A value near those of the cell: sums are of y minus this, so that a large mean or trend of y
  /// does not drown its residuals.
  double reference_of_cell(std::size_t c, std::size_t near) const {
    if (c == n_) return x_.y[n_ - 1];
    return (x_.y[c] + x_.y[c + near / 2] + x_.y[std::min(c + near, n_ - 1)]) / 3;
  }

  simd::SweepPoints task_at(std::size_t i, std::size_t count, double reference) const {
    simd::SweepPoints task{};
    task.point = e_.x + i;
    task.reference_of_point = columns_ == 2 ? e_.y + i : nullptr;
    task.reference = reference;
    task.count = count;
    task.sign = kernel_.left_sign.data();
    task.polynomials = static_cast<int>(kernel_.sums());
    task.mirrored = mirrored_;
    task.sum = out_.sum.data() + (mirrored_ ? m_ - 1 - i : i);
    task.sum_stride = m_;
    return task;
  }

  /// In t = (h - |e - anchor|) / h + z, or in u = |e - anchor| / h + z.
  simd::SweepPiece piece_of(bool in_edge, const std::vector<double>& coefficient) const {
    simd::SweepPiece piece{};
    piece.stride = kStride;
    piece.offset = in_edge ? kernel_.h : 0.0;
    piece.scale = (in_edge ? 1.0 : -1.0) / kernel_.h;
    piece.coefficient = coefficient.data();
    return piece;
  }

  /// Samples [c, last) of the cell: about the last one before the point, or about the first of all.
  simd::SweepPiece near_piece(const Cell& cell, std::size_t k, std::size_t i,
                              const SweepScratch& scratch) const {
    const std::size_t begin = cell.begin + k * kRun;
    simd::SweepPiece piece = piece_of(!near_moves_, near_coefficient_);
    piece.moments = scratch.near.data() + (leave_one_out_ ? i - begin : 0);
    piece.bound = leave_one_out_ ? nullptr : last_.data() + i;
    piece.limit = static_cast<std::uint32_t>(std::min(cell.end, begin + kRun));
    piece.cell = static_cast<std::uint32_t>(begin);
    piece.moving = near_moves_;
    piece.anchor = x_.x;
    if (!piece.moving) piece.anchor += cell.begin;
    if (piece.moving && leave_one_out_) piece.anchor = x_.x + i - 1;
    return piece;
  }

  /// Samples [first, c) of the cell before: about the last of them, or about the first in reach.
  simd::SweepPiece edge_piece(const Cell& cell, std::size_t k, std::size_t i,
                              const SweepScratch& scratch) const {
    simd::SweepPiece piece = piece_of(edge_moves_, edge_coefficient_);
    piece.moments = scratch.edge.data();
    piece.bound = first_.data() + i;
    piece.limit = piece.cell = static_cast<std::uint32_t>(cell.begin - k * kRun);
    piece.back = true;
    piece.moving = edge_moves_;
    piece.anchor = piece.moving ? x_.x : x_.x + cell.begin - 1;
    return piece;
  }

  /// The first sample in reach of the mirrored point is the last one in reach of the point.
  void hand_over_windows() {
    first_.resize(m_);
    if (!mirrored_) return;
    const std::uint32_t n = static_cast<std::uint32_t>(n_);
    std::reverse(first_.begin(), first_.end());
    for (std::uint32_t& bound : first_) bound = n - bound;
  }

  const Side x_, mirror_, e_;
  const std::size_t n_, m_;
  const bool leave_one_out_, unit_weights_, mirrored_;
  const SweepKernel& kernel_;
  const int columns_;
  const std::size_t moments_;
  const RunOptions& options_;
  SweepSums& out_;
  double outside_;
  simd::SweepScanFunction total_, scan_near_, scan_edge_;
  simd::SweepSumFunction sum_;
  bool near_moves_, edge_moves_;  // whether an anchor moves with the point
  std::vector<double> near_coefficient_, edge_coefficient_;
  std::vector<std::uint32_t>& first_ = mirrored_ ? out_.end : out_.first;
  std::vector<std::uint32_t> last_;
};

}  // namespace

void sweep_sums(const SortedSample& sample, const SortedSample& points, const SweepKernel& kernel,
                int columns, SweepSide side, const RunOptions& options, SweepSums& out) {
  out.points = points.size();
  out.columns = static_cast<std::size_t>(columns);
  out.sum.resize(kernel.sums() * out.columns * out.points);
  LeftSums(sample, points, false, kernel, columns, options, out).run();
  if (side == SweepSide::both) {
    LeftSums(sample, points, true, kernel, columns, options, out).run();
  }
}

}  // namespace kestrel
