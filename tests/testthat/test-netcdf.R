# write_pdf(), read_pdf() and read_sample(): netCDF files.

skip_if_not_installed("ncdf4")

netcdf_file <- function() tempfile(fileext = ".nc")

# All fields that a file keeps are the same, to the last bit.
expect_same_estimate <- function(back, fhat) {
  own <- c("call", "seconds", "selector", "na.action")
  expect_setequal(setdiff(names(back), own), setdiff(names(fhat), own))
  for (name in setdiff(names(fhat), own)) expect_identical(back[[name]], fhat[[name]], info = name)
  expect_identical(class(back), class(fhat))
}

test_that("what is read is what was written", {
  x <- with_seed(61, matrix(rexp(90), 30, dimnames = list(NULL, c("a", "m/s", "density"))))
  estimates <- list(
    kde(x[, 1], h = 0.3, gridsize = 20),
    kde(x[, 1], positive = TRUE, gridsize = 20),
    kde(pnorm(x[, 1]), unit.interval = TRUE, gridsize = 20),
    kde(x[, 1:2], gridsize = c(9, 14), w = rep(1:3, 10)),
    kde(unname(x), kernel = "epanechnikov", gridsize = c(6, 7, 8)),
    kde(unname(x), H = cov(x), gridsize = 5),
    kde(x, H = unname(cov(x)), gridsize = 5),
    kde(matrix(x, 30, dimnames = list(NULL, c("a", "", "c"))), gridsize = 5),
    kde(x, kernel = "biweight", kernel_type = "product", gridsize = 7, compute.cont = FALSE),
    kde(x[, 1:2], gridtype = c("sqrt", "linear"), xmin = c(0, 0), gridsize = 8),
    marginal(kde(x, kernel = "epanechnikov", gridsize = 9), c(3, 1))
  )
  for (fhat in estimates) {
    file <- netcdf_file()
    expect_identical(withVisible(write_pdf(fhat, file)), list(value = file, visible = FALSE))
    back <- read_pdf(file)
    expect_same_estimate(back, fhat)
    if (fhat$kernel_type != "integrated") expect_identical(predict(back, back$x), predict(fhat, fhat$x))
    unlink(file)
  }
})

test_that("a file has what the CF conventions want", {
  file <- netcdf_file()
  on.exit(unlink(file))
  fhat <- kde(faithful, kernel = "epanechnikov", gridsize = c(15, 20))
  write_pdf(fhat, file, units = c("min", "s"))
  nc <- ncdf4::nc_open(file)
  on.exit(ncdf4::nc_close(nc), add = TRUE, after = FALSE)
  of <- function(variable, name) ncdf4::ncatt_get(nc, variable, name)$value
  expect_identical(of(0, "Conventions"), "CF-1.8")
  expect_match(of(0, "history"), "^20[0-9-]+T[0-9:]+Z kestrel [0-9.]+: write_pdf\\(")
  expect_identical(of("eruptions", "units"), "min")
  expect_identical(of("waiting", "long_name"), "waiting")
  expect_identical(of("density", "units"), "(min)-1 (s)-1")
  expect_identical(of("density", "kernel"), "epanechnikov")
  expect_identical(of("density", "sample_size"), 272L)
  expect_identical(of("density", "bandwidth_matrix"), as.vector(fhat$H))
  expect_identical(of("waiting", "bounds"), "waiting_bounds")
  bounds <- lapply(c("eruptions_bounds", "waiting_bounds"), function(name) ncdf4::ncvar_get(nc, name))
  for (k in 1:2) {
    expect_identical(bounds[[k]][1, -1], bounds[[k]][2, -ncol(bounds[[k]])])
    expect_true(all(bounds[[k]][1, ] <= fhat$eval.points[[k]] & bounds[[k]][2, ] >= fhat$eval.points[[k]]))
  }
  volumes <- outer(apply(bounds[[1]], 2, diff), apply(bounds[[2]], 2, diff))
  expect_equal(sum(volumes * fhat$estimate), summary(fhat)$mass, tolerance = 1e-14)
})

test_that("a file of kde_stream() is read, without data", {
  file <- netcdf_file()
  on.exit(unlink(file))
  kde_stream(faithful, to = file, kernel = "epanechnikov", gridsize = c(20, 25), slab = 4)
  fhat <- kde(faithful, kernel = "epanechnikov", gridsize = c(20, 25), engine = "scanline")
  back <- read_pdf(file)
  for (name in c("estimate", "eval.points", "names", "kernel", "kernel_type", "n_eff")) {
    expect_identical(back[[name]], fhat[[name]], info = name)
  }
  expect_equal(back$H, fhat$H, tolerance = 0, ignore_attr = TRUE)
  expect_identical(marginal(back, 2)$estimate, marginal(fhat, 2)$estimate)
  expect_identical(marginal(back, 2)$n_eff, 272)
  turned <- marginal(back, c("waiting", "eruptions"))
  expect_identical(turned$estimate, t(fhat$estimate))
  expect_identical(turned$eval.points, rev(fhat$eval.points))
  expect_identical(turned[c("kernel_type", "backend", "precision")], back[c("kernel_type", "backend", "precision")])
  expect_identical(back$n, 272L)
  expect_error(predict(back, c(3, 70)), "with its data", class = "kestrel_error_input")
  # Written a second time, it is the same.
  write_pdf(back, file)
  expect_same_estimate(read_pdf(file), back)
})

test_that("a density without data is printed, summed up and plotted from its grid", {
  file <- netcdf_file()
  on.exit(unlink(file))
  stream <- function(x, ...) {
    kde_stream(x, to = file, kernel = "epanechnikov", ...)
    read_pdf(file)
  }
  back <- stream(faithful, gridsize = c(80, 90))
  expect_snapshot_output(shown(back))
  # A region of highest density holds its share of the mass, up to that of one point.
  cells <- reference_cells(back$eval.points)
  mass <- as.vector(back$estimate) * cells
  for (share in c(0.25, 0.5, 0.95)) {
    level <- contourLevels(back, prob = 1 - share)
    held <- sum(mass[back$estimate >= level])
    expect_lt(abs(held / sum(mass) - share), 2 * max(mass))
  }
  expect_identical(names(summary(back)$levels), c("25%", "50%", "75%", "95%"))
  expect_gt(drawn(plot(back)), 4)
  one <- stream(faithful$waiting, gridsize = 50)
  expect_gt(drawn(plot(one)), 3)
  expect_identical(marginal(one, 1)$estimate, one$estimate)
  expect_gt(drawn(plot(stream(iris[, 1:3], gridsize = 12))), 9)
  # Without rows of data the margins of a Gaussian kernel also come from the grid.
  kde_stream(iris[, 1:3], to = file, gridsize = 12)
  expect_gt(drawn(plot(read_pdf(file))), 9)
})

# The values of a variable as another program sees them: by ncdump if it is installed, otherwise by the library.
dumped <- function(file, variable) {
  if (!nzchar(Sys.which("ncdump"))) {
    nc <- ncdf4::nc_open(file, readunlim = FALSE)
    on.exit(ncdf4::nc_close(nc))
    return(as.vector(ncdf4::ncvar_get(nc, variable)))
  }
  text <- paste(system2("ncdump", c("-p", "9,17", "-v", variable, shQuote(file)), stdout = TRUE), collapse = " ")
  data <- sub("^.*data:", "", text)
  values <- sub(paste0("^.* ", variable, " = ([^;]*);.*$"), "\\1", data)
  as.numeric(strsplit(values, ",", fixed = TRUE)[[1]])
}

test_that("names that R takes for something else are those of files", {
  folder <- tempfile("folder")
  dir.create(folder)
  old <- setwd(folder)
  on.exit(setwd(old))
  fhat <- kde(faithful$eruptions, h = 1, gridsize = 5)
  dir.create("http:")
  for (name in c("stdin", "clipboard", "file:a.nc", "http://a.nc")) {
    write_pdf(fhat, name)
    expect_identical(read_pdf(name)$estimate, fhat$estimate)
  }
})

test_that("other programs read the file", {
  file <- netcdf_file()
  on.exit(unlink(file))
  fhat <- kde(faithful, kernel = "epanechnikov", gridsize = c(5, 7))
  write_pdf(fhat, file, units = c("min", "min"))
  expect_identical(dumped(file, "density"), as.vector(fhat$estimate))
  expect_identical(dumped(file, "waiting"), fhat$eval.points[[2]])
})

test_that("names of variables become those of CF", {
  names <- netcdf_names(c("x[, 1]", "m/s", "density", "2m temperature", "a", "a_bounds", "a.bound", "T"))
  expect_identical(names, c("x_1", "m_s", "density_1", "x_2m_temperature", "a", "a_bound", "a_bound_1", "T"))
  expect_true(all(grepl("^[A-Za-z][A-Za-z0-9_]*$", netcdf_names(c("\u00e9t\u00e9", "%", "")))))
})

test_that("estimates that were read are scored as those that were written", {
  file <- netcdf_file()
  on.exit(unlink(file))
  x <- as.matrix(iris[51:100, 1:2])
  y <- as.matrix(iris[101:150, 1:2])
  grid <- list(gridsize = 40, xmin = c(3, 1), xmax = c(9, 5), kernel = "epanechnikov")
  f <- do.call(kde, c(list(x), grid))
  g <- do.call(kde, c(list(y), grid))
  write_pdf(g, file)
  expect_identical(suppressWarnings(pdf_score(f, read_pdf(file)))$score, suppressWarnings(pdf_score(f, g))$score)
})

test_that("densities without data are scored, too", {
  files <- c(netcdf_file(), netcdf_file())
  on.exit(unlink(files))
  grid <- list(gridsize = c(50, 60), xmin = c(0, 30), xmax = c(7, 110))
  moved <- as.matrix(faithful) + rep(c(0, 3), each = 272)
  for (kernel in c("epanechnikov", "gaussian")) {
    fits <- lapply(list(faithful, moved), function(x) do.call(kde, c(list(x, kernel = kernel), grid)))
    for (i in 1:2) do.call(kde_stream, c(list(list(faithful, moved)[[i]], to = files[i], kernel = kernel), grid))
    expect_warning(score <- pdf_score(read_pdf(files[1]), read_pdf(files[2])), "of `waiting`",
                   class = "kestrel_warning_bias")
    expect_equal(score$score, suppressWarnings(pdf_score(fits[[1]], fits[[2]]))$score, tolerance = 1e-11)
    expect_error(pdf_score(fits[[1]], list(moved = read_pdf(files[2])), B = 2), "`B` must be 0 .* `moved`",
                 class = "kestrel_error_input")
    expect_error(pdf_score(fits[[1]], list(obs = read_pdf(files[2])), B = 2), "`B` must be 0 .* `obs`",
                 class = "kestrel_error_input")
    # The density is wider than the data.
    expect_equal(score$bias[1, ], c(eruptions = 0, waiting = 3 / sd(faithful$waiting)), tolerance = 0.1)
  }
})

# A file with packed data, as climate models write them: 401 is out of range, -32768 missing.
packed_values <- c(-4L, 0L, 1L, 2L, 3L, 400L, 401L, 8L, -32768L, 10L, 11L, 12L)

packed_file <- function() {
  file <- netcdf_file()
  time <- ncdf4::ncdim_def("time", "days since 2000-01-01", 1:6)
  level <- ncdf4::ncdim_def("level", "", 1:2, create_dimvar = FALSE)
  tas <- ncdf4::ncvar_def("tas", "K", list(level, time), missval = -32768L, prec = "short")
  pr <- ncdf4::ncvar_def("pr", "mm", time, missval = 1e20, prec = "float")
  flag <- ncdf4::ncvar_def("flag", "", list(level, time), prec = "integer")
  nc <- ncdf4::nc_create(file, list(tas, pr, flag))
  ncdf4::ncatt_put(nc, "tas", "scale_factor", 0.25, prec = "double")
  ncdf4::ncatt_put(nc, "tas", "add_offset", 273, prec = "double")
  ncdf4::ncatt_put(nc, "tas", "valid_range", c(-400L, 400L), prec = "short")
  ncdf4::ncatt_put(nc, "flag", "missing_value", c(7L, 9L), prec = "int")
  ncdf4::nc_close(nc)
  nc <- ncdf4::nc_open(file, write = TRUE)
  ncdf4::ncvar_put(nc, "tas", packed_values)
  ncdf4::ncvar_put(nc, "pr", c(0.5, NA, 2, 4, 8, 16))
  ncdf4::ncvar_put(nc, "flag", c(1:8, 7L, 9L, 1L, 2L))
  ncdf4::nc_close(nc)
  file
}

test_that("samples are unpacked, and what is missing is NA", {
  file <- packed_file()
  on.exit(unlink(file))
  nc <- ncdf4::nc_open(file)
  raw <- as.vector(ncdf4::ncvar_get(nc, "tas", raw_datavals = TRUE))
  ncdf4::nc_close(nc)
  expect_identical(raw, packed_values)
  expected <- 273 + 0.25 * replace(packed_values, c(7, 9), NA)
  expect_identical(read_sample(file, c("tas", "flag")),
                   data.frame(tas = expected, flag = c(1:6, NA, 8, NA, NA, 1, 2)))
  expect_identical(read_sample(file, "pr")$pr, c(0.5, NA, 2, 4, 8, 16))
  expect_identical(read_sample(file, "time")$time, as.double(1:6))
})

# A file with one variable over `sizes`, named dimensions without values; attributes: a list of numbers and texts.
variable_file <- function(values, prec, attributes, sizes = c(place = length(values)), missval = NULL) {
  file <- netcdf_file()
  dimensions <- Map(function(name, size) ncdf4::ncdim_def(name, "", seq_len(size), create_dimvar = FALSE), names(sizes),
                    sizes)
  variable <- ncdf4::ncvar_def("t", "", unname(dimensions), missval = missval, prec = prec)
  nc <- ncdf4::nc_create(file, variable)
  for (name in names(attributes)) {
    of_number <- c(float = "double", byte = "short", short = "short")
    type <- if (is.character(attributes[[name]])) "text" else of_number[[prec]]
    ncdf4::ncatt_put(nc, "t", name, attributes[[name]], prec = type)
  }
  ncdf4::nc_close(nc)
  nc <- ncdf4::nc_open(file, write = TRUE)
  ncdf4::ncvar_put(nc, "t", values)
  ncdf4::nc_close(nc)
  file
}

test_that("missing values and limits of floats may be given as doubles", {
  files <- c(variable_file(c(0.5, -9999.9, 2), "float", list(missing_value = -9999.9)),
             variable_file(c(0.5, 1e20, 2), "float", list(missing_value = 1e20)),
             variable_file(c(-0.1, 0.1, 0.3), "float", list(valid_range = c(-0.1, 0.1))),
             variable_file(c(-0.1, 0.3, 0.1), "float", list(valid_min = -0.1, valid_max = 0.3)))
  on.exit(unlink(files))
  found <- lapply(files, function(file) read_sample(file, "t")$t)
  expect_identical(found[[1]], c(0.5, NA, 2))
  expect_identical(found[[2]], c(0.5, NA, 2))
  expect_identical(is.na(found[[3]]), c(FALSE, FALSE, TRUE))
  expect_false(anyNA(found[[4]]))
})

test_that("whole numbers may have no sign", {
  unsigned <- list("_Unsigned" = "true")
  files <- c(variable_file(c(-56L, 7L, -1L), "byte", c(unsigned, missing_value = -1L)),
             variable_file(c(0L, -6L, -5L, 32767L), "short", c(unsigned, list(valid_range = c(0L, -6L),
                                                                              scale_factor = 2L))),
             variable_file(c(-1L, 3L), "integer", unsigned),
             variable_file(c(-1L, 3L), "short", list("_Unsigned" = "false")))
  on.exit(unlink(files))
  found <- lapply(files, function(file) read_sample(file, "t")$t)
  expect_identical(found, list(c(200, 7, NA), c(0, 131060, NA, 65534), c(4294967295, 3), c(-1, 3)))
})

test_that("values in one row belong to one place", {
  file <- netcdf_file()
  on.exit(unlink(file))
  bare <- function(name, size) ncdf4::ncdim_def(name, "", seq_len(size), create_dimvar = FALSE)
  a <- bare("a", 2L)
  b <- bare("b", 3L)
  of <- function(name, ...) ncdf4::ncvar_def(name, "", list(...), prec = "double")
  nc <- ncdf4::nc_create(file, list(of("t", a, b), of("u", b, a), of("v", a, bare("one", 1L), b),
                                    of("w", bare("c", 6L))))
  for (name in c("t", "u", "v", "w")) ncdf4::ncvar_put(nc, name, 1:6)
  ncdf4::nc_close(nc)
  expect_identical(read_sample(file, c("t", "v")), data.frame(t = as.double(1:6), v = as.double(1:6)))
  for (other in c("u", "w")) {
    expect_error(read_sample(file, c("t", other)), "same dimensions .* a, b [(]t[)]", class = "kestrel_error_input")
  }
})

test_that("what cannot be written is not left behind", {
  file <- netcdf_file()
  on.exit(unlink(file))
  fhat <- kde(faithful, gridsize = 5)
  full <- function(...) stop("No space left on device")
  for (step in c("put_attributes", "put_frame")) {
    with_binding(step, full, {
      expect_error(write_pdf(fhat, file), "`file` must .* cannot be written: .*No space", class = "kestrel_error_input")
    })
    expect_false(file.exists(file))
  }
  with_binding("put_attributes", full, {
    expect_error(kde_stream(faithful, to = file, gridsize = 5), "`to` must .* cannot be written: .*No space",
                 class = "kestrel_error_input")
  })
  expect_false(file.exists(file))
  # No file stays open (the folder of open files exists on Linux).
  open <- Sys.readlink(dir("/proc/self/fd", full.names = TRUE))
  expect_false(any(grepl(basename(file), open, fixed = TRUE)))
})

test_that("bad input is refused", {
  file <- packed_file()
  text <- tempfile(fileext = ".txt")
  writeLines("not netCDF", text)
  on.exit(unlink(c(file, text)))
  at <- kde(faithful, eval.points = faithful)
  fhat <- kde(faithful, gridsize = 5)
  steady_name <- function(code) {
    tryCatch(code, kestrel_error_input = function(e) {
      abort_input(gsub('"[^"]*/[^"]*"', '"<file>"', conditionMessage(e)))
    })
  }
  expect_refused(
    write_pdf(1, "a.nc"),
    write_pdf(at, "a.nc"),
    write_pdf(fhat, 1),
    write_pdf(fhat, "a.nc", units = "K"),
    steady_name(write_pdf(fhat, file.path("no", "such", "folder.nc"))),
    read_pdf("no such file.nc"),
    steady_name(read_pdf(text)),
    steady_name(read_pdf(file)),
    read_sample(file),
    read_sample(file, "nothing"),
    read_sample(file, c("tas", "pr"))
  )
})

test_that("a file with a grid above memory is refused", {
  file <- netcdf_file()
  on.exit(unlink(file))
  write_pdf(kde(faithful, gridsize = c(60, 70)), file)
  old <- options(kestrel.memory_limit = 1e4)
  on.exit(options(old), add = TRUE)
  expect_error(read_pdf(file), "60 x 70 points need", class = "kestrel_error_memory")
})

test_that("large arrays are written in parts", {
  for (sizes in list(60 * part_size, c(2000, 3000), c(10, 20, 15000), c(25 * part_size, 2))) {
    values <- array(seq_len(prod(sizes)), sizes)
    written <- array(0, sizes)
    put <- function(name, part, start, count) {
      where <- Map(function(first, n) seq(first, length.out = n), start, count)
      written <<- do.call(`[<-`, c(list(written), where, list(value = part)))
    }
    expect_gte(length(traced("heard", TRUE, put_slabs(put, "density", values))), 2)
    expect_equal(written, values)
  }
})
