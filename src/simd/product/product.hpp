// Products of matrices, block by block of columns.
#ifndef KESTREL_SIMD_PRODUCT_PRODUCT_HPP
#define KESTREL_SIMD_PRODUCT_PRODUCT_HPP

#include <cstddef>

#include "simd/table.hpp"

namespace kestrel {
namespace simd {

// The columns of a block: a multiple of three vectors of every instruction set.
constexpr std::size_t kProductColumns = 24;

struct ProductTable {
  // out[i * out_stride + c] = sum_k factor[i * stride + k] row[k * kProductColumns + c], i < count,
  // k < terms, c < kProductColumns.
  void (*multiply)(const double* factor, std::size_t count, std::size_t stride, std::size_t terms,
                   const double* row, double* out, std::size_t out_stride);
};

extern const ProductTable* const kProductTables[kSets];

}  // namespace simd
}  // namespace kestrel

#endif
