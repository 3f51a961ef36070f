// Quotas of processor time, in files like those of Linux.
#include <cmath>
#include <string>

#include "core/base/cpu_quota.hpp"
#include "fake-root.hpp"
#include "gtest/gtest.h"

using namespace kestrel;

namespace {

double quota(const FakeRoot& root) { return cpu_quota(root.folder()); }

const std::string kGroups = "/proc/self/cgroup", kMounts = "/proc/self/mountinfo",
                  kRoot = "/sys/fs/cgroup";
const std::string kVersion2 = "30 24 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n";
const std::string kVersion1 =
    "31 30 0:27 / /sys/fs/cgroup/cpuset rw shared:5 - cgroup cgroup rw,cpuset\n"
    "32 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:6 - cgroup cgroup rw,cpu,cpuacct\n";

/// Version 2, the group `path`, and the quota of the group at the top.
FakeRoot version2(const std::string& path, const std::string& top = "") {
  FakeRoot root;
  root.with(kMounts, kVersion2).with(kGroups, "0::" + path + '\n');
  if (!top.empty()) root.with(kRoot + "/cpu.max", top);
  return root;
}

}  // namespace

TEST(CpuQuota, IsInfiniteWithoutOne) {
  EXPECT_EQ(quota(FakeRoot()), INFINITY);
  EXPECT_EQ(quota(version2("/a")), INFINITY);
  EXPECT_EQ(quota(version2("/", "max 100000\n")), INFINITY);
  EXPECT_EQ(quota(version2("/", "text\n")), INFINITY);
  EXPECT_EQ(quota(version2("/", "1 2\n").with(kGroups, "no groups\n")), INFINITY);
  EXPECT_EQ(quota(version2("/", "1 2\n").with(kMounts, "no mounts\n")), INFINITY);
  EXPECT_EQ(quota(FakeRoot()
                      .with(kMounts, kVersion1)
                      .with(kGroups, "3:cpu,cpuacct:/\n")
                      .with(kRoot + "/cpu,cpuacct/cpu.cfs_quota_us", "-1\n")
                      .with(kRoot + "/cpu,cpuacct/cpu.cfs_period_us", "100000\n")),
            INFINITY);
}

TEST(CpuQuota, IsTheSmallestOfAGroupAndThoseAboveIt) {
  FakeRoot root = version2("/slice/job/step");
  EXPECT_EQ(quota(root.with(kRoot + "/slice/cpu.max", "250000 100000\n")), 2.5);
  EXPECT_EQ(quota(root.with(kRoot + "/slice/job/step/cpu.max", "150000 50000")), 2.5);
  EXPECT_EQ(quota(root.with(kRoot + "/slice/job/cpu.max", "50000 100000")), 0.5);
}

TEST(CpuQuota, OfAContainerIsThatOfTheFolder) {
  // The path is one of the host.
  EXPECT_EQ(quota(version2("/docker/0123", "400000 100000\n")), 4.0);
  EXPECT_EQ(quota(version2("/docker/0123", "400000 100000\n")
                      .with(kMounts, "9 8 0:26 /docker/45 /sys/fs/cgroup ro - cgroup2 none ro\n")),
            4.0);
}

TEST(CpuQuota, OfVersion1) {
  FakeRoot root;
  root.with(kMounts, kVersion1)
      .with(kGroups, "9:cpuset:/x\n8:cpu,cpuacct:/a/b\n0::/c\n")
      .with(kRoot + "/cpu,cpuacct/a/cpu.cfs_quota_us", "300000\n")
      .with(kRoot + "/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(root), 3.0);
  // both versions at once
  root.with(kMounts, kVersion1 + "33 30 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(quota(root.with(kRoot + "/unified/c/cpu.max", "100000 100000\n")), 1.0);
}
