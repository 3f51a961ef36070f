# netCDF files with damaged bytes, values or attributes: reading one gives a density or an error.

# Made once in a session, by name.
netcdf_makers <- list(
  line = function(file) write_pdf(kde(faithful$eruptions, gridsize = 21), file),
  plane = function(file) write_pdf(kde(faithful[1:30, ], H = diag(c(0.1, 30)), gridsize = 9), file, c("min", "min")),
  space = function(file) write_pdf(kde(as.matrix(iris[1:30, 1:3]), H = diag(3), gridsize = 5), file),
  positive = function(file) write_pdf(kde(faithful$eruptions, h = 0.2, positive = TRUE, gridsize = 9), file),
  bounded = function(file) write_pdf(kde(faithful$eruptions, h = 0.2, bounds = c(1.6, Inf), gridsize = 9), file),
  stream = function(file) kde_stream(faithful[1:30, ], file, H = diag(c(0.1, 30)), gridsize = c(9, 7)),
  # Made by the library alone, in the classic format.
  classic = function(file) {
    time <- ncdf4::ncdim_def("time", "s", 1:50)
    packed <- ncdf4::ncvar_def("packed", "K", time, missval = -99L, prec = "short")
    plain <- ncdf4::ncvar_def("plain", "K", time, prec = "double")
    nc <- ncdf4::nc_create(file, list(packed, plain))
    ncdf4::ncvar_put(nc, packed, 1:50)
    ncdf4::ncvar_put(nc, plain, stats::rnorm(50))
    ncdf4::ncatt_put(nc, packed, "scale_factor", 0.5)
    ncdf4::nc_close(nc)
  }
)

sound_file <- function(name) {
  file <- file.path(tempdir(), paste0("sound-", name, ".nc"))
  if (!file.exists(file)) netcdf_makers[[name]](file)
  file
}

# A copy with damaged bytes: cut off after `at`, with other bytes there, or with a stretch copied from elsewhere.
damaged_file <- function(name, how, at, bytes) {
  whole <- readBin(sound_file(name), "raw", 1e6)
  at <- (at - 1) %% length(whole) + 1
  whole <- switch(how,
    cut = whole[seq_len(at[1L] - 1)],
    other = replace(whole, at, bytes),
    flipped = replace(whole, at, xor(whole[at], bytes)),
    moved = replace(whole, pmin(at[1L] + 0:63, length(whole)), whole[pmin(at[2L] + 0:63, length(whole))]),
    longer = c(whole, rep(bytes, 100L))
  )
  file <- tempfile("damaged", fileext = ".nc")
  writeBin(whole, file)
  file
}

# A copy with other values of a variable, or another attribute, changed by netCDF itself.
changed_file <- function(name, variable, attribute, value) {
  file <- tempfile("changed", fileext = ".nc")
  file.copy(sound_file(name), file)
  nc <- ncdf4::nc_open(file, write = TRUE)
  try(if (is.null(attribute)) {
    values <- ncdf4::ncvar_get(nc, variable)
    values[seq_along(value)] <- value
    ncdf4::ncvar_put(nc, variable, values)
  } else {
    ncdf4::ncatt_put(nc, variable, attribute, value)
  }, silent = TRUE)
  ncdf4::nc_close(nc)
  file
}

damaged_call <- function() {
  name <- pick(names(netcdf_makers))
  many <- pick(c(1L, 4L, 30L))
  size <- file.size(sound_file(name))
  # Headers are usually at the beginning.
  at <- sample.int(if (chance(0.5)) size else min(size, 2000), max(many, 2L), replace = TRUE)
  bytes <- as.raw(sample.int(256L, length(at), replace = TRUE) - 1L)
  call("damaged_file", name, pick(c("cut", "other", "flipped", "moved", "longer"), c(2, 3, 4, 1, 1)), at, bytes)
}

changed_call <- function() {
  name <- pick(setdiff(names(netcdf_makers), "classic"))
  nc <- ncdf4::nc_open(sound_file(name))
  on.exit(ncdf4::nc_close(nc))
  variable <- pick(c(names(nc$var), names(nc$dim)[vapply(nc$dim, `[[`, NA, "create_dimvar")]))
  attributes <- names(ncdf4::ncatt_get(nc, "density"))
  if (chance(0.5)) {
    return(call("changed_file", name, variable, NULL, pick(c(NaN, -1, Inf, 0, 1e300, 1e-300, NA)) * c(1, pick(0:1))))
  }
  value <- pick(list("", "text", "a b c", -1, 0, 0.5, NaN, c(1, 2), c(-1, 0, 0, 1), 1e300, 3L, "gaussian", "product"))
  call("changed_file", name, "density", pick(attributes), value)
}

# Names as columns of tables may have, to be written and read back.
odd_names <- function(d) {
  pick(list(letters[seq_len(d)], paste0("a b", seq_len(d)), rep("x", d), c("", "b", "c")[seq_len(d)],
            paste0("n\n", seq_len(d)), c(NA, "b", "c")[seq_len(d)], paste0(strrep("long", 80), seq_len(d)),
            rep("density", d), paste0("\u00e4\u20ac", seq_len(d)), paste0("a\"b'", seq_len(d)), paste0("/", seq_len(d)),
            paste0("tab\t", seq_len(d)), rep("x[, 1]", d), paste0(".", seq_len(d)), rep("\xff\xfe", d)))
}

# Some of these mean something else to file(). The folder "http:" is there.
odd_file <- function() {
  pick(list(quote(tempfile("named", fileext = ".nc")), "stdin", "clipboard", "file:a.nc", "http://a.nc", "~a.nc"),
       c(10, 1, 1, 1, 1, 1))
}

# Reads a file that was just written; if writing failed, returns that error.
back_from <- function(x, H, names, file, ...) {
  colnames(x) <- names
  fhat <- kestrel::kde(x, H = H, gridsize = 5)
  on.exit(unlink(file))
  kestrel::write_pdf(fhat, file)
  back <- kestrel::read_pdf(file, ...)
  same <- c("x", "estimate", "eval.points", "H", "names", "w", "cont", "kernel", "gridtype")
  list(differ = same[!vapply(same, function(field) identical(fhat[[field]], back[[field]]), NA)])
}

file_call <- function() {
  if (chance(0.15)) {
    d <- pick(2:3)
    return(call("back_from", matrix(stats::rnorm(5L * d), 5L), diag(d), odd_names(d), odd_file()))
  }
  file <- if (chance(0.6)) damaged_call() else changed_call()
  if (chance(0.7)) return(call("read_pdf", file))
  call("read_sample", file, pick(list("packed", "plain", c("packed", "plain"), "density", "sample", "time", "x")))
}

# Whether a density that was read is one: finite, not negative, on axes that increase.
no_density <- function(fhat) {
  axes <- if (is.list(fhat$eval.points)) fhat$eval.points else list(fhat$eval.points)
  c(if (any(!is.finite(fhat$estimate)) || any(fhat$estimate < 0)) "densities that are none",
    if (any(!is.finite(unlist(axes))) || any(unlist(lapply(axes, diff)) <= 0)) "axes that do not increase",
    if (length(fhat$estimate) != prod(lengths(axes))) "an estimate of another size than its grid",
    if (any(!is.finite(fhat$x)) || any(!is.finite(fhat$w)) || any(fhat$w < 0)) "data that are none",
    if (is.null(fhat$kernel) || !all(fhat$kernel %in% kernels)) "a kernel that is none",
    if (!all(is.finite(fhat$H)) || is.null(try_root(fhat$H))) "a bandwidth that is none")
}

try_root <- function(H) tryCatch(chol(as.matrix(H)), error = function(e) NULL)

# All contents of a file, by ncdf4 alone.
read_by_library <- function(file) {
  nc <- ncdf4::nc_open(file)
  for (name in c(names(nc$var), names(nc$dim))) {
    try(ncdf4::ncvar_get(nc, name), silent = TRUE)
    try(ncdf4::ncatt_get(nc, name), silent = TRUE)
  }
  ncdf4::nc_close(nc)
}

# Counts damaged files that crash netCDF itself; these are only reported.
beyond_library <- 0L

# Seconds that reading a file of some kB may take.
reading_limit <- if (sanitized) 15 else 5

judge_file <- function(call, environment) {
  # Made in this process, so that the fork reads the same file.
  if (is.call(call[[2L]])) call[[2L]] <- eval(call[[2L]], environment)
  end <- run_in_fork(call, environment, reading_limit)
  if (!is.null(end$wrong)) {
    alone <- in_fork(function() try(read_by_library(call[[2L]]), silent = TRUE), reading_limit)
    if (is.null(alone$ended)) return(end$wrong)
    beyond_library <<- beyond_library + 1L
    return(NULL)
  }
  name <- as.character(call[[1L]])
  wrong <- wrong_conditions(end, call, name)
  if (is.null(end$value)) return(wrong)
  c(wrong, if (name == "read_pdf") no_density(end$value),
    if (length(end$value$differ) > 0L) paste("read back otherwise than written:", toString(end$value$differ)))
}
