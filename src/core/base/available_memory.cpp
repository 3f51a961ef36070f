#include "core/base/available_memory.hpp"

#ifdef __APPLE__
#include <sys/sysctl.h>

#include <cstdint>
#endif

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "core/base/control_groups.hpp"

namespace kestrel {

namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// The number after a name at the beginning of a line: infinity if there is no limit, NaN if there
/// is no such line or no number.
double number_after(const std::string& name, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    if (line.compare(0, name.size(), name) != 0) continue;
    const std::size_t begin = std::min(line.find_first_not_of(" \t", name.size()), line.size());
    const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    const std::string word = line.substr(begin, end - begin);
    if (word == "unlimited" || word == "max") return kNoLimit;
    char* rest = nullptr;
    const double number = std::strtod(word.c_str(), &rest);
    return !word.empty() && *rest == '\0' ? number : std::nan("");
  }
  return std::nan("");
}

/// In bytes, from the files in /proc, which count in kB.
double kilobytes_after(const std::string& name, const std::vector<std::string>& lines) {
  return 1024 * number_after(name + ':', lines);
}

/// What is left of the limits of setrlimit() on the address space and the data, as set by `ulimit
/// -v` and `ulimit -d`. fmin() passes over a NaN.
double left_to_process(const std::string& root) {
  const std::vector<std::string> limits = lines_of(root + "/proc/self/limits");
  const std::vector<std::string> used = lines_of(root + "/proc/self/status");
  return std::fmin(number_after("Max address space", limits) - kilobytes_after("VmSize", used),
                   number_after("Max data size", limits) - kilobytes_after("VmData", used));
}

/// The names of a group's files, which the two versions have; `all`: what the names of numbers
/// begin with that count the groups below, too.
struct GroupFiles {
  std::string controller;
  std::vector<std::string> limits;
  std::string used, all;
};

/// What is left of the limits of one group. Cached pages of files count as used, but are given up
/// when memory is short.
double left_to_group(const std::string& folder, const GroupFiles& files) {
  const auto number_in = [&](const std::string& file) {
    return number_after("", lines_of(folder + '/' + file));
  };
  double limit = kNoLimit;
  for (const std::string& file : files.limits) limit = std::fmin(limit, number_in(file));
  // Version 1 has no word for "no limit", but a number above all memory.
  if (limit > 0x1p60) return kNoLimit;
  const std::vector<std::string> numbers = lines_of(folder + "/memory.stat");
  double cached = 0;
  for (const char* name : {"active_file ", "inactive_file "}) {
    const double bytes = number_after(files.all + name, numbers);
    if (!std::isnan(bytes)) cached += bytes;
  }
  return limit - number_in(files.used) + cached;
}

}  // namespace

double available_memory(const std::string& root) {
#ifdef __APPLE__
  std::uint64_t bytes = 0;
  std::size_t size = sizeof bytes;
  if (root.empty() && sysctlbyname("hw.memsize", &bytes, &size, nullptr, 0) == 0) {
    return static_cast<double>(bytes);
  }
#endif
  double left = kilobytes_after("MemAvailable", lines_of(root + "/proc/meminfo"));
  left = std::fmin(left, left_to_process(root));
  const GroupFiles versions[] = {
      {"memory", {"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_"},
      {"", {"memory.max", "memory.high"}, "memory.current", ""}};
  for (const GroupFiles& files : versions) {
    for (const std::string& folder : group_folders(root, files.controller)) {
      left = std::fmin(left, left_to_group(folder, files));
    }
  }
  return std::isnan(left) ? kNoLimit : std::max(0.0, left);
}

}  // namespace kestrel
