# Folders and processes of their own, for tests of files.

new_folder <- function() {
  folder <- tempfile("folder")
  dir.create(folder)
  folder
}

# R code in a process of its own, which knows `folder` and the functions of these names; what it prints. `limit`: of the
# size of files, in blocks of 512 bytes, beyond which writing fails as it does on a disk that is full.
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
