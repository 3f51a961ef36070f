# How much memory is available.

# A folder with files as in /proc and /sys, named by their paths.
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
  # text where a number should be
  expect_identical(available(list("proc/self/cgroup" = "0::/a", "proc/self/mountinfo" = "nonsense -",
                                  "proc/self/limits" = "Max address space")), 2e6 * 1024)
})

# Version 2: the group /pod/job in a file system that is mounted as a whole.
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
  # cached pages of files can be given up
  files <- c("anon 5", "file 60000000", "active_file 20000000", "inactive_file 30000000")
  expect_identical(available(unified, group("pod/job", 4e8, 1e8, stat = files)), 3.5e8)
  # use above the limit
  expect_identical(available(unified, group("pod/job", 4e8, 5e8)), 0)
})

# Version 1: the group of a container, the only part of its hierarchy that is mounted.
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
  # a group outside of the mounted part: the top of that part counts
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

test_that("what is too large to allocate is refused as what does not fit in memory", {
  old <- options(kestrel.memory_limit = 1e300)
  on.exit(options(old))
  x <- with_seed(401, matrix(rnorm(60), 10))
  expect_error(kde(x, H = diag(6), gridsize = 1000),
               "must fit in memory, but an allocation failed: vector is too large", class = "kestrel_error_memory")
  expect_error(predict(kde(x[, 1], h = 1), matrix(0, 2, 2)), class = "kestrel_error_input")
})

test_that("errors of allocations are known from others, in any language", {
  of_cpp <- function(class) errorCondition("text", class = c(class, "C++Error"))
  expect_true(is_of_allocation(of_cpp("std::bad_alloc")))
  expect_true(is_of_allocation(of_cpp("std::length_error")))
  expect_false(is_of_allocation(of_cpp("std::range_error")))
  expect_true(is_of_allocation(tryCatch(numeric(2^52), error = identity)))
  expect_true(is_of_allocation(simpleError("Failed to allocate working memory for xtmp. Requested 9 * 8 bytes")))
  expect_false(is_of_allocation(simpleError("cannot allocate seats")))
  old <- Sys.getenv("LANGUAGE", NA)
  on.exit(if (is.na(old)) Sys.unsetenv("LANGUAGE") else Sys.setenv(LANGUAGE = old))
  Sys.setenv(LANGUAGE = "de")
  expect_true(is_of_allocation(tryCatch(numeric(2^52), error = identity)))
})

test_that("every exported function and method classes errors of memory", {
  public <- parseNamespaceFile("kestrel", dirname(system.file(package = "kestrel")))
  methods <- paste(sub(".*::", "", public$S3methods[, 1]), public$S3methods[, 2], sep = ".")
  wraps <- function(name) {
    code <- getFromNamespace(name, "kestrel")
    all.names(body(code))[1] == "classing_memory" || isS3stdGeneric(code)
  }
  expect_identical(Filter(Negate(wraps), c(public$exports, methods)), character(0))
})

test_that("calls that run out of memory in their middle are errors of memory, wherever that is", {
  skip_if_not(file.exists("/proc/self/limits"), "no limits to set")
  script <- tempfile(fileext = ".R")
  on.exit(unlink(script))
  writeLines(deparse(bquote({
    .libPaths(.(.libPaths()))
    library(kestrel)
    kestrel_threads(1)
    set.seed(1)
    x <- rnorm(1e6)
    options(kestrel.memory_limit = 1e300)
    # R loads LAPACK at its first use, and does not say that memory is missing for it.
    eigen(diag(2))
    calls <- list(function() kde(x, h = 0.1, kernel = "epanechnikov", engine = "sweep"),
                  function() hlscv(x, kernel = "biweight"), function() rkde(1e6, kde(x[1:9], h = 1)))
    for (room in c(5, 20, 40, 80) * 1e6) for (call in calls) {
      ballast <- NULL
      gc()
      ballast <- raw(max(0, kestrel:::available_memory() - room))
      cat(tryCatch({
        call()
        "done"
      }, error = function(e) paste(class(e)[1], conditionMessage(e))), "\n", sep = "")
    }
    # sizes above the largest integer
    cat(tryCatch(kestrel:::draw_kernel(1500000000L, 2L, "gaussian", FALSE), error = conditionMessage), "\n")
    cat(tryCatch(kestrel:::draw_radius(1500000000L, 1L, "cosine"), error = conditionMessage), "\n")
  })), script)
  size <- kilobytes(lines_of("/proc/self/status"), "VmSize")
  command <- sprintf("ulimit -v %.0f; %s --vanilla %s", size / 1024 + 400000,
                     shQuote(file.path(R.home("bin"), "Rscript")), shQuote(script))
  said <- system2("sh", c("-c", shQuote(command)), stdout = TRUE, stderr = TRUE)
  classed <- said[1:12]
  expect_identical(grep("^(done|kestrel_error_memory .*)$", classed, invert = TRUE, value = TRUE), character(0))
  expect_true(any(grepl("std::bad_alloc", classed)))
  expect_true(any(grepl("cannot allocate", classed)))
  expect_match(said[13:14], "cannot allocate vector of size (22|12)[.]. Gb")
})
