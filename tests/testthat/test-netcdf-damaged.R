# netCDF files that are damaged, cut short, or contain something other than an estimate.

skip_if_not_installed("ncdf4")

# Copies of a file, each damaged in its own way: cut short, one bit changed, or eight bits anywhere.
damaged <- function(bytes, seed) {
  set.seed(seed)
  if (seed %% 3 == 0) return(bytes[seq_len(sample(length(bytes), 1) - 1)])
  for (at in sample(length(bytes), if (seed %% 3 == 1) 1 else 8)) {
    bytes[at] <- xor(bytes[at], as.raw(2^sample(0:7, 1)))
  }
  bytes
}

# The result of reading each file, one line each.
read_damaged <- function(folder, name, read, first, last) {
  whole <- file.path(folder, name)
  bytes <- readBin(whole, "raw", file.size(whole))
  own <- function(value) value[setdiff(names(value), c("call", "seconds"))]
  expected <- own(read(whole))
  for (seed in first:last) {
    file <- file.path(folder, paste0(seed, ".nc"))
    writeBin(damaged(bytes, seed), file)
    end <- tryCatch(read(file), error = identity)
    unlink(file)
    same <- if (identical(own(end), expected)) "same" else "different"
    cat(seed, if (inherits(end, "error")) class(end)[1] else same, "\n")
  }
}

test_that("a file that is damaged is refused", {
  folder <- new_folder()
  on.exit(unlink(folder, recursive = TRUE))
  write_pdf(kde(faithful, gridsize = c(8, 9)), file.path(folder, "pdf"))
  kde_stream(faithful$waiting, to = file.path(folder, "line.nc"), gridsize = 30)
  for (name in c("pdf", "line.nc")) {
    out <- in_child(bquote(read_damaged(folder, .(name), read_pdf, 1, 120)), folder, c("damaged", "read_damaged"))
    expect_length(out, 120)
    expect_identical(out, paste(1:120, "kestrel_error_input "))
  }
  # Without the end of the file, or its beginning.
  bytes <- readBin(file.path(folder, "pdf"), "raw", 1e6)
  n <- length(bytes)
  for (kept in list(integer(0), 1:3, 1:8, 1:20, 1:40, 2:n, seq_len(n - 1), c(seq_len(n), 1))) {
    writeBin(bytes[kept], file.path(folder, "part.nc"))
    expect_error(read_pdf(file.path(folder, "part.nc")), "must be a whole netCDF file", class = "kestrel_error_input")
  }
})

# A file in a classic format, with variables that have a record for each index of `time` and others without records.
classic_file <- function(folder, recorded) {
  file <- file.path(folder, "classic.nc")
  time <- ncdf4::ncdim_def("time", "d", 1:50, unlim = TRUE)
  place <- ncdf4::ncdim_def("place", "", 1:3)
  of <- function(name, prec, ...) ncdf4::ncvar_def(name, "", list(...), prec = prec)
  variables <- list(of("a", "short", place, time), of("b", "double", place), of("c", "byte", place, time))
  nc <- ncdf4::nc_create(file, variables[if (recorded) 1:3 else 2])
  ncdf4::ncvar_put(nc, "b", c(0.5, 1, 2))
  if (recorded) for (name in c("a", "c")) ncdf4::ncvar_put(nc, name, 1:150 %% 100)
  ncdf4::nc_close(nc)
  file
}

test_that("a classic file that ends before its values is refused", {
  folder <- new_folder()
  on.exit(unlink(folder, recursive = TRUE))
  for (recorded in c(TRUE, FALSE)) {
    file <- classic_file(folder, recorded)
    bytes <- readBin(file, "raw", 1e6)
    wanted <- if (recorded) c("a", "c") else "b"
    whole <- read_sample(file, wanted)
    expect_identical(whole[[1]], if (recorded) as.double(1:150 %% 100) else c(0.5, 1, 2))
    for (size in c(3, 4, 9, seq(10, length(bytes) - 4, length.out = 20))) {
      writeBin(bytes[seq_len(size)], file)
      expect_error(read_sample(file, wanted), "must be a whole netCDF file", class = "kestrel_error_input")
    }
  }
  # Bits of the header, or of values, which have no checksum.
  file <- classic_file(folder, TRUE)
  out <- in_child(quote({
    read <- function(file) read_sample(file, c("a", "c"))
    read_damaged(folder, "classic.nc", read, 1, 60)
  }), folder, c("damaged", "read_damaged"))
  expect_match(out, "^[0-9]+ (same|different|kestrel_error_(input|memory)) $")
  expect_length(out, 60)
})

# A file of write_pdf() or kde_stream(), changed by the library, which removes its seal.
changed_file <- function(change, stream = FALSE) {
  file <- tempfile(fileext = ".nc")
  if (stream) {
    kde_stream(faithful, to = file, gridsize = 4)
  } else {
    write_pdf(kde(faithful, gridsize = 4), file)
  }
  nc <- ncdf4::nc_open(file, write = TRUE)
  put <- function(variable, values) ncdf4::ncvar_put(nc, variable, values)
  change(put, function(name, value) ncdf4::ncatt_put(nc, "density", name, value))
  ncdf4::nc_close(nc)
  file
}

read_changed <- function(change, stream = FALSE) {
  file <- changed_file(change, stream)
  on.exit(unlink(file))
  tryCatch(read_pdf(file), kestrel_error_input = function(e) {
    abort_input(gsub('"[^"]*/[^"]*"', '"<file>"', conditionMessage(e)))
  })
}

test_that("files without an estimate are refused, whoever wrote them", {
  # A file that another program has rewritten is read.
  same <- read_changed(function(put, attribute) put("waiting", seq(40, 100, by = 20)))
  expect_identical(same$eval.points[[2]], c(40, 60, 80, 100))
  expect_refused(
    read_changed(function(put, attribute) put("density", c(NaN, rep(1, 15)))),
    read_changed(function(put, attribute) put("density", c(Inf, rep(1, 15)))),
    read_changed(function(put, attribute) put("density", c(-1, rep(1, 15)))),
    read_changed(function(put, attribute) put("density", rep(9.9692099683868690e+36, 16))),
    read_changed(function(put, attribute) put("waiting", c(1, 2, NaN, 4))),
    read_changed(function(put, attribute) put("waiting", c(1, 3, 2, 4))),
    read_changed(function(put, attribute) put("eruptions", c(1, 2, 2, 4))),
    read_changed(function(put, attribute) put("weight", rep(-1, 272))),
    read_changed(function(put, attribute) put("weight", rep(0, 272))),
    read_changed(function(put, attribute) put("sample", rep(Inf, 544))),
    read_changed(function(put, attribute) attribute("kernel", 3)),
    read_changed(function(put, attribute) attribute("kernel_type", "round")),
    read_changed(function(put, attribute) attribute("bandwidth_matrix", "wide")),
    read_changed(function(put, attribute) attribute("bandwidth_matrix", c(1, 2, 3))),
    read_changed(function(put, attribute) attribute("bandwidth_matrix", c(1, 2, 2, 1))),
    read_changed(function(put, attribute) attribute("bandwidth_matrix", c(-1, 0, 0, 1))),
    read_changed(function(put, attribute) attribute("effective_sample_size", "many")),
    read_changed(function(put, attribute) attribute("sample_size", -2), stream = TRUE),
    read_changed(function(put, attribute) attribute("kestrel_engine", 1)),
    read_changed(function(put, attribute) attribute("kestrel_gridtype", "linear")),
    read_changed(function(put, attribute) attribute("kestrel_cont", c(1, 2))),
    read_changed(function(put, attribute) attribute("kestrel_cont_names", 5)),
    read_changed(function(put, attribute) attribute("kestrel_transform", "log"))
  )
})

test_that("an estimate that was edited does not become a file", {
  fhat <- kde(faithful, gridsize = 4)
  file <- tempfile(fileext = ".nc")
  edited <- function(...) {
    new <- list(...)
    fhat[names(new)] <- new
    write_pdf(fhat, file)
  }
  expect_refused(
    edited(cont = character(0)),
    edited(cont = c(1, 2)),
    edited(estimate = fhat$estimate[1:3, ]),
    edited(estimate = replace(fhat$estimate, 2, NA)),
    edited(estimate = fhat$estimate > 1),
    edited(eval.points = list(1:4, c(2, 1, 3, 4))),
    edited(eval.points = list(1:4)),
    edited(names = "a"),
    edited(names = c("\xff", "b")),
    edited(H = diag(c(1, -1))),
    edited(w = character(0)),
    edited(x = fhat$x[1:3, ]),
    edited(n_eff = NULL),
    edited(kernel = 1),
    edited(device = character(0)),
    edited(tol = "small"),
    edited(gridtype = NA),
    edited(transform = list(type = "log"))
  )
  expect_false(file.exists(file))
})

test_that("names of any kind come back", {
  names <- list(c("a\nb", "c"), c("a\\nb", "back\\"), c(NA, "NA"), c("\\N", "\n"),
                c(strrep("long", 75), strrep("long", 76)),
                c("\u00e9t\u00e9", "x[, 2]"), c("", "b"))
  file <- tempfile(fileext = ".nc")
  on.exit(unlink(file))
  for (pair in names) {
    x <- matrix(unlist(faithful), 272, dimnames = list(NULL, pair))
    fhat <- kde(x, gridsize = 4)
    write_pdf(fhat, file)
    back <- read_pdf(file)
    expect_identical(back[c("names", "x", "H")], fhat[c("names", "x", "H")])
    kde_stream(x, to = file, gridsize = 4)
    expect_identical(read_pdf(file)$names, fhat$names)
  }
})

test_that("densities that the library takes for missing values come back", {
  file <- tempfile(fileext = ".nc")
  on.exit(unlink(file))
  fhat <- kde(faithful, gridsize = 4)
  fhat$estimate[1:2] <- c(1e30, 1.000001e30)
  write_pdf(fhat, file)
  expect_identical(read_pdf(file)$estimate, fhat$estimate)
})

test_that("a file that fails half-way is closed", {
  file <- tempfile(fileext = ".nc")
  on.exit(unlink(file))
  open <- function() length(dir("/proc/self/fd"))
  before <- open()
  long <- ncdf4::ncvar_def(strrep("a", 300), "", ncdf4::ncdim_def("place", "", 1:3), prec = "double")
  expect_error(silently(closing_halves(ncdf4::nc_create(file, long, force_v4 = TRUE))))
  expect_identical(open(), before)
  # The name can be used again.
  write_pdf(kde(faithful, gridsize = 4), file)
  expect_identical(length(read_pdf(file)$estimate), 16L)
})

test_that("a classic file with names for which ncdf4 has no room is refused", {
  file <- tempfile(fileext = ".nc")
  on.exit(unlink(file))
  long <- ncdf4::ncvar_def(strrep("a", 150), "", ncdf4::ncdim_def("place", "", 1:3), prec = "double")
  ncdf4::nc_close(ncdf4::nc_create(file, long))
  expect_error(read_sample(file, "a"), "has a name of more than 128 characters", class = "kestrel_error_input")
})

test_that("variables above memory are refused", {
  file <- classic_file(dirname(tempfile()), TRUE)
  old <- options(kestrel.memory_limit = 1e3)
  on.exit({
    options(old)
    unlink(file)
  })
  expect_error(read_sample(file, "a"), "variables for which there is memory: 3 x 50 values need",
               class = "kestrel_error_memory")
})
