# Estimates on grids as netCDF files (CF-1.8), by package ncdf4.

netcdf_sink <- function(file) {
  if (!requireNamespace("ncdf4", quietly = TRUE)) {
    abort_input("`to` must not end in .nc unless the package ncdf4 is installed; it is not.")
  }
  nc <- NULL
  open <- function(fhat, axes) {
    nc <<- opened(file, create_netcdf(file, fhat, axes))
    d <- length(axes)
    function(slab) {
      ncdf4::ncvar_put(nc, "density", slab$estimate, start = c(rep(1, d - 1L), slab$first),
                       count = c(lengths(axes)[-d], length(slab$axes[[d]])))
    }
  }
  list(open = open, close = function() if (!is.null(nc)) ncdf4::nc_close(nc))
}

# A file with the axes and attributes of an estimate, its values still to come.
create_netcdf <- function(file, fhat, axes) {
  # A dimension must not have the variable's name, nor a slash in its own.
  names <- make.unique(c("density", gsub("/", "_", fhat$names, fixed = TRUE)))[-1L]
  dimensions <- Map(function(name, axis) ncdf4::ncdim_def(name, "", axis), names, axes)
  density <- ncdf4::ncvar_def("density", "", dimensions, longname = "kernel density estimate", prec = "double")
  nc <- ncdf4::nc_create(file, density, force_v4 = TRUE)
  put <- function(name, value, variable = "density") ncdf4::ncatt_put(nc, variable, name, value)
  put("Conventions", "CF-1.8", 0)
  put("source", paste("kestrel", utils::packageVersion("kestrel")), 0)
  put("kernel", fhat$kernel)
  put("kernel_type", fhat$kernel_type)
  put("bandwidth_matrix", as.vector(fhat$H))
  put("sample_size", length(fhat$w))
  nc
}
