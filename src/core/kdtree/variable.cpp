#include "core/kdtree/variable.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/raw_array.hpp"
#include "core/data/costs.hpp"
#include "core/data/kd_order.hpp"
#include "core/kdtree/costs.hpp"
#include "core/kdtree/kdtree.hpp"
#include "core/kdtree/pair_polynomial.hpp"
#include "core/kdtree/tree.hpp"

namespace kestrel {

namespace {

static_assert(kTreeLeaf == kPairBlock, "leaves are blocks of pairs");

/// With one bandwidth for each sample the kernels (1 - u^2)^p of a node are one polynomial of the
/// point. With one for each point they are p + 1, the sums of u^2k times h^2k.
std::size_t families_of(const VariableTask& task) {
  return task.by_point ? static_cast<std::size_t>(row_of(task.kernel).outer) + 1 : 1;
}

/// Whether kernels have polynomials of few monomials: those of two nodes for every kTreeLeaf
/// samples then take at most the memory of the samples.
bool has_polynomials(const VariableTask& task) {
  if (!is_even_polynomial(task.kernel)) return false;
  double count = static_cast<double>(families_of(task)), d = static_cast<double>(task.x.cols);
  for (int k = 1; k <= kernel_degree(task.kernel); ++k) count *= (d + k) / k;
  return count <= static_cast<double>(kTreeLeaf / 2 * (task.x.cols + 1));
}

/// A length near those of bandwidths, in which powers of distances stay within the range of
/// numbers.
double unit_of(Span<const double> h) {
  double logs = 0;
  for (const double one : h) logs += std::log2(one);
  return std::exp2(std::round(logs / static_cast<double>(std::max<std::size_t>(1, h.size))));
}

/// Whether bandwidths of samples differ, so that they are a coordinate of the tree.
bool has_widths(const VariableTask& task) {
  return !task.by_point &&
         std::any_of(task.h.begin(), task.h.end(), [&](double one) { return one != task.h[0]; });
}

/// A logarithm of a bandwidth is a coordinate like those of a sample in bandwidths: a node with
/// narrower and wider kernels is wholly in reach of fewer points by as much as if it were wider.
KdOrder order_of(const VariableTask& task, double unit, const ParallelOptions& options) {
  const std::size_t n = task.x.rows, d = task.x.cols;
  KdOrder order;
  order.n = n;
  order.d = d + (has_widths(task) ? 1 : 0);
  order.leaf = kTreeLeaf;
  order.z = RawArray<double>(n * order.d);
  order.order.resize(n);
  for (std::size_t i = 0; i < n; ++i) order.order[i] = i;
  for (std::size_t i = 0; i < n * d; ++i) order.z[i] = task.x.data[i] / unit;
  for (std::size_t i = 0; i < n && order.d > d; ++i) order.z[n * d + i] = std::log(task.h[i]);
  sort_points(&order, part_of(options, 0, 0));
  return order;
}

class VariableTree {
 public:
  VariableTree(const VariableTask& task, const ParallelOptions& options);

  template <class Profile>
  double sum(const Profile& profile, const double* at, double h) const;

 private:
  KdNode root() const { return {1, 0, span_}; }
  bool is_leaf(const KdNode& node) const { return node.span == kTreeLeaf; }
  std::size_t last(const KdNode& node) const {
    return std::min(pairs_.size(), node.first + node.span);
  }
  const double* low(const KdNode& node) const { return box_.data() + node.number * 2 * d_; }
  const double* high(const KdNode& node) const { return low(node) + d_; }
  double centre(const KdNode& node, std::size_t k) const {
    return low(node)[k] + (high(node)[k] - low(node)[k]) / 2;
  }
  double* polynomials(const KdNode& node) const {
    return values_.data() + node.number * families_ * polynomial_.count();
  }
  void make_node(const KdNode& node);
  void make_polynomials(const KdNode& node);
  double value(const KdNode& node, const double* at, double h) const;

  const VariableTask& task_;
  const std::size_t d_, families_;
  const double unit_;
  const CompactPairs pairs_;
  const bool closed_forms_;
  const PairPolynomial polynomial_;
  const int outer_;
  std::size_t span_ = kTreeLeaf;
  std::vector<double> box_, least_, most_;  // of nodes; bandwidths of samples
  RawArray<double> values_;
};

VariableTree::VariableTree(const VariableTask& task, const ParallelOptions& options)
    : task_(task),
      d_(task.x.cols),
      families_(families_of(task)),
      unit_(unit_of(task.h)),
      pairs_(task, order_of(task, unit_, options).order.data()),
      closed_forms_(has_polynomials(task)),
      polynomial_(d_, closed_forms_ ? kernel_degree(task.kernel) : 0),
      outer_(row_of(task.kernel).outer) {
  const std::size_t n = pairs_.size();
  while (span_ < n) span_ *= 2;
  const std::size_t numbers = span_ / kTreeLeaf + (n + kTreeLeaf - 1) / kTreeLeaf;
  box_.resize(numbers * 2 * d_);
  least_.assign(numbers, 1.0);
  most_.assign(numbers, 1.0);
  if (closed_forms_) values_ = RawArray<double>(numbers * families_ * polynomial_.count());
  constexpr std::size_t group = 64;  // nodes of a work item
  for (std::size_t span = kTreeLeaf; span <= span_; span *= 2) {
    const std::size_t nodes = (n + span - 1) / span, before = span_ / span;
    parallel_for((nodes + group - 1) / group, part_of(options, 0, 0), [&](std::size_t item, int) {
      const std::size_t end = std::min(nodes, (item + 1) * group);
      for (std::size_t i = item * group; i < end; ++i) {
        make_node({before + i, i * span, span});
        if (closed_forms_) make_polynomials({before + i, i * span, span});
      }
    });
  }
}

void VariableTree::make_node(const KdNode& node) {
  double* low = box_.data() + node.number * 2 * d_;
  double* high = low + d_;
  std::fill(low, high, HUGE_VAL);
  std::fill(high, high + d_, -HUGE_VAL);
  double least = HUGE_VAL, most = 0;
  const auto join = [&](const double* from, const double* to, double narrow, double wide) {
    for (std::size_t k = 0; k < d_; ++k) {
      low[k] = std::min(low[k], from[k]);
      high[k] = std::max(high[k], to[k]);
    }
    least = std::min(least, narrow);
    most = std::max(most, wide);
  };
  if (is_leaf(node)) {
    for (std::size_t j = node.first; j < last(node); ++j) {
      double x[kVariableAxes];
      for (std::size_t k = 0; k < d_; ++k) x[k] = pairs_.x(j, k);
      join(x, x, pairs_.h(j), pairs_.h(j));
    }
  } else {
    for (const KdNode& child : {node.left(), node.right()}) {
      if (child.first >= pairs_.size()) continue;
      join(this->low(child), this->high(child), least_[child.number], most_[child.number]);
    }
  }
  least_[node.number] = least;
  most_[node.number] = most;
}

/// In the differences from the node's centre, in units.
void VariableTree::make_polynomials(const KdNode& node) {
  const std::size_t count = polynomial_.count();
  double* own = polynomials(node);
  std::fill_n(own, families_ * count, 0.0);
  std::vector<double> scratch(2 * count);
  double* term = scratch.data() + count;
  double by[kVariableAxes];
  if (!is_leaf(node)) {
    for (const KdNode& child : {node.left(), node.right()}) {
      if (child.first >= pairs_.size()) continue;
      for (std::size_t k = 0; k < d_; ++k) by[k] = (centre(node, k) - centre(child, k)) / unit_;
      for (std::size_t f = 0; f < families_; ++f) {
        std::copy_n(polynomials(child) + f * count, count, term);
        polynomial_.shift(by, term);
        for (std::size_t t = 0; t < count; ++t) own[f * count + t] += term[t];
      }
    }
    return;
  }
  for (std::size_t j = node.first; j < last(node); ++j) {
    const double rate = task_.by_point ? 1 : unit_ / pairs_.h(j);
    double squares = 0;
    for (std::size_t k = 0; k < d_; ++k) {
      const double z = rate * ((pairs_.x(j, k) - centre(node, k)) / unit_);
      squares += z * z;
      by[k] = -2 * rate * z;
    }
    std::fill_n(term, count, 0.0);
    term[0] = pairs_.weight(j);
    for (std::size_t f = 0; f < families_; ++f) {
      if (task_.by_point) {
        if (f > 0) polynomial_.multiply(squares, by, 1, scratch.data(), term);
      } else {
        double back[kVariableAxes];
        for (std::size_t k = 0; k < d_; ++k) back[k] = -by[k];
        for (int p = 0; p < outer_; ++p) {
          polynomial_.multiply(1 - squares, back, -rate * rate, scratch.data(), term);
        }
      }
      for (std::size_t t = 0; t < count; ++t) own[f * count + t] += term[t];
    }
  }
}

double VariableTree::value(const KdNode& node, const double* at, double h) const {
  const std::size_t count = polynomial_.count();
  double t[kVariableAxes], power[kTreeLeaf / 2 * (kVariableAxes + 1)];
  for (std::size_t k = 0; k < d_; ++k) t[k] = (at[k] - centre(node, k)) / unit_;
  polynomial_.powers(t, power);
  const double rate = task_.by_point ? (unit_ / h) * (unit_ / h) : 1;
  double total = 0, factor = 1;
  for (std::size_t f = 0; f < families_; ++f) {
    const double* own = polynomials(node) + f * count;
    double sum = 0;
    for (std::size_t i = count; i-- > 0;) sum += own[i] * power[i];
    total += factor * sum;
    // Binomial coefficients of (1 - u^2)^p.
    factor *=
        -rate * static_cast<double>(outer_ - static_cast<int>(f)) / static_cast<double>(f + 1);
  }
  return std::max(0.0, total);
}

template <class Profile>
double VariableTree::sum(const Profile& profile, const double* at, double h) const {
  double total = 0;
  std::size_t count = 0;
  KdNode stack[64];  // a node of each level
  if (pairs_.size() > 0) stack[count++] = root();
  while (count > 0) {
    const KdNode node = stack[--count];
    const double most = task_.by_point ? h : most_[node.number];
    const double least = task_.by_point ? h : least_[node.number];
    // Rounded as the distances of pairs are, so that no pair is on another side of the edge.
    double near = 0, far = 0;
    for (std::size_t k = 0; k < d_; ++k) {
      const double below = low(node)[k] - at[k], above = at[k] - high(node)[k];
      const double nearest = std::max(std::max(below, above), 0.0) / most;
      const double farthest = std::max(-below, -above) / least;
      near += nearest * nearest;
      far += farthest * farthest;
    }
    if (near > 1) continue;
    if (closed_forms_ && far <= 1) {
      total += value(node, at, h);
    } else if (is_leaf(node)) {
      total += pairs_.sum(profile, at, h, node.first, last(node));
    } else {
      if (node.right().first < pairs_.size()) stack[count++] = node.right();
      stack[count++] = node.left();
    }
  }
  return total;
}

}  // namespace

void variable_tree(const VariableTask& task, const ParallelOptions& options, Span<double> out) {
  check_variable_task(task, out);
  const VariableTree tree(task, options);
  with_compact_profile(task.kernel, [&](const auto& profile) {
    for_variable_points(task, options, out,
                        [&](const double* at, double h) { return tree.sum(profile, at, h); });
  });
}

double variable_tree_seconds(const VariableTask& task) {
  const double n = static_cast<double>(task.x.rows), m = static_cast<double>(task.at.size());
  const double d = static_cast<double>(task.x.cols), leaf = kTreeLeaf;
  const std::vector<double> distance = some_distances(task);
  if (distance.empty()) return 0;
  const double all = static_cast<double>(distance.size());
  const auto within = [&](double radius) {
    const auto count =
        std::count_if(distance.begin(), distance.end(), [radius](double v) { return v <= radius; });
    return static_cast<double>(count) / all;
  };
  // As in share_of_pairs(), for single points.
  const double reached = std::max(within(1), 1 / all);
  const double volume = ball_volume(d) * std::min(1.0, leaf / (n * reached));
  const double margin = 1.5 * std::pow(volume, 1 / (has_widths(task) ? d + 1 : d));
  const bool closed = has_polynomials(task);
  const double pairs =
      std::min(1.0, std::max(leaf / n, within(1 + margin) - (closed ? within(1 - margin) : 0.0)));
  return 1e-9 * (kTreeLevelNs * n * std::log2(2 + n / leaf) + kVariablePairNs * pairs * n * m +
                 kVariableNodeNs * m * (std::log2(2 + n / leaf) + 2 * pairs * n / leaf));
}

}  // namespace kestrel
