// Quotas of processor time, in files like those of Linux.
#include <cmath>
#include <string>

#include "core/base/cpu_quota.hpp"
#include "fake-root.hpp"
#include "gtest/gtest.h"

using namespace kestrel;

namespace {

double quota(const FakeRoot& root) { return cpu_quota(root.folder()); }

const std::string kGroups = "/proc/self/cgroup", kRoot = "/sys/fs/cgroup";

}  // namespace

TEST(CpuQuota, IsInfiniteWithoutOne) {
  EXPECT_EQ(quota(FakeRoot()), INFINITY);
  EXPECT_EQ(quota(FakeRoot().with(kGroups, "0::/a\n")), INFINITY);
  EXPECT_EQ(quota(FakeRoot().with(kGroups, "0::/\n").with(kRoot + "/cpu.max", "max 100000\n")),
            INFINITY);
  EXPECT_EQ(quota(FakeRoot()
                      .with(kGroups, "3:cpu,cpuacct:/\n")
                      .with(kRoot + "/cpu/cpu.cfs_quota_us", "-1\n")
                      .with(kRoot + "/cpu/cpu.cfs_period_us", "100000\n")),
            INFINITY);
  EXPECT_EQ(quota(FakeRoot().with(kGroups, "no groups\n").with(kRoot + "/cpu.max", "1 2\n")),
            INFINITY);
  EXPECT_EQ(quota(FakeRoot().with(kGroups, "0::/\n").with(kRoot + "/cpu.max", "")), INFINITY);
}

TEST(CpuQuota, IsTheSmallestOfAGroupAndThoseAboveIt) {
  FakeRoot root;
  root.with(kGroups, "0::/slice/job/step\n").with(kRoot + "/slice/cpu.max", "250000 100000\n");
  EXPECT_EQ(quota(root), 2.5);
  EXPECT_EQ(quota(root.with(kRoot + "/slice/job/step/cpu.max", "150000 50000")), 2.5);
  EXPECT_EQ(quota(root.with(kRoot + "/slice/job/cpu.max", "50000 100000")), 0.5);
}

TEST(CpuQuota, OfAContainerIsThatOfTheFolder) {
  // The path is one of the host.
  EXPECT_EQ(quota(FakeRoot()
                      .with(kGroups, "0::/docker/0123\n")
                      .with(kRoot + "/cpu.max", "400000 100000\n")),
            4.0);
}

TEST(CpuQuota, OfVersion1) {
  FakeRoot root;
  root.with(kGroups, "9:cpuset:/x\n8:cpu,cpuacct:/a/b\n0::/c\n")
      .with(kRoot + "/cpu,cpuacct/a/cpu.cfs_quota_us", "300000\n")
      .with(kRoot + "/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(root), 3.0);
  EXPECT_EQ(quota(root.with(kRoot + "/unified/c/cpu.max", "100000 100000\n")), 1.0);
}
