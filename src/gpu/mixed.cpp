#include "gpu/mixed.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/parallel.hpp"
#include "core/data/ends.hpp"
#include "gpu/cost.hpp"
#include "gpu/loader.hpp"
#include "gpu/mixed_device.hpp"

namespace kestrel {

namespace {

/// The table of weights has this many cells squared.
constexpr std::size_t kMaxCells = 512;

/// Samples that are more bandwidths apart are left to the CPU.
constexpr double kFarthest = 1e150;

/// Picoseconds of a pair, and seconds of the CPU for a fit. Fits within a quarter to times of an
/// H100 in 2026-11 by tools/gpu-check, n = 10,000 and 50,000: 5.5 to 7.3 ps for 1 to 6 columns
/// (local constant), and 4.3, 6.1, 12 and 15 for 1, 3, 4 and 6 (local linear); 0.17 to 0.5 us.
constexpr double kConstantPs = 5.2, kColumnPs = 0.35, kLinearPs = 4, kLinearColumnsPs = 0.3;
constexpr double kFitSeconds = 2e-7;
/// Kernels other than the Gaussian one of order 2 take 1.2 (one column) to 2.7 times as long (three
/// columns; an H200 in 2026-11, n = 50,000).
constexpr double kOtherKernels = 2.5;

int window_of(simd::MixedWindow window) {
  switch (window) {
    case simd::MixedWindow::gaussian: return KESTREL_GPU_mixed_gaussian;
    case simd::MixedWindow::epanechnikov: return KESTREL_GPU_mixed_epanechnikov;
    case simd::MixedWindow::uniform: return KESTREL_GPU_mixed_uniform;
    case simd::MixedWindow::triangle: return KESTREL_GPU_mixed_triangle;
    case simd::MixedWindow::cubic: return KESTREL_GPU_mixed_cubic;
    default: break;
  }
  throw gpu_error(GpuProblem::unsuited, "distribution functions are computed on the CPU");
}

std::vector<unsigned> firsts_of(const MixedSample& rows) {
  std::vector<unsigned> first(rows.cells() + 1);
  for (std::size_t cell = 0; cell < first.size(); ++cell) {
    first[cell] = static_cast<unsigned>(rows.first(cell));
  }
  return first;
}

/// The ends of each column of the sample, and of the points.
std::vector<Ends> ends_of_columns(const MixedSample& rows, const ParallelOptions& options) {
  std::vector<Span<const double>> columns;
  for (std::size_t c = 0; c < rows.columns(); ++c) columns.push_back({rows.x(c), rows.size()});
  return ends_of(columns, options);
}

}  // namespace

std::string gpu_mixed_objection(const MixedSample& sample, const MixedKernel& kernel) {
  const auto at_most = [](std::size_t most, const char* what) {
    return "there must be at most " + std::to_string(most) + " " + what;
  };
  if (sample.columns() == 0) return "there must be a numeric column";
  if (kernel.type != BandwidthType::fixed) return "bandwidths must be fixed";
  if (sample.columns() > KESTREL_GPU_MIXED_COLUMNS) {
    return at_most(KESTREL_GPU_MIXED_COLUMNS, "numeric columns");
  }
  if (sample.factors() + sample.ordered() > KESTREL_GPU_MIXED_FACTORS) {
    return at_most(KESTREL_GPU_MIXED_FACTORS, "factors");
  }
  if (sample.cells() > kMaxCells) return at_most(kMaxCells, "combinations of levels");
  if (kernel.local_linear && kernel.order != 2) {
    return "the kernel of local linear fits must be of order 2";
  }
  return "";
}

double gpu_mixed_seconds(const MixedSample& sample, const MixedKernel& kernel,
                         const kestrel_gpu_device& device) {
  const double n = static_cast<double>(sample.size()), p = static_cast<double>(sample.columns());
  const double picoseconds =
      kernel.local_linear ? kLinearPs + kLinearColumnsPs * p * p : kConstantPs + kColumnPs * p;
  const bool plain = kernel.continuous == Kernel::gaussian && kernel.order == 2;
  const double pairs = n * n * (plain ? 1.0 : kOtherKernels);
  return 1e-12 * pairs * picoseconds * gpu_slowness(device, false) + kFitSeconds * n;
}

GpuMixed::OnDevice::OnDevice(const MixedSample& sample, const MixedSample& points,
                             const MixedKernel& kernel, bool own, std::size_t number,
                             const double* e)
    : kernel_(kernel, kernel.form_of(0)), own_(own), number_(number), e_(e) {
  for (const double h : kernel.h) scale_.push_back(std::isfinite(h) ? kernel_.scale / h : 0.0);
  const std::size_t cells = sample.cells(), at_cells = points.cells(), all = kernel.lambda.size();
  weight_.resize(cells * at_cells * (all + 1));
  for (std::size_t at = 0; at < at_cells; ++at) {
    at_cell_.push_back(sample.weights(kernel, {points.codes(at), points.positions(at)}));
    const MixedSample::CellWeights& weights = at_cell_[at];
    for (std::size_t cell = 0; cell < cells; ++cell) {
      weight_[cell * at_cells + at] = weights.value[cell];
      for (std::size_t k = 0; k < all; ++k) {
        weight_[((k + 1) * cells + cell) * at_cells + at] = weights.slope[k * cells + cell];
      }
    }
  }
}

kestrel_gpu_mixed_kernel GpuMixed::OnDevice::request() const {
  const bool plain = kernel_.q.empty();
  // Polynomials of low degree have room for more.
  int terms = kernel_.terms;
  const auto none = [&](std::size_t k) { return kernel_.q[k] == 0 && kernel_.p[k] == 0; };
  while (!plain && kernel_.inner == 0 && terms > 1 && none(static_cast<std::size_t>(terms) - 1)) {
    --terms;
  }
  return {scale_.data(),
          window_of(kernel_.window),
          plain ? 0 : terms,
          plain ? 0 : kernel_.inner,
          plain ? nullptr : kernel_.q.data(),
          plain ? nullptr : kernel_.p.data(),
          own_ ? 1 : 0,
          e_,
          weight_.data()};
}

std::vector<double> GpuMixed::Fits::for_squares() const {
  std::vector<double> given((1 + plane_) * size());
  std::copy(numbers_.get(), numbers_.get() + plane_ * size(),
            given.begin() + static_cast<std::ptrdiff_t>(size()));
  return given;
}

void GpuMixed::Fits::solve(std::size_t begin, std::size_t end, const simd::MixedTable& table) {
  const std::size_t m = size(), count = MixedPlane::number_of_sums(columns_);
  MixedPlane to_solve(columns_, true, table);
  std::vector<double> sums(count);
  MixedFit fit;
  for (std::size_t i = begin; i < end; ++i) {
    for (std::size_t s = 0; s < count; ++s) sums[s] = sum_[s * m + i];
    fit.beta.resize(plane_);
    fit.weight.resize(plane_);
    bool good = std::fabs(sums[0]) >= kLeastMixedSum;
    if (columns_ == 0) {
      fit.weight[0] = 1 / sums[0];
      fit.beta[0] = sums[1] / sums[0];
    } else {
      good = good && to_solve.solve_sums(sums.data(), fit) && !fit.ridged;
    }
    good_[i] = good ? 1 : 0;
    for (std::size_t k = 0; k < plane_; ++k) {
      numbers_[k * m + i] = good ? fit.weight[k] : 0.0;
      numbers_[(plane_ + k) * m + i] = good ? fit.beta[k] : 0.0;
    }
  }
}

void GpuMixed::Fits::solve(const RunOptions& options) {
  constexpr std::size_t kStrip = 256;
  parallel_for((size() + kStrip - 1) / kStrip, options.parallel, [&](std::size_t k, int) {
    solve(k * kStrip, std::min(size(), (k + 1) * kStrip), *options.table->mixed);
  });
}

void GpuMixed::Fits::get(std::size_t i, MixedFit& fit) const {
  const std::size_t m = size();
  fit.supported = true;
  fit.weight.resize(plane_);
  fit.beta.resize(plane_);
  for (std::size_t k = 0; k < plane_; ++k) {
    fit.weight[k] = numbers_[k * m + i];
    fit.beta[k] = numbers_[(plane_ + k) * m + i];
  }
}

GpuMixed::GpuMixed(const MixedSample& sample, const MixedSample* points, const MixedKernel& kernel)
    : sample_(sample),
      points_(points),
      local_linear_(kernel.local_linear),
      table_(gpu_table()),
      team_([this](int device, const void* from) { return open(device, from); },
            table_.mixed_close),
      kernel_of_(team_.size()) {
  std::string problem = gpu_mixed_objection(sample, kernel);
  if (problem.empty() && points != nullptr && points->cells() > kMaxCells) {
    problem = "points must have at most " + std::to_string(kMaxCells) + " combinations of levels";
  }
  if (!problem.empty()) throw gpu_error(GpuProblem::unsuited, problem);
}

void* GpuMixed::open(int device, const void* from) const {
  const std::size_t n = sample_.size(), columns = sample_.columns();
  std::vector<double> unit(columns), w;
  for (std::size_t c = 0; c < columns; ++c) unit[c] = sample_.unit(c);
  if (sample_.weighted()) {
    for (std::size_t j = 0; j < n; ++j) w.push_back(sample_.w(j));
  }
  const std::vector<unsigned> first = firsts_of(sample_), point_first = firsts_of(at());
  kestrel_gpu_mixed request{};
  request.linear = local_linear_ ? 1 : 0;
  request.columns = static_cast<int>(columns);
  request.factors = static_cast<int>(sample_.factors() + sample_.ordered());
  request.n = n;
  request.x = sample_.x(0);  // one column after the other
  request.y = sample_.responses() ? sample_.y(local_linear_) : nullptr;
  request.w = w.empty() ? nullptr : w.data();
  request.unit = unit.data();
  request.cells = sample_.cells();
  request.first = first.data();
  request.m = at().size();
  request.points = points_ == nullptr ? nullptr : points_->x(0);
  request.point_cells = at().cells();
  request.point_first = point_first.data();
  void* mixed = nullptr;
  char text[512] = "";
  check_gpu(table_.mixed_open(device, &request, from, &mixed, text, sizeof text), text);
  return mixed;
}

/// Whether the squares of distances in bandwidths are finite: the device multiplies them by
/// weights.
bool GpuMixed::takes(const MixedKernel& kernel, const ParallelOptions& options) const {
  const std::vector<Ends> of_samples = ends_of_columns(sample_, options);
  const std::vector<Ends> of_points =
      points_ == nullptr ? of_samples : ends_of_columns(*points_, options);
  for (std::size_t c = 0; c < sample_.columns(); ++c) {
    const double largest = std::max(of_samples[c].largest, of_points[c].largest);
    const double least = std::min(of_samples[c].least, of_points[c].least);
    if (!((largest - least) / kernel.h[c] < kFarthest)) return false;
  }
  return true;
}

/// The points of a piece. A search has many criteria, so that pieces half as long as others pay.
std::size_t GpuMixed::piece() const {
  const double pairs = static_cast<double>(sample_.size()) * static_cast<double>(at().size());
  return piece_length(at().size(), piece_count(2e-12 * kConstantPs * pairs), kMixedPieceUnit);
}

void GpuMixed::give_kernel(const OnDevice& kernel, const DeviceTeam::Turn& turn) {
  if (kernel_of_[turn.place] == kernel.number()) return;
  const kestrel_gpu_mixed_kernel request = kernel.request();
  char text[512] = "";
  turn.check(table_.mixed_kernel(turn.handle, &request, text, sizeof text), text);
  kernel_of_[turn.place] = kernel.number();
}

void GpuMixed::sums(const OnDevice& kernel, int task, const double* given, double* to,
                    const RunOptions& options) {
  const std::size_t m = at().size(), most = piece();
  team_.run((m + most - 1) / most, options.parallel,
            [&](std::size_t piece, const DeviceTeam::Turn& turn) {
              give_kernel(kernel, turn);
              const std::size_t first = piece * most, count = std::min(m, first + most) - first;
              char text[512] = "";
              turn.check(table_.mixed_sums(turn.handle, task, first, count, given, to,
                                           PollState::ask, &turn.poll, text, sizeof text),
                         text);
            });
}

}  // namespace kestrel
