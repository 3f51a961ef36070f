// A sketch that grows on several threads.
#ifndef KESTREL_CORE_SKETCH_SKETCH_BUILDER_HPP
#define KESTREL_CORE_SKETCH_SKETCH_BUILDER_HPP

#include <vector>

#include "core/sketch/line_sketch.hpp"

namespace kestrel {

/// Each thread has a sketch of its own, since sums are exact. They are added at the end, because
/// that takes longer than a chunk of some million samples.
class SketchBuilder {
 public:
  explicit SketchBuilder(const LineSketch& start) : of_worker_{{start, {}}} {}

  const SketchPlan& plan() const { return of_worker_[0].sketch.plan(); }
  /// Errors as LineSketch::check(), and then nothing is added. After an exception of the poll it is
  /// unknown how much was added.
  void add(Span<const double> x, Weights w, const RunOptions& options);
  /// The sketch of all that was added. O(cells) for each thread.
  LineSketch sum(const RunOptions& options) const;

 private:
  struct Worker {
    LineSketch sketch;
    CellSort sorted;  // memory that the next chunk takes again
  };
  std::vector<Worker> of_worker_;
};

}  // namespace kestrel

#endif
