#include "core/base/cpu_quota.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

#include "core/base/control_groups.hpp"

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

}  // namespace

double cpu_quota(const std::string& root) {
  double smallest = kNoQuota;
  for (const char* controller : {"", "cpu"}) {
    for (const std::string& folder : group_folders(root, controller)) {
      smallest = std::min(smallest, quota_of_group(folder));
    }
  }
  return smallest;
}

}  // namespace kestrel
