// The leaf loops of non-uniform Fourier transforms: samples spread over a grid, and values read off
// one, with a window of at most 16 cells an axis, given as polynomials.
#ifndef KESTREL_SIMD_FOURIER_SPREAD_HPP
#define KESTREL_SIMD_FOURIER_SPREAD_HPP

#include <cstddef>
#include <cstdint>

#include "simd/table.hpp"

namespace kestrel {
namespace simd {

constexpr std::size_t kWindowTaps = 16;

// The window's value at tap j for a sample that lies the fraction f of a cell before tap 0:
// sum_k even[k][j] s^(2k) + s sum_k odd[k][j] s^(2k), s = 2 f - 1, k < terms; zero for j >= taps.
struct Window {
  const double (*even)[kWindowTaps];
  const double (*odd)[kWindowTaps];
  int terms;
  int taps;
};

// A sample on a grid of three axes.
struct Spot {
  std::uint32_t first[3];  // the cell of tap 0
  double part[3];          // f above
  double weight;
};

// Cells [i * stride0 + j * stride1 + k] of a box whose corner is cell `first`. Axes before
// `first_axis` have one cell. 16 cells of the last axis are written, even with fewer taps.
struct SpreadBox {
  double* cell;
  std::size_t first[3];
  std::size_t stride0, stride1;
  int first_axis;
};

// The same for reading; 16 cells of the last axis are read. Other boxes of the same size begin
// `stride` cells later each.
struct ReadBox {
  const double* cell;
  std::size_t stride0, stride1, stride;
  int first_axis;
};

struct SpreadTable {
  // Adds weight * value(axis 0) * value(axis 1) * value(axis 2) for each spot.
  void (*spread)(const Window&, const Spot* spot, std::size_t count, const SpreadBox&);
  // Of each of `count` boxes, the sum of cell * value(axis 0) * value(axis 1) * value(axis 2) over
  // the spot's window.
  void (*read)(const Window&, const Spot& spot, const ReadBox&, std::size_t count, double* out);
};

extern const SpreadTable* const kSpreadTables[kSets];

}  // namespace simd
}  // namespace kestrel

#endif
