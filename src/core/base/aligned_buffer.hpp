// Memory for the leaf loops of simd/.
#ifndef KESTREL_CORE_BASE_ALIGNED_BUFFER_HPP
#define KESTREL_CORE_BASE_ALIGNED_BUFFER_HPP

#include <cstddef>
#include <vector>

namespace kestrel {

/// The smallest multiple of `unit` that is not below n.
inline std::size_t round_up(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit * unit;
}

/// Memory that starts on a cache line.
class AlignedBuffer {
 public:
  void resize(std::size_t size);
  double* data() { return start_; }

 private:
  std::vector<double> storage_;
  double* start_ = nullptr;
};

}  // namespace kestrel

#endif
