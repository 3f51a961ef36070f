// Power sums over runs of a sorted sample, for local fits by polynomial kernels.
//
// The samples are cut into blocks of kLeaf, 2 kLeaf, 4 kLeaf, ... whose power sums are computed
// once for all bandwidths. A window is a few samples and at most two blocks of each size on either
// side of its point, O(log n) of them. As in core/sweep/sweep.hpp, nothing is ever subtracted:
// powers are of distances from the first or the last sample of a block, and are moved to the point,
// or to the edge of its window, by adding distances.
#ifndef KESTREL_CUDA_REGRESSION_POWERS_CUH
#define KESTREL_CUDA_REGRESSION_POWERS_CUH

#include <cmath>

#include "shared/host_device.hpp"

#if !defined(__CUDACC__)  // compiled for the host, where it is tested
struct double2 {
  double x, y;
};
#endif

namespace kestrel_cuda {

constexpr unsigned kLeafBits = 3;
constexpr unsigned kLeaf = 1u << kLeafBits;
/// The number of sizes of blocks, for fewer than 2^31 samples.
constexpr unsigned kLevels = 31;

/// The sorted sample and its blocks. Distances are multiplied by `unit`, a power of two that makes
/// the range and every bandwidth at most about 1, so that no power overflows.
struct RegressionSample {
  const double *x, *y, *w;  // w null: all are 1
  /// A block has two records, about its first sample and about its last one, of powers + 2 pairs
  /// each: the position p of that sample and a reference r for y, then for every power q
  ///     sum w_j z_j^q,   sum w_j (y_j - r - slope (x_j - p)) z_j^q,   z_j = unit |x_j - p|.
  double2* block;
  unsigned first[kLevels];  // of the blocks of kLeaf << level samples
  unsigned n;
  double unit;
  double slope;  // taken off y, for local linear fits: see shared/local_trend.hpp

  KESTREL_HD KESTREL_INLINE double weight(unsigned j) const { return w == nullptr ? 1.0 : w[j]; }
  /// How far (place, value) is above the line through (from, level) with that slope. Differences
  /// first: they are as small as the data are near each other.
  KESTREL_HD KESTREL_INLINE double above(double place, double value, double from,
                                         double level) const {
    return fma(slope, from - place, value - level);
  }
};

template <int kPowers>
KESTREL_HD KESTREL_INLINE double2* records(const RegressionSample& sample, unsigned level,
                                           unsigned block) {
  return sample.block +
         static_cast<unsigned long long>(sample.first[level] + block) * (2 * (kPowers + 2));
}

/// m_q = sum w v^q and r_q = sum w d v^q, q <= kPowers, over some samples.
template <int kPowers>
struct Powers {
  double m[kPowers + 1], r[kPowers + 1];

  KESTREL_HD KESTREL_INLINE void clear() {
    KESTREL_UNROLL
    for (int q = 0; q <= kPowers; ++q) m[q] = r[q] = 0.0;
  }
  KESTREL_HD KESTREL_INLINE void add_sample(double w, double d, double v) {
    double power = w;
    KESTREL_UNROLL
    for (int q = 0; q <= kPowers; ++q) {
      m[q] += power;
      r[q] = fma(power, d, r[q]);
      if (q < kPowers) power *= v;
    }
  }
  KESTREL_HD KESTREL_INLINE void add(const Powers& other) {
    KESTREL_UNROLL
    for (int q = 0; q <= kPowers; ++q) {
      m[q] += other.m[q];
      r[q] += other.r[q];
    }
  }
  /// d + by in place of d, then v + s in place of v.
  KESTREL_HD KESTREL_INLINE void move(double by, double s) {
    KESTREL_UNROLL
    for (int q = 0; q <= kPowers; ++q) r[q] = fma(by, m[q], r[q]);
    KESTREL_UNROLL
    for (int k = 0; k < kPowers; ++k) {
      KESTREL_UNROLL
      for (int q = kPowers; q > k; --q) {
        m[q] = fma(s, m[q - 1], m[q]);
        r[q] = fma(s, r[q - 1], r[q]);
      }
    }
  }
  /// v * factor in place of v.
  KESTREL_HD KESTREL_INLINE void scale(double factor) {
    double power = factor;
    KESTREL_UNROLL
    for (int q = 1; q <= kPowers; ++q) {
      m[q] *= power;
      r[q] *= power;
      power *= factor;
    }
  }
};

// ---- the blocks

/// Computes the records of a block of kLeaf samples.
template <int kPowers>
KESTREL_HD KESTREL_INLINE void make_leaf(const RegressionSample& sample, unsigned block) {
  const unsigned begin = block << kLeafBits;
  double weight = 0.0, mean = 0.0;
  KESTREL_ROLLED
  for (unsigned j = begin; j < begin + kLeaf; ++j) {
    weight += sample.weight(j);
    const double above = sample.above(sample.x[j], sample.y[j], sample.x[begin], sample.y[begin]);
    mean = fma(sample.weight(j), above, mean);
  }
  // Of y at the first sample, on the line with the mean of all.
  mean = sample.y[begin] + mean / weight;
  double2* to = records<kPowers>(sample, 0, block);
  KESTREL_ROLLED
  for (int side = 0; side < 2; ++side, to += kPowers + 2) {
    const double place = sample.x[side == 0 ? begin : begin + kLeaf - 1];
    const double level = fma(sample.slope, place - sample.x[begin], mean);
    Powers<kPowers> sum;
    sum.clear();
    KESTREL_ROLLED
    for (unsigned j = begin; j < begin + kLeaf; ++j) {
      const double z = fabs(sample.x[j] - place) * sample.unit;
      sum.add_sample(sample.weight(j), sample.above(sample.x[j], sample.y[j], place, level), z);
    }
    to[0] = double2{place, level};
    KESTREL_UNROLL
    for (int q = 0; q <= kPowers; ++q) to[1 + q] = double2{sum.m[q], sum.r[q]};
  }
}

/// The sums of a record, relative to the line through (x, y), with distances from where the caller
/// wants them.
template <int kPowers>
KESTREL_HD KESTREL_INLINE Powers<kPowers> read_record(const RegressionSample& sample,
                                                      const double2* from, double x, double y,
                                                      double distance) {
  Powers<kPowers> sum;
  KESTREL_UNROLL
  for (int q = 0; q <= kPowers; ++q) {
    const double2 pair = from[1 + q];
    sum.m[q] = pair.x;
    sum.r[q] = pair.y;
  }
  sum.move(sample.above(from[0].x, from[0].y, x, y), distance);
  return sum;
}

/// Computes the records of a block from those of its halves.
template <int kPowers>
KESTREL_HD KESTREL_INLINE void make_block(const RegressionSample& sample, unsigned level,
                                          unsigned block) {
  constexpr int kRecord = kPowers + 2;
  const double2* left = records<kPowers>(sample, level - 1, 2 * block);
  const double2* right = left + 2 * kRecord;
  double2* to = records<kPowers>(sample, level, block);
  const double m_left = left[1].x, m_right = right[1].x;
  const double share = m_right / (m_left + m_right);
  // Both lines at the position of the first sample, and between them by weight.
  const double mean =
      fma(share, sample.above(right[0].x, right[0].y, left[0].x, left[0].y), left[0].y);
  KESTREL_ROLLED
  for (int side = 0; side < 2; ++side) {
    const double2* from_left = left + side * kRecord;
    const double2* from_right = right + side * kRecord;
    // One of the halves is about the same position as the whole.
    const double gap = (from_right[0].x - from_left[0].x) * sample.unit;
    const double place = side == 0 ? from_left[0].x : from_right[0].x;
    const double level = fma(sample.slope, place - left[0].x, mean);
    Powers<kPowers> sum =
        read_record<kPowers>(sample, from_left, place, level, side == 0 ? 0.0 : gap);
    sum.add(read_record<kPowers>(sample, from_right, place, level, side == 0 ? gap : 0.0));
    to[side * kRecord] = double2{place, level};
    KESTREL_UNROLL
    for (int q = 0; q <= kPowers; ++q) {
      to[side * kRecord + 1 + q] = double2{sum.m[q], sum.r[q]};
    }
  }
}

// ---- sums over a part of a window

/// A point, its y, and its bandwidth.
struct Centre {
  double x, y, h;
};

enum class Coordinate { distance, edge };

/// Adds the samples [begin, end), all left or all right of the point and in its window, with
/// v = unit |x_j - x|, or unit (h - |x_j - x|) for Coordinate::edge, and d = y_j - y - slope (x_j -
/// x).
template <int kPowers, Coordinate kFrom, bool kLeft>
KESTREL_HD KESTREL_INLINE void add_part(const RegressionSample& sample, const Centre& centre,
                                        unsigned begin, unsigned end, Powers<kPowers>& sum) {
  const auto coordinate = [&](double x) {
    const double distance = kLeft ? centre.x - x : x - centre.x;
    return fmax(0.0, kFrom == Coordinate::edge ? centre.h - distance : distance) * sample.unit;
  };
  const auto add_samples = [&](unsigned from, unsigned to) {
    KESTREL_ROLLED
    for (unsigned j = from; j < to; ++j) {
      sum.add_sample(sample.weight(j), sample.above(sample.x[j], sample.y[j], centre.x, centre.y),
                     coordinate(sample.x[j]));
    }
  };
  // The record is the one about the sample with the block's smallest coordinate. That is the first
  // sample if the block is left of the point and measured from the edge, or right of it and
  // measured from the point.
  constexpr bool kFirst = kLeft == (kFrom == Coordinate::edge);
  const auto add_block = [&](unsigned level, unsigned block) {
    const double2* record = records<kPowers>(sample, level, block) + (kFirst ? 0 : kPowers + 2);
    sum.add(read_record<kPowers>(sample, record, centre.x, centre.y, coordinate(record[0].x)));
  };
  unsigned l = (begin + kLeaf - 1) >> kLeafBits, r = end >> kLeafBits;
  if (l >= r) {
    add_samples(begin, end);
    return;
  }
  add_samples(begin, l << kLeafBits);
  add_samples(r << kLeafBits, end);
  KESTREL_ROLLED
  for (unsigned level = 0; l < r; ++level) {
    if (l & 1) add_block(level, l++);
    if (r & 1) add_block(level, --r);
    l >>= 1;
    r >>= 1;
  }
}

}  // namespace kestrel_cuda

#endif
