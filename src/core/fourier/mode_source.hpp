// What makes modes of samples that are not known one by one, but are on a grid already.
#ifndef KESTREL_CORE_FOURIER_MODE_SOURCE_HPP
#define KESTREL_CORE_FOURIER_MODE_SOURCE_HPP

#include <memory>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/run_options.hpp"
#include "core/fourier/geometry.hpp"
#include "core/fourier/modes.hpp"

namespace kestrel {

/// The spacing of the grid is fixed, so that only bandwidths from a least one on are served. The
/// period is chosen when modes are made.
class ModeSource {
 public:
  virtual ~ModeSource() = default;

  /// The coordinates of all modes: d, centre, root, scale and `min`, the least bandwidth. `root` is
  /// diagonal.
  virtual const FourierGeometry& axes() const = 0;
  /// Modes, with their phases, for bandwidths up to `max` in units of the axes, and of that period
  /// or a longer one along each axis. Throws error(unfit) if the grid would be too large.
  virtual std::unique_ptr<FourierModes> modes(double max, const Point3& period,
                                              const RunOptions& options) const = 0;
  /// Samples with weights that are known one by one, among them all that a grid may leave out.
  virtual MatrixView known() const = 0;
  virtual Weights known_weights() const = 0;
  /// The sum of the weights of all samples, and the largest.
  virtual double weight() const = 0;
  virtual double heaviest() const = 0;
};

/// What a sample keeps that is not known one by one.
struct SpreadSamples {
  const ModeSource* source;
};

/// Throws error(unfit) if the least bandwidth along an axis is less than `source` serves.
inline void check_served(const ModeSource& source, double least) {
  constexpr double kSlackOfLeast = 1e-9;
  if (least >= source.axes().min * (1 - kSlackOfLeast)) return;
  throw error(ErrorKind::unfit, "the cells of the samples are too wide for a bandwidth");
}

}  // namespace kestrel

#endif
