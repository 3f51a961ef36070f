# Regular grids of evaluation points: limits, axes, and their memory.

known_gridtypes <- c("linear", "sqrt", "quantile", "exp")

default_gridsize <- function(d) rep(c(401L, 151L, 51L)[d], length.out = d)

# The arguments of a grid that were given to the calling function, and what ... says of others. As in ks, `bgridsize`
# stands for `gridsize`.
given_grid <- function(...) {
  called <- parent.frame()
  is_given <- function(name) exists(name, called, inherits = FALSE) && !eval(call("missing", as.name(name)), called)
  names <- Filter(is_given, c("gridsize", "bgridsize", "gridtype", "xmin", "xmax", "supp"))
  given <- mget(names, called)
  if (is.null(given$gridsize)) given$gridsize <- given$bgridsize
  utils::modifyList(list(...), given[setdiff(names(given), "bgridsize")])
}

# One value for each axis; a single value is for all of them.
check_per_axis <- function(value, d, name) {
  value <- plain(value)
  if (!is_numbers(value) || !length(value) %in% c(1L, d) || !all(is.finite(value))) {
    abort_input("`", name, "` must be ", if (d > 1L) paste(d, "finite numbers, one for each column of `x`") else
                "a finite number", ", not ", describe_value(value), ".")
  }
  rep(as.numeric(value), length.out = d)
}

check_gridsize <- function(gridsize, d) {
  if (is.null(gridsize)) return(if (d <= 3L) default_gridsize(d) else rep(21L, d))
  gridsize <- plain(gridsize)
  whole <- is_numbers(gridsize) && all(is.finite(gridsize)) && all(gridsize >= 2 & gridsize == round(gridsize))
  if (!whole) abort_input("`gridsize` must be whole numbers, at least 2, not ", describe_value(gridsize), ".")
  # As in ks, sizes for several axes may stand for that of one, but only if it is clear which is meant.
  if (d == 1L && length(gridsize) > 1L && length(unique(as.vector(gridsize))) == 1L) gridsize <- gridsize[[1L]]
  check_per_axis(gridsize, d, "gridsize")
}

check_gridtype <- function(gridtype, d) {
  if (is.null(gridtype)) return(rep("linear", d))
  types <- without_class(gridtype)
  if (!is.character(types) || !length(types) %in% c(1L, d) || !all(types %in% known_gridtypes)) {
    abort_input("`gridtype` must be among ", quoted(known_gridtypes, '"'), ", not ", describe_value(gridtype), ".")
  }
  rep(known_gridtypes[match(types, known_gridtypes)], length.out = d)
}

# The arguments of a grid in d dimensions, checked as far as possible without a bandwidth, with one value for every
# axis. `gridsize` is NULL if a step was given.
check_grid <- function(grid, d) {
  if (!is.null(grid$supp)) grid$supp <- check_positive(grid$supp, "supp")
  if (!is.null(grid$xmin)) grid$xmin <- check_per_axis(grid$xmin, d, "xmin")
  if (!is.null(grid$xmax)) grid$xmax <- check_per_axis(grid$xmax, d, "xmax")
  if (!is.null(grid$xmin) && !is.null(grid$xmax)) check_limits(grid$xmin, grid$xmax)
  grid$gridtype <- check_gridtype(grid$gridtype, d)
  if (is.null(grid$step)) {
    grid$gridsize <- check_gridsize(grid$gridsize, d)
    return(grid)
  }
  if (!is.null(grid$gridsize)) abort_input("`step` must not be given together with `gridsize`.")
  if (any(grid$gridtype != "linear")) {
    abort_input("`step` must go with gridtype = \"linear\", not ", describe_value(grid$gridtype), ".")
  }
  grid$step <- check_per_axis(grid$step, d, "step")
  if (any(grid$step <= 0)) abort_input("`step` must be positive, not ", describe_value(grid$step), ".")
  grid
}

check_limits <- function(lower, upper) {
  if (all(lower < upper)) return(invisible())
  axis <- which(lower >= upper)[1L]
  abort_input("`xmin` must be below `xmax`, but on axis ", axis, " it is ", format(lower[axis], digits = 7),
              " and `xmax` is ", format(upper[axis], digits = 7), ".")
}

# The most variables for which a grid is the default: in four dimensions 21 points on each axis are 194,481.
most_on_grids <- 3L

asks_for_grid <- function(grid) {
  any(!vapply(grid[c("gridsize", "gridtype", "xmin", "xmax", "supp", "step")], is.null, NA))
}

is_at_data <- function(fhat) !fhat$gridded && identical(fhat$eval.points, fhat$x)

inform_at_data <- function(d) {
  inform("With ", d, " variables the estimate is at the data, not on a grid: `gridsize` asks for one, `eval.points` ",
         "for other points.")
}

# Limits as in ks: supp * sqrt(H_kk) beyond the data (a matrix, or a vector for d = 1), on the line where H is, cut at
# the bounds of the sample space. `grid` is a result of check_grid().
grid_limits <- function(x, H, grid, transform = NULL) {
  margin <- grid$supp * sqrt(diag(H))
  bounds <- transform_bounds(transform)
  ranges <- ranges_cpp(x)
  ends <- vapply(seq_len(NCOL(x)), function(k) {
    from_line(transform, to_line(transform, ranges[, k], k) + c(-1, 1) * margin[k], k)
  }, c(0, 0))
  lower <- if (is.null(grid$xmin)) pmax(ends[1L, ], bounds[1L]) else grid$xmin
  upper <- if (is.null(grid$xmax)) pmin(ends[2L, ], bounds[2L]) else grid$xmax
  for (k in if (has_images(transform)) which(is_periodic(transform))) {
    if (is.null(grid$xmin)) lower[k] <- transform$lower[k]
    if (is.null(grid$xmax)) upper[k] <- transform$upper[k]
    if (lower[k] < transform$lower[k] || upper[k] > transform$upper[k]) {
      abort_input("`xmin` and `xmax` must be within the period, from ", format_short(transform$lower[k]), " to ",
                  format_short(transform$upper[k]), ", not ", format_short(lower[k]), " and ",
                  format_short(upper[k]), ".")
    }
  }
  check_limits(lower, upper)
  list(lower = unname(lower), upper = unname(upper))
}

# The axes of a grid, a list of d vectors. A grid that needs too much memory is refused before anything is allocated;
# for one that is to be streamed only its axes count.
grid_axes <- function(limits, grid) {
  check_grid_memory <- function(sizes) {
    check_memory(sizes, 8 * (sum(sizes) + if (isTRUE(grid$streamed)) 0 else 2 * prod(sizes)),
                 if (is.null(grid$step)) "gridsize" else "step", if (isFALSE(grid$streamed)) larger_grids)
  }
  d <- length(limits$lower)
  gridtype <- grid$gridtype
  step <- grid$step
  if (is.null(step)) {
    sizes <- grid$gridsize
    check_grid_memory(sizes)
    axes <- lapply(seq_len(d), function(k) grid_axis(limits$lower[k], limits$upper[k], sizes[k], gridtype[k]))
    return(list(axes = axes, gridtype = gridtype))
  }
  # A last point that rounding puts beyond xmax is kept.
  sizes <- floor((limits$upper - limits$lower) / step + 1e-9) + 1
  if (any(sizes < 2)) abort_input("`step` must be at most `xmax` - `xmin`, not ", describe_value(step), ".")
  check_grid_memory(sizes)
  list(axes = lapply(seq_len(d), function(k) limits$lower[k] + step[k] * (seq_len(sizes[k]) - 1)), gridtype = gridtype)
}

grid_axis <- function(lower, upper, size, type) {
  # seq() takes only finite limits.
  evenly <- function(from, to) if (is.finite(to - from)) seq(from, to, length.out = size) else NaN
  axis <- suppressWarnings(switch(type,
    linear = evenly(lower, upper),
    sqrt = evenly(sqrt(lower), sqrt(upper))^2,
    exp = log(evenly(exp(lower), exp(upper))),
    quantile = {
      normal <- stats::qnorm(seq(0.01, 0.99, length.out = size))
      lower + (upper - lower) * (normal - normal[1L]) / (normal[size] - normal[1L])
    }
  ))
  if (!all(is.finite(axis)) || any(diff(axis) <= 0)) {
    abort_input("`gridtype` \"", type, "\" must suit its limits, not ", format(lower, digits = 7), " to ",
                format(upper, digits = 7), ".")
  }
  axis
}

larger_grids <- " `eval.points` takes points in place of a grid, and kde_stream() larger grids."

# For a grid of these sizes, which the argument `name` asked for. `hint`: another remedy.
check_memory <- function(sizes, needed, name = "gridsize", hint = NULL) {
  check_fits(needed, "`", name, "` must give a grid that fits in memory: ", format_sizes(sizes), " points need ",
             hint = hint)
  # R indexes arrays by integers along each axis.
  if (any(sizes > .Machine$integer.max)) {
    abort_memory("`gridsize` must be below 2^31 on each axis, not ", describe_value(sizes), ".")
  }
  invisible(needed)
}

# The dots are a message that ends with what is `needed`, in bytes.
check_fits <- function(needed, ..., hint = NULL) {
  limit <- memory_limit(needed)
  if (needed > limit) {
    abort_memory(..., format_bytes(needed), ", and there are ", format_bytes(limit), ".", hint)
  }
  invisible(needed)
}

format_sizes <- function(sizes) paste(format(sizes, trim = TRUE, scientific = FALSE), collapse = " x ")

format_bytes <- function(bytes) {
  unit <- min(max(floor(log(max(bytes, 1), 1000)), 0), 5)
  paste(format(bytes / 1000^unit, digits = 3), c("bytes", "kB", "MB", "GB", "TB", "PB")[unit + 1])
}

# All points of a grid as a data frame, the first axis fastest.
grid_points <- function(axes) {
  d <- length(axes)
  sizes <- lengths(axes)
  slice <- prod(sizes[-d])
  column <- function(k) {
    if (k < d) of_slice <- rep(rep(axes[[k]], each = prod(sizes[seq_len(k - 1L)])), length.out = slice)
    in_parts(sizes[d], slab_count(slice), function(part) {
      if (k < d) rep(of_slice, length(part)) else rep(axes[[d]][part], each = slice)
    })
  }
  structure(lapply(seq_len(d), column), class = "data.frame", row.names = .set_row_names(slice * sizes[d]))
}

# How many slices of that many points are copied or written at a time: about a twentieth of a second.
slab_count <- function(slice) max(1, floor(15 * part_size / slice))

# Weights of the trapezoid rule on one axis.
trapezoid_weights <- function(axis) {
  gaps <- diff(axis)
  (c(gaps, 0) + c(0, gaps)) / 2
}

# The integral of gridded values over all axes.
grid_integral <- function(axes, values) {
  sum(slice_integrals(axes, values) * trapezoid_weights(axes[[length(axes)]]))
}

# The integrals over all axes but the last.
slice_integrals <- function(axes, values) {
  for (axis in axes[-length(axes)]) values <- drop(crossprod(trapezoid_weights(axis), matrix(values, length(axis))))
  values
}

# Warns if the supports of most samples, or of all, hold no point of the grid.
warn_sparse <- function(fhat, axes, largest) {
  if (largest == 0) {
    warn_grid("The grid is out of reach of all samples: the estimate is zero at every point.")
  } else if (is_compact(fhat$kernel) && keeps_units(fhat$transform)) {
    warn_coarse(points_reached(fhat, axes), "the bandwidth")
  }
}

warn_coarse <- function(reached, of) {
  if (reached < 1) {
    # It does not say how many samples are missed: those on the grid's points, as rounded data may be, all count.
    warn_grid("The grid is too coarse for ", of, ": a kernel covers ", format(reached, digits = 2),
              " points on average, so that samples may fall between points and not count.")
  }
}

# Points of a grid within the support of one kernel, on average.
points_reached <- function(fhat, axes) {
  d <- length(axes)
  step <- vapply(axes, function(axis) (axis[length(axis)] - axis[1L]) / (length(axis) - 1), 0)
  unit <- if (fhat$kernel_type == "product") 2^d else ball_volume_cpp(d)
  unit * prod(diag(bandwidth_root(fhat)) / step)
}

# Values at the points of a grid: an array, if it has several axes. Unlike array() this copies nothing.
on_axes <- function(values, axes) {
  if (length(axes) > 1L) dim(values) <- lengths(axes, use.names = FALSE)
  values
}
