# Bytes that kestrel's estimate on a grid takes beyond its result and what the session held (Linux only). Prints the
# number alone; grid.R runs this, with MALLOC_MMAP_THRESHOLD_ set so that what R gives back goes to the system at once
# and is not taken again unseen.
#
#   Rscript bench/grid-memory.R threads n points...

library(kestrel)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)))
source(file.path(here, "grid-task.R"))
kilobytes <- function(field) {
  as.numeric(gsub("[^0-9]", "", grep(field, readLines("/proc/self/status"), value = TRUE)))
}
numbers <- as.numeric(commandArgs(TRUE))
set.seed(1)
estimate <- function(n, points) {
  task <- task_for(normal_data(n, correlations[[length(points)]]), points)
  invisible(gc())
  writeLines("5", "/proc/self/clear_refs") # forgets the highest resident size
  before <- kilobytes("^VmRSS")
  result <- kestrel_grid(task, threads = numbers[1L])
  1024 * (kilobytes("^VmHWM") - before) - 8 * length(result)
}
invisible(estimate(1000, c(10, 10, 10)))   # the threads and what is loaded on the first call
cat(estimate(numbers[2L], numbers[-(1:2)]), "\n")
