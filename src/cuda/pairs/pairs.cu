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

/// The largest number of pieces of the moments, and the pairs (i, j) of one: a device takes some
/// 40 ms for these. 24 pieces of equal length are even shares of 2, 3, 4, 6 and 8 devices.
constexpr std::size_t kMomentPieces = 24;
constexpr double kMomentPairs = 0x1p31;
/// Parts of the samples for the moments, so that there is work for a whole device.
constexpr std::size_t kMomentParts = 8;
/// The smallest number of operations of a piece: 5 ms of an H200.
constexpr double kPieceOperations = kLaunchOperations / 4;

/// Sums over the triangle of all pairs, or moments.
template <class Real>
struct Pass {
  PairLaunch<Real> launch;
  MonomialKernel monomials;  // null: `launch` has the kernel
  const double* parameter;
  std::size_t count;   // of parameters
  std::size_t offset;  // of its sums in the result
  bool moments;        // then all else but the offset is ignored
};

/// Work of one launch: chunks of a pass, or blocks of points of the moments.
struct Step {
  std::size_t pass, first, count;
  double operations;
};

/// The whitened samples; terms are computed in Real. Moments and monomials exist in double only.
template <class Real>
class PairsOf : public Pairs {
 public:
  PairsOf(const kestrel_gpu_pairs& request, const double* x, std::size_t stride, const double* w,
          std::size_t n, const PairsOf* from, int from_device)
      : d_(request.d),
        padded_(round_up(std::max<std::size_t>(1, n), kChunkUnit)),
        parameter_(request.parameter, request.parameter + request.count) {
    const std::size_t size = d_ * d_;
    upload(request.matrix, size, matrix_.reserve(size));
    upload(request.centre, d_, centre_.reserve(d_));
    if (from != nullptr) {
      copy_from(from_device, from->x_, d_ * n, &x_);
      copy_from(from_device, from->w_, n, &w_);
    } else {
      upload_columns(x, stride, n, d_, x_.reserve(std::max<std::size_t>(1, d_ * n)));
      upload(w, n, w_.reserve(std::max<std::size_t>(1, n)));
    }
    const Map map{matrix_.data(), centre_.data(), request.farthest, request.d,
                  request.diagonal != 0};
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
    task_.d = request.d;
    task_.scale = static_cast<Real>(request.scale);
    plan(request);
    finish_sending();
  }

  std::size_t pieces() const override { return first_step_.size() - 1; }

  bool sum(std::size_t piece, double* sum, const Poll& poll) override {
    std::fill(sum, sum + sums_, 0.0);
    const std::size_t begin = first_step_[piece], end = first_step_[piece + 1];
    if (passes_[steps_[begin].pass].moments) return moments(steps_[begin], sum, poll);
    std::size_t room = 0;
    for (std::size_t s = begin; s < end; ++s) room += passes_[steps_[s].pass].launch.sums;
    double* total = total_.reserve(room);
    std::size_t at = 0;
    Pace pace;
    for (std::size_t s = begin; s < end; ++s) {
      run(steps_[s], total + at);
      at += passes_[steps_[s].pass].launch.sums;
      pace.launched();
      if (!poll(static_cast<double>(s - begin) / static_cast<double>(end - begin))) return stop();
    }
    std::vector<double> totals(room);
    copy_back(total, room, totals.data());
    at = 0;
    for (std::size_t s = begin; s < end; ++s) {
      const Pass<Real>& pass = passes_[steps_[s].pass];
      // The launch of a few bandwidths has sums for more.
      const std::size_t used = std::min(pass.launch.sums, sums_ - pass.offset);
      for (std::size_t t = 0; t < used; ++t) sum[pass.offset + t] += totals[at + t];
      at += pass.launch.sums;
    }
    return true;
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

  /// Samples of a chunk of the triangle. This depends on their number alone.
  std::size_t chunk() const { return padded_ > 65536 ? 2048 : 1024; }

  /// Lists the passes and steps, and puts steps into pieces. Depends on the request and the number
  /// of samples alone.
  void plan(const kestrel_gpu_pairs& request) {
    const double* const parameter = parameter_.data();
    switch (request.kind) {
      case KESTREL_GPU_PAIR_POLYNOMIAL:
        sums_ = 1;
        add_pass({polynomial_launch<Real>(), nullptr, parameter, request.count, 0, false});
        break;
      case KESTREL_GPU_PAIR_CURVE:
        sums_ = 2 * request.count;
        for (std::size_t first = 0; first < request.count; first += kPairFactors) {
          const std::size_t count = std::min<std::size_t>(kPairFactors, request.count - first);
          add_pass(
              {curve_launch<Real>(count), nullptr, parameter + first, count, 2 * first, false});
        }
        break;
      case KESTREL_GPU_PAIR_MONOMIALS: add_monomials(request); break;
      default:
        sums_ = 2 + 2 * d_ * d_;
        parameter_.assign(1, 1.0);
        add_pass({curve_launch<Real>(1), nullptr, parameter_.data(), 1, 0, false});
        add_moments();
    }
    double operations = 0.0;
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      const bool apart = s == 0 || passes_[steps_[s].pass].moments;
      if (apart || operations >= kPieceOperations) {
        first_step_.push_back(s);
        operations = 0.0;
      }
      operations += steps_[s].operations;
    }
    first_step_.push_back(steps_.size());
  }

  void add_pass(const Pass<Real>& pass) {
    passes_.push_back(pass);
    const std::size_t chunks = round_up(padded_, chunk()) / chunk();
    const double of_chunk = static_cast<double>(padded_) * static_cast<double>(chunk()) *
                            (pass.launch.operations + 3.0 * static_cast<double>(d_));
    const std::size_t room = kPartialSums / (padded_ / kPairThreads * pass.launch.sums);
    const std::size_t at_a_time = std::min<std::size_t>(
        std::max<std::size_t>(1, std::min(room, std::size_t{32768})),
        std::max<std::size_t>(1, static_cast<std::size_t>(kLaunchOperations / of_chunk)));
    for (std::size_t first = 0; first < chunks; first += at_a_time) {
      const std::size_t count = std::min(at_a_time, chunks - first);
      // The points of a chunk are those up to its end.
      const double share =
          (static_cast<double>(first) + static_cast<double>(count)) / static_cast<double>(chunks);
      steps_.push_back(
          {passes_.size() - 1, first, count, share * static_cast<double>(count) * of_chunk});
    }
  }

  /// The monomials of the request, as rows of factors: as many rows as the monomial of the highest
  /// degree has factors.
  void add_monomials(const kestrel_gpu_pairs& request) {
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
    upload(factor.data(), factor.size(), factor_.reserve(factor.size()));
    sums_ = count;
    const double operations = static_cast<double>(count) * 4.0 * static_cast<double>(degree + 1);
    add_pass({{nullptr, count, operations}, monomial_kernel(degree), nullptr, 0, 0, false});
  }

  /// Variables that a block of the moments has, and groups of these.
  unsigned moment_width() const { return d_ <= 4 ? 4 : 16; }
  unsigned moment_slabs() const {
    return static_cast<unsigned>(round_up(d_, moment_width()) / moment_width());
  }

  /// The moments of e and of e^2, d x d each, in pieces of equal numbers of points.
  void add_moments() {
    passes_.push_back({{nullptr, 0, 0.0}, nullptr, nullptr, 0, 2, true});
    const std::size_t blocks = padded_ / kPairThreads;
    const double pairs = static_cast<double>(padded_) * static_cast<double>(padded_);
    const std::size_t pieces =
        std::max<std::size_t>(1, static_cast<std::size_t>(std::min(
                                     static_cast<double>(kMomentPieces), pairs / kMomentPairs)));
    const std::size_t each = round_up(blocks, pieces) / pieces;
    for (std::size_t first = 0; first < blocks; first += each) {
      steps_.push_back({passes_.size() - 1, first, std::min(each, blocks - first), 0.0});
    }
    // Enough parts to keep the device busy if there are few points.
    const std::size_t parts =
        pieces > 1 ? kMomentParts : std::min<std::size_t>(kMomentParts, 131072 / padded_ + 1);
    moment_chunk_ = round_up((padded_ + parts - 1) / parts, kChunkUnit);
  }

  bool moments(const Step& step, double* sum, const Poll& poll) {
    if constexpr (sizeof(Real) == sizeof(double)) {
      task_.chunk = moment_chunk_;
      const std::size_t parts = round_up(padded_, moment_chunk_) / moment_chunk_;
      const PairPoints points{step.first * kPairThreads, step.count * kPairThreads};
      task_.partial = partial_.reserve(parts * 2 * d_ * points.count);
      const unsigned slabs = moment_slabs(), width = moment_width();
      const std::size_t shared = shared_bytes(slabs * width);
      const double of_block = static_cast<double>(kPairThreads) * static_cast<double>(padded_) *
                              slabs * (3.0 * static_cast<double>(d_) + 3.0 * width + 14.0);
      const std::size_t at_a_time =
          std::max<std::size_t>(64, static_cast<std::size_t>(kLaunchOperations / of_block));
      Pace pace;
      for (std::size_t first = 0; first < step.count; first += at_a_time) {
        const dim3 grid(static_cast<unsigned>(std::min(at_a_time, step.count - first)),
                        static_cast<unsigned>(parts), slabs);
        if (width == 4) {
          pair_differences<4><<<grid, kPairThreads, shared>>>(task_, points, first);
        } else {
          pair_differences<16><<<grid, kPairThreads, shared>>>(task_, points, first);
        }
        check(cudaGetLastError(), "starting a sum of differences");
        pace.launched();
        if (!poll(static_cast<double>(first) / static_cast<double>(step.count))) return stop();
      }
      return products(parts, points, sum);
    }
    return false;
  }

  static void copy_back(const double* from, std::size_t count, double* to) {
    check(cudaMemcpy(to, from, count * sizeof(double), cudaMemcpyDeviceToHost),
          "copying sums back");
  }

  static bool stop() {
    check(cudaDeviceSynchronize(), "stopping");
    return false;
  }

  void run(const Step& step, double* total) {
    const Pass<Real>& pass = passes_[step.pass];
    const std::size_t last = step.first + step.count, sums = pass.launch.sums;
    const std::size_t blocks = std::min(padded_, last * chunk()) / kPairThreads;
    task_.chunk = chunk();
    task_.first_chunk = step.first;
    task_.partial = partial_.reserve(blocks * step.count * sums);
    std::fill(task_.parameter, task_.parameter + kPairFactors, Real(0));
    for (std::size_t r = 0; r < pass.count; ++r) {
      task_.parameter[r] = static_cast<Real>(pass.parameter[r]);
    }
    start(pass, dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(step.count)));
    check(cudaGetLastError(), "starting a sum over pairs");
    add_blocks<<<static_cast<unsigned>(sums), kAddThreads>>>(task_.partial, blocks * step.count,
                                                             sums, total);
    check(cudaGetLastError(), "starting to add the blocks");
  }

  void start(const Pass<Real>& pass, const dim3& grid) {
    if (pass.monomials == nullptr) {
      pass.launch.kernel<<<grid, kPairThreads, shared_bytes(d_ * kPairRows<Real>)>>>(task_);
      return;
    }
    if constexpr (sizeof(Real) == sizeof(double)) {
      const std::size_t count = pass.launch.sums;
      const PairMonomials monomials{factor_.data(), static_cast<unsigned>(count)};
      const std::size_t shared =
          shared_bytes(d_) + kPairThreads * sizeof(double) * pair_numbers(static_cast<int>(d_));
      const unsigned slabs = static_cast<unsigned>(round_up(count, kPairThreads) / kPairThreads);
      pass.monomials<<<dim3(grid.x, grid.y, slabs), kPairThreads, shared>>>(task_, monomials);
    }
  }

  /// sum[2 + (c d + k) d + l], made symmetric, from the differences in task_.partial.
  bool products(std::size_t parts, const PairPoints& points, double* sum) {
    double* total = total_.reserve(2 * d_ * d_);
    if constexpr (sizeof(Real) == sizeof(double)) {
      const unsigned d = static_cast<unsigned>(d_);
      add_products<<<dim3(d, d, 2), kAddThreads>>>(task_, points, parts, total);
      check(cudaGetLastError(), "starting to multiply");
    }
    std::vector<double> a(2 * d_ * d_);
    copy_back(total, a.size(), a.data());
    for (std::size_t c = 0; c < 2; ++c) {
      for (std::size_t k = 0; k < d_; ++k) {
        for (std::size_t l = 0; l < d_; ++l) {
          sum[2 + (c * d_ + k) * d_ + l] =
              0.5 * task_.scale * (a[(c * d_ + k) * d_ + l] + a[(c * d_ + l) * d_ + k]);
        }
      }
    }
    return true;
  }

  const std::size_t d_, padded_;
  std::vector<double> parameter_;
  std::size_t sums_ = 0, moment_chunk_ = 0;
  std::vector<Pass<Real>> passes_;
  std::vector<Step> steps_;
  std::vector<std::size_t> first_step_;  // of each piece, and the number of steps
  Buffer<double> matrix_, centre_;
  Buffer<double> x_, w_;  // as given
  Buffer<double> z_;      // whitened, and the weights
  Buffer<float> single_;  // the same in single precision
  Buffer<int> factor_;
  Buffer<double> partial_, total_;
  PairTask<Real> task_;
};

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

template <class Real>
std::unique_ptr<Pairs> make(const kestrel_gpu_pairs& request, const double* x, std::size_t stride,
                            const double* w, std::size_t n, const Pairs* from, int from_device) {
  return std::make_unique<PairsOf<Real>>(request, x, stride, w, n,
                                         static_cast<const PairsOf<Real>*>(from), from_device);
}

}  // namespace

std::unique_ptr<Pairs> make_pairs(const kestrel_gpu_pairs& request, const double* x,
                                  std::size_t stride, const double* w, std::size_t n,
                                  const Pairs* from, int from_device) {
  if (is_refused(request)) refuse("%d variables, or that many coefficients", request.d);
  const bool plain =
      request.kind == KESTREL_GPU_PAIR_POLYNOMIAL || request.kind == KESTREL_GPU_PAIR_CURVE;
  if (request.single_precision != 0 && plain) {
    return make<float>(request, x, stride, w, n, from, from_device);
  }
  return make<double>(request, x, stride, w, n, from, from_device);
}

}  // namespace kestrel_cuda
