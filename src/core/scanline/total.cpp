#include "core/scanline/total.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/whole.hpp"
#include "core/base/words.hpp"
#include "core/scanline/scanline.hpp"
#include "core/scanline/tile_sums.hpp"

namespace kestrel {

namespace {

constexpr std::size_t kBatch = std::size_t{1} << 20;
/// A unit of the first limb is 2^kFraction units of a total. So 2^37 samples, that is 2^17 batches
/// with sums below 2^62 units of the first limb, stay below 2^(17 + 62 + 47) = 2^126.
constexpr int kFraction = 47;
/// Rounding the shifts of points to 2^-47 steps changes a sample's value by 2^-47 / radius of its
/// peak: from this radius on that is at most 2^-48.
constexpr double kLeastRadius = 2;
/// Weights in units of 2^exponent and their squares are counted in multiples of 2^-kWeightBits: the
/// rounding errors of 2^37 samples stay below 2^-51 of the heaviest one.
constexpr int kWeightBits = 88;
/// Points that are converted or added in one piece of work.
constexpr std::size_t kPointsOfItem = std::size_t{1} << 14;

ScanlineTask task_of(const ScanlineGeometry& geometry, const KernelChoice& choice, bool weighted) {
  // Rounding of coefficients is relative to the heaviest sample. It may be too much for very many
  // light ones, but that of values is not.
  ScanlineMethod method = scanline_method(geometry, choice);
  if (weighted || geometry.radius() < kLeastRadius) method = ScanlineMethod::rows;
  return {choice, method, 0};
}

ScanlineUnits units_of(const ScanlineGeometry& geometry, const ScanlineTask& task,
                       const TotalWeights& weights) {
  ScanlineActive active;
  active.weight = active.samples = static_cast<double>(kBatch);
  const std::size_t points = geometry.count(geometry.axes() - 1);
  ScanlineUnits units;
  units.alike = !weights.given;
  if (weights.given) {
    units.weight_exponent = weights.exponent;
  } else {
    active.finest = 0;  // weights of one
  }
  units.scale = choose_scale(geometry, active, std::min(kScanlineBlock, points), task);
  ScanlineScale& scale = units.scale;
  if (scale.limbs < 2) return units;
  // Every limb's unit must be a multiple of the total's.
  const int step = std::min(scale.step, kFraction / (scale.limbs - 1));
  scale.other_bound = std::ldexp(scale.other_bound, step - scale.step);
  scale.step = step;
  return units;
}

ScaledNumber unit_of(const ScanlineGeometry& geometry, const ScanlineTask& task,
                     const ScanlineScale& scale, const ScaledNumber& kernel) {
  ScaledNumber unit = scanline_unit(geometry, task, scale, kernel);
  unit.exponent -= kFraction;
  return unit;
}

WideInteger wide_at(const unsigned char* from) {
  return {static_cast<std::int64_t>(load_word(from + 8)), load_word(from)};
}

/// Calls body(begin, end) for pieces of `points`.
template <class Body>
void for_points(std::size_t points, const RunOptions& options, const Body& body) {
  parallel_for(pieces(points, kPointsOfItem), options.parallel, [&](std::size_t piece, int) {
    const std::size_t begin = piece * kPointsOfItem;
    body(begin, std::min(points, begin + kPointsOfItem));
  });
}

}  // namespace

ScanlineTotal::ScanlineTotal(Span<const RegularAxis> axes, const KernelChoice& choice,
                             Span<const double> root, const TotalWeights& weights,
                             std::size_t first, std::size_t count)
    : d_(axes.size),
      first_(first),
      count_(count),
      weighted_(weights.given),
      geometry_(axes, root, choice.type),
      task_(task_of(geometry_, choice, weights.given)),
      units_(units_of(geometry_, task_, weights)),
      tiles_(geometry_, geometry_.slab(first, count),
             8 * scanline_cell_values(task_, units_.scale.limbs), 0),
      unit_(unit_of(geometry_, task_, units_.scale, kernel_scale(choice, axes.size, root))),
      rim_(geometry_, is_indicator(choice.kernel) ? axes : Span<const RegularAxis>(), root) {
  const std::size_t last = axes[d_ - 1].count, run = geometry_.axes() - 1;
  if (count < 1 || first >= last || count > last - first) {
    throw error(ErrorKind::internal, "a slab beyond the grid");
  }
  for (std::size_t k = 0; k + 1 < d_; ++k) points_ *= axes[k].count;
  if (task_.method == ScanlineMethod::events) {
    for (std::size_t t = 0; t < geometry_.count(run); ++t) {
      const double shift = geometry_.shift(run)[t];
      shift_.push_back(std::llround(std::ldexp(shift, kFraction)));
      square_.push_back(std::llround(std::ldexp(shift * shift, kFraction)));
    }
  }
  sums_.resize(points_ * count_);
}

void ScanlineTotal::add(const MatrixView& x, Weights w, const RunOptions& options) {
  if (x.cols != d_ || w.absent() == weighted_) {
    throw error(ErrorKind::internal, "samples of another kind than the total's");
  }
  check_weight_count(x.rows, w.size);
  if (static_cast<double>(samples_) + static_cast<double>(x.rows) > kTotalSamples) {
    throw error(ErrorKind::input, "there must be at most 2^37 samples");
  }
  if (batch_ == nullptr) batch_.reset(new double[d_ * kBatch]);
  if (weighted_ && batch_weight_ == nullptr) batch_weight_.reset(new double[kBatch]);
  for (std::size_t begin = 0; begin < x.rows;) {
    const std::size_t rows = std::min(x.rows - begin, kBatch - waiting_);
    for (std::size_t k = 0; k < d_; ++k) {
      const double* from = x.column(k).data + begin;
      std::copy(from, from + rows, batch_.get() + k * kBatch + waiting_);
    }
    if (weighted_) std::copy(w.data + begin, w.data + begin + rows, &batch_weight_[waiting_]);
    waiting_ += rows;
    begin += rows;
    if (waiting_ == kBatch) settle(options);
  }
}

void ScanlineTotal::settle(const RunOptions& options) {
  if (waiting_ == 0) return;
  for (std::size_t k = 1; k < d_ && waiting_ < kBatch; ++k) {
    const double* from = batch_.get() + k * kBatch;
    std::copy(from, from + waiting_, batch_.get() + k * waiting_);
  }
  const Weights w = weighted_ ? Weights(batch_weight_.get(), waiting_) : Weights::ones(waiting_);
  add_batch({batch_.get(), waiting_, d_}, w, options);
  waiting_ = 0;
}

void ScanlineTotal::add_batch(const MatrixView& x, Weights w, const RunOptions& options) {
  const ScanlineSample sample(geometry_, x, w, task_, tiles_.segment(), options, &units_);
  weigh(w);
  samples_ += x.rows;
  if (sample.size() == 0) return;
  const simd::ScanlineData data = rim_.leaf(sample);
  simd::ScanlineForm form = scanline_form(geometry_, task_, units_.scale);
  if (is_indicator(form.kernel)) form.data = &data;
  const ScanlineTileSums::Take add = [this](const ScanlineBox& box, std::uint64_t* cells) {
    if (cells != nullptr) take(box, cells);
  };
  ScanlineTileSums(tiles_, sample, task_, form, add, options).run();
}

/// Adds the weights, which are finite and not negative.
void ScanlineTotal::weigh(Weights w) {
  if (!weighted_) return;
  const PowerOfTwo unit(-units_.weight_exponent);
  WideInteger weight, squares;
  for (std::size_t i = 0; i < w.size; ++i) {
    const double v = unit.times(w[i]);
    if (v > 1) throw error(ErrorKind::input, "a weight is larger than was said before");
    weight += WideInteger::of(std::nearbyint(std::ldexp(v, kWeightBits)));
    squares += WideInteger::of(std::nearbyint(std::ldexp(v * v, kWeightBits)));
  }
  weight_ += weight;
  squares_ += squares;
}

double ScanlineTotal::weight() const {
  return weighted_ ? std::ldexp(weight_.value(), -kWeightBits) : static_cast<double>(samples_);
}

double ScanlineTotal::effective_samples() const {
  return weighted_ ? weight() * weight() / std::ldexp(squares_.value(), -kWeightBits)
                   : static_cast<double>(samples_);
}

WideInteger ScanlineTotal::of_limb(std::uint64_t sum, int limb) const {
  const ScanlineScale& scale = units_.scale;
  const std::int64_t value = static_cast<std::int64_t>(sum);
  if (std::fabs(static_cast<double>(value)) > (limb == 0 ? scale.first_bound : scale.other_bound)) {
    throw error(ErrorKind::internal, "sums of runs beyond their bound");
  }
  const int bits = kFraction - limb * scale.step;
  return bits == 0 ? WideInteger(value) : WideInteger(value).shifted(bits);
}

void ScanlineTotal::take(const ScanlineBox& box, std::uint64_t* cells) {
  const simd::ScanlineTile tile = tiles_.leaf(box, cells);
  const std::size_t length = tile.row_length * scanline_cell_values(task_, units_.scale.limbs);
  WideInteger* to = sums_.data() + (tiles_.first_point(box) - first_ * points_);
  for (std::int32_t row = tile.row_begin; row < tile.row_end; ++row) {
    if (task_.method == ScanlineMethod::events) {
      take_events(tile, cells, to);
    } else {
      take_rows(tile, cells, to);
    }
    std::fill(cells, cells + length, 0);
    cells += length;
    to += geometry_.stride(geometry_.axes() - 2);
  }
}

/// The values of a row of events, see value_of_events() of shared/scanline.inc.
void ScanlineTotal::take_events(const simd::ScanlineTile& tile, std::uint64_t* cell,
                                WideInteger* to) {
  const int limbs = units_.scale.limbs;
  const std::size_t stride = geometry_.stride(geometry_.axes() - 1);
  std::uint64_t a[4] = {}, q[4] = {}, p[4] = {};
  for (std::int32_t t = tile.run_begin; t < tile.run_end; ++t, to += stride) {
    const std::size_t index = static_cast<std::size_t>(t);
    for (int limb = 0; limb < limbs; ++limb, cell += simd::kScanlineLimbLanes) {
      a[limb] += cell[0];
      q[limb] += cell[1];
      p[limb] += cell[2];
      const std::uint64_t at = a[limb] * index, slope = q[limb] - at;
      *to += of_limb(p[limb] + slope * index, limb);
      if (limb > 0) continue;
      *to += WideInteger::product(static_cast<std::int64_t>(slope - at), shift_[index]);
      *to += -WideInteger::product(static_cast<std::int64_t>(a[limb]), square_[index]);
    }
  }
}

void ScanlineTotal::take_rows(const simd::ScanlineTile& tile, std::uint64_t* cell,
                              WideInteger* to) {
  const std::size_t stride = geometry_.stride(geometry_.axes() - 1);
  const std::size_t points = static_cast<std::size_t>(tile.run_end - tile.run_begin);
  for (std::size_t t = 0; t < points; ++t, to += stride) {
    *to += of_limb(cell[t], 0);
    if (units_.scale.limbs > 1) *to += of_limb(cell[tile.row_length + t], 1);
  }
}

void ScanlineTotal::slab(std::size_t first, std::size_t count, const RunOptions& options,
                         Span<double> out) const {
  if (first < first_ || count > count_ || first - first_ > count_ - count ||
      out.size != count * points_ || waiting_ > 0) {
    throw error(ErrorKind::internal, "a slab beyond the total or an output of a wrong size");
  }
  const WideInteger* from = sums_.data() + (first - first_) * points_;
  ScaledNumber unit = unit_;
  unit.divide(weight());
  for_points(out.size, options, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      out[i] = from[i].high < 0 ? 0.0 : unit.times(from[i].value());
    }
  });
}

std::vector<std::uint64_t> ScanlineTotal::head() const {
  return {static_cast<std::uint64_t>(units_.scale.unit),
          samples_,
          weight_.low,
          static_cast<std::uint64_t>(weight_.high),
          squares_.low,
          static_cast<std::uint64_t>(squares_.high)};
}

std::size_t ScanlineTotal::bytes() const { return 8 * (kHead + 2 * sums_.size()); }

void ScanlineTotal::write(const RunOptions& options, Span<unsigned char> out) const {
  if (out.size != bytes() || waiting_ > 0) {
    throw error(ErrorKind::internal, "a total that is not settled or an output of a wrong size");
  }
  const std::vector<std::uint64_t> words = head();
  for (std::size_t k = 0; k < kHead; ++k) store_word(words[k], out.data + 8 * k);
  for_points(sums_.size(), options, [&](std::size_t begin, std::size_t end) {
    unsigned char* to = out.data + 8 * (kHead + 2 * begin);
    for (std::size_t i = begin; i < end; ++i, to += 16) {
      store_word(sums_[i].low, to);
      store_word(static_cast<std::uint64_t>(sums_[i].high), to + 8);
    }
  });
}

void ScanlineTotal::merge(Span<const unsigned char> other, const RunOptions& options) {
  const auto word = [&](std::size_t k) { return load_word(other.data + 8 * k); };
  if (other.size != bytes() || word(0) != head()[0]) {
    throw error(ErrorKind::input, "sums of another grid, or of another version of kestrel");
  }
  samples_ += word(1);
  if (static_cast<double>(samples_) > kTotalSamples) {
    throw error(ErrorKind::input, "there must be at most 2^37 samples");
  }
  weight_ += wide_at(other.data + 16);
  squares_ += wide_at(other.data + 32);
  for_points(sums_.size(), options, [&](std::size_t begin, std::size_t end) {
    const unsigned char* from = other.data + 8 * (kHead + 2 * begin);
    for (std::size_t i = begin; i < end; ++i, from += 16) sums_[i] += wide_at(from);
  });
}

}  // namespace kestrel
