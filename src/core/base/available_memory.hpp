// How much memory the system lets this process have.
#ifndef KESTREL_CORE_BASE_AVAILABLE_MEMORY_HPP
#define KESTREL_CORE_BASE_AVAILABLE_MEMORY_HPP

#include <string>

namespace kestrel {

/// Bytes: the minimum of the memory that the system calls available and of what is left of the
/// limits of this process and its control groups, of both versions. Infinity if the system says
/// nothing; all memory of the machine on macOS. `root`: a folder in place of /, for tests. Reads a
/// few small files.
double available_memory(const std::string& root = "");

}  // namespace kestrel

#endif
