// Arrays that are not initialised.
#ifndef KESTREL_CORE_BASE_RAW_ARRAY_HPP
#define KESTREL_CORE_BASE_RAW_ARRAY_HPP

#include <cstddef>
#include <memory>

namespace kestrel {

/// Values of a plain type, not initialised. The threads that set them are then the first to touch
/// their memory; with a std::vector they would wait for one thread to do that.
template <class T>
class RawArray {
 public:
  RawArray() = default;
  explicit RawArray(std::size_t size) : values_(new T[size]) {}

  T* data() const { return values_.get(); }
  T& operator[](std::size_t i) const { return values_[i]; }

 private:
  std::unique_ptr<T[]> values_;
};

}  // namespace kestrel

#endif
