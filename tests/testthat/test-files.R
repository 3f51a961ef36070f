# Files of kde_stream() and write_pdf() are complete or absent.

# Three ways to write `file`, of 48 kB and more.
writers <- function(folder) {
  big <- c(60, 100)
  list(
    raw = list(file = file.path(folder, "raw"), write = function(file) kde_stream(faithful, to = file, gridsize = big)),
    stream = list(file = file.path(folder, "stream.nc"),
                  write = function(file) kde_stream(faithful, to = file, gridsize = big)),
    pdf = list(file = file.path(folder, "pdf.nc"),
               write = function(file) write_pdf(kde(faithful, gridsize = big, compute.cont = FALSE), file))
  )
}

# The class and message of the condition with which a writer ends.
attempt <- function(writer) {
  end <- tryCatch(writer$write(writer$file), error = identity)
  list(class = class(end)[1], said = if (inherits(end, "error")) gsub('"[^"]*"', '"<file>"', conditionMessage(end)))
}

test_that("a disk that is full is an error, and leaves what was there", {
  skip_if_not_installed("ncdf4")
  folder <- new_folder()
  on.exit(unlink(folder, recursive = TRUE))
  for (writer in writers(folder)) writeLines("mine", writer$file)
  # 20 kB: less than the estimate, more than the first headers.
  out <- in_child(expression({
    open <- function() length(dir("/proc/self/fd"))
    before <- open()
    for (i in 1:3) for (writer in writers(folder)) {
      end <- attempt(writer)
      cat(end$class, strwrap(end$said, 100, prefix = "    "), sep = "\n")
    }
    cat("left open:", open() - before)
  }), folder, c("writers", "attempt"), 40)
  expect_null(attr(out, "status"))
  once <- (length(out) - 1) / 3
  expect_identical(out[seq_len(once)], out[once + seq_len(once)])
  expect_identical(out[length(out)], "left open: 0")
  expect_snapshot_output(cat(gsub("[0-9.]+ kB", "<n> kB", out[seq_len(once)]), sep = "\n"))
  expect_setequal(dir(folder), c("raw", "stream.nc", "pdf.nc"))
  for (writer in writers(folder)) expect_identical(readLines(writer$file), "mine")
})

test_that("a disk that fills up on the way is an error, too", {
  skip_if_not_installed("ncdf4")
  folder <- new_folder()
  on.exit(unlink(folder, recursive = TRUE))
  for (writer in writers(folder)) writeLines("mine", writer$file)
  # No room is reserved, as on file systems that cannot do that; the library fails at the first values, or before.
  full <- function(...) stop("C function returned error")
  for (place in c("put_layout", "put_attributes", "seal_netcdf")) {
    with_binding(place, full, for (writer in writers(folder)[-1]) {
      expect_identical(attempt(writer)$class, "kestrel_error_input")
    })
  }
  # The library prints errors that occur when it closes a file.
  with_binding("silently", function(code) {
    code
    "Error in R_nc4_sync: NetCDF: HDF error"
  }, for (writer in writers(folder)[-1]) expect_match(attempt(writer)$said, "cannot be written: .*HDF error"))
  with_binding("hdf5_end", function(...) 1e9, for (writer in writers(folder)[-1]) {
    expect_match(attempt(writer)$said, "cannot be written: it has .* bytes, not 1,000,000,000")
  })
  raw <- in_child(expression({
    with_binding("reserve_room", function(...) NULL, {
      end <- attempt(writers(folder)$raw)
      cat(end$class, end$said, sep = "\n")
    })
  }), folder, c("writers", "attempt", "with_binding"), 40)
  expect_identical(raw[1], "kestrel_error_input")
  expect_match(raw[2], "`to` must be a file with room for all of it")
  expect_setequal(dir(folder), c("raw", "stream.nc", "pdf.nc"))
  for (writer in writers(folder)) expect_identical(readLines(writer$file), "mine")
})

test_that("a process that is killed leaves a file whose name says so, and no other", {
  skip_if_not_installed("ncdf4")
  for (ending in c("", ".nc")) {
    folder <- new_folder()
    writeLines("mine", file.path(folder, paste0("old", ending)))
    for (name in paste0(c("old", "new"), ending)) {
      out <- in_child(bquote({
        slabs <- 0
        integrals <- kestrel:::slice_integrals
        with_binding("slice_integrals", function(...) {
          slabs <<- slabs + 1
          if (slabs == 3) tools::pskill(Sys.getpid(), tools::SIGKILL)
          integrals(...)
        }, kde_stream(faithful, to = file.path(folder, .(name)), gridsize = 20, slab = 5))
      }), folder, "with_binding")
      expect_false(is.null(attr(out, "status")))
    }
    left <- setdiff(dir(folder), paste0("old", ending))
    expect_length(left, 2)
    expect_match(left, "^kestrel-.*[.]incomplete$")
    expect_identical(readLines(file.path(folder, paste0("old", ending))), "mine")
    unlink(folder, recursive = TRUE)
  }
})

test_that("an interrupt leaves what was there", {
  skip_if_not_installed("ncdf4")
  folder <- new_folder()
  on.exit(unlink(folder, recursive = TRUE))
  interrupt <- function(...) {
    # An interrupt may come while R is not listening.
    for (i in 1:1000) {
      tools::pskill(Sys.getpid(), tools::SIGINT)
      Sys.sleep(0.01)
    }
  }
  for (writer in writers(folder)[1:2]) {
    writeLines("mine", writer$file)
    with_binding("slice_integrals", interrupt, {
      expect_identical(tryCatch(writer$write(writer$file), interrupt = function(i) "interrupted"), "interrupted")
    })
    expect_identical(readLines(writer$file), "mine")
  }
  expect_setequal(dir(folder), c("raw", "stream.nc"))
})

test_that("an existing file is replaced with its permissions, and a link stays one", {
  folder <- new_folder()
  on.exit(unlink(folder, recursive = TRUE))
  at <- function(name) file.path(folder, name)
  write <- function(name) kde_stream(faithful, to = at(name), gridsize = 4)
  writeLines("mine", at("file"))
  Sys.chmod(at("file"), "640", use_umask = FALSE)
  dir.create(at("below"))
  file.symlink("../file", at("below/link"))
  file.symlink(at("below/link"), at("chain"))
  file.symlink("new", at("dangling"))
  for (name in c("file", "chain")) {
    expect_identical(write(name)$file, at(name))
    expect_identical(file.size(at("file")), 128)
    expect_identical(format(file.mode(at("file"))), "640")
    writeLines("mine", at("file"))
  }
  write("dangling")
  expect_identical(file.size(at("new")), 128)
  expect_identical(Sys.readlink(at("dangling")), "new")
  expect_identical(Sys.readlink(at("chain")), at("below/link"))
  # A change of the working directory meanwhile does not move the file.
  old <- setwd(folder)
  on.exit(setwd(old), add = TRUE, after = FALSE)
  with_binding("warn_sparse", function(...) NULL, kde_stream(faithful, to = "here", gridsize = 4))
  expect_identical(file.size(at("here")), 128)
})

test_that("targets that are not files, or cannot be written, are refused before anything is computed", {
  skip_if_not_installed("ncdf4")
  folder <- new_folder()
  old <- setwd(folder)
  on.exit({
    setwd(old)
    unlink(folder, recursive = TRUE)
  })
  file.symlink("loop", "loop")
  dir.create("folder.nc")
  writeLines("mine", "file")
  system2("mkfifo", "pipe")
  fhat <- kde(faithful, gridsize = 4)
  expect_refused(
    kde_stream(faithful, to = "/dev/null"),
    kde_stream(faithful, to = "pipe"),
    kde_stream(faithful, to = "folder.nc"),
    kde_stream(faithful, to = "new/"),
    kde_stream(faithful, to = "loop"),
    kde_stream(faithful, to = "file/below"),
    kde_stream(faithful, to = strrep("a", 300)),
    write_pdf(fhat, "/dev/null"),
    write_pdf(fhat, "folder.nc"),
    write_pdf(fhat, "file/below.nc")
  )
  # No files can be created there.
  expect_error(write_pdf(fhat, "/proc/new.nc"), "`file` must be", class = "kestrel_error_input")
  expect_setequal(dir(), c("loop", "folder.nc", "file", "pipe"))
  expect_identical(readLines("file"), "mine")
})
