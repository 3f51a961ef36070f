#include "core/bootstrap/squared_errors.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include "core/base/error.hpp"

namespace kestrel {

namespace {

/// The maximum ratio of two bandwidths of a group. Near a point the widest has up to 2^d times as
/// many samples as the narrowest, each with up to 2^2 times its largest value; the narrowest loses
/// that factor to rounding.
constexpr double kWidest = 2;
/// This many blocks share a list of the samples near them; each block then picks its own from the
/// list.
constexpr std::size_t kFewBlocks = 8;
/// Pairs of a point and a sample near it that take little time: some tens of milliseconds. Eleven
/// bandwidths take 28 instructions for four pairs (AVX2), which makes 7e7 instructions.
constexpr double kBriefPairs = 1e7;
/// A grid of two axes whose samples take longer than that is cut into this many parts, for threads
/// and for polls, although each part looks at all samples.
constexpr std::size_t kParts = 64;
/// Slack on the kernel's support, for rounding of positions.
constexpr double kMore = 1 + 1e-9;

std::size_t blocks_of(std::size_t points) { return (points + simd::kLanes - 1) / simd::kLanes; }

}  // namespace

/// A part of the grid with one group of bandwidths.
struct SquaredErrors::Run {
  const Group& group;
  const double* scale;  // the group's, divided by the number of samples
  const simd::SquaredErrorTable& leaf;
  const Workspace::Level& all;  // samples sorted along the slowest axis
  Workspace* own;
};

SquaredErrors::SquaredErrors(const IntegrationGrid& grid, Span<const double> root,
                             Span<const double> h, Span<const double> target)
    : variables_(grid.axes.size()), bandwidths_(h.size) {
  const std::size_t d = variables_;
  if (d < 1 || d > simd::kErrorAxes) {
    throw error(ErrorKind::input, "a grid has 1 to 6 axes, not " + std::to_string(d));
  }
  const ScaledNumber constant = kernel_scale({Kernel::epanechnikov, KernelType::radial}, d, root);
  if (d == 1) axes_.push_back({0, 1, {0}, {1}, {0}, 1, 0});
  for (std::size_t a = 0; a < d; ++a) {
    axes_.push_back({grid.axes[a][0], 1 / root[a * d + a], {}, {}, {}, 1, 0});
    Axis& axis = axes_.back();
    for (const double point : grid.axes[a]) axis.at.push_back((point - axis.origin) * axis.inverse);
    if (!std::isfinite(axis.at.back())) {
      throw error(ErrorKind::input, "a grid's extent in bandwidths is out of the range of numbers");
    }
    axis.widths.assign(grid.widths[a].begin(), grid.widths[a].end());
    for (std::size_t b = a + 1; b < d; ++b) {
      axis.slope.push_back(root[a * d + b] / root[b * d + b]);
    }
    const std::size_t points = axis.at.size();
    axis.pieces = a + 1 < d ? points : blocks_of(points);
    if (points > 1) axis.scale = static_cast<double>(axis.pieces) / axis.at.back();
  }
  // The last block is filled up with points of width zero.
  Axis& last = axes_.back();
  const std::size_t points = last.at.size();
  row_length_ = blocks_of(points) * simd::kLanes;
  last.at.resize(row_length_, last.at.back());
  last.widths.resize(row_length_, 0);
  keep_target(target, points);
  make_groups(h, constant);
}

void SquaredErrors::keep_target(Span<const double> target, std::size_t points) {
  const Axis& last = axes_.back();
  const std::size_t rows = target.size / points;
  target_.assign(rows * row_length_, 0);
  squared_.resize(axes_.size());
  std::vector<double>* inner = &squared_.back();
  inner->assign(rows * last.pieces, 0);
  for (std::size_t row = 0; row < rows; ++row) {
    std::copy_n(target.data + row * points, points, target_.data() + row * row_length_);
    for (std::size_t i = 0; i < points; ++i) {
      const double value = target[row * points + i];
      (*inner)[row * last.pieces + i / simd::kLanes] += last.widths[i] * value * value;
    }
  }
  for (std::size_t a = axes_.size() - 1; a-- > 0;) {
    const bool of_blocks = a + 2 == axes_.size();
    const std::size_t parts = axes_[a + 1].pieces;
    squared_[a].assign(inner->size() / parts, 0);
    for (std::size_t i = 0; i < inner->size(); ++i) {
      const double width = of_blocks ? 1 : axes_[a + 1].widths[i % parts];
      squared_[a][i / parts] += width * (*inner)[i];
    }
    inner = &squared_[a];
  }
}

void SquaredErrors::make_groups(Span<const double> h, const ScaledNumber& constant) {
  std::vector<std::size_t> order(h.size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    return std::make_pair(h[i], i) < std::make_pair(h[j], j);
  });
  double narrowest = 0;
  for (const std::size_t j : order) {
    if (groups_.empty() || groups_.back().index.size() == simd::kErrorBandwidths ||
        h[j] > kWidest * narrowest) {
      groups_.emplace_back();
      narrowest = h[j];
    }
    ScaledNumber scale = constant;
    for (std::size_t k = 0; k < variables_ + 2; ++k) scale.divide(h[j]);
    Group& group = groups_.back();
    group.level.push_back(h[j] * h[j]);
    group.scale.push_back(scale.times(1));
    group.index.push_back(j);
    group.reach = h[j] * kMore;
  }
  for (Group& group : groups_) {
    for (std::size_t a = 0; a + 1 < axes_.size(); ++a) {
      group.near.emplace_back();
      for (const double at : axes_[a].at) {
        group.near[a].push_back(
            {axes_[a].piece(at - group.reach), axes_[a].piece(at + group.reach) + 1});
      }
    }
  }
}

void SquaredErrors::centres(const MatrixView& x, Workspace* own) const {
  const simd::NearSamples& list = own->level[0].found.prepare(x.rows, axes_.size());
  std::fill_n(list.part, x.rows, 0);
  if (variables_ == 1) std::fill_n(list.centre[0], x.rows, 0);
  for (std::size_t k = 0; k < variables_; ++k) {
    const std::size_t a = k + axes_.size() - variables_;
    const double origin = axes_[a].origin, inverse = axes_[a].inverse;
    const Span<const double> column = x.column(k);
    for (std::size_t i = 0; i < x.rows; ++i)
      list.centre[a][i] = (column.data[i] - origin) * inverse;
  }
}

/// Sorts the samples found for axis a by its pieces.
void SquaredErrors::sort(std::size_t a, std::size_t count, Workspace* own) const {
  const Axis& axis = axes_[a];
  const std::size_t arrays = axes_.size() - a;
  Workspace::Level& level = own->level[a];
  const simd::NearSamples& from = level.found.list();
  const simd::NearSamples& to = level.sorted.prepare(count, arrays);
  level.start.assign(axis.pieces + 2, 0);
  level.piece.resize(std::max(level.piece.size(), count));
  std::uint32_t* next = level.start.data() + 1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t p = axis.piece(from.centre[0][i]);
    level.piece[i] = static_cast<std::uint32_t>(p);
    ++next[p + 1];
  }
  std::partial_sum(next, next + axis.pieces + 1, next);
  // At the end each next[p] is the first of piece p + 1, which is start[p + 1].
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = next[level.piece[i]]++;
    to.part[at] = from.part[i];
    for (std::size_t b = 0; b < arrays; ++b) to.centre[b][at] = from.centre[b][i];
  }
}

/// The errors at the points with this index of axis a, which at least two axes follow. `point`: the
/// number of the combination of indices up to this one; `width`: its width. Errors are added to
/// run.own->errors if there are samples near. If there are none, all bandwidths have the same
/// error, which is returned.
double SquaredErrors::descend(const Run& run, std::size_t a, std::size_t index, std::size_t point,
                              double width) const {
  const Axis& axis = axes_[a];
  const Workspace::Level& level = a == 0 ? run.all : run.own->level[a];
  const Pieces near = run.group.near[a][index];
  const std::size_t begin = level.start[near.begin], end = level.start[near.end];
  if (begin == end) return width * squared_[a][point];
  const std::size_t left = axes_.size() - 1 - a;
  const simd::NearSamples& found = run.own->level[a + 1].found.prepare(end - begin, left);
  simd::ErrorStep step{axis.at[index], run.group.level.back(), {}};
  std::copy(axis.slope.begin(), axis.slope.end(), step.slope);
  const std::size_t count =
      run.leaf.descend(level.sorted.list(), begin, end, step, static_cast<int>(left), found);
  if (count == 0) return width * squared_[a][point];
  sort(a + 1, count, run.own);
  const Axis& next = axes_[a + 1];
  if (left == 2) return rows(run, run.own->level[a + 1], {0, axes_.back().pieces}, point, width);
  double same = 0;
  for (std::size_t i = 0; i < next.pieces; ++i) {
    same += descend(run, a + 1, i, point * next.pieces + i, width * next.widths[i]);
  }
  return same;
}

/// From samples sorted by the pieces of the axis before the last: keeps those whose kernels may
/// reach some blocks of the last axis.
void SquaredErrors::cut(const Run& run, const Workspace::Level& from, Pieces blocks,
                        Workspace::Level* to) const {
  const Axis& last = axes_.back();
  const std::size_t a = axes_.size() - 2, pieces = axes_[a].pieces;
  const simd::NearSamples& list = to->sorted.prepare(from.start[pieces], 2);
  // |t - c - slope y|^2 + y^2 < reach^2 has a solution y for a t of the blocks if |t - c| is below
  // this.
  const double slope = axes_[a].slope[0], reach = run.group.reach * std::hypot(1, slope);
  const double low = last.at[blocks.begin * simd::kLanes] - reach;
  const double high = last.at[blocks.end * simd::kLanes - 1] + reach;
  to->start.resize(pieces + 1);
  std::size_t count = 0;
  for (std::size_t p = 0; p < pieces; ++p) {
    to->start[p] = static_cast<std::uint32_t>(count);
    const std::size_t begin = from.start[p], end = from.start[p + 1];
    if (begin < end) {
      count = run.leaf.cut(from.sorted.list(), begin, end, low, high, list, count);
    }
  }
  to->start[pieces] = static_cast<std::uint32_t>(count);
}

/// Like descend(), for some blocks of all rows that belong to `point`. level: of the axis before
/// the last.
double SquaredErrors::rows(const Run& run, const Workspace::Level& level, Pieces blocks,
                           std::size_t point, double width) const {
  const bool few = axes_.back().pieces <= kFewBlocks;
  double same = 0;
  for (std::size_t b = blocks.begin; b < blocks.end; ++b) {
    if (!few && (b - blocks.begin) % kFewBlocks == 0) {
      cut(run, level, {b, std::min(b + kFewBlocks, blocks.end)}, &run.own->few);
    }
    cut(run, few ? level : run.own->few, {b, b + 1}, &run.own->block);
    same += block_errors(run, b, point, width);
  }
  return same;
}

/// Like rows(), for one block, whose samples are run.own->block.
double SquaredErrors::block_errors(const Run& run, std::size_t b, std::size_t point,
                                   double width) const {
  const Group& group = run.group;
  const Axis& last = axes_.back();
  const std::size_t a = axes_.size() - 2;
  const Axis& axis = axes_[a];
  const Workspace::Level& samples = run.own->block;
  const simd::NearSamples& near = run.own->near.prepare(samples.start[axis.pieces], 1);
  simd::ErrorBlock block{};
  block.at = last.at.data() + b * simd::kLanes;
  block.widths = last.widths.data() + b * simd::kLanes;
  block.level = group.level.data();
  block.scale = run.scale;
  block.bandwidths = static_cast<int>(group.index.size());
  simd::ErrorStep step{0, group.level.back(), {axis.slope[0]}};
  double same = 0;
  for (std::size_t i = 0; i < axis.at.size(); ++i) {
    const std::size_t row = point * axis.at.size() + i;
    const std::size_t begin = samples.start[group.near[a][i].begin];
    const std::size_t end = samples.start[group.near[a][i].end];
    step.at = axis.at[i];
    const std::size_t count = begin == end
                                  ? 0
                                  : run.leaf.reach(samples.sorted.list(), begin, end, step,
                                                   block.at[0], block.at[simd::kLanes - 1], near);
    block.width = width * axis.widths[i];
    if (count == 0) {
      same += block.width * squared_.back()[row * last.pieces + b];
      continue;
    }
    block.target = target_.data() + row * row_length_ + b * simd::kLanes;
    run.leaf.add_errors(near, count, block, run.own->errors.data());
  }
  return same;
}

bool SquaredErrors::brief(std::size_t samples) const {
  // The unit ball's volume, by recursion from that in two dimensions less.
  double ball = variables_ % 2 == 0 ? 1 : 2;
  for (std::size_t d = variables_ % 2 + 2; d <= variables_; d += 2) {
    ball *= 2 * kPi / static_cast<double>(d);
  }
  // Points in the supports of the samples' kernels, in all passes, if the grid had no end.
  double all = 0;
  for (const Group& group : groups_) {
    double points = ball;
    for (std::size_t a = axes_.size() - variables_; a < axes_.size(); ++a) {
      const double last = static_cast<double>(axes_[a].at.size() - 1);
      points *= group.reach * last / axes_[a].at.back();
    }
    all += points;
  }
  return all * static_cast<double>(samples) < kBriefPairs;
}

void SquaredErrors::of(const MatrixView& x, const RunOptions& options,
                       std::vector<Workspace>* workspaces, std::size_t first,
                       Span<double> errors) const {
  Workspace& common = (*workspaces)[first];
  centres(x, &common);
  sort(0, x.rows, &common);
  // Parts of the grid: indices of the slowest axis; on a grid of two axes, groups of blocks.
  const bool by_blocks = axes_.size() == 2;
  const std::size_t last = axes_.back().pieces;
  const std::size_t some =
      brief(x.rows) ? kFewBlocks : std::clamp<std::size_t>(last / kParts, 1, kFewBlocks);
  const std::size_t parts = by_blocks ? (last + some - 1) / some : axes_[0].pieces;
  common.parts.resize(parts * bandwidths_);
  const simd::SquaredErrorTable& leaf = *options.table->squared_errors;
  const double all = static_cast<double>(groups_.size());
  std::vector<double> scale;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    const double before = static_cast<double>(g);
    scale = group.scale;
    for (double& value : scale) value /= static_cast<double>(x.rows);
    parallel_for(parts, part_of(options.parallel, before / all, (before + 1) / all),
                 [&](std::size_t part, int worker) {
                   Workspace& own = (*workspaces)[first + static_cast<std::size_t>(worker)];
                   own.errors.assign(group.index.size() * simd::kLanes, 0);
                   const Run run{group, scale.data(), leaf, common.level[0], &own};
                   const Pieces blocks{part * some, std::min((part + 1) * some, last)};
                   const double same = by_blocks
                                           ? rows(run, run.all, blocks, 0, 1)
                                           : descend(run, 0, part, part, axes_[0].widths[part]);
                   const double* lanes = own.errors.data();
                   for (const std::size_t j : group.index) {
                     common.parts[part * bandwidths_ + j] =
                         std::accumulate(lanes, lanes + simd::kLanes, same);
                     lanes += simd::kLanes;
                   }
                 });
  }
  std::fill(errors.begin(), errors.end(), 0);
  for (std::size_t i = 0; i < common.parts.size(); ++i) errors[i % bandwidths_] += common.parts[i];
}

}  // namespace kestrel
