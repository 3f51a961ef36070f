// Queries with product kernels and with the normal kernel: products of one-dimensional integrals.
#include <algorithm>
#include <cmath>

#include "core/query/kernel.hpp"
#include "core/query/legendre_rule.hpp"
#include "core/query/line_kernel.hpp"
#include "core/query/normal_mixture.hpp"
#include "core/query/term_box.hpp"
#include "simd/query/query.hpp"

namespace kestrel {

namespace {

/// Parts of a sum of normal masses may be left out if together they are below this fraction of it.
const double kLogNegligible = 56 * std::log(2.0);

/// Intervals of at most this many bandwidths are integrated by a rule. Differences of tails would
/// lose a factor of about 1 / length of their precision for the mass, 1 / length^3 for the
/// variance.
constexpr double kShortMass = 1.0 / 16, kShortMoments = 0.5;

/// Returns the g^2 beyond which kernels may be left out. A normal kernel whose centre lies g
/// bandwidths from the box has at most exp(-g^2 / 2) of its mass there (as Q(g) <= exp(-g^2 / 2) /
/// 2 on each axis). All that is left out is less than 2^-56 of `floor`, a lower bound on the mass
/// in the box. mass: of all rows; weight: of this term; terms: their number; spread: 0 if the mass
/// is asked for; for a variance, to which a row contributes by its squared distance, the range of
/// the variable's rows in bandwidths.
/// range of its rows in bandwidths.
double farthest_that_counts(double mass, double weight, std::size_t terms, double spread,
                            double floor) {
  const double log_share = std::log(mass) + std::log(weight) - std::log(floor) + kLogNegligible +
                           std::log(static_cast<double>(terms)) + 2 * std::log1p(spread);
  const double end2 = simd::kNormalEnd * simd::kNormalEnd;
  return log_share < end2 / 2 ? 2 * std::max(log_share, 0.0) : end2;
}

/// Product kernels: the mass in a box is the product of the masses in its intervals. Rows are taken
/// leaf by leaf of the tree, one axis after another.
class ProductQuery : public QueryKernel {
 public:
  ProductQuery(Kernel kernel, std::size_t d, Span<const double> root, const simd::Table* table)
      : table_(*table->query),
        line_(line_kernel(kernel)),
        kernel_(kernel),
        normal_(!is_compact(kernel)),
        end_(normal_ ? kWholeNormal : 1.0),
        mixture_(d, root),
        rule_(line_.nodes),
        short_rule_(8) {}

  BoxMoments answer(const QueryTree& tree, std::size_t node, const QueryBox& box, std::ptrdiff_t of,
                    QueryScratch& scratch) const override;
  Span<const double> scale() const override { return {mixture_.h.data(), mixture_.h.size()}; }
  std::size_t rows_at_once() const override {
    const std::size_t rows = (std::size_t{1} << 20) / terms();
    return std::min(std::max(rows, std::size_t{512}), std::size_t{1} << 16);
  }

 private:
  std::size_t terms() const { return mixture_.weight.size(); }
  const double* shift(std::size_t term) const {
    return mixture_.shift.data() + term * mixture_.h.size();
  }

  // Stages of an answer. The first ones take `box` for one term, the last two for all terms.
  Overlap overlap(const TermBox& box, std::size_t node, double farthest2) const;
  BoxMoments inside(const TermBox& box, std::size_t node, std::ptrdiff_t of) const;
  BoxMoments across(const TermBox& box, std::size_t leaf, std::ptrdiff_t of,
                    QueryScratch& scratch) const;
  void multiply_mass(const TermBox& box, std::size_t leaf, std::size_t k, double* mass) const;
  void take_moments(const TermBox& box, std::size_t leaf, std::size_t k,
                    const simd::QueryMoments& rows) const;
  bool cuts(TermBox box, std::size_t node) const;
  double min_mass(TermBox box, QueryScratch& scratch) const;

  const simd::QueryTable& table_;
  LineKernel line_;
  Kernel kernel_;
  bool normal_;
  double end_;  // half the support, in bandwidths
  NormalMixture mixture_;
  LegendreRule rule_, short_rule_;
};

/// farthest2: the squared distance beyond which a normal kernel is negligible.
Overlap ProductQuery::overlap(const TermBox& box, std::size_t node, double farthest2) const {
  bool whole = true;
  for (std::size_t k = 0; k < box.tree().d; ++k) {
    whole = whole && box.holds(node, k, end_);
    if (!normal_ && (box.max_above(node, k) <= -1 || box.max_below(node, k) <= -1)) {
      return Overlap::outside;
    }
  }
  if (whole) return Overlap::inside;
  return normal_ && box.gap2(node) > farthest2 ? Overlap::outside : Overlap::across;
}

/// A node whose kernels lie entirely in the box.
BoxMoments ProductQuery::inside(const TermBox& box, std::size_t node, std::ptrdiff_t of) const {
  BoxMoments result = box.tree().nodes[node].rows;
  if (of < 0) return {result.mass, 0.0, 0.0};
  const simd::QueryAxis& along = box.axis(static_cast<std::size_t>(of));
  result.mean += (box.tree().centre - along.origin) + along.width * along.shift;
  result.square += result.mass * along.width * along.width * line_.second_moment;
  return result;
}

/// A leaf, row by row; `of` is the variable whose moments are taken, or -1.
BoxMoments ProductQuery::across(const TermBox& box, std::size_t leaf, std::ptrdiff_t of,
                                QueryScratch& scratch) const {
  const QueryTree& tree = box.tree();
  const std::size_t begin = tree.nodes[leaf].begin, count = tree.nodes[leaf].end - begin;
  const simd::QueryMoments rows = {scratch.mass.data(), scratch.mean.data(),
                                   scratch.variance.data()};
  std::copy_n(tree.weight.data() + begin, count, rows.mass);
  // Rows after the last one get no mass, and finite moments.
  const std::size_t padded =
      (count + simd::kQueryGroup - 1) / simd::kQueryGroup * simd::kQueryGroup;
  for (std::size_t i = count; i < padded; ++i) rows.mass[i] = rows.mean[i] = rows.variance[i] = 0.0;
  for (std::size_t k = 0; k < tree.d; ++k) {
    if (static_cast<std::ptrdiff_t>(k) != of && !box.holds(leaf, k, end_)) {
      multiply_mass(box, leaf, k, rows.mass);
    }
  }
  if (of < 0) return {table_.sum(rows.mass, count), 0.0, 0.0};
  take_moments(box, leaf, static_cast<std::size_t>(of), rows);
  double total[3];
  table_.merge(rows, count, total);
  return {total[0], total[1], total[2]};
}

/// Multiplies the mass of each row of a leaf by its kernel's mass in the interval of axis k.
void ProductQuery::multiply_mass(const TermBox& box, std::size_t leaf, std::size_t k,
                                 double* mass) const {
  const QueryNode& node = box.tree().nodes[leaf];
  const std::size_t count = node.end - node.begin;
  const double* x = box.rows(leaf, k);
  const simd::QueryAxis& axis = box.axis(k);
  if (normal_ && 2 * axis.half > kShortMass) {
    // A far limit is negligible if the interval is as long as the tails.
    const bool long_one = 2 * axis.half >= kWholeNormal;
    if (long_one && box.min_below(leaf, k) >= kWholeNormal) {
      return table_.normal_above(axis, x, count, mass);
    }
    if (long_one && box.min_above(leaf, k) >= kWholeNormal) {
      return table_.normal_below(axis, x, count, mass);
    }
    return table_.normal_between(axis, x, count, mass);
  }
  const LegendreRule& rule = normal_ ? short_rule_ : rule_;
  const simd::QueryRule nodes = {static_cast<int>(rule.node.size()), rule.node.data(),
                                 rule.weight.data(), line_.constant};
  table_.rule_mass[static_cast<std::size_t>(kernel_)](axis, nodes, x, count, mass);
}

/// The same, and takes the means and variances of the rows' kernels within the interval.
void ProductQuery::take_moments(const TermBox& box, std::size_t leaf, std::size_t k,
                                const simd::QueryMoments& rows) const {
  const QueryNode& node = box.tree().nodes[leaf];
  const std::size_t count = node.end - node.begin;
  const double* x = box.rows(leaf, k);
  const simd::QueryAxis& axis = box.axis(k);
  if (box.holds(leaf, k, end_)) {
    const double h = axis.width;
    for (std::size_t i = 0; i < count; ++i) {
      rows.mean[i] = (x[i] - axis.origin) + h * axis.shift;
      rows.variance[i] = h * h * line_.second_moment;
    }
  } else if (normal_ && 2 * axis.half > kShortMoments) {
    table_.normal_moments(axis, x, count, rows);
  } else {
    const simd::QueryRule nodes = {line_.nodes, rule_.node.data(), rule_.weight.data(),
                                   line_.constant};
    table_.rule_moments[static_cast<std::size_t>(kernel_)](axis, nodes, x, count, rows);
  }
}

/// Whether, for some term, kernels of a node may lie partly in the box, or outside but within
/// reach.
bool ProductQuery::cuts(TermBox box, std::size_t node) const {
  for (std::size_t term = 0; term < terms(); ++term) {
    box.use(shift(term));
    const double end2 = simd::kNormalEnd * simd::kNormalEnd;
    if (overlap(box, node, end2) == Overlap::across) return true;
  }
  return false;
}

/// A lower bound on the mass in the box: for each term the mass of the leaf nearest to the box.
double ProductQuery::min_mass(TermBox box, QueryScratch& scratch) const {
  const std::vector<QueryNode>& nodes = box.tree().nodes;
  double mass = 0.0;
  for (std::size_t term = 0; term < terms(); ++term) {
    box.use(shift(term));
    std::size_t node = 0;
    while (nodes[node].second != 0) {
      const std::size_t first = node + 1, second = nodes[node].second;
      node = box.gap2(first) <= box.gap2(second) ? first : second;
    }
    mass += mixture_.weight[term] * across(box, node, -1, scratch).mass;
  }
  return mass;
}

BoxMoments ProductQuery::answer(const QueryTree& tree, std::size_t node, const QueryBox& limits,
                                std::ptrdiff_t of, QueryScratch& scratch) const {
  for (std::vector<double>* part : {&scratch.mass, &scratch.mean, &scratch.variance}) {
    part->resize(kQueryLeaf + simd::kQueryGroup);
  }
  TermBox box(tree, limits, of, scale());
  // Kernels are left out only if the box cuts some; else no row is looked at.
  const double floor = normal_ && cuts(box, node) ? min_mass(box, scratch) : 0.0;
  const std::size_t variable = static_cast<std::size_t>(of);
  const double spread =
      of < 0 ? 0.0 : (tree.high[variable] - tree.low[variable]) * box.axis(variable).inverse;
  BoxMoments total;
  for (std::size_t term = 0; term < terms(); ++term) {
    box.use(shift(term));
    const double weight = mixture_.weight[term];
    const double farthest2 =
        normal_ ? farthest_that_counts(tree.nodes[0].rows.mass, weight, terms(), spread, floor)
                : 0.0;
    const auto add = [&](BoxMoments part) {
      part.mass *= weight;
      part.square *= weight;
      total.merge(part);
    };
    tree.visit(
        node, [&](std::size_t at) { return overlap(box, at, farthest2); },
        [&](std::size_t at) { add(inside(box, at, of)); },
        [&](std::size_t at) { add(across(box, at, of, scratch)); });
  }
  return total;
}

}  // namespace

std::unique_ptr<QueryKernel> product_query(Kernel kernel, std::size_t d, Span<const double> root,
                                           const simd::Table* table) {
  return std::unique_ptr<QueryKernel>(new ProductQuery(kernel, d, root, table));
}

}  // namespace kestrel
