// Views of memory that somebody else owns: what the core takes and returns instead of containers.
#ifndef KESTREL_CORE_BASE_SPAN_HPP
#define KESTREL_CORE_BASE_SPAN_HPP

#include <cassert>
#include <cstddef>
#include <type_traits>

namespace kestrel {

/// `size` consecutive values starting at `data`. Does not own them. Indexing is checked by
/// assert(), that is in the sanitizer builds and not in the installed package.
template <class T>
struct Span {
  T* data = nullptr;
  std::size_t size = 0;

  T& operator[](std::size_t i) const {
    assert(i < size);
    return data[i];
  }
  T* begin() const { return data; }
  T* end() const { return data + size; }

  /// A span of writable values may be used where a read-only one is wanted.
  template <class U = T, class = std::enable_if_t<!std::is_const<U>::value>>
  operator Span<const U>() const {
    return {data, size};
  }
};

/// A read-only matrix, column-major as R stores it: `rows` observations of `cols` variables.
struct MatrixView {
  const double* data = nullptr;
  std::size_t rows = 0;
  std::size_t cols = 0;

  double operator()(std::size_t i, std::size_t k) const {
    assert(i < rows && k < cols);
    return data[k * rows + i];
  }
  Span<const double> column(std::size_t k) const {
    assert(k < cols);
    return {data + k * rows, rows};
  }
};

}  // namespace kestrel

#endif
