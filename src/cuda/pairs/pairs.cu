// Sums over the pairs of a sample, for bandwidth selectors.
#include <algorithm>
#include <vector>

#include "cuda/base/device.cuh"
#include "cuda/direct/whiten.cuh"
#include "cuda/pairs/pair_kernels.cuh"
#include "cuda/pairs/pair_monomials.cuh"
#include "cuda/pairs/pairs.cuh"

namespace kestrel_cuda {

namespace {

/// The maximum number of partial sums of one launch.
constexpr std::size_t kPartialSums = std::size_t{1} << 24;
/// The maximum number of monomials: as many groups of kPairThreads as a grid can have blocks in its
/// third dimension.
constexpr std::size_t kMaxMonomials = std::size_t{65535} * kPairThreads;
/// Threads of a block that adds partial sums.
constexpr int kAddThreads = 256;

/// A loop over pairs: its kernel, and the number of its sums.
template <class Real>
struct PairLaunch {
  void (*kernel)(PairTask<Real>);
  std::size_t sums;   // of a block
  double operations;  // of a pair, without its distance
};

template <class Real>
PairLaunch<Real> polynomial_launch() {
  return {pair_sum<PairPolynomial<Real>>, PairPolynomial<Real>::kSums, 20.0};
}

template <class Real>
PairLaunch<Real> curve_launch(std::size_t factors) {
  if (factors == 1) return {pair_sum<PairCurve<1, Real>>, 2, 14.0};
  if (factors <= 4) return {pair_sum<PairCurve<4, Real>>, 8, 4 * 12.0};
  return {pair_sum<PairCurve<kPairFactors, Real>>, 2 * kPairFactors, kPairFactors * 12.0};
}

using MonomialKernel = void (*)(PairTask<double>, PairMonomials);

MonomialKernel monomial_kernel(std::size_t degree) {
  switch ((degree + 1) / 2) {
    case 0:
    case 1: return pair_monomials<2>;
    case 2: return pair_monomials<4>;
    case 3: return pair_monomials<6>;
    default: return pair_monomials<8>;
  }
}

/// The whitened samples; terms are computed in Real. Moments and monomials exist in double only.
template <class Real>
class Pairs {
 public:
  Pairs(const kestrel_gpu_pairs& pairs, const double* x, std::size_t stride, const double* w,
        std::size_t n)
      : d_(pairs.d), padded_(round_up(std::max<std::size_t>(1, n), kChunkUnit)) {
    const std::size_t size = d_ * d_;
    upload(pairs.matrix, size, matrix_.reserve(size));
    upload(pairs.centre, d_, centre_.reserve(d_));
    upload_columns(x, stride, n, d_, x_.reserve(std::max<std::size_t>(1, d_ * n)));
    upload(w, n, w_.reserve(std::max<std::size_t>(1, n)));
    const Map map{matrix_.data(), centre_.data(), pairs.farthest, pairs.d, pairs.diagonal != 0};
    double* z = z_.reserve((d_ + 1) * padded_);
    const Whitened<double> to{z, nullptr, z + d_ * padded_, 0.0};
    whiten<double><<<static_cast<unsigned>(padded_ / kPairThreads), kPairThreads>>>(
        map, x_.data(), n, n, padded_, z, w_.data(), to);
    check(cudaGetLastError(), "starting to scale the data");
    task_ = {};
    if constexpr (sizeof(Real) == sizeof(double)) {
      task_.z = z;
    } else {
      task_.z = in_single(z);
    }
    task_.weight = task_.z + d_ * kPairRows<Real> * padded_;
    task_.stride = padded_;
    task_.d = pairs.d;
    task_.scale = static_cast<Real>(pairs.scale);
  }

  /// Computes launch.sums sums over the pairs i < j for `count` parameters (at most kPairFactors).
  bool sums(const PairLaunch<Real>& launch, const double* parameter, std::size_t count, double* sum,
            const Poll& poll) {
    std::fill(task_.parameter, task_.parameter + kPairFactors, Real(0));
    for (std::size_t r = 0; r < count; ++r) task_.parameter[r] = static_cast<Real>(parameter[r]);
    const std::size_t shared = shared_bytes(d_ * kPairRows<Real>);
    const auto start = [&](const dim3& grid) {
      launch.kernel<<<grid, kPairThreads, shared>>>(task_);
    };
    return triangle(start, launch.sums, launch.operations, sum, poll);
  }

  /// Sums of `count` monomials of at most `degree` factors each.
  bool monomials(const std::vector<int>& factor, std::size_t count, std::size_t degree, double* sum,
                 const Poll& poll) {
    int* const table = factor_.reserve(factor.size());
    upload(factor.data(), factor.size(), table);
    const MonomialKernel kernel = monomial_kernel(degree);
    const PairMonomials monomials{table, static_cast<unsigned>(count)};
    const std::size_t shared =
        shared_bytes(d_) + kPairThreads * sizeof(double) * pair_numbers(static_cast<int>(d_));
    const unsigned slabs = static_cast<unsigned>(round_up(count, kPairThreads) / kPairThreads);
    const auto start = [&](const dim3& grid) {
      kernel<<<dim3(grid.x, grid.y, slabs), kPairThreads, shared>>>(task_, monomials);
    };
    const double operations = static_cast<double>(count) * 4.0 * static_cast<double>(degree + 1);
    return triangle(start, count, operations, sum, poll);
  }

  /// The moments of e and of e^2, d x d each.
  bool moments(double* sum, const Poll& poll) {
    const bool few = d_ <= 4;
    const unsigned width = few ? 4 : 16;
    const unsigned slabs = static_cast<unsigned>(round_up(d_, width) / width);
    // Enough parts to keep the device busy if there are few points.
    const std::size_t parts_wanted = std::min<std::size_t>(8, 131072 / padded_ + 1);
    task_.chunk = round_up((padded_ + parts_wanted - 1) / parts_wanted, kChunkUnit);
    const std::size_t parts = round_up(padded_, task_.chunk) / task_.chunk;
    task_.partial = partial_.reserve(parts * 2 * d_ * padded_);
    const std::size_t blocks = padded_ / kPairThreads, shared = shared_bytes(slabs * width);
    const double of_block = static_cast<double>(kPairThreads) * static_cast<double>(padded_) *
                            slabs * (3.0 * static_cast<double>(d_) + 3.0 * width + 14.0);
    const std::size_t at_a_time =
        std::max<std::size_t>(256, static_cast<std::size_t>(kLaunchOperations / of_block));
    Pace pace;
    for (std::size_t first = 0; first < blocks; first += at_a_time) {
      const dim3 grid(static_cast<unsigned>(std::min(at_a_time, blocks - first)),
                      static_cast<unsigned>(parts), slabs);
      if (few) {
        pair_differences<4><<<grid, kPairThreads, shared>>>(task_, first);
      } else {
        pair_differences<16><<<grid, kPairThreads, shared>>>(task_, first);
      }
      check(cudaGetLastError(), "starting a sum of differences");
      pace.launched();
      if (!poll(static_cast<double>(first) / static_cast<double>(blocks))) return stop();
    }
    return products(parts, sum);
  }

 private:
  /// Converts to single precision: two rows a coordinate, and the weights.
  const float* in_single(const double* z) {
    float* const to = single_.reserve((2 * d_ + 1) * padded_);
    const unsigned blocks = static_cast<unsigned>(padded_ / kPairThreads);
    split_rows<<<dim3(blocks, static_cast<unsigned>(d_)), kPairThreads>>>(z, padded_, to);
    round_row<<<blocks, kPairThreads>>>(z + d_ * padded_, to + 2 * d_ * padded_);
    check(cudaGetLastError(), "starting to round the data");
    return to;
  }

  std::size_t shared_bytes(std::size_t rows) const { return (rows + 1) * kPairTile * sizeof(Real); }

  /// Computes `sums` sums over the pairs i < j, with `operations` operations a pair; `start`
  /// launches a grid of blocks.
  template <class Start>
  bool triangle(const Start& start, std::size_t sums, double operations, double* sum,
                const Poll& poll) {
    // This depends on the number of samples alone.
    task_.chunk = padded_ > 65536 ? 2048 : 1024;
    const std::size_t chunks = round_up(padded_, task_.chunk) / task_.chunk;
    const double of_chunk = static_cast<double>(padded_) * static_cast<double>(task_.chunk) *
                            (operations + 3.0 * static_cast<double>(d_));
    const std::size_t room = kPartialSums / (padded_ / kPairThreads * sums);
    const std::size_t at_a_time = std::min<std::size_t>(
        std::max<std::size_t>(1, std::min(room, std::size_t{32768})),
        std::max<std::size_t>(1, static_cast<std::size_t>(kLaunchOperations / of_chunk)));
    const std::size_t launches = round_up(chunks, at_a_time) / at_a_time;
    double* total = total_.reserve(launches * sums);
    Pace pace;
    for (std::size_t at = 0; at < launches; ++at) {
      task_.first_chunk = at * at_a_time;
      const std::size_t last = std::min(chunks, task_.first_chunk + at_a_time);
      run(start, std::min(padded_, last * task_.chunk) / kPairThreads, last - task_.first_chunk,
          sums, total + at * sums);
      pace.launched();
      if (!poll(static_cast<double>(at) / static_cast<double>(launches))) return stop();
    }
    std::vector<double> totals(launches * sums);
    copy_back(total, totals.size(), totals.data());
    std::fill(sum, sum + sums, 0.0);
    for (std::size_t at = 0; at < totals.size(); ++at) sum[at % sums] += totals[at];
    return true;
  }

  static void copy_back(const double* from, std::size_t count, double* to) {
    check(cudaMemcpy(to, from, count * sizeof(double), cudaMemcpyDeviceToHost),
          "copying sums back");
  }

  static bool stop() {
    check(cudaDeviceSynchronize(), "stopping");
    return false;
  }

  template <class Start>
  void run(const Start& start, std::size_t blocks, std::size_t chunks, std::size_t sums,
           double* total) {
    task_.partial = partial_.reserve(blocks * chunks * sums);
    start(dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(chunks)));
    check(cudaGetLastError(), "starting a sum over pairs");
    add_blocks<<<static_cast<unsigned>(sums), kAddThreads>>>(task_.partial, blocks * chunks, sums,
                                                             total);
    check(cudaGetLastError(), "starting to add the blocks");
  }

  /// sum[c][k][l], made symmetric, from the differences in task_.partial.
  bool products(std::size_t parts, double* sum) {
    double* total = total_.reserve(2 * d_ * d_);
    const unsigned d = static_cast<unsigned>(d_);
    add_products<<<dim3(d, d, 2), kAddThreads>>>(task_, parts, total);
    check(cudaGetLastError(), "starting to multiply");
    std::vector<double> a(2 * d_ * d_);
    copy_back(total, a.size(), a.data());
    for (std::size_t c = 0; c < 2; ++c) {
      for (std::size_t k = 0; k < d_; ++k) {
        for (std::size_t l = 0; l < d_; ++l) {
          sum[(c * d_ + k) * d_ + l] =
              0.5 * task_.scale * (a[(c * d_ + k) * d_ + l] + a[(c * d_ + l) * d_ + k]);
        }
      }
    }
    return true;
  }

  const std::size_t d_, padded_;
  Buffer<double> matrix_, centre_;
  Buffer<double> x_, w_;  // as given
  Buffer<double> z_;      // whitened, and the weights
  Buffer<float> single_;  // the same in single precision
  Buffer<int> factor_;
  Buffer<double> partial_, total_;
  PairTask<Real> task_;
};

/// The curve, kPairFactors bandwidths at a time.
template <class Real>
bool curve(Pairs<Real>& pairs, const kestrel_gpu_pairs& request, double* sum, const Poll& poll) {
  for (std::size_t first = 0; first < request.count; first += kPairFactors) {
    const std::size_t count = std::min<std::size_t>(kPairFactors, request.count - first);
    const Poll part = [&](double fraction) {
      return poll((static_cast<double>(first) + fraction * static_cast<double>(count)) /
                  static_cast<double>(request.count));
    };
    double sums[2 * kPairFactors];
    if (!pairs.sums(curve_launch<Real>(count), request.parameter + first, count, sums, part))
      return false;
    std::copy(sums, sums + 2 * count, sum + 2 * first);
  }
  return true;
}

template <class Real>
bool polynomial_or_curve(Pairs<Real>& pairs, const kestrel_gpu_pairs& request, double* sum,
                         const Poll& poll) {
  if (request.kind == KESTREL_GPU_PAIR_CURVE) return curve(pairs, request, sum, poll);
  return pairs.sums(polynomial_launch<Real>(), request.parameter, request.count, sum, poll);
}

/// The monomials of the request, as rows of factors: as many rows as the monomial of the highest
/// degree has factors.
bool monomials(Pairs<double>& pairs, const kestrel_gpu_pairs& request, double* sum,
               const Poll& poll) {
  const std::size_t max = KESTREL_GPU_PAIR_DEGREE, count = request.count / max;
  std::size_t degree = 0;
  std::vector<int> factor(max * count);
  for (std::size_t s = 0; s < count; ++s) {
    // Factors other than one come first.
    std::size_t used = 0;
    for (std::size_t r = 0; r < max; ++r) factor[r * count + s] = request.d;
    for (std::size_t r = 0; r < max; ++r) {
      const int variable = static_cast<int>(request.parameter[s * max + r]);
      if (variable < request.d) factor[used++ * count + s] = variable;
    }
    degree = std::max(degree, used);
  }
  return pairs.monomials(factor, count, degree, sum, poll);
}

bool is_refused(const kestrel_gpu_pairs& request) {
  if (request.d > KESTREL_GPU_PAIR_VARIABLES) return true;
  switch (request.kind) {
    case KESTREL_GPU_PAIR_POLYNOMIAL: return request.count > KESTREL_GPU_PAIR_COEFFICIENTS;
    case KESTREL_GPU_PAIR_MONOMIALS:
      return request.d > KESTREL_GPU_PAIR_MONOMIAL_VARIABLES ||
             request.count < KESTREL_GPU_PAIR_DEGREE ||
             request.count / KESTREL_GPU_PAIR_DEGREE > kMaxMonomials;
    default: return false;
  }
}

}  // namespace

bool pair_sums(const kestrel_gpu_pairs& request, const double* x, std::size_t stride,
               const double* w, std::size_t n, double* sum, const Poll& poll) {
  if (is_refused(request)) refuse("%d variables, or that many coefficients", request.d);
  const bool plain =
      request.kind == KESTREL_GPU_PAIR_POLYNOMIAL || request.kind == KESTREL_GPU_PAIR_CURVE;
  if (request.single_precision != 0 && plain) {
    Pairs<float> pairs(request, x, stride, w, n);
    return polynomial_or_curve(pairs, request, sum, poll);
  }
  Pairs<double> pairs(request, x, stride, w, n);
  if (plain) return polynomial_or_curve(pairs, request, sum, poll);
  if (request.kind == KESTREL_GPU_PAIR_MONOMIALS) return monomials(pairs, request, sum, poll);
  // Up to d = 16, the first of the two loops takes a sixth to a quarter of the operations.
  constexpr double kFirst = 0.2, factor = 1.0;
  const Poll first = [&](double fraction) { return poll(kFirst * fraction); };
  const Poll second = [&](double fraction) { return poll(kFirst + (1 - kFirst) * fraction); };
  return pairs.sums(curve_launch<double>(1), &factor, 1, sum, first) &&
         pairs.moments(sum + 2, second);
}

}  // namespace kestrel_cuda
