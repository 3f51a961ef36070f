#include "core/data/ties.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/raw_array.hpp"
#include "core/data/cell_table.hpp"
#include "core/data/passes.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

namespace {

Ties sum_of(const std::vector<Ties>& parts) {
  Ties all;
  for (const Ties& ties : parts) {
    all.pairs += ties.pairs;
    all.weight += ties.weight;
  }
  return all;
}

/// Buckets of the samples, by the highest bits of their hashes: each has its own table, which stays
/// in a cache. One bucket is enough for few samples.
constexpr std::size_t kBucketBits = 8, kManySamples = std::size_t{1} << 14;

std::uint64_t hash_of(const MatrixView& x, std::size_t i) {
  std::uint64_t hash = 0;
  for (std::size_t k = 0; k < x.cols; ++k) hash = hash_with(hash, x(i, k));
  return hash;
}

bool equal(const MatrixView& x, std::size_t i, std::size_t j) {
  for (std::size_t k = 0; k < x.cols; ++k) {
    if (x(i, k) != x(j, k)) return false;
  }
  return true;
}

/// Samples ordered by bucket, and by index in each.
class Buckets {
 public:
  Buckets(const MatrixView& x, const ParallelOptions& options)
      : bits_(x.rows < kManySamples ? 0 : kBucketBits), hash_(x.rows), index_(x.rows) {
    const std::size_t parts = parts_of_pass(x.rows);
    std::vector<std::size_t> next(parts * count(), 0);
    const RawArray<std::uint64_t> given(x.rows);
    pass_over(x.rows, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        given[i] = hash_of(x, i);
        ++next[part * count() + bucket_of(given[i])];
      }
    });
    std::size_t before = 0;
    for (std::size_t b = 0; b < count(); ++b) {
      start_.push_back(before);
      for (std::size_t part = 0; part < parts; ++part) {
        std::size_t& samples = next[part * count() + b];
        before += samples;
        samples = before - samples;
      }
    }
    start_.push_back(before);
    pass_over(x.rows, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::size_t place = next[part * count() + bucket_of(given[i])]++;
        hash_[place] = given[i];
        index_[place] = static_cast<std::uint32_t>(i);
      }
    });
  }

  std::size_t count() const { return std::size_t{1} << bits_; }
  /// The places of a bucket's samples are start(b), ..., start(b + 1) - 1.
  std::size_t start(std::size_t b) const { return start_[b]; }
  std::uint64_t hash(std::size_t place) const { return hash_[place]; }
  std::size_t index(std::size_t place) const { return index_[place]; }

 private:
  std::size_t bucket_of(std::uint64_t hash) const { return bits_ == 0 ? 0 : hash >> (64 - bits_); }

  std::size_t bits_;
  RawArray<std::uint64_t> hash_;
  RawArray<std::uint32_t> index_;
  std::vector<std::size_t> start_;
};

/// The ties in a bucket. A sample joins the first one with its value, by open addressing.
Ties ties_of_bucket(const MatrixView& x, Weights p, const Buckets& buckets, std::size_t bucket) {
  const std::size_t first = buckets.start(bucket), n = buckets.start(bucket + 1) - first;
  std::size_t size = 16;
  while (size < 2 * n) size *= 2;
  constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> entry(size, kFree);  // samples, by their number in the bucket
  std::vector<double> count, weight;              // of the equal samples so far, by their first one
  Ties ties;
  for (std::size_t j = 0; j < n; ++j) {
    if (j % kPolledItems == 0) poll_if_due({});
    const std::uint64_t hash = buckets.hash(first + j);
    const std::size_t i = buckets.index(first + j);
    std::size_t at = hash & (size - 1);
    const auto is_other = [&](std::uint32_t found) {
      return buckets.hash(first + found) != hash || !equal(x, buckets.index(first + found), i);
    };
    while (entry[at] != kFree && is_other(entry[at])) at = (at + 1) & (size - 1);
    if (entry[at] == kFree) {
      entry[at] = static_cast<std::uint32_t>(j);
      continue;
    }
    if (count.empty()) {
      count.assign(n, 1.0);
      for (std::size_t k = 0; k < n; ++k) weight.push_back(p[buckets.index(first + k)]);
    }
    const std::size_t leader = entry[at];
    ties.pairs += 2 * count[leader];
    ties.weight += 2 * weight[leader] * p[i];
    count[leader] += 1;
    weight[leader] += p[i];
  }
  return ties;
}

/// Whether the samples of one variable are in ascending order.
bool is_sorted_line(const MatrixView& x, const ParallelOptions& options) {
  if (x.cols != 1) return false;
  const Span<const double> line = x.column(0);
  std::vector<char> sorted(parts_of_pass(line.size), 1);
  pass_over(line.size, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    for (std::size_t i = std::max<std::size_t>(1, begin); i < end; ++i) {
      if (!(line[i - 1] <= line[i])) sorted[part] = 0;
    }
  });
  return std::find(sorted.begin(), sorted.end(), 0) == sorted.end();
}

/// The ties of samples in ascending order, which are neighbours. A part of the samples has the runs
/// of equal ones that begin in it.
Ties ties_of_neighbours(Span<const double> line, Weights p, const ParallelOptions& options) {
  std::vector<Ties> of_part(parts_of_pass(line.size));
  pass_over(line.size, options, [&](std::size_t part, std::size_t begin, std::size_t end) {
    std::size_t i = begin;
    while (i < end && i > 0 && line[i] == line[i - 1]) ++i;
    Ties ties;
    while (i < end) {
      double count = 1, weight = p[i];
      for (++i; i < line.size && line[i] == line[i - 1]; ++i) {
        ties.pairs += 2 * count;
        ties.weight += 2 * weight * p[i];
        count += 1;
        weight += p[i];
      }
    }
    of_part[part] = ties;
  });
  return sum_of(of_part);
}

}  // namespace

Ties count_ties(const MatrixView& x, Weights p, const ParallelOptions& options) {
  check_weight_count(x.rows, p.size);
  if (is_sorted_line(x, part_of(options, 0, 0.5))) {
    return ties_of_neighbours(x.column(0), p, part_of(options, 0.5, 1));
  }
  if (x.rows >= std::size_t{1} << 31) {
    throw error(ErrorKind::memory, "ties are counted among at most 2^31 samples");
  }
  const Buckets buckets(x, part_of(options, 0, 0.5));
  std::vector<Ties> of_bucket(buckets.count());
  parallel_for(buckets.count(), part_of(options, 0.5, 1), [&](std::size_t bucket, int) {
    of_bucket[bucket] = ties_of_bucket(x, p, buckets, bucket);
  });
  return sum_of(of_bucket);
}

}  // namespace kestrel
