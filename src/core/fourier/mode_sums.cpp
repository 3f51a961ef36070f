#include "core/fourier/mode_sums.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "core/base/aligned_buffer.hpp"
#include "core/base/raw_array.hpp"
#include "core/fourier/costs.hpp"
#include "core/kernel/derivative.hpp"
#include "core/kernel/kernel.hpp"
#include "simd/product/product.hpp"

namespace kestrel {

namespace {

/// Columns of a block, which a leaf reads at once; complex numbers of it.
constexpr std::size_t kBlockColumns = simd::kProductColumns, kBlockModes = kBlockColumns / 2;

/// to: a block of rows S_0, T_0, S_1, T_1, ... With S_m = F_m + F_-m and T_m = i (F_m - F_-m) the
/// sum of F_m W_m over m and -m is Re(W_m) S_m + Im(W_m) T_m. For m = 0 both of `above` and `below`
/// are F_0.
void fold(const double* above, const double* below, bool zero, double* to) {
  double* other = to + kBlockColumns;
  if (zero) {
    std::copy_n(above, kBlockColumns, to);
    std::fill_n(other, kBlockColumns, 0.0);
    return;
  }
  for (std::size_t c = 0; c < kBlockColumns; c += 2) {
    const double real = above[c] - below[c], imaginary = above[c + 1] - below[c + 1];
    to[c] = above[c] + below[c];
    to[c + 1] = above[c + 1] + below[c + 1];
    other[c] = -imaginary;
    other[c + 1] = real;
  }
}

/// The memory of the sums in between for one point of the first axis; second: points of the second
/// of three axes.
double point_bytes(const Point3& max, std::size_t d, double second, int order) {
  const double length = kBlockColumns * std::ceil((max[2] + 1) / kBlockModes), n = order + 1;
  return 8 * length * (d == 2 ? n : n * (2 * max[1] + 1) + n * (n + 1) / 2 * second);
}

/// Pairs of functions of the first two variables, and the memory of sums in between.
class ModeSums {
 public:
  ModeSums(const TransformBox& box, std::size_t d, const ModeFactors& factors, double limit,
           const double* modes, const std::array<AxisWaves, 3>& waves, int order,
           const simd::ProductTable& table, Span<double> out)
      : box_(box),
        d_(d),
        first_(3 - d),
        factors_(factors),
        limit_(limit),
        modes_(modes),
        waves_(waves),
        order_(static_cast<std::size_t>(order)),
        monomials_(d, order),
        table_(table),
        out_(out),
        length_(round_up(2 * (box.max[2] + 1), kBlockColumns)),
        blocks_(length_ / kBlockColumns),
        rows_(d == 3 ? 2 * box.max[1] + 1 : 1),
        reached_(rows_ * blocks_) {}

  void run(double bytes, const ParallelOptions& options);

 private:
  struct Scratch {
    AlignedBuffer block, above, below, factor, values;
  };
  struct BlockRange {
    std::size_t first, count;
  };

  std::size_t points(std::size_t variable) const { return waves_[variable].points(); }
  /// Sums over the first axis for `count` points: [function][point][row][column].
  void sum_first(std::size_t begin, std::size_t count, const ParallelOptions& options);
  /// Sums over the second of three axes: [pair of functions][point][second point][column].
  void sum_second(std::size_t count, const ParallelOptions& options);
  /// Sums over the last axis, to out.
  void sum_last(std::size_t begin, std::size_t count, const ParallelOptions& options);
  /// F of the modes of some blocks in a row; zeros beyond the last. Returns false if all are left
  /// out.
  bool load(std::ptrdiff_t k0, std::ptrdiff_t k1, const BlockRange& blocks, Scratch* scratch,
            double* to) const;
  std::vector<Scratch> scratches(std::size_t items, const ParallelOptions& options) const;
  std::size_t pair(std::size_t first, std::size_t second) const {
    // Those before: (0, 0), ..., (0, order), (1, 0), ..., (1, order - 1), ...
    return first * (order_ + 1) - first * (first - 1) / 2 + second;
  }
  std::size_t pairs() const { return (order_ + 1) * (order_ + 2) / 2; }

  const TransformBox& box_;
  const std::size_t d_, first_;
  const ModeFactors& factors_;
  const double limit_;
  const double* modes_;
  const std::array<AxisWaves, 3>& waves_;
  const std::size_t order_;
  const Monomials monomials_;
  const simd::ProductTable& table_;
  const Span<double> out_;
  const std::size_t length_, blocks_, rows_;
  std::vector<char> reached_;  // by row and block: whether any mode is not left out
  RawVector<double> of_first_, of_second_;
};

std::vector<ModeSums::Scratch> ModeSums::scratches(std::size_t items,
                                                   const ParallelOptions& options) const {
  std::vector<Scratch> all(parallel_workers(items, options));
  std::size_t terms = 0, most = 0;
  for (std::size_t k = 0; k < d_; ++k) terms = std::max(terms, waves_[k].terms());
  most = points(d_ - 1);
  for (Scratch& scratch : all) {
    scratch.block.resize(terms * (d_ == 3 ? length_ : kBlockColumns));
    scratch.above.resize(length_);
    scratch.below.resize(length_);
    scratch.factor.resize(box_.max[2] + 1 + kRowPadding);
    scratch.values.resize(most * kBlockColumns);
  }
  return all;
}

bool ModeSums::load(std::ptrdiff_t k0, std::ptrdiff_t k1, const BlockRange& blocks,
                    Scratch* scratch, double* to) const {
  const std::size_t from = blocks.first * kBlockModes,
                    end = std::min(box_.max[2] + 1, (blocks.first + blocks.count) * kBlockModes);
  std::fill_n(to, blocks.count * kBlockColumns, 0.0);
  if (factors_.least_form(k0, k1, from, end - from) > limit_) return false;
  double* factor = scratch->factor.data();
  factors_.fill(k0, k1, from, end - from, factor);
  const double* mode =
      modes_ + box_.row(box_.cell_of_mode(0, k0), box_.cell_of_mode(1, k1)) + 2 * from;
  for (std::size_t k = 0; k < end - from; ++k) {
    to[2 * k] = mode[2 * k] * factor[k];
    to[2 * k + 1] = mode[2 * k + 1] * factor[k];
  }
  return true;
}

void ModeSums::sum_first(std::size_t begin, std::size_t count, const ParallelOptions& options) {
  const AxisWaves& waves = waves_[0];
  // With two axes there is one row, whose blocks are items.
  const std::size_t together = d_ == 3 ? blocks_ : 1, items = rows_ * blocks_ / together;
  std::vector<Scratch> all = scratches(items, options);
  parallel_for(items, options, [&](std::size_t item, int worker) {
    Scratch& scratch = all[static_cast<std::size_t>(worker)];
    const std::size_t row = d_ == 3 ? item : 0;
    const BlockRange blocks{d_ == 3 ? 0 : item, together};
    const std::ptrdiff_t of_row =
        static_cast<std::ptrdiff_t>(row) - static_cast<std::ptrdiff_t>(rows_ / 2);
    double *above = scratch.above.data(), *below = scratch.below.data();
    char* reached = reached_.data() + row * blocks_ + blocks.first;
    std::vector<std::size_t> kept(together);  // terms up to the last mode that is not left out
    for (std::size_t m = 0; m <= box_.max[first_]; ++m) {
      const std::ptrdiff_t k = static_cast<std::ptrdiff_t>(m);
      const auto loaded = [&](std::ptrdiff_t of_first, double* to) {
        return d_ == 3 ? load(of_first, of_row, blocks, &scratch, to)
                       : load(0, of_first, blocks, &scratch, to);
      };
      bool any = loaded(k, above);
      if (m > 0 && loaded(-k, below)) any = true;
      for (std::size_t b = 0; b < together; ++b) {
        fold(above + b * kBlockColumns, below + b * kBlockColumns, m == 0,
             scratch.block.data() + (b * waves.terms() + 2 * m) * kBlockColumns);
        if (any) kept[b] = 2 * (m + 1);
      }
    }
    for (std::size_t b = 0; b < together; ++b) {
      reached[b] = kept[b] > 0;
      for (std::size_t function = 0; function <= order_; ++function) {
        double* to = of_first_.data() + (function * count * rows_ + row) * length_ +
                     (blocks.first + b) * kBlockColumns;
        table_.multiply(waves.row(function, begin), count, waves.terms(), kept[b],
                        scratch.block.data() + b * waves.terms() * kBlockColumns, to,
                        rows_ * length_);
      }
    }
  });
}

void ModeSums::sum_second(std::size_t count, const ParallelOptions& options) {
  const AxisWaves& waves = waves_[1];
  const std::size_t items = (order_ + 1) * count, middle = rows_ / 2;
  std::vector<Scratch> all = scratches(items, options);
  parallel_for(items, options, [&](std::size_t item, int worker) {
    const std::size_t function = item / count, point = item % count;
    const double* from = of_first_.data() + item * rows_ * length_;
    double* packed = all[static_cast<std::size_t>(worker)].block.data();
    for (std::size_t block = 0; block < blocks_; ++block) {
      std::size_t kept = 0;
      for (std::size_t m = 0; m <= middle; ++m) {
        const std::size_t above = middle + m, below = middle - m;
        fold(from + above * length_ + block * kBlockColumns,
             from + below * length_ + block * kBlockColumns, m == 0,
             packed + 2 * m * kBlockColumns);
        if (reached_[above * blocks_ + block] || reached_[below * blocks_ + block]) {
          kept = 2 * (m + 1);
        }
      }
      for (std::size_t second = 0; function + second <= order_; ++second) {
        double* to = of_second_.data() +
                     (pair(function, second) * count + point) * points(1) * length_ +
                     block * kBlockColumns;
        table_.multiply(waves.row(second, 0), points(1), waves.terms(), kept, packed, to, length_);
      }
    }
  });
}

void ModeSums::sum_last(std::size_t begin, std::size_t count, const ParallelOptions& options) {
  const AxisWaves& waves = waves_[d_ - 1];
  const std::size_t functions = d_ == 3 ? pairs() : order_ + 1, m0 = points(0);
  const std::size_t m1 = d_ == 3 ? points(1) : 1, m2 = waves.points(), m = m0 * m1 * m2;
  const std::size_t groups = (count + kBlockColumns - 1) / kBlockColumns;
  const std::size_t items = functions * m1 * groups;
  std::vector<std::vector<int>> exponent(functions);
  for (std::size_t a = 0; a <= order_; ++a) {
    const std::size_t rest = order_ - a;
    if (d_ == 2) exponent[a] = {static_cast<int>(a), static_cast<int>(rest)};
    for (std::size_t b = 0; d_ == 3 && b <= rest; ++b) {
      exponent[pair(a, b)] = {static_cast<int>(a), static_cast<int>(b), static_cast<int>(rest - b)};
    }
  }
  const double* sums = d_ == 3 ? of_second_.data() : of_first_.data();
  std::vector<Scratch> all = scratches(items, options);
  parallel_for(items, options, [&](std::size_t item, int worker) {
    const std::size_t function = item / (m1 * groups), second = item / groups % m1;
    const std::size_t group = item % groups, from = group * kBlockColumns;
    const std::size_t points = std::min(kBlockColumns, count - from);
    double* packed = all[static_cast<std::size_t>(worker)].block.data();
    double* values = all[static_cast<std::size_t>(worker)].values.data();
    // Modes below zero are the conjugates of those above.
    std::fill_n(packed, waves.terms() * kBlockColumns, 0.0);
    for (std::size_t p = 0; p < points; ++p) {
      const double* row = sums + ((function * count + from + p) * m1 + second) * length_;
      for (std::size_t k = 0; k < waves.terms(); k += 2) {
        packed[k * kBlockColumns + p] = (k > 0 ? 2 : 1) * row[k];
        packed[(k + 1) * kBlockColumns + p] = k > 0 ? -2 * row[k + 1] : 0.0;
      }
    }
    const std::vector<int>& of = exponent[function];
    table_.multiply(waves.row(static_cast<std::size_t>(of.back()), 0), m2, waves.terms(),
                    waves.terms(), packed, values, kBlockColumns);
    const std::size_t number = monomials_.number(of) - monomials_.first(static_cast<int>(order_));
    double* to = out_.data + number * m + begin + from + m0 * second;
    for (std::size_t i = 0; i < m2; ++i) {
      std::copy_n(values + i * kBlockColumns, points, to + m0 * m1 * i);
    }
  });
}

void ModeSums::run(double bytes, const ParallelOptions& options) {
  const std::size_t all = points(0);
  const Point3 max{static_cast<double>(box_.max[0]), static_cast<double>(box_.max[1]),
                   static_cast<double>(box_.max[2])};
  const double of_group =
      kBlockColumns *
      point_bytes(max, d_, static_cast<double>(d_ == 3 ? points(1) : 1), static_cast<int>(order_));
  const double groups = std::max(1.0, std::floor(bytes / of_group));
  const std::size_t together = groups * kBlockColumns < static_cast<double>(all)
                                   ? static_cast<std::size_t>(groups) * kBlockColumns
                                   : all;
  of_first_.resize((order_ + 1) * together * rows_ * length_);
  if (d_ == 3) of_second_.resize(pairs() * together * points(1) * length_);
  for (std::size_t begin = 0; begin < all; begin += together) {
    const std::size_t count = std::min(together, all - begin);
    const double done = static_cast<double>(begin) / static_cast<double>(all),
                 share = static_cast<double>(count) / static_cast<double>(all);
    const auto part = [&](double from, double to) {
      return part_of(options, done + from * share, done + to * share);
    };
    sum_first(begin, count, part(0.0, 0.5));
    if (d_ == 3) sum_second(count, part(0.5, 0.8));
    sum_last(begin, count, part(d_ == 3 ? 0.8 : 0.5, 1.0));
  }
}

/// Waves that are products of others, instead of a cosine and a sine each.
constexpr std::size_t kWavesAtOnce = 16;

/// Without the care for infinite numbers that the operator takes.
std::complex<double> product(const std::complex<double>& a, const std::complex<double>& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// exp(2 pi i m periods).
std::complex<double> wave(long double periods, std::size_t m) {
  const long double turns = static_cast<long double>(m) * periods;
  const double whole = std::floor(static_cast<double>(turns) + 0.5);
  const double angle = 2 * kPi * static_cast<double>(turns - whole);
  return {std::cos(angle), std::sin(angle)};
}

}  // namespace

AxisWaves derivatives_of_waves(const FourierGeometry& geometry, std::size_t k,
                               Span<const double> values, const Range& readable, int order) {
  const std::size_t a = geometry.axis(k), modes = geometry.box.max[a] + 1;
  const double step = geometry.frequency_step(a) * geometry.scale[k];
  AxisWaves waves(static_cast<std::size_t>(order) + 1, values.size, modes);
  for (std::size_t point = 0; point < values.size; ++point) {
    const double z = (values[point] - geometry.centre[k]) * geometry.scale[k];
    if (!(z >= readable.low && z <= readable.high)) continue;
    const long double periods =
        (static_cast<long double>(z) - geometry.origin[a]) / geometry.period[a];
    double* row = waves.row(0, point);
    std::array<std::complex<double>, kWavesAtOnce> within;
    within[0] = 1;
    for (std::size_t known = 1; known < kWavesAtOnce; known *= 2) {
      const std::complex<double> turned = wave(periods, known);
      for (std::size_t m = 0; m < known; ++m) within[known + m] = product(turned, within[m]);
    }
    for (std::size_t from = 0; from < modes; from += kWavesAtOnce) {
      const std::complex<double> turned = wave(periods, from);
      for (std::size_t m = from; m < std::min(modes, from + kWavesAtOnce); ++m) {
        const std::complex<double> value = product(turned, within[m - from]);
        row[2 * m] = value.real();
        row[2 * m + 1] = value.imag();
      }
    }
    // Each derivative is a factor i t.
    for (int r = 1; r <= order; ++r) {
      const double* lower = waves.row(static_cast<std::size_t>(r) - 1, point);
      double* higher = waves.row(static_cast<std::size_t>(r), point);
      for (std::size_t m = 0; m < modes; ++m) {
        const double t = step * static_cast<double>(m);
        higher[2 * m] = -t * lower[2 * m + 1];
        higher[2 * m + 1] = t * lower[2 * m];
      }
    }
  }
  return waves;
}

double mode_sum_seconds(const Point3& max, std::size_t d, const Point3& points, int order,
                        std::size_t lanes) {
  const auto terms = [&](std::size_t a) { return 2 * (max[a] + 1); };
  const double first = order + 1, last = d == 3 ? first * (first + 1) / 2 : first;
  const double products =
      d == 2 ? terms(2) * points[0] * (first * terms(1) + last * points[1])
             : terms(2) * points[0] *
                   (terms(1) * first * terms(0) + points[1] * last * (terms(1) + points[2]));
  return 1e-9 * (kModeProductNs + kModeVectorNs / static_cast<double>(lanes)) * products;
}

double mode_sum_bytes(const Point3& max, std::size_t d, const Point3& points, int order,
                      double cells) {
  const double of_point = point_bytes(max, d, points[1], order);
  return std::min(of_point * points[0], std::max(cells / 2, of_point * kBlockColumns));
}

void sum_over_modes(const TransformBox& box, std::size_t d, const ModeFactors& factors,
                    double limit, const double* modes, const std::array<AxisWaves, 3>& waves,
                    int order, double bytes, const RunOptions& options, Span<double> out) {
  ModeSums(box, d, factors, limit, modes, waves, order, *options.table->product, out)
      .run(bytes, options.parallel);
}

}  // namespace kestrel
