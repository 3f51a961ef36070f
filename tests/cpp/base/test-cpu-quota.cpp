// Quotas of processor time, in files like those of Linux.
#include <sys/stat.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>

#include "core/base/cpu_quota.hpp"
#include "gtest/gtest.h"

using namespace kestrel;

namespace {

/// A folder in place of /, with files in it.
class Root {
 public:
  Root() : folder_(testing::TempDir() + "kestrel-quota-XXXXXX") {
    EXPECT_NE(mkdtemp(&folder_[0]), nullptr);
  }

  Root& with(const std::string& path, const std::string& text) {
    for (std::size_t end = path.find('/', 1); end != std::string::npos;
         end = path.find('/', end + 1)) {
      mkdir((folder_ + path.substr(0, end)).c_str(), 0700);
    }
    std::ofstream(folder_ + path) << text;
    return *this;
  }

  double quota() const { return cpu_quota(folder_); }

 private:
  std::string folder_;
};

const std::string kGroups = "/proc/self/cgroup", kRoot = "/sys/fs/cgroup";

}  // namespace

TEST(CpuQuota, IsInfiniteWithoutOne) {
  EXPECT_EQ(Root().quota(), INFINITY);
  EXPECT_EQ(Root().with(kGroups, "0::/a\n").quota(), INFINITY);
  EXPECT_EQ(Root().with(kGroups, "0::/\n").with(kRoot + "/cpu.max", "max 100000\n").quota(),
            INFINITY);
  EXPECT_EQ(Root()
                .with(kGroups, "3:cpu,cpuacct:/\n")
                .with(kRoot + "/cpu/cpu.cfs_quota_us", "-1\n")
                .with(kRoot + "/cpu/cpu.cfs_period_us", "100000\n")
                .quota(),
            INFINITY);
  EXPECT_EQ(Root().with(kGroups, "no groups\n").with(kRoot + "/cpu.max", "1 2\n").quota(),
            INFINITY);
  EXPECT_EQ(Root().with(kGroups, "0::/\n").with(kRoot + "/cpu.max", "").quota(), INFINITY);
}

TEST(CpuQuota, IsTheSmallestOfAGroupAndThoseAboveIt) {
  Root root;
  root.with(kGroups, "0::/slice/job/step\n").with(kRoot + "/slice/cpu.max", "250000 100000\n");
  EXPECT_EQ(root.quota(), 2.5);
  EXPECT_EQ(root.with(kRoot + "/slice/job/step/cpu.max", "150000 50000").quota(), 2.5);
  EXPECT_EQ(root.with(kRoot + "/slice/job/cpu.max", "50000 100000").quota(), 0.5);
}

TEST(CpuQuota, OfAContainerIsThatOfTheFolder) {
  // The path is one of the host.
  EXPECT_EQ(
      Root().with(kGroups, "0::/docker/0123\n").with(kRoot + "/cpu.max", "400000 100000\n").quota(),
      4.0);
}

TEST(CpuQuota, OfVersion1) {
  Root root;
  root.with(kGroups, "9:cpuset:/x\n8:cpu,cpuacct:/a/b\n0::/c\n")
      .with(kRoot + "/cpu,cpuacct/a/cpu.cfs_quota_us", "300000\n")
      .with(kRoot + "/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(root.quota(), 3.0);
  EXPECT_EQ(root.with(kRoot + "/unified/c/cpu.max", "100000 100000\n").quota(), 1.0);
}
