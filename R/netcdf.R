# Estimates on grids as netCDF files (CF-1.8), and samples from such files, by package ncdf4.

#' Density estimates as netCDF files
#'
#' `write_pdf()` writes an estimate on a grid to a netCDF-4 file with the conventions CF-1.8; `read_pdf()` reads it back
#' to the last bit.
#'
#' The axes are the dimensions, named as the variables (in letters, digits and underscores; as they are in `long_name`),
#' with units; `density` is a variable with the bandwidth matrix, the kernel and the size of the sample as attributes.
#' Each axis has bounds, half way between its points: the values times the volumes of these cells add up to the integral
#' of the trapezoid rule. The data are in `sample` and `weight`, so that what is read is a whole estimate again, with
#' all fields but `selector` and `na.action`, without names of rows, and with a `call` and `seconds` of its own.
#'
#' Files of [kde_stream()] are alike, without data: what is read from them has a grid, contours, marginal densities and
#' scores ([pdf_score()]), and the size of the sample as a field `n`, but sums over data, as in
#' [predict()][predict.kestrel_kde], are refused.
#'
#' @param fhat an object made by [kde()] on a grid.
#' @param file the name of a file; one that is there is replaced.
#' @param units units of the variables, one for each, as UDUNITS has them; none if NULL.
#' @return `write_pdf()`: the name of the file, invisibly. `read_pdf()`: an object of class `c("kestrel_kde", "kde")`,
#'   see [kde()].
#' @section Errors: of class `kestrel_error_input` for an estimate that is not on a grid, a file that cannot be opened
#'   or written or is not one of these functions, and where the package \pkg{ncdf4} is not installed; of class
#'   `kestrel_error_memory` for a file with a grid above memory.
#' @section Cost: that of writing or reading the grid and the data, 8 bytes a number.
#' @references Eaton, B., Gregory, J., Drach, B. et al. (2020) *NetCDF Climate and Forecast (CF) Metadata Conventions*,
#'   version 1.8.
#' @seealso [kde_stream()] for grids larger than memory, [pdf_score()], [read_sample()]
#' @examples
#' if (requireNamespace("ncdf4", quietly = TRUE)) {
#'   fhat <- kde(faithful, kernel = "epanechnikov", gridsize = 40)
#'   file <- tempfile(fileext = ".nc")
#'   write_pdf(fhat, file, units = c("min", "min"))
#'   back <- read_pdf(file)
#'   identical(back$estimate, fhat$estimate)
#'   unlink(file)
#' }
#' @export
write_pdf <- function(fhat, file, units = NULL) {
  if (!check_estimate(fhat)$gridded) abort_input("`fhat` must be an estimate on a grid, not one at given points.")
  file <- check_netcdf_file(file)
  axes <- axes_of(fhat)
  history <- paste(deparse(match.call(), nlines = 1L, width.cutoff = 60L), collapse = " ")
  units <- check_units(units, length(axes))
  nc <- create_netcdf(file, "file", fhat, axes, units, history, sample_matrix(fhat))
  done <- FALSE
  on.exit({
    ncdf4::nc_close(nc)
    if (!done) unlink(file)
  })
  written(file, "file", {
    ncdf4::ncvar_put(nc, "density", fhat$estimate)
    if (has_data(fhat)) {
      ncdf4::ncvar_put(nc, "sample", sample_matrix(fhat))
      ncdf4::ncvar_put(nc, "weight", fhat$w)
    }
    put_frame(nc, fhat)
  })
  done <- TRUE
  invisible(file)
}

#' @rdname write_pdf
#' @export
read_pdf <- function(file) {
  started <- proc.time()[["elapsed"]]
  nc <- open_netcdf(file)
  on.exit(ncdf4::nc_close(nc))
  density <- nc$var[["density"]]
  if (is.null(density) || is.null(netcdf_attribute(nc, "density", "bandwidth_matrix"))) {
    abort_input("`file` must hold a density that write_pdf() or kde_stream() wrote; ", came(nc$filename), " does not.")
  }
  axes <- unname(lapply(density$dim, function(dim) as.vector(dim$vals)))
  check_file_memory(lengths(axes))
  fhat <- estimate_from(nc, axes)
  fhat$call <- match.call()
  fhat$seconds <- proc.time()[["elapsed"]] - started
  fhat
}

# Values as the library gives them and in the estimate.
check_file_memory <- function(sizes) {
  needed <- 8 * (2 * prod(sizes) + sum(sizes))
  check_fits(needed, "`file` must hold a grid that fits in memory: ", format_sizes(sizes), " points need ")
}

#' Read a sample from a netCDF file
#'
#' Variables of a netCDF file as the columns of a data frame, one row for each of their values, for [kde()],
#' [pdf_score()] and all else.
#'
#' Values that are `_FillValue` or `missing_value`, or outside of `valid_range` (`valid_min`, `valid_max`), become `NA`;
#' others are unpacked by `scale_factor` and `add_offset`. Whole numbers with an attribute `_Unsigned` of "true" have no
#' sign (netCDF User's Guide, appendix A). Arrays become vectors, the
#' dimension that varies fastest in the file first.
#'
#' @param file the name of a netCDF file.
#' @param variables names of numeric variables (or of dimensions with values) that have the same dimensions, but for
#'   those of one index, in the same order.
#' @return A data frame with one column for each of `variables`, of doubles.
#' @section Units: values are those of the variables after unpacking, in the units that their attributes name; nothing
#'   is converted.
#' @section Errors: of class `kestrel_error_input` for a file that cannot be opened, variables that it does not have or
#'   that are not numeric, and variables of different lengths or dimensions.
#' @section Cost: that of reading the variables, 8 bytes a value.
#' @references Unidata, *NetCDF User's Guide*, appendix A: attribute conventions.
#' @seealso [write_pdf()]
#' @examples
#' if (requireNamespace("ncdf4", quietly = TRUE)) {
#'   file <- tempfile(fileext = ".nc")
#'   write_pdf(kde(faithful, gridsize = 20), file)
#'   range(read_sample(file, "density")$density)
#'   unlink(file)
#' }
#' @export
read_sample <- function(file, variables) {
  nc <- open_netcdf(file)
  on.exit(ncdf4::nc_close(nc))
  known <- c(names(nc$var), names(Filter(function(dim) dim$create_dimvar, nc$dim)))
  if (missing(variables) || !is.character(variables) || length(variables) == 0L || !all(variables %in% known)) {
    abort_input("`variables` must be among those of the file, ", quoted(known, '"'),
                if (missing(variables)) "." else paste0(", not ", came(variables), "."))
  }
  columns <- lapply(variables, function(name) unpacked(nc, name))
  sizes <- lengths(columns)
  if (any(sizes != sizes[1L])) {
    abort_input("`variables` must have equally many values, not ",
                paste0(sizes, " (", variables, ")", collapse = ", "), ".")
  }
  over <- vapply(variables, function(name) paste(dimensions_of(nc, name), collapse = ", "), "")
  if (any(over != over[1L])) {
    abort_input("`variables` must have the same dimensions in the same order, not ",
                paste0(over, " (", variables, ")", collapse = "; "), ".")
  }
  names(columns) <- variables
  as.data.frame(columns, optional = TRUE)
}

# The names of a variable's dimensions that have more than one index.
dimensions_of <- function(nc, name) {
  variable <- nc$var[[name]]
  if (is.null(variable)) return(name)
  vapply(Filter(function(dim) dim$len > 1L, variable$dim), `[[`, "", "name")
}

# The values of a variable, unpacked, missing ones NA.
unpacked <- function(nc, name) {
  values <- ncdf4::ncvar_get(nc, name, raw_datavals = TRUE)
  if (!is.numeric(values)) abort_input("`variables` must be numeric; `", name, "` is not.")
  attribute <- function(which) netcdf_attribute(nc, name, which)
  # Values of dimensions have none.
  type <- c(nc$var[[name]]$prec, "")[1L]
  if (tolower(c(attribute("_Unsigned"), "")[1L]) == "true") type <- paste("unsigned", type)
  packed <- function(which) as_stored(attribute(which), type)
  values <- as_stored(as.double(values), type)
  limits <- packed("valid_range")
  least <- c(packed("valid_min"), limits[1L], -Inf)[1L]
  most <- c(packed("valid_max"), limits[2L], Inf)[1L]
  gone <- is.na(values) | values %in% c(packed("_FillValue"), packed("missing_value")) | values < least | values > most
  values <- values * c(attribute("scale_factor"), 1)[1L] + c(attribute("add_offset"), 0)[1L]
  values[gone] <- NA
  values
}

# Numbers as the values of a variable are meant. An attribute may be a double where these are floats; whole numbers
# without a sign (attribute _Unsigned) come with one.
as_stored <- function(numbers, type) {
  if (!is.numeric(numbers)) return(numbers)
  bits <- c("unsigned byte" = 8, "unsigned short" = 16, "unsigned int" = 32)
  if (type %in% names(bits)) return(numbers + 2^bits[[type]] * (numbers < 0))
  if (!identical(type, "float")) return(numbers)
  readBin(writeBin(as.double(numbers), raw(), size = 4L), "double", length(numbers), size = 4L)
}

netcdf_attribute <- function(nc, variable, name) {
  found <- ncdf4::ncatt_get(nc, variable, name)
  if (found$hasatt) found$value
}

need_ncdf4 <- function(argument) {
  if (!requireNamespace("ncdf4", quietly = TRUE)) {
    abort_input("`", argument, "` must not be a netCDF file unless the package ncdf4 is installed; it is not.")
  }
}

check_netcdf_file <- function(file) {
  need_ncdf4("file")
  if (!is.character(file) || length(file) != 1L || is.na(file) || !nzchar(file)) {
    abort_input("`file` must be the name of a file, not ", came(file), ".")
  }
  path.expand(file)
}

open_netcdf <- function(file) {
  file <- check_netcdf_file(file)
  if (!file.exists(file)) abort_input("`file` must be the name of a file that exists, not ", came(file), ".")
  silently(nc <- tryCatch(ncdf4::nc_open(file), error = function(e) NULL))
  if (is.null(nc)) abort_input("`file` must be a netCDF file, but ", came(file), " cannot be opened as one.")
  nc
}

# Without what the library prints before it fails, which the errors here say better.
silently <- function(code) utils::capture.output(code)

check_units <- function(units, d) {
  if (is.null(units)) return(rep("", d))
  if (!is.character(units) || length(units) != d || anyNA(units)) {
    abort_input("`units` must be ", d, if (d == 1L) " text" else " texts, one for each variable", ", not ", came(units),
                ".")
  }
  units
}

netcdf_sink <- function(file) {
  need_ncdf4("to")
  nc <- NULL
  open <- function(fhat, axes) {
    nc <<- create_netcdf(file, "to", fhat, axes, rep("", length(axes)), "kde_stream()")
    d <- length(axes)
    function(slab) {
      written(file, "to", ncdf4::ncvar_put(nc, "density", slab$estimate, start = c(rep(1, d - 1L), slab$first),
                                           count = c(lengths(axes)[-d], length(slab$axes[[d]]))))
    }
  }
  list(open = open, close = function() if (!is.null(nc)) ncdf4::nc_close(nc))
}

# What `code` writes to a file, the argument of that name, that is open; a full disk ends here.
written <- function(file, argument, code) {
  silently(invisible(tryCatch(code, error = function(e) {
    abort_input("`", argument, "` must be a file with room for all of it, but ", came(file), " cannot be written: ",
                conditionMessage(e))
  })))
}

# A file with the axes and attributes of an estimate, its values still to come, and room for a sample; `argument`: what
# the caller knows the file as. Nothing is left of it after an error.
create_netcdf <- function(file, argument, fhat, axes, units, history, sample = NULL) {
  names <- netcdf_names(fhat$names)
  dimensions <- Map(function(name, axis, unit, long) ncdf4::ncdim_def(name, unit, axis, longname = long), names, axes,
                    units, fhat$names)
  bare <- function(name, size) ncdf4::ncdim_def(name, "", seq_len(size), create_dimvar = FALSE)
  bound <- bare("bound", 2L)
  bounds <- lapply(dimensions, function(dim) {
    ncdf4::ncvar_def(paste0(dim$name, "_bounds"), "", list(bound, dim), prec = "double")
  })
  inverse <- if (all(nzchar(units))) paste0("(", units, ")-1", collapse = " ") else ""
  density <- ncdf4::ncvar_def("density", inverse, unname(dimensions), longname = "kernel density estimate",
                              prec = "double")
  data <- if (!is.null(sample) && nrow(sample) > 0L) {
    rows <- bare("observation", nrow(sample))
    list(ncdf4::ncvar_def("sample", "", list(rows, bare("variable", ncol(sample))), prec = "double"),
         ncdf4::ncvar_def("weight", "", list(rows), prec = "double"))
  }
  variables <- c(list(density), unname(bounds), data)
  silently(nc <- opened(file, ncdf4::nc_create(file, variables, force_v4 = TRUE), argument))
  done <- FALSE
  on.exit(if (!done) {
    ncdf4::nc_close(nc)
    unlink(file)
  })
  written(file, argument, {
    for (k in seq_along(axes)) {
      ncdf4::ncatt_put(nc, names[k], "bounds", bounds[[k]]$name)
      ncdf4::ncvar_put(nc, bounds[[k]], cell_bounds(axes[[k]]))
    }
    put_attributes(nc, fhat, history)
  })
  done <- TRUE
  nc
}

# Names as CF (2.3) has them: letters, digits and underscores, a letter first; none is that of another variable or
# dimension, and none is the bounds of another.
netcdf_names <- function(names) {
  taken <- c("density", "sample", "weight", "bound", "observation", "variable")
  names <- gsub("^_|_$", "", gsub("[^A-Za-z0-9]+", "_", names))
  names <- ifelse(grepl("^[A-Za-z]", names), names, paste0("x_", names))
  names <- sub("_bounds$", "_bound", names)
  make.unique(c(taken, names), sep = "_")[-seq_along(taken)]
}

put_attributes <- function(nc, fhat, history) {
  put <- function(name, value, variable = "density") ncdf4::ncatt_put(nc, variable, name, value)
  version <- paste("kestrel", utils::packageVersion("kestrel"))
  put("Conventions", "CF-1.8", 0)
  put("title", "Probability density function", 0)
  put("source", version, 0)
  put("history", paste0(format(Sys.time(), "%Y-%m-%dT%H:%M:%SZ", tz = "UTC"), " ", version, ": ", history), 0)
  put("kernel", fhat$kernel)
  put("kernel_type", fhat$kernel_type)
  put("bandwidth_matrix", as.vector(fhat$H))
  put("sample_size", sample_size(fhat))
  put("effective_sample_size", fhat$n_eff)
}

# The ends of the cells that the trapezoid rule gives each point of an axis, 2 x points.
cell_bounds <- function(axis) {
  middle <- (axis[-1L] + axis[-length(axis)]) / 2
  rbind(c(axis[1L], middle), c(middle, axis[length(axis)]))
}

# The fields of an estimate that are no science, but belong to the object.
put_frame <- function(nc, fhat) {
  put <- function(name, value) if (!is.null(value)) ncdf4::ncatt_put(nc, "density", paste0("kestrel_", name), value)
  put("rows", joined(rownames(fhat$H)))
  put("columns", joined(colnames(fhat$H)))
  put("sample_columns", joined(colnames(fhat$x)))
  put("tol", fhat$tol)
  put("engine", fhat$engine)
  put("backend", fhat$backend)
  put("device", fhat$device)
  put("precision", fhat$precision)
  put("gridtype", paste(fhat$gridtype, collapse = " "))
  put("transform", fhat$transform$type)
  put("transform_adj", fhat$transform$adj)
  put("cont", unname(fhat$cont))
  put("cont_names", if (!is.null(fhat$cont)) paste(names(fhat$cont), collapse = " "))
}

# Names, any of which may be empty, as one text, and back.
joined <- function(names) if (!is.null(names)) paste0(names, "\n", collapse = "")

parted <- function(text) if (!is.null(text)) strsplit(text, "\n", fixed = TRUE)[[1L]]

estimate_from <- function(nc, axes) {
  of <- function(name) netcdf_attribute(nc, "density", name)
  own <- function(name) of(paste0("kestrel_", name))
  d <- length(axes)
  names <- vapply(nc$var[["density"]]$dim, function(dim) {
    long <- netcdf_attribute(nc, dim$name, "long_name")
    if (is.null(long)) dim$name else long
  }, "")
  x <- matrix(0, 0L, d)
  w <- numeric(0)
  known <- !is.null(nc$var[["sample"]])
  if (known) {
    x <- matrix(ncdf4::ncvar_get(nc, "sample"), ncol = d)
    w <- as.vector(ncdf4::ncvar_get(nc, "weight"))
  }
  # A stream's columns without names of their own have those that check_sample() gave them.
  if (!known && !all(startsWith(names, "x[, "))) colnames(x) <- names
  if (!is.null(own("sample_columns"))) colnames(x) <- parted(own("sample_columns"))
  H <- matrix(of("bandwidth_matrix"), d, d)
  if (!is.null(own("rows"))) rownames(H) <- parted(own("rows"))
  if (!is.null(own("columns"))) colnames(H) <- parted(own("columns"))
  transform <- if (!is.null(own("transform"))) c(list(type = own("transform")), if (!is.null(own("transform_adj"))) {
    list(adj = as.vector(own("transform_adj")))
  })
  run <- list(engine = own("engine"), backend = own("backend"), tol = own("tol"))
  fhat <- new_density(list(x = x, w = w, names = names), H, of("kernel"), of("kernel_type"), transform, run)
  fhat$n_eff <- of("effective_sample_size")
  if (!known) fhat$n <- of("sample_size")
  fhat$device <- own("device")
  fhat$precision <- own("precision")
  fhat$eval.points <- if (d == 1L) axes[[1L]] else axes
  values <- ncdf4::ncvar_get(nc, "density", collapse_degen = FALSE)
  fhat$estimate <- if (d == 1L) as.vector(values) else array(values, lengths(axes))
  gridtype <- own("gridtype")
  fhat$gridtype <- if (is.null(gridtype)) rep("linear", d) else strsplit(gridtype, " ", fixed = TRUE)[[1L]]
  fhat$gridded <- TRUE
  if (!is.null(own("cont"))) {
    fhat$cont <- structure(as.vector(own("cont")), names = strsplit(own("cont_names"), " ", fixed = TRUE)[[1L]])
  }
  fhat
}
