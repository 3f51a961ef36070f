// Queries of product kernels and of the normal one: products of one-dimensional integrals.
#include <algorithm>
#include <cmath>

#include "core/query/kernel.hpp"
#include "core/query/legendre_rule.hpp"
#include "core/query/normal_mixture.hpp"
#include "simd/query/query.hpp"

namespace kestrel {

namespace {

/// Beyond so many bandwidths the normal kernel has less than 2e-18 of its mass.
constexpr double kWholeNormal = 8.7;

/// Parts of a sum of normal masses are left out while they are below this share of it together.
const double kLogNegligible = 56 * std::log(2.0);

/// Intervals of at most so many bandwidths go to a rule: the differences of tails lose a factor of
/// about 1 / length of their precision for the mass, 1 / length^3 for the variance.
constexpr double kShortMass = 1.0 / 16, kShortMoments = 0.5;

/// Of a kernel on the line: the nodes of a rule that suffices for mass and variance, the constant
/// of the profile, and the second moment. A polynomial of degree p, times u^2, is exact with (p +
/// 3) / 2 nodes, rounded up; the cosine is good to 1e-17 with 13.
struct LineKernel {
  int nodes;
  double constant, second_moment;
};
LineKernel line_kernel(Kernel kernel) {
  if (!is_compact(kernel)) return {16, 1 / std::sqrt(2 * kPi), 1.0};
  const double half = radial_integral(kernel, 1.0, 0);
  const int nodes = is_polynomial(kernel) ? (kernel_degree(kernel) + 4) / 2 : 13;
  return {nodes, 0.5 / half, radial_integral(kernel, 1.0, 2) / half};
}

class ProductQuery : public QueryKernel {
 public:
  ProductQuery(Kernel kernel, std::size_t d, Span<const double> root, const simd::Table* table)
      : table_(*table->query),
        line_(line_kernel(kernel)),
        kernel_(kernel),
        normal_(!is_compact(kernel)),
        mixture_(d, root),
        rule_(line_.nodes),
        short_rule_(8) {}

  BoxMoments answer(const QueryTree& tree, std::size_t node, const QueryBox& box, std::ptrdiff_t of,
                    QueryScratch& scratch) const override;
  Span<const double> scale() const override { return {mixture_.h.data(), mixture_.h.size()}; }
  std::size_t rows_at_once() const override {
    const std::size_t rows = (std::size_t{1} << 20) / mixture_.weight.size();
    return std::min(std::max(rows, std::size_t{512}), std::size_t{1} << 16);
  }

 private:
  struct Call;

  const simd::QueryTable& table_;
  LineKernel line_;
  Kernel kernel_;
  bool normal_;
  NormalMixture mixture_;
  LegendreRule rule_, short_rule_;
};

/// One box and one part of the tree; the terms of the mixture one after another.
struct ProductQuery::Call {
  const ProductQuery& kernel;
  const QueryTree& tree;
  const QueryBox& box;
  std::ptrdiff_t of;
  QueryScratch& scratch;
  std::vector<simd::QueryAxis> axis;
  double farthest2 = 0.0;  // rows farther than this, squared, are left out

  Call(const ProductQuery& kernel_, const QueryTree& tree_, const QueryBox& box_,
       std::ptrdiff_t of_, QueryScratch& scratch_);

  double end() const { return kernel.normal_ ? kWholeNormal : 1.0; }
  bool is_of(std::size_t k) const { return static_cast<std::ptrdiff_t>(k) == of; }
  /// How far the centres of a node's kernels lie above the lower limit and below the upper one, at
  /// least, in bandwidths.
  double min_above(std::size_t node, std::size_t k) const {
    return -((axis[k].lower - tree.low[node * tree.d + k]) * axis[k].inverse - axis[k].shift);
  }
  double min_below(std::size_t node, std::size_t k) const {
    return (axis[k].upper - tree.high[node * tree.d + k]) * axis[k].inverse - axis[k].shift;
  }
  /// The same at most.
  double max_above(std::size_t node, std::size_t k) const {
    return -((axis[k].lower - tree.high[node * tree.d + k]) * axis[k].inverse - axis[k].shift);
  }
  double max_below(std::size_t node, std::size_t k) const {
    return (axis[k].upper - tree.low[node * tree.d + k]) * axis[k].inverse - axis[k].shift;
  }
  bool holds(std::size_t node, std::size_t k) const {
    return min_above(node, k) >= end() && min_below(node, k) >= end();
  }
  double gap2(std::size_t node) const;
  Overlap overlap(std::size_t node) const;

  void use_term(std::size_t term);
  void set_farthest(std::size_t term, double floor);
  double min_mass();
  bool cuts(std::size_t node);
  void multiply_mass(std::size_t leaf, std::size_t k);
  void take_moments(std::size_t leaf, std::size_t k);
  BoxMoments across(std::size_t leaf, std::ptrdiff_t with);
  BoxMoments inside(std::size_t node) const;
};

ProductQuery::Call::Call(const ProductQuery& kernel_, const QueryTree& tree_, const QueryBox& box_,
                         std::ptrdiff_t of_, QueryScratch& scratch_)
    : kernel(kernel_), tree(tree_), box(box_), of(of_), scratch(scratch_), axis(tree_.d) {
  for (std::size_t k = 0; k < tree.d; ++k) {
    const double h = kernel.mixture_.h[k], lower = box.lower[k], upper = box.upper[k];
    const double origin = is_of(k) ? box.origin : 0.0;
    // Half of each first: the difference of finite limits may be none.
    const double half = (upper / 2 - lower / 2) / h;
    axis[k] = {lower,
               upper,
               h,
               1 / h,
               0.0,
               half,
               origin,
               lower - origin,
               upper - origin,
               (lower - origin) / 2 + (upper - origin) / 2};
  }
  const std::size_t size = kQueryLeaf + simd::kQueryGroup;
  for (std::vector<double>* part : {&scratch.mass, &scratch.mean, &scratch.variance}) {
    part->resize(size);
  }
}

void ProductQuery::Call::use_term(std::size_t term) {
  for (std::size_t k = 0; k < tree.d; ++k) axis[k].shift = kernel.mixture_.shift[term * tree.d + k];
}

/// The squared distance of a node's kernels from the box, in bandwidths, at least.
double ProductQuery::Call::gap2(std::size_t node) const {
  double sum = 0.0;
  for (std::size_t k = 0; k < tree.d; ++k) {
    const double gap = std::max({0.0, -max_above(node, k), -max_below(node, k)});
    sum += gap * gap;
  }
  return sum;
}

Overlap ProductQuery::Call::overlap(std::size_t node) const {
  bool whole = true;
  for (std::size_t k = 0; k < tree.d; ++k) {
    whole = whole && holds(node, k);
    if (!kernel.normal_ && (max_above(node, k) <= -1 || max_below(node, k) <= -1)) {
      return Overlap::outside;
    }
  }
  if (whole) return Overlap::inside;
  return kernel.normal_ && gap2(node) > farthest2 ? Overlap::outside : Overlap::across;
}

/// Of a normal kernel whose centre lies g bandwidths from the box, the box holds at most
/// exp(-g^2 / 2) (as Q(g) <= exp(-g^2 / 2) / 2 on each axis). So what is left out of all terms has
/// less than 2^-56 of a mass `floor` that the box is known to hold; of the variance of variables,
/// in which a row counts by its distance squared, the same share of a squared bandwidth.
void ProductQuery::Call::set_farthest(std::size_t term, double floor) {
  double log_share = std::log(tree.nodes[0].rows.mass) + std::log(kernel.mixture_.weight[term]) -
                     std::log(floor) + kLogNegligible +
                     std::log(static_cast<double>(kernel.mixture_.weight.size()));
  if (of >= 0) {
    const std::size_t k = static_cast<std::size_t>(of);
    log_share += 2 * std::log1p((tree.high[k] - tree.low[k]) * axis[k].inverse);
  }
  const double end2 = simd::kNormalEnd * simd::kNormalEnd;
  farthest2 = log_share < end2 / 2 ? 2 * std::max(log_share, 0.0) : end2;
}

/// A mass that the box holds at least: that of the leaf nearest to it.
double ProductQuery::Call::min_mass() {
  std::size_t node = 0;
  while (tree.nodes[node].second != 0) {
    const std::size_t first = node + 1, second = tree.nodes[node].second;
    node = gap2(first) <= gap2(second) ? first : second;
  }
  return across(node, -1).mass;
}

/// Whether kernels of a node may lie neither wholly in the box nor beyond its reach.
bool ProductQuery::Call::cuts(std::size_t node) {
  farthest2 = simd::kNormalEnd * simd::kNormalEnd;
  for (std::size_t term = 0; term < kernel.mixture_.weight.size(); ++term) {
    use_term(term);
    if (overlap(node) == Overlap::across) return true;
  }
  return false;
}

/// Multiplies the masses of a leaf's rows by those on axis k.
void ProductQuery::Call::multiply_mass(std::size_t leaf, std::size_t k) {
  const std::size_t begin = tree.nodes[leaf].begin, count = tree.nodes[leaf].end - begin;
  const double* x = tree.coordinate.data() + k * tree.stride + begin;
  double* mass = scratch.mass.data();
  const simd::QueryTable& table = kernel.table_;
  if (kernel.normal_ && 2 * axis[k].half > kShortMass) {
    // A far limit counts for nothing where the interval is as long as the tails are.
    const bool long_one = 2 * axis[k].half >= kWholeNormal;
    if (long_one && min_below(leaf, k) >= kWholeNormal) {
      return table.normal_above(axis[k], x, count, mass);
    }
    if (long_one && min_above(leaf, k) >= kWholeNormal) {
      return table.normal_below(axis[k], x, count, mass);
    }
    return table.normal_between(axis[k], x, count, mass);
  }
  const LegendreRule& rule = kernel.normal_ ? kernel.short_rule_ : kernel.rule_;
  const simd::QueryRule nodes = {static_cast<int>(rule.node.size()), rule.node.data(),
                                 rule.weight.data(), kernel.line_.constant};
  table.rule_mass[static_cast<std::size_t>(kernel.kernel_)](axis[k], nodes, x, count, mass);
}

/// The same, and means and variances on axis k.
void ProductQuery::Call::take_moments(std::size_t leaf, std::size_t k) {
  const std::size_t begin = tree.nodes[leaf].begin, count = tree.nodes[leaf].end - begin;
  const double* x = tree.coordinate.data() + k * tree.stride + begin;
  const simd::QueryMoments rows = {scratch.mass.data(), scratch.mean.data(),
                                   scratch.variance.data()};
  const double h = axis[k].width;
  if (holds(leaf, k)) {
    for (std::size_t i = 0; i < count; ++i) {
      rows.mean[i] = (x[i] - axis[k].origin) + h * axis[k].shift;
      rows.variance[i] = h * h * kernel.line_.second_moment;
    }
  } else if (kernel.normal_ && 2 * axis[k].half > kShortMoments) {
    kernel.table_.normal_moments(axis[k], x, count, rows);
  } else {
    const simd::QueryRule nodes = {kernel.line_.nodes, kernel.rule_.node.data(),
                                   kernel.rule_.weight.data(), kernel.line_.constant};
    kernel.table_.rule_moments[static_cast<std::size_t>(kernel.kernel_)](axis[k], nodes, x, count,
                                                                         rows);
  }
}

/// A leaf row by row; `with` is the variable whose moments are taken, or -1.
BoxMoments ProductQuery::Call::across(std::size_t leaf, std::ptrdiff_t with) {
  const std::size_t begin = tree.nodes[leaf].begin, count = tree.nodes[leaf].end - begin;
  double* mass = scratch.mass.data();
  std::copy_n(tree.weight.data() + begin, count, mass);
  // Rows behind the last one have no mass, and moments that are numbers.
  const std::size_t padded =
      (count + simd::kQueryGroup - 1) / simd::kQueryGroup * simd::kQueryGroup;
  for (std::size_t i = count; i < padded; ++i) {
    mass[i] = scratch.mean[i] = scratch.variance[i] = 0.0;
  }
  for (std::size_t k = 0; k < tree.d; ++k) {
    if (static_cast<std::ptrdiff_t>(k) != with && !holds(leaf, k)) multiply_mass(leaf, k);
  }
  BoxMoments result;
  if (with < 0) {
    result.mass = kernel.table_.sum(mass, count);
    return result;
  }
  take_moments(leaf, static_cast<std::size_t>(with));
  double total[3];
  kernel.table_.merge({mass, scratch.mean.data(), scratch.variance.data()}, count, total);
  return {total[0], total[1], total[2]};
}

/// A node whose kernels the box holds whole.
BoxMoments ProductQuery::Call::inside(std::size_t node) const {
  BoxMoments result = tree.nodes[node].rows;
  if (of < 0) return {result.mass, 0.0, 0.0};
  const simd::QueryAxis& along = axis[static_cast<std::size_t>(of)];
  result.mean += (tree.centre - along.origin) + along.width * along.shift;
  result.square += result.mass * along.width * along.width * kernel.line_.second_moment;
  return result;
}

BoxMoments ProductQuery::answer(const QueryTree& tree, std::size_t node, const QueryBox& box,
                                std::ptrdiff_t of, QueryScratch& scratch) const {
  Call call(*this, tree, box, of, scratch);
  double floor = 0.0;
  // Only where the box cuts kernels are some left out: elsewhere no row is looked at.
  if (normal_ && call.cuts(node)) {
    for (std::size_t term = 0; term < mixture_.weight.size(); ++term) {
      call.use_term(term);
      floor += mixture_.weight[term] * call.min_mass();
    }
  }
  BoxMoments total;
  for (std::size_t term = 0; term < mixture_.weight.size(); ++term) {
    call.use_term(term);
    if (normal_) call.set_farthest(term, floor);
    const auto add = [&](BoxMoments part) {
      part.mass *= mixture_.weight[term];
      part.square *= mixture_.weight[term];
      total.merge(part);
    };
    tree.visit(
        node, [&](std::size_t at) { return call.overlap(at); },
        [&](std::size_t at) { add(call.inside(at)); },
        [&](std::size_t at) { add(call.across(at, of)); });
  }
  return total;
}

}  // namespace

std::unique_ptr<QueryKernel> product_query(Kernel kernel, std::size_t d, Span<const double> root,
                                           const simd::Table* table) {
  return std::unique_ptr<QueryKernel>(new ProductQuery(kernel, d, root, table));
}

}  // namespace kestrel
