// The leaf loops of sums over mixed data (core/mixed).
#ifndef KESTREL_SIMD_MIXED_MIXED_HPP
#define KESTREL_SIMD_MIXED_MIXED_HPP

#include <cstddef>

#include "simd/table.hpp"

namespace kestrel {
namespace simd {

// Columns of a product whose derivatives are computed.
constexpr int kMixedColumns = 32;

// The window of a kernel of v = u^2: exp(-v / 2); 1 where v < 5; 1 where v <= 1. Of a kernel of t =
// 1
// - |u|, where t > 0: t; t^3 Q(2 t - 1), whose derivative by t is t^2 P(2 t - 1), or, where t > 1/2
// and if there are `inner` terms, a second polynomial of 2 t - 1 with its derivative by t. Of a
// distribution function, the integral of a kernel below -u: one minus itself at -u and, where u >=
// 0, the normal distribution function at -u minus u Q(v) exp(-v / 2), whose derivative by -u is
// P(v) exp(-v / 2); t Q(2 t - 1) or t^2 Q(2 t - 1), whose derivatives by t are P(2 t - 1) and t P(2
// t - 1).
enum class MixedWindow {
  gaussian,
  epanechnikov,
  uniform,
  triangle,
  cubic,
  normal_below,
  line_below,
  square_below
};

// The product kernel of the columns at one point, for `count` samples from `begin` on: with u_c =
// (x_c[begin + j] - point[c]) scale[c] and v = u^2, value[j] is the product of Q(v_c) and of the
// windows, where the Gaussian ones are divided by exp(-nearest / 2). If `slope` is not null,
// slope[c][j] is this product with v P(v) in place of Q(v) for column c, the derivative by log(1 /
// scale[c]); or, if by_point is true, with u scale[c] P(v), the derivative by point[c]. Kernels of
// t and distribution functions have these derivatives, too. If `odd` is true, the value has u P(v),
// the derivative by -u, in place of Q(v) for all columns, and there are no derivatives. If `scales`
// is not null, scales[c][begin + j] is in place of scale[c]; not for distribution functions.
struct MixedProduct {
  const double* const* x;
  const double* point;
  const double* scale;
  int columns;
  MixedWindow window;
  const double* q;  // coefficients of powers, null: Q = P = 1
  const double* p;
  int terms;
  double nearest;
  double* value;
  double* const* slope;
  bool by_point;
  bool odd = false;
  const double* const* scales = nullptr;
  int inner = 0;  // further coefficients that follow those of q and of p
};

struct MixedTable {
  void (*product)(const MixedProduct& product, std::size_t begin, std::size_t count);
  void (*multiply)(const double* a, const double* b, double* to, std::size_t count);
  // (x - point) scale.
  void (*offsets)(const double* x, double point, double scale, double* to, std::size_t count);
  // The sums of a b, and of a b c.
  double (*dot)(const double* a, const double* b, std::size_t count);
  double (*dot3)(const double* a, const double* b, const double* c, std::size_t count);
  // Adds the sums of a b and of a b v to sum[0] and sum[1].
  void (*add_sums)(const double* a, const double* b, const double* v, std::size_t count,
                   double* sum);
  // t = a[0] + sum a[k + 1] z[k], and t (v - b[0] - sum b[k + 1] z[k]), k < columns.
  void (*lines)(const double* const* z, int columns, const double* a, const double* b,
                const double* v, double* t, double* product, std::size_t count);
};

extern const MixedTable* const kMixedTables[kSets];

}  // namespace simd
}  // namespace kestrel

#endif
