# Kernel discriminant analysis: a density for each class, and the class of the largest one times its prior probability.

#' Kernel discriminant analysis
#'
#' Estimates the density of each class and assigns points to the class whose density times its prior probability is the
#' largest.
#'
#' The densities are those of [kde()] with the Gaussian kernel, exact sums at all points. Where the densities of all
#' classes are too small for a double, their logarithms are compared.
#'
#' @inheritParams kde
#' @param x a numeric vector (d = 1), or a matrix or data frame with n rows and d columns.
#' @param x.group the classes of the rows: a factor, or a vector of numbers, strings or logicals.
#' @param Hs the bandwidth matrices of the classes, in the order of their levels, one below the other; those of
#'   \code{\link{Hkda}()} if not given.
#' @param hs in one dimension, their bandwidths; those of [hkda()] if not given.
#' @param prior.prob the prior probabilities of the classes; their shares in the sample if not given.
#' @param supp how far the grid extends beyond the data, in units of the largest sqrt(H_kk) of the classes.
#' @param eval.points points to estimate at and to classify, instead of a grid.
#' @param w weights, one for each row of `x`, non-negative; within each class they are rescaled to sum to its size.
#' @param kde.flag FALSE to classify only, without densities on a grid.
#' @param object an object made by `kda()`.
#' @param newdata points to classify, in the forms of `x`.
#' @param y,y.group not used: other data to draw in \pkg{ks}.
#' @param prob,cont,nlevels,approx as in [contourLevels()].
#' @param xlab,ylab,main,col,drawpoints labels of the axes, a title, colours of the classes, and whether data are drawn.
#' @param alpha,drawlabels the opacity of the regions of two variables, and whether contours have labels.
#' @param ... no further arguments of `kda()`: other names are an error. For `plot()` graphical parameters. In
#'   `predict()`, `x` is another name of `newdata`, as in \pkg{ks}.
#' @return `kda()`: an object of class `c("kestrel_kda", "kda")`, a list with the fields of \pkg{ks}. Those with an
#'   entry for each class are `estimate`, `x`, `H` (in one dimension a vector, and `h`), `w`, `cont` and `prior.prob`.
#'   The others are `eval.points`, `names`, `binned`, `gridded`, `x.group`, `x.group.estimate` (the classes of the data,
#'   or of `eval.points`) and `type`. `call` and `seconds` are new in kestrel. `predict()`: a factor. `contourLevels()`:
#'   a list of levels for each class. `print()` and `plot()` return their argument invisibly.
#' @section Units: Densities are in 1 / volume.
#' @section Errors: The errors of [kde()], and errors of class `kestrel_error_input` for less than two classes, classes
#'   with fewer than d + 2 rows, bandwidths and prior probabilities of another number, and classes that are missing.
#' @section Cost: That of [kde()] for each class, on the grid and at the data.
#' @references Duong, T. (2007) ks: kernel density estimation and kernel discriminant analysis for multivariate data in
#'   R. *Journal of Statistical Software* **21**(7), 1-16.
#' @seealso \code{\link{Hkda}()}, [compare()]
#' @examples
#' fit <- kda(iris[, 1:2], iris$Species)
#' fit
#' plot(fit)
#' compare(iris$Species, fit$x.group.estimate)$error
#' predict(fit, c(6, 3))
#' @export
kda <- function(x, x.group, Hs, hs, prior.prob = NULL, gridsize, xmin, xmax, supp = 3.7, eval.points, binned, bgridsize,
                w, compute.cont = TRUE, approx.cont = TRUE, kde.flag = TRUE, ..., na.action = stats::na.fail,
                threads = NULL, verbose = NULL) {
  check_arguments("kda", given_names(...), "binned")
  started <- proc.time()[["elapsed"]]
  grid <- given_grid(supp = supp, streamed = FALSE)
  points <- if (!missing(eval.points)) eval.points
  flags <- list(cont = check_flag(compute.cont, "compute.cont"), approx = check_flag(approx.cont, "approx.cont"),
                density = check_flag(kde.flag, "kde.flag"))
  verbose <- asked_verbose(verbose)
  classes <- check_classes(x, x.group, if (!missing(w)) w, na.action)
  d <- ncol(classes$x)
  prior <- check_priors(prior.prob, classes)
  given <- check_class_bandwidths(if (!missing(Hs)) Hs, if (!missing(hs)) hs, d, length(classes$samples))
  if (is.null(points)) {
    if (flags$density && d > most_on_grids && is.null(grid$gridsize)) flags$density <- FALSE
    grid <- check_grid(grid, d)
  } else {
    points <- in_order_of(points, classes$names, "eval.points")
    check_points(points, d, "eval.points")
  }
  run <- density_options(threads, "cpu", "auto", 1e-12, cuda = TRUE)
  H <- lapply(seq_along(classes$samples), function(k) {
    if (!is.null(given)) return(given[[k]])
    unname(resolve_bandwidth(list(), classes$samples[[k]], "gaussian", FALSE, selecting(run, d), verbose)$H)
  })
  fhats <- Map(function(sample, H) new_density(sample, H, "gaussian", "radial", NULL, run), classes$samples, H)
  made <- with_search_progress(verbose, "Densities of classes", function(progress) {
    run$progress <- progress
    if (!is.null(points)) return(densities_at_points(fhats, points, prior, run))
    on_grid <- if (flags$density) densities_on_grid(fhats, classes$x, grid, flags, run)
    assigned <- assign_classes(fhats, classes$x, prior, run)
    c(on_grid, list(assigned = assigned))
  })
  finish_classes(classes, H, prior, made, points, match.call(), started)
}

finish_classes <- function(classes, H, prior, made, points, call, started) {
  d <- ncol(classes$x)
  of_class <- function(field) lapply(classes$samples, `[[`, field)
  columns <- lapply(of_class("x"), function(x) if (d == 1L) as.vector(x) else x)
  at <- if (is.null(points)) made$eval.points else points
  structure(c(list(estimate = made$estimate, eval.points = at, x = columns),
              if (d == 1L) list(h = sqrt(unlist(H)), H = unlist(H)) else list(H = H),
              list(w = lapply(of_class("w"), as.vector), cont = made$cont, names = classes$names, binned = FALSE,
                   gridded = is.null(points) && !is.null(made$estimate), prior.prob = prior, x.group = classes$group,
                   x.group.estimate = factor(levels(classes$group)[made$assigned], levels(classes$group)), type = "kda",
                   na.action = classes$na.action, call = call, seconds = proc.time()[["elapsed"]] - started)),
            class = c("kestrel_kda", "kda"))
}

# The samples of the classes, in the order of their levels.
check_classes <- function(x, x.group, w, na.action) {
  sample <- check_sample(x, w, na.action)
  check_columns(sample$x)
  given <- x.group
  group <- if (is.factor(x.group)) x.group else without_class(x.group)
  n <- nrow(sample$x) + length(sample$na.action)
  if (!is.factor(group) && !is.character(group) && !is.numeric(group) && !is.logical(group) || length(group) != n) {
    abort_input("`x.group` must be the classes of the ", n, " rows of `x`, not ",
                if (is.atomic(group)) paste(length(group), "values") else describe_value(given), ".")
  }
  if (length(sample$na.action) > 0L) group <- group[-sample$na.action]
  check_present(group, "x.group")
  group <- droplevels(as.factor(group))
  d <- ncol(sample$x)
  if (nlevels(group) < 2L) abort_input("`x.group` must have at least two classes, not ", nlevels(group), ".")
  count <- tabulate(group, nlevels(group))
  if (any(count < d + 2L)) {
    small <- which(count < d + 2L)[1L]
    abort_input("`x.group` must have classes of at least ", d + 2L, " rows, d + 2, but ",
                quoted(levels(group)[small], '"'), " has ", count[small], ".")
  }
  samples <- lapply(levels(group), function(level) {
    rows <- group == level
    of_class <- list(x = sample$x[rows, , drop = FALSE], names = sample$names,
                     w = if (is.null(w)) ones_cpp(sum(rows)) else scale_weights(sample$w[rows]))
    with_data(of_class)
  })
  list(x = sample$x, group = group, samples = samples, names = sample$names, na.action = sample$na.action)
}

check_priors <- function(prior, classes) {
  k <- length(classes$samples)
  if (is.null(prior)) return(tabulate(classes$group, k) / length(classes$group))
  given <- prior
  prior <- plain(prior)
  if (!is_numbers(prior) || length(prior) != k || !all(is.finite(prior)) || any(prior < 0) ||
        abs(sum(prior) - 1) > 1e-8) {
    abort_input("`prior.prob` must be ", k, " probabilities that add to one, not ", describe_value(given), ".")
  }
  as.numeric(prior)
}

check_class_bandwidths <- function(Hs, hs, d, k, name = "Hs") {
  if (!is.null(Hs) && !is.null(hs)) abort_input("`hs` and `Hs` must not both be given.")
  if (!is.null(hs)) {
    if (d > 1L) abort_input("`Hs` must be given for ", d, " columns, not `hs`.")
    return(lapply(check_length(check_positives(hs, "hs"), k, "hs", "`x.group`")^2, matrix))
  }
  if (is.null(Hs)) return(NULL)
  Hs <- plain(Hs)
  if (d == 1L && is_numbers(Hs)) Hs <- matrix(as.vector(Hs))
  if (!is_numbers(Hs) || !is.matrix(Hs) || ncol(Hs) != d || nrow(Hs) != k * d) {
    abort_input("`", name, "` must be ", k, " matrices of ", d, " x ", d, ", one below the other, not ",
                describe_value(Hs), ".")
  }
  lapply(stacked_matrices(Hs), check_H, d, name)
}

densities_on_grid <- function(fhats, x, grid, flags, run) {
  widest <- do.call(pmax, lapply(fhats, function(fhat) diag(as.matrix(fhat$H))))
  axes <- grid_axes(grid_limits(x, diag(widest, ncol(x)), grid), grid)
  fhats <- lapply(fhats, estimate_on_grid, axes, run)
  cont <- if (flags$cont) lapply(fhats, contour_levels, (99:1) / 100, flags$approx, run)
  list(estimate = lapply(fhats, `[[`, "estimate"), eval.points = fhats[[1L]]$eval.points, cont = cont)
}

densities_at_points <- function(fhats, points, prior, run) {
  checked <- check_points(points, dimension(fhats[[1L]]), "eval.points")
  values <- lapply(fhats, density_at, checked, run)
  list(estimate = values, assigned = largest_class(do.call(cbind, values), prior, fhats, checked))
}

assign_classes <- function(fhats, points, prior, run) {
  values <- vapply(fhats, function(fhat) density_at(fhat, points, run), numeric(nrow(points)))
  largest_class(values, prior, fhats, points)
}

# The number of the class with the largest prior times density, a row for each point. `without`: the rows that a class
# leaves out at a point, if any.
largest_class <- function(values, prior, fhats, points, without = NULL) {
  values <- matrix(values, nrow(points), length(fhats))
  weighed <- sweep(values, 2L, prior, "*")
  assigned <- max.col(weighed, ties.method = "first")
  none <- which(weighed[cbind(seq_along(assigned), assigned)] < 1e-280)
  for (i in none) {
    logs <- vapply(seq_along(fhats), function(k) {
      log_density(fhats[[k]], points[i, ], if (!is.null(without) && without$class[i] == k) without$row[i])
    }, 0)
    assigned[i] <- which.max(log(prior) + logs)
  }
  assigned
}

# The logarithm of the density at a point, without the observation in row `without`.
log_density <- function(fhat, point, without = NULL) {
  root <- bandwidth_root(fhat)
  x <- sample_matrix(fhat)
  w <- fhat$w
  if (!is.null(without)) {
    x <- x[-without, , drop = FALSE]
    w <- w[-without]
  }
  exponent <- -colSums(forwardsolve(root, t(x) - point)^2) / 2
  top <- max(exponent[w > 0])
  heard()
  top + log(sum(w * exp(exponent - top)) / sum(w)) - sum(log(diag(root))) - ncol(root) / 2 * log(2 * pi)
}

# The estimate of one class.
class_density <- function(object, k) {
  d <- length(object$names)
  sample <- list(x = if (d == 1L) matrix(object$x[[k]]) else object$x[[k]], w = object$w[[k]], names = object$names)
  fhat <- gaussian_density(sample, as.matrix(object$H[[k]]))
  if (!is.null(object$estimate)) {
    fhat[c("eval.points", "estimate")] <- list(object$eval.points, object$estimate[[k]])
    fhat$gridtype <- rep("linear", d)
    fhat$gridded <- object$gridded
  }
  fhat
}

class_densities <- function(object) lapply(seq_along(object$x), function(k) class_density(object, k))

#' @rdname kda
#' @export
predict.kestrel_kda <- function(object, newdata, ..., x, verbose = NULL) {
  check_object(object, "object", "kestrel_kda")
  verbose <- asked_verbose(verbose)
  points <- points_to_predict(newdata, x, ...)
  points <- check_points(in_order_of(points$value, object$names, points$name), length(object$names), points$name)
  assigned <- with_search_progress(verbose, "Classes", function(progress) {
    assign_classes(class_densities(object), points, object$prior.prob, c(run_options(), progress = progress))
  })
  factor(levels(object$x.group)[assigned], levels(object$x.group))
}

#' @rdname kda
#' @export
#' @rawNamespace S3method(ks::contourLevels, kestrel_kda)
contourLevels.kestrel_kda <- function(x, prob, cont, nlevels = 5, approx = TRUE, ...) {
  check_object(x, "x", "kestrel_kda")
  if (is.null(x$estimate)) abort_input("`x` must have densities, which kde.flag = FALSE leaves out.")
  asked <- c(if (!missing(prob)) list(prob = prob), if (!missing(cont)) list(cont = cont),
             list(nlevels = nlevels, approx = approx))
  lapply(class_densities(x), function(fhat) do.call(contourLevels, c(list(replace(fhat, "seconds", 0)), asked, ...)))
}

#' @rdname kda
#' @export
print.kestrel_kda <- function(x, ...) {
  check_object(x, "x", "kestrel_kda")
  cat(class_lines(x), sep = "\n")
  invisible(x)
}

class_lines <- function(object) {
  names <- levels(object$x.group)
  c(paste0("Kernel discriminant analysis, d = ", length(object$names)), call_lines(object$call),
    label_line("n", format(length(object$x.group), big.mark = ",")),
    label_line("variables", paste(object$names, collapse = ", ")),
    label_line("classes", paste0(names, ": ", lengths(object$w), ", prior ", format_short(object$prior.prob),
                                 collapse = "; ")),
    if (!is.null(object$h)) label_line("bandwidths", paste(format_short(object$h), collapse = ", ")),
    if (object$gridded) label_line("grid", axes_text(axes_of(object))))
}

#' @rdname kda
#' @export
summary.kestrel_kda <- function(object, ...) {
  check_object(object, "object", "kestrel_kda")
  at_data <- length(object$x.group.estimate) == length(object$x.group)
  structure(list(fit = object, errors = if (at_data) compare(object$x.group, object$x.group.estimate)),
            class = "summary.kestrel_kda")
}

#' @export
print.summary.kestrel_kda <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_kda")
  cat(class_lines(x$fit), sep = "\n")
  if (!is.null(x$errors)) {
    print(x$errors$cross)
    cat(label_line("error", paste0(format_short(x$errors$error), ", of the data themselves")), sep = "\n")
  }
  invisible(x)
}

#' @rdname kda
#' @export
plot.kestrel_kda <- function(x, y, y.group, xlab = NULL, ylab = NULL, main = NULL, col = NULL, drawpoints = TRUE,
                             alpha = 0.2, drawlabels = FALSE, ...) {
  check_object(x, "x", "kestrel_kda")
  if (!missing(y) || !missing(y.group)) {
    abort_input("`y` and `y.group` must not be given: points() adds data to a plot.")
  }
  d <- length(x$names)
  if (!x$gridded || d > 2L) {
    abort_input("`x` must have densities on a grid of one or two dimensions to be plotted.")
  }
  more <- list(...)
  drawpoints <- check_flag(drawpoints, "drawpoints")
  drawlabels <- check_flag(drawlabels, "drawlabels")
  alpha <- check_between(alpha, 1, "alpha")[1L]
  k <- length(x$x)
  col <- rep_len(given_or(check_graphical(col, "col"), kind_colours(k)), k)
  axes <- axes_of(x)
  weighed <- Map(`*`, x$estimate, x$prior.prob)
  empty_plot(axes[[1L]], if (d == 1L) range(0, unlist(weighed)) else axes[[2L]], more,
             xlab = given_or(xlab, x$names[1L]),
             ylab = given_or(ylab, if (d == 1L) "Prior probability x density" else x$names[2L]), main = main)
  region <- max.col(matrix(unlist(weighed), ncol = k), ties.method = "first")
  drawing_with(more, if (d == 1L) {
    for (j in seq_len(k)) {
      graphics::lines(axes[[1L]], weighed[[j]], col = col[j], lwd = 2)
      if (drawpoints) draw_rug(x$x[[j]], col[j])
      draw_region_on_axis(list(estimate = as.numeric(region == j), eval.points = axes[[1L]]), 0.5, 0, 6, col[j])
    }
  } else {
    graphics::image(axes[[1L]], axes[[2L]], matrix(region, length(axes[[1L]])), add = TRUE, zlim = c(0.5, k + 0.5),
                    col = grDevices::adjustcolor(col, alpha))
    for (j in seq_len(k)) {
      if (drawpoints) graphics::points(x$x[[j]][, 1L], x$x[[j]][, 2L], col = col[j], pch = 16, cex = 0.5)
      levels <- contour_levels(class_density(x, j), c(0.25, 0.5, 0.75), TRUE)
      graphics::contour(axes[[1L]], axes[[2L]], x$estimate[[j]], levels = levels, add = TRUE, drawlabels = drawlabels,
                        col = col[j])
    }
  })
  if (room_above(1, main)) draw_map_key(levels(x$x.group), col)
  invisible(x)
}
