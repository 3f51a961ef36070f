// Sketches on a line to which tests add samples.
#ifndef KESTREL_TESTS_GROWN_SKETCH_HPP
#define KESTREL_TESTS_GROWN_SKETCH_HPP

#include "core/sketch/sketch_builder.hpp"

namespace kestrel {

inline void add_to(LineSketch* sketch, Span<const double> x, Weights w, const RunOptions& options) {
  SketchBuilder builder(*sketch);
  builder.add(x, w, options);
  *sketch = builder.sum(options);
}

}  // namespace kestrel

#endif
