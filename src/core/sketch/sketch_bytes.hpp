// A sketch as bytes, the same on every machine.
#ifndef KESTREL_CORE_SKETCH_SKETCH_BYTES_HPP
#define KESTREL_CORE_SKETCH_SKETCH_BYTES_HPP

#include <vector>

#include "core/base/span.hpp"
#include "core/sketch/grid_sketch.hpp"
#include "core/sketch/line_sketch.hpp"

namespace kestrel {

/// Words of 8 bytes, lowest byte first: a mark, the version of this form, the exponents of cells
/// and of weights, the numbers of bytes of the names of the column and of the weights, those of
/// samples, of cells and of counters of ties that are not zero, the names, each filled up with
/// zeros, the ranges of the samples and of their weights, the samples, their weights if there are
/// any, the keys of the cells, the two halves of their sums, the counters, and a checksum
/// (core/base/files.hpp) of all words before. Counters are their numbers, ascending and four in a
/// word, then their values, and then the two halves of their weights if there are any. Equal
/// sketches have equal bytes. Those of a regression have another mark and, after the version, the
/// origin of the responses, which take the place of weights.
std::vector<unsigned char> bytes_of(const LineSketch& sketch);

/// Throws error(input) for bytes that are no sketch, of another version, cut short or changed.
LineSketch sketch_of(Span<const unsigned char> bytes);

/// Of two or three variables, and settled. Words: another mark, the version, the number of
/// variables, for each its exponent, the length of its name, the name, and its range; exponent,
/// length, name and range of the weights; the number of tiles. Then for each tile, in ascending
/// order, its key, whether it is full, its number of samples, whether it has cells, and whether
/// these are wide. After that the samples that the tile keeps, sorted, or the two halves of each of
/// its sums, and its cells, one word each, or two if they are wide. At the end how many counters of
/// ties are not zero, these as above, and the checksum.
std::vector<unsigned char> bytes_of(const GridSketch& sketch);
GridSketch grid_sketch_of(Span<const unsigned char> bytes);

/// Whether bytes begin like a sketch of several variables.
bool is_grid_sketch(Span<const unsigned char> bytes);

}  // namespace kestrel

#endif
