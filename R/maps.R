# Points and polygons of packages sf, terra and stars.

# Whether a value holds points of sf.
is_spatial <- function(x) inherits(x, c("sf", "sfc"))

need_package <- function(name, purpose) {
  if (!requireNamespace(name, quietly = TRUE)) abort_input("Package `", name, "` must be installed ", purpose, ".")
}

# The coordinates of points, a matrix with columns X and Y, and their coordinate reference system. Distances in degrees
# of longitude and latitude mean nothing for a kernel.
coordinates_of <- function(x, name = "x") {
  need_package("sf", "for points on maps")
  geometry <- sf::st_geometry(x)
  types <- unique(as.character(sf::st_geometry_type(geometry)))
  if (!identical(types, "POINT")) {
    abort_input("`", name, "` must have geometries that are points, not ",
                if (length(types) == 0L) "none" else quoted(setdiff(types, "POINT"), '"'), ".")
  }
  empty <- sum(sf::st_is_empty(geometry))
  if (empty > 0L) abort_input("`", name, "` must have no empty points, but ", empty, " of ", length(geometry), " are.")
  refuse_degrees(geometry, name)
  points <- sf::st_coordinates(geometry)[, 1:2, drop = FALSE]
  list(points = unname_rows(points), crs = sf::st_crs(geometry))
}

unname_rows <- function(points) {
  rownames(points) <- NULL
  points
}

refuse_degrees <- function(geometry, name) {
  if (isTRUE(sf::st_is_longlat(geometry))) {
    abort_input("`", name, "` must be in a projected system, not in degrees of longitude and latitude: ",
                "sf::st_transform() projects.")
  }
}

# kde() again, for the coordinates of points.
spatial_density <- function(arguments, call) {
  at <- coordinates_of(arguments$x)
  arguments$x <- at$points
  fhat <- do.call(kde, arguments, quote = TRUE)
  fhat$crs <- at$crs
  replace(fhat, "call", list(call))
}

# The corners of polygons of sf as kde.truncate() takes them, in the system of the estimate.
corners_of_geometry <- function(boundary, fhat) {
  need_package("sf", "for a boundary of its polygons")
  geometry <- sf::st_geometry(boundary)
  types <- unique(as.character(sf::st_geometry_type(geometry)))
  if (length(types) == 0L || !all(types %in% c("POLYGON", "MULTIPOLYGON"))) {
    abort_input("`boundary` must have geometries that are polygons, not ",
                if (length(types) == 0L) "none" else quoted(setdiff(types, c("POLYGON", "MULTIPOLYGON")), '"'), ".")
  }
  refuse_degrees(geometry, "boundary")
  if (!is.null(fhat$crs) && sf::st_crs(geometry) != fhat$crs) {
    abort_input("`boundary` must be in the coordinate reference system of `fhat`: sf::st_transform() changes it.")
  }
  if (length(geometry) > 1L) geometry <- sf::st_union(geometry)
  if (!all(sf::st_is_valid(geometry))) {
    abort_input("`boundary` must have edges that do not cross: sf::st_make_valid() mends them.")
  }
  table <- sf::st_coordinates(sf::st_cast(geometry, "MULTIPOLYGON"))
  ring <- interaction(as.data.frame(table[, -(1:2), drop = FALSE]), drop = TRUE)
  rings <- lapply(split(seq_len(nrow(table)), ring), function(rows) {
    # The last corner is the first one.
    table[rows[-length(rows)], 1:2, drop = FALSE]
  })
  unname(do.call(rbind, c(list(rings[[1L]]), lapply(rings[-1L], function(ring) rbind(NA, ring)))))
}

# Such corners as a polygon of sf.
rings_geometry <- function(corners, crs) {
  rings <- lapply(ring_rows(corners), function(rows) sf::st_polygon(list(corners[c(rows, rows[1L]), , drop = FALSE])))
  # What lies within an odd number of rings.
  Reduce(sf::st_sym_difference, lapply(rings, function(ring) sf::st_sfc(ring, crs = crs)))
}

#' Densities on maps
#'
#' [kde()] takes points of package \pkg{sf} in a projected system. The estimate keeps the system, and goes back to
#' \pkg{sf} as regions of highest density, and to \pkg{terra} and \pkg{stars} as a raster.
#'
#' `sf::st_as_sf()` returns the regions that hold given percentages of the sample, see [contourLevels()], or with
#' `of = "density"` of the integral of the density, as home ranges of \pkg{adehabitatHR} and \pkg{amt}. These are
#' mostly larger, since smoothing makes a density wider than its sample. In the study of animals the region of 95 % is
#' the home range, and that of 50 % the core area (Worton 1989). The borders are linear between the points of the grid,
#' so that their error is of the order of the squared distance of these points. Within a boundary ([kde.truncate()])
#' they end at it.
#'
#' `terra::rast()` and `stars::st_as_stars()` return the density at the points of the grid, each in the middle of its
#' cell. The methods are there once these packages are loaded.
#'
#' @param .x,x an estimate on a grid of two variables, made by [kde()], also by groups, or by [kde.truncate()].
#' @param cont percentages of the regions, as in [contourLevels()].
#' @param of `st_as_sf()`: `"sample"` for percentages of the sample, `"density"` for those of the density.
#' @param ... not used.
#' @return `sf::st_as_sf()` an object of class `"sf"` with a row for each region: the columns of the groups, if there
#'   are any, `probability` (the share within), `level` (the density at the border), `area` and
#'   `geometry`, a multipolygon. `terra::rast()` a `SpatRaster` with the layer `estimate`. `stars::st_as_stars()` an
#'   object of class `"stars"` with the attribute `estimate`.
#' @section Units: Densities are in 1 over the squared units of the coordinates. `area` has these units if the system is
#'   known, and is a number otherwise.
#' @section Errors: Errors of class `kestrel_error_input` are for geometries that are not points, or are empty, and for
#'   degrees of longitude and latitude, where the message names `sf::st_transform()`. They are also for estimates that
#'   are not on a grid of two variables, for a percentage of the density that the grid does not hold, and for rasters of
#'   grids whose steps are not equal.
#' @section Cost: O(grid points) for each region.
#' @references Worton, B.J. (1989) Kernel methods for estimating the utilization distribution in home-range studies.
#'   *Ecology* **70**, 164-168.
#'
#'   Pebesma, E. (2018) Simple features for R: standardized support for spatial vector data. *R Journal* **10**,
#'   439-446.
#' @seealso [kde_overlap()] for the overlap of two ranges, [kde_risk()] for the ratio of two densities
#' @examplesIf requireNamespace("sf", quietly = TRUE) && requireNamespace("isoband", quietly = TRUE)
#' # earthquakes near Fiji, in kilometres of a projected system
#' points <- sf::st_as_sf(quakes, coords = c("long", "lat"), crs = 4326)
#' points <- sf::st_transform(points, "+proj=laea +lat_0=-20 +lon_0=180 +units=km")
#' fhat <- kde(points)
#' sf::st_as_sf(fhat, cont = c(50, 95))
#' @name maps
NULL

# The estimate behind an object on a grid of the plane, the mass by which it is divided, and its boundary, a polygon of
# sf or NULL.
plane_of <- function(x, name) {
  if (inherits(x, "kestrel_bkde")) {
    check_object(x, name, "kestrel_bkde")
    if (x$boundary.kernel == "truncated") {
      return(list(fhat = plain_density(x), whole = x$untruncated, mass = x$mass, boundary = x$boundary))
    }
    x <- plain_density(x)
  }
  x <- check_estimate(x, name)
  if (!x$gridded || dimension(x) != 2L) {
    abort_input("`", name, "` must be an estimate on a grid of two variables, not ",
                if (x$gridded) paste("one of", dimension(x)) else "one at given points", ".")
  }
  list(fhat = x, whole = x, mass = 1)
}

# Multipolygons of the regions above the levels, within the boundary if there is one.
region_geometry <- function(plane, levels) {
  axes <- axes_of(plane$whole)
  bands <- isoband::isobands(axes[[1L]], axes[[2L]], t(plane$whole$estimate), levels * plane$mass,
                             rep(Inf, length(levels)))
  shapes <- sf::st_cast(sf::st_sfc(isoband::iso_to_sfg(bands), crs = crs_of(plane$whole)), "MULTIPOLYGON")
  if (is.null(plane$boundary)) return(shapes)
  mask <- rings_geometry(plane$boundary, crs_of(plane$whole))
  sf::st_cast(sf::st_intersection(sf::st_make_valid(shapes), mask), "MULTIPOLYGON")
}

crs_of <- function(fhat) if (is.null(fhat$crs)) sf::NA_crs_ else fhat$crs

# The levels of regions that hold such percentages of the sample, or of the density.
levels_for <- function(fhat, cont, of) {
  if (of == "sample") return(contour_levels(fhat, 1 - cont / 100, TRUE))
  mass <- grid_integral(axes_of(fhat), fhat$estimate)
  if (any(cont > 100 * mass)) {
    abort_input("`cont` must be percentages that the grid holds, at most ", format_short(100 * mass), ", not ",
                describe_value(cont[cont > 100 * mass]), ": `supp` of kde() makes it wider.")
  }
  grid_levels(axes_of(fhat), fhat$estimate, 1 - cont / 100 / mass)
}

region_table <- function(x, cont, of, name) {
  need_package("isoband", "to draw regions")
  cont <- check_content(cont)
  plane <- plane_of(x, name)
  cont <- sort(unique(cont), decreasing = TRUE)
  levels <- unname(levels_for(plane$fhat, cont, of))
  if (any(levels <= 0)) {
    abort_input("`cont` must be percentages of regions whose density is above zero, not ",
                describe_value(cont[levels <= 0]), ".")
  }
  geometry <- region_geometry(plane, levels)
  sf::st_sf(probability = cont / 100, level = levels, area = sf::st_area(geometry), geometry = geometry)
}

as_sf_object <- function(x, cont = c(50, 95), of = c("sample", "density"), ...) {
  check_arguments("st_as_sf", given_names(...))
  of <- check_choice(of, c("sample", "density"), "of")
  if (!inherits(x, "kestrel_kde_groups")) return(region_table(x, cont, of, "x"))
  check_groups(x, "x")
  tables <- lapply(x$estimates, region_table, cont = cont, of = of, name = "x")
  rows <- do.call(rbind, unname(tables))
  keys <- x$groups[rep(seq_along(tables), vapply(tables, nrow, 0L)), , drop = FALSE]
  rownames(keys) <- NULL
  sf::st_sf(cbind(keys, sf::st_drop_geometry(rows)), geometry = sf::st_geometry(rows))
}

# The steps of a grid that a raster can have.
even_steps <- function(axes) {
  vapply(axes, function(axis) {
    steps <- diff(axis)
    if (max(abs(steps / mean(steps) - 1)) > 1e-6) {
      abort_input("`x` must be on a grid with equal steps to be a raster; `gridtype` \"linear\" has them.")
    }
    mean(steps)
  }, 0)
}

as_rast_object <- function(x, ...) {
  fhat <- plane_of(x, "x")$fhat
  axes <- axes_of(fhat)
  half <- even_steps(axes) / 2
  crs <- if (is.null(x$crs)) "" else x$crs$wkt
  raster <- terra::rast(nrows = length(axes[[2L]]), ncols = length(axes[[1L]]), crs = crs, names = "estimate",
                        extent = terra::ext(range(axes[[1L]]) + c(-1, 1) * half[1L],
                                            range(axes[[2L]]) + c(-1, 1) * half[2L]))
  # Rows of a raster begin in the north.
  terra::setValues(raster, as.vector(fhat$estimate[, rev(seq_along(axes[[2L]]))]))
}

as_stars_object <- function(.x, ...) {
  fhat <- plane_of(.x, ".x")$fhat
  axes <- axes_of(fhat)
  half <- even_steps(axes) / 2
  north <- rev(seq_along(axes[[2L]]))
  edges <- stars::st_dimensions(x = axes[[1L]] - half[1L], y = (axes[[2L]] + half[2L])[north])
  made <- stars::st_as_stars(list(estimate = unname(fhat$estimate[, north])), dimensions = edges)
  if (is.null(.x$crs)) made else sf::st_set_crs(made, .x$crs)
}

# terra's generic is of S4. Its table of methods takes one that stands nowhere else.
register_rast <- function() {
  where <- new.env()
  for (class in c("kestrel_kde", "kestrel_bkde")) {
    methods::setOldClass(class, where = where)
    methods::setMethod(terra::rast, class, function(x, ...) classing_memory(as_rast_object(x, ...)), where = where)
  }
}
