#include "core/scanline/variable.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/parallel_sort.hpp"
#include "core/base/wide_integer.hpp"
#include "core/data/compact_pairs.hpp"
#include "core/kernel/compact_profile.hpp"
#include "core/scanline/costs.hpp"
#include "core/scanline/geometry.hpp"
#include "core/scanline/scale.hpp"
#include "core/scanline/tiles.hpp"

namespace kestrel {

namespace {

/// Ranges whose runs have at least half this length are added by events, shorter ones point by
/// point: see kVariableRowNs.
constexpr double kShortRun = 6;
/// Weights in a range sum up to less than 2^kRangeRoom units. Polynomials of one sample are then
/// below 2^126, as WideInteger wants them.
constexpr int kRangeRoom = 122;
/// How far ends of runs may be off, in steps and as a share of their length, before points are
/// looked at one by one.
constexpr double kEndMargin = 1e-6, kEndShare = 1e-12;
constexpr std::size_t kPolledVariable = 256;
constexpr std::size_t kAxes = kVariableAxes;
/// Points of a run that are summed at a time.
constexpr std::size_t kTerms = 8;

/// The range of a bandwidth: [2^k, 2^(k + 1)).
int range_of(double h) { return std::ilogb(h); }

/// A root of bandwidths for a geometry, whose run axis is then a good one for most samples: the
/// geometric mean of the bandwidths as far as geometries allow.
std::vector<double> usual_root(Span<const double> h, Span<const RegularAxis> axes) {
  double logs = 0, finest = HUGE_VAL, coarsest = 0;
  for (const double one : h) logs += std::log(one);
  for (const RegularAxis& axis : axes) {
    if (axis.count < 2) continue;
    finest = std::min(finest, axis.step);
    coarsest = std::max(coarsest, axis.step);
  }
  double usual = h.size == 0 ? 1 : std::exp(logs / static_cast<double>(h.size));
  usual = std::max(coarsest, std::min(usual, 1e12 * finest));
  std::vector<double> root(axes.size * axes.size, 0.0);
  for (std::size_t k = 0; k < axes.size; ++k) root[k * axes.size + k] = usual;
  return root;
}

/// A grid, and half axes of kernels in its steps.
struct VariableGeometry {
  std::vector<double> root;
  ScanlineGeometry grid;
  std::size_t d, first, row, run;  // `first` of the data's axes; the last two axes
  std::array<double, simd::kScanlineAxes> per_width{};  // steps of a bandwidth of one
  std::array<std::size_t, kAxes> axis_of{};             // of the user's variables

  VariableGeometry(Span<const double> h, Span<const RegularAxis> axes)
      : root(usual_root(h, axes)),
        grid(axes, {root.data(), root.size()}),
        d(axes.size),
        first(grid.axes() - d),
        row(grid.axes() - 2),
        run(grid.axes() - 1) {
    for (std::size_t a = first; a < grid.axes(); ++a) {
      per_width[a] = grid.reach(a) / root[0];
      axis_of[grid.user(a)] = a;
    }
  }
  double count(std::size_t axis) const { return static_cast<double>(grid.count(axis)); }
  bool by_events(Kernel kernel, int range) const {
    return kernel == Kernel::epanechnikov && std::ldexp(per_width[run], range) >= kShortRun;
  }
};

/// A sample that reaches the grid, in the engine's order of axes.
struct Located {
  std::array<double, kAxes> base{}, part{}, x{};  // index, offset from it, and as given
  double h = 0, weight = 0;
};

/// Samples of one range of bandwidths, [begin, end) of the sorted ones.
struct BandwidthRange {
  std::size_t begin, end;
  double widest;  // above all bandwidths
  bool events;
  // Events: a weight of w (2^range / h)^d / largest is that times 2^unit.
  double largest = 1;
  int range = 0, unit = 0;
};

/// The polynomial p + q t - a t^2 of one or more samples; t counts from the first point of a tile.
struct RunPolynomial {
  WideInteger p, q, a;

  void add(const RunPolynomial& other) {
    p += other.p;
    q += other.q;
    a += other.a;
  }
  RunPolynomial operator-() const { return {-p, -q, -a}; }
  /// The value `by` after t.
  double value(std::int64_t t, double by) const {
    const WideInteger along = -a.times(t);
    WideInteger slope = q;
    slope += along;
    WideInteger sum = slope.times(t);
    sum += p;
    if (by == 0) return sum.rounded();
    slope += along;
    return sum.rounded() + by * (slope.rounded() - a.rounded() * by);
  }
};

/// Sums of numbers in two parts, so that they do not depend on how many there are.
struct TwoPartSums {
  std::vector<double> high, low;

  void clear(std::size_t count) {
    high.assign(count, 0.0);
    low.assign(count, 0.0);
  }
  /// Knuth (1998, 4.2.2, theorem B).
  void add(std::size_t i, double term) {
    const double before = high[i], sum = before + term, back = sum - before;
    high[i] = sum;
    low[i] += (before - (sum - back)) + (term - back);
  }
  /// Loops of a fixed length, which compilers turn into vectors.
  void add_terms(std::size_t first, const double* terms) {
    double *to = high.data() + first, *rest = low.data() + first;
    double sums[kTerms], lost[kTerms];
    for (std::size_t i = 0; i < kTerms; ++i) {
      const double before = to[i], sum = before + terms[i], back = sum - before;
      sums[i] = sum;
      lost[i] = rest[i] + ((before - (sum - back)) + (terms[i] - back));
    }
    std::copy(sums, sums + kTerms, to);
    std::copy(lost, lost + kTerms, rest);
  }
};

constexpr std::size_t kPointBytes = sizeof(RunPolynomial) + 2 * sizeof(double);

/// The sums of all samples, tile by tile.
class VariableScan {
 public:
  VariableScan(const MatrixView& x, Weights w, Span<const double> h, Kernel kernel,
               Span<const RegularAxis> axes, const ParallelOptions& options, Span<double> out);
  void run();

 private:
  /// A thread's memory: of the points of a tile, and the cells of a rows, which have one more.
  struct Worker {
    TwoPartSums sum;
    std::vector<RunPolynomial> cell;  // a polynomial begins at its cell
    std::vector<char> touched;        // rows with events
  };
  struct Tile {
    ScanlineBox box;
    std::size_t rows, points;  // points of a row
  };

  void locate(const MatrixView& x, Weights w, Span<const double> h);
  void make_ranges();
  void make_values(Span<const RegularAxis> axes);
  std::size_t tile_bytes() const;
  void sum_tile(const Tile& tile, Worker* own) const;
  template <class Add>
  void for_rows(const Located& sample, const Tile& tile, const Add& add) const;
  template <class Profile>
  void add_rows(const Located& sample, const Tile& tile, const Profile& profile, Worker* own) const;
  void add_events(const Located& sample, const BandwidthRange& range, const Tile& tile,
                  Worker* own) const;
  void scan(const BandwidthRange& range, const Tile& tile, Worker* own) const;
  void write(const Tile& tile, const Worker& own) const;

  const VariableGeometry geometry_;
  const Kernel kernel_;
  const ParallelOptions& options_;
  const Span<double> out_;
  const double scale_;
  std::vector<Located> samples_;
  std::vector<BandwidthRange> ranges_;
  std::array<std::vector<double>, kAxes> values_;  // of the points of each axis
};

VariableScan::VariableScan(const MatrixView& x, Weights w, Span<const double> h, Kernel kernel,
                           Span<const RegularAxis> axes, const ParallelOptions& options,
                           Span<double> out)
    : geometry_(h, axes),
      kernel_(kernel),
      options_(options),
      out_(out),
      scale_(unit_scale(kernel, x.cols)) {
  locate(x, w, h);
  make_ranges();
  make_values(axes);
}

/// Sorts the samples by range and then along the first axis.
void VariableScan::locate(const MatrixView& x, Weights w, Span<const double> h) {
  const ScanlineGeometry& grid = geometry_.grid;
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < x.rows; ++i) {
    if (i % kPolledItems == 0) poll_if_due(options_);
    if (w[i] == 0) continue;
    bool near = true;
    double base = 0;
    for (std::size_t a = geometry_.first; a < grid.axes() && near; ++a) {
      const unfused::GridIndex at = unfused::grid_index_of(grid.leaf_axis(a), x(i, grid.user(a)));
      const double beyond = h[i] * geometry_.per_width[a] * (1 + 1e-9) + kEndMargin;
      near = at.index >= -beyond && at.index <= geometry_.count(a) - 1 + beyond;
      if (a == geometry_.first) base = at.base;
    }
    // Bases are below 2^28 in absolute value: the sum is exact.
    if (near) order.emplace_back(0x1p30 * range_of(h[i]) + base, i);
  }
  parallel_sort(&order, part_of(options_, 0, 0.1));
  samples_.resize(order.size());
  const std::size_t items = (order.size() + kPolledItems - 1) / kPolledItems;
  parallel_for(items, part_of(options_, 0.1, 0.1), [&](std::size_t item, int) {
    const std::size_t end = std::min(order.size(), (item + 1) * kPolledItems);
    for (std::size_t to = item * kPolledItems; to < end; ++to) {
      const std::size_t i = order[to].second;
      Located& sample = samples_[to];
      for (std::size_t a = geometry_.first; a < grid.axes(); ++a) {
        sample.x[a] = x(i, grid.user(a));
        const unfused::GridIndex at = unfused::grid_index_of(grid.leaf_axis(a), sample.x[a]);
        sample.base[a] = at.base;
        sample.part[a] = at.part;
      }
      sample.h = h[i];
      sample.weight = w[i];
    }
  });
}

void VariableScan::make_ranges() {
  for (std::size_t begin = 0, end = 0; begin < samples_.size(); begin = end) {
    BandwidthRange range{};
    range.range = range_of(samples_[begin].h);
    while (end < samples_.size() && range_of(samples_[end].h) == range.range) ++end;
    range.begin = begin;
    range.end = end;
    range.widest = std::ldexp(1.0, range.range + 1);
    range.events = geometry_.by_events(kernel_, range.range);
    range.largest = 0;
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      range.largest = std::max(range.largest, samples_[i].weight);
    }
    for (std::size_t i = begin; i < end; ++i) sum += samples_[i].weight / range.largest;
    range.unit = kRangeRoom - 1 - std::ilogb(sum);
    ranges_.push_back(range);
  }
}

/// Points as given, with which a kernel's value is what it is at points anywhere.
void VariableScan::make_values(Span<const RegularAxis> axes) {
  for (std::size_t a = geometry_.first; a < geometry_.grid.axes(); ++a) {
    const RegularAxis& axis = axes[geometry_.grid.user(a)];
    values_[a].assign(axis.values.begin(), axis.values.end());
    for (std::size_t i = values_[a].size(); i < axis.count; ++i) {
      values_[a].push_back(axis.origin + static_cast<double>(i) * axis.step);
    }
  }
}

/// Calls add(row, q, low, high) for each row of the tile that the sample may cross: q is the sum of
/// the squares of y on the axes before the run's.
template <class Add>
void VariableScan::for_rows(const Located& sample, const Tile& tile, const Add& add) const {
  const ScanlineGeometry& grid = geometry_.grid;
  const auto distance = [&](std::size_t axis, std::size_t index) {
    const double steps =
        ((static_cast<double>(index) - sample.base[axis]) + grid.shift(axis)[index]) -
        sample.part[axis];
    return steps / (sample.h * geometry_.per_width[axis]);
  };
  const std::size_t row = geometry_.row;
  if (geometry_.d == 1) return add(std::size_t{0}, 0.0);
  double outer = 0;
  for (std::size_t a = geometry_.first; a < row; ++a) {
    const double y = distance(a, tile.box.first[a]);
    outer += y * y;
  }
  if (outer > 1 + 1e-9) return;
  const double reach = sample.h * geometry_.per_width[row];
  const double half =
      reach * (std::sqrt(std::max(0.0, 1 - outer + 1e-14)) + kEndShare) + kEndMargin;
  const double centre = sample.base[row] + sample.part[row];
  const double low = std::max(std::ceil(centre - half), static_cast<double>(tile.box.first[row]));
  const double high = std::min(std::floor(centre + half), static_cast<double>(tile.box.last[row]));
  if (low > high) return;
  const std::size_t last = whole_number<std::size_t>(high);
  for (std::size_t i = whole_number<std::size_t>(low); i <= last; ++i) {
    const double y = distance(row, i);
    add(i - tile.box.first[row], outer + y * y);
  }
}

template <class Profile>
void VariableScan::add_rows(const Located& sample, const Tile& tile, const Profile& profile,
                            Worker* own) const {
  const std::size_t run = geometry_.run;
  const double h = sample.h, inverse = 1 / h, x = sample.x[run];
  double weight = sample.weight;
  for (std::size_t k = 0; k < geometry_.d; ++k) weight /= h;
  const double reach = h * geometry_.per_width[run];
  const double centre = sample.base[run] + sample.part[run];
  const double begin = static_cast<double>(tile.box.first[run]);
  const double* at = values_[run].data() + tile.box.first[run];
  for_rows(sample, tile, [&](std::size_t row, double q) {
    const double half = reach * (std::sqrt(std::max(0.0, 1 - q + 1e-14)) + kEndShare) + kEndMargin;
    const double low = std::max(std::ceil(centre - half), begin);
    const double high =
        std::min(std::floor(centre + half), static_cast<double>(tile.box.last[run]));
    if (low > high) return;
    // As at points anywhere, in the order of the data's variables, so that the points on the edge
    // of a uniform kernel are the same.
    double before = 0, after[2] = {0, 0};
    int found = 0;
    bool passed = false;
    for (std::size_t k = 0; k < geometry_.d; ++k) {
      const std::size_t a = geometry_.axis_of[k];
      if (a == run) {
        passed = true;
        continue;
      }
      const std::size_t index = tile.box.first[a] + (a == geometry_.row ? row : 0);
      const double u = (values_[a][index] - sample.x[a]) / h;
      if (passed) {
        after[found++] = u * u;
      } else {
        before += u * u;
      }
    }
    const auto term = [&](std::size_t t) {
      // On the edge of a uniform kernel the quotient itself decides.
      const double u = Profile::closed ? (at[t] - x) / h : (at[t] - x) * inverse;
      const double square = ((before + u * u) + after[0]) + after[1];
      const bool within = Profile::closed ? square <= 1 : square < 1;
      return within ? weight * profile(square) : 0.0;
    };
    const std::size_t end = whole_number<std::size_t>(high - begin) + 1;
    std::size_t t = whole_number<std::size_t>(low - begin);
    const std::size_t to = row * tile.points;
    for (; t + kTerms <= end; t += kTerms) {
      double terms[kTerms];
      for (std::size_t i = 0; i < kTerms; ++i) terms[i] = term(t + i);
      own->sum.add_terms(to + t, terms);
    }
    for (; t < end; ++t) own->sum.add(to + t, term(t));
  });
}

void VariableScan::add_events(const Located& sample, const BandwidthRange& range, const Tile& tile,
                              Worker* own) const {
  const std::size_t run = geometry_.run;
  const ScanlineGeometry& grid = geometry_.grid;
  const double reach = sample.h * geometry_.per_width[run];
  double weight = sample.weight / range.largest;
  for (std::size_t k = 0; k < geometry_.d; ++k) weight *= range.widest / 2 / sample.h;
  const double a = std::ldexp(weight / (reach * reach), range.unit);
  const double anchor = std::min(std::max(sample.base[run], 0.0), geometry_.count(run) - 1);
  const double centre = (sample.base[run] - anchor) + sample.part[run];
  const double begin = static_cast<double>(tile.box.first[run]) - anchor;
  const double end = static_cast<double>(tile.box.last[run] + 1) - anchor;
  // c + b s - a s^2 in s = t + begin.
  RunPolynomial polynomial;
  const std::int64_t offset = whole_number<std::int64_t>(begin);
  const WideInteger b = WideInteger::of(2 * a * centre);
  polynomial.a = WideInteger::of(a);
  WideInteger along = -polynomial.a.times(offset);
  polynomial.q = b;
  polynomial.q += along;
  const WideInteger before = polynomial.q.times(offset);
  polynomial.q += along;
  for_rows(sample, tile, [&](std::size_t row, double q) {
    if (q >= 1) return;
    const double half = reach * std::sqrt(1 - q), low = centre - half, high = centre + half;
    if (low >= end || high < begin - 1) return;
    double start = unfused::highest(std::max(low, begin));
    double stop = unfused::lowest(std::min(high, end - 1)) + 1;
    settle_ends(grid.shift(run), anchor, begin, end, grid.max_shift(run), low, high, &start, &stop);
    if (stop <= start) return;
    polynomial.p = before;
    polynomial.p += WideInteger::of(a * ((half - std::fabs(centre)) * (half + std::fabs(centre))));
    RunPolynomial* cells = own->cell.data() + row * (tile.points + 1);
    cells[whole_number<std::size_t>(start - begin)].add(polynomial);
    cells[whole_number<std::size_t>(stop - begin)].add(-polynomial);
    own->touched[row] = 1;
  });
}

/// Adds the values of events to the sums of the tile, and leaves the cells zero.
void VariableScan::scan(const BandwidthRange& range, const Tile& tile, Worker* own) const {
  const double* shift = geometry_.grid.shift(geometry_.run) + tile.box.first[geometry_.run];
  const PowerOfTwo unit(-static_cast<int>(geometry_.d) * range.range - range.unit);
  for (std::size_t row = 0; row < tile.rows; ++row) {
    if (!own->touched[row]) continue;
    own->touched[row] = 0;
    RunPolynomial* cells = own->cell.data() + row * (tile.points + 1);
    RunPolynomial all;
    for (std::size_t t = 0; t < tile.points; ++t) {
      all.add(cells[t]);
      const double value = all.value(static_cast<std::int64_t>(t), shift[t]);
      if (value > 0) own->sum.add(row * tile.points + t, unit.times(value) * range.largest);
    }
    std::fill_n(cells, tile.points + 1, RunPolynomial());
  }
}

void VariableScan::sum_tile(const Tile& tile, Worker* own) const {
  own->sum.clear(tile.rows * tile.points);
  own->touched.assign(tile.rows, 0);
  const std::size_t sorted = geometry_.first;
  std::size_t done = 0;
  for (const BandwidthRange& range : ranges_) {
    const double beyond = range.widest * geometry_.per_width[sorted] + 1;
    const auto first = samples_.begin() + static_cast<std::ptrdiff_t>(range.begin);
    const auto last = samples_.begin() + static_cast<std::ptrdiff_t>(range.end);
    const double low = static_cast<double>(tile.box.first[sorted]) - beyond;
    const double high = static_cast<double>(tile.box.last[sorted]) + beyond;
    // Beyond kScanlineFarthest all samples have one base.
    const auto begin = std::partition_point(first, last, [&](const Located& one) {
      return one.base[sorted] < std::max(low, -simd::kScanlineFarthest);
    });
    const auto end = std::partition_point(begin, last, [&](const Located& one) {
      return one.base[sorted] <= std::min(high, simd::kScanlineFarthest);
    });
    const auto add_all = [&](const auto& add) {
      for (auto one = begin; one != end; ++one) {
        if (++done % kPolledVariable == 0) poll_if_due(options_);
        add(*one);
      }
    };
    if (range.events) {
      if (begin != end) own->cell.resize(std::max(own->cell.size(), tile.rows * (tile.points + 1)));
      add_all([&](const Located& one) { add_events(one, range, tile, own); });
      scan(range, tile, own);
    } else {
      with_compact_profile(kernel_, [&](const auto& profile) {
        add_all([&](const Located& one) { add_rows(one, tile, profile, own); });
      });
    }
  }
}

void VariableScan::write(const Tile& tile, const Worker& own) const {
  const ScanlineGeometry& grid = geometry_.grid;
  std::size_t first = 0;
  for (std::size_t a = 0; a < grid.axes(); ++a) first += tile.box.first[a] * grid.stride(a);
  for (std::size_t row = 0; row < tile.rows; ++row) {
    double* to = out_.data + first + row * grid.stride(geometry_.row);
    const std::size_t from = row * tile.points;
    for (std::size_t t = 0; t < tile.points; ++t) {
      to[t * grid.stride(geometry_.run)] =
          scale_ * (own.sum.high[from + t] + own.sum.low[from + t]);
    }
  }
}

/// Enough tiles for all threads. How a grid is cut does not change any bit.
std::size_t VariableScan::tile_bytes() const {
  const std::size_t tiles = 4 * static_cast<std::size_t>(parallel_threads(options_));
  return std::min(std::size_t{528} << 10,
                  kPointBytes * std::max<std::size_t>(64, geometry_.grid.points() / tiles));
}

void VariableScan::run() {
  const ScanlineGeometry& grid = geometry_.grid;
  const ScanlineTiles tiles(grid, grid.slab(0, grid.count(geometry_.axis_of[geometry_.d - 1])),
                            kPointBytes, tile_bytes());
  const ParallelOptions part = part_of(options_, 0.1, 1);
  std::vector<Worker> workers(parallel_workers(tiles.count(), part));
  parallel_for(tiles.count(), part, [&](std::size_t item, int worker) {
    Worker& own = workers[static_cast<std::size_t>(worker)];
    const ScanlineBox box = tiles.box(item);
    const Tile tile{box, box.last[geometry_.row] - box.first[geometry_.row] + 1,
                    box.last[geometry_.run] - box.first[geometry_.run] + 1};
    sum_tile(tile, &own);
    write(tile, own);
  });
}

}  // namespace

void variable_scanline(const MatrixView& x, Weights w, Span<const double> h, Kernel kernel,
                       Span<const RegularAxis> axes, const ParallelOptions& options,
                       Span<double> out) {
  std::size_t points = 1;
  for (const RegularAxis& axis : axes) points *= axis.count;
  if (x.cols != axes.size || x.cols < 1 || x.cols > kAxes || h.size != x.rows || w.size != x.rows ||
      out.size != points || !is_compact(kernel)) {
    throw error(ErrorKind::internal, "sizes of a sum with bandwidths that vary do not match");
  }
  VariableScan(x, w, h, kernel, axes, options, out).run();
}

bool takes_variable_axes(Span<const double> h, Span<const RegularAxis> axes) {
  if (axes.size < 1 || axes.size > kAxes) return false;
  try {
    return VariableGeometry(h, axes).d > 0;
  } catch (const error& problem) {
    if (problem.kind != ErrorKind::input) throw;
    return false;
  }
}

double variable_scanline_seconds(Span<const double> h, Kernel kernel,
                                 Span<const RegularAxis> axes) {
  const VariableGeometry geometry(h, axes);
  std::vector<int> ranges;
  double rows = 0, covered = 0;
  for (const double one : h) {
    double volume = ball_volume(static_cast<double>(geometry.d)), crossed = 1, all = 1;
    if (geometry.d > 1) crossed = ball_volume(static_cast<double>(geometry.d - 1));
    double rows_of_all = 1;
    for (std::size_t a = geometry.first; a <= geometry.run; ++a) {
      const double reach = one * geometry.per_width[a];
      volume *= reach;
      all *= geometry.count(a);
      if (a == geometry.run) break;
      crossed *= reach;
      rows_of_all *= geometry.count(a);
    }
    rows += std::max(1.0, std::min(crossed, rows_of_all));
    if (geometry.by_events(kernel, range_of(one))) {
      if (std::find(ranges.begin(), ranges.end(), range_of(one)) == ranges.end()) {
        ranges.push_back(range_of(one));
      }
    } else {
      covered += std::min(volume, all);
    }
  }
  const double n = static_cast<double>(h.size), m = static_cast<double>(geometry.grid.points());
  return 1e-9 * (kVariableSampleNs * n + kVariableRowNs * rows + kVariableCoveredNs * covered +
                 kVariablePointNs * m * (1 + static_cast<double>(ranges.size())));
}

}  // namespace kestrel
