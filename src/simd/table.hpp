// The leaf loops of all engines.
//
// A leaf sees arrays of doubles and nothing else: no threads, no allocation, no standard templates.
// An engine's leaves are written once and compiled for every instruction set
// (simd/isa/each_set.inc), which gives the engine one table of functions per set. The Table of a
// set points to the tables of all engines; find_table() chooses it once, at run time.
#ifndef KESTREL_SIMD_TABLE_HPP
#define KESTREL_SIMD_TABLE_HPP

#include <cstddef>

namespace kestrel {
namespace simd {

// The widest vector, in doubles.
constexpr std::size_t kLanes = 8;

struct DirectTable;        // simd/direct/direct.hpp
struct GaussianPairTable;  // simd/direct/gaussian_pairs.hpp
struct SweepTable;         // simd/sweep/sweep.hpp
struct CellTable;          // simd/fgt/cells.hpp
struct NodeTable;          // simd/nodes/nodes.hpp
struct SpreadTable;        // simd/fourier/spread.hpp
struct ScanlineTable;      // simd/scanline/scanline.hpp
struct ScanlineLineTable;  // simd/scanline/line.hpp
struct SquaredErrorTable;  // simd/bootstrap/squared_errors.hpp
struct QueryTable;         // simd/query/query.hpp
struct MixedTable;         // simd/mixed/mixed.hpp
struct ProductTable;       // simd/product/product.hpp
struct SketchTable;        // simd/sketch/whole_moments.hpp

struct Table {
  const char* name;   // "scalar", "sse2", "avx2", "avx512"
  std::size_t lanes;  // doubles in a vector
  const DirectTable* direct;
  const GaussianPairTable* pairs;
  const SweepTable* sweep;
  const CellTable* cells;
  const NodeTable* nodes;
  const SpreadTable* spread;
  const ScanlineTable* scanline;
  const ScanlineLineTable* line;
  const SquaredErrorTable* squared_errors;
  const QueryTable* query;
  const MixedTable* mixed;
  const ProductTable* product;
  const SketchTable* sketch;
};

// The instruction sets, narrowest first. Engines list their tables in this order, with null for a
// set that is not built (simd/isa/each_set.inc).
enum class Set { scalar, sse2, avx2, avx512, count };
constexpr std::size_t kSets = static_cast<std::size_t>(Set::count);

// The narrowest table that this machine can run.
const Table* baseline_table();

// The instruction sets that this machine can run, narrowest first; returns their number.
std::size_t available_tables(const Table* tables[kSets]);

// The table of that name, or the widest one for "auto"; null if unknown or not available here.
const Table* find_table(const char* name);

}  // namespace simd
}  // namespace kestrel

#endif
