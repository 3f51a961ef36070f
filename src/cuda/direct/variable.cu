// Direct sums of compact kernels with bandwidths that vary on the device.
#include <algorithm>

#include "cuda/base/device.cuh"
#include "cuda/direct/chunks.cuh"
#include "cuda/direct/variable.cuh"
#include "cuda/direct/variable_sums.cuh"

namespace kestrel_cuda {

namespace {

/// How rows of VariableSum are made of the data as given.
struct Rows {
  double unit, centre[KESTREL_GPU_VARIABLE_AXES], farthest;
  int d;
};

/// The data as given, one row a variable; null: there are none.
struct Given {
  const double *x, *w, *h;
  std::size_t count;
};

/// Rows with `weights` have those of samples, of one each if there are none. Padding is of zeros,
/// with bandwidth one.
template <class Real>
__global__ void make_rows(Rows rows, Given from, bool weights, std::size_t padded, Real* to) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= padded) return;
  const bool given = i < from.count;
  for (int k = 0; k < rows.d; ++k) {
    double v = given ? from.x[k * from.count + i] : 0.0;
    if constexpr (kParts<Real> == 2) {
      if (given) v = fmin(fmax((v - rows.centre[k]) / rows.unit, -rows.farthest), rows.farthest);
      const Real remainder = static_cast<Real>(v - static_cast<double>(static_cast<Real>(v)));
      to[(rows.d + k) * padded + i] = remainder;
    }
    to[k * padded + i] = static_cast<Real>(v);
  }
  Real* row = to + rows.d * kParts<Real> * padded + i;
  const double h = given && from.h != nullptr ? from.h[i] / rows.unit : 1.0;
  if (weights) {
    double w = !given ? 0.0 : from.w != nullptr ? from.w[i] : 1.0;
    for (int k = 0; k < rows.d; ++k) w /= h;
    *row = static_cast<Real>(w);
    row += padded;
  }
  if (from.h != nullptr) *row = static_cast<Real>(1 / (h * h));
}

template <class Real>
using VariableKernel = void (*)(VariableSum<Real>);

/// Null for what there is not: the Gaussian kernel, and the uniform one in single precision.
template <class Real, int D, bool kByPoint>
VariableKernel<Real> variable_kernel(int leaf) {
  switch (leaf) {
#define KESTREL_KERNEL(name, form, inner, outer)                                                 \
  case KESTREL_GPU_##name: {                                                                     \
    constexpr auto kForm = kestrel::KernelForm::form;                                            \
    constexpr bool kIndicator = kForm == kestrel::KernelForm::power && outer == 0;               \
    if constexpr (kForm == kestrel::KernelForm::gaussian || (kIndicator && kParts<Real> == 2)) { \
      return nullptr;                                                                            \
    } else {                                                                                     \
      return variable_sum<kForm, inner, outer, Real, D, kByPoint>;                               \
    }                                                                                            \
  }
#include "shared/kernels.def"
    default: return nullptr;
  }
}

template <class Real, int D>
VariableKernel<Real> variable_kernel(int leaf, bool by_point) {
  return by_point ? variable_kernel<Real, D, true>(leaf) : variable_kernel<Real, D, false>(leaf);
}

template <class Real>
VariableKernel<Real> variable_kernel(int leaf, int d, bool by_point) {
  switch (d) {
    case 1: return variable_kernel<Real, 1>(leaf, by_point);
    case 2: return variable_kernel<Real, 2>(leaf, by_point);
    case 3: return variable_kernel<Real, 3>(leaf, by_point);
    default: return nullptr;
  }
}

template <class Real>
class VariableOf : public Variable {
 public:
  explicit VariableOf(const kestrel_gpu_variable& request)
      : by_point_(request.by_point != 0),
        kernel_(variable_kernel<Real>(request.leaf, request.d, by_point_)) {
    rows_.unit = request.unit;
    std::copy_n(request.centre, KESTREL_GPU_VARIABLE_AXES, rows_.centre);
    rows_.farthest = request.farthest;
    rows_.d = request.d;
  }

  bool fits() const { return kernel_ != nullptr; }

  void samples(const double* x, std::size_t stride, const double* w, const double* h,
               std::size_t n) override {
    set_count(n);
    const std::size_t room = std::max<std::size_t>(1, n);
    upload_columns(x, stride, n, d(), x_.reserve(d() * room));
    if (w != nullptr) upload(w, n, w_.reserve(room));
    if (h != nullptr) upload(h, n, h_.reserve(room));
    run_rows({x_.data(), w != nullptr ? w_.data() : nullptr, h != nullptr ? h_.data() : nullptr, n},
             true, padded_, sample_.reserve(sample_rows() * padded_));
    finish_sending();
  }

  void samples(const Variable& from, int from_device) override {
    const auto& other = static_cast<const VariableOf&>(from);
    set_count(other.n_);
    copy_from(from_device, other.sample_, sample_rows() * padded_, &sample_);
    if (!by_point_) copy_from(from_device, other.h_, n_, &h_);
  }

  bool sum(const double* e, std::size_t stride, const double* h, std::size_t m, double* sum,
           const Poll& poll) override {
    const std::size_t chunks = round_up(padded_, chunk_) / chunk_;
    return for_blocks(m, chunks, poll, [&](std::size_t first, std::size_t count, const Poll& part) {
      return sum_block(e + first, stride, h == nullptr ? nullptr : h + first, count, sum + first,
                       chunks, part);
    });
  }

 private:
  std::size_t d() const { return static_cast<std::size_t>(rows_.d); }
  std::size_t coordinates() const { return d() * kParts<Real>; }
  std::size_t sample_rows() const { return coordinates() + (by_point_ ? 1 : 2); }

  void set_count(std::size_t n) {
    n_ = n;
    chunk_ = chunk_size(n);
    padded_ = round_up(std::max<std::size_t>(n, 1), kChunkUnit);
  }

  void run_rows(const Given& from, bool weights, std::size_t padded, Real* to) {
    constexpr unsigned kThreads = 128;
    make_rows<Real><<<pieces(padded, kThreads), kThreads>>>(rows_, from, weights, padded, to);
    check(cudaGetLastError(), "starting to scale the data");
  }

  bool sum_block(const double* e, std::size_t stride, const double* h, std::size_t m, double* sum,
                 std::size_t chunks, const Poll& poll) {
    const std::size_t padded = round_up(m, kPointUnit);
    upload_columns(e, stride, m, d(), e_.reserve(d() * m));
    if (by_point_) upload(h, m, h_.reserve(m));
    VariableSum<Real> task{};
    Real* const point = point_.reserve((coordinates() + 1) * padded);
    run_rows({e_.data(), nullptr, by_point_ ? h_.data() : nullptr, m}, false, padded, point);
    task.sample = sample_.data();
    task.point = point;
    task.sample_stride = padded_;
    task.point_stride = padded;
    task.chunk = chunk_;
    task.h = h_.data();
    task.given = by_point_ ? m : n_;
    task.partial = partial_.reserve(chunks * padded);
    const double operations = static_cast<double>(padded) * static_cast<double>(chunk_) *
                              (2.0 * static_cast<double>(coordinates()) + 10.0);
    const auto launch = [&](std::size_t first, unsigned count) {
      task.first_chunk = first;
      kernel_<<<dim3(pieces(padded, kPointUnit), count), kVariableThreads>>>(task);
      if (first == 0) take_pages(sum, m);
    };
    if (!for_chunks(chunks, operations, poll, launch)) return false;
    double* const total = sum_.reserve(m);
    add_chunks<<<pieces(m, 128), 128>>>(partial_.data(), padded, chunks, m, 0.0, nullptr, 1.0,
                                        total);
    check(cudaGetLastError(), "starting to add the chunks");
    download(total, m, sum);
    return true;
  }

  const bool by_point_;
  const VariableKernel<Real> kernel_;
  Rows rows_;
  std::size_t n_ = 0, padded_ = 0, chunk_ = 1024;
  Buffer<double> x_, w_, h_, e_;  // as given; h_: of the samples, or of the points at hand
  Buffer<Real> sample_, point_;   // rows
  Buffer<double> partial_, sum_;
};

template <class Real>
std::unique_ptr<Variable> variable_of(const kestrel_gpu_variable& request) {
  auto made = std::make_unique<VariableOf<Real>>(request);
  if (!made->fits()) refuse("kernel %d in %d variables", request.leaf, request.d);
  return made;
}

}  // namespace

std::unique_ptr<Variable> make_variable(const kestrel_gpu_variable& request) {
  if (request.single_precision != 0) return variable_of<float>(request);
  return variable_of<double>(request);
}

}  // namespace kestrel_cuda
