# Tests whether regressors matter in a kernel regression.

sigtest_methods <- c("iid", "wild", "wild-rademacher", "pairwise")

#' Significance of regressors in a kernel regression
#'
#' Tests by a bootstrap whether a regressor, or several together, matter in a regression of [npregbw()]: the counterpart
#' of a t-test or an F-test of a linear model (Racine 1997; Racine, Hart & Li 2006). Names, arguments and fields are
#' those of package \pkg{np}.
#'
#' The statistic of a regressor is the mean over the observations of the squared gradient of the fit by it. For a factor
#' the gradient is its effect: the fit minus that at the first level, or for an ordered factor at the level below (see
#' [npreg()]). With `pivot = TRUE` each gradient is divided by its standard error. A joint test takes the mean over its
#' regressors.
#'
#' The distribution without an effect is that of the statistics of `boot.num` samples. They have the fit with the tested
#' regressors held at their medians (factors at their most frequent level) plus errors, which are drawn from its
#' residuals. These are centred and scaled to the standard deviation of the residuals of the whole fit. `"iid"` draws
#' residuals with replacement. `"wild"` multiplies each residual by a draw from the two-point distribution of Mammen
#' (1993), and `"wild-rademacher"` by -1 or 1. `"pairwise"` draws the response together with the other regressors,
#' and leaves the tested ones as they are. P is the share of samples with a larger statistic.
#'
#' With `boot.type = "I"` all samples have the bandwidths of `bws`. With `"II"` bandwidths are selected for every
#' sample, from those of `bws` on, and those of the tested regressors are replaced. This takes much longer, and keeps
#' the level of the test better in small samples (Racine, Hart & Li 2006).
#'
#' Standard errors are the asymptotic ones of \pkg{np}: with v(x) the variance of the responses around x, weighted by
#' the kernels, and p numeric regressors,
#' \deqn{se(x)^2 = v(x) R(K)^p / \sum_i w_i(x),}{se(x)^2 = v(x) R(K)^p / sum_i w_i(x),}
#' and for the gradient by a regressor with the bandwidth h
#' \deqn{se(x)^2 \int (K(u - 1/2) - K(u + 1/2))^2 du / (h^2 R(K)).}{se(x)^2 int (K(u - 1/2) - K(u + 1/2))^2 du / (h^2
#' R(K)).}
#' They are not those of [npreg()]. For the effect of a factor both fits count as independent. Observations whose error
#' is 0, because no neighbour differs from them, count 0.
#'
#' So statistics are those of \pkg{np}, but for these differences:
#'
#'   - In \pkg{np} 0.60 the standard error of an effect is 0, so that with `pivot = TRUE` the statistic of a factor is
#'     about 1e31 times that of `pivot = FALSE`, and a joint test with a factor is a test of the factor. For example
#'     `npsigtest(npregbw(mpg ~ wt + factor(cyl), data = mtcars, bws = c(0.6, 0.3), bandwidth.compute = FALSE))$In[2]`.
#'   - The `"wild-rademacher"` draws of \pkg{np} are -1 with probability 0.72, so that their mean is not 0. Here it is
#'     1/2. The mean of `In.bootstrap` shows it: for `npregbw(dist ~ speed, data = cars, bws = 2, bandwidth.compute =
#'     FALSE)` and `pivot = FALSE` it is 2.2 in \pkg{np} and 1.8 here, as with `"wild"` in both.
#'   - For the Epanechnikov kernel \pkg{np} has other constants in place of the integrals, of order 8 a missing value.
#'     They change statistics with `pivot = TRUE` by a factor, and no P value.
#'   - Draws are others. They follow from `random.seed` alone, are the same for any number of threads, and leave the
#'     random numbers of the session as they are.
#'   - Effects are left out of the mean where no observation counts at one of the levels. In \pkg{np} such a fit is 0.
#'
#' @param bws a bandwidth object of [npregbw()] or a fit of [npreg()], with fixed bandwidths; or a formula, or
#'   bandwidths for `xdat` and `ydat`.
#' @param xdat,ydat regressors and response as in [npregbw()]. With a bandwidth object they are other data to test.
#' @param data with a formula, the data frame of its variables. It may be the second argument.
#' @param boot.num number of bootstrap samples, at least 9.
#' @param boot.method how samples are drawn, see Details.
#' @param boot.type `"I"` or `"II"`, see Details.
#' @param pivot if TRUE, divide gradients by their standard errors.
#' @param joint if TRUE, test all regressors of `index` together.
#' @param index which regressors to test, by their positions; all if not given.
#' @param random.seed a whole number, which determines the draws.
#' @param threads,verbose as in [npregbw()].
#' @param ... arguments of [npregbw()] for a formula or bandwidths.
#' @return An object of class `c("kestrel_sigtest", "sigtest")`, a list with
#'   \item{In}{the statistic of each test}
#'   \item{P}{its P value}
#'   \item{In.bootstrap}{the statistics of the samples, a matrix with a column for each test}
#'   \item{bws}{the bandwidth object}
#'   \item{ixvar}{the positions of the tested regressors}
#'   \item{reject, rejectNum}{marks of significance, `"***"`, `"**"`, `"*"`, `"."` or `""`, and their levels in per
#'     cent, 0.1, 1, 5, 10 or NA}
#'   and `pivot`, `joint`, `ptype` (`boot.type`), `pmethod`, `boot.num`, `boot.method`, `random.seed`, `rows.omit`,
#'   `nobs.omit`, `seconds`, `call`. `summary()` and `print()` show a table of the tests.
#' @section Units: With `pivot = TRUE` statistics have no unit. Otherwise their unit is that of the squared gradient.
#' @section Errors: Errors of class `kestrel_error_input` are for bandwidths that are numbers of neighbours, for
#'   weights, and for kernels other than `"gaussian"`, `"epanechnikov"` and `"uniform"`. They are also for positions
#'   that are not those of regressors, and for bandwidths at which no observation counts where the tested regressors are
#'   held. The errors of [npregbw()] can occur, too.
#' @section Cost: With `boot.type = "I"` and residuals, all samples share the weights of the fit, so that a test of a
#'   regressor takes O(n^2 B) for B samples: about 0.7 s for n = 1,000 and B = 399, on one core. With `"pairwise"` each
#'   sample has its own weights, and with `"II"` each takes a search as in [npregbw()]. All threads are used. The memory
#'   is that of about ten times 2^24 numbers at most; larger problems are computed in parts.
#' @references Mammen, E. (1993) Bootstrap and wild bootstrap for high dimensional linear models. *Annals of Statistics*
#'   **21**, 255-285.
#'
#'   Racine, J.S. (1997) Consistent significance testing for nonparametric regression. *Journal of Business and Economic
#'   Statistics* **15**, 369-378.
#'
#'   Racine, J.S., Hart, J. & Li, Q. (2006) Testing the significance of categorical predictor variables in
#'   nonparametric regression models. *Econometric Reviews* **25**, 523-544.
#' @seealso [npregbw()]
#' @examples
#' bw <- npregbw(mpg ~ wt + factor(am), data = mtcars, regtype = "ll")
#' npsigtest(bw, boot.num = 99)
#' npsigtest(bw, boot.num = 99, joint = TRUE, boot.method = "wild")
#' @export
npsigtest <- function(bws, xdat, ydat, boot.num = 399, boot.method = c("iid", "wild", "wild-rademacher", "pairwise"),
                      boot.type = c("I", "II"), pivot = TRUE, joint = FALSE, index = NULL, random.seed = 42, ...,
                      data = NULL, threads = NULL, verbose = NULL) {
  started <- proc.time()[["elapsed"]]
  call <- match.call()
  check_known("npsigtest", Filter(nzchar, given_names(...)), c(names(formals(npsigtest)), npregbw_arguments()))
  if (missing(bws)) {
    abort_input("`bws` must be a bandwidth object of npregbw(), a fit of npreg(), a formula or bandwidths.")
  }
  asked <- list(method = check_choice(boot.method, sigtest_methods, "boot.method"),
                type = check_choice(boot.type, c("I", "II"), "boot.type"), pivot = check_flag(pivot, "pivot"),
                joint = check_flag(joint, "joint"), count = check_count(boot.num, "boot.num", 9L),
                seed = check_seed(random.seed))
  verbose <- asked_verbose(verbose)
  bws <- regression_bandwidths("npsigtest", bws, if (!missing(xdat)) xdat, if (!missing(ydat)) ydat, data,
                               threads, verbose, call, ...)
  made <- as_mixed_regression(bws)
  asked$index <- check_index(index, made$bws)
  tests <- if (asked$joint) list(asked$index) else as.list(asked$index)
  found <- with_search_progress(verbose, "Significance test", function(progress) {
    run <- c(run_options(threads, "cpu"), progress = progress)
    lapply(tests, function(tested) test_regressors(made$bws, made$raw, tested, asked, run))
  })
  In <- vapply(found, `[[`, 0, "statistic")
  replicates <- matrix(unlist(lapply(found, `[[`, "replicates")), asked$count)
  P <- vapply(seq_along(In), function(k) mean(replicates[, k] > In[k]), 0)
  marks <- marks_of(P)
  structure(list(In = In, In.bootstrap = replicates, P = P, bws = bws, ixvar = asked$index,
                 pmethod = sigtest_names[[asked$method]], pivot = asked$pivot, joint = asked$joint, ptype = asked$type,
                 boot.num = asked$count, boot.method = asked$method, random.seed = as.numeric(random.seed),
                 reject = marks$reject, rejectNum = marks$rejectNum,
                 rows.omit = bws$rows.omit, nobs.omit = bws$nobs.omit, call = call,
                 seconds = proc.time()[["elapsed"]] - started),
            class = c("kestrel_sigtest", "sigtest"))
}

sigtest_names <- list(iid = "IID", wild = "Wild", `wild-rademacher` = "Rademacher Wild", pairwise = "Pairwise")

# The bandwidth object of a regression that a function of np's is given: itself or that of a fit; or one that is made of
# a formula, or of bandwidths and data.
regression_bandwidths <- function(called, bws, xdat, ydat, data, threads, verbose, call, ...) {
  if (inherits(bws, "formula")) {
    if (is.null(data)) data <- xdat
    bw <- npregbw.formula(bws, data, ..., threads = threads, verbose = verbose)
    return(replace(bw, "call", list(call)))
  }
  if (inherits(bws, "kestrel_reg")) bws <- check_object(bws, "bws", "kestrel_reg")$bws
  object <- inherits(bws, "kestrel_regbw")
  if (object) check_object(bws, "bws", "kestrel_regbw")
  if (object && is.null(xdat) && is.null(ydat)) {
    check_arguments(called, given_names(...))
    return(bws)
  }
  if (!object && !is_numbers(plain(bws))) {
    abort_input("`bws` must be a bandwidth object of npregbw(), a fit of npreg(), a formula or bandwidths, not ",
                describe_value(bws), ".")
  }
  if (is.null(xdat) || is.null(ydat)) {
    abort_input("`xdat` and `ydat` must both be given", if (object) ", or none." else " with bandwidths.")
  }
  if (object) check_other_data(bws, xdat, ydat)
  choices <- if (object) choices_of(bws, list(...)) else list(...)
  bw <- do.call(npregbw.default, c(list(named_column(xdat, "xdat"), named_column(ydat, "ydat"),
                                        if (object) bws$bw else bws, FALSE, threads = threads, verbose = verbose),
                                   choices), quote = TRUE)
  replace(bw, "call", list(call))
}

check_index <- function(index, bws) {
  if (is.null(index)) return(seq_len(bws$ndim))
  index <- plain(index)
  if (!is_numbers(index) || length(index) == 0L || anyNA(index) || !all(index %in% seq_len(bws$ndim))) {
    abort_input("`index` must have positions of regressors, from 1 to ", bws$ndim, ", not ", describe_value(index), ".")
  }
  if (anyDuplicated(index) > 0L) {
    abort_input("`index` must have different positions, not ", describe_value(index), ".")
  }
  as.integer(index)
}

# The statistic of a test of the regressors `tested`, and those of the bootstrap samples.
test_regressors <- function(bws, raw, tested, asked, run) {
  smoother <- smoother_of(bws, raw, run)
  constants <- if (asked$pivot) error_constants(bws, run)
  of <- function(smoother, y) significance(smoother, y, tested, constants)
  statistic <- of(smoother, bws$y)
  null <- if (asked$method != "pairwise") null_of(smoother, tested)
  again <- function(uniform, k) {
    if (asked$method == "pairwise") {
      rows <- floor(uniform[, k] * bws$nobs) + 1
      bws$y <- bws$y[rows]
      bws$x[-tested] <- lapply(unclass(bws$x)[-tested], function(column) column[rows])
    } else {
      bws$y <- as.vector(null$fit + bootstrap_residuals(null$residuals, uniform[, k, drop = FALSE], asked$method))
    }
    if (asked$type == "II") raw[tested] <- search_mixed(bws, 1L, start_at(bws, raw), run, run$progress)$raw[tested]
    of(smoother_of(bws, raw, run), bws$y)
  }
  together <- asked$method != "pairwise" && asked$type == "I"
  replicates <- in_replicates(bws$nobs, asked$count, asked$seed, run, function(uniform) {
    if (together) return(of(smoother, null$fit + bootstrap_residuals(null$residuals, uniform, asked$method)))
    vapply(seq_len(ncol(uniform)), function(k) again(uniform, k), 0)
  })
  list(statistic = statistic, replicates = replicates)
}

# The fit with the tested regressors held at one value, and its residuals, which are as large as those of the whole fit.
null_of <- function(smoother, tested) {
  bws <- smoother$bws
  fit <- as.vector(smooth_responses(smoother, bws$y, points = with_held(bws, tested)))
  if (anyNA(fit)) {
    abort_input("`bws` must be larger: where ", and_list(paste0("`", bws$xnames[tested], "`")),
                " is held, ", sum(is.na(fit)), " of ", bws$nobs, " observations have no neighbour.")
  }
  off <- bws$y - fit
  off <- off - mean(off)
  residuals <- bws$y - as.vector(smooth_responses(smoother, bws$y))
  if (any(off != 0)) off <- off * stats::sd(residuals) / stats::sd(off)
  list(fit = fit, residuals = off)
}

# The columns of the data, those of `tested` at their medians or most frequent levels.
with_held <- function(bws, tested) {
  columns <- unclass(bws$x)
  columns[tested] <- lapply(held_values(bws, 0.5)[tested], rep, bws$nobs)
  columns
}

# The mean squared gradient for each column of y, divided by standard errors if there are `constants` for them.
significance <- function(smoother, y, tested, constants) {
  bws <- smoother$bws
  y <- as.matrix(y)
  inside <- if (!is.null(constants)) local_errors(smoother, y, NULL, constants)
  of_each <- lapply(tested, function(k) {
    if (bws$icon[k]) {
      column <- sum(bws$icon[seq_len(k)])
      gradient <- smooth_responses(smoother, y, "slope", column = column)
      error2 <- if (!is.null(constants)) inside * constants$slope / smoother$task$h[column]^2
    } else {
      columns <- base_of(bws, k)
      gradient <- smooth_responses(smoother, y) - smooth_responses(smoother, y, points = columns)
      error2 <- if (!is.null(constants)) inside + local_errors(smoother, y, columns, constants)
    }
    term <- if (is.null(constants)) gradient^2 else ifelse(error2 > 0, gradient^2 / error2, 0)
    colMeans(term, na.rm = TRUE)
  })
  mean <- Reduce(`+`, of_each) / length(tested)
  replace(mean, is.nan(mean), NA)
}

# The columns of the data, the factor k at the level with which its effect compares.
base_of <- function(bws, k) {
  columns <- unclass(bws$x)
  columns[[k]] <- base_levels(columns[[k]], bws$x[[k]])
  columns
}

# np's squared standard errors of fits: from the variance of the responses around each point. One that is only rounding
# is 0.
local_errors <- function(smoother, y, points, constants) {
  y <- y - rep(colMeans(y), each = nrow(y))
  squares <- smooth_responses(smoother, y^2, "mean", points)
  variance <- squares - smooth_responses(smoother, y, "mean", points)^2
  variance[which(variance < 1e-13 * squares)] <- 0
  sum <- as.vector(smooth_responses(smoother, rep(1, nrow(y)), "sum", points))
  variance * constants$fit / sum
}

# What these errors take of the kernel: `fit`, R(K) for each numeric regressor, divided by its value at 0, which weights
# lack; `slope`, the integral of (K(u - 1/2) - K(u + 1/2))^2, divided by R(K).
error_constants <- function(bws, run) {
  if (bws$ncon == 0L) return(list(fit = 1, slope = NA_real_))
  kernel <- function(u) kernel_at(u, bws, run)
  reach <- if (is_compact(bws$ckertype)) np_scale(bws$ckertype) else 12
  # Twice the integral on one side, in two parts, since a kernel may have an edge at its centre.
  products <- function(apart) {
    part <- function(from, to) {
      if (from >= to) return(0)
      stats::integrate(function(u) kernel(u - apart / 2) * kernel(u + apart / 2), from, to,
                       rel.tol = 1e-11, subdivisions = 1000L)$value
    }
    end <- (reach - apart / 2) * (1 - 1e-15)
    2 * (part(0, min(apart / 2, end)) + part(apart / 2, end))
  }
  square <- products(0)
  list(fit = (square / kernel(0))^bws$ncon, slope = 2 - 2 * products(1) / square)
}

# ---- print and summary --------------------------------------------------------------------------------------------

sigtest_lines <- function(test) {
  bws <- test$bws
  c("Significance of regressors in a kernel regression",
    call_lines(test$call),
    label_line("n", size_text(bws)),
    label_line("regression", smoother_text(bws)),
    label_line("bandwidth", bandwidth_text(bws)),
    label_line("statistic", paste0("mean squared gradient", if (test$pivot) ", divided by standard errors",
                                   if (test$joint) ", of all together")),
    label_line("bootstrap", paste0(test$boot.num, " samples, ", test$boot.method, ", type ", test$ptype)))
}

sigtest_table <- function(test) {
  names <- test$bws$xnames[test$ixvar]
  table <- data.frame(if (test$joint) paste(names, collapse = ", ") else names, format_short(test$In),
                      p_text(test$P, test$boot.num),
                      test$reject)
  stats::setNames(table, c("regressor", "In", "P", ""))
}

#' @rdname npsigtest
#' @param x,object a result of `npsigtest()`.
#' @export
print.kestrel_sigtest <- function(x, ...) {
  check_object(x, "x", "kestrel_sigtest")
  cat(sigtest_lines(x), "", sep = "\n")
  print(sigtest_table(x), row.names = FALSE)
  cat(meaning_of_marks)
  invisible(x)
}

#' @rdname npsigtest
#' @export
summary.kestrel_sigtest <- function(object, ...) {
  check_object(object, "object", "kestrel_sigtest")
  structure(list(test = object), class = "summary.kestrel_sigtest")
}

#' @export
print.summary.kestrel_sigtest <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_sigtest")
  print(x$test)
  quantiles <- t(apply(x$test$In.bootstrap, 2L, stats::quantile, c(0.5, 0.9, 0.95, 0.99), na.rm = TRUE))
  rownames(quantiles) <- sigtest_table(x$test)$regressor
  cat("\nQuantiles of the statistics of the samples:\n")
  print(quantiles, digits = 4)
  invisible(x)
}
