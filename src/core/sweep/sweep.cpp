// The loop over the points: groups of cells, blocks of points in them, stretches of a block for
// which the same pieces are summed. README.md says why sums of these pieces are accurate.
//
//      cell before            cell that the points are in           cell after
//     |x--x-xx--xx|       |xx-x---x---- e e ----x-x---x---x|      |x--xx---x-x-|
//           [ left edge   [  near left  )   (  near right  ]      right edge ]
//           first                       last                                end
//           |<------------- h -------------->|<-------------- h ------------->|
//
// A point in a gap has the last samples of the cell left of it and the first ones of the cell right
// of it, and no near samples. A point in a cell has all samples of that cell, on either side.
#include "core/sweep/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "core/sweep/cells.hpp"
#include "core/sweep/scan.hpp"
#include "core/sweep/windows.hpp"
#include "simd/sweep/sweep.hpp"

namespace kestrel {

namespace {

constexpr std::size_t kSumStride = kSweepBlock + simd::kSweepPadding;

WindowReach reach_of(const SweepKernel& kernel) {
  if (kernel.closed) return {std::nextafter(kernel.h, HUGE_VAL), kernel.h};
  return {kernel.h, std::nextafter(kernel.h, 0.0)};
}

/// On which side of the points the samples of a piece lie.
enum class Side { left, right };

/// The coordinate in which the near pieces, or the edges, are summed. The anchor of the moments
/// lies at one end of the samples: a fixed one at an end of their cell, a moving one beside the
/// point or at the edge of its window. An anchor at the end far from the point gives sums of powers
/// of t = 1 - u, u = |e - x| / h, one at the near end sums of powers of u.
struct Coordinate {
  /// far_when_fixed: whether a fixed anchor lies at the far end; a moving one lies at the other
  /// end.
  Coordinate(const SweepKernel& kernel, bool moving_anchor, bool far_when_fixed)
      : moving(moving_anchor) {
    const bool far = moving != far_when_fixed;
    offset = far ? kernel.h : 0.0;
    scale = (far ? 1.0 : -1.0) / kernel.h;
    for (std::size_t p = 0; p < kernel.sums(); ++p) {
      for (const double c : (far ? kernel.in_edge : kernel.in_distance)[p]) {
        coefficient_left.push_back(kernel.left_sign[p] * c);
        coefficient_right.push_back(c);
      }
    }
  }

  const double* coefficient(Side side) const {
    return (side == Side::left ? coefficient_left : coefficient_right).data();
  }

  bool moving;
  double offset, scale;  // of simd::SweepPiece
  std::vector<double> coefficient_left, coefficient_right;
};

/// What all workers read.
struct Task {
  Task(const SortedSample& sample_, const SortedSample& points_, const SweepKernel& kernel_,
       const SweepColumns& columns_, SweepSide side, const simd::SweepTable& table_)
      : sample(sample_),
        points(points_),
        kernel(kernel_),
        table(table_),
        columns(columns_.count),
        leave_one_out(&sample_ == &points_),
        both_sides(side == SweepSide::both),
        reach(reach_of(kernel_)),
        near(kernel_, kernel_.anchors == Anchors::nearest, true),
        edge(kernel_, kernel_.anchors == Anchors::edges, false),
        cells(sample_, reach.outside, columns == 2, columns_.slope),
        sum(table_.sum[columns - 1][position_of_degree(kernel_.degree())]) {}

  const SortedSample &sample, &points;
  const SweepKernel& kernel;
  const simd::SweepTable& table;
  const int columns;
  const bool leave_one_out, both_sides;
  const WindowReach reach;
  const Coordinate near, edge;
  const SweepCells cells;
  const simd::SweepSumFunction sum;
};

/// One of the four pieces of a window, and the moments of the run that was requested last.
struct Piece {
  Piece(const Task& task, const Coordinate& in, Side on, ScanDirection direction)
      : coordinate(in),
        side(on),
        scan(task.sample, task.kernel, task.columns, in.moving, direction, task.table) {}

  const Coordinate& coordinate;
  const Side side;
  SweepScan scan;
};

/// What a worker keeps from one block to the next so as not to compute it again: windows and
/// moments.
struct Workspace {
  explicit Workspace(const Task& task)
      : windows(task.sample, task.points, task.reach, task.both_sides, kSweepBlock,
                task.table.count_leading),
        near_left(task, task.near, Side::left, ScanDirection::forwards),
        near_right(task, task.near, Side::right, ScanDirection::backwards),
        left_edge(task, task.edge, Side::left, ScanDirection::backwards),
        right_edge(task, task.edge, Side::right, ScanDirection::forwards),
        sum(task.kernel.sums() * static_cast<std::size_t>(task.columns) * kSumStride, 0.0) {}

  BlockWindows windows;
  Piece near_left, near_right, left_edge, right_edge;
  std::vector<double> sum;  // of the block
};

/// The cell that the points are in, or the one left of their gap, with its neighbours. Left of all
/// samples there is an empty cell.
struct Neighbours {
  SweepCell before, here, behind;
};

void move_on(const SweepCells& cells, Neighbours* around) {
  around->before = around->here;
  around->here = around->behind;
  around->behind = cells.cell_from(around->here.end);
}

/// Points [begin, end) of a block that all lie in one run of a cell, or all in the gap after it:
/// they have the same pieces.
struct Stretch {
  std::size_t begin, end;
  bool in_gap;
  std::size_t run;  // of the cell; unused in a gap
};

/// The stretch that begins at point i of the block and ends before point `count` at the latest.
Stretch stretch_from(const Task& task, const BlockWindows& windows, const SweepCell& cell,
                     std::size_t i, std::size_t count) {
  const std::uint32_t *first = windows.first(), *last = windows.last();
  const bool inside =
      windows.last(i) > cell.begin && (task.leave_one_out || first[i] <= cell.begin);
  const std::size_t run = inside ? cell.run_of(windows.last(i) - 1) : 0;
  const std::size_t limit = inside ? cell.end_of(run) : cell.end;
  std::size_t end = count;
  if (task.leave_one_out) {
    end = std::min(end, limit - windows.begin());
  } else {
    end = first_bound_where(last, i, end, [&](std::uint32_t bound) { return bound > limit; });
    if (inside) {
      end =
          first_bound_where(first, i, end, [&](std::uint32_t bound) { return bound > cell.begin; });
    }
  }
  return {i, end, !inside, run};
}

/// Adds the samples of a cell on one side of points [i, to) of the block, up to each point's bound,
/// to the sums of these points. All bounds are in `run`. If `bound` is null, they are the points
/// themselves, which are samples.
void add_piece(const Task& task, Workspace* mine, Piece* piece, const SweepCell& cell,
               std::size_t run, std::size_t i, std::size_t to, const std::uint32_t* bound) {
  piece->scan.reach(cell, run);
  const bool forwards = piece->scan.direction() == ScanDirection::forwards;
  const std::size_t point = mine->windows.begin() + i;
  simd::SweepPiece leaf{};
  leaf.point = task.points.x() + point;
  leaf.y = task.columns == 2 ? task.points.y() + point : nullptr;
  leaf.count = to - i;
  leaf.line = cell.line;
  leaf.moments = piece->scan.moments();
  leaf.stride = kSweepStride;
  leaf.begin = static_cast<std::uint32_t>(cell.begin_of(run));
  leaf.limit = static_cast<std::uint32_t>(cell.end_of(run));
  leaf.moving = piece->coordinate.moving;
  leaf.back = forwards ? 1 : 0;
  leaf.anchor = task.sample.x();
  if (!leaf.moving) leaf.anchor += forwards ? cell.begin : cell.end - 1;
  if (bound != nullptr) {
    leaf.bound = bound + i;
  } else {
    const std::size_t own = piece->side == Side::left ? point : point + 1;
    leaf.moments += own - cell.begin_of(run);
    if (leaf.moving) leaf.anchor += own - leaf.back;
  }
  leaf.side = piece->side == Side::left ? 1.0 : -1.0;
  leaf.offset = piece->coordinate.offset;
  leaf.scale = piece->coordinate.scale;
  leaf.coefficient = piece->coordinate.coefficient(piece->side);
  leaf.polynomials = static_cast<int>(task.kernel.sums());
  leaf.sum = mine->sum.data() + i;
  leaf.sum_stride = kSumStride;
  task.sum(leaf);
}

/// The last samples of a cell left of the points, from the first one in reach on, run by run.
void add_left_edge(const Task& task, Workspace* mine, const SweepCell& cell, std::size_t i,
                   std::size_t to) {
  const std::uint32_t* first = mine->windows.first();
  if (task.near.moving == task.edge.moving) {
    mine->left_edge.scan.take_over(mine->near_right.scan, cell);
  }
  while (i < to && first[i] < cell.end) {
    const std::size_t run = cell.run_of(first[i]), limit = cell.end_of(run);
    const std::size_t next =
        first_bound_where(first, i, to, [&](std::uint32_t bound) { return bound >= limit; });
    add_piece(task, mine, &mine->left_edge, cell, run, i, next, first);
    i = next;
  }
}

/// The first samples of a cell right of the points, up to the last one in reach, run by run.
void add_right_edge(const Task& task, Workspace* mine, const SweepCell& cell, std::size_t i,
                    std::size_t to) {
  const std::uint32_t* end = mine->windows.end();
  i = first_bound_where(end, i, to, [&](std::uint32_t bound) { return bound > cell.begin; });
  while (i < to) {
    const std::size_t run = cell.run_of(end[i] - 1), limit = cell.end_of(run);
    const std::size_t next =
        first_bound_where(end, i, to, [&](std::uint32_t bound) { return bound > limit; });
    add_piece(task, mine, &mine->right_edge, cell, run, i, next, end);
    i = next;
  }
}

void add_stretch(const Task& task, Workspace* mine, const Neighbours& around,
                 const Stretch& stretch) {
  const std::size_t i = stretch.begin, to = stretch.end;
  add_left_edge(task, mine, stretch.in_gap ? around.here : around.before, i, to);
  if (!stretch.in_gap) {
    const std::uint32_t* last = mine->windows.last();
    add_piece(task, mine, &mine->near_left, around.here, stretch.run, i, to, last);
    if (task.both_sides) {
      add_piece(task, mine, &mine->near_right, around.here, stretch.run, i, to, last);
    }
  }
  if (task.both_sides) add_right_edge(task, mine, around.behind, i, to);
}

/// Sums at the points of a group, block by block; `next` is the group after it.
void sum_group(const Task& task, const SweepGroup& group, const SweepGroup& next, Workspace* mine,
               const BlockVisitor& take, int worker) {
  SweepBlock block{group.first_point,
                   0,
                   group.first_slot,
                   mine->sum.data(),
                   static_cast<std::size_t>(task.columns),
                   kSumStride,
                   mine->windows.first(),
                   mine->windows.end()};
  Neighbours around{SweepCell(), task.cells.cell(group.cell_before, group.first_cell),
                    task.cells.cell_from(group.first_cell)};
  if (group.first_point < next.first_point) mine->windows.start(group.first_point);
  for (; block.begin < next.first_point; block.begin += block.count, ++block.slot) {
    block.count = std::min(kSweepBlock, next.first_point - block.begin);
    mine->windows.find(block.begin, block.count);
    std::fill(mine->sum.begin(), mine->sum.end(), 0.0);
    for (std::size_t i = 0; i < block.count;) {
      while (mine->windows.last(i) > around.here.end) move_on(task.cells, &around);
      const Stretch stretch = stretch_from(task, mine->windows, around.here, i, block.count);
      add_stretch(task, mine, around, stretch);
      i = stretch.end;
    }
    take(block, worker);
  }
}

}  // namespace

void sweep_sums(const SortedSample& sample, const SortedSample& points, const SweepKernel& kernel,
                const SweepColumns& columns, SweepSide side, const RunOptions& options,
                const BlockVisitor& take) {
  const Task task(sample, points, kernel, columns, side, *options.table->sweep);
  const std::vector<SweepGroup> groups = cut_groups(task.cells, sample, points, kSweepBlock);
  const std::size_t items = groups.size() - 1;
  std::vector<std::unique_ptr<Workspace>> workspaces(parallel_workers(items, options.parallel));
  parallel_for(items, options.parallel, [&](std::size_t item, int worker) {
    std::unique_ptr<Workspace>& mine = workspaces[static_cast<std::size_t>(worker)];
    if (mine == nullptr) mine = std::make_unique<Workspace>(task);
    sum_group(task, groups[item], groups[item + 1], mine.get(), take, worker);
  });
}

std::size_t sweep_slots(const SortedSample& sample, const SortedSample& points) {
  return points.size() / kSweepBlock + sample.size() / kSweepGroup + 2;
}

}  // namespace kestrel
