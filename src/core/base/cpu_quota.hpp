// How much processor time the system lets this process have.
#ifndef KESTREL_CORE_BASE_CPU_QUOTA_HPP
#define KESTREL_CORE_BASE_CPU_QUOTA_HPP

#include <string>

namespace kestrel {

/// The smallest quota of processor time in the Linux control groups (versions 1 and 2) that this
/// process belongs to, in processors: 2.5 means 2.5 seconds in every second. Containers and batch
/// systems set them; the processors that they hide are not counted here. Infinity if there is no
/// quota, or no control groups. `root`: a folder in place of /, for tests. Reads a few small files.
double cpu_quota(const std::string& root = "");

}  // namespace kestrel

#endif
