// Arrays that are not initialised.
#ifndef KESTREL_CORE_BASE_RAW_ARRAY_HPP
#define KESTREL_CORE_BASE_RAW_ARRAY_HPP

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "core/base/large_pages.hpp"

namespace kestrel {

/// Values of a plain type, not initialised. The threads that set them are then the first to touch
/// their memory; with a std::vector they would wait for one thread to do that.
template <class T>
class RawArray {
 public:
  RawArray() = default;
  explicit RawArray(std::size_t size) : values_(new T[size]) {
    prefer_large_pages(values_.get(), size * sizeof(T));
  }

  T* data() const { return values_.get(); }
  T& operator[](std::size_t i) const { return values_[i]; }

 private:
  std::unique_ptr<T[]> values_;
};

/// Leaves values as they are where std::allocator would set them to zero.
template <class T>
struct RawAllocator : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = RawAllocator<U>;
  };

  T* allocate(std::size_t count) {
    T* memory = std::allocator<T>::allocate(count);
    prefer_large_pages(memory, count * sizeof(T));
    return memory;
  }
  template <class U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Values>
  void construct(U* place, Values&&... values) {
    ::new (static_cast<void*>(place)) U(std::forward<Values>(values)...);
  }
};

/// A vector of a plain type that does not set the values of which it is only told the number.
template <class T>
using RawVector = std::vector<T, RawAllocator<T>>;

}  // namespace kestrel

#endif
