# Estimates from netCDF files, and how their names are stored.

# Joins names, any of which may be empty or missing, to one text; and splits it again.
joined <- function(names) if (!is.null(names)) paste0(escaped(names), "\n", collapse = "")

parted <- function(text) if (!is.null(text)) unescaped(strsplit(text, "\n", fixed = TRUE)[[1L]])

# Names with line ends escaped; a missing name is "\N".
escaped <- function(names) {
  names <- gsub("\\", "\\\\", as_utf8(names), fixed = TRUE)
  ifelse(is.na(names), "\\N", gsub("\n", "\\n", names, fixed = TRUE))
}

# In UTF-8, whatever the locale.
as_utf8 <- function(texts) {
  latin <- Encoding(texts) == "latin1"
  texts[latin] <- enc2utf8(texts[latin])
  if (!all(validUTF8(texts))) {
    abort_input("Names of variables must be valid text to go into a netCDF file, in UTF-8 or marked as latin1.")
  }
  Encoding(texts) <- "UTF-8"
  texts
}

unescaped <- function(texts) {
  Encoding(texts) <- "UTF-8"
  of <- function(text) {
    # Between two pairs of backslashes a single one is an escape.
    parts <- strsplit(paste0(text, "\\\\"), "\\\\", fixed = TRUE)[[1L]]
    paste(gsub("\\n", "\n", parts, fixed = TRUE), collapse = "\\")
  }
  ifelse(texts == "\\N", NA_character_, vapply(texts, of, "", USE.NAMES = FALSE))
}

# The value of doubles that were never written (NC_FILL_DOUBLE of the library).
fill_double <- 0x1.ep+122

# The raw values of a variable of doubles, without the library's search for missing values.
doubles_from <- function(nc, name) {
  values <- ncdf4::ncvar_get(nc, name, collapse_degen = FALSE, raw_datavals = TRUE)
  if (!is.double(values)) stop("`", name, "` is not of doubles")
  if (any(values == fill_double, na.rm = TRUE)) stop("`", name, "` was not written to its end")
  values
}

netcdf_attribute <- function(nc, variable, name) {
  found <- ncdf4::ncatt_get(nc, variable, name)
  if (found$hasatt) found$value
}

# The content of a file of write_pdf() or kde_stream() in the form of an estimate, still unchecked.
estimate_from <- function(nc, axes) {
  of <- function(name) netcdf_attribute(nc, "density", name)
  own <- function(name) of(paste0("kestrel_", name))
  d <- length(axes)
  names <- vapply(nc$var[["density"]]$dim, function(dim) {
    long <- netcdf_attribute(nc, dim$name, "long_name")
    if (is.null(long)) dim$name else unescaped(long)
  }, "")
  x <- matrix(0, 0L, d)
  w <- numeric(0)
  known <- !is.null(nc$var[["sample"]])
  if (known) {
    x <- doubles_from(nc, "sample")
    w <- as.vector(doubles_from(nc, "weight"))
    if (!identical(dim(x), c(length(w), d))) stop("`sample` and `weight` do not go together")
  }
  # If a stream's columns had no names of their own, they keep those that check_sample() gave them.
  if (!known && !isTRUE(all(startsWith(names, "x[, ")))) colnames(x) <- names
  if (!is.null(own("sample_columns"))) colnames(x) <- parted(own("sample_columns"))
  H <- of("bandwidth_matrix")
  if (!is.numeric(H) || length(H) != d^2) stop("`bandwidth_matrix` is not ", d, " x ", d, " numbers")
  dim(H) <- c(d, d)
  if (!isTRUE(all(diag(H) > 0))) stop("`bandwidth_matrix` is not positive on its diagonal")
  if (!is.null(own("rows"))) rownames(H) <- parted(own("rows"))
  if (!is.null(own("columns"))) colnames(H) <- parted(own("columns"))
  transform <- if (!is.null(own("transform"))) list(type = own("transform"))
  for (part in c("adj", "lower", "upper", "period")) {
    value <- own(paste0("transform_", part))
    if (!is.null(transform) && !is.null(value)) transform[[part]] <- as.vector(value)
  }
  run <- list(engine = own("engine"), backend = own("backend"), tol = own("tol"))
  fhat <- new_density(list(x = x, w = w, names = names), H, of("kernel"), of("kernel_type"), transform, run)
  fhat$n_eff <- of("effective_sample_size")
  if (!known) fhat$n <- of("sample_size")
  fhat$device <- own("device")
  fhat$precision <- own("precision")
  fhat$eval.points <- if (d == 1L) axes[[1L]] else axes
  values <- doubles_from(nc, "density")
  fhat$estimate <- if (d == 1L) as.vector(values) else values
  gridtype <- own("gridtype")
  fhat$gridtype <- if (is.null(gridtype)) rep("linear", d) else strsplit(gridtype, " ", fixed = TRUE)[[1L]]
  fhat$gridded <- TRUE
  if (!is.null(own("cont"))) fhat$cont <- structure(as.vector(own("cont")), names = parted(own("cont_names")))
  fhat
}
