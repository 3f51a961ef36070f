#include "core/scanline/scanline.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/kernel/kernel.hpp"
#include "core/scanline/geometry.hpp"
#include "core/scanline/sample.hpp"
#include "core/scanline/scale.hpp"
#include "core/scanline/tile_sums.hpp"
#include "core/scanline/tiles.hpp"

namespace kestrel {

namespace {

/// From this radius on (half the length of the longest run, in steps) events are faster. Time by
/// rows divided by that by events, with 1, 2 and 4 steps: 1.05, 1.19, 1.43 for d = 2 and 0.90,
/// 1.01, 1.25 for d = 3 (AVX-512; with AVX2 0.93, 1.12, 1.14 and 0.78, 0.86, 1.05).
constexpr double kShortRadius = 2;

/// The fraction of the time that progress reports for sorting.
constexpr double kSortingShare = 0.2;

/// The number of points on all axes but the last.
std::size_t points_of_slice(const MatrixView& x, Span<const RegularAxis> axes,
                            const ScanlineSettings& settings) {
  if (axes.size == 0 || axes.size != x.cols) {
    throw error(ErrorKind::input, "samples have " + std::to_string(x.cols) +
                                      " variables but the grid " + std::to_string(axes.size) +
                                      " axes");
  }
  if (settings.limbs < 0 || settings.limbs == 3 || settings.limbs > 4) {
    throw error(ErrorKind::internal, "a number of limbs there is not");
  }
  std::size_t points = 1;
  for (std::size_t k = 0; k + 1 < axes.size; ++k) points *= axes[k].count;
  return points;
}

/// Whether the kernel is a quadratic along a row. In one dimension a product kernel is radial.
bool is_quadratic(const ScanlineGeometry& geometry, const KernelChoice& choice) {
  return choice.kernel == Kernel::epanechnikov &&
         (choice.type == KernelType::radial || geometry.line());
}

ScanlineTask task_for(const ScanlineGeometry& geometry, const KernelChoice& choice,
                      const ScanlineSettings& settings) {
  const ScanlineMethod best = scanline_method(geometry, choice);
  const ScanlineMethod method = settings.method == ScanlineMethod::best ? best : settings.method;
  if (method == ScanlineMethod::events && !is_quadratic(geometry, choice)) {
    throw error(ErrorKind::internal, "events of such a kernel");
  }
  return {choice, method, settings.limbs};
}

/// The factor of all values.
ScaledNumber scale_for(const KernelChoice& choice, std::size_t d, Span<const double> root,
                       const ScanlineSettings& settings) {
  ScaledNumber scale = kernel_scale(choice, d, root);
  scale.divide(settings.divisor);
  return scale;
}

/// The factor from units of the first limb to densities, as two factors, neither of which overflows
/// or underflows before the product does.
template <class Sums>
simd::ScanlineOutput output_for(const ScanlineGeometry& geometry, const ScanlineTask& task,
                                const Sums& sums, const ScaledNumber& kernel, double* out) {
  ScaledNumber scale = scanline_unit(geometry, task, sums.scale(), kernel);
  scale.multiply(sums.common_weight());
  scale.exponent += sums.weight_exponent();
  const int half = scale.exponent / 2;
  simd::ScanlineOutput output{};
  output.limb = std::ldexp(1.0, -sums.scale().step);
  output.factor = std::ldexp(scale.mantissa, half);
  output.power = std::ldexp(1.0, scale.exponent - half);
  output.out = out;
  output.row_stride = geometry.stride(geometry.axes() - 2);
  output.run_stride = geometry.stride(geometry.axes() - 1);
  return output;
}

void write_zeros(const ScanlineGeometry& geometry, const ScanlineBox& box,
                 const simd::ScanlineOutput& output) {
  const std::size_t row = geometry.axes() - 2, run = row + 1;
  const bool along = output.run_stride == 1;
  const std::size_t inner = along ? run : row, outer = along ? row : run;
  double* out = output.out;
  for (std::size_t i = box.first[outer]; i <= box.last[outer]; ++i, out += geometry.stride(outer)) {
    std::fill(out, out + (box.last[inner] - box.first[inner] + 1), 0.0);
  }
}

}  // namespace

ScanlineMethod scanline_method(const ScanlineGeometry& geometry, const KernelChoice& choice) {
  if (!is_compact(choice.kernel)) {
    throw error(ErrorKind::input,
                "the scanline engine takes compact kernels, not the Gaussian one");
  }
  if (!is_quadratic(geometry, choice)) return ScanlineMethod::rows;
  const bool short_runs = geometry.radius() < kShortRadius && !geometry.line();
  return short_runs ? ScanlineMethod::rows : ScanlineMethod::events;
}

ScanlineDensity::ScanlineDensity(const MatrixView& x, Weights w, Span<const RegularAxis> axes,
                                 const KernelChoice& choice, Span<const double> root,
                                 const ScanlineSettings& settings, const RunOptions& options)
    : settings_(settings),
      points_(points_of_slice(x, axes, settings)),
      count_(axes[axes.size - 1].count),
      geometry_(axes, root, choice.type),
      task_(task_for(geometry_, choice, settings)),
      line_(settings.sorted ? nullptr : ScanlineLine::make(geometry_, x, w, task_, options)),
      sample_(line_ ? nullptr
                    : std::make_unique<ScanlineSample>(
                          geometry_, x, w, task_,
                          ScanlineTiles(geometry_, geometry_.slab(0, count_),
                                        8 * scanline_cell_values(task_, 2), settings.tile_bytes)
                              .segment(),
                          options)),
      scale_(scale_for(choice, x.cols, root, settings)),
      rim_(geometry_, is_indicator(choice.kernel) ? axes : Span<const RegularAxis>(), root) {}

void ScanlineDensity::slab(std::size_t first, std::size_t count, const RunOptions& options,
                           Span<double> out) const {
  if (count < 1 || first >= count_ || count > count_ - first || out.size != count * points_) {
    throw error(ErrorKind::internal, "a slab beyond the grid or an output of a wrong size");
  }
  if (empty()) {
    std::fill(out.begin(), out.end(), 0.0);
    return;
  }
  if (line_) {
    const simd::ScanlineOutput output = output_for(geometry_, task_, *line_, scale_, out.data);
    return line_->write(first, count, output, options);
  }
  const ScanlineScale& scale = sample_->scale();
  const ScanlineTiles tiles(geometry_, geometry_.slab(first, count),
                            8 * scanline_cell_values(task_, scale.limbs), settings_.tile_bytes);
  const simd::ScanlineData data = this->data();
  simd::ScanlineForm form = this->form();
  if (is_indicator(form.kernel)) form.data = &data;
  const simd::ScanlineOutput whole = output(out.data);
  const simd::ScanlineStages& leaf = task_.method == ScanlineMethod::rows
                                         ? options.table->scanline->rows
                                         : options.table->scanline->events;
  const auto write = [&](const ScanlineBox& box, std::uint64_t* cells) {
    simd::ScanlineOutput output = whole;
    output.out += tiles.first_point(box) - first * points_;
    if (cells == nullptr) return write_zeros(geometry_, box, output);
    leaf.write(form.limbs, tiles.leaf(box, cells), &output);
    if (output.largest[0] <= scale.first_bound && output.largest[1] <= scale.other_bound) return;
    throw error(ErrorKind::internal, "sums of runs beyond their bound");
  };
  const ScanlineTileSums::Take take = write;
  ScanlineTileSums(tiles, *sample_, task_, form, take, options).run();
}

simd::ScanlineForm ScanlineDensity::form() const {
  return scanline_form(geometry_, task_, sample_->scale());
}

simd::ScanlineOutput ScanlineDensity::output(double* out) const {
  return output_for(geometry_, task_, *sample_, scale_, out);
}

void scanline_density(const MatrixView& x, Weights w, Span<const RegularAxis> axes,
                      const KernelChoice& choice, Span<const double> root,
                      const ScanlineSettings& settings, const RunOptions& options,
                      Span<double> out) {
  RunOptions part = options;
  part.parallel = part_of(options.parallel, 0, kSortingShare);
  const ScanlineDensity density(x, w, axes, choice, root, settings, part);
  part.parallel = part_of(options.parallel, kSortingShare, 1);
  density.slab(0, density.count(), part, out);
}

}  // namespace kestrel
