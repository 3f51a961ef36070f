// The SIMD programs of Andrzejewski, Gramacki & Gramacki (2013), "Density Estimations for
// Approximate Query Processing on SIMD Architectures", sections 5 and 6: PLUGIN, LSCV_h and the
// objective function of LSCV_H with vectors of four floats (SSE) on several threads (OpenMP).
//
// What is theirs: single precision; tiles of 16 x 16 pairs whose two chunks are copied to local
// arrays (5.4, figure 5; 5.5, eq. 60), processed in stripes of four rows (5.4) or in rows of four
// vectors (5.5); tiles on the diagonal with vectors of zeroes and ones (5.4); S(v) kept in a
// triangular array for LSCV_h (6.2), T taken as soon as a row is there for LSCV_H (6.3); sums of
// tiles and of chunks of an array in arrays of their own, reduced by horizontal additions (5.2); a
// function for each d up to 16 with its loops unrolled (templates, 7.1).
//
// What differs: the difference is multiplied by 1 / g, not divided by g, in their favour. In 5.5
// the vectors left of the diagonal, one of 2 n / 16, are computed too. The paper does not say how
// four exponentials are computed; here it is the polynomial of Cephes (Moshier 1989), which SSE
// programs of those years used.
#ifndef KESTREL_BENCH_PAPERS_ANDRZEJEWSKI_SIMD_HPP
#define KESTREL_BENCH_PAPERS_ANDRZEJEWSKI_SIMD_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "andrzejewski.hpp"

namespace andrzejewski::simd {

// __m128 of the paper: compiles to SSE instructions on any x86-64.
typedef float Four __attribute__((vector_size(16)));
typedef int FourIntegers __attribute__((vector_size(16)));

inline Four load(const float* from) {
  Four value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
inline Four all(float value) { return Four{value, value, value, value}; }
// _mm_hadd_ps: sums of neighbours.
inline Four horizontal_add(Four a, Four b) {
  return __builtin_shufflevector(a, b, 0, 2, 4, 6) + __builtin_shufflevector(a, b, 1, 3, 5, 7);
}
inline float sum_of(Four value) {
  const Four once = horizontal_add(value, value), twice = horizontal_add(once, once);
  return twice[0];
}
// Ones for indices below `count`, or from `count` on, and zeros elsewhere.
inline Four ones_below(int count) {
  const Four index = {0, 1, 2, 3};
  const FourIntegers below = index < all(static_cast<float>(count));
  return __builtin_convertvector(-below, Four);
}
inline Four ones_from(int count) { return 1 - ones_below(count); }

// exp(x), x <= 0, by Cephes's expf: x = n log 2 + r, a polynomial of degree 7 in r.
inline Four exponential(Four x) {
  const FourIntegers far = x < -87;
  x = far ? all(-87) : x;
  const FourIntegers n = __builtin_convertvector(x * 1.44269504088896341f - 0.5f, FourIntegers);
  const Four whole = __builtin_convertvector(n, Four);
  const Four r = x - whole * 0.693359375f - whole * -2.12194440e-4f;
  Four y = all(1.9875691500e-4f);
  y = y * r + 1.3981999507e-3f;
  y = y * r + 8.3334519073e-3f;
  y = y * r + 4.1665795894e-2f;
  y = y * r + 1.6666665459e-1f;
  y = y * r + 5.0000001201e-1f;
  y = y * (r * r) + r + 1;
  const FourIntegers bits = (n + 127) << 23;
  Four power;
  std::memcpy(&power, &bits, sizeof power);
  return y * power;
}

// ---- 5.2, 5.3: the sum of function(a_i), in chunks that stay in the cache
constexpr std::size_t kChunk = 1024;

struct Itself {
  Four operator()(Four value) const { return value; }
};

template <class Function>
float reduce_chunk(const float* a, std::size_t count, Function function) {
  Four value[kChunk / 4];
  std::size_t vectors = (count + 3) / 4;
  for (std::size_t v = 0; v < vectors; ++v) {
    float last[4] = {0, 0, 0, 0};
    const int there = static_cast<int>(std::min<std::size_t>(4, count - 4 * v));
    if (there < 4) std::copy(a + 4 * v, a + count, last);
    value[v] = function(load(there < 4 ? last : a + 4 * v));
    if (there < 4) value[v] *= ones_below(there);
  }
  for (; vectors > 1; vectors = (vectors + 1) / 2) {
    if (vectors % 2 == 1) value[vectors] = all(0);
    for (std::size_t v = 0; 2 * v < vectors; ++v) {
      value[v] = horizontal_add(value[2 * v], value[2 * v + 1]);
    }
  }
  return vectors == 0 ? 0 : sum_of(value[0]);
}

template <class Function>
std::vector<float> reduce_chunks(const float* a, std::size_t n, Function function, int threads) {
  std::vector<float> sums((n + kChunk - 1) / kChunk);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::size_t c = 0; c < sums.size(); ++c) {
    sums[c] = reduce_chunk(a + c * kChunk, std::min(kChunk, n - c * kChunk), function);
  }
  return sums;
}

template <class Function>
float reduce(const float* a, std::size_t n, Function function, int threads) {
  std::vector<float> sums = reduce_chunks(a, n, function, threads);
  while (sums.size() > 1) sums = reduce_chunks(sums.data(), sums.size(), Itself(), 1);
  return sums.empty() ? 0 : sums[0];
}
inline float reduce(const std::vector<float>& a, int threads) {
  return reduce(a.data(), a.size(), Itself(), threads);
}

// ---- tiles: 16 x 16 pairs of chunk q (rows) and chunk l >= q (columns)
constexpr std::size_t kTile = 16;

inline std::size_t chunks_of(std::size_t n) { return (n + kTile - 1) / kTile; }
// Where the sum of a tile is kept: rows of the triangle one after the other.
inline std::size_t tile_number(std::size_t q, std::size_t l, std::size_t chunks) {
  return q * (2 * chunks - q + 1) / 2 + (l - q);
}

// Calls tile(q, l), which returns a float, for all tiles; returns the sum of the results.
template <class Tile>
float reduce_tiles(std::size_t n, int threads, Tile tile) {
  const std::size_t chunks = chunks_of(n);
  std::vector<float> sums(chunks * (chunks + 1) / 2);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (std::size_t q = 0; q < chunks; ++q) {
    for (std::size_t l = q; l < chunks; ++l) sums[tile_number(q, l, chunks)] = tile(q, l);
  }
  return reduce(sums, threads);
}

// ---- 5.4: one variable

// The sum over a tile of fun(E_r - F_p): stripes of four rows, each row in four steps. If `masked`,
// only over the pairs above the diagonal (`diagonal`) whose column is below `columns`.
template <bool masked, class Function>
float line_tile(const float* e, const float* f, bool diagonal, int columns, Function function) {
  Four accumulator = all(0);
  for (int stripe = 0; stripe < 4; ++stripe) {
    const Four four = load(e + 4 * stripe);
    const Four row[4] = {all(four[0]), all(four[1]), all(four[2]), all(four[3])};
    for (int r = 0; r < 4; ++r) {
#pragma GCC unroll 4
      for (int v = masked && diagonal ? stripe : 0; v < 4; ++v) {
        Four value = function(row[r] - load(f + 4 * v));
        if (masked && diagonal && v == stripe) value *= ones_from(r + 1);
        if (masked && columns < 4 * v + 4) value *= ones_below(columns - 4 * v);
        accumulator += value;
      }
    }
  }
  return sum_of(accumulator);
}

// The sum over i < j of function(x_i - x_j).
template <class Function>
float line_pair_sum(const std::vector<float>& x, int threads, Function function) {
  const std::size_t n = x.size();
  std::vector<float> padded(x);
  padded.resize(chunks_of(n) * kTile);
  return reduce_tiles(n, threads, [&](std::size_t q, std::size_t l) {
    float e[kTile], f[kTile];
    std::copy_n(&padded[q * kTile], kTile, e);
    std::copy_n(&padded[l * kTile], kTile, f);
    const int columns = static_cast<int>(std::min(kTile, n - l * kTile));
    const bool masked = q == l || columns < static_cast<int>(kTile);
    return masked ? line_tile<true>(e, f, q == l, columns, function)
                  : line_tile<false>(e, f, false, columns, function);
  });
}

// Section 6.1.
inline Plugin<float> plugin(const std::vector<float>& x, int threads) {
  const std::size_t n = x.size();
  const float sum = reduce(x, threads);
  const float squares = reduce(
      x.data(), n, [](Four value) { return value * value; }, threads);
  const auto pairs = [&](float g, auto polynomial) {
    const float per_g = 1 / g;
    return line_pair_sum(x, threads, [=](Four difference) {
      const Four u = difference * per_g, square = u * u;
      return polynomial(square) * exponential(-0.5f * square);
    });
  };
  return plugin_steps(
      variance(sum, squares, n), n, [&](float g) { return pairs(g, hermite6<Four>); },
      [&](float g) { return pairs(g, hermite4<Four>); });
}

// ---- 5.5: several variables

// The samples, variable by variable: n values of the first one, n of the next.
struct Rows {
  std::vector<float> x;
  std::size_t d;
  std::vector<float> inverse;  // d * d
  double determinant;
  std::size_t size() const { return x.size() / d; }
};

// A chunk of 16 samples in a local array, padded with zeros.
template <int d>
struct Chunk {
  Chunk(const Rows& rows, std::size_t chunk) {
    const std::size_t n = rows.size(), first = chunk * kTile;
    const std::size_t count = std::min(kTile, n - first);
    for (int c = 0; c < d; ++c) {
      const float* from = &rows.x[c * n + first];
      std::fill(std::copy_n(from, count, value[c]), value[c] + kTile, 0.0f);
    }
  }
  float value[d][kTile];
};

// Eq. 60: row r of a tile of (E_r - F_p)' M (E_r - F_p), four vectors.
template <int d>
void tile_row(const Chunk<d>& e, const Chunk<d>& f, const float* m, std::size_t r, Four* y) {
  for (int v = 0; v < 4; ++v) y[v] = all(0);
  for (int a = 0; a < d; ++a) {
    Four part[4] = {all(0), all(0), all(0), all(0)};
#pragma GCC unroll 16
    for (int c = 0; c < d; ++c) {
      const Four matrix = all(m[c * d + a]), row = all(e.value[c][r]);
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) part[v] += matrix * (row - load(f.value[c] + 4 * v));
    }
    const Four row = all(e.value[a][r]);
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) y[v] += part[v] * (row - load(f.value[a] + 4 * v));
  }
}

// S(v) of all pairs, those of sample 0 first, then of sample 1, ...
template <int d>
std::vector<float> quadratic_forms(const Rows& rows, int threads) {
  const std::size_t n = rows.size(), chunks = chunks_of(n);
  std::vector<float> s(n * (n - 1) / 2);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (std::size_t q = 0; q < chunks; ++q) {
    const Chunk<d> e(rows, q);
    const std::size_t count = std::min(kTile, n - q * kTile);
    for (std::size_t l = q; l < chunks; ++l) {
      const Chunk<d> f(rows, l);
      const std::size_t columns = std::min(kTile, n - l * kTile);
      for (std::size_t r = 0; r < count; ++r) {
        const std::size_t first = q == l ? r + 1 : 0;  // column
        if (first >= columns) continue;
        Four y[4];
        tile_row(e, f, rows.inverse.data(), r, y);
        float value[kTile];
        std::memcpy(value, y, sizeof value);
        const std::size_t i = q * kTile + r, j = l * kTile + first;
        std::copy(value + first, value + columns, &s[i * (2 * n - i - 1) / 2 + (j - i - 1)]);
      }
    }
  }
  return s;
}

// Eq. 42, or 33 with scale = 1.
inline Four cross_validation_kernel(const Kernel<float>& t, Four s, float scale) {
  return t.convolution * exponential(-0.25f * scale * s) -
         2 * (t.kernel * exponential(-0.5f * scale * s));
}

template <int d>
std::vector<double> lscv_h(const Rows& rows, const std::vector<double>& h, int threads) {
  const std::vector<float> s = quadratic_forms<d>(rows, threads);
  const Kernel<float> t(d, rows.determinant);
  std::vector<double> g;
  for (const double bandwidth : h) {
    const float scale = static_cast<float>(1 / (bandwidth * bandwidth));
    const auto kernel = [=](Four value) { return cross_validation_kernel(t, value, scale); };
    g.push_back(objective(reduce(s.data(), s.size(), kernel, threads), rows.size(), d, bandwidth,
                          roughness(d, rows.determinant)));
  }
  return g;
}

// The sum of T_H (eq. 33) over all pairs: section 6.3.
template <int d>
double lscv_H(const Rows& rows, int threads) {
  const std::size_t n = rows.size();
  const Kernel<float> t(d, rows.determinant);
  return reduce_tiles(n, threads, [&](std::size_t q, std::size_t l) {
    const Chunk<d> e(rows, q), f(rows, l);
    const int columns = static_cast<int>(std::min(kTile, n - l * kTile));
    const bool whole = q < l && columns == static_cast<int>(kTile);
    Four accumulator = all(0);
    for (std::size_t r = 0; r < kTile; ++r) {
      Four y[4];
      tile_row(e, f, rows.inverse.data(), r, y);
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) {
        Four value = cross_validation_kernel(t, y[v], 1);
        if (!whole) value *= ones_below(columns - 4 * v);
        if (q == l) value *= ones_from(static_cast<int>(r) + 1 - 4 * v);
        accumulator += value;
      }
    }
    return sum_of(accumulator);
  });
}

// ---- a function for each d
template <int d>
struct Dimension {
  static constexpr int value = d;
};
template <int d = 1, class Call>
auto for_dimension(std::size_t wanted, Call call) -> decltype(call(Dimension<1>())) {
  if constexpr (d <= 16) {
    if (wanted == d) return call(Dimension<d>());
    return for_dimension<d + 1>(wanted, call);
  } else {
    throw std::invalid_argument("one to sixteen variables");
  }
}
inline std::vector<double> lscv_h(const Rows& rows, const std::vector<double>& h, int threads) {
  return for_dimension(rows.d,
                       [&](auto d) { return lscv_h<decltype(d)::value>(rows, h, threads); });
}
inline double lscv_H(const Rows& rows, int threads) {
  return for_dimension(rows.d, [&](auto d) { return lscv_H<decltype(d)::value>(rows, threads); });
}

}  // namespace andrzejewski::simd

#endif
