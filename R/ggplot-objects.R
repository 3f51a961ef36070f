# The Stats of the layers for ggplot2, which kestrel only suggests. They are made when a layer first needs one, not when
# kestrel is built, since they inherit from the ggplot2 that is there.

made_stats <- new.env(parent = emptyenv())

stat_of <- function(name) {
  if (is.null(made_stats[[name]])) made_stats[[name]] <- stat_makers[[name]]()
  made_stats[[name]]
}

# The grid of a group's estimate goes on the layer as it is: same points, same numbers.
stat_makers <- list(
  density = function() {
    make_stat("StatKestrelDensity", "x", ggplot2::aes(y = ggplot2::after_stat(density), weight = 1),
              function(data, scales, of_kde = list(), h = NULL) {
      fhat <- group_density(data, "x", "h", h, of_kde)
      data.frame(x = fhat$eval.points, density = as.vector(fhat$estimate), h = fhat$h, n = nrow(data),
                 count = as.vector(fhat$estimate) * nrow(data), scaled = as.vector(fhat$estimate / max(fhat$estimate)))
    })
  },
  lines = function() {
    make_stat("StatKestrelDensity2d", c("x", "y"), ggplot2::aes(colour = "#1F5A7A", weight = 1),
              function(data, scales, of_kde = list(), h = NULL, H = NULL, cont = 50) {
      region_lines(plane_density(data, h, H, of_kde), cont, data$group[1L])
    })
  },
  regions = function() {
    make_stat("StatKestrelHdr", c("x", "y"),
              ggplot2::aes(fill = ggplot2::after_stat(probability), weight = 1),
              function(data, scales, of_kde = list(), h = NULL, H = NULL, cont = 50) {
      region_bands(plane_density(data, h, H, of_kde), cont, data$group[1L])
    })
  },
  smooth = function() {
    make_stat("StatKestrelSmooth", c("x", "y"), ggplot2::aes(weight = 1),
              function(data, scales, of_npreg = list(), n = 80L, se = TRUE, level = 0.95) {
      weights <- if (!is.null(data$weight) && any(data$weight != 1)) list(w = data$weight)
      fit <- do.call(npreg, c(list(txdat = data$x, tydat = data$y, verbose = FALSE), weights, of_npreg), quote = TRUE)
      at <- seq(min(data$x), max(data$x), length.out = n)
      fitted <- predict(fit, exdat = at, se.fit = TRUE)
      rows <- data.frame(x = at, y = fitted$fit)
      if (!se) return(rows)
      z <- stats::qnorm((1 + level) / 2)
      cbind(rows, ymin = rows$y - z * fitted$se.fit, ymax = rows$y + z * fitted$se.fit, se = fitted$se.fit)
    })
  }
)

make_stat <- function(class, needs, aesthetics, compute_group) {
  ggplot2::ggproto(
    class, ggplot2::Stat, required_aes = needs, default_aes = aesthetics, non_missing_aes = "weight",
    dropped_aes = "weight", compute_group = compute_group,
    compute_layer = function(self, data, params, layout) {
      least <- if (is.null(c(params$h, params$H))) length(needs) + 1L else 1L
      ggplot2::ggproto_parent(ggplot2::Stat, self)$compute_layer(large_groups(data, least), params, layout)
    }
  )
}

# The rows of groups that have at least so many; the others are named in one warning.
large_groups <- function(data, least) {
  groups <- interaction(data$PANEL, data$group, drop = TRUE)
  small <- table(groups) < least
  if (!any(small)) return(data)
  named <- intersect(c("colour", "fill", "linetype", "shape", "alpha", "size"), names(data))
  first <- data[match(names(small)[small], groups), c(named, "group"), drop = FALSE]
  called <- apply(first, 1L, function(row) {
    if (length(named) > 0L) paste(unique(row[named]), collapse = ", ") else paste("group", row[["group"]])
  })
  warn_small_groups(unname(called), least)
  data[!groups %in% names(small)[small], , drop = FALSE]
}

warn_small_groups <- function(names, least) {
  several <- length(names) > 1L
  warn_groups(if (several) "Groups" else "A group", " with less than ", least, " observation",
       if (least != 1L) "s", if (several) " are" else " is", " left out: ", quoted(names, '"'), ".")
}

# The bandwidth for one group: a number or matrix for all, a function of the group's data, or the entry of a vector or
# list with one for each group.
bandwidth_for <- function(given, x, group) {
  if (is.function(given)) return(given(x))
  if (!several_bandwidths(given)) return(given)
  if (group > length(given)) {
    abort_input("`h` must have a bandwidth for each group, not ", length(given), " for ", group, " or more.")
  }
  given[[group]]
}

several_bandwidths <- function(given) is.list(given) || !is.matrix(given) && length(given) > 1L

group_density <- function(data, columns, name, bandwidth, of_kde) {
  x <- if (length(columns) == 1L) data[[columns]] else as.matrix(data[columns])
  weights <- if (!is.null(data$weight) && any(data$weight != 1)) list(w = data$weight)
  chosen <- if (!is.null(bandwidth)) stats::setNames(list(bandwidth_for(bandwidth, x, data$group[1L])), name)
  do.call(kde, c(list(x, compute.cont = FALSE, verbose = FALSE), weights, chosen, of_kde), quote = TRUE)
}

plane_density <- function(data, h, H, of_kde) {
  group_density(data, c("x", "y"), if (is.null(H)) "h" else "H", if (is.null(H)) h else H, of_kde)
}

# ---- Regions of highest density as polygons -----------------------------------------------------------------------

# Percentages from the largest region to the smallest, and their levels. Regions with one level are one region.
region_levels <- function(fhat, cont) {
  cont <- sort(unique(cont), decreasing = TRUE)
  level <- cummax(unname(contour_levels(fhat, 1 - cont / 100, TRUE)))
  kept <- !duplicated(level)
  list(cont = cont[kept], level = level[kept])
}

# "95%", "75%", ...: ordered, the largest region first.
probability_factor <- function(cont, all) {
  all <- sort(unique(all), decreasing = TRUE)
  factor(paste0(cont, "%"), paste0(all, "%"), ordered = TRUE)
}

iso_frame <- function(pieces, regions, cont, group) {
  rows <- lapply(seq_along(pieces), function(k) {
    piece <- pieces[[k]]
    if (length(piece$x) == 0L) return(NULL)
    data.frame(x = piece$x, y = piece$y, probability = probability_factor(regions$cont[k], cont),
               level = regions$level[k], piece = k, id = piece$id)
  })
  rows <- do.call(rbind, rows)
  if (is.null(rows)) return(data.frame())
  # The geoms of ggplot2 make numbers of groups, which factors allow.
  rows$group <- factor(paste(group, rows$piece, sep = "-"))
  rows
}

region_lines <- function(fhat, cont, group) {
  regions <- region_levels(fhat, cont)
  axes <- axes_of(fhat)
  rows <- iso_frame(isoband::isolines(axes[[1L]], axes[[2L]], t(fhat$estimate), regions$level), regions, cont, group)
  # Each line is drawn by itself.
  if (nrow(rows) > 0L) rows$group <- factor(paste(rows$group, rows$id, sep = "-"))
  rows[names(rows) != "id"]
}

# What lies between one level and the next, so that colours do not cover each other.
region_bands <- function(fhat, cont, group) {
  regions <- region_levels(fhat, cont)
  axes <- axes_of(fhat)
  bands <- isoband::isobands(axes[[1L]], axes[[2L]], t(fhat$estimate), regions$level, c(regions$level[-1L], Inf))
  rows <- iso_frame(bands, regions, cont, group)
  stats::setNames(rows, sub("^id$", "subgroup", names(rows)))
}
