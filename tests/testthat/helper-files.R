# Temporary folders and child processes for tests of files.

new_folder <- function() {
  folder <- tempfile("folder")
  dir.create(folder)
  folder
}

# Runs R code in a child process, which knows `folder` and the functions with these names; returns its output. `limit`:
# the maximum size of files, in blocks of 512 bytes, beyond which writing fails as on a full disk.
in_child <- function(code, folder, functions, limit = "unlimited") {
  script <- tempfile(fileext = ".R")
  on.exit(unlink(script))
  helpers <- lapply(functions, function(name) call("<-", as.name(name), get(name, parent.frame(3))))
  begin <- c(bquote(.libPaths(.(.libPaths()))), quote(library(kestrel)), bquote(folder <- .(folder)), helpers)
  writeLines(unlist(lapply(c(begin, code), deparse)), script)
  run <- paste("trap '' XFSZ; ulimit -f", limit, "; exec", shQuote(file.path(R.home("bin"), "Rscript")), "--vanilla",
               shQuote(script), "2>&1")
  suppressWarnings(system2("sh", c("-c", shQuote(run)), stdout = TRUE))
}
