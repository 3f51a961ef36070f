# Estimates out of netCDF files, and what an estimate has to be to go in and out.

# Names, any of which may be empty or missing, as one text, and back.
joined <- function(names) if (!is.null(names)) paste0(escaped(names), "\n", collapse = "")

parted <- function(text) if (!is.null(text)) unescaped(strsplit(text, "\n", fixed = TRUE)[[1L]])

# Names without ends of lines; what is missing is "\N".
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
    # Between two backslashes and the next two, one means something.
    parts <- strsplit(paste0(text, "\\\\"), "\\\\", fixed = TRUE)[[1L]]
    paste(gsub("\\n", "\n", parts, fixed = TRUE), collapse = "\\")
  }
  ifelse(texts == "\\N", NA_character_, vapply(texts, of, "", USE.NAMES = FALSE))
}

# The values of doubles that nobody has written (NC_FILL_DOUBLE of the library).
fill_double <- 0x1.ep+122

# The bits of a variable of doubles, which the library would look through for missing values.
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

# What is in a file of write_pdf() or kde_stream(), in the form of an estimate, yet unchecked.
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
  # A stream's columns without names of their own have those that check_sample() gave them.
  if (!known && !isTRUE(all(startsWith(names, "x[, ")))) colnames(x) <- names
  if (!is.null(own("sample_columns"))) colnames(x) <- parted(own("sample_columns"))
  H <- of("bandwidth_matrix")
  if (!is.numeric(H) || length(H) != d^2) stop("`bandwidth_matrix` is not ", d, " x ", d, " numbers")
  dim(H) <- c(d, d)
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
  values <- doubles_from(nc, "density")
  fhat$estimate <- if (d == 1L) as.vector(values) else values
  gridtype <- own("gridtype")
  fhat$gridtype <- if (is.null(gridtype)) rep("linear", d) else strsplit(gridtype, " ", fixed = TRUE)[[1L]]
  fhat$gridded <- TRUE
  if (!is.null(own("cont"))) fhat$cont <- structure(as.vector(own("cont")), names = parted(own("cont_names")))
  fhat
}

# What is wrong with an estimate on a grid, as a file has it or is to have it, NULL if nothing is.
estimate_problem <- function(fhat) {
  axes <- axes_of(fhat)
  d <- length(axes)
  rising <- function(axis) all_finite(axis) && length(axis) > 0L && all(diff(axis) > 0)
  if (!all(vapply(axes, rising, NA))) return("`eval.points` must be finite and increase along each axis")
  if (length(fhat$names) != d || !is.character(fhat$names)) return("`names` must be texts, one for each axis")
  sizes <- lengths(axes)
  if (!is.numeric(fhat$estimate) || length(fhat$estimate) != prod(sizes) ||
    (d > 1L && !identical(dim(fhat$estimate), sizes))) {
    return("`estimate` must have one number for each point of the grid")
  }
  if (!all_finite(fhat$estimate) || any(fhat$estimate < 0)) return("`estimate` must be finite and not negative")
  if (!is.numeric(fhat$H) || length(fhat$H) != d^2 || !all_finite(fhat$H) || is.null(try_root(as.matrix(fhat$H)))) {
    return("`H` must be a positive definite matrix, a row for each axis")
  }
  sample_problem(fhat, d) %or% fields_problem(fhat, d)
}

`%or%` <- function(one, other) if (is.null(one)) other else one

all_finite <- function(values) is.numeric(values) && all(is.finite(values))

sample_problem <- function(fhat, d) {
  w <- fhat$w
  x <- fhat$x
  if (!all_finite(w) || any(w < 0) || (length(w) > 0L && all(w == 0))) {
    return("`w` must be weights, some of them positive")
  }
  if (!all_finite(x) || NCOL(x) != d || NROW(x) != length(w)) {
    return("`x` must be finite, with a row for each weight and a column for each axis")
  }
  if (!has_data(fhat) && !(is_number(fhat$n) && fhat$n >= 1)) return("`n` must be the size of the sample")
  if (!is_number(fhat$n_eff) || fhat$n_eff <= 0) return("`n_eff` must be a positive number")
}

fields_problem <- function(fhat, d) {
  is_text <- function(value) is.character(value) && length(value) == 1L && !is.na(value) && nzchar(value)
  among <- function(name, choices) if (!is_text(fhat[[name]]) || !fhat[[name]] %in% choices) name
  wrong <- c(among("kernel", kernel_names), among("kernel_type", c("radial", "product", "integrated")))
  for (name in c("engine", "backend", "device", "precision")) {
    if (!is.null(fhat[[name]]) && !is_text(fhat[[name]])) wrong <- c(wrong, name)
  }
  if (!is.null(fhat$tol) && !is_number(fhat$tol)) wrong <- c(wrong, "tol")
  if (!is.null(fhat$gridtype) && (length(fhat$gridtype) != d || !all(fhat$gridtype %in% known_gridtypes))) {
    wrong <- c(wrong, "gridtype")
  }
  cont <- fhat$cont
  if (!is.null(cont) && (length(cont) == 0L || !all_finite(cont) || length(names(cont)) != length(cont))) {
    wrong <- c(wrong, "cont")
  }
  transform <- fhat$transform
  fits <- switch(transform$type %or% "none", none = is.null(transform), probit = TRUE,
                 log = length(transform$adj) == d && all_finite(transform$adj), FALSE)
  if (!fits) wrong <- c(wrong, "transform")
  if (length(wrong) > 0L) paste(quoted(wrong), "must be as kde() sets", if (length(wrong) == 1L) "it" else "them")
}
