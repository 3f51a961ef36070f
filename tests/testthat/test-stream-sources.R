# Densities on grids of rows that come from sources.

streamed <- function(...) {
  values <- list()
  result <- kde_stream(..., to = function(slab) values[[length(values) + 1L]] <<- slab$estimate)
  c(result, list(values = unlist(values)))
}

sourced_sample <- function(d, n = 300) {
  with_seed(20 + d, matrix(rexp(n * d), n, dimnames = list(NULL, letters[seq_len(d)])))
}

# The rows in so many parts, each a source of chunks.
parts_of_rows <- function(x, parts, size) {
  lapply(split(seq_len(nrow(x)), rep_len(seq_len(parts), nrow(x))), function(rows) {
    chunks_of(x[rows, , drop = FALSE], size)
  })
}

test_that("the density of a source is that of its rows", {
  sizes <- list(61, c(14, 19), c(7, 9, 8), c(6, 5, 7, 6))
  for (d in 1:4) for (kernel in compact_kernels) {
    product <- d == 2 && kernel != "uniform"
    x <- sourced_sample(d)
    H <- if (product) diag(c(0.5, 0.3)) else diag(if (d == 4) 3 else 0.6, d) + 0.2
    got <- streamed(chunks_of(x, 70), H = H, kernel = kernel, kernel_type = if (product) "product" else "radial",
                    gridsize = sizes[[d]], slab = 3)
    points <- as.matrix(expand.grid(got$axes))
    expect_close_to_reference(got$values, reference_density(points, x, H, NULL, kernel, product), tol = 1e-13,
                              info = paste(d, kernel))
    expect_identical(c(got$n, got$n_eff), c(300, 300))
    expect_identical(got$names, colnames(x))
    whole <- kde(x, H = H, kernel = kernel, kernel_type = got$kernel_type, gridsize = sizes[[d]], compute.cont = FALSE,
                 engine = "scanline")
    expect_close_to_reference(got$values, whole$estimate, tol = if (d == 1) 1e-13 else 1e-14, info = paste(d, kernel))
    expect_identical(got$axes, axes_of(whole))
  }
})

test_that("every partition, order and size of chunks has the same bits", {
  for (d in 1:2) {
    x <- sourced_sample(d, 1000)
    w <- with_seed(9, replace(rexp(1000)^6, 1:50, 0))
    for (weight in c(FALSE, TRUE)) for (kernel in c("epanechnikov", "uniform")) {
      rows <- if (weight) cbind(x, weight = w) else x
      stream <- function(source, ...) {
        streamed(source, h = 0.7, kernel = kernel, gridsize = 40, w = if (weight) "weight", ...)
      }
      one <- stream(list(rows))
      whole <- streamed(x, h = 0.7, kernel = kernel, gridsize = 40, w = if (weight) w)
      expect_close_to_reference(one$values, whole$values, tol = if (d == 1) 1e-13 else 1e-14)
      expect_equal(one[c("n", "n_eff", "mass", "largest", "axes", "names")],
                   whole[c("n", "n_eff", "mass", "largest", "axes", "names")], tolerance = 1e-13)
      same <- function(source, ...) {
        got <- stream(source, ...)
        expect_same_bits(got$values, one$values)
        expect_identical(got[c("n", "n_eff", "mass", "largest", "axes")],
                         one[c("n", "n_eff", "mass", "largest", "axes")])
      }
      same(chunks_of(rows, 1), threads = 3)
      same(chunks_of(rows[1000:1, ], 13))
      same(parts_of_rows(rows, 1000, 1))
      same(parts_of_rows(rows, 7, 31), threads = 1)
      same(c(list(rows[0, ]), parts_of_rows(rows, 2, 1000), list(rows[0, ])), threads = 3)
    }
  }
})

test_that("other processes read parts", {
  skip_on_cran()
  skip_if_not_installed("future.apply")
  x <- sourced_sample(2, 1000)
  x[4, 1] <- NA
  stream <- function(source, ...) {
    streamed(source, h = 0.7, kernel = "epanechnikov", gridsize = 30, na.action = na.omit, ...)
  }
  one <- stream(chunks_of(x, 100))
  expect_identical(one$n, 999L)
  old <- future::plan(future::multisession, workers = 2)
  on.exit(future::plan(old))
  for (parts in c(1, 2, 9)) {
    got <- stream(parts_of_rows(x, parts, 17), future = TRUE)
    expect_same_bits(got$values, one$values)
    expect_identical(got[c("n", "axes", "names", "mass")], one[c("n", "axes", "names", "mass")])
  }
  # An error of a worker says which source and chunk it was.
  broken <- replace(parts_of_rows(x, 4, 100), 3, list(chunks_of(letters, 5)))
  failed <- caught(stream(broken, future = TRUE))
  expect_identical(failed[c("source", "chunk")], list(source = "x[[3]]", chunk = 1))
  gone <- parts_of_rows(x, 4, 100)
  gone[[2]] <- function(reset) if (!reset) quit("no")
  expect_error(stream(gone, future = TRUE), "its workers must be there until the end", class = "kestrel_error_backend")
})

test_that("what is known in advance saves a pass", {
  x <- sourced_sample(2)
  known <- chunks_of(x, 100)
  passes <- 0
  counted <- function(reset) {
    if (reset) passes <<- passes + 1
    known(reset)
  }
  stream <- function(...) {
    passes <<- 0
    streamed(counted, h = 0.5, kernel = "biweight", gridsize = 20, ...)
  }
  expect_identical(stream()$axes, axes_of(kde(x, h = 0.5, kernel = "biweight", gridsize = 20, compute.cont = FALSE)))
  expect_identical(passes, 2)
  expect_identical(stream(xmin = 0, xmax = 3)$axes, list(seq(0, 3, length.out = 20), seq(0, 3, length.out = 20)))
  expect_identical(passes, 2)
  wanted <- stream(xmin = c(0, 0), xmax = 3, column = c("b", "a"))
  expect_identical(passes, 1)
  expect_identical(wanted$names, c("b", "a"))
  expect_close_to_reference(
    wanted$values, kde(x[, 2:1], h = 0.5, kernel = "biweight", gridsize = 20, xmin = c(0, 0), xmax = c(3, 3))$estimate,
    tol = 1e-14
  )
})

test_that("files, databases and objects on disk are sources", {
  x <- as.data.frame(round(sourced_sample(2), 6))
  frame <- cbind(id = "row", x)
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(file))
  write.csv(frame, file, row.names = FALSE)
  stream <- function(source, ...) {
    streamed(source, h = 0.5, kernel = "epanechnikov", column = c("a", "b"), gridsize = 20, xmin = 0, xmax = 4, ...)
  }
  wanted <- stream(list(x))$values
  expect_same_bits(stream(file)$values, wanted)
  expect_same_bits(stream(list(frame[1:50, ], as.matrix(x)[51:300, ]))$values, wanted)
  if (requireNamespace("bigmemory", quietly = TRUE)) {
    expect_same_bits(stream(bigmemory::as.big.matrix(as.matrix(x)))$values, wanted)
  }
  if (requireNamespace("ff", quietly = TRUE)) expect_same_bits(stream(ff::as.ff(as.matrix(x)))$values, wanted)
  # A class of one's own, whose method is registered as a user does it.
  registerS3method("next_chunk", "kestrel_test_rows", function(source, state = NULL, ...) {
    if (is.null(state)) list(chunk = source$rows, state = 1)
  })
  own <- structure(list(rows = x), class = "kestrel_test_rows")
  expect_same_bits(stream(own)$values, wanted)
  skip_if_not_installed("RSQLite")
  db <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(db), add = TRUE)
  DBI::dbWriteTable(db, "t", frame)
  result <- DBI::dbSendQuery(db, "SELECT * FROM t")
  on.exit(DBI::dbClearResult(result), add = TRUE, after = FALSE)
  expect_same_bits(stream(result)$values, wanted)
  expect_refused(
    streamed(result, h = 1, kernel = "epanechnikov"),
    stream(list(x, result), w = "id")
  )
})

test_that("sums that do not fit in memory take several passes", {
  x <- sourced_sample(2)
  reader <- new.env()
  reader$read_next_batch <- function() NULL
  class(reader) <- "RecordBatchReader"
  passes <- 0
  known <- chunks_of(x, 100)
  counted <- function(reset) {
    if (reset) passes <<- passes + 1
    known(reset)
  }
  stream <- function(source, ...) {
    streamed(source, h = 0.5, kernel = "epanechnikov", gridsize = c(50, 40), xmin = c(0, 0), xmax = c(4, 4),
             column = c("a", "b"), ...)
  }
  whole <- stream(counted, slab = 3)
  expect_identical(passes, 1)
  old <- options(kestrel.memory_limit = 16 * 50 * 17)
  on.exit(options(old))
  passes <- 0
  parts <- stream(counted, slab = 3)
  expect_identical(passes, 3) # of 5 slabs
  expect_same_bits(parts$values, whole$values)
  expect_identical(parts$mass, whole$mass)
  caught_memory <- function(code) tryCatch(code, kestrel_error_memory = identity)
  slabs <- cut_slabs(c(50, 40), 3)
  of_others <- list(sources = list(x, x), workers = 2)
  say(caught_memory(stream(reader, slab = 3)), caught_memory(stream(list(x), slab = 17)),
      caught_memory(slabs_of_pass(c(50, 40), replace(slabs, "count", list(16)), of_others))) |> expect_snapshot_output()
  expect_identical(slabs_of_pass(c(50, 40), slabs, replace(of_others, "workers", list(NULL))), 5)
  options(kestrel.memory_limit = 16 * 50 * 17 * 4)
  expect_same_bits(stream(counted, slab = 3)$values, whole$values)
  # Rows that differ from pass to pass.
  growing <- function(reset) {
    if (reset) {
      passes <<- passes + 1
      left <<- passes
      return(NULL)
    }
    left <<- left - 1
    if (left >= 0) x[1:2, ]
  }
  left <- passes <- 0
  options(kestrel.memory_limit = 16 * 50 * 17)
  expect_refused(
    stream(growing, slab = 3),
    streamed(growing, h = 0.5, kernel = "epanechnikov", gridsize = 10)
  )
  heavier <- function(reset) {
    if (reset) {
      passes <<- passes + 1
      left <<- 1
      return(NULL)
    }
    left <<- left - 1
    if (left >= 0) cbind(x[1:2, ], w = c(1, passes))
  }
  passes <- 0
  expect_refused(streamed(heavier, h = 0.5, kernel = "epanechnikov", gridsize = 10, w = "w"))
})

test_that("a source that fails leaves no file, and the error names it", {
  x <- sourced_sample(2)
  rows <- chunks_of(x, 100)
  calls <- 0
  half <- function(reset) {
    calls <<- if (reset) 0 else calls + 1
    if (calls == 3) stop("the disk is gone")
    rows(reset)
  }
  file <- tempfile()
  writeLines("mine", file)
  on.exit(unlink(file))
  stream <- function(source, ...) {
    kde_stream(source, file, h = 0.5, kernel = "epanechnikov", gridsize = 10, ...)
  }
  failed <- caught(stream(half))
  expect_identical(failed[c("source", "chunk")], list(source = "x", chunk = 3))
  expect_identical(conditionMessage(failed$parent), "the disk is gone")
  known <- caught(stream(list(x, half, x), xmin = c(0, 0), xmax = c(1, 1), column = c("a", "b")))
  expect_identical(known[c("source", "chunk")], list(source = "x[[2]]", chunk = 3))
  # In the second pass over the first slab, when some of the file is there.
  later <- function(reset) {
    passes <<- passes + reset
    if (passes == 2 && !reset) stop("no longer")
    rows(reset)
  }
  passes <- 0
  old <- options(kestrel.memory_limit = 16 * 10 * 5)
  on.exit(options(old), add = TRUE)
  again <- caught(stream(later, xmin = c(0, 0), xmax = c(1, 1), column = c("a", "b"), slab = 2))
  expect_identical(again[c("source", "chunk")], list(source = "x", chunk = 1))
  expect_identical(readLines(file), "mine")
  expect_length(dir(dirname(file), "incomplete"), 0)
  options(old)
  missing <- chunks_of(replace(x, 250, NA), 100)
  infinite <- chunks_of(replace(x, 250, Inf), 100)
  negative <- chunks_of(cbind(x, w = -1), 100)
  say(failed, known, again, caught(stream(missing)), caught(stream(infinite)), caught(stream(negative, w = "w"))) |>
    expect_snapshot_output()
})

test_that("bad input is refused", {
  x <- sourced_sample(2)
  stream <- function(source = list(x), ..., h = 1, kernel = "epanechnikov", gridsize = 5) {
    kde_stream(source, identity, h = h, kernel = kernel, gridsize = gridsize, ...)
  }
  two <- list(x[, 1, drop = FALSE], cbind(b = 1:3))
  expect_refused(
    kde_stream(list(x), identity, kernel = "epanechnikov"),
    kde_stream(list(x), kernel = "epanechnikov", h = 1),
    stream(kernel = "gaussian"),
    stream(list()),
    stream(list(x[0, ])),
    stream(function(reset) NULL, xmin = 0, xmax = 1, column = "a"),
    stream(two),
    stream(list("a", NULL)),
    stream(letters),
    stream("nowhere.csv"),
    stream(function(n) 1),
    stream(list(matrix(0, 2, 7))),
    stream(column = letters[1:7]),
    stream(column = 1),
    stream(column = c("a", "z")),
    stream(w = c(1, 2)),
    stream(list(cbind(x, w = 0)), w = "w"),
    stream(bounds = cbind(c(0, 0), Inf)),
    stream(period = c(1, NA)),
    stream(engine = "direct"),
    stream(h = 1e-9),
    stream(h = c(1, 2)),
    stream(future = "yes"),
    stream(xmin = 1, xmax = 0),
    kde_stream(x, identity, column = "a"),
    kde_stream(x, identity, future = TRUE)
  )
  expect_error(stream(backend = "cuda"), "for sources, not \"cuda\"", class = "kestrel_error_backend")
  expect_warning(stream(xmin = c(90, 90), xmax = c(91, 91)), "out of reach", class = "kestrel_warning_grid")
})

test_that("a stream of sources prints and goes to files", {
  x <- sourced_sample(2)
  file <- tempfile()
  on.exit(unlink(file))
  written <- kde_stream(chunks_of(x, 50), file, h = 1, kernel = "epanechnikov", gridsize = c(20, 30))
  expect_snapshot_output(shown(replace(written, "file", "density.bin")))
  values <- readBin(file, "double", 601, endian = "little")
  expect_same_bits(values, streamed(list(x), h = 1, kernel = "epanechnikov", gridsize = c(20, 30))$values)
  expect_message(kde_stream(list(x), identity, h = 1, kernel = "epanechnikov", gridsize = 20, verbose = TRUE),
                 "20 x 20 points \\(3.2 kB\\) in 1 slabs: engine scanline on cpu[.]")
  skip_if_not_installed("ncdf4")
  file <- tempfile(fileext = ".nc")
  on.exit(unlink(file), add = TRUE)
  kde_stream(list(x), file, h = 1, kernel = "epanechnikov", gridsize = c(20, 30))
  nc <- ncdf4::nc_open(file)
  on.exit(ncdf4::nc_close(nc), add = TRUE, after = FALSE)
  expect_same_bits(ncdf4::ncvar_get(nc, "density"), values)
  expect_equal(ncdf4::ncatt_get(nc, "density", "sample_size")$value, 300)
  expect_equal(ncdf4::ncatt_get(nc, "density", "effective_sample_size")$value, 300)
})
