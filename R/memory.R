# How much memory there is for a call, and the class of errors about memory.

# `needed`: the bytes that are to be compared with the limit. For a few megabytes the system is not asked: an allocation
# that fails is an error of memory, too.
memory_limit <- function(needed) {
  limit <- getOption("kestrel.memory_limit")
  if (is.null(limit)) return(if (needed <= 2^24) Inf else available_memory_cpp())
  check_positive(limit, "options(kestrel.memory_limit=)")
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
