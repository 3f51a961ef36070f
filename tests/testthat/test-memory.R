# How much memory there is.

# A folder with files of /proc and /sys, named by their paths.
fake_system <- function(files) {
  root <- tempfile("system")
  for (path in names(files)) {
    dir.create(dirname(file.path(root, path)), recursive = TRUE, showWarnings = FALSE)
    writeLines(as.character(files[[path]]), file.path(root, path))
  }
  root
}

meminfo <- list("proc/meminfo" = c("MemTotal:  4000000 kB", "MemFree: 1000 kB", "MemAvailable:    2000000 kB"))

available <- function(...) {
  root <- fake_system(c(meminfo, ...))
  on.exit(unlink(root, recursive = TRUE))
  available_memory(root)
}

test_that("without limits there is what the system says, and without that no limit", {
  expect_identical(available(), 2e6 * 1024)
  expect_identical(available_memory(tempfile("none")), Inf)
  expect_gt(available_memory(), 0)
  # no number where one should be
  expect_identical(available(list("proc/self/cgroup" = "0::/a", "proc/self/mountinfo" = "nonsense -",
                                  "proc/self/limits" = "Max address space")), 2e6 * 1024)
})

# Version 2: the group /pod/job of a file system, mounted as a whole.
unified <- list("proc/self/cgroup" = "0::/pod/job",
                "proc/self/mountinfo" = c("22 1 0:20 / / rw - ext4 /dev/sda rw",
                                          "31 22 0:27 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw"))

test_that("limits of control groups of version 2 count, those of groups above too", {
  group <- function(name, max, current, high = "max", stat = c("anon 7", "active_file 0", "inactive_file 0")) {
    files <- list(memory.max = max, memory.high = high, memory.current = current, memory.stat = stat)
    stats::setNames(files, file.path("sys/fs/cgroup", name, names(files)))
  }
  expect_identical(available(unified, group("pod/job", 4e8, 1e8)), 3e8)
  expect_identical(available(unified, group("pod/job", "max", 1e8)), 2e6 * 1024)
  expect_identical(available(unified, group("pod/job", "max", 1e8), group("pod", 4e8, 1.5e8)), 2.5e8)
  expect_identical(available(unified, group("pod/job", 4e8, 1e8, high = 3e8)), 2e8)
  # pages of files are given up
  files <- c("anon 5", "file 60000000", "active_file 20000000", "inactive_file 30000000")
  expect_identical(available(unified, group("pod/job", 4e8, 1e8, stat = files)), 3.5e8)
  # in use beyond the limit
  expect_identical(available(unified, group("pod/job", 4e8, 5e8)), 0)
})

# Version 1: the group of a container, of whose hierarchy only that is mounted.
test_that("limits of control groups of version 1 count", {
  mounts <- c("33 31 0:30 /docker/7f /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu",
              "34 31 0:32 /docker/7f /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory")
  group <- function(name, limit, usage) {
    files <- list(memory.limit_in_bytes = limit, memory.usage_in_bytes = usage,
                  memory.stat = c("active_file 9", "total_active_file 1000000", "total_inactive_file 2000000"))
    stats::setNames(files, file.path("sys/fs/cgroup/memory", name, names(files)))
  }
  system <- function(path) {
    list("proc/self/cgroup" = c("9:cpu,cpuacct:/other", paste0("4:memory:", path), "0::/"),
         "proc/self/mountinfo" = mounts)
  }
  expect_identical(available(system("/docker/7f"), group("", 4e8, 1e8)), 3.03e8)
  expect_identical(available(system("/docker/7f/job"), group("", "9223372036854771712", 1e8),
                             group("job", 2e8, 1e8)), 1.03e8)
  expect_identical(available(system("/docker/7f/job"), group("", 1.5e8, 1e8), group("job", 2e8, 1e8)), 5.3e7)
  # a group that is not below what is mounted: the top of that
  expect_identical(available(system("/"), group("", 4e8, 1e8)), 3.03e8)
})

test_that("limits of the process count, of the address space and of data", {
  limits <- function(space, data) {
    list("proc/self/limits" = c("Limit                     Soft Limit           Hard Limit           Units     ",
                                sprintf("Max data size             %-20s unlimited            bytes     ", data),
                                sprintf("Max address space         %-20s unlimited            bytes     ", space)),
         "proc/self/status" = c("Name:\tR", "VmPeak:\t  900000 kB", "VmSize:\t  100000 kB", "VmData:\t   50000 kB"))
  }
  expect_identical(available(limits("unlimited", "unlimited")), 2e6 * 1024)
  expect_identical(available(limits("204800000", "unlimited")), 1e5 * 1024)
  expect_identical(available(limits("204800000", "102400000")), 5e4 * 1024)
})
