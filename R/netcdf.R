# Estimates on grids as netCDF files (CF-1.8), and samples from such files, by package ncdf4.

#' Density estimates as netCDF files
#'
#' `write_pdf()` writes an estimate on a grid to a netCDF-4 file with the conventions CF-1.8. `read_pdf()` reads it back
#' to the last bit.
#'
#' The axes are the dimensions, with units. Their names are those of the variables, in letters, digits and underscores,
#' and `long_name` has the original names. `density` is a variable with the bandwidth matrix, the kernel and the size of
#' the sample as attributes. Each axis has bounds, half way between its points. The values times the volumes of these
#' cells add up to the integral of the trapezoid rule. The data are in `sample` and `weight`, so that reading gives a
#' complete estimate. It has all fields except `selector` and `na.action`, no names of rows, and its own `call` and
#' `seconds`.
#'
#' Files of [kde_stream()] have the same form, without data. An estimate read from one has a grid, contours, marginal
#' densities and scores ([pdf_score()]), and the size of the sample as a field `n`. Functions that sum over data, such
#' as [predict()][predict.kestrel_kde], refuse it.
#'
#' A file is written completely or not at all, as in [kde_stream()], section Files. A seal of 16 bytes follows its end,
#' where other programs that use HDF5 do not look. It is a checksum of all bytes, which is compared before anything is
#' read. A file without a seal is read, too, for example if another program has rewritten it. A file with a wrong seal
#' is refused. With or without a seal, the values have to be those of a density: axes that increase, an estimate that is
#' finite and not negative, weights, and a bandwidth.
#'
#' @section Files of others: Formats, sizes and values are checked. But the netCDF library and HDF5 may crash on files
#'   that were made for that purpose, or that are damaged without being cut short. So a file from others without a seal
#'   is only as safe as these libraries.
#'
#' @param fhat an object made by [kde()] on a grid.
#' @param file the name of a file; an existing one is replaced when the new one is complete.
#' @param units units of the variables, one for each, as in UDUNITS; none if NULL.
#' @param ... no further arguments: other names are an error, which says what may have been meant.
#' @return `write_pdf()` returns the name of the file, invisibly. `read_pdf()` returns an object of class
#'   `c("kestrel_kde", "kde")`, see [kde()].
#' @section Errors: Errors of class `kestrel_error_input` are for an estimate that is not on a grid, a file that cannot
#'   be opened or written or has no room, and a file that is damaged or was not made by these functions. They are also
#'   raised if the package \pkg{ncdf4} is not installed. The class is `kestrel_error_memory` for a file with a grid that
#'   does not fit into memory.
#' @section Cost: The cost of writing or reading the grid and the data, 8 bytes for each number, and of reading the file
#'   once more for its seal.
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
write_pdf <- function(fhat, file, units = NULL, ...) {
  check_arguments("write_pdf", given_names(...))
  if (!check_estimate(fhat)$gridded) abort_input("`fhat` must be an estimate on a grid, not one at given points.")
  target <- check_target(check_netcdf_name(file), "file")
  axes <- axes_of(fhat)
  history <- paste(code_lines(match.call(), 1L), collapse = " ")
  units <- check_units(units, length(axes))
  write_netcdf(target, fhat, axes, units, history, function(put) {
    put_slabs(put, "density", fhat$estimate)
    if (has_data(fhat)) {
      put_slabs(put, "sample", sample_matrix(fhat))
      put_slabs(put, "weight", fhat$w)
    }
  }, sample = sample_matrix(fhat), put_more = function(nc) put_frame(nc, fhat))
  invisible(target$file)
}

#' @rdname write_pdf
#' @export
read_pdf <- function(file, ...) {
  check_arguments("read_pdf", given_names(...))
  started <- proc.time()[["elapsed"]]
  fhat <- with_netcdf(file, function(nc) {
    density <- nc$var[["density"]]
    if (is.null(density) || is.null(netcdf_attribute(nc, "density", "bandwidth_matrix"))) {
      abort_input("`file` must hold a density that write_pdf() or kde_stream() wrote; ", describe_value(file),
                  " does not.")
    }
    check_file_memory(density$size, "a grid", "points")
    estimate_from(nc, lapply(density$dim, function(dim) as.vector(doubles_from(nc, dim$name))))
  })
  fhat$call <- match.call()
  fhat$seconds <- proc.time()[["elapsed"]] - started
  problem <- object_problem(fhat, "kestrel_kde")
  if (!is.null(problem)) {
    abort_input("`file` must hold an estimate as write_pdf() writes it, but in ", describe_value(file),
                problem_text(problem))
  }
  fhat
}

# Memory for the values of a variable as the library returns them, and in the result.
check_file_memory <- function(sizes, what, entries) {
  sizes <- as.numeric(sizes)
  needed <- 8 * (2 * prod(sizes) + sum(sizes))
  check_fits(needed, "`file` must hold ", what, " for which there is memory: ", format_sizes(sizes), " ", entries,
             " need ")
}

#' Read a sample from a netCDF file
#'
#' Reads variables of a netCDF file as the columns of a data frame, with one row for each of their values, for [kde()],
#' [pdf_score()] and other functions.
#'
#' Values that are `_FillValue` or `missing_value`, or outside of `valid_range` (`valid_min`, `valid_max`), become `NA`.
#' Others are unpacked by `scale_factor` and `add_offset`. Whole numbers with an attribute `_Unsigned` of "true" have no
#' sign (netCDF User's Guide, appendix A). Arrays become vectors, in which the dimension that varies fastest in the file
#' comes first.
#'
#' Files may have the classic formats (versions 1, 2 and 5) or netCDF-4. A file that ends before its values do is
#' refused, because the library would read zeros.
#'
#' @inheritSection write_pdf Files of others
#'
#' @param file the name of a netCDF file.
#' @param variables names of numeric variables (or of dimensions with values) that have the same dimensions in the same
#'   order, except for those with one index.
#' @param ... no further arguments: other names are an error, which says what may have been meant.
#' @return A data frame with one column for each of `variables`, of doubles.
#' @section Units: Values are those of the variables after unpacking, in the units that their attributes name. Units are
#'   not converted.
#' @section Errors: Errors of class `kestrel_error_input` are for a file that cannot be opened or is damaged, variables
#'   that it does not have or that are not numeric, and variables of different lengths or dimensions. The class is
#'   `kestrel_error_memory` for variables that do not fit into memory.
#' @section Cost: The cost of reading the variables, 8 bytes for each value.
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
read_sample <- function(file, variables, ...) {
  check_arguments("read_sample", given_names(...))
  none <- missing(variables)
  with_netcdf(file, function(nc) {
    known <- c(names(nc$var), names(Filter(function(dim) dim$create_dimvar, nc$dim)))
    variables <- if (!none) without_class(variables)
    if (!is.character(variables) || length(variables) == 0L || !all(variables %in% known)) {
      abort_input("`variables` must be among those of the file, ", quoted(known, '"'),
                  if (none) "." else paste0(", not ", describe_value(variables), "."))
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
  })
}

# The names of a variable's dimensions that have more than one index.
dimensions_of <- function(nc, name) {
  variable <- nc$var[[name]]
  if (is.null(variable)) return(name)
  vapply(Filter(function(dim) dim$len > 1L, variable$dim), `[[`, "", "name")
}

# The values of a variable, unpacked, missing ones NA. `start`, `count`: those of a part of it, by dimension.
unpacked <- function(nc, name, start = NA, count = NA) {
  size <- if (is.null(nc$var[[name]])) nc$dim[[name]]$len else nc$var[[name]]$size
  check_file_memory(if (anyNA(count)) size else count, "variables", "values")
  values <- ncdf4::ncvar_get(nc, name, start, count, raw_datavals = TRUE)
  if (!is.numeric(values)) abort_input("`variables` must be numeric; `", name, "` is not.")
  attribute <- function(which) netcdf_attribute(nc, name, which)
  # The values of a dimension have no such attribute.
  type <- c(nc$var[[name]]$prec, "")[1L]
  if (tolower(c(attribute("_Unsigned"), "")[1L]) == "true") type <- paste("unsigned", type)
  packed <- function(which) as_stored(attribute(which), type)
  values <- as_stored(as.double(values), type)
  limits <- packed("valid_range")
  smallest <- c(packed("valid_min"), limits[1L], -Inf)[1L]
  largest <- c(packed("valid_max"), limits[2L], Inf)[1L]
  gone <- is.na(values) | values %in% c(packed("_FillValue"), packed("missing_value")) |
    values < smallest | values > largest
  values <- values * c(attribute("scale_factor"), 1)[1L] + c(attribute("add_offset"), 0)[1L]
  values[gone] <- NA
  values
}

# Converts numbers to the type of a variable's values. An attribute may be a double although these are floats. Unsigned
# whole numbers (attribute _Unsigned) are stored as signed ones.
as_stored <- function(numbers, type) {
  if (!is.numeric(numbers)) return(numbers)
  bits <- c("unsigned byte" = 8, "unsigned short" = 16, "unsigned int" = 32)
  if (type %in% names(bits)) return(numbers + 2^bits[[type]] * (numbers < 0))
  if (!identical(type, "float")) return(numbers)
  readBin(writeBin(as.double(numbers), raw(), size = 4L), "double", length(numbers), size = 4L)
}
