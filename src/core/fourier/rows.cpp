#include "core/fourier/rows.hpp"

#include <cmath>

#include "core/base/pack.hpp"
#include "simd/isa/target.hpp"

namespace kestrel {

namespace {

/// Values computed from one exact exponential: 16 before it, 15 after it.
constexpr int kReach = 16;
static_assert(2 * kReach == kRowPadding, "a row is filled in strides");

template <int Degree>
void sum_powers(const double* weight, double first, std::size_t packs, double* sum) {
  Pack total[Degree + 1] = {};
  Pack k = {first, first + 1};
  for (std::size_t i = 0; i < packs; ++i, k += both(2.0)) {
    Pack term = load_pack(weight + 2 * i);
    KESTREL_UNROLL
    for (int p = 0; p <= Degree; ++p) {
      total[p] += term;
      if (p < Degree) term *= k;
    }
  }
  for (int p = 0; p <= Degree; ++p) sum[p] = total[p][0] + total[p][1];
}

/// Without powers there is nothing to do between two additions, so there are four chains in step.
template <>
void sum_powers<0>(const double* weight, double, std::size_t packs, double* sum) {
  Pack total[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= packs; i += 4) {
    KESTREL_UNROLL
    for (std::size_t c = 0; c < 4; ++c) total[c] += load_pack(weight + 2 * (i + c));
  }
  for (; i < packs; ++i) total[0] += load_pack(weight + 2 * i);
  const Pack all = (total[0] + total[1]) + (total[2] + total[3]);
  sum[0] = all[0] + all[1];
}

}  // namespace

GaussianRows::GaussianRows(double a) : a_(a) {
  for (int j = -kReach; j < kReach; ++j) curve_[kReach + j] = std::exp(-0.5 * a * j * j);
}

void GaussianRows::fill(double b, double g, std::ptrdiff_t first, std::size_t count,
                        double* out) const {
  // From the value at k: E(k + j) = E(k) r^j exp(-a j^2 / 2), r = exp(-(a k + b)).
  for (std::size_t start = 0; start < count; start += 2 * kReach, out += 2 * kReach) {
    const double k = static_cast<double>(first + static_cast<std::ptrdiff_t>(start) + kReach);
    const double slope = a_ * k + b, exponent = 0.5 * ((slope + b) * k + g);
    if (!(std::fabs(slope) < 40) || !(exponent < 600)) {  // r^16 or its product would overflow
      for (int j = 0; j < 2 * kReach; ++j) {
        const double at = k + (j - kReach);
        out[j] = std::exp(-0.5 * ((a_ * at + 2 * b) * at + g));
      }
      continue;
    }
    const double r = std::exp(-slope), middle = std::exp(-exponent);
    const Pack up = both(r * r), down = both(1 / (r * r));
    Pack above = Pack{middle, middle * r}, below = above * down;
    for (int j = 0; j < kReach; j += 2) {
      store_pack(above * load_pack(curve_ + kReach + j), out + kReach + j);
      store_pack(below * load_pack(curve_ + kReach - 2 - j), out + kReach - 2 - j);
      above *= up;
      below *= down;
    }
  }
}

void power_sums(double* weight, std::ptrdiff_t first, std::size_t count, int degree, double* sum) {
  const double start = static_cast<double>(first);
  if (count % 2 == 1) weight[count] = 0.0;
  const std::size_t packs = (count + 1) / 2;
  switch (degree) {
    case 0: return sum_powers<0>(weight, start, packs, sum);
    case 2: return sum_powers<2>(weight, start, packs, sum);
    case 4: return sum_powers<4>(weight, start, packs, sum);
    case 6: return sum_powers<6>(weight, start, packs, sum);
    case 8: return sum_powers<8>(weight, start, packs, sum);
    default: return sum_powers<10>(weight, start, packs, sum);
  }
}

}  // namespace kestrel
