#include "core/base/stream_copy.hpp"

#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace kestrel {

void stream_copy(const double* from, std::size_t count, double* to) {
#ifdef __SSE2__
  // Streaming stores need whole vectors; those of one cache line are written together.
  constexpr std::size_t kLine = 8, kVector = 2;
  const std::size_t into_line = reinterpret_cast<std::uintptr_t>(to) / sizeof(double) % kLine;
  if (into_line != 0) {
    const std::size_t head = count < kLine - into_line ? count : kLine - into_line;
    std::memcpy(to, from, head * sizeof(double));
    to += head, from += head, count -= head;
  }
  const std::size_t lines = count / kLine * kLine;
  for (std::size_t i = 0; i < lines; i += kLine) {
    for (std::size_t k = i; k < i + kLine; k += kVector)
      _mm_stream_pd(to + k, _mm_loadu_pd(from + k));
  }
  // Streaming stores are seen in no order before this.
  if (lines > 0) _mm_sfence();
  to += lines, from += lines, count -= lines;
#endif
  std::memcpy(to, from, count * sizeof(double));
}

}  // namespace kestrel
