# How much memory there is for a call.

# `needed`: the bytes that are to be compared with the limit. To ask the system takes milliseconds, and an allocation of
# a few megabytes that fails is an error of memory, too.
memory_limit <- function(needed) {
  limit <- getOption("kestrel.memory_limit")
  if (is.null(limit)) return(if (needed <= 2^24) Inf else available_memory())
  check_positive(limit, "options(kestrel.memory_limit=)")
}

# The minimum of the memory that the system calls available and of what is left of the limits of this process and its
# control groups; infinite if the system says nothing. `root`: the folder that holds /proc and /sys.
available_memory <- function(root = "") {
  if (Sys.info()[["sysname"]] == "Darwin") {
    return(as.numeric(system2("/usr/sbin/sysctl", c("-n", "hw.memsize"), stdout = TRUE)))
  }
  left <- c(kilobytes(lines_of(root, "/proc/meminfo"), "MemAvailable"), left_to_process(root), left_to_groups(root))
  max(0, min(left, Inf, na.rm = TRUE))
}

# The lines of a small file; none if it cannot be read. A limit of time in its middle would leave the file open, so it
# has to wait.
lines_of <- function(...) {
  file <- paste0(...)
  if (!file.exists(file)) return(character(0))
  suspendInterrupts(catching_errors(suppressWarnings(readLines(file)), function(e) character(0)))
}

# The number after a name at the beginning of a line: Inf if there is no limit, NA if there is no such line.
number_after <- function(lines, name) {
  line <- lines[startsWith(lines, name)]
  if (length(line) != 1L) return(NA_real_)
  word <- sub("[ \t].*", "", trimws(substring(line, nchar(name) + 1L)))
  if (word %in% c("unlimited", "max")) Inf else suppressWarnings(as.numeric(word))
}

# In bytes, from the files in /proc, which count in kB.
kilobytes <- function(lines, name) 1024 * number_after(lines, paste0(name, ":"))

# What is left of the limits of setrlimit() on the address space and the data, as set by `ulimit -v` and `ulimit -d`.
left_to_process <- function(root) {
  limits <- lines_of(root, "/proc/self/limits")
  used <- lines_of(root, "/proc/self/status")
  c(number_after(limits, "Max address space") - kilobytes(used, "VmSize"),
    number_after(limits, "Max data size") - kilobytes(used, "VmData"))
}

# What is left of the limits of the process's control groups, of each version, and of every group above them. Cached
# pages of files count as used, but are given up when memory is short.
left_to_groups <- function(root) {
  groups <- lines_of(root, "/proc/self/cgroup")
  mounts <- lines_of(root, "/proc/self/mountinfo")
  number_in <- function(folder, file) number_after(lines_of(folder, "/", file), "")
  left <- function(folder, limits, used, of_files) {
    limit <- min(vapply(limits, function(file) number_in(folder, file), 0), Inf, na.rm = TRUE)
    # Version 1 has no word for "no limit", but a number above all memory.
    if (limit > 2^60) return(Inf)
    stat <- lines_of(folder, "/memory.stat")
    files <- vapply(of_files, function(name) number_after(stat, paste0(name, " ")), 0)
    limit - number_in(folder, used) + sum(files, na.rm = TRUE)
  }
  c(vapply(group_folders(root, groups, mounts, "cgroup2", ""), left, 0, c("memory.max", "memory.high"),
           "memory.current", c("active_file", "inactive_file")),
    vapply(group_folders(root, groups, mounts, "cgroup", "memory"), left, 0, "memory.limit_in_bytes",
           "memory.usage_in_bytes", c("total_active_file", "total_inactive_file")))
}

# The folders of the process's group and of the groups above it, as far as they are mounted. `type` is the type of the
# hierarchy and `controller` its controller, "" for version 2, whose only hierarchy names none.
group_folders <- function(root, groups, mounts, type, controller) {
  # The type and the options of the file system come after a dash.
  mount <- grep(paste0(" - ", type, " .*\\b", controller, "\\b"), mounts, value = TRUE)
  group <- grep(paste0("^[0-9]+:([^:]*,)?", controller, "(,[^:]*)?:"), groups, value = TRUE)
  if (length(mount) == 0L || length(group) == 0L) return(character(0))
  mount <- strsplit(mount[1L], " ", fixed = TRUE)[[1L]]
  path <- sub("^[^:]*:[^:]*:", "", group[1L])
  top <- sub("/$", "", mount[4L])
  # A mount may show only the groups below some group, as in a container.
  below <- if (startsWith(paste0(path, "/"), paste0(top, "/"))) substring(path, nchar(top) + 1L) else ""
  steps <- strsplit(sub("^/", "", below), "/", fixed = TRUE)[[1L]]
  folder <- Reduce(function(above, step) paste0(above, "/", step), steps, mount[5L], accumulate = TRUE)
  paste0(root, folder)
}

# Runs `code`; errors of R and C++ about a failed allocation get the class of all memory errors. The end of zzz.R wraps
# every exported function in this.
classing_memory <- function(code) {
  withCallingHandlers(code, error = function(e) {
    if (is_of_allocation(e)) {
      abort_memory("The computation must fit in memory, but an allocation failed: ", conditionMessage(e), ".")
    }
  })
}

# R has no class for these errors, and may translate them.
allocation_messages <- c(paste("cannot allocate vector of size %0.1f", c("Gb", "Mb", "Kb")),
                         "cannot allocate memory block of size %0.1f Gb", "cannot allocate vector of length %lld",
                         "memory exhausted (limit reached?)", "vector memory exhausted (limit reached?)",
                         "vector is too large", "Failed to allocate working memory", # of sorting, like the next
                         "Failed to realloc working memory")

is_of_allocation <- function(e) {
  if (inherits(e, c("std::bad_alloc", "std::bad_array_new_length", "std::length_error"))) return(TRUE)
  if (!inherits(e, "simpleError")) return(FALSE)
  parts <- strsplit(gettext(allocation_messages, domain = "R"), "%[0-9.l]*[a-z]")
  has_all <- function(parts) all(vapply(parts, grepl, NA, conditionMessage(e), fixed = TRUE))
  any(vapply(parts, has_all, NA))
}
