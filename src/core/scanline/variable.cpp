#include "core/scanline/variable.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/base/error.hpp"
#include "core/kernel/compact_profile.hpp"
#include "core/scanline/scale.hpp"
#include "core/scanline/tiles.hpp"
#include "core/scanline/variable_cells.hpp"
#include "core/scanline/variable_geometry.hpp"
#include "core/scanline/variable_samples.hpp"

namespace kestrel {

namespace {

/// How far ends of runs may be off, in steps and as a share of their length, before points are
/// looked at one by one.
constexpr double kEndMargin = 1e-6, kEndShare = 1e-12;
constexpr std::size_t kPolledVariable = 256;
/// The fraction of the time that progress reports for sorting.
constexpr double kLocatingShare = 0.1;
constexpr std::size_t kPointBytes = sizeof(RunPolynomial) + 2 * sizeof(double);

/// The sums of all samples, tile by tile.
class VariableScan {
 public:
  VariableScan(const MatrixView& x, Weights w, Span<const double> h, Kernel kernel,
               Span<const RegularAxis> axes, const ParallelOptions& options, Span<double> out);
  void run();

 private:
  /// A thread's memory: of the points of a tile, and the cells of a row, which have one more.
  struct Worker {
    TwoPartSums sum;
    std::vector<RunPolynomial> cell;  // a polynomial begins at its cell
    std::vector<char> touched;        // rows with events
  };
  struct Tile {
    ScanlineBox box;
    std::size_t rows, points;  // points of a row
  };

  void make_values(Span<const RegularAxis> axes);
  std::size_t tile_bytes() const;
  void sum_tile(const Tile& tile, Worker* own) const;
  template <class Add>
  void for_rows(const LocatedSample& sample, const Tile& tile, const Add& add) const;
  template <class Profile>
  void add_rows(const LocatedSample& sample, const Tile& tile, const Profile& profile,
                Worker* own) const;
  void add_events(const LocatedSample& sample, const BandwidthRange& range, const Tile& tile,
                  Worker* own) const;
  void scan(const BandwidthRange& range, const Tile& tile, Worker* own) const;
  void write(const Tile& tile, const Worker& own) const;

  const VariableGeometry geometry_;
  const Kernel kernel_;
  const ParallelOptions& options_;
  const Span<double> out_;
  const double scale_;
  const VariableSamples samples_;
  std::array<std::vector<double>, kVariableAxes> values_;  // of the points of each axis
};

VariableScan::VariableScan(const MatrixView& x, Weights w, Span<const double> h, Kernel kernel,
                           Span<const RegularAxis> axes, const ParallelOptions& options,
                           Span<double> out)
    : geometry_(h, axes),
      kernel_(kernel),
      options_(options),
      out_(out),
      scale_(unit_scale(kernel, x.cols)),
      samples_(geometry_, x, w, h, part_of(options, 0, kLocatingShare)) {
  make_values(axes);
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

/// Calls add(row, q) for each row of the tile that the sample may cross: q is the sum of
/// the squares of y on the axes before the run's.
template <class Add>
void VariableScan::for_rows(const LocatedSample& sample, const Tile& tile, const Add& add) const {
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
void VariableScan::add_rows(const LocatedSample& sample, const Tile& tile, const Profile& profile,
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
    for (; t + kRunTerms <= end; t += kRunTerms) {
      double terms[kRunTerms];
      for (std::size_t i = 0; i < kRunTerms; ++i) terms[i] = term(t + i);
      own->sum.add_terms(to + t, terms);
    }
    for (; t < end; ++t) own->sum.add(to + t, term(t));
  });
}

void VariableScan::add_events(const LocatedSample& sample, const BandwidthRange& range,
                              const Tile& tile, Worker* own) const {
  const std::size_t run = geometry_.run;
  const ScanlineGeometry& grid = geometry_.grid;
  const double reach = sample.h * geometry_.per_width[run];
  double weight = sample.weight / range.largest;
  for (std::size_t k = 0; k < geometry_.d; ++k) weight *= range.widest / 2 / sample.h;
  // Of the kernel's value, a bandwidth being 1 / inverse steps.
  const double peak = std::ldexp(weight, range.unit), inverse = 1 / reach;
  const double anchor = std::min(std::max(sample.base[run], 0.0), geometry_.count(run) - 1);
  const double centre = (sample.base[run] - anchor) + sample.part[run];
  const double begin = static_cast<double>(tile.box.first[run]) - anchor;
  const double end = static_cast<double>(tile.box.last[run] + 1) - anchor;
  // c + b s - a s^2 in s = t + begin.
  RunPolynomial polynomial;
  const std::int64_t offset = whole_number<std::int64_t>(begin);
  const WideInteger b = WideInteger::of(2 * peak * (centre * inverse) * inverse);
  polynomial.a = WideInteger::of(peak * inverse * inverse);
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
    polynomial.p += WideInteger::of(peak * ((half - std::fabs(centre)) * inverse) *
                                    ((half + std::fabs(centre)) * inverse));
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
  const std::size_t first = geometry_.first;
  std::size_t done = 0;
  for (const BandwidthRange& range : samples_.ranges()) {
    const Span<const LocatedSample> near =
        samples_.near(range, tile.box.first[first], tile.box.last[first]);
    if (near.size == 0) continue;
    const auto add_all = [&](const auto& add) {
      for (const LocatedSample& one : near) {
        if (++done % kPolledVariable == 0) poll_if_due(options_);
        if (loop_is_stopped()) return;
        add(one);
      }
    };
    if (geometry_.by_events(kernel_, range.range)) {
      own->cell.resize(std::max(own->cell.size(), tile.rows * (tile.points + 1)));
      add_all([&](const LocatedSample& one) { add_events(one, range, tile, own); });
      scan(range, tile, own);
    } else {
      with_compact_profile(kernel_, [&](const auto& profile) {
        add_all([&](const LocatedSample& one) { add_rows(one, tile, profile, own); });
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

/// Enough tiles for all threads, but on a line not many: a sample takes as long for each that it
/// reaches. How a grid is cut does not change any bit.
std::size_t VariableScan::tile_bytes() const {
  const std::size_t threads = static_cast<std::size_t>(parallel_threads(options_));
  const std::size_t tiles = geometry_.d == 1 || threads == 1 ? threads : 4 * threads;
  return std::min(std::size_t{528} << 10,
                  kPointBytes * std::max<std::size_t>(64, geometry_.grid.points() / tiles));
}

void VariableScan::run() {
  const ScanlineGeometry& grid = geometry_.grid;
  const ScanlineTiles tiles(grid, grid.slab(0, grid.count(geometry_.axis_of[geometry_.d - 1])),
                            kPointBytes, tile_bytes());
  const ParallelOptions part = part_of(options_, kLocatingShare, 1);
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
  if (x.cols != axes.size || x.cols < 1 || x.cols > kVariableAxes || h.size != x.rows ||
      w.size != x.rows || out.size != points || !is_compact(kernel)) {
    throw error(ErrorKind::internal, "sizes of a sum with bandwidths that vary do not match");
  }
  VariableScan(x, w, h, kernel, axes, options, out).run();
}

}  // namespace kestrel
