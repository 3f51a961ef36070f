#include "core/base/aligned_buffer.hpp"

#include <cstdint>

namespace kestrel {

void AlignedBuffer::resize(std::size_t size) {
  constexpr std::size_t kLine = 64;
  storage_.assign(size + kLine / sizeof(double), 0.0);
  const auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
  start_ = storage_.data() + (round_up(address, kLine) - address) / sizeof(double);
}

}  // namespace kestrel
