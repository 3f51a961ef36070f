#include "core/base/large_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace kestrel {

void prefer_large_pages(void* memory, std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::size_t kWorthwhile = std::size_t{1} << 22;
  if (bytes < kWorthwhile) return;
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t begin = reinterpret_cast<std::uintptr_t>(memory), skipped = -begin % page;
  // It is advice: nothing is lost if the system does not follow it.
  madvise(static_cast<char*>(memory) + skipped, (bytes - skipped) / page * page, MADV_HUGEPAGE);
#else
  (void)memory;
  (void)bytes;
#endif
}

}  // namespace kestrel
