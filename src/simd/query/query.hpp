// The leaf loops of queries: the mass that one-dimensional kernels have in an interval, row by row.
#ifndef KESTREL_SIMD_QUERY_QUERY_HPP
#define KESTREL_SIMD_QUERY_QUERY_HPP

#include <cstddef>

#include "shared/kernel.hpp"
#include "simd/table.hpp"

namespace kestrel {
namespace simd {

// Rows are taken in groups: a leaf reads and writes up to the next multiple of this.
constexpr std::size_t kQueryGroup = 16;

// Farther than this many standard deviations out, the normal density is zero in double precision.
constexpr double kNormalEnd = 40.0;

// An interval of one axis. The kernel of a row at x has its centre at x + shift * width.
struct QueryAxis {
  double lower, upper;                   // may be infinite
  double width, inverse;                 // the bandwidth, and its reciprocal
  double shift;                          // in bandwidths
  double half;                           // (upper - lower) / 2, in bandwidths
  double origin;                         // means are relative to it
  double lower_at, upper_at, middle_at;  // the limits and their middle, minus the origin
};

// A quadrature rule on [-1, 1] of at most kQueryNodes nodes; `scale` is the constant that the
// leaf's profile lacks.
constexpr int kQueryNodes = 16;
struct QueryRule {
  int size;
  const double* node;
  const double* weight;
  double scale;
};

// For each row its mass, and the mean and variance of that mass.
struct QueryMoments {
  double* mass;
  double* mean;
  double* variance;
};

struct QueryTable {
  // mass[i] *= the normal kernel's mass between the limits, which are a finite number of bandwidths
  // from the rows.
  void (*normal_between)(const QueryAxis&, const double* x, std::size_t count, double* mass);
  // mass[i] *= the kernel's mass below the upper limit, or above the lower one.
  void (*normal_below)(const QueryAxis&, const double* x, std::size_t count, double* mass);
  void (*normal_above)(const QueryAxis&, const double* x, std::size_t count, double* mass);
  // mass[i] *= as above; mean[i] and variance[i]: those of the coordinate within the limits. For
  // intervals of at least half a bandwidth: in shorter ones the differences lose their digits.
  void (*normal_moments)(const QueryAxis&, const double* x, std::size_t count, const QueryMoments&);
  // The same by a quadrature rule, for the kernel without its constant: any interval of a compact
  // kernel, short ones of the normal kernel.
  void (*rule_mass[kKernels])(const QueryAxis&, const QueryRule&, const double* x,
                              std::size_t count, double* mass);
  void (*rule_moments[kKernels])(const QueryAxis&, const QueryRule&, const double* x,
                                 std::size_t count, const QueryMoments&);
  // mass[i] = 0 where x is not within the limits.
  void (*keep_within)(const QueryAxis&, const double* x, std::size_t count, double* mass);
  double (*sum)(const double* mass, std::size_t count);
  // All rows together: total[0] is the mass, total[1] the mean, total[2] the variance about that
  // mean times the mass. All zero if there is no mass.
  void (*merge)(const QueryMoments&, std::size_t count, double* total);
  // product[j * columns + i] = the sum of a[i * stride + k] b[j * stride + k] over k < count, for
  // i < columns and j < rows. `count` is a multiple of kQueryGroup.
  void (*dot_products)(const double* a, std::size_t columns, const double* b, std::size_t rows,
                       std::size_t stride, std::size_t count, double* product);
};

extern const QueryTable* const kQueryTables[kSets];

}  // namespace simd
}  // namespace kestrel

#endif
