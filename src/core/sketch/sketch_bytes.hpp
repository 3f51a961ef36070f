// A sketch as bytes, the same on every machine.
#ifndef KESTREL_CORE_SKETCH_SKETCH_BYTES_HPP
#define KESTREL_CORE_SKETCH_SKETCH_BYTES_HPP

#include <vector>

#include "core/base/span.hpp"
#include "core/sketch/line_sketch.hpp"

namespace kestrel {

/// Words of 8 bytes, lowest byte first: a mark, the version of this form, the exponent, the number
/// of bytes of the column's name, the name filled up with zeros, the numbers of samples and of
/// cells, the range, the samples, the keys of the cells, the two halves of their sums, and a
/// checksum (core/base/files.hpp) of all words before. Equal sketches have equal bytes.
std::vector<unsigned char> bytes_of(const LineSketch& sketch);

/// Throws error(input) for bytes that are no sketch, of another version, cut short or changed.
LineSketch sketch_of(Span<const unsigned char> bytes);

}  // namespace kestrel

#endif
