# Errors of classification, of given classes and of those of kernel discriminant analysis.

#' Errors of classification
#'
#' Compares true classes with estimated ones: given ones (`compare`), or those of [kda()] when each observation is left
#' out of its class in turn, with full (`compare.kda.cv`) or diagonal (`compare.kda.diag.cv`) bandwidth matrices.
#'
#' @inheritParams Hkda
#' @param x.group the true classes.
#' @param est.group the estimated classes.
#' @param by.group TRUE for the error of each class, too.
#' @param prior.prob the prior probabilities of the classes; their shares in the sample if not given.
#' @param recompute TRUE to select the bandwidth of a class again when an observation is left out of it.
#' @param verbose if TRUE, show progress; if NULL, `options(kestrel.verbose=)` decides, or else interactive sessions
#'   show it after a second.
#' @return A list of `cross`, a table of true classes (rows) and estimated ones with totals, and `error`, the share of
#'   observations in a wrong class (with `by.group = TRUE` a matrix of the shares in each class and in all).
#' @section Units: None.
#' @section Errors: Those of [kda()], and of class `kestrel_error_input` for classes of another number, or estimated
#'   ones that are not among the true ones.
#' @section Cost: The densities of all classes at the data. With `recompute = TRUE` a selector for each observation.
#' @references Duong, T. (2007) ks: kernel density estimation and kernel discriminant analysis for multivariate data in
#'   R. *Journal of Statistical Software* **21**(7), 1-16.
#' @seealso [kda()]
#' @examples
#' fit <- kda(iris[, 1:2], iris$Species)
#' compare(iris$Species, fit$x.group.estimate, by.group = TRUE)
#' compare.kda.cv(iris[, 1:2], iris$Species)$error
#' @export
compare <- function(x.group, est.group, by.group = FALSE, ...) {
  check_arguments("compare", given_names(...))
  by.group <- check_flag(by.group, "by.group")
  groups <- lapply(list(x.group = x.group, est.group = est.group), function(group) {
    if (is.factor(group)) as.character(group) else without_class(group)
  })
  for (name in names(groups)) {
    if (!is.atomic(groups[[name]]) || length(groups[[name]]) == 0L) {
      abort_input("`", name, "` must be classes, not ", describe_value(groups[[name]]), ".")
    }
    check_present(groups[[name]], name)
  }
  n <- length(groups$x.group)
  if (length(groups$est.group) != n) {
    abort_input("`est.group` must have the ", n, " classes of `x.group`, not ", length(groups$est.group), ".")
  }
  levels <- levels(droplevels(as.factor(if (is.factor(x.group)) x.group else groups$x.group)))
  estimated <- match(as.character(groups$est.group), levels)
  if (anyNA(estimated)) {
    abort_input("`est.group` must have classes among ", quoted(levels, '"'), ", not ",
                quoted(as.character(groups$est.group)[is.na(estimated)][1L], '"'), ".")
  }
  error_table(match(as.character(groups$x.group), levels), estimated, levels, by.group)
}

error_table <- function(true, estimated, levels, by.group) {
  k <- length(levels)
  counts <- matrix(tabulate((estimated - 1L) * k + true, k^2), k)
  cross <- rbind(cbind(counts, rowSums(counts)), c(colSums(counts), sum(counts)))
  dimnames(cross) <- list(c(paste(levels, "(true)"), "Total"), c(paste(levels, "(est.)"), "Total"))
  wrong <- (sum(counts) - sum(diag(counts))) / sum(counts)
  error <- if (by.group) {
    matrix(c((rowSums(counts) - diag(counts)) / rowSums(counts), wrong), dimnames = list(rownames(cross), "error"))
  } else {
    wrong
  }
  list(cross = cross, error = error)
}

#' @rdname compare
#' @export
compare.kda.cv <- function(x, x.group, bw = "plugin", prior.prob = NULL, Hstart, by.group = FALSE, verbose = NULL,
                           recompute = FALSE, ...) {
  verbose <- asked_verbose(verbose)
  start <- if (!missing(Hstart)) list(Hstart = Hstart)
  select <- function(x, group, ...) {
    if (NCOL(x) == 1L) return(lapply(hkda(x, group, bw, ...)^2, matrix))
    stacked_matrices(do.call(Hkda, c(list(x, group, bw = bw), start, list(...))))
  }
  left_out_errors(x, x.group, function(x, group) select(x, group, ...), prior.prob, by.group, verbose, recompute)
}

#' @rdname compare
#' @export
compare.kda.diag.cv <- function(x, x.group, bw = "plugin", prior.prob = NULL, by.group = FALSE, verbose = NULL,
                                recompute = FALSE, ...) {
  verbose <- asked_verbose(verbose)
  left_out_errors(x, x.group, function(x, group) stacked_matrices(Hkda.diag(x, group, bw, ...)), prior.prob, by.group,
                  verbose, recompute)
}

left_out_errors <- function(x, x.group, select, prior.prob, by.group, verbose, recompute) {
  by.group <- check_flag(by.group, "by.group")
  recompute <- check_flag(recompute, "recompute")
  classes <- check_classes(x, x.group, NULL, stats::na.fail)
  prior <- check_priors(prior.prob, classes)
  H <- select(classes$x, classes$group)
  true <- as.integer(classes$group)
  row <- stats::ave(true, true, FUN = seq_along)
  assigned <- with_search_progress(verbose, "Observations left out", function(progress) {
    fhats <- Map(gaussian_density, classes$samples, H)
    run <- replace(run_options(), "progress", list(progress))
    values <- vapply(fhats, function(fhat) density_at(fhat, classes$x, run), numeric(length(true)))
    for (k in seq_along(fhats)) {
      own <- which(true == k)
      n <- length(own)
      at_zero <- normal_at_zero(as.matrix(fhats[[k]]$H))
      left <- (n * values[own, k] - at_zero) / (n - 1)
      # Too few digits are left of a density to which the others contribute little.
      lost <- left < 1e-6 * at_zero / (n - 1)
      left[lost] <- exp(vapply(own[lost], function(i) log_density(fhats[[k]], classes$x[i, ], row[i]), 0))
      values[own, k] <- left
    }
    if (recompute) values[cbind(seq_along(true), true)] <- recomputed_densities(classes, true, row, select, progress)
    largest_class(values, prior, fhats, classes$x, list(class = true, row = row))
  })
  error_table(true, assigned, levels(classes$group), by.group)
}

# The density of its class at each observation, which is left out, also for the bandwidth.
recomputed_densities <- function(classes, true, row, select, progress) {
  at <- counted(function(i) {
    rest <- seq_along(true) != i & true == true[i]
    x <- classes$x[rest, , drop = FALSE]
    # The selectors take classes; this one and a copy of it.
    H <- select(rbind(x, x), rep(1:2, each = nrow(x)))[[1L]]
    fhat <- gaussian_density(list(x = x, w = rep(1, nrow(x)), names = classes$names), H)
    exp(log_density(fhat, classes$x[i, ]))
  }, progress)
  vapply(seq_along(true), at, 0)
}
