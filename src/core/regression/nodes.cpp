#include "core/regression/nodes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/data/passes.hpp"

namespace kestrel {

namespace {

/// The exponent of the narrowest cells: 2^-kMinExponent is a finite number.
constexpr int kMinExponent = -999;
/// Samples of a piece of a cell, and how many the overhead of a cell is worth.
constexpr std::size_t kPiece = 4096, kOfCell = 16;
/// Cells of a work item when cells are united.
constexpr std::size_t kUnited = 512;
/// The line of a cell goes through the mean of so many of its responses.
constexpr std::size_t kOfReference = 64;

/// The number of x's cell: std::floor(x * scale), which without SSE4.1 is a call.
double cell_of(double x, double scale) {
  const double at = x * scale;
  if (!(std::fabs(at) < 0x1p52)) return at;
  const double whole = static_cast<double>(static_cast<std::int64_t>(at));
  return whole > at ? whole - 1 : whole;
}

/// T_k(t).
long double chebyshev(std::size_t k, long double t) {
  long double before = 1, now = t;
  if (k == 0) return before;
  for (std::size_t i = 1; i < k; ++i) {
    const long double next = 2 * t * now - before;
    before = now;
    now = next;
  }
  return now;
}

/// Where the line of this slope through the mean of responses [begin, end), from some of them, is
/// at `centre`.
double reference_of(const SortedSample& sample, std::size_t begin, std::size_t end, double slope,
                    double centre) {
  const double *x = sample.x(), *y = sample.y();
  const std::size_t count = std::min(end - begin, kOfReference);
  double sum = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t j = begin + k * (end - begin) / count;
    sum += (y[j] - y[begin]) - slope * (x[j] - x[begin]);
  }
  return y[begin] + (sum / static_cast<double>(count) + slope * (centre - x[begin]));
}

/// The cells that hold samples, counted for all widths in one pass.
class CellCounts {
 public:
  CellCounts(const SortedSample& sample, double size, const ParallelOptions& options)
      : lowest_(std::max(std::ilogb(size) - 61, kMinExponent)) {
    // Neighbours are in different cells of width 2^(lowest_ + s) if their numbers in cells of width
    // 2^lowest_ differ in a bit from s on.
    const double *x = sample.x(), scale = std::ldexp(1.0, -lowest_);
    const auto number = [&](std::size_t i) {
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(cell_of(x[i], scale)));
    };
    using Widths = std::array<std::size_t, kBits + 1>;
    std::vector<Widths> parts(parts_of_pass(sample.size()), Widths{});
    pass_over(sample.size(), options, [&](std::size_t part, std::size_t begin, std::size_t end) {
      std::uint64_t last = number(begin > 0 ? begin - 1 : 0);
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint64_t now = number(i), differ = now ^ last;
        ++parts[part][differ == 0 ? 0 : kBits - static_cast<std::size_t>(__builtin_clzll(differ))];
        last = now;
      }
    });
    for (const Widths& part : parts) {
      for (std::size_t bits = 0; bits <= kBits; ++bits) count_[bits] += part[bits];
    }
    // From the numbers that have so many bits in which they differ to those that have more.
    for (std::size_t bits = kBits; bits-- > 0;) count_[bits] += count_[bits + 1];
  }

  /// The smallest exponent that was counted.
  int lowest() const { return lowest_; }
  /// The number of cells of width 2^exponent, exponent >= lowest().
  std::size_t of(int exponent) const {
    const auto shift = static_cast<std::size_t>(exponent - lowest_);
    return 1 + (shift < kBits ? count_[shift + 1] : 0);
  }

 private:
  static constexpr std::size_t kBits = 64;
  int lowest_;
  std::array<std::size_t, kBits + 1> count_{};
};

/// The smallest distance of different positions. There are two.
double smallest_gap(const SortedSample& sample, const ParallelOptions& options) {
  const double* x = sample.x();
  std::vector<double> least(parts_of_pass(sample.size()), HUGE_VAL);
  pass_over(sample.size(), options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    for (std::size_t i = std::max<std::size_t>(1, begin); i < end; ++i) {
      const double gap = x[i] - x[i - 1];
      if (gap > 0 && gap < least[part]) least[part] = gap;
    }
  });
  return *std::min_element(least.begin(), least.end());
}

struct Piece {
  std::size_t cell, begin, end;
  double* sum;
};

}  // namespace

NodeTables::NodeTables() {
  const long double pi = 3.141592653589793238462643383279502884L;
  long double at[kNodes];
  for (std::size_t n = 0; n < kNodes; ++n) {
    at[n] = std::cos(pi * static_cast<long double>(2 * n + 1) / (2 * kNodes));
    node[n] = static_cast<double>(at[n]);
  }
  const auto share = [](std::size_t k) { return (k == 0 ? 1.0L : 2.0L) / kNodes; };
  for (std::size_t k = 0; k < kNodes; ++k) {
    for (std::size_t n = 0; n < kNodes; ++n) {
      const double value = static_cast<double>(share(k) * chebyshev(k, at[n]));
      weights[kNodes * k + n] = value;
      coefficients[kNodes * n + k] = value;
    }
    for (std::size_t j = 0; j < kNodes; ++j) {
      long double sum = 0;
      for (std::size_t n = 0; n < kNodes; ++n) {
        sum += chebyshev(j, (at[n] - 1) / 2) * chebyshev(k, at[n]);
      }
      const double value = k > j ? 0.0 : static_cast<double>(share(k) * sum);
      left_half[kNodes * k + j] = value;
      right_half[kNodes * k + j] = (j + k) % 2 == 0 ? value : -value;
    }
  }
}

const NodeTables& node_tables() {
  static const NodeTables tables;
  return tables;
}

void to_parts(const double* value, double* parts) {
  constexpr std::size_t half = kNodes / 2;
  for (std::size_t n = 0; n < half; ++n) {
    parts[n] = value[n] + value[kNodes - 1 - n];
    parts[half + n] = value[n] - value[kNodes - 1 - n];
  }
}

void from_parts(const double* parts, double* value) {
  constexpr std::size_t half = kNodes / 2;
  for (std::size_t n = 0; n < half; ++n) {
    value[n] = parts[n] + parts[half + n];
    value[kNodes - 1 - n] = parts[n] - parts[half + n];
  }
}

void NodeLevel::part(std::size_t cell) {
  const double* from = column(cell);
  double* to = parts.data() + cell * columns_with_parts() * kNodes;
  for (std::size_t c = 0; c < columns_with_parts(); ++c) {
    to_parts(from + c * kNodes, to + c * kNodes);
  }
}

NodeCells::NodeCells(const SortedSample& sample, std::size_t columns, double slope, int exponent,
                     const RunOptions& options)
    : slope_(slope) {
  levels_.emplace_back();
  levels_[0].exponent = exponent;
  levels_[0].columns = columns;
  open_cells(sample, options.parallel);
  fill(sample, options);
  unite(sample.x()[sample.size() - 1] - sample.x()[0], options);
}

NodeCells::NodeCells(NodeLevel finest, RawArray<double> sums, const RunOptions& options)
    : slope_(0), sums_(std::move(sums)) {
  finest.columns = 3;
  for (std::size_t c = 0; c <= finest.cells(); ++c) {
    finest.first.push_back(static_cast<std::uint32_t>(c));
  }
  levels_.push_back(std::move(finest));
  move_to_nodes(options);
  const NodeLevel& cells = levels_[0];
  unite(std::ldexp(cells.key.back() - cells.key.front(), cells.exponent), options);
}

/// Makes the wider cells.
void NodeCells::unite(double range, const RunOptions& options) {
  while (range > 0 && levels_.back().exponent < std::ilogb(range) - 2) {
    levels_.push_back(united(levels_.back(), options));
  }
  sums_ = RawArray<double>();
}

const NodeLevel& NodeCells::level(int exponent) const {
  const std::size_t last = levels_.size() - 1;
  return levels_[std::min(last, static_cast<std::size_t>(exponent - finest()))];
}

void NodeCells::open_cells(const SortedSample& sample, const ParallelOptions& options) {
  NodeLevel& level = levels_[0];
  const double* x = sample.x();
  const std::size_t n = sample.size();
  const double scale = std::ldexp(1.0, -level.exponent);
  std::vector<std::vector<std::uint32_t>> starts(parts_of_pass(n));
  pass_over(n, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    double last = begin > 0 ? cell_of(x[begin - 1], scale) : -HUGE_VAL;
    for (std::size_t i = begin; i < end; ++i) {
      const double key = cell_of(x[i], scale);
      if (key != last) starts[part].push_back(static_cast<std::uint32_t>(i));
      last = key;
    }
  });
  for (const std::vector<std::uint32_t>& some : starts) {
    level.first.insert(level.first.end(), some.begin(), some.end());
  }
  for (const std::uint32_t i : level.first) level.key.push_back(cell_of(x[i], scale));
  level.first.push_back(static_cast<std::uint32_t>(n));
}

void NodeCells::fill(const SortedSample& sample, const RunOptions& options) {
  NodeLevel& level = levels_[0];
  const std::size_t cells = level.cells(), row = level.columns * kNodes;
  const double width = std::ldexp(1.0, level.exponent), scale = std::ldexp(1.0, -level.exponent);
  const double *x = sample.x(), *y = sample.y();
  const double* w = sample.unit_weights() ? nullptr : sample.w();
  level.reference.assign(cells, 0.0);
  sums_ = RawArray<double>(cells * row);
  // The first piece of a cell writes to its row, the others to `more`.
  std::vector<Piece> pieces;
  std::vector<std::size_t> items{0};
  std::size_t size = 0, others = 0;
  for (std::size_t c = 0; c < cells; ++c) {
    const std::size_t end = level.first[c + 1];
    for (std::size_t begin = level.first[c]; begin < end; begin += kPiece) {
      pieces.push_back({c, begin, std::min(end, begin + kPiece), nullptr});
      if (begin > level.first[c]) ++others;
      size += kOfCell + pieces.back().end - begin;
      if (size < kPiece) continue;
      items.push_back(pieces.size());
      size = 0;
    }
    if (level.columns > 1) {
      level.reference[c] =
          reference_of(sample, level.first[c], end, slope_, (level.key[c] + 0.5) * width);
    }
  }
  if (items.back() < pieces.size()) items.push_back(pieces.size());
  const RawArray<double> more(others * row);
  others = 0;
  for (Piece& piece : pieces) {
    const bool leads = piece.begin == level.first[piece.cell];
    piece.sum = leads ? sums_.data() + piece.cell * row : more.data() + row * others++;
  }
  parallel_for(items.size() - 1, options.parallel, [&](std::size_t item, int) {
    double t[kPiece], e[kPiece];
    for (std::size_t p = items[item]; p < items[item + 1]; ++p) {
      const Piece& piece = pieces[p];
      const double key = level.key[piece.cell], line = level.reference[piece.cell];
      const std::size_t count = piece.end - piece.begin;
      for (std::size_t i = 0; i < count; ++i) {
        const TwoPart from_centre = exact_difference(x[piece.begin + i] * scale, key + 0.5);
        t[i] = 2 * from_centre.high;
        if (level.columns > 1) {
          e[i] = off_line(y[piece.begin + i], line, slope_,
                          {from_centre.high * width, from_centre.low * width});
        }
      }
      options.table->nodes->chebyshev_sums(t, w == nullptr ? nullptr : w + piece.begin, e, count,
                                           static_cast<int>(level.columns), piece.sum);
    }
  });
  for (const Piece& piece : pieces) {
    if (piece.begin == level.first[piece.cell]) continue;
    double* sum = sums_.data() + piece.cell * row;
    for (std::size_t k = 0; k < row; ++k) sum[k] += piece.sum[k];
  }
  move_to_nodes(options);
}

/// The sums of the narrowest cells.
void NodeCells::move_to_nodes(const RunOptions& options) {
  NodeLevel& level = levels_[0];
  const std::size_t cells = level.cells(), row = level.columns * kNodes;
  level.weight.assign(cells, 0.0);
  level.at_nodes = RawArray<double>(cells * row);
  level.parts = RawArray<double>(cells * level.columns_with_parts() * kNodes);
  const auto to_nodes = [&](std::size_t part, std::size_t begin, std::size_t end) {
    (void)part;
    for (std::size_t c = begin; c < end; ++c) {
      level.weight[c] = sums_[c * row];
      for (std::size_t k = 0; k < level.columns; ++k) {
        double* to = level.at_nodes.data() + c * row + k * kNodes;
        std::fill(to, to + kNodes, 0.0);
        options.table->nodes->add_product(node_tables().weights,
                                          sums_.data() + c * row + k * kNodes, to);
      }
      level.part(c);
    }
  };
  pass_over(cells, options.parallel, to_nodes);
}

NodeLevel NodeCells::united(const NodeLevel& from, const RunOptions& options) {
  NodeLevel to;
  to.exponent = from.exponent + 1;
  to.columns = from.columns;
  std::vector<std::size_t> child;  // the first of each parent
  for (std::size_t c = 0; c < from.cells(); ++c) {
    const double key = std::floor(from.key[c] / 2);
    if (!to.key.empty() && key == to.key.back()) continue;
    to.key.push_back(key);
    to.first.push_back(from.first[c]);
    child.push_back(c);
  }
  child.push_back(from.cells());
  to.first.push_back(from.first.back());
  const std::size_t cells = to.cells(), row = from.columns * kNodes;
  to.weight.assign(cells, 0.0);
  to.reference.assign(cells, 0.0);
  to.at_nodes = RawArray<double>(cells * row);
  to.parts = RawArray<double>(cells * to.columns_with_parts() * kNodes);
  RawArray<double> sums(cells * row);
  const double half = std::ldexp(0.5, from.exponent);
  const NodeTables& tables = node_tables();
  parallel_for((cells + kUnited - 1) / kUnited, options.parallel, [&](std::size_t item, int) {
    for (std::size_t p = item * kUnited; p < std::min(cells, (item + 1) * kUnited); ++p) {
      double* sum = sums.data() + p * row;
      std::fill(sum, sum + row, 0.0);
      std::fill(to.at_nodes.data() + p * row, to.at_nodes.data() + (p + 1) * row, 0.0);
      const auto is_left = [&](std::size_t c) { return from.key[c] == 2 * to.key[p]; };
      // The child's line at the centre of its parent.
      const auto line_at_parent = [&](std::size_t c) {
        return from.reference[c] + slope_ * (is_left(c) ? half : -half);
      };
      double line = line_at_parent(child[p]);
      if (child[p + 1] - child[p] == 2) line += 0.5 * (line_at_parent(child[p] + 1) - line);
      to.reference[p] = line;
      for (std::size_t c = child[p]; c < child[p + 1]; ++c) {
        const double shift =
            off_line(from.reference[c], line, slope_, {is_left(c) ? -half : half, 0});
        double moved[3 * kNodes];
        std::copy(sums_.data() + c * row, sums_.data() + (c + 1) * row, moved);
        for (std::size_t k = 0; k < kNodes && from.columns > 1; ++k) {
          double* of = moved + k;
          if (from.columns > 2) of[2 * kNodes] += shift * (2 * of[kNodes] + shift * of[0]);
          of[kNodes] += shift * of[0];
        }
        const double* half_to_whole = is_left(c) ? tables.left_half : tables.right_half;
        for (std::size_t k = 0; k < from.columns; ++k) {
          options.table->nodes->add_product(half_to_whole, moved + k * kNodes, sum + k * kNodes);
        }
      }
      to.weight[p] = sum[0];
      for (std::size_t k = 0; k < from.columns; ++k) {
        options.table->nodes->add_product(tables.weights, sum + k * kNodes,
                                          to.at_nodes.data() + p * row + k * kNodes);
      }
      to.part(p);
    }
  });
  sums_ = std::move(sums);
  return to;
}

int finest_exponent(const SortedSample& sample, double of_cell, const ParallelOptions& options) {
  const double* x = sample.x();
  const std::size_t n = sample.size();
  const double size = std::max(std::fabs(x[0]), std::fabs(x[n - 1]));
  const CellCounts counted(sample, size, options);
  const auto cells = [&](int exponent) {
    if (exponent >= counted.lowest()) return static_cast<double>(counted.of(exponent));
    const double scale = std::ldexp(1.0, -exponent);
    std::vector<std::size_t> counts(parts_of_pass(n), 0);
    pass_over(n, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
      double last = begin > 0 ? cell_of(x[begin - 1], scale) : -HUGE_VAL;
      std::size_t count = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const double key = cell_of(x[i], scale);
        count += key != last ? 1 : 0;
        last = key;
      }
      counts[part] = count;
    });
    std::size_t all = 0;
    for (const std::size_t count : counts) all += count;
    return static_cast<double>(all);
  };
  const double most = static_cast<double>(n) / of_cell;
  const double range = x[n - 1] - x[0];
  // Cells of that width and narrower ones have numbers that are finite.
  const auto numbered = [&](int exponent) {
    return exponent >= kMinExponent && std::isfinite(std::ldexp(size, 8 - exponent));
  };
  int exponent = std::ilogb(range / most) + 1;
  while (!numbered(exponent) || cells(exponent) > most) ++exponent;
  // Narrower than the smallest gap they hold one place each, however narrow they are.
  std::optional<int> gap;
  while (numbered(exponent - 1) && cells(exponent - 1) <= most) {
    if (!gap) gap = std::ilogb(smallest_gap(sample, options));
    if (exponent <= *gap) break;
    --exponent;
  }
  return exponent;
}

}  // namespace kestrel
