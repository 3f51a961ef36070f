// Points at which an estimate is wanted.
#ifndef KESTREL_CORE_DATA_EVALUATION_POINTS_HPP
#define KESTREL_CORE_DATA_EVALUATION_POINTS_HPP

#include <cstddef>
#include <vector>

#include "core/base/span.hpp"
#include "core/data/weights.hpp"

namespace kestrel {

/// Points at which to evaluate: the rows of a matrix, or a regular grid given by its axes
/// (`axes` not empty), first axis fastest. Does not own its memory.
struct EvaluationPoints {
  MatrixView matrix;
  std::vector<Span<const double>> axes;

  std::size_t size() const;
  std::size_t dimension() const;
  /// Points on a line as one array: the first column of the matrix, or the only axis.
  Span<const double> line() const { return axes.empty() ? matrix.column(0) : axes[0]; }
  /// Coordinates of point i into out[0 .. dimension()).
  void copy(std::size_t i, double* out) const;
};

/// Throws error(input) unless there is one weight a sample and the points have as many variables as
/// the samples, error(internal) for a root or an output of another size. For engines that take
/// points anywhere.
void check_density_sizes(const MatrixView& x, Weights w, const EvaluationPoints& points,
                         Span<const double> root, Span<double> out);

}  // namespace kestrel

#endif
