#include "core/direct/lscv.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "core/base/summation.hpp"
#include "core/direct/near_pairs.hpp"
#include "core/direct/pair_tiles.hpp"

namespace kestrel {

namespace {

/// The constant of the N(0, width^2 H) density.
ScaledNumber gaussian_scale(std::size_t d, Span<const double> root, double width) {
  ScaledNumber scale = kernel_scale({}, d, root);
  if (!(width > 0) || !std::isfinite(width) || !std::isfinite(1 / width)) {
    throw error(ErrorKind::input, "a bandwidth is no positive number that can be divided by");
  }
  for (std::size_t k = 0; k < d; ++k) scale.divide(width);
  return scale;
}

/// The largest block coordinates for which moments by products of blocks keep the promised error:
/// their terms have rounding errors of 2^-53 z^2 each, 3e-14 at 16.
constexpr double kNear = 16.0;

bool is_near(const simd::Block& block, std::size_t d) {
  double farthest = 0.0;
  for (std::size_t k = 0; k < d; ++k) {
    const double* z = block.coordinate + k * block.stride;
    for (std::size_t i = 0; i < block.count; ++i) farthest = std::max(farthest, std::fabs(z[i]));
  }
  return farthest <= kNear;
}

/// sum(pairs) over the pairs within reach of the kernel 2^-(decay |z|^2) if these are few, else
/// over all. `operations` are those of a pair.
template <class Sum>
std::vector<double> over_pairs(const MatrixView& x, Weights w, const TileKernel& kernel,
                               double decay, std::size_t operations, const ParallelOptions& options,
                               const Sum& sum) {
  const NearPairs near(x, w, kernel, decay, options);
  if (near.is_worth()) return sum(near);
  return sum(PairTiles(x, w, kernel, operations, options));
}

struct Worker {
  Workspace workspace;
  AlignedBuffer scratch, lanes;
  bool ready = false;
};

/// Sums as the leaf of moments makes them, of all lanes.
template <class Pairs>
std::vector<double> sums_of_moments(const Pairs& pairs, const TileKernel& kernel,
                                    std::size_t kernels, const RunOptions& options) {
  const std::size_t d = kernel.dimension(), terms = kernels * (1 + d * d);
  std::vector<Worker> workers(parallel_workers(pairs.items(), options.parallel));
  const simd::GaussianPairTable& leaves = *kernel.table().pairs;
  const auto add_item = [&](std::size_t item, int which, double* sum) {
    Worker& worker = workers[static_cast<std::size_t>(which)];
    if (!worker.ready) {
      worker.workspace.prepare(kernel, 0);
      worker.scratch.resize(simd::pair_scratch_size(d, kernel.tile_size()));
      worker.lanes.resize(terms * simd::kLanes);
      worker.ready = true;
    }
    double* lanes = worker.lanes.data();
    std::fill_n(lanes, terms * simd::kLanes, 0.0);
    pairs.load_block(item, worker.workspace);
    const bool near = d > 3 && is_near(worker.workspace.block(), d);
    const simd::PairMomentFunction leaf = (near ? leaves.near : leaves.direct)[kernels - 1];
    pairs.run_tiles(item, worker.workspace, [&](const simd::PairVisit& visit) {
      leaf(visit, worker.scratch.data(), lanes);
    });
    for (std::size_t t = 0; t < terms; ++t) {
      sum[t] = pairwise_sum(lanes + t * simd::kLanes, simd::kLanes);
    }
  };
  return sum_over_items(pairs.items(), terms, options.parallel, add_item);
}

/// Sum and moments in the whitened variable, for e and, with two kernels, for e^2.
std::vector<GaussianPairSums> whitened_moments(const MatrixView& x, Weights w,
                                               const TileKernel& kernel, std::size_t kernels,
                                               const RunOptions& options) {
  const std::size_t d = x.cols;
  const std::vector<double> sums = over_pairs(
      x, w, kernel, 1, 5 * d + d * d / 8, options.parallel,
      [&](const auto& pairs) { return sums_of_moments(pairs, kernel, kernels, options); });
  std::vector<GaussianPairSums> out(kernels);
  for (std::size_t c = 0; c < kernels; ++c) {
    const double* of_kernel = sums.data() + c * (1 + d * d);
    out[c].sum = of_kernel[0];
    out[c].moments.resize(d * d);
    for (std::size_t k = 0; k < d; ++k) {
      for (std::size_t l = 0; l < d; ++l) {
        out[c].moments[k * d + l] = of_kernel[1 + k * d + l] + of_kernel[1 + l * d + k];
      }
    }
  }
  return out;
}

/// Multiplies by the constant; `unit` turns v v' into u u'.
void scale_sums(GaussianPairSums& sums, const ScaledNumber& scale, double unit) {
  sums.sum = scale.times(sums.sum);
  for (double& m : sums.moments) m = scale.times(unit * m);
}

/// The whitened sums without moments: e, e^2.
std::vector<double> whitened_sums(const MatrixView& x, Weights w, const TileKernel& kernel,
                                  const RunOptions& options) {
  const simd::PairSumFunction leaf = kernel.table().pairs->sums;
  return over_pairs(x, w, kernel, 1, 2 * x.cols, options.parallel, [&](const auto& pairs) {
    std::vector<Workspace> workers(parallel_workers(pairs.items(), options.parallel));
    return sum_over_items(
        pairs.items(), 2, options.parallel, [&](std::size_t item, int worker, double* sum) {
          Workspace& workspace = workers[static_cast<std::size_t>(worker)];
          workspace.prepare(kernel, 0);
          pairs.load_block(item, workspace);
          pairs.run_tiles(item, workspace, [&](const simd::PairVisit& visit) { leaf(visit, sum); });
        });
  });
}

/// Collects distances of pairs and hands them to the leaf of the curve.
class DistanceBuffer {
 public:
  void prepare() {
    if (distance_.data() != nullptr) return;
    distance_.resize(simd::kCurvePairs);
    weight_.resize(simd::kCurvePairs);
  }

  void add_visit(const simd::GaussianPairTable& leaves, const simd::PairVisit& visit,
                 Span<const double> factor, double* sum) {
    for (std::size_t i = 0; i < visit.block.count; ++i) {
      if (used_ + visit.tile.count + simd::kLanes > simd::kCurvePairs) flush(leaves, factor, sum);
      used_ += leaves.distances(visit, i, distance_.data() + used_, weight_.data() + used_);
    }
  }

  void flush(const simd::GaussianPairTable& leaves, Span<const double> factor, double* sum) {
    for (; used_ % simd::kCurveStrip != 0; ++used_) {
      distance_.data()[used_] = 1e300;
      weight_.data()[used_] = 0.0;
    }
    leaves.curve({distance_.data(), weight_.data(), used_}, factor.data, factor.size, sum);
    used_ = 0;
  }

 private:
  AlignedBuffer distance_, weight_;
  std::size_t used_ = 0;
};

std::vector<double> whitened_curve(const MatrixView& x, Weights w, const TileKernel& kernel,
                                   Span<const double> factor, const RunOptions& options) {
  const simd::GaussianPairTable& leaves = *kernel.table().pairs;
  const double widest = *std::min_element(factor.begin(), factor.end());
  const auto sum_over = [&](const auto& pairs) {
    const std::size_t count = parallel_workers(pairs.items(), options.parallel);
    std::vector<Workspace> workers(count);
    std::vector<DistanceBuffer> buffers(count);
    return sum_over_items(pairs.items(), 2 * factor.size, options.parallel,
                          [&](std::size_t item, int worker, double* sum) {
                            Workspace& workspace = workers[static_cast<std::size_t>(worker)];
                            DistanceBuffer& buffer = buffers[static_cast<std::size_t>(worker)];
                            workspace.prepare(kernel, 0);
                            buffer.prepare();
                            pairs.load_block(item, workspace);
                            pairs.run_tiles(item, workspace, [&](const simd::PairVisit& visit) {
                              buffer.add_visit(leaves, visit, factor, sum);
                            });
                            buffer.flush(leaves, factor, sum);
                          });
  };
  return over_pairs(x, w, kernel, widest, 2 * x.cols + 16 * factor.size, options.parallel,
                    sum_over);
}

/// The largest ratio of bandwidths whose pairs are looked at together. Distances in units of the
/// smallest are cut at 1e150 (see TileKernel), far beyond the reach of the largest.
constexpr double kSpan = 1e100;

PairCurve group_curve(const MatrixView& x, Weights w, Span<const double> root, Span<const double> h,
                      const RunOptions& options) {
  const CurveFactors factors(x.cols, root, h);
  const TileKernel kernel(*options.table, {}, x.cols, root, factors.smallest);
  return factors.curve(
      whitened_curve(x, w, kernel, {factors.factor.data(), factors.factor.size()}, options));
}

}  // namespace

void scale_lscv(std::size_t d, Span<const double> root, LscvPairSums& sums) {
  // |u|^2 / 4 = ln(2) |v|^2
  scale_sums(sums.convolution, gaussian_scale(d, root, std::sqrt(2.0)), 4 * kLn2);
  scale_sums(sums.kernel, kernel_scale({}, d, root), 4 * kLn2);
}

CurveFactors::CurveFactors(std::size_t d, Span<const double> root, Span<const double> h) {
  for (const double bandwidth : h) {
    of_kernel_.push_back(gaussian_scale(d, root, bandwidth));
    of_convolution_.push_back(of_kernel_.back());
    of_convolution_.back().multiply(std::pow(2.0, -0.5 * static_cast<double>(d)));
  }
  if (h.size == 0) return;
  smallest = *std::min_element(h.begin(), h.end());
  for (const double bandwidth : h) {
    factor.push_back(0.5 * (smallest / bandwidth) * (smallest / bandwidth));
  }
}

PairCurve CurveFactors::curve(const std::vector<double>& sums) const {
  PairCurve curve;
  for (std::size_t s = 0; s < factor.size(); ++s) {
    curve.convolution.push_back(of_convolution_[s].times(sums[2 * s]));
    curve.kernel.push_back(of_kernel_[s].times(sums[2 * s + 1]));
  }
  return curve;
}

LscvPairSums direct_lscv(const MatrixView& x, Weights w, Span<const double> root, bool moments,
                         const RunOptions& options) {
  const TileKernel kernel(*options.table, {}, x.cols, root, std::sqrt(2.0));
  LscvPairSums out;
  if (moments) {
    std::vector<GaussianPairSums> sums = whitened_moments(x, w, kernel, 2, options);
    out = {sums[0], sums[1]};
  } else {
    const std::vector<double> sums = whitened_sums(x, w, kernel, options);
    out.convolution.sum = sums[0];
    out.kernel.sum = sums[1];
  }
  scale_lscv(x.cols, root, out);
  return out;
}

GaussianPairSums direct_gaussian_moments(const MatrixView& x, Weights w, Span<const double> root,
                                         const RunOptions& options) {
  const ScaledNumber scale = kernel_scale({}, x.cols, root);
  const TileKernel kernel(*options.table, {}, x.cols, root);
  GaussianPairSums sums = whitened_moments(x, w, kernel, 1, options)[0];
  scale_sums(sums, scale, 2 * kLn2);  // |u|^2 / 2 = ln(2) |v|^2
  return sums;
}

PairCurve direct_lscv_curve(const MatrixView& x, Weights w, Span<const double> root,
                            Span<const double> h, const RunOptions& options) {
  CurveFactors(x.cols, root, h);  // throws before any sum
  std::vector<std::size_t> order(h.size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return h[a] < h[b]; });
  PairCurve curve;
  curve.convolution.assign(h.size, 0.0);
  curve.kernel.assign(h.size, 0.0);
  const double all = static_cast<double>(h.size);
  for (std::size_t first = 0, end = 0; first < h.size; first = end) {
    std::vector<double> group;
    for (; end < h.size && h[order[end]] <= kSpan * h[order[first]]; ++end) {
      group.push_back(h[order[end]]);
    }
    const double from = static_cast<double>(first) / all, to = static_cast<double>(end) / all;
    const PairCurve of_group = group_curve(x, w, root, {group.data(), group.size()},
                                           {options.table, part_of(options.parallel, from, to)});
    for (std::size_t s = 0; s < group.size(); ++s) {
      curve.convolution[order[first + s]] = of_group.convolution[s];
      curve.kernel[order[first + s]] = of_group.kernel[s];
    }
  }
  return curve;
}

}  // namespace kestrel
