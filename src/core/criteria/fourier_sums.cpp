#include "core/criteria/fourier_sums.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/fourier/pack.hpp"
#include "core/fourier/ranges.hpp"

namespace kestrel {

namespace {

/// How much farther than needed the range of a new grid goes, so that it may serve the next steps
/// of a search, too.
constexpr double kMargin = 1.25;
/// Slack on the range of bandwidths that a grid was made for, for rounding.
constexpr double kSlack = 1e-9;
/// Cells, of which each takes some 25 ns, from which on clusters are looked for.
constexpr double kManyCells = 1 << 20;

Form3 times(const Form3& h, double factor) {
  Form3 out = h;
  for (double& value : out) value *= factor;
  return out;
}

Form3 plus(const Form3& a, const Form3& b) {
  Form3 out = a;
  for (std::size_t e = 0; e < 9; ++e) out[e] += b[e];
  return out;
}

/// A homogeneous polynomial on three axes.
using Polynomial3 = std::map<Exponents, double>;

/// A point on three axes.
using LongPoint3 = std::array<long double, 3>;

/// Multiplies p by sum_a factor[a] t_a.
Polynomial3 times_linear(const Polynomial3& p, const LongPoint3& factor) {
  Polynomial3 product;
  for (const auto& term : p) {
    for (std::size_t a = 0; a < 3; ++a) {
      if (factor[a] == 0) continue;
      Exponents e = term.first;
      ++e[a];
      product[e] += term.second * static_cast<double>(factor[a]);
    }
  }
  return product;
}

/// The coordinates y = A x of a query, and the whitened ones of the grid: y = B z, B = A L. In long
/// doubles, since strongly correlated variables cost digits.
class QueryAxes {
 public:
  /// packed_root: L, empty for that of the geometry; axes: A, empty for the identity. Throws
  /// error(input) if A is singular.
  QueryAxes(const FourierGeometry& geometry, const std::vector<double>& packed_root,
            Span<const double> axes);

  /// |det B|.
  double determinant() const { return determinant_; }
  /// B^-1 H B^-T, H in y.
  Form3 whitened(Span<const double> H) const;
  /// Moments of t^alpha in y from those of t_z^alpha, all of one degree.
  std::vector<double> moments(const std::vector<double>& of_z, int degree) const;
  /// D in y from the moments of degree 2 in z.
  std::vector<double> gradient(const std::vector<double>& second) const;

 private:
  using Matrix = std::array<LongPoint3, 3>;
  Matrix product(const double* root, Span<const double> axes) const;
  void invert(Matrix b);

  const FourierGeometry& geometry_;
  const std::size_t d_;
  /// Row k of B^-T: it expresses the frequency of variable k by those of the whitened axes, t =
  /// B^-T t_z.
  std::array<LongPoint3, 3> map_{};
  double determinant_ = 1;
};

QueryAxes::QueryAxes(const FourierGeometry& geometry, const std::vector<double>& packed_root,
                     Span<const double> axes)
    : geometry_(geometry), d_(geometry.d) {
  if (axes.size != 0 && axes.size != d_ * d_) {
    throw error(ErrorKind::internal, "axes of a wrong size");
  }
  invert(product(packed_root.empty() ? geometry.root.data() : packed_root.data(), axes));
}

/// B, its rows.
QueryAxes::Matrix QueryAxes::product(const double* root, Span<const double> axes) const {
  Matrix b{};
  for (std::size_t k = 0; k < d_; ++k) {
    for (std::size_t l = 0; l < d_; ++l) {
      for (std::size_t m = l; m < d_; ++m) {
        const long double a = axes.size > 0 ? axes[m * d_ + k] : k == m ? 1.0 : 0.0;
        b[k][l] += a * root[l * d_ + m];
      }
    }
  }
  return b;
}

/// Gauss and Jordan, with the largest pivot of a column. Sets map_ and determinant_.
void QueryAxes::invert(Matrix b) {
  Matrix inverse{};
  for (std::size_t k = 0; k < d_; ++k) inverse[k][k] = 1;
  long double determinant = 1;
  for (std::size_t column = 0; column < d_; ++column) {
    std::size_t pivot = column;
    for (std::size_t k = column + 1; k < d_; ++k) {
      if (std::fabs(b[k][column]) > std::fabs(b[pivot][column])) pivot = k;
    }
    std::swap(b[column], b[pivot]);
    std::swap(inverse[column], inverse[pivot]);
    const long double divisor = b[column][column];
    determinant *= std::fabs(divisor);
    for (std::size_t l = 0; l < d_; ++l) {
      b[column][l] /= divisor;
      inverse[column][l] /= divisor;
    }
    for (std::size_t k = 0; k < d_; ++k) {
      const long double factor = b[k][column];
      for (std::size_t l = 0; l < d_ && k != column; ++l) {
        b[k][l] -= factor * b[column][l];
        inverse[k][l] -= factor * inverse[column][l];
      }
    }
  }
  determinant_ = static_cast<double>(determinant);
  if (!(determinant_ > 0) || !std::isfinite(determinant_)) {
    throw error(ErrorKind::input, "the axes must be independent, within the range of numbers");
  }
  for (std::size_t k = 0; k < d_; ++k) {
    for (std::size_t l = 0; l < d_; ++l) map_[k][geometry_.axis(l)] = inverse[l][k];
  }
}

Form3 QueryAxes::whitened(Span<const double> H) const {
  if (H.size != d_ * d_) throw error(ErrorKind::internal, "bandwidth matrix of a wrong size");
  Form3 out{};
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      long double sum = 0;
      for (std::size_t k = 0; k < d_; ++k) {
        for (std::size_t l = 0; l < d_; ++l) {
          sum += map_[k][a] * 0.5L * (H[l * d_ + k] + H[k * d_ + l]) * map_[l][b];
        }
      }
      out[3 * a + b] = static_cast<double>(sum);
    }
  }
  for (const double value : out) {
    if (!std::isfinite(value)) throw error(ErrorKind::input, "a bandwidth matrix must be finite");
  }
  return out;
}

std::vector<double> QueryAxes::moments(const std::vector<double>& of_z, int degree) const {
  const std::vector<Exponents> monomials = monomials_of_degree(d_, degree);
  Polynomial3 value;  // the integral of each monomial
  for (std::size_t m = 0; m < monomials.size(); ++m) value[monomials[m]] = of_z[m];
  std::vector<double> out;
  for (const Exponents& e : monomials) {
    Polynomial3 expanded{{Exponents{0, 0, 0}, 1 / determinant_}};
    for (std::size_t k = 0; k < d_; ++k) {
      for (int power = 0; power < e[geometry_.axis(k)]; ++power) {
        expanded = times_linear(expanded, map_[k]);
      }
    }
    double sum = 0.0;
    for (const auto& term : expanded) sum += term.second * value[term.first];
    out.push_back(sum);
  }
  return out;
}

std::vector<double> QueryAxes::gradient(const std::vector<double>& second) const {
  const std::vector<double> in_y = moments(second, 2);
  std::vector<double> out(d_ * d_);
  std::size_t m = 0;
  for (std::size_t k = 0; k < d_; ++k) {
    for (std::size_t l = k; l < d_; ++l, ++m) out[l * d_ + k] = out[k * d_ + l] = in_y[m];
  }
  return out;
}

/// The entries of a form in the order of the moments of degree 2.
std::vector<double> to_moments(const Form3& h, std::size_t d) {
  std::vector<double> out;
  for (std::size_t a = 3 - d; a < 3; ++a) {
    for (std::size_t b = a; b < 3; ++b) out.push_back(h[3 * a + b]);
  }
  return out;
}

/// A sum without the pairs i = j, from its moments of degree 0 and, for the gradient, 2: d/dh_ab of
/// E_(factor h) is -factor / 2 t_a t_b E.
SumWithGradient without_diagonal(const FourierModes& modes, const double* moments, bool gradient,
                                 const Form3& h, double factor, const QueryAxes& axes) {
  const std::size_t d = modes.geometry().d;
  const double diagonal = modes.squared_share() * peak_of_form(times(h, factor), d);
  SumWithGradient out;
  out.value = (moments[0] - diagonal) / axes.determinant();
  if (!gradient) return out;
  std::vector<double> second = to_moments(inverse_form(h, d), d);
  for (std::size_t m = 0; m < second.size(); ++m) {
    second[m] = 0.5 * (diagonal * second[m] - factor * moments[1 + m]);
  }
  out.gradient = axes.gradient(second);
  return out;
}

}  // namespace

FourierSums::FourierSums(const MatrixView& x, Weights w, const FourierDemand& demand,
                         const RunOptions& options)
    : x_(x), w_(w), demand_(demand) {
  spread(demand.min, demand.max, options);
}

FourierSums::FourierSums(const ModeSource& source) : w_(Weights::ones(0)), source_(&source) {
  demand_.min = demand_.max = source.axes().min;
}

bool FourierSums::expect(const FourierDemand& demand) {
  if (source_ == nullptr) return false;
  const std::size_t d = source_->axes().d;
  if (demand.root.empty()) return true;
  std::vector<double> widest(d * d, 0.0);
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t l = 0; l < d; ++l) {
      for (std::size_t m = 0; m <= std::min(k, l); ++m) {
        widest[l * d + k] +=
            demand.root[m * d + k] * demand.root[m * d + l] * demand.max * demand.max;
      }
    }
  }
  const Form3 h = QueryAxes(source_->axes(), {}, {}).whitened({widest.data(), d * d});
  demand_.max = std::max(demand_.max, std::sqrt(eigenvalue_range(h, d)[1]));
  return true;
}

void FourierSums::spread(double min, double max, const RunOptions& options) {
  if (source_ != nullptr) {
    modes_.reset();
    modes_ = source_->modes(max, {}, options);
    demand_.max = max;
    ++spreads_;
    return;
  }
  FourierDemand demand = demand_;
  demand.min = min;
  demand.max = max;
  modes_.reset();  // frees its memory before the next one takes its own
  packed_root_.clear();
  FourierGeometry geometry;
  std::exception_ptr refused;
  try {
    geometry = fourier_geometry(x_, w_, demand, options);
  } catch (const error& problem) {
    if (problem.kind != ErrorKind::memory) throw;
    refused = std::current_exception();
  }
  const double cells = refused ? kInfinity : static_cast<double>(geometry.box.size());
  if (!spread_packed(demand, cells, options)) {
    if (refused) std::rethrow_exception(refused);
    set_modes(x_, w_, geometry, demand, options);
  }
  demand_ = demand;
  ++spreads_;
}

bool FourierSums::spread_packed(const FourierDemand& demand, double cells,
                                const RunOptions& options) {
  if (cells < kManyCells || demand.root.empty()) return false;
  const double tolerance =
      demand.tolerance > 0 ? demand.tolerance : default_fourier_tolerance(x_.cols);
  const PackedSamples packed = pack_clusters(x_, w_, demand.root, demand.max, tolerance, options);
  if (packed.w.empty()) return false;
  FourierDemand of_packed = demand;
  for (std::size_t k = 0; k < x_.cols; ++k) {
    for (std::size_t l = 0; l < x_.cols; ++l) of_packed.root[l * x_.cols + k] = k == l ? 1 : 0;
  }
  of_packed.boxed = true;
  of_packed.low = packed.low;
  of_packed.high = packed.high;
  of_packed.density_tolerance = 0;  // whose points are where the samples were
  of_packed.phases = false;
  FourierGeometry geometry;
  try {
    geometry = fourier_geometry(packed.view(), packed.weights(), of_packed, options);
  } catch (const error& problem) {
    if (problem.kind != ErrorKind::memory) throw;
    return false;
  }
  if (!(static_cast<double>(geometry.box.size()) < 0.5 * cells)) return false;
  set_modes(packed.view(), packed.weights(), geometry, of_packed, options);
  packed_root_ = demand.root;
  return true;
}

void FourierSums::set_modes(const MatrixView& x, Weights w, const FourierGeometry& geometry,
                            const FourierDemand& demand, const RunOptions& options) {
  FourierGrid grid(geometry, options);
  grid.add(x, w, options);
  modes_ =
      std::make_unique<FourierModes>(std::move(grid), demand.bytes - geometry.bytes(), options);
}

void FourierSums::make_ready(const RunOptions& options) {
  if (!modes_) spread(demand_.min, demand_.max, options);
}

void FourierSums::prepare(double min, double max, const RunOptions& options) {
  if (modes_) {
    const FourierGeometry& g = modes_->geometry();
    const bool fine = source_ != nullptr || min >= g.min * (1 - kSlack);
    if (fine && max <= g.max * (1 + kSlack)) return;
  }
  spread(min, max, options);
}

std::array<double, 2> FourierSums::relative_bandwidths(Span<const double> S,
                                                       Span<const double> axes,
                                                       const RunOptions& options) {
  make_ready(options);
  const FourierGeometry& geometry = modes_->geometry();
  const std::array<double, 2> squares =
      eigenvalue_range(QueryAxes(geometry, packed_root_, axes).whitened(S), geometry.d);
  return {std::sqrt(squares[0]), std::sqrt(squares[1])};
}

void FourierSums::cover(const Form3& narrow, const Form3& wide, int degree,
                        const RunOptions& options) {
  const FourierGeometry& g = modes_->geometry();
  // A sum of higher degree needs a wider range of the Gaussian, at both ends.
  const double narrowest = source_ != nullptr ? least_deviation(narrow, g.d)
                                              : std::sqrt(eigenvalue_range(narrow, g.d)[0]);
  const double min = narrowest * g.cut / modes_->cut(degree);
  const double max = std::sqrt(eigenvalue_range(wide, g.d)[1] / (degree <= 2 ? 2 : 1));
  if (!(min > 0) || !std::isfinite(max)) {
    throw error(ErrorKind::input, "a bandwidth matrix must be positive definite");
  }
  if (source_ != nullptr) check_served(*source_, min);
  if ((source_ != nullptr || min >= g.min * (1 - kSlack)) && max <= g.max * (1 + kSlack)) return;
  const double wanted_min = min < g.min ? min / kMargin : g.min;
  const double wanted_max = max > g.max ? max * kMargin : g.max;
  try {
    spread(wanted_min, wanted_max, options);
  } catch (const error& problem) {
    if (problem.kind != ErrorKind::memory && problem.kind != ErrorKind::unfit) throw;
    spread(min, max, options);  // for this sum alone
  }
}

SumWithGradient FourierSums::gaussian(Span<const double> M, bool gradient,
                                      const RunOptions& options, Span<const double> axes) {
  make_ready(options);
  const Form3 h = QueryAxes(modes_->geometry(), packed_root_, axes).whitened(M);
  cover(h, h, 0, options);
  const std::vector<double> moments =
      modes_->moments(h, gradient ? std::vector<int>{0, 2} : std::vector<int>{0}, options);
  return without_diagonal(*modes_, moments.data(), gradient, h, 1,
                          QueryAxes(modes_->geometry(), packed_root_, axes));
}

PairSums::Both FourierSums::both(Span<const double> H, bool gradient, const RunOptions& options,
                                 Span<const double> axes) {
  make_ready(options);
  const Form3 h = QueryAxes(modes_->geometry(), packed_root_, axes).whitened(H);
  cover(h, times(h, 2), 0, options);
  const QueryAxes at(modes_->geometry(), packed_root_, axes);
  const std::vector<double> sums = modes_->moments_of_both(h, gradient, options);
  return {without_diagonal(*modes_, sums.data() + sums.size() / 2, gradient, h, 2, at),
          without_diagonal(*modes_, sums.data(), gradient, h, 1, at)};
}

SumWithGradient FourierSums::smoothed(Span<const double> H, Span<const double> G, bool gradient,
                                      const RunOptions& options, Span<const double> axes) {
  make_ready(options);
  const QueryAxes before(modes_->geometry(), packed_root_, axes);
  const Form3 h = before.whitened(H), pilot = times(before.whitened(G), 2);
  cover(pilot, plus(times(h, 2), pilot), 0, options);
  const QueryAxes at(modes_->geometry(), packed_root_, axes);
  const std::vector<double> sums = modes_->smoothed_moments(h, pilot, gradient, options);
  SumWithGradient out;
  out.value = sums[0] / at.determinant();
  if (gradient) out.gradient = at.gradient({sums.begin() + 1, sums.end()});
  return out;
}

std::vector<double> FourierSums::psi(Span<const double> G, int order, const RunOptions& options,
                                     Span<const double> axes) {
  if (order < 0 || order > kHighestDegree || order % 2 != 0) {
    throw error(ErrorKind::input, "the order must be even, 0 to 10, not " + std::to_string(order));
  }
  make_ready(options);
  const Form3 g = QueryAxes(modes_->geometry(), packed_root_, axes).whitened(G);
  cover(g, g, order, options);
  const QueryAxes at(modes_->geometry(), packed_root_, axes);
  std::vector<double> psi = at.moments(modes_->moments(g, {order}, options), order);
  if (order % 4 != 0) {
    for (double& value : psi) value = -value;
  }
  return psi;
}

}  // namespace kestrel
