#include "core/fourier/transform.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <unsupported/Eigen/FFT>

#include "core/base/aligned_buffer.hpp"
#include "core/base/error.hpp"

#ifdef KESTREL_FFTW3
#include <fftw3.h>
#endif

namespace kestrel {

namespace {

using Complex = std::complex<double>;

/// The maximum number of columns transformed at a time: 512 bytes of each row. With 128 columns the
/// transforms of 3e7 cells took a quarter longer, since neighbouring rows are pages apart (2026-11,
/// 2.5 GHz Xeon). A worker's copies of long columns take no more than kWorkerBytes, or one column.
constexpr std::size_t kColumns = 32, kWorkerBytes = std::size_t{1} << 25;

std::size_t columns_at_once(std::size_t n) {
  return std::max<std::size_t>(1, std::min(kColumns, kWorkerBytes / (16 * n)));
}

/// The minimum number of cells of a work item.
constexpr std::size_t kItemCells = std::size_t{1} << 15;

/// Transforms of one length, each worker on its own memory.
class Lines {
 public:
  virtual ~Lines() = default;
  /// `real`: n numbers; `modes`: n / 2 + 1. The inverse may destroy `modes`.
  virtual void real_forward(double* real, Complex* modes) = 0;
  virtual void real_inverse(Complex* modes, double* real) = 0;
  /// columns_at_once(n) interleaved columns of n numbers, in place.
  virtual void columns(Complex* data, bool forward) = 0;
};

#ifdef KESTREL_FFTW3

fftw_complex* fftw(Complex* data) { return reinterpret_cast<fftw_complex*>(data); }

/// Plans are made once and used by all workers, whose memory has the same alignment.
class FftwPlans {
 public:
  FftwPlans(std::size_t n, bool real, bool forward) {
    AlignedBuffer from, to;
    from.resize(real ? n + 2 : 2 * n * columns_at_once(n));
    to.resize(real ? n : 0);
    const int length = static_cast<int>(n), many = static_cast<int>(columns_at_once(n));
    Complex* modes = reinterpret_cast<Complex*>(from.data());
    if (real && forward) {
      plan_ = fftw_plan_dft_r2c_1d(length, to.data(), fftw(modes), FFTW_ESTIMATE);
    } else if (real) {
      plan_ = fftw_plan_dft_c2r_1d(length, fftw(modes), to.data(), FFTW_ESTIMATE);
    } else {
      plan_ =
          fftw_plan_many_dft(1, &length, many, fftw(modes), nullptr, many, 1, fftw(modes), nullptr,
                             many, 1, forward ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE);
    }
    if (plan_ == nullptr) throw error(ErrorKind::internal, "FFTW has no plan");
  }
  ~FftwPlans() { fftw_destroy_plan(plan_); }
  FftwPlans(const FftwPlans&) = delete;
  FftwPlans& operator=(const FftwPlans&) = delete;

  fftw_plan get() const { return plan_; }

 private:
  fftw_plan plan_;
};

class FftwLines : public Lines {
 public:
  explicit FftwLines(std::shared_ptr<FftwPlans> plan) : plan_(std::move(plan)) {}
  void real_forward(double* real, Complex* modes) override {
    fftw_execute_dft_r2c(plan_->get(), real, fftw(modes));
  }
  void real_inverse(Complex* modes, double* real) override {
    fftw_execute_dft_c2r(plan_->get(), fftw(modes), real);
  }
  void columns(Complex* data, bool) override {
    fftw_execute_dft(plan_->get(), fftw(data), fftw(data));
  }

 private:
  std::shared_ptr<FftwPlans> plan_;
};

#endif

/// Eigen keeps twiddle factors in the object, so each worker has its own.
class EigenLines : public Lines {
 public:
  explicit EigenLines(std::size_t n) : n_(n), from_(n), to_(n) {
    fft_.SetFlag(Eigen::FFT<double>::Unscaled);
    fft_.SetFlag(Eigen::FFT<double>::HalfSpectrum);
  }
  void real_forward(double* real, Complex* modes) override { fft_.fwd(modes, real, length()); }
  void real_inverse(Complex* modes, double* real) override { fft_.inv(real, modes, length()); }
  void columns(Complex* data, bool forward) override {
    const std::size_t many = columns_at_once(n_);
    for (std::size_t c = 0; c < many; ++c) {
      for (std::size_t i = 0; i < n_; ++i) from_[i] = data[i * many + c];
      if (forward) {
        fft_.fwd(to_.data(), from_.data(), length());
      } else {
        fft_.inv(to_.data(), from_.data(), length());
      }
      for (std::size_t i = 0; i < n_; ++i) data[i * many + c] = to_[i];
    }
  }

 private:
  Eigen::Index length() const { return static_cast<Eigen::Index>(n_); }

  std::size_t n_;
  std::vector<Complex> from_, to_;
  Eigen::FFT<double> fft_;
};

#ifdef KESTREL_TEST_HOOKS
std::string& forced_library() {
  static std::string name;
  return name;
}
#endif

#ifdef KESTREL_FFTW3
std::string library_in_use() {
#ifdef KESTREL_TEST_HOOKS
  if (!forced_library().empty()) return forced_library();
#endif
  return transform_libraries().front();
}
#endif

/// One worker's lines, and memory for them.
struct LineWorker {
  std::unique_ptr<Lines> lines;
  AlignedBuffer memory, real;

  Complex* modes() { return reinterpret_cast<Complex*>(memory.data()); }
};

std::vector<LineWorker> make_workers(std::size_t items, std::size_t n, bool real, bool forward,
                                     const ParallelOptions& options) {
  std::vector<LineWorker> workers(parallel_workers(items, options));
#ifdef KESTREL_FFTW3
  std::shared_ptr<FftwPlans> plan;
  if (library_in_use() == "fftw3") plan = std::make_shared<FftwPlans>(n, real, forward);
#else
  (void)forward;
#endif
  for (LineWorker& worker : workers) {
#ifdef KESTREL_FFTW3
    if (plan) worker.lines = std::make_unique<FftwLines>(plan);
#endif
    if (!worker.lines) worker.lines = std::make_unique<EigenLines>(n);
    worker.memory.resize(real ? n + 2 : 2 * n * columns_at_once(n));
    if (real) worker.real.resize(n);
  }
  return workers;
}

/// Transforms the rows (i, j) of the last axis: forward, all that are not zero; inverse, all.
void transform_rows(double* data, const TransformBox& box, bool forward,
                    const ParallelOptions& options) {
  const std::size_t n = box.cells[2], rows = box.cells[0] * box.cells[1];
  const std::size_t rows_of_item = std::max<std::size_t>(1, kItemCells / n);
  const std::size_t items = (rows + rows_of_item - 1) / rows_of_item;
  std::vector<LineWorker> workers = make_workers(items, n, true, forward, options);
  const std::size_t kept = box.max[2] + 1;
  parallel_for(items, options, [&](std::size_t item, int id) {
    LineWorker& worker = workers[static_cast<std::size_t>(id)];
    for (std::size_t r = item * rows_of_item; r < std::min(rows, (item + 1) * rows_of_item); ++r) {
      double* row = data + r * box.row_length();
      if (forward) {
        if (std::all_of(row, row + n, [](double v) { return v == 0; })) {
          row[n] = row[n + 1] = 0.0;
          continue;
        }
        std::memcpy(worker.real.data(), row, n * sizeof(double));
        worker.lines->real_forward(worker.real.data(), worker.modes());
        std::memcpy(row, worker.memory.data(), 2 * kept * sizeof(double));
      } else {
        std::memcpy(worker.memory.data(), row, 2 * kept * sizeof(double));
        std::fill(worker.memory.data() + 2 * kept, worker.memory.data() + n + 2, 0.0);
        worker.lines->real_inverse(worker.modes(), worker.real.data());
        std::memcpy(row, worker.real.data(), n * sizeof(double));
      }
    }
  });
}

/// Transforms columns along `axis` (0 or 1), for the wanted modes of the axes after it. Those are
/// modes in both directions: forward goes from the last axis to the first, the inverse back.
void transform_columns(double* data, const TransformBox& box, std::size_t axis, bool forward,
                       const ParallelOptions& options) {
  const std::size_t n = box.cells[axis];
  if (n == 1) return;
  const std::size_t max = box.max[axis], kept = box.max[2] + 1;
  const std::size_t together = columns_at_once(n), groups = (kept + together - 1) / together;
  // Lines of one group lie side by side; `others` are the positions along the other axis.
  const std::size_t stride = axis == 0 ? box.row(1, 0) : box.row_length();
  const std::size_t others = axis == 0 ? 2 * box.max[1] + 1 : box.cells[0];
  const auto place = [&](std::size_t other) {
    if (axis == 1) return box.row(other, 0);
    const std::ptrdiff_t k = static_cast<std::ptrdiff_t>(other);
    return box.row(0, box.cell_of_mode(1, k - static_cast<std::ptrdiff_t>(box.max[1])));
  };
  const auto is_kept = [&](std::size_t i) { return i <= max || i + max >= n; };
  std::vector<LineWorker> workers = make_workers(others * groups, n, false, forward, options);
  parallel_for(others * groups, options, [&](std::size_t item, int id) {
    LineWorker& worker = workers[static_cast<std::size_t>(id)];
    const std::size_t first = item % groups * together;
    const std::size_t bytes = std::min(together, kept - first) * sizeof(Complex);
    double* start = data + place(item / groups) + 2 * first;
    Complex* columns = worker.modes();
    for (std::size_t i = 0; i < n; ++i) {
      if (forward || is_kept(i)) {
        std::memcpy(static_cast<void*>(columns + i * together), start + i * stride, bytes);
      } else {
        std::fill(columns + i * together, columns + (i + 1) * together, Complex());
      }
    }
    worker.lines->columns(columns, forward);
    for (std::size_t i = 0; i < n; ++i) {
      if (!forward || is_kept(i)) std::memcpy(start + i * stride, columns + i * together, bytes);
    }
  });
}

}  // namespace

void forward_transform(double* data, const TransformBox& box, const ParallelOptions& options) {
  transform_rows(data, box, true, options);
  transform_columns(data, box, 1, true, options);
  transform_columns(data, box, 0, true, options);
}

void inverse_transform(double* data, const TransformBox& box, const ParallelOptions& options) {
  transform_columns(data, box, 0, false, options);
  transform_columns(data, box, 1, false, options);
  transform_rows(data, box, false, options);
}

const std::vector<const char*>& transform_libraries() {
  static const std::vector<const char*> names = {
#ifdef KESTREL_FFTW3
      "fftw3",
#endif
      "eigen"};
  return names;
}

#ifdef KESTREL_TEST_HOOKS
void force_transform_library(const char* name) {
  const std::string wanted = name;
  for (const char* known : transform_libraries()) {
    if (wanted.empty() || wanted == known) {
      forced_library() = wanted;
      return;
    }
  }
  throw error(ErrorKind::input, "there is no transform library \"" + wanted + "\" here");
}
#endif

std::size_t smooth_number(std::size_t n) {
  for (std::size_t candidate = std::max<std::size_t>(2, n + n % 2);; candidate += 2) {
    std::size_t rest = candidate;
    for (const std::size_t prime : {2, 3, 5, 7}) {
      while (rest % prime == 0) rest /= prime;
    }
    if (rest == 1) return candidate;
  }
}

}  // namespace kestrel
