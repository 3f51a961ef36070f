// The direct engine on the device: kernel sums at evaluation points, one kernel value a pair.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "cuda/base/device.cuh"
#include "cuda/base/warp.cuh"
#include "cuda/direct/chunks.cuh"
#include "cuda/direct/direct.cuh"
#include "cuda/direct/launch.cuh"
#include "cuda/direct/moments.cuh"
#include "cuda/direct/whiten.cuh"

namespace kestrel_cuda {

namespace {

/// Raises `largest` to the largest of the values. They are not negative, so their bits, as
/// integers, have the same order.
__global__ void raise_to_largest(const double* value, std::size_t count,
                                 unsigned long long* largest) {
  double here = 0.0;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    here = fmax(here, value[i]);
  }
  for (int step = 16; step > 0; step /= 2) {
    here = fmax(here, __shfl_xor_sync(kWholeWarp, here, step));
  }
  if (threadIdx.x % 32 == 0) {
    atomicMax(largest, static_cast<unsigned long long>(__double_as_longlong(here)));
  }
}

__global__ void set_to_one(double* value, std::size_t count) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) value[i] = 1.0;
}

template <class Real>
class DensityOf : public Density {
 public:
  explicit DensityOf(const kestrel_gpu_kernel& kernel)
      : leaf_(kernel.leaf),
        d_(kernel.d),
        diagonal_(kernel.diagonal != 0),
        farthest_(kernel.farthest),
        moments_(kernel.moments),
        degree_(kernel.degree),
        differences_(launch_of(kernel.leaf, kernel.d, Real())),
        products_(moments_ > 0 ? Launch<Real>{nullptr, 0, 0}
                               : products_launch<Real>(kernel.leaf, kernel.d)),
        tensor_(moments_ > 0 ? Launch<Real>{nullptr, 0, 0}
                             : tensor_launch<Real>(kernel.leaf, kernel.d)) {
    if constexpr (sizeof(Real) == sizeof(float)) {
      if (tensor_.kernel != nullptr) short_tensor_ = tensor_launch<Real, false>(leaf_, d_);
    }
    const std::size_t size = static_cast<std::size_t>(d_) * d_;
    upload(kernel.matrix, size, matrix_.reserve(size));
    upload(kernel.root, size, root_.reserve(size));
    centre_.reserve(d_);
    const std::size_t factors = moments_ * static_cast<std::size_t>(degree_);
    if (factors > 0) upload(kernel.factor, factors, factor_.reserve(factors));
  }

  void samples(const double* x, std::size_t stride, const double* w, std::size_t n) override {
    set_count(n);
    upload_columns(x, stride, n, d_, x_.reserve(std::max<std::size_t>(1, d_ * n)));
    double* const weights = w_.reserve(std::max<std::size_t>(1, n));
    if (w != nullptr) {
      upload(w, n, weights);
    } else if (n > 0) {
      set_to_one<<<static_cast<unsigned>((n + 255) / 256), 256>>>(weights, n);
      check(cudaGetLastError(), "starting to set weights");
    }
    finish_sending();
    largest_weight_ = !gaussian() || n == 0 ? 0.0
                      : w == nullptr        ? 1.0
                                            : *std::max_element(w, w + n);
    if (gaussian() && !(largest_weight_ > 0)) largest_weight_ = 1.0;
  }

  void samples(const Density& from, int from_device) override {
    const auto& other = static_cast<const DensityOf&>(from);
    set_count(other.n_);
    copy_from(from_device, other.x_, d_ * n_, &x_);
    copy_from(from_device, other.w_, n_, &w_);
    largest_weight_ = other.largest_weight_;
  }

  bool sum(const double* centre, const double* e, std::size_t stride, std::size_t m, double* sum,
           const Poll& poll) override {
    whiten_samples(centre);
    const std::size_t chunks = round_up(padded_, chunk_) / chunk_;
    return for_blocks(m, chunks * values(), poll,
                      [&](std::size_t first, std::size_t count, const Poll& part) {
                        return sum_block(e + first, stride, count, m, sum + first, chunks, part);
                      });
  }

 private:
  void set_count(std::size_t n) {
    n_ = n;
    chunk_ = chunk_size(n);
    padded_ = round_up(std::max<std::size_t>(n, 1), kChunkUnit);
    whitened_about_.clear();
  }

  bool as_given() const { return leaf_ == KESTREL_GPU_product_uniform; }
  bool gaussian() const { return leaf_ == KESTREL_GPU_gaussian; }

  Map map() const {
    return {as_given() ? nullptr : matrix_.data(), centre_.data(), farthest_, d_, diagonal_};
  }

  void run_whiten(const double* from, std::size_t count, std::size_t padded,
                  Buffer<double>& history, const double* weight, const Whitened<Real>& to) {
    double* kept = nullptr;
    if (!diagonal_) kept = history.reserve(d_ * padded);
    constexpr unsigned kThreads = 128;
    whiten<Real><<<static_cast<unsigned>((padded + kThreads - 1) / kThreads), kThreads>>>(
        map(), from, count, count, padded, kept, weight, to);
    check(cudaGetLastError(), "starting to scale the data");
  }

  void whiten_samples(const double* centre) {
    const std::vector<double> about(centre, centre + d_);
    if (about == whitened_about_) return;
    upload(centre, d_, centre_.data());
    const Whitened<Real> to = {sample_.reserve((d_ + 2) * padded_),
                               may_take_products() ? square_.reserve(padded_) : nullptr,
                               sample_.data() + d_ * padded_, largest_weight_};
    run_whiten(x_.data(), n_, padded_, history_, w_.data(), to);
    if (may_take_products()) largest_sample_ = largest(square_.data(), padded_);
    whitened_about_ = about;
  }

  double largest(const double* value, std::size_t count) {
    return raised<1>([&](unsigned long long* to) {
      raise_to_largest<<<128, 256>>>(value, count, to);
      check(cudaGetLastError(), "starting to look for the farthest");
    })[0];
  }

  /// The numbers whose bits `raise` leaves, of zero at first.
  template <std::size_t kNumbers, class Raise>
  std::array<double, kNumbers> raised(const Raise& raise) {
    std::array<double, kNumbers> numbers;
    static_assert(sizeof numbers == kNumbers * sizeof(unsigned long long), "bits of a double");
    unsigned long long* to = largest_.reserve(kNumbers);
    check(cudaMemset(to, 0, sizeof numbers), "clearing memory");
    raise(to);
    check(cudaMemcpy(numbers.data(), to, sizeof numbers, cudaMemcpyDeviceToHost),
          "copying it back");
    return numbers;
  }

  /// Value t of point i goes to sum[t * sum_stride + i].
  bool sum_block(const double* e, std::size_t stride, std::size_t m, std::size_t sum_stride,
                 double* sum, std::size_t chunks, const Poll& poll) {
    const std::size_t padded = round_up(m, kPointUnit);
    upload_columns(e, stride, m, d_, e_.reserve(d_ * m));
    double* square = may_take_products() ? point_square_.reserve(padded) : nullptr;
    run_whiten(e_.data(), m, padded, point_history_, nullptr,
               {point_.reserve(d_ * padded), square, nullptr, 0.0});
    SumTask<Real> task{};
    task.sample = sample_.data();
    task.weight = sample_.data() + d_ * padded_;
    task.point = point_.data();
    task.sample_stride = padded_;
    task.point_stride = padded;
    task.chunk = chunk_;
    task.partial = partial_.reserve(chunks * values() * padded);
    task.rim = {x_.data(), e_.data(), root_.data(), n_, m};
    task.d = d_;
    const Launch<Real>& launch = choose(square, &task);
    const auto beside = [&] {
      for (std::size_t t = 0; t < values(); ++t) take_pages(sum + t * sum_stride, m);
    };
    if (!launch_all(launch, task, chunks, poll, beside)) return false;
    // Moments may be negative.
    const double smallest =
        moments_ > 0  ? -INFINITY
        : !gaussian() ? 0.0
        : sizeof(Real) == sizeof(float)
            ? 0x1p-100
            : std::max(std::exp2(kestrel::kExp2Smallest), 0x1p-1042 * static_cast<double>(padded_));
    double* total = sum_.reserve(m);
    for (std::size_t t = 0; t < values(); ++t) {
      add_chunks<<<static_cast<unsigned>((m + 127) / 128), 128>>>(
          partial_.data() + t * padded, values() * padded, chunks, m, smallest,
          &launch == &differences_ ? nullptr : square, largest_weight_ > 0 ? largest_weight_ : 1.0,
          total);
      check(cudaGetLastError(), "starting to add the chunks");
      download(total, m, sum + t * sum_stride);
    }
    return true;
  }

  bool may_take_products() const { return products_.kernel != nullptr; }

  /// The fastest launch that is accurate enough for points of these squared lengths; completes the
  /// task for it.
  const Launch<Real>& choose(const double* square, SumTask<Real>* task) {
    if (!may_take_products()) return differences_;
    const double farthest = std::max(largest(square, task->point_stride), largest_sample_);
    const Real* const products_weight = task->weight + padded_;
    if constexpr (sizeof(Real) == sizeof(float)) {
      const Launch<float>* const launch = grid_launch(farthest, products_weight, task);
      if (launch != nullptr) return *launch;
    }
    if (!products_hold<Real>(d_, farthest)) return differences_;
    task->weight = products_weight;
    if constexpr (sizeof(Real) == sizeof(double)) {
      if (tensor_.kernel != nullptr && tensor_products_hold(d_, farthest)) return tensor_;
    }
    return products_;
  }

  /// The launch for sums of numbers in half precision, for which it completes the task. Null if
  /// there is none, or they lose too much.
  const Launch<float>* grid_launch(double farthest, const float* weight, SumTask<float>* task) {
    if (tensor_.kernel == nullptr || !grid_holds(d_, farthest, 0, 0, true)) return nullptr;
    const float unit = grid_unit(farthest);
    const auto put = [&](const float* row, std::size_t count, float factor,
                         Buffer<GridNumbers>* grid, unsigned long long* largest) {
      GridNumbers* const to = grid->reserve(grid_numbers(count, d_));
      put_on_grid<<<pieces(count, 8 * kTensorWarps), kTensorThreads>>>(row, count, d_, unit, factor,
                                                                       to, largest);
      check(cudaGetLastError(), "starting to round coordinates");
      return to;
    };
    const std::array<double, 2> squares = raised<2>([&](unsigned long long* to) {
      task->grid_sample = put(task->sample, padded_, 1, &sample_grid_, to);
      task->grid_point = put(task->point, task->point_stride, kPointFactor, &point_grid_, to);
    });
    const auto hold = [&](bool all) {
      return grid_holds(d_, farthest, std::sqrt(squares[0]), std::sqrt(squares[1]), all);
    };
    if (!hold(true)) return nullptr;
    float* const weights = grid_weight_.reserve(2 * padded_);
    weights_on_grid<<<pieces(padded_, kTensorThreads), kTensorThreads>>>(weight, padded_, unit,
                                                                         weights);
    check(cudaGetLastError(), "starting to round weights");
    task->weight = weights;
    return hold(false) ? &short_tensor_ : &tensor_;
  }

  /// Each launch takes some chunks, at all points of the block. Calls `beside` when the first one
  /// runs.
  template <class Beside>
  bool launch_all(const Launch<Real>& launch, SumTask<Real> task, std::size_t chunks,
                  const Poll& poll, const Beside& beside) {
    // Groups of moments compute the kernel again, and a moment reads each of its factors.
    const std::size_t groups = (moments_ + kMomentSide - 1) / kMomentSide;
    const double of_pair =
        moments_ > 0
            ? static_cast<double>(groups) * (2.0 * d_ + 10.0 + 8.0 * (degree_ + 1.0) * kMomentSide)
            : 2.0 * d_ + 10.0;
    const double of_chunk =
        static_cast<double>(task.point_stride) * static_cast<double>(chunk_) * of_pair;
    return for_chunks(chunks, of_chunk, poll, [&](std::size_t first, unsigned count) {
      task.first_chunk = first;
      if (moments_ > 0) {
        launch_moments(task, count, static_cast<unsigned>(groups));
      } else {
        const dim3 grid(static_cast<unsigned>(task.point_stride / launch.points), count);
        launch.kernel<<<grid, launch.threads>>>(task);
      }
      if (first == 0) beside();
    });
  }

  void launch_moments(const SumTask<Real>& task, unsigned chunks, unsigned groups) {
    if constexpr (sizeof(Real) == sizeof(double)) {
      const dim3 grid(static_cast<unsigned>(task.point_stride / kMomentSide), chunks, groups);
      moment_kernel(degree_)<<<grid, kMomentThreads, moment_memory(d_)>>>(
          task, factor_.data(), static_cast<unsigned>(moments_));
    }
  }

  /// Sums at each point.
  std::size_t values() const { return std::max<std::size_t>(1, moments_); }

  const int leaf_, d_;
  const bool diagonal_;
  const double farthest_;
  const std::size_t moments_;
  const int degree_;
  const Launch<Real> differences_;
  const Launch<Real> products_, tensor_;      // null: there is none
  Launch<Real> short_tensor_{nullptr, 0, 0};  // without products of remainders
  std::size_t n_ = 0, padded_ = 0, chunk_ = 1024;
  Buffer<double> matrix_, root_, centre_;
  Buffer<int> factor_;
  Buffer<double> x_, w_, e_;  // as given
  Buffer<double> history_, point_history_;
  Buffer<Real> sample_, point_;  // whitened
  Buffer<GridNumbers> sample_grid_, point_grid_;
  Buffer<float> grid_weight_;
  Buffer<double> square_, point_square_;
  Buffer<unsigned long long> largest_;
  double largest_sample_ = 0.0;  // squared length
  double largest_weight_ = 0.0;  // 0: weights are as given
  Buffer<double> partial_, sum_;
  std::vector<double> whitened_about_;  // empty: not whitened yet
};

}  // namespace

std::unique_ptr<Density> make_density(const kestrel_gpu_kernel& kernel) {
  const bool continuous =
      kernel.leaf != KESTREL_GPU_uniform && kernel.leaf != KESTREL_GPU_product_uniform;
  if (kernel.leaf == KESTREL_GPU_uniform && kernel.d > KESTREL_GPU_UNIFORM_VARIABLES) {
    refuse("%d variables", kernel.d);
  }
  if (kernel.moments > 0) {
    const bool taken = kernel.leaf == KESTREL_GPU_gaussian && kernel.single_precision == 0 &&
                       kernel.degree >= 1 && kernel.degree <= KESTREL_GPU_MOMENT_DEGREE;
    if (!taken) refuse("moments of degree %d", kernel.degree);
    if (kernel.d > KESTREL_GPU_MOMENT_VARIABLES) refuse("moments of %d variables", kernel.d);
  }
  if (kernel.single_precision != 0 && continuous) {
    return std::unique_ptr<Density>(new DensityOf<float>(kernel));
  }
  return std::unique_ptr<Density>(new DensityOf<double>(kernel));
}

}  // namespace kestrel_cuda
