#include "core/sweep/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "core/sweep/scan.hpp"
#include "simd/sweep/sweep.hpp"

namespace kestrel {

namespace {

/// Samples of the cells that one work item takes.
constexpr std::size_t kGroup = std::size_t{1} << 16;

constexpr std::size_t kPadding = simd::kSweepPadding;
constexpr std::size_t kSumStride = kSweepBlock + kPadding;
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// What every worker reads.
struct Sweep {
  Sweep(const SortedSample& of, const SortedSample& at, const SweepKernel& with, int column_count,
        SweepSide side, const simd::SweepTable& leaves)
      : sample(of),
        points(at),
        kernel(with),
        table(leaves),
        columns(column_count),
        leave_one_out(&of == &at),
        both(side == SweepSide::both),
        near_moves(with.anchors == Anchors::nearest),
        edge_moves(with.anchors == Anchors::edges),
        sum(leaves.sum[column_count - 1][position_of_degree(with.degree())]),
        outside(with.closed ? std::nextafter(with.h, HUGE_VAL) : with.h),
        farthest(with.closed ? with.h : std::nextafter(with.h, 0.0)) {
    const auto& near = near_moves ? with.in_distance : with.in_edge;
    const auto& edge = edge_moves ? with.in_edge : with.in_distance;
    for (std::size_t p = 0; p < with.sums(); ++p) {
      add_coefficients(near[p], with.left_sign[p], near_coefficient);
      add_coefficients(edge[p], with.left_sign[p], edge_coefficient);
    }
  }

  static void add_coefficients(const Polynomial& polynomial, double left_sign,
                               std::vector<double>* coefficient) {
    for (const double c : polynomial) {
      coefficient[0].push_back(left_sign * c);
      coefficient[1].push_back(c);
    }
  }

  /// Where the cell behind the one that begins at sample c begins: a search in steps of doubling
  /// size, then by halves.
  std::size_t next_cell(std::size_t c) const {
    const double* x = sample.x();
    const std::size_t n = sample.size();
    if (c >= n) return n;
    const auto inside = [&](std::size_t j) { return !(x[j] - x[c] >= outside); };
    std::size_t step = 1, low = c;
    while (low + step < n && inside(low + step)) {
      low += step;
      step *= 2;
    }
    std::size_t high = std::min(n, low + step);
    while (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      (inside(middle) ? low : high) = middle;
    }
    return high;
  }

  /// Points to the left of all samples from c on.
  std::size_t points_before(std::size_t c) const {
    if (c == 0) return 0;
    if (c == sample.size()) return points.size();
    if (leave_one_out) return c;
    const double* e = points.x();
    return static_cast<std::size_t>(std::lower_bound(e, e + points.size(), sample.x()[c]) - e);
  }

  const SortedSample &sample, &points;
  const SweepKernel& kernel;
  const simd::SweepTable& table;
  const int columns;
  const bool leave_one_out, both;
  const bool near_moves, edge_moves;  // whether an anchor moves with the point
  const simd::SweepSumFunction sum;
  double outside;                                                // the least distance out of reach
  double farthest;                                               // the greatest within
  std::vector<double> near_coefficient[2], edge_coefficient[2];  // left and right of the points
};

/// Whole cells from `begin` on, where the one before begins, and the block its first point is in.
struct Group {
  std::size_t before, begin, from, slot;
};

std::vector<Group> cut_groups(const Sweep& sweep) {
  const std::size_t n = sweep.sample.size();
  std::vector<Group> groups{{0, 0, 0, 0}};
  const auto add = [&](std::size_t before, std::size_t begin) {
    const std::size_t from = sweep.points_before(begin);
    groups.push_back({before, begin, from, from / kSweepBlock + groups.size()});
  };
  std::size_t before = 0, begin = 0;
  while (n > kGroup && begin < n) {
    const std::size_t next = sweep.next_cell(begin);
    before = begin;
    begin = next;
    if (begin < n && begin - groups.back().begin >= kGroup) add(before, begin);
  }
  add(n, n);
  return groups;
}

/// One thread's way over the points of a group, block by block.
class Worker {
 public:
  explicit Worker(const Sweep& sweep)
      : sweep_(sweep),
        near_left_(sweep.sample, sweep.kernel, sweep.columns, sweep.near_moves,
                   ScanDirection::forwards, sweep.table),
        near_right_(sweep.sample, sweep.kernel, sweep.columns, sweep.near_moves,
                    ScanDirection::backwards, sweep.table),
        edge_left_(sweep.sample, sweep.kernel, sweep.columns, sweep.edge_moves,
                   ScanDirection::backwards, sweep.table),
        edge_right_(sweep.sample, sweep.kernel, sweep.columns, sweep.edge_moves,
                    ScanDirection::forwards, sweep.table),
        first_(kSumStride, 0),
        last_(kSumStride, 0),
        end_(kSumStride, 0),
        sum_(sweep.kernel.sums() * static_cast<std::size_t>(sweep.columns) * kSumStride, 0.0) {}

  void run(const Group& group, const Group& next, const BlockVisitor& take, int worker) {
    SweepBlock block{group.from,
                     0,
                     group.slot,
                     sum_.data(),
                     static_cast<std::size_t>(sweep_.columns),
                     kSumStride,
                     first_.data(),
                     end_.data()};
    before_ = SweepCell();
    here_ = cell(group.before, group.begin);
    behind_ = cell(group.begin, sweep_.next_cell(group.begin));
    if (group.from < next.from) find_first_windows(group.from);
    for (; block.begin < next.from; block.begin += block.count, ++block.slot) {
      block.count = std::min(kSweepBlock, next.from - block.begin);
      begin_ = block.begin;
      find_windows(block.count);
      std::fill(sum_.begin(), sum_.end(), 0.0);
      for (std::size_t i = 0; i < block.count;) i = add_stretch(i, block.count);
      take(block, worker);
    }
  }

 private:
  SweepCell cell(std::size_t begin, std::size_t end) const {
    SweepCell made{begin, end, 0.0};
    if (sweep_.columns == 2 && begin < end) {
      const double* y = sweep_.sample.y();
      made.reference = (y[begin] + y[begin + (end - begin) / 2] + y[end - 1]) / 3;
    }
    return made;
  }

  // ---- windows of the block: first_ and end_, and last_, behind the last sample left of each
  // point

  /// The leading samples beyond each edge of the window of the first point of a group.
  void find_first_windows(std::size_t point) {
    const double* x = sweep_.sample.x();
    const double e = sweep_.points.x()[point];
    edges_.clear();
    const auto add = [&](double bound, std::vector<std::uint32_t>& found) {
      const double* at = std::partition_point(x, x + sweep_.sample.size(),
                                              [&](double v) { return e - v >= bound; });
      edges_.push_back({bound, static_cast<std::size_t>(at - x), found.data()});
    };
    // As the kernel itself compares; x - e <= farthest is e - x >= -farthest, rounding being
    // symmetric.
    add(sweep_.outside, first_);
    if (!sweep_.leave_one_out) add(0.0, last_);
    if (sweep_.both) add(-sweep_.farthest, end_);
  }

  void find_windows(std::size_t count) {
    sweep_.table.count_leading({sweep_.sample.x(), sweep_.points.x() + begin_, count, edges_.data(),
                                static_cast<int>(edges_.size())});
    // So that a vector's last bound is its greatest.
    for (const simd::SweepEdge& edge : edges_) std::fill_n(edge.count + count, kPadding, kNone);
  }

  /// Behind the last sample that is not right of point i of the block. (Of a sample left out, it
  /// itself.)
  std::size_t last(std::size_t i) const { return sweep_.leave_one_out ? begin_ + i + 1 : last_[i]; }

  template <class Condition>
  static std::size_t first_where(const std::vector<std::uint32_t>& bounds, std::size_t from,
                                 std::size_t to, const Condition& condition) {
    const std::uint32_t* start = bounds.data();
    const auto before = [&](std::uint32_t bound) { return !condition(bound); };
    return static_cast<std::size_t>(std::partition_point(start + from, start + to, before) - start);
  }

  // ---- sums

  /// Points from i on, before `to`, that lie in the same run or gap. Returns the next.
  std::size_t add_stretch(std::size_t i, std::size_t to) {
    while (last(i) > here_.end) {
      before_ = here_;
      here_ = behind_;
      behind_ = cell(here_.end, sweep_.next_cell(here_.end));
    }
    const std::size_t begin = here_.begin;
    const bool inside = last(i) > begin && (sweep_.leave_one_out || first_[i] <= begin);
    const std::size_t run = inside ? here_.run_of(last(i) - 1) : 0;
    const std::size_t limit = inside ? here_.end_of(run) : here_.end;
    if (sweep_.leave_one_out) {
      to = std::min(to, limit - begin_);
    } else {
      to = first_where(last_, i, to, [&](std::uint32_t bound) { return bound > limit; });
      if (inside) to = first_where(first_, i, to, [&](std::uint32_t b) { return b > begin; });
    }
    if (inside) {
      add_left_edge(before_, i, to);
      add_near(run, i, to);
      if (sweep_.both) add_right_edge(behind_, i, to);
    } else {
      add_left_edge(here_, i, to);
      if (sweep_.both) add_right_edge(behind_, i, to);
    }
    return to;
  }

  /// The samples of the cell that the points are in, on either side of them.
  void add_near(std::size_t run, std::size_t i, std::size_t to) {
    near_left_.reach(here_, run);
    add_near_piece(near_left_, run, i, to, 1);
    if (!sweep_.both) return;
    near_right_.reach(here_, run);
    add_near_piece(near_right_, run, i, to, -1);
  }

  void add_near_piece(const SweepScan& scan, std::size_t run, std::size_t i, std::size_t to,
                      int side) {
    simd::SweepPiece piece = piece_at(scan, here_, run, i, to, side);
    piece.coefficient = sweep_.near_coefficient[side > 0 ? 0 : 1].data();
    if (!scan.moving()) piece.anchor += side > 0 ? here_.begin : here_.end - 1;
    in_coordinate(piece, !scan.moving());
    piece.bound = sweep_.leave_one_out ? nullptr : last_.data() + i;
    piece.back = side > 0 ? 1 : 0;
    if (sweep_.leave_one_out) {
      const std::size_t point = begin_ + i, bound = side > 0 ? point : point + 1;
      piece.moments += bound - here_.begin_of(run);
      if (scan.moving()) piece.anchor += side > 0 ? point - 1 : point + 1;
    }
    sweep_.sum(piece);
  }

  /// The last samples of the cell before, from the first one in reach on.
  void add_left_edge(const SweepCell& of, std::size_t i, std::size_t to) {
    if (sweep_.near_moves == sweep_.edge_moves) edge_left_.take_over(near_right_, of);
    while (i < to && first_[i] < of.end) {
      const std::size_t run = of.run_of(first_[i]), limit = of.end_of(run);
      const std::size_t next =
          first_where(first_, i, to, [&](std::uint32_t bound) { return bound >= limit; });
      edge_left_.reach(of, run);
      add_edge_piece(edge_left_, of, run, i, next, first_, 1);
      i = next;
    }
  }

  /// The first samples of the cell behind, up to the last one in reach.
  void add_right_edge(const SweepCell& of, std::size_t i, std::size_t to) {
    i = first_where(end_, i, to, [&](std::uint32_t bound) { return bound > of.begin; });
    while (i < to) {
      const std::size_t run = of.run_of(end_[i] - 1), limit = of.end_of(run);
      const std::size_t next =
          first_where(end_, i, to, [&](std::uint32_t bound) { return bound > limit; });
      edge_right_.reach(of, run);
      add_edge_piece(edge_right_, of, run, i, next, end_, -1);
      i = next;
    }
  }

  void add_edge_piece(const SweepScan& scan, const SweepCell& of, std::size_t run, std::size_t i,
                      std::size_t to, const std::vector<std::uint32_t>& bound, int side) {
    simd::SweepPiece piece = piece_at(scan, of, run, i, to, side);
    piece.coefficient = sweep_.edge_coefficient[side > 0 ? 0 : 1].data();
    if (!scan.moving()) piece.anchor += side > 0 ? of.end - 1 : of.begin;
    in_coordinate(piece, scan.moving());
    piece.bound = bound.data() + i;
    piece.back = side > 0 ? 0 : 1;
    sweep_.sum(piece);
  }

  simd::SweepPiece piece_at(const SweepScan& scan, const SweepCell& of, std::size_t run,
                            std::size_t i, std::size_t to, int side) {
    simd::SweepPiece piece{};
    piece.point = sweep_.points.x() + begin_ + i;
    piece.y = sweep_.columns == 2 ? sweep_.points.y() + begin_ + i : nullptr;
    piece.count = to - i;
    piece.reference = of.reference;
    piece.moments = scan.moments();
    piece.stride = kSweepStride;
    piece.begin = static_cast<std::uint32_t>(of.begin_of(run));
    piece.limit = static_cast<std::uint32_t>(of.end_of(run));
    piece.moving = scan.moving();
    piece.anchor = sweep_.sample.x();
    piece.side = side;
    piece.polynomials = static_cast<int>(sweep_.kernel.sums());
    piece.sum = sum_.data() + i;
    piece.sum_stride = kSumStride;
    return piece;
  }

  /// In t = (h - |e - anchor|) / h + z, or in u = |e - anchor| / h + z.
  void in_coordinate(simd::SweepPiece& piece, bool of_edge) const {
    piece.offset = of_edge ? sweep_.kernel.h : 0.0;
    piece.scale = (of_edge ? 1.0 : -1.0) / sweep_.kernel.h;
  }

  const Sweep& sweep_;
  SweepScan near_left_, near_right_, edge_left_, edge_right_;
  SweepCell before_, here_, behind_;
  std::size_t begin_ = 0;  // of the block
  std::vector<simd::SweepEdge> edges_;
  std::vector<std::uint32_t> first_, last_, end_;
  std::vector<double> sum_;
};

}  // namespace

void sweep_sums(const SortedSample& sample, const SortedSample& points, const SweepKernel& kernel,
                int columns, SweepSide side, const RunOptions& options, const BlockVisitor& take) {
  const Sweep sweep(sample, points, kernel, columns, side, *options.table->sweep);
  const std::vector<Group> groups = cut_groups(sweep);
  const std::size_t items = groups.size() - 1;
  std::vector<std::unique_ptr<Worker>> workers(parallel_workers(items, options.parallel));
  parallel_for(items, options.parallel, [&](std::size_t group, int worker) {
    std::unique_ptr<Worker>& mine = workers[static_cast<std::size_t>(worker)];
    if (mine == nullptr) mine = std::make_unique<Worker>(sweep);
    mine->run(groups[group], groups[group + 1], take, worker);
  });
}

std::size_t sweep_slots(const SortedSample& sample, const SortedSample& points) {
  return points.size() / kSweepBlock + sample.size() / kGroup + 2;
}

}  // namespace kestrel
