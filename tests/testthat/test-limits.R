# Limits of time end a call in R's own error, wherever it was, and leave nothing open.

test_that("a limit is no failure to read or to write a file", {
  skip_if_not_installed("ncdf4")
  folder <- new_folder()
  on.exit(unlink(folder, recursive = TRUE))
  fhat <- kde(faithful, gridsize = 8)
  old <- file.path(folder, "old.nc")
  write_pdf(fhat, old)
  before <- readBin(old, "raw", 1e6)
  left <- function() list(connections = nrow(showConnections()), files = length(dir("/proc/self/fd")), sink.number())
  open <- left()
  places <- list(
    read = c("netcdf_problem", "classic_end", "closing_halves", "estimate_from", "doubles_from", "netcdf_attribute"),
    write = c("put_layout", "put_attributes", "put_frame", "put_slabs", "netcdf_problem", "checksum_of"),
    stream = c("put_attributes", "slice_integrals", "seal_netcdf"), raw = "slice_integrals"
  )
  classic <- file.path(folder, "classic.nc")
  dimension <- ncdf4::ncdim_def("place", "", 1:3)
  ncdf4::nc_close(ncdf4::nc_create(classic, ncdf4::ncvar_def("a", "", dimension, prec = "double")))
  calls <- list(
    read = function(place) if (place == "classic_end") read_sample(classic, "a") else read_pdf(old),
    write = function(place) write_pdf(fhat, old),
    stream = function(place) kde_stream(faithful, to = old, gridsize = 8),
    raw = function(place) kde_stream(faithful, to = file.path(folder, "raw"), gridsize = 8)
  )
  for (name in names(calls)) for (place in places[[name]]) {
    # Opening a file is not interrupted, so the limit is noticed just after it.
    limit <- if (place == "closing_halves") function(code) {
      set_limit()
      code
    } else reach_limit
    with_binding(place, limit, expect_limit(calls[[name]](place), paste(name, place)))
    expect_identical(left(), open, info = paste(name, place))
  }
  expect_setequal(dir(folder), c("old.nc", "classic.nc"))
  expect_identical(readBin(old, "raw", 1e6), before)
})

test_that("a limit is no mistake in a formula, in new data or in a condition", {
  late <- function(x) reach_limit()
  expect_limit(npregbw(dist ~ late(speed), cars))
  expect_limit(npregbw(dist ~ speed, cars, subset = late(speed) > 0))
  fast <- FALSE
  slow_later <- function(x) if (fast) x else reach_limit()
  fast <- TRUE
  bw <- npregbw(dist ~ slow_later(speed), cars, bws = 3, bandwidth.compute = FALSE)
  fast <- FALSE
  expect_limit(predict(bw, newdata = data.frame(speed = 10)))
  delayedAssign("limit", late(1))
  expect_limit(kde_query(kde(faithful, gridsize = 5), waiting < limit))
})

test_that("errors of memory and of this package keep their class where other errors are renamed", {
  expect_error(npregbw(dist ~ kde(speed, h = -1)$estimate, cars), "`h` must be a positive number, not -1",
               class = "kestrel_error_input")
  huge <- function(...) numeric(2^52)
  expect_error(npregbw(dist ~ huge(speed), cars), "must fit in memory", class = "kestrel_error_memory")
  delayedAssign("limit", huge(1))
  expect_error(kde_query(kde(faithful, gridsize = 5), waiting < limit), class = "kestrel_error_memory")
  skip_if_not_installed("ncdf4")
  file <- tempfile(fileext = ".nc")
  on.exit(unlink(file))
  write_pdf(kde(faithful, gridsize = 4), file)
  with_binding("doubles_from", huge, expect_error(read_pdf(file), class = "kestrel_error_memory"))
  with_binding("put_layout", huge, {
    expect_error(write_pdf(kde(faithful, gridsize = 4), file), class = "kestrel_error_memory")
  })
})

test_that("limits are known from other errors, in any language", {
  # Another error may have the words of a limit among its own.
  expect_false(is_of_time_limit(simpleError("the queue has reached elapsed time limit")))
  expect_false(is_of_time_limit(simpleError("reached elapsed time limit of the queue")))
  old <- Sys.getenv("LANGUAGE", NA)
  on.exit(if (is.na(old)) Sys.unsetenv("LANGUAGE") else Sys.setenv(LANGUAGE = old))
  for (language in c("en", "de")) {
    Sys.setenv(LANGUAGE = language)
    expect_true(is_of_time_limit(tryCatch(reach_limit(), error = identity)))
    setTimeLimit()
  }
})

test_that("a limit while code is written for a message is not taken for code that R cannot write", {
  with_binding("readable", reach_limit, expect_limit(code_lines(quote(f(x)), 1L)))
})

test_that("a limit while the session is described does not make this package one that is not there", {
  for (i in 1:10) {
    set_limit()
    expect_limit(repeat kestrel_info())
  }
  expect_identical(kestrel_info()$version, as.character(utils::packageVersion("kestrel")))
})
