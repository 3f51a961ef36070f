#include "core/fgt/cell_sums.hpp"

#include <algorithm>

#include "core/base/pack.hpp"
#include "core/base/parallel.hpp"
#include "core/base/summation.hpp"

namespace kestrel {

namespace {

/// The maximum of samples in a piece and in a run, and how many samples the overhead of a cell is
/// worth. So a work item has at most 64 cells: 1.5 ms if each is a cell of points of fgt_density.
constexpr std::size_t kPieceSize = 4096, kRunSize = 512, kCellSize = 64;

/// out[a] = sum_i w_i z_i^a, a < moments, over at most kRunSize samples, eight at a time.
void sum_powers_of_run(const double* z, const double* w, std::size_t count, int moments,
                       double* out) {
  Pack total[kMaxMoments] = {};
  double last_z[8] = {}, last_w[8] = {};
  for (std::size_t i = 0; i < count; i += 8) {
    if (count - i < 8) {
      std::copy(z + i, z + count, last_z);
      std::copy(w + i, w + count, last_w);
    }
    const double* from = count - i < 8 ? last_z : z + i;
    const double* weight = count - i < 8 ? last_w : w + i;
    const Pack z0 = load_pack(from), z1 = load_pack(from + 2), z2 = load_pack(from + 4),
               z3 = load_pack(from + 6);
    Pack p0 = load_pack(weight), p1 = load_pack(weight + 2), p2 = load_pack(weight + 4),
         p3 = load_pack(weight + 6);
    for (int a = 0; a < moments; ++a) {
      total[a] += (p0 + p1) + (p2 + p3);
      p0 *= z0;
      p1 *= z1;
      p2 *= z2;
      p3 *= z3;
    }
  }
  for (int a = 0; a < moments; ++a) out[a] = total[a][0] + total[a][1];
}

/// The same over any number of samples, pairwise, so that ties round the same way each time.
void sum_powers_of(const double* z, const double* w, std::size_t count, int moments, double* out) {
  if (count <= kRunSize) {
    sum_powers_of_run(z, w, count, moments, out);
    return;
  }
  const std::size_t half = (count / kRunSize + 1) / 2 * kRunSize;
  double rest[kMaxMoments];
  sum_powers_of(z, w, half, moments, out);
  sum_powers_of(z + half, w + half, count - half, moments, rest);
  for (int a = 0; a < moments; ++a) out[a] += rest[a];
}

/// sum_i w_i and sum_{i<j} w_i w_j, the latter as a sum of positive terms only.
struct CellWeight {
  double sum = 0.0, pairs = 0.0;

  void add(const CellWeight& other) {
    pairs += other.pairs + sum * other.sum;
    sum += other.sum;
  }
};

CellWeight cell_weight(const double* w, std::size_t count) {
  if (count > 64) {
    CellWeight sums = cell_weight(w, count / 2);
    sums.add(cell_weight(w + count / 2, count - count / 2));
    return sums;
  }
  Pack sum0 = {}, sum1 = {}, pairs0 = {}, pairs1 = {};
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const Pack w0 = load_pack(w + i), w1 = load_pack(w + i + 2);
    pairs0 += w0 * sum0;
    pairs1 += w1 * sum1;
    sum0 += w0;
    sum1 += w1;
  }
  CellWeight total{sum0[0], pairs0[0]};
  total.add({sum0[1], pairs0[1]});
  total.add({sum1[0], pairs1[0]});
  total.add({sum1[1], pairs1[1]});
  for (; i < count; ++i) total.add({w[i], 0.0});
  return total;
}

CellWeight sum_up(const CellWeight* sums, std::size_t count) {
  if (count == 1) return *sums;
  CellWeight total = sum_up(sums, count / 2);
  total.add(sum_up(sums + count / 2, count - count / 2));
  return total;
}

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

CellSums sum_cells(const CellOrder& order, const std::vector<std::size_t>& chosen, int moments,
                   const RunOptions& options) {
  const std::size_t p = static_cast<std::size_t>(moments);
  const CellPieces pieces = cut_cells(order, chosen);
  const std::vector<CellPieces::Piece>& piece = pieces.piece;
  CellSums sums;
  sums.moment.resize(chosen.size() * p);
  // The first piece of a cell writes to the result, the others to `other`, one after the other.
  std::vector<double> other((piece.size() - chosen.size()) * p);
  std::vector<CellWeight> weights(piece.size());
  std::vector<std::size_t> first_of_cell;
  for (std::size_t i = 0; i < piece.size(); ++i) {
    if (i == 0 || piece[i].cell != piece[i - 1].cell) first_of_cell.push_back(i);
  }
  first_of_cell.push_back(piece.size());
  std::vector<double*> moment(piece.size());
  for (std::size_t c = 0, k = 0; c < chosen.size(); ++c) {
    moment[first_of_cell[c]] = sums.moment.data() + c * p;
    for (std::size_t i = first_of_cell[c] + 1; i < first_of_cell[c + 1]; ++i) {
      moment[i] = other.data() + k++ * p;
    }
  }
  parallel_for(pieces.items(), options.parallel, [&](std::size_t item, int) {
    for (std::size_t i = pieces.first_piece[item]; i < pieces.first_piece[item + 1]; ++i) {
      const std::size_t begin = piece[i].begin, count = piece[i].end - begin;
      sum_powers_of(order.offset() + begin, order.weight() + begin, count, moments, moment[i]);
      weights[i] = cell_weight(order.weight() + begin, count);
    }
  });
  for (std::size_t c = 0; c < chosen.size(); ++c) {
    const std::size_t begin = first_of_cell[c], others = first_of_cell[c + 1] - begin - 1;
    sums.pair_weight.push_back(sum_up(weights.data() + begin, others + 1).pairs);
    double factorial = 1.0;
    for (std::size_t a = 0; a < p; ++a) {
      double& total = moment[begin][a];
      if (others > 0) total += pairwise_sum(moment[begin + 1] + a, others, p);
      total /= factorial;
      factorial *= static_cast<double>(a + 1);
    }
  }
  return sums;
}

}  // namespace kestrel
