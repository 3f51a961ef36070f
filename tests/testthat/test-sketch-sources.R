# Sources of sketches: chunks of vectors, tables, files, databases and objects on disk.

test_that("objects on disk and batches of arrow are sources", {
  x <- with_seed(7, round(rnorm(100500), 3))
  two <- cbind(other = 0, x = x)
  plan <- sketch_plan(two, column = "x")
  wanted <- kde_sketch(x, plan)
  on_disk <- ff::as.ff(two)
  column <- ff::as.ff(x)
  frame <- ff::ffdf(other = ff::as.ff(0 * x), x = column)
  shared <- bigmemory::as.big.matrix(two)
  for (source in list(on_disk, column, frame, shared)) expect_identical(kde_sketch(source, plan), wanted)
  # in chunks
  expect_identical(dim(next_chunk(shared)$chunk), c(100000L, 2L))
  expect_identical(next_chunk(on_disk, 100000)$state, 100500L)
  expect_null(next_chunk(column, 100500))
  # what arrow's reader has: a batch a call, NULL at the end
  batches <- split(as.data.frame(two), rep(1:3, each = 33500))
  reader <- new.env()
  reader$read_next_batch <- function() {
    batch <- if (length(batches) > 0L) batches[[1L]]
    batches <<- batches[-1L]
    batch
  }
  expect_identical(kde_sketch(structure(reader, class = "RecordBatchReader"), plan), wanted)
  lacking <- sketch_plan(two, column = "other", hmin = 1)
  expect_refused(
    kde_sketch(bigmemory::as.big.matrix(two[1:3, "x", drop = FALSE]), lacking),
    kde_sketch(bigmemory::as.big.matrix(matrix(1:4, 2)), lacking),
    kde_sketch(ff::as.ff(array(1, c(2, 2, 2))), plan)
  )
})

test_that("sources of every kind give the same sketch", {
  x <- with_seed(7, round(rnorm(1000), 9))
  frame <- data.frame(id = "a", x = x, other = 1)
  plan <- sketch_plan(frame, column = "x")
  wanted <- kde_sketch(x, plan)
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(file))
  write.csv(frame, file, row.names = FALSE)
  expect_identical(kde_sketch(frame, plan), wanted)
  expect_identical(kde_sketch(cbind(other = 0, x = x), plan), wanted)
  expect_identical(kde_sketch(matrix(x), plan), wanted)
  expect_identical(kde_sketch(chunks_of(x, 300), plan), wanted)
  # the first chunk has no rows
  late <- function(reset) {
    calls <<- if (reset) 0 else calls + 1
    if (calls < 3) frame[if (calls == 1) 0 else seq_along(x), ]
  }
  calls <- 0
  expect_identical(sketch_plan(late, column = "x"), sketch_plan(frame, column = "x"))
  expect_identical(kde_sketch(late, plan), wanted)
  expect_identical(kde_sketch(file, plan), wanted)
  expect_identical(sketch_plan(file, column = "x"), plan)
  # more lines than a chunk has
  connections <- nrow(showConnections())
  long <- with_seed(8, round(rnorm(100500), 3))
  writeLines(c("y, \"x\"", paste0("a,", long)), file)
  expect_identical(kde_sketch(file, plan), kde_sketch(long, plan))
  writeLines(c("x", "1", "2,3"), file)
  expect_error(kde_sketch(file, plan), "chunk 1, but it failed", class = "kestrel_error_input")
  writeLines(c("x,y", "1,a", "one,b"), file)
  expect_error(kde_sketch(file, plan), "in chunk 1 it is character", class = "kestrel_error_input")
  writeLines(c("y,x", "a,", "b,NA", "c, 2.5"), file)
  expect_identical(kde_sketch(file, plan, na.action = na.omit), kde_sketch(2.5, plan))
  writeBin(charToRaw("\xef\xbb\xbfx,y\r\n1,2\r\n\r\n3,4\r\n\r\n"), file)
  expect_identical(kde_sketch(file, plan), kde_sketch(c(1, 3), plan))
  expect_identical(nrow(showConnections()), connections)
  # without a column's name
  bare <- sketch_plan(x)
  expect_identical(bare$column, "")
  expect_identical(kde_sketch(as.integer(1:9), bare), kde_sketch(c(1:4, 9:5) + 0, bare))
  # missing values
  holes <- replace(x, c(5, 500), NA)
  expect_identical(kde_sketch(chunks_of(holes, 300), plan, na.action = na.omit), kde_sketch(holes[-c(5, 500)], plan))
  write.csv(data.frame(x = holes), file, row.names = FALSE)
  expect_identical(kde_sketch(file, plan, na.action = "na.omit"), kde_sketch(holes[-c(5, 500)], plan))
})

test_that("variables of netCDF files", {
  skip_if_not_installed("ncdf4")
  file <- tempfile(fileext = ".nc")
  on.exit(unlink(file))
  dims <- Map(ncdf4::ncdim_def, c("lon", "lat", "time"), "", list(1:300, 1:200, 1:5), create_dimvar = FALSE)
  variables <- list(ncdf4::ncvar_def("t2m", "", dims, -99, prec = "short"), ncdf4::ncvar_def("area", "", dims),
                    ncdf4::ncvar_def("flat", "", dims[1:2]))
  nc <- ncdf4::nc_create(file, variables)
  x <- with_seed(12, array(sample(c(-99, 0:400), 3e5, TRUE), c(300, 200, 5)))
  ncdf4::ncatt_put(nc, "t2m", "scale_factor", 0.5)
  ncdf4::ncvar_put(nc, "t2m", x)
  ncdf4::ncvar_put(nc, "area", abs(x) + 0)
  ncdf4::nc_close(nc)
  plan <- sketch_plan(file, hmin = 4, column = "t2m")
  wanted <- x[x != -99] / 2
  expect_identical(kde_sketch(file, plan, na.action = na.omit), kde_sketch(wanted, plan))
  weighted <- sketch_plan(file, hmin = 4, column = "t2m", w = "area")
  rows <- data.frame(t2m = wanted, area = as.vector(abs(x[x != -99])))
  expect_identical(kde_sketch(file, weighted, na.action = na.omit), kde_sketch(rows, weighted))
  none <- sketch_plan(1, hmin = 1, column = "sst")
  other <- sketch_plan(rows, hmin = 1, column = "t2m", w = "area")
  other$weight <- "flat"
  text <- tempfile(fileext = ".nc")
  writeLines("no file", text)
  on.exit(unlink(text), add = TRUE)
  unlink(file)
  ncdf4::nc_close(ncdf4::nc_create(file, variables))
  expect_error(sketch_plan(text), "`source` must be a whole netCDF file", class = "kestrel_error_input")
  expect_refused(
    kde_sketch(file, plan),
    kde_sketch(file, none),
    kde_sketch(file, other),
    sketch_plan(file),
    sketch_plan("nowhere.nc")
  )
})

test_that("results of queries, and a sketch that a database computes", {
  skip_if_not_installed("RSQLite")
  db <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(db))
  x <- with_seed(8, c(rnorm(2000, 10), 1e5, -1e5, rep(0.25, 40), 1e9, rexp(500) / 1e3))
  DBI::dbWriteTable(db, "some \"table\"", data.frame(x = c(x, NA)))
  plan <- sketch_plan(data.frame(x = x), hmin = 0.7)
  wanted <- kde_sketch(x, plan)
  result <- DBI::dbSendQuery(db, "SELECT x FROM \"some \"\"table\"\"\" WHERE x IS NOT NULL")
  expect_identical(kde_sketch(result, plan), wanted)
  DBI::dbClearResult(result)
  found <- DBI::dbGetQuery(db, sketch_sql(plan, "some \"table\""))
  expect_identical(as_sketch(found, plan), wanted)
  expect_identical(as_sketch(found[sample(nrow(found)), ], plan), wanted)
  # Ties and cells far below zero, where remainders are negative.
  tied <- with_seed(13, c(round(rnorm(3000, -20), 1), -3e9 + round(runif(2000))))
  DBI::dbWriteTable(db, "tied", data.frame(x = tied))
  narrow <- sketch_plan(data.frame(x = tied), hmin = 0.01)
  of_ties <- as_sketch(DBI::dbGetQuery(db, sketch_sql(narrow, "tied")), narrow)
  expect_identical(of_ties, kde_sketch(tied, narrow))
  expect_gt(summary(of_ties)$ties, 400)
  # no rows
  DBI::dbExecute(db, "DELETE FROM \"some \"\"table\"\"\"")
  found <- DBI::dbGetQuery(db, sketch_sql(plan, "some \"table\""))
  expect_identical(as_sketch(found, plan), kde_sketch(numeric(0), plan))
  wide <- sketch_plan(c(1, 2), hmin = 64)
  expect_refused(sketch_sql(wide, "t"))
  expect_match(sketch_sql(wide, "a.t", "x"), "\"x\" AS DOUBLE PRECISION) / 8.0 AS y FROM \"a\".\"t\" WHERE",
               fixed = TRUE)
})

test_that("a source that fails on the way leaves the sketch of the chunks before", {
  plan <- sketch_plan(1:100 + 0, column = "x")
  half <- function(reset) {
    if (reset) calls <<- 0 else calls <<- calls + 1
    if (calls == 3) stop("the disk is gone")
    c(calls, 7)
  }
  calls <- 0
  failed <- caught(kde_sketch(half, plan))
  expect_identical(failed$chunk, 3)
  expect_identical(failed$sketch, kde_sketch(c(1, 7, 2, 7), plan))
  expect_identical(conditionMessage(failed$parent), "the disk is gone")
  failed <- caught(kde_sketch(chunks_of(c(1:5, NA, 7:9), 4), plan))
  expect_identical(failed$chunk, 2)
  expect_identical(failed$sketch, kde_sketch(1:4, plan))
  say(failed, caught(kde_sketch(half, plan))) |> expect_snapshot_output()
})
