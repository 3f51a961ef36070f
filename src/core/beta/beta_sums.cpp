#include "core/beta/beta_sums.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace kestrel {

namespace {

constexpr std::size_t kPointBlock = 32;

std::vector<BetaCells> cells_of(const MatrixView& x, Span<const double> b,
                                const ParallelOptions& options) {
  if (x.cols != b.size || x.cols < 1 || x.cols > 3) {
    throw error(ErrorKind::internal, "sizes of a sum of beta kernels do not match");
  }
  std::vector<BetaCells> cells;
  for (std::size_t k = 0; k < x.cols; ++k) cells.emplace_back(x.column(k), b[k], options);
  return cells;
}

/// Rows of one axis, applied to the last dimension of a slab of nodes, `inner` numbers for each
/// node: what is left has `inner` numbers.
void contract(const BetaRow& row, const double* slab, std::size_t inner, double* out) {
  std::fill_n(out, inner, 0.0);
  const double* from = slab + row.first * kBetaNodes * inner;
  for (std::size_t node = 0; node < row.value.size(); ++node, from += inner) {
    const double value = row.value[node];
    if (value == 0) continue;
    for (std::size_t i = 0; i < inner; ++i) out[i] += value * from[i];
  }
}

double along(const BetaRow& row, const double* slab) {
  double sum = 0;
  const double* from = slab + row.first * kBetaNodes;
  for (std::size_t node = 0; node < row.value.size(); ++node) sum += row.value[node] * from[node];
  return sum;
}

}  // namespace

std::vector<std::size_t> count_beta_cells(const MatrixView& x, Span<const double> b,
                                          const ParallelOptions& options) {
  std::vector<std::size_t> counts;
  for (const BetaCells& cells : cells_of(x, b, options)) counts.push_back(cells.size());
  return counts;
}

BetaSums::BetaSums(const MatrixView& x, Weights w, Span<const double> b,
                   const ParallelOptions& options)
    : cells_(cells_of(x, b, part_of(options, 0, 0.2))), stride_{1} {
  for (const BetaCells& cells : cells_) {
    stride_.push_back(stride_.back() * cells.size() * kBetaNodes);
  }
  weight_.assign(stride_.back(), 0.0);
  move(x, w, part_of(options, 0.2, 1));
}

/// Samples of one cell of the last variable add to nodes of their own, in ascending order.
void BetaSums::move(const MatrixView& x, Weights w, const ParallelOptions& options) {
  const BetaCells& last = cells_.back();
  const Span<const double> column = x.column(x.cols - 1);
  std::vector<std::size_t> cell(x.rows), begin(last.size() + 1, 0), order(x.rows);
  serial_for(x.rows, part_of(options, 0, 0.2), [&](std::size_t i) {
    cell[i] = last.place(column[i]).cell;
    ++begin[cell[i] + 1];
  });
  for (std::size_t c = 0; c < last.size(); ++c) begin[c + 1] += begin[c];
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t i = 0; i < x.rows; ++i) order[next[cell[i]]++] = i;
  parallel_for(last.size(), part_of(options, 0.2, 1), [&](std::size_t c, int) {
    std::vector<BetaPlace> places(x.cols);
    for (std::size_t at = begin[c]; at < begin[c + 1]; ++at) {
      if (at % 1024 == 0) {
        poll_if_due(options);
        if (loop_is_stopped()) return;
      }
      const std::size_t i = order[at];
      if (w[i] == 0) continue;
      for (std::size_t k = 0; k < x.cols; ++k) places[k] = cells_[k].place(x(i, k));
      add_sample(w[i], places);
    }
  });
}

void BetaSums::add_sample(double w, const std::vector<BetaPlace>& places) {
  const std::size_t d = cells_.size();
  double share[3][kBetaNodes];
  for (std::size_t k = 0; k < 3; ++k) {
    if (k < d) {
      cells_[k].weights(places[k], share[k]);
    } else {
      std::fill_n(share[k], kBetaNodes, 0.0);
      share[k][0] = 1;
    }
  }
  std::size_t base = 0;
  for (std::size_t k = 0; k < d; ++k) base += places[k].cell * kBetaNodes * stride_[k];
  const std::size_t second = d > 1 ? kBetaNodes : 1, third = d > 2 ? kBetaNodes : 1;
  for (std::size_t j2 = 0; j2 < third; ++j2) {
    for (std::size_t j1 = 0; j1 < second; ++j1) {
      const double outer = w * share[2][j2] * share[1][j1];
      if (outer == 0) continue;
      double* to =
          weight_.data() + base + (d > 1 ? j1 * stride_[1] : 0) + (d > 2 ? j2 * stride_[2] : 0);
      for (std::size_t j0 = 0; j0 < kBetaNodes; ++j0) to[j0] += outer * share[0][j0];
    }
  }
}

void BetaSums::at_points(const MatrixView& points, const ParallelOptions& options,
                         Span<double> out) const {
  const std::size_t d = cells_.size();
  const std::size_t items = (points.rows + kPointBlock - 1) / kPointBlock;
  parallel_for(items, options, [&](std::size_t item, int) {
    std::vector<BetaRow> rows(d);
    const std::size_t end = std::min(points.rows, (item + 1) * kPointBlock);
    for (std::size_t i = item * kPointBlock; i < end; ++i) {
      poll_if_due(options);
      if (loop_is_stopped()) return;
      for (std::size_t k = 0; k < d; ++k) cells_[k].row(points(i, k), &rows[k]);
      const std::size_t second = d > 1 ? rows[1].value.size() : 1;
      const std::size_t third = d > 2 ? rows[2].value.size() : 1;
      double total = 0;
      for (std::size_t j2 = 0; j2 < third; ++j2) {
        const std::size_t at2 = d > 2 ? (rows[2].first * kBetaNodes + j2) * stride_[2] : 0;
        double sum = 0;
        for (std::size_t j1 = 0; j1 < second; ++j1) {
          const std::size_t at1 = d > 1 ? (rows[1].first * kBetaNodes + j1) * stride_[1] : 0;
          const double one = along(rows[0], weight_.data() + at2 + at1);
          sum += d > 1 ? rows[1].value[j1] * one : one;
        }
        total += d > 2 ? rows[2].value[j2] * sum : sum;
      }
      // Weights of nodes have both signs.
      out[i] = std::max(total, 0.0);
    }
  });
}

void BetaSums::on_grid(const std::vector<Span<const double>>& axes, const ParallelOptions& options,
                       Span<double> out) const {
  const std::size_t d = cells_.size();
  std::vector<std::vector<BetaRow>> rows(d);
  for (std::size_t k = 0; k < d; ++k) {
    rows[k].resize(axes[k].size);
    const double from = 0.1 * static_cast<double>(k) / static_cast<double>(d);
    parallel_for(axes[k].size, part_of(options, from, from + 0.1 / static_cast<double>(d)),
                 [&](std::size_t i, int) { cells_[k].row(axes[k][i], &rows[k][i]); });
  }
  const std::size_t last = axes[d - 1].size, slab = out.size / last;
  parallel_for(last, part_of(options, 0.1, 1), [&](std::size_t item, int) {
    double* to = out.data + item * slab;
    if (d == 1) {
      to[0] = std::max(along(rows[0][item], weight_.data()), 0.0);
      return;
    }
    std::vector<double> of_last(stride_[d - 1]), of_second(d == 3 ? stride_[1] : 0);
    contract(rows[d - 1][item], weight_.data(), stride_[d - 1], of_last.data());
    poll_if_due(options);
    for (std::size_t j = 0; j < (d == 3 ? axes[1].size : 1); ++j) {
      if (d == 3) contract(rows[1][j], of_last.data(), stride_[1], of_second.data());
      const double* line = d == 3 ? of_second.data() : of_last.data();
      for (std::size_t i = 0; i < axes[0].size; ++i) {
        to[j * axes[0].size + i] = std::max(along(rows[0][i], line), 0.0);
      }
    }
  });
}

}  // namespace kestrel
