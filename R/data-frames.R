# Data frames of objects that are no tables of estimates at points themselves.

#' Results as data frames
#'
#' `as.data.frame()` turns every estimate, bandwidth object, fit and test of this package into a table, for which
#' `tibble::as_tibble()` works, too. Classes with a page of methods of their own, such as [kde()] and [npreg()],
#' describe their tables there.
#'
#' @param x an object of one of the classes above.
#' @param row.names,optional,... not used; arguments of the generic.
#' @return A data frame:
#'   - for [kcopula()] the coordinates of the points, named as the variables, and `estimate`;
#'   - for [kda()] the same for each class, with a column `group`;
#'   - for [kde.local.test()] the points and `fhat1`, `fhat2`, `fhat.diff`, `chisq`, `pvalue` and `significant`, which
#'     is 1 where the first density is larger, -1 where it is smaller, and 0 elsewhere;
#'   - for [histde()] the limits of each bin, as in `x.lower` and `x.upper`, and `estimate`;
#'   - for [kms()] the points and `label`, the number of their cluster;
#'   - for [kroc()] the false and true positive rates `fpr` and `tpr`;
#'   - for [npregbw()] with one regressor the bandwidths that were tried: `bw`, `cv` and `n.unsupported`;
#'   - for bandwidths of several or mixed variables a row for each variable: its name, `kind`, `bandwidth`,
#'     `scale.factor` and the `largest` bandwidth of a factor; for [npplregbw()] `response`, `variable`, `bandwidth`;
#'   - for [npindexbw()] the coefficients: `term`, `estimate`;
#'   - for [npksum()] the points, and a column `ksum` for each sum;
#'   - for [npplreg()], [npindex()] and [npscoef()] the points and `mean`, and if there are errors `merr`; at the data
#'     also the response and `resid`; [npindex()] has `index`, too;
#'   - for [npconmode()] the points, `conmode`, `condens` and the probability of each level;
#'   - for tests the statistics and P values, a row for each hypothesis;
#'   - for [modetree()] a row for each mode of each bandwidth: `h`, `mode`, `density` there and `branch`;
#'   - for [hboot()], \code{\link{Hboot}()} and what selectors return with `amise = TRUE` the criterion for each
#'     bandwidth that was tried; a matrix without such a record has `row`, `column` and `H`;
#'   - for [q_error()] the errors, and for [kde_synopsis()] the rows of the synopsis;
#'   - for [sketch_plan()] a row for each column: `term`, the `width` of its cells and `hmin`.
#'
#'   There is none for [kde_stream()], whose estimate is in a file or went to a function, for [kestrel_info()], for what
#'   plots return with `plot.behavior = "data"`, see [tidiers], and for selections of a synopsis, of which `summarise()`
#'   and `count()` make tables.
#'
#'   A variable whose name is that of another column gets `.1` behind it.
#' @section Units: Those of the fields from which the columns are taken.
#' @section Errors: Errors of class `kestrel_error_input` are for objects that have been edited, for a result of
#'   [kda()] without densities, and for a square matrix of kernel sums, whose rows may be points or weights.
#' @section Cost: O(rows).
#' @references Wickham, H. (2014) Tidy data. *Journal of Statistical Software* **59**(10), 1-23.
#' @seealso [tidiers] for `tidy()`, `glance()` and `augment()`
#' @examples
#' head(as.data.frame(kms(faithful)))
#' as.data.frame(npregbw(waiting ~ eruptions, data = faithful, nbw = 5))
#' as.data.frame(kde.test(faithful$eruptions[1:136], faithful$eruptions[137:272]))
#' @name data-frames
NULL

# The points of an estimate, named as the variables, beside columns of the names that are `taken`. `limits`: points may
# be infinite.
points_frame <- function(fhat, taken, limits = FALSE) {
  points <- if (fhat$gridded) grid_points(axes_of(fhat)) else
    as.data.frame(check_points(fhat$eval.points, length(fhat$names), "eval.points", limits))
  stats::setNames(points, beside(taken, fhat$names))
}

# A data frame of any kind without its own class.
as_frame <- function(frame) {
  class(frame) <- "data.frame"
  frame
}

# Columns of variables, renamed beside the names of the columns that follow.
bound_beside <- function(variables, values) {
  cbind(stats::setNames(as_frame(variables), beside(names(values), names(variables))), values)
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_kcopula <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_kcopula")
  cbind(points_frame(x, "estimate"), estimate = as.vector(x$estimate))
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_kda <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_kda")
  if (is.null(x$estimate)) abort_input("`x` must be a result of kda() with kde.flag = TRUE to be a table.")
  points <- points_frame(x, c("group", "estimate"))
  levels <- levels(x$x.group)
  rows <- rep(seq_len(nrow(points)), length(levels))
  cbind(points[rows, , drop = FALSE], group = rep(factor(levels, levels), each = nrow(points)),
        estimate = unlist(lapply(x$estimate, as.vector), use.names = FALSE), row.names = NULL)
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_loctest <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_loctest")
  values <- lapply(list(fhat1 = x$fhat1$estimate, fhat2 = x$fhat2$estimate, fhat.diff = x$fhat.diff, chisq = x$chisq,
                        pvalue = x$pvalue, significant = x$fhat.diff.pos$estimate - x$fhat.diff.neg$estimate),
                   as.vector)
  cbind(points_frame(replace(x$fhat1, "names", list(x$names)), names(values)), values)
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_histde <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_histde")
  axes <- axes_of(x)
  ends <- list(lower = grid_points(lapply(axes, utils::head, -1L)), upper = grid_points(lapply(axes, `[`, -1L)))
  pairs <- order(rep(seq_along(axes), 2L))
  names <- paste0(x$names, rep(c(".lower", ".upper"), each = length(axes)))
  bins <- stats::setNames(do.call(cbind, unname(ends)), names)
  cbind(bins[pairs], estimate = as.vector(x$estimate))
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_kms <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_kms")
  points <- as.data.frame(unname(x$y))
  cbind(stats::setNames(points, beside("label", x$names)), label = x$label)
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_kroc <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_kroc")
  data.frame(fpr = x$eval.points, tpr = x$estimate)
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_regbw <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_regbw")
  if (is_mixed_object(x)) return(summary(x)$table)
  data.frame(bw = x$grid, cv = x$cv, n.unsupported = x$n.unsupported)
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_densbw <- function(x, row.names = NULL, optional = FALSE, ...) summary(x)$table

#' @rdname data-frames
#' @export
as.data.frame.kestrel_scbw <- function(x, row.names = NULL, optional = FALSE, ...) summary(x)$table

#' @rdname data-frames
#' @export
as.data.frame.kestrel_plbw <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_plbw")
  table <- plbw_table(x)
  data.frame(response = rep(vapply(x$bw, `[[`, "", "ynames"), ncol(table)),
             variable = rep(x$znames, each = nrow(table)), bandwidth = as.vector(table), row.names = NULL)
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_sibw <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_sibw")
  data.frame(term = names(x$beta), estimate = unname(x$beta))
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_ksum <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_ksum")
  sums <- x$ksum
  by_row <- length(dim(sums)) == 2L && nrow(sums) == x$nobs
  if (x$nobs == 0 || length(sums) %% x$nobs != 0 || by_row && ncol(sums) == x$nobs) {
    abort_input("`x` must be kernel sums at ", x$nobs, " points to be a table, and not as many at each, not ",
                describe_value(sums), ".")
  }
  # In arrays, and in matrices for several weights, the last extent is that of the points.
  if (!by_row) sums <- t(matrix(sums, ncol = x$nobs))
  sums <- as.data.frame(unname(sums))
  bound_beside(frame_of(unclass(x$eval), x$xnames),
               stats::setNames(sums, if (ncol(sums) == 1L) "ksum" else paste0("ksum.", seq_along(sums))))
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_plreg <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_plreg")
  points <- c(unclass(x$evalx), unclass(x$evalz))
  fit_frame(x, frame_of(points, c(x$bws$xnames, x$bws$znames)), NA, x$bws$bw[[1L]]$y)
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_si <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_si")
  fit_frame(x, frame_of(unclass(x$eval), x$bws$xnames), x$merr, x$bws$y, index = x$index)
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_sc <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_sc")
  points <- stats::setNames(c(unclass(x$eval$exdat), unclass(x$eval$ezdat)), c(x$bws$xnames, x$bws$znames))
  # Without z it is x.
  points <- points[!duplicated(names(points))]
  fit_frame(x, frame_of(points, names(points)), x$merr, x$bws$y)
}

# The points of a semiparametric fit, and its values; at the data also the response and residuals. `merr`: errors, NA
# without them. `...`: columns before these.
fit_frame <- function(fit, points, merr, y, ...) {
  values <- list(..., mean = as.vector(fit$mean))
  if (!identical(merr, NA)) values$merr <- as.vector(merr)
  if (fit$trainiseval) {
    response <- stats::setNames(list(y), beside(c(names(points), names(values), "resid"), fit$bws$ynames))
    values <- c(response, values, list(resid = y - values$mean))
  }
  bound_beside(points, as.data.frame(values, optional = TRUE))
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_conmode <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_conmode")
  probabilities <- stats::setNames(as.data.frame(unname(x$probabilities)), levels(x$conmode))
  bound_beside(frame_of(unclass(x$xeval), x$bws$xnames),
               cbind(data.frame(conmode = x$conmode, condens = as.vector(x$condens)), probabilities))
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_sigtest <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_sigtest")
  names <- x$bws$xnames[x$ixvar]
  data.frame(regressor = if (x$joint) paste(names, collapse = ", ") else names, In = as.vector(x$In),
             P = as.vector(x$P))
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_cmstest <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_cmstest")
  as.data.frame(c(list(Jn = x$Jn, In = x$In, P = x$P), if (!is.null(x$tau)) list(tau = x$tau)))
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_deneqtest <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_deneqtest")
  data.frame(Tn = x$Tn, Tn.P = x$Tn.P, In = x$In, In.P = x$In.P)
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_srho <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_srho")
  data.frame(Srho = as.vector(x$Srho), P = if (x$bootstrap) as.vector(x$P) else NA_real_)
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_sdeptest <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_sdeptest")
  tested <- function(P) if (x$bootstrap) as.vector(P) else NA_real_
  data.frame(lag = seq_len(x$lag.num), Srho = as.vector(x$Srho), P = tested(x$P),
             Srho.cumulant = as.vector(x$Srho.cumulant), P.cumulant = tested(x$P.cumulant))
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_kdetest <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_kdetest")
  data.frame(Tstat = x$Tstat, zstat = x$zstat, pvalue = x$pvalue, n1 = x$n1, n2 = x$n2)
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_boot <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_boot")
  as_frame(x$curve)
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_record <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_record")
  tried <- if (is.null(x$curve)) x$path else x$curve
  if (!is.null(tried)) return(as_frame(tried))
  H <- if (is.null(x$H)) matrix(x$h^2) else x$H
  data.frame(row = as.vector(row(H)), column = as.vector(col(H)), H = as.vector(H))
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_modetree <- function(x, row.names = NULL, optional = FALSE, ...) {
  as.data.frame(plain_columns(check_object(x, "x", "kestrel_modetree")$modes))
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_q_error <- function(x, row.names = NULL, optional = FALSE, ...) {
  as.data.frame(unclass(check_object(x, "x", "kestrel_q_error")$errors))
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_synopsis <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_synopsis")
  stats::setNames(as.data.frame(unname(x$x)), x$names)
}

#' @rdname data-frames
#' @export
as.data.frame.kestrel_sketch_plan <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_object(x, "x", "kestrel_sketch_plan")
  data.frame(term = sketch_names(x$column), width = 2^x$exponent, hmin = x$hmin)
}
