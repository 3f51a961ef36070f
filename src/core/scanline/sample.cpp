#include "core/scanline/sample.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.hpp"
#include "core/base/whole.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

namespace {

constexpr std::size_t kMaxBins = std::size_t{1} << 17;
/// The counters of a thread: 1 MiB.
constexpr std::size_t kMaxCounters = std::size_t{1} << 18;
/// Binary logarithms of the lengths of bins. 1e6 samples, 1400 x 1350 points, 29 steps of radius:
/// 16.0 ns a row with 8 x 32, 16.5 with 8 x 8, 20 with 4 x 4 or 32 x 32, 39 with 8 x 1024.
constexpr unsigned kRowBits = 3, kRunBits = 5, kLineBits = 10;
constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();
/// Slack on intervals for rounding, in steps of the grid or in units of y.
constexpr double kMargin = 1e-6;

/// The exponent of the largest power of two of which w > 0 is a multiple.
int lowest_bit(double w) {
  int exponent = 0;
  std::uint64_t digits = whole_number<std::uint64_t>(std::frexp(w, &exponent) * 0x1p53);
  exponent -= 53;
  for (; digits % 2 == 0; digits /= 2) ++exponent;
  return exponent;
}

}  // namespace

void check_samples(const MatrixView& x, Weights w, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    if (!(w[i] >= 0) || !std::isfinite(w[i])) {
      throw error(ErrorKind::input, "weights must be finite and not negative");
    }
    for (std::size_t k = 0; k < x.cols; ++k) {
      if (!std::isfinite(x(i, k))) throw error(ErrorKind::input, "samples must be finite");
    }
  }
}

void check_sample_count(const MatrixView& x, Weights w) {
  check_weight_count(x.rows, w.size);
  if (x.rows >= kNowhere) {
    throw error(ErrorKind::input, "there must be fewer than 2^32 - 1 samples");
  }
}

/// The result of one pass over the samples: how many each chunk has in each bin; later, where its
/// next sample of that bin goes.
struct ScanlineSample::Order {
  Order(std::size_t samples, std::size_t all_bins, std::size_t threads)
      : bins(all_bins),
        chunks(std::min(pieces(samples, kSamplesOfItem), threads * kMaxCounters / bins)),
        n(samples),
        next(chunks * bins) {}
  std::size_t begin(std::size_t chunk) const { return n * chunk / chunks; }

  const std::size_t bins, chunks, n;
  RawArray<std::uint32_t> next;
};

ScanlineSample::ScanlineSample(const ScanlineGeometry& geometry, const MatrixView& x, Weights w,
                               const ScanlineTask& task, std::size_t segment,
                               const RunOptions& options, const ScanlineUnits* units)
    : geometry_(geometry) {
  check_sample_count(x, w);
  if (units == nullptr) {
    check_and_measure(x, w, options);
  } else {
    take_units(x, w, *units, options);
  }
  const std::size_t bins = choose_bins(x.rows, segment);
  Order order(x.rows, bins, static_cast<std::size_t>(parallel_threads(options.parallel)));
  count(x, w, units == nullptr ? &task : nullptr, options, &order);
  if (size_ > 0) put(x, w, options, &order);
}

/// Finds the smallest power of two above the weights of the samples that matter, and the largest of
/// which all these weights are multiples. If all weights are equal, one pass over them is enough.
void ScanlineSample::check_and_measure(const MatrixView& x, Weights w, const RunOptions& options) {
  std::size_t given = 0;
  while (given < w.size && w[given] == 0) ++given;
  if (given == w.size) return;
  const std::size_t chunks = pieces(x.rows, kSamplesOfItem);
  const auto end = [&](std::size_t chunk) {
    return std::min(x.rows, (chunk + 1) * kSamplesOfItem);
  };
  std::vector<char> alike(chunks, 1);
  parallel_for(chunks, options.parallel, [&](std::size_t chunk, int) {
    check_samples(x, w, chunk * kSamplesOfItem, end(chunk));
    for (std::size_t i = chunk * kSamplesOfItem; i < end(chunk); ++i) {
      if (w[i] != 0 && w[i] != w[given]) alike[chunk] = 0;
    }
  });
  std::vector<double> largest(chunks, 0);
  std::vector<int> finest(chunks, std::numeric_limits<int>::max());
  if (std::find(alike.begin(), alike.end(), 0) == alike.end()) {
    alike_ = true;
    common_weight_ = w[given];
    largest[0] = 1;
    finest[0] = 0;
  } else {
    parallel_for(chunks, options.parallel, [&](std::size_t chunk, int) {
      ScanlineIndex index;
      for (std::size_t i = chunk * kSamplesOfItem; i < end(chunk); ++i) {
        if (w[i] == 0 || !geometry_.grid_index(x, i, &index)) continue;
        largest[chunk] = std::max(largest[chunk], w[i]);
        finest[chunk] = std::min(finest[chunk], lowest_bit(w[i]));
      }
    });
  }
  std::frexp(*std::max_element(largest.begin(), largest.end()), &weight_exponent_);
  finest_ = *std::min_element(finest.begin(), finest.end());
}

void ScanlineSample::take_units(const MatrixView& x, Weights w, const ScanlineUnits& units,
                                const RunOptions& options) {
  parallel_for(pieces(x.rows, kSamplesOfItem), options.parallel, [&](std::size_t chunk, int) {
    const std::size_t begin = chunk * kSamplesOfItem;
    check_samples(x, w, begin, std::min(x.rows, begin + kSamplesOfItem));
  });
  alike_ = units.alike;
  weight_exponent_ = units.weight_exponent;
  scale_ = units.scale;
}

/// A bin has one index of the outer axes and some of the other two; bins are longer if that makes
/// too many. Along the run axis bins exclude samples that do not reach a segment. In a plane they
/// also keep samples in an order in which cells are still in the level-1 cache (10 % less time).
std::size_t ScanlineSample::choose_bins(std::size_t samples, std::size_t segment) {
  const std::size_t axes = geometry_.axes();
  const std::size_t max = std::min(kMaxBins, std::max<std::size_t>(64, samples));
  bits_.fill(0);
  bits_[axes - 2] = kRowBits;
  const std::size_t points = geometry_.count(axes - 1);
  bits_[axes - 1] = geometry_.line() ? kLineBits : kRunBits;
  while (axes > 2 && segment == points && pieces(points, std::size_t{1} << bits_[axes - 1]) > 1) {
    ++bits_[axes - 1];
  }
  double all = 1;
  for (std::size_t a = 0; a < axes; ++a) {
    bins_[a] = pieces(geometry_.count(a), std::size_t{1} << bits_[a]);
    all *= static_cast<double>(bins_[a]);
  }
  while (all > static_cast<double>(max)) {
    const auto begin = bins_.begin(), end = begin + static_cast<std::ptrdiff_t>(axes);
    const std::size_t a = static_cast<std::size_t>(std::max_element(begin, end) - begin);
    all /= static_cast<double>(bins_[a]);
    ++bits_[a];
    bins_[a] = pieces(geometry_.count(a), std::size_t{1} << bits_[a]);
    all *= static_cast<double>(bins_[a]);
  }
  std::size_t bins = 1;
  for (std::size_t a = 0; a < axes; ++a) bins *= bins_[a];
  return bins;
}

std::size_t ScanlineSample::bin_of(const ScanlineIndex& index) const {
  std::size_t bin = 0;
  for (std::size_t a = 0; a < geometry_.axes(); ++a) {
    const std::size_t base = index.base[a] > 0 ? static_cast<std::size_t>(index.base[a]) : 0;
    bin = bin * bins_[a] + (std::min(base, geometry_.count(a) - 1) >> bits_[a]);
  }
  return bin;
}

/// task: null if the scale is known.
void ScanlineSample::count(const MatrixView& x, Weights w, const ScanlineTask* task,
                           const RunOptions& options, Order* order) {
  const std::size_t workers = parallel_workers(order->chunks, options.parallel);
  std::vector<ScanlineHistogram> histogram;
  if (task != nullptr) histogram.assign(workers, ScanlineHistogram(geometry_));
  const PowerOfTwo unit(-weight_exponent_);
  parallel_for(order->chunks, options.parallel, [&](std::size_t chunk, int worker) {
    ScanlineHistogram* own =
        task == nullptr ? nullptr : &histogram[static_cast<std::size_t>(worker)];
    std::uint32_t* next = order->next.data() + chunk * order->bins;
    std::fill(next, next + order->bins, 0);
    ScanlineIndex index;
    for (std::size_t i = order->begin(chunk); i < order->begin(chunk + 1); ++i) {
      if (w[i] == 0 || !geometry_.grid_index(x, i, &index)) continue;
      if (own != nullptr) own->add(index, unit.times(weight(w[i])));
      ++next[bin_of(index)];
    }
  });
  start_.assign(1, 0);
  std::uint32_t before = 0;
  for (std::size_t b = 0; b < order->bins; ++b) {
    for (std::size_t chunk = 0; chunk < order->chunks; ++chunk) {
      std::uint32_t& next = order->next[chunk * order->bins + b];
      before += next;
      next = before - next;
    }
    start_.push_back(before);
  }
  size_ = before;
  if (size_ == 0 || task == nullptr) return;
  for (std::size_t worker = 1; worker < workers; ++worker) histogram[0].add(histogram[worker]);
  ScanlineActive active = histogram[0].max_active();
  active.finest = finest_ - weight_exponent_;
  const std::size_t points = geometry_.count(geometry_.axes() - 1);
  scale_ = choose_scale(geometry_, active, std::min(kScanlineBlock, points), *task);
}

void ScanlineSample::put(const MatrixView& x, Weights w, const RunOptions& options, Order* order) {
  const auto array = [&] {
    RawArray<double> values(size_ + simd::kLanes);
    std::fill_n(values.data() + size_, simd::kLanes, 0);
    return values;
  };
  const std::size_t axes = geometry_.axes(), first = geometry_.line() ? 1 : 0;
  for (std::size_t a = first; a < axes; ++a) x_[a] = array();
  if (!alike_) weight_ = array();
  const PowerOfTwo unit(scale_.unit - weight_exponent_);
  parallel_for(order->chunks, options.parallel, [&](std::size_t chunk, int) {
    std::uint32_t* next = order->next.data() + chunk * order->bins;
    ScanlineIndex index;
    for (std::size_t i = order->begin(chunk); i < order->begin(chunk + 1); ++i) {
      if (w[i] == 0 || !geometry_.grid_index(x, i, &index)) continue;
      const std::size_t to = next[bin_of(index)]++;
      for (std::size_t a = first; a < axes; ++a) x_[a][to] = x(i, geometry_.user(a));
      if (!alike_) weight_[to] = unit.times(w[i]);
    }
  });
}

simd::ScanlineSamples ScanlineSample::leaf() const {
  simd::ScanlineSamples leaf{};
  for (std::size_t a = geometry_.line() ? 1 : 0; a < geometry_.axes(); ++a) {
    leaf.axis[a] = geometry_.leaf_axis(a);
    leaf.x[a] = x_[a].data();
  }
  leaf.weight = alike_ ? nullptr : weight_.data();
  leaf.common = PowerOfTwo(scale_.unit - weight_exponent_).times(1);
  return leaf;
}

/// What is known of samples in the bins chosen so far: y is in [low, high] on each axis, and one
/// minus the squares of y is at most `left`; for a box `left` stays one. From axis `whole` on, all
/// bins are taken.
struct ScanlineSample::Search {
  const ScanlineBox& box;
  std::size_t whole;
  double low[simd::kScanlineAxes], high[simd::kScanlineAxes];
  double left;
};

void ScanlineSample::search(const Search& task, std::size_t axis, std::size_t bins,
                            std::vector<simd::ScanlineRange>* ranges) const {
  // X = t - sum_j G_ij y_j - G_ii y_i for some t of the box.
  double low = static_cast<double>(task.box.first[axis]);
  double high = static_cast<double>(task.box.last[axis]);
  for (std::size_t j = 0; j < axis; ++j) {
    const double slope = geometry_.slope(axis, j);
    low -= std::max(slope * task.low[j], slope * task.high[j]);
    high -= std::min(slope * task.low[j], slope * task.high[j]);
  }
  const double slope = geometry_.slope(axis, axis), max = std::sqrt(task.left) + kMargin;
  const double width = static_cast<double>(std::size_t{1} << bits_[axis]),
               last = static_cast<double>(bins_[axis] - 1);
  // Bin b has the X from b width - 1/2 to (b + 1) width - 1/2; the outermost bins also have all X
  // beyond.
  const auto bin_at = [&](double place) {
    // Truncated: it is not negative.
    return whole_number<std::size_t>(std::min(std::max((place + 0.5) / width, 0.0), last));
  };
  const std::size_t from = bin_at(low - slope * max - kMargin);
  const std::size_t to = bin_at(high + slope * max + kMargin);
  if (axis + 1 == task.whole) {
    std::size_t each = 1;
    for (std::size_t a = task.whole; a < geometry_.axes(); ++a) each *= bins_[a];
    const simd::ScanlineRange found{start_[(bins * bins_[axis] + from) * each],
                                    start_[(bins * bins_[axis] + to + 1) * each]};
    if (found.begin == found.end) return;
    if (!ranges->empty() && ranges->back().end == found.begin) {
      ranges->back().end = found.end;
    } else {
      ranges->push_back(found);
    }
    return;
  }
  for (std::size_t b = from; b <= to; ++b) {
    Search inner = task;
    const double first = static_cast<double>(b) * width - 0.5 - kMargin;
    const double end = static_cast<double>(b + 1) * width - 0.5 + kMargin;
    inner.high[axis] = b == 0 ? max : std::min(max, (high - first) / slope + kMargin);
    inner.low[axis] = b == bins_[axis] - 1 ? -max : std::max(-max, (low - end) / slope - kMargin);
    if (inner.low[axis] > inner.high[axis]) continue;
    const double min = std::max({0.0, inner.low[axis], -inner.high[axis]});
    if (!geometry_.product()) inner.left = std::max(0.0, task.left - min * min);
    search(inner, axis + 1, bins * bins_[axis] + b, ranges);
  }
}

void ScanlineSample::find(const ScanlineBox& box, std::vector<simd::ScanlineRange>* ranges) const {
  ranges->clear();
  // If the box covers an axis, only samples next to its ends can miss the box along it: few of all
  // if the axis is long.
  constexpr double kLong = 4;  // in reaches of a sample
  std::size_t whole = geometry_.axes();
  for (; whole > 1; --whole) {
    const std::size_t axis = whole - 1, points = geometry_.count(axis);
    const bool all = box.first[axis] == 0 && box.last[axis] + 1 == points;
    if (!all || static_cast<double>(points) < kLong * geometry_.reach(axis)) break;
  }
  search({box, whole, {}, {}, 1 + 10 * simd::kRim}, 0, 0, ranges);
}

}  // namespace kestrel
