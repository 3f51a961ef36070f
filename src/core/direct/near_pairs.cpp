#include "core/direct/near_pairs.hpp"

#include <cmath>
#include <numeric>

#include "core/data/cell_table.hpp"
#include "core/data/passes.hpp"

namespace kestrel {

namespace {

/// Fewer samples than this are paired with all others.
constexpr std::size_t kManySamples = 1024;
/// The least number of cells that the samples must span, and the largest share of all pairs.
constexpr double kManyCells = 16, kFewPairs = 0.25;
/// Coordinates above this, times the largest factor with which one enters another, are rounded so
/// much that a sample may be in another cell: its distance is off by 1e-5.
constexpr double kLargest = 1e10;
/// Pairs of a work item.
constexpr double kItemPairs = 1 << 17;

/// The distance r beyond which pairs are left out: sum of w_i w_j 2^-(decay r^2) (1 + decay r^2)
/// over all pairs is at most 2^-55 of the sum of w_i^2, with a margin for the rounding of r.
double reach_of(double decay, Weights w, const ParallelOptions& options) {
  const WeightSums sums = weight_sums(w, options);
  const double ground = 55 + std::log2(sums.sum * sums.sum / sums.squares);
  double q = ground;
  for (int step = 0; step < 20; ++step) q = ground + std::log2(1 + q);
  return 1.0001 * std::sqrt(q / decay);
}

}  // namespace

NearPairs::NearPairs(const MatrixView& x, Weights w, const TileKernel& kernel, double decay,
                     const ParallelOptions& options)
    : kernel_(kernel) {
  check_weight_count(x.rows, w.size);
  if (x.cols > 3 || x.rows < kManySamples) return;
  const std::vector<Cell> cells = cells_of(x, reach_of(decay, w, options), options);
  if (cells.empty()) return;
  poll_if_due(options);
  if (!arrange(x, w, cells)) return;
  double pairs = 0;
  for (const Chunk& chunk : chunk_) pairs += chunk.pairs();
  const double n = static_cast<double>(x.rows);
  if (pairs < kFewPairs * 0.5 * n * n) group_chunks();
}

std::vector<NearPairs::Cell> NearPairs::cells_of(const MatrixView& x, double side,
                                                 const ParallelOptions& options) const {
  double stretch = 1;
  for (std::size_t k = 0; k < x.cols; ++k) stretch = std::max(stretch, kernel_.stretch(k));
  if (!(side * stretch <= 2 * kBlockRadius)) return {};
  std::vector<double> centre(x.cols);
  for (std::size_t k = 0; k < x.cols; ++k) centre[k] = x(0, k);
  const simd::Whitening map = kernel_.whitening(centre.data());
  std::vector<Cell> cells(x.rows);
  std::vector<std::array<Cell, 2>> range_of(parts_of_pass(x.rows));
  pass_over(x.rows, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    std::array<Cell, 2> range{};  // the first sample is at zero
    for (std::size_t i = begin; i < end; ++i) {
      double point[3], z[3];
      for (std::size_t k = 0; k < x.cols; ++k) point[k] = x(i, k);
      whiten_one(map, point, z);
      for (std::size_t k = 0; k < x.cols; ++k) {
        const double at = std::floor(z[k] / side);
        cells[i][k] = at;
        range[0][k] = std::min(range[0][k], at);
        range[1][k] = std::max(range[1][k], at);
      }
    }
    range_of[part] = range;
  });
  double spanned = 1, farthest = 0;
  for (std::size_t k = 0; k < x.cols; ++k) {
    double low = 0, high = 0;
    for (const std::array<Cell, 2>& range : range_of) {
      low = std::min(low, range[0][k]);
      high = std::max(high, range[1][k]);
    }
    spanned *= high - low + 1;
    farthest = std::max(farthest, side * std::max(-low, high));
  }
  if (!(farthest * stretch < kLargest) || spanned < kManyCells) return {};
  return cells;
}

bool NearPairs::arrange(const MatrixView& x, Weights w, const std::vector<Cell>& cells) {
  CellTable table(x.rows);
  std::vector<std::uint32_t> number(x.rows);
  std::vector<Cell> found;
  for (std::size_t i = 0; i < x.rows; ++i) {
    std::uint64_t hash = 0;
    for (const double at : cells[i]) hash = hash_with(hash, at);
    number[i] = table.number(hash);
    if (number[i] == found.size()) found.push_back(cells[i]);
    if (found[number[i]] != cells[i]) return false;
  }
  std::vector<std::size_t> order(found.size()), rank(found.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return found[a] < found[b]; });
  std::vector<Cell> sorted;
  for (const std::size_t c : order) {
    rank[c] = sorted.size();
    sorted.push_back(found[c]);
  }
  std::vector<std::size_t> start(sorted.size() + 1, 0);
  for (const std::uint32_t c : number) ++start[rank[c] + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<std::size_t> next(start.begin(), start.end() - 1);
  coordinate_.resize(x.rows * x.cols);
  weight_.resize(x.rows);
  for (std::size_t i = 0; i < x.rows; ++i) {
    const std::size_t place = next[rank[number[i]]]++;
    weight_[place] = w[i];
    for (std::size_t k = 0; k < x.cols; ++k) coordinate_[k * x.rows + place] = x(i, k);
  }
  points_.matrix = {coordinate_.data(), x.rows, x.cols};
  cut_into_chunks(sorted, start);
  return true;
}

void NearPairs::cut_into_chunks(const std::vector<Cell>& cell,
                                const std::vector<std::size_t>& start) {
  const std::size_t last_axis = kernel_.dimension() - 1;
  // The position of the first sample of this cell or of one after it.
  const auto from = [&](const Cell& at) {
    return start[static_cast<std::size_t>(std::lower_bound(cell.begin(), cell.end(), at) -
                                          cell.begin())];
  };
  // The samples of cells `before` to `after` cells from a cell along its row, moved by a row.
  const auto row = [&](Cell at, double before, double after) {
    at[last_axis] += before;
    Cell end = at;
    end[last_axis] += after - before + 1;
    return Part{from(at), from(end)};
  };
  for (std::size_t c = 0; c < cell.size(); ++c) {
    std::array<Part, 5> after{};
    after[0] = row(cell[c], 0, 1);
    if (last_axis == 1) after[1] = row({cell[c][0] + 1, cell[c][1], 0}, -1, 1);
    if (last_axis == 2) {
      const Cell& at = cell[c];
      after[1] = row({at[0], at[1] + 1, at[2]}, -1, 1);
      for (std::size_t r = 0; r < 3; ++r) {
        after[2 + r] = row({at[0] + 1, at[1] + static_cast<double>(r) - 1, at[2]}, -1, 1);
      }
    }
    for (std::size_t first = start[c]; first < start[c + 1]; first += kBlockSize) {
      const std::size_t last = std::min(start[c + 1], first + kBlockSize);
      after[0].first = last;
      chunk_.push_back({first, last, after});
    }
  }
}

void NearPairs::group_chunks() {
  double pairs = 0;
  for (std::size_t c = 0; c < chunk_.size(); ++c) {
    if (c == 0 || pairs > kItemPairs) {
      first_chunk_.push_back(c);
      pairs = 0;
    }
    pairs += chunk_[c].pairs();
  }
  first_chunk_.push_back(chunk_.size());
}

}  // namespace kestrel
