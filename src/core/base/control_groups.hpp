// The Linux control groups that this process belongs to, and the small files in which the system
// describes them.
#ifndef KESTREL_CORE_BASE_CONTROL_GROUPS_HPP
#define KESTREL_CORE_BASE_CONTROL_GROUPS_HPP

#include <string>
#include <vector>

namespace kestrel {

/// The lines of a small file; none if it cannot be read.
std::vector<std::string> lines_of(const std::string& file);

/// The folders of the process's control group and of the groups above it, the top one first, as far
/// as they are mounted. `controller` names a hierarchy of version 1 by one of its controllers, such
/// as "memory"; "" stands for version 2, which has one hierarchy. No folders if the system has no
/// such hierarchy. `root`: a folder in place of /, for tests.
std::vector<std::string> group_folders(const std::string& root, const std::string& controller);

}  // namespace kestrel

#endif
