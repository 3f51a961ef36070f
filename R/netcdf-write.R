# Estimates to netCDF files: dimensions, variables and attributes by the CF conventions.

check_units <- function(units, d) {
  if (is.null(units)) return(rep("", d))
  texts <- without_class(units)
  if (!is.character(texts) || length(texts) != d || anyNA(texts) || !identical(texts, readable(texts))) {
    abort_input("`units` must be ", d, if (d == 1L) " text" else " texts, one for each variable", ", not ",
                describe_value(units), ".")
  }
  texts
}

netcdf_sink <- function(target) {
  need_ncdf4("to")
  list(pour = function(fhat, axes, fill) {
    d <- length(axes)
    write_netcdf(target, fhat, axes, rep("", d), "kde_stream()", function(put) {
      fill(function(slab) {
        put("density", slab$estimate, start = c(rep(1, d - 1L), slab$first),
            count = c(lengths(axes)[-d], length(slab$axes[[d]])))
      })
    })
  })
}

# Writes a file with the axes and attributes of an estimate and room for a sample. `fill(put)` writes the values by
# ncvar_put() for this file; `put_more(nc)` adds attributes beyond those that every file has.
write_netcdf <- function(target, fhat, axes, units, history, fill, sample = NULL, put_more = function(nc) NULL) {
  bytes <- netcdf_bytes(fhat, axes, sample)
  layout <- netcdf_layout(fhat, axes, units, sample)
  write_whole(target, bytes, function(temporary) {
    nc <- NULL
    on.exit(suspendInterrupts(if (!is.null(nc)) close_half(nc$id, temporary, TRUE)))
    by_library(target, suspendInterrupts({
      nc <- closing_halves(ncdf4::nc_create(temporary, layout$variables, force_v4 = TRUE))
    }))
    reserve_room(target, temporary, bytes)
    by_library(target, {
      put_layout(nc, layout, axes)
      put_attributes(nc, fhat, history)
      put_more(nc)
    })
    result <- fill(function(...) by_library(target, ncdf4::ncvar_put(nc, ...)))
    # If this fails, close_half() can still close the file; nc_close() would only print the failure.
    by_library(target, ncdf4::nc_sync(nc))
    suspendInterrupts({
      open <- nc
      nc <- NULL
      by_library(target, ncdf4::nc_close(open))
    })
    check_complete_netcdf(target, temporary)
    written(target, seal_netcdf(temporary))
    result
  })
}

# Writes an array by slices of its last dimension.
put_slabs <- function(put, name, values) {
  sizes <- if (is.null(dim(values))) length(values) else dim(values)
  d <- length(sizes)
  slice <- prod(sizes[-d])
  parts <- parts_of(sizes[d], slab_count(slice))
  if (length(parts) == 1L) return(put(name, values))
  for (part in parts) {
    heard()
    rows <- ((part[1L] - 1) * slice + 1):(part[length(part)] * slice)
    put(name, values[rows], start = c(rep(1, d - 1L), part[1L]), count = c(sizes[-d], length(part)))
  }
}

# Lets the library write something. Where the library prints an error instead of returning one, that is an error, too.
by_library <- function(target, code) {
  said <- written(target, suppressWarnings(silently(code)))
  if (length(said) > 0L) abort_unwritten(target, "the disk is full or does not answer (", said[1L], ").")
}

check_complete_netcdf <- function(target, temporary) {
  problem <- written(target, netcdf_problem(temporary))
  if (!is.null(problem)) abort_unwritten(target, "it ", problem, ".")
}

# A lower bound on the bytes of a file: axes and their bounds, the estimate, the data, and headers with names and
# attributes.
netcdf_bytes <- function(fhat, axes, sample) {
  names <- c(fhat$names, unlist(dimnames(fhat$H)), colnames(fhat$x))
  8 * (prod(lengths(axes)) + 3 * sum(lengths(axes)) + length(sample) + NROW(sample)) +
    2^17 + 64 * length(fhat$H) + 8 * sum(nchar(names, "bytes"), na.rm = TRUE)
}

# The variables of a file: `names` of the axes, `bounds` of their cells, and all variables in the order of the file.
netcdf_layout <- function(fhat, axes, units, sample) {
  names <- netcdf_names(fhat$names)
  dimensions <- Map(function(name, axis, unit, long) ncdf4::ncdim_def(name, unit, axis, longname = long), names, axes,
                    units, escaped(fhat$names))
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
  list(names = names, bounds = bounds, variables = c(list(density), unname(bounds), data))
}

put_layout <- function(nc, layout, axes) {
  for (k in seq_along(axes)) {
    ncdf4::ncatt_put(nc, layout$names[k], "bounds", layout$bounds[[k]]$name)
    ncdf4::ncvar_put(nc, layout$bounds[[k]], cell_bounds(axes[[k]]))
  }
}

# Names as CF (2.3) requires: letters, digits and underscores, a letter first. None is that of another variable or
# dimension, or of another one's bounds. With "_bounds" and a suffix that makes them unique they stay below the maximum
# length in ncdf4.
netcdf_names <- function(names) {
  taken <- c("density", "sample", "weight", "bound", "observation", "variable")
  names <- gsub("^_|_$", "", gsub("[^A-Za-z0-9]+", "_", substr(as_utf8(names), 1L, longest_name - 28L)))
  names <- ifelse(grepl("^[A-Za-z]", names), names, paste0("x_", names))
  names <- sub("_bounds$", "_bound", names)
  make.unique(c(taken, names), sep = "_")[-seq_along(taken)]
}

put_attributes <- function(nc, fhat, history) {
  put <- function(name, value, variable = "density") ncdf4::ncatt_put(nc, variable, name, value)
  version <- paste("kestrel", own_version())
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

# The fields of an estimate that are not scientific data but belong to the object.
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
  for (part in c("adj", "lower", "upper", "period")) put(paste0("transform_", part), fhat$transform[[part]])
  put("cont", unname(fhat$cont))
  put("cont_names", joined(names(fhat$cont)))
}
