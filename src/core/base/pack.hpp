// Two doubles at a time, for inner loops of the `fourier` engine: the compilers' own vector type,
// which they translate to whatever the machine has, scalars included.
#ifndef KESTREL_CORE_BASE_PACK_HPP
#define KESTREL_CORE_BASE_PACK_HPP

#include <cstring>

namespace kestrel {

typedef double Pack __attribute__((vector_size(16)));

inline Pack load_pack(const double* from) {
  Pack pack;
  std::memcpy(&pack, from, sizeof pack);
  return pack;
}

inline void store_pack(Pack pack, double* to) { std::memcpy(to, &pack, sizeof pack); }

inline Pack both(double value) { return Pack{value, value}; }

}  // namespace kestrel

#endif
