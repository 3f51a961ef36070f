#include "core/fgt/cell_sums.hpp"

#include <algorithm>

#include "core/base/parallel.hpp"
#include "core/base/summation.hpp"

namespace kestrel {

namespace {

/// The maximum of samples in a piece and in a run, and how many samples the overhead of a cell is
/// worth. So a work item has at most 64 cells: 1.5 ms if each is a cell of points of fgt_density.
constexpr std::size_t kPieceSize = 4096, kRunSize = 512, kCellSize = 64;

}  // namespace

CellPieces cut_cells(const CellOrder& order, const std::vector<std::size_t>& chosen) {
  CellPieces pieces;
  pieces.first_piece.push_back(0);
  std::size_t size = 0;
  for (const std::size_t c : chosen) {
    for (std::size_t begin = order.first(c); begin < order.first(c + 1); begin += kPieceSize) {
      const std::size_t end = std::min(order.first(c + 1), begin + kPieceSize);
      pieces.piece.push_back({c, begin, end});
      size += kCellSize + end - begin;
      if (size < kPieceSize) continue;
      pieces.first_piece.push_back(pieces.piece.size());
      size = 0;
    }
  }
  if (size > 0) pieces.first_piece.push_back(pieces.piece.size());
  return pieces;
}

void sum_powers(const double* z, const double* w, std::size_t count, int moments,
                const simd::Table& table, double* sum) {
  if (count <= kRunSize) {
    table.cells->sum_powers(z, w, count, moments, sum);
    return;
  }
  const std::size_t half = (count / kRunSize + 1) / 2 * kRunSize;
  double rest[kMaxMoments + 1];
  sum_powers(z, w, half, moments, table, sum);
  sum_powers(z + half, w == nullptr ? nullptr : w + half, count - half, moments, table, rest);
  for (int a = 0; a <= moments; ++a) sum[a] += rest[a];
}

void divide_by_factorials(int moments, double* sum) {
  double factorial = 1.0;
  for (int a = 0; a < moments; ++a) {
    sum[a] /= factorial;
    factorial *= a + 1;
  }
}

CellSums sum_cells(const CellOrder& order, const std::vector<std::size_t>& chosen, int moments,
                   const RunOptions& options) {
  const std::size_t p = static_cast<std::size_t>(moments);
  const CellPieces pieces = cut_cells(order, chosen);
  const std::vector<CellPieces::Piece>& piece = pieces.piece;
  CellSums sums{p, std::vector<double>(chosen.size() * (p + 1))};
  // The first piece of a cell writes to the result, the others to `other`, one after the other.
  std::vector<double> other((piece.size() - chosen.size()) * (p + 1));
  std::vector<double*> to(piece.size());
  std::vector<std::size_t> others(chosen.size(), 0);
  double *next = sums.sum.data(), *next_other = other.data();
  for (std::size_t i = 0, c = 0; i < piece.size(); ++i) {
    const bool first = i == 0 || piece[i].cell != piece[i - 1].cell;
    if (!first) ++others[c - 1];
    if (first) ++c;
    double*& from = first ? next : next_other;
    to[i] = from;
    from += p + 1;
  }
  const Weights weight = order.weight();
  parallel_for(pieces.items(), options.parallel, [&](std::size_t item, int) {
    for (std::size_t i = pieces.first_piece[item]; i < pieces.first_piece[item + 1]; ++i) {
      const std::size_t begin = piece[i].begin, count = piece[i].end - begin;
      sum_powers(order.offset() + begin, weight.part(begin, count).data, count, moments,
                 *options.table, to[i]);
      const bool alone = piece[i].begin == order.first(piece[i].cell) &&
                         piece[i].end == order.first(piece[i].cell + 1);
      if (alone) divide_by_factorials(moments, to[i]);
    }
  });
  const double* from = other.data();
  for (std::size_t c = 0; c < chosen.size(); ++c) {
    if (others[c] == 0) continue;
    double* sum = sums.sum.data() + c * (p + 1);
    for (std::size_t a = 0; a <= p; ++a) sum[a] += pairwise_sum(from + a, others[c], p + 1);
    divide_by_factorials(moments, sum);
    from += others[c] * (p + 1);
  }
  return sums;
}

}  // namespace kestrel
