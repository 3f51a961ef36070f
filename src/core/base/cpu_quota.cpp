#include "core/base/cpu_quota.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

namespace kestrel {

namespace {

constexpr double kNoQuota = std::numeric_limits<double>::infinity();

double ratio_of(double quota, double period) {
  return quota > 0 && period > 0 ? quota / period : kNoQuota;
}

/// The quota that one group sets. Version 2 has both numbers in one file, and "max" for none;
/// version 1 has two files, and -1 for none.
double quota_of_group(const std::string& folder) {
  double quota = 0, period = 0;
  std::ifstream both(folder + "/cpu.max");
  if (both >> quota >> period) return ratio_of(quota, period);
  std::ifstream first(folder + "/cpu.cfs_quota_us"), second(folder + "/cpu.cfs_period_us");
  if (first >> quota && second >> period) return ratio_of(quota, period);
  return kNoQuota;
}

/// The smallest quota of a group and those above it. In a container the path may be that of the
/// host, which is not there; the folder itself then stands for the container's group.
double quota_of_path(const std::string& folder, std::string path) {
  double smallest = kNoQuota;
  for (;;) {
    smallest = std::min(smallest, quota_of_group(folder + path));
    const std::size_t end = path.rfind('/');
    if (end == std::string::npos) return smallest;
    path.erase(end);
  }
}

}  // namespace

double cpu_quota(const std::string& root) {
  // Lines are NUMBER:CONTROLLERS:PATH, without controllers in version 2.
  std::ifstream groups(root + "/proc/self/cgroup");
  double smallest = kNoQuota;
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    const std::string path = line.substr(second + 1), all = root + "/sys/fs/cgroup";
    if (controllers == ",,") {
      smallest =
          std::min({smallest, quota_of_path(all, path), quota_of_path(all + "/unified", path)});
    } else if (controllers.find(",cpu,") != std::string::npos) {
      smallest = std::min(
          {smallest, quota_of_path(all + "/cpu", path), quota_of_path(all + "/cpu,cpuacct", path)});
    }
  }
  return smallest;
}

}  // namespace kestrel
