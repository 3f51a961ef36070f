// Available memory and its limits, in files like those of Linux.
#include <cmath>
#include <string>

#include "core/base/available_memory.hpp"
#include "fake-root.hpp"
#include "gtest/gtest.h"

using namespace kestrel;

namespace {

constexpr double kAvailable = 2e6 * 1024;

/// A system with files of its own beside /proc/meminfo.
class System : public FakeRoot {
 public:
  System() {
    with("/proc/meminfo", "MemTotal:  4000000 kB\nMemFree: 1000 kB\nMemAvailable:    2000000 kB\n");
  }

  double available() const { return available_memory(folder()); }
};

/// Version 2: the group /pod/job in a file system that is mounted as a whole.
class Version2 : public System {
 public:
  Version2() {
    with("/proc/self/cgroup", "0::/pod/job\n");
    with("/proc/self/mountinfo",
         "22 1 0:20 / / rw - ext4 /dev/sda rw\n"
         "31 22 0:27 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  }

  Version2& group(const std::string& name, const std::string& max, const std::string& used,
                  const std::string& high = "max",
                  const std::string& stat = "anon 7\nactive_file 0\ninactive_file 0\n") {
    const std::string folder = "/sys/fs/cgroup/" + name;
    with(folder + "/memory.max", max + '\n').with(folder + "/memory.high", high + '\n');
    with(folder + "/memory.current", used + '\n').with(folder + "/memory.stat", stat);
    return *this;
  }
};

/// Version 1: a group of a container, which is the only part of its hierarchy that is mounted.
class Version1 : public System {
 public:
  explicit Version1(const std::string& path) {
    with("/proc/self/cgroup", "9:cpu,cpuacct:/other\n4:memory:" + path + "\n0::/\n");
    with("/proc/self/mountinfo",
         "33 31 0:30 /docker/7f /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n"
         "34 31 0:32 /docker/7f /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  }

  Version1& group(const std::string& name, const std::string& limit, const std::string& used) {
    const std::string folder = "/sys/fs/cgroup/memory" + name;
    with(folder + "/memory.limit_in_bytes", limit + '\n');
    with(folder + "/memory.usage_in_bytes", used + '\n');
    with(folder + "/memory.stat",
         "active_file 9\ntotal_active_file 1000000\ntotal_inactive_file 2000000\n");
    return *this;
  }
};

}  // namespace

TEST(AvailableMemory, IsWhatTheSystemSaysWithoutLimits) {
  EXPECT_EQ(System().available(), kAvailable);
  EXPECT_EQ(available_memory(FakeRoot().folder()), INFINITY);
  EXPECT_GT(available_memory(), 0);
}

TEST(AvailableMemory, TakesTextInPlaceOfNumbersForNoLimit) {
  System system;
  system.with("/proc/self/cgroup", "0::/a\n").with("/proc/self/mountinfo", "nonsense -\n");
  system.with("/proc/self/limits", "Max address space\n");
  EXPECT_EQ(system.available(), kAvailable);
}

TEST(AvailableMemory, IsWhatIsLeftToGroupsOfVersion2AndThoseAboveThem) {
  EXPECT_EQ(Version2().group("pod/job", "400000000", "100000000").available(), 3e8);
  EXPECT_EQ(Version2().group("pod/job", "max", "100000000").available(), kAvailable);
  EXPECT_EQ(Version2()
                .group("pod/job", "max", "100000000")
                .group("pod", "400000000", "150000000")
                .available(),
            2.5e8);
  EXPECT_EQ(Version2().group("pod/job", "400000000", "100000000", "300000000").available(), 2e8);
  // more is used than the limit allows
  EXPECT_EQ(Version2().group("pod/job", "400000000", "500000000").available(), 0);
}

TEST(AvailableMemory, CountsCachedPagesOfFilesAsLeft) {
  EXPECT_EQ(Version2()
                .group("pod/job", "400000000", "100000000", "max",
                       "anon 5\nfile 60000000\nactive_file 20000000\ninactive_file 30000000\n")
                .available(),
            3.5e8);
}

TEST(AvailableMemory, IsWhatIsLeftToGroupsOfVersion1) {
  EXPECT_EQ(Version1("/docker/7f").group("", "400000000", "100000000").available(), 3.03e8);
  EXPECT_EQ(Version1("/docker/7f/job")
                .group("", "9223372036854771712", "100000000")
                .group("/job", "200000000", "100000000")
                .available(),
            1.03e8);
  EXPECT_EQ(Version1("/docker/7f/job")
                .group("", "150000000", "100000000")
                .group("/job", "200000000", "100000000")
                .available(),
            5.3e7);
  // Of a group outside of the mounted part the top of that part counts.
  EXPECT_EQ(Version1("/").group("", "400000000", "100000000").available(), 3.03e8);
}

TEST(AvailableMemory, IsWhatIsLeftToTheProcess) {
  const auto available = [](const std::string& space, const std::string& data) {
    const std::string rest = "           unlimited            bytes     \n";
    System system;
    system.with("/proc/self/limits",
                "Limit                     Soft Limit           Hard Limit           Units     \n"
                "Max data size             " +
                    data + rest + "Max address space         " + space + rest);
    system.with("/proc/self/status",
                "Name:\tR\nVmPeak:\t  900000 kB\nVmSize:\t  100000 kB\nVmData:\t   50000 kB\n");
    return system.available();
  };
  EXPECT_EQ(available("unlimited", "unlimited"), kAvailable);
  EXPECT_EQ(available("204800000", "unlimited"), 1e5 * 1024);
  EXPECT_EQ(available("204800000", "102400000"), 5e4 * 1024);
}
