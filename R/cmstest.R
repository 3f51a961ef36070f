# A test of the form of a parametric regression (Hsiao, Li & Racine 2007).

#' Test of the specification of a parametric regression
#'
#' Tests whether the mean of the response is that of a model of [stats::lm()] or [stats::glm()], against any smooth
#' function of the regressors, which may be numbers and factors (Hsiao, Li & Racine 2007). Names, arguments and fields
#' are those of package \pkg{np}.
#'
#' With u the residuals of the model, K_ij the product kernel of observations i and j, H the product of the bandwidths
#' of numbers, and sums over all pairs of different observations, the statistics are
#' \deqn{I_n = \sum u_i u_j K_{ij} / n^2,\quad \hat\Omega = 2 H \sum u_i^2 u_j^2 K_{ij}^2 / n^2,\quad J_n = n H^{1/2}
#' I_n / \hat\Omega^{1/2}.}{In = sum u_i u_j K_ij / n^2, Omega.hat = 2 H sum u_i^2 u_j^2 K_ij^2 / n^2, Jn = n H^(1/2)
#' In / Omega.hat^(1/2).}
#' With `density.weighted = FALSE` K_ij is divided by the mean over j of these kernels. Large values speak against the
#' model. Where it is right the distribution of Jn approaches that of a standard normal variable, but slowly. So it is
#' computed by a bootstrap: fits of the model plus errors drawn from its residuals (see [npsigtest()]), to which the
#' model is fitted again. P is the share of samples with a larger statistic.
#'
#' The bandwidths are those of [npregbw()] for the regression of the response on the regressors, as in \pkg{np}.
#'
#' Statistics are those of \pkg{np} 0.60 at the same bandwidths, but for these differences:
#'
#'   - The model need not contain its design (`x = TRUE, y = TRUE`).
#'   - Bandwidths may be given (`bws`), where \pkg{np} ends in an error.
#'   - Draws follow from `random.seed` alone, are the same for any number of threads, and leave the random numbers of
#'     the session as they are.
#'
#' @param formula a formula with the regressors of the test on its right side, in place of `xdat`.
#' @param data,subset where its variables are, and which rows to use.
#' @param xdat the regressors: a numeric vector, a factor, a matrix or a data frame, with a row for each observation of
#'   the model, or of its data before rows with missing values were left out.
#' @param ydat the response; if not given that of the model.
#' @param model a linear model of [stats::lm()], or a model of [stats::glm()] with the Gaussian family and any link.
#' @param distribution `"bootstrap"`, or `"asymptotic"` for the normal distribution.
#' @param boot.method `"iid"`, `"wild"` or `"wild-rademacher"`: how errors are drawn, see [npsigtest()].
#' @param boot.num number of bootstrap samples, at least 9.
#' @param pivot if TRUE, the test is of Jn, else of In.
#' @param density.weighted see Details.
#' @param random.seed a whole number, which determines the draws.
#' @param threads,verbose as in [npregbw()].
#' @param ... arguments of [npregbw()]: `bws`, which are taken as they are, `ckertype`, `bwmethod` and others.
#' @return An object of class `c("kestrel_cmstest", "cmstest")`, a list with
#'   \item{Jn, In, Omega.hat}{the statistics}
#'   \item{P}{the P value}
#'   \item{q.90, q.95, q.99}{quantiles of the statistic where the model is right}
#'   \item{sd}{the standard deviation of the statistic by the asymptotic distribution}
#'   \item{Jn.bootstrap, In.bootstrap}{the sorted statistics of the samples, or NA}
#'   \item{bws}{the bandwidth object}
#'   \item{reject, rejectNum}{a mark of significance and its level, as in [npsigtest()]}
#'   and `pivot`, `pdistribution`, `pmethod`, `pcall` (the call of the model), `boot.num`, `density.weighted`,
#'   `na.index` (rows left out), `random.seed`, `seconds`, `call`.
#' @section Units: Jn has none. In has the squared units of the response divided by those of the numbers.
#' @section Errors: Errors of class `kestrel_error_input` are for models of other classes, with weights or of another
#'   family, models that fit exactly, regressors with missing values or of another length, and bandwidths as in
#'   [npsigtest()].
#' @section Cost: All samples share the weights, so that the test takes O(n^2 B) for B samples: about 0.5 s for
#'   n = 1,000 and B = 399, on one core. The cost of [npregbw()] is added. Models of glm() with another link are fitted
#'   one by one.
#' @references Hsiao, C., Li, Q. & Racine, J.S. (2007) A consistent model specification test with mixed discrete and
#'   continuous data. *Journal of Econometrics* **140**, 802-826.
#' @seealso [npregbw()]
#' @examples
#' model <- lm(mpg ~ wt, data = mtcars)
#' npcmstest(model = model, xdat = mtcars$wt, boot.num = 99)
#' npcmstest(~ wt, mtcars, model = lm(mpg ~ poly(wt, 2), mtcars), boot.num = 99)
#' @export
npcmstest <- function(formula, data = NULL, subset, xdat, ydat, model, distribution = c("bootstrap", "asymptotic"),
                      boot.method = c("iid", "wild", "wild-rademacher"), boot.num = 399, pivot = TRUE,
                      density.weighted = TRUE, random.seed = 42, ..., threads = NULL, verbose = NULL) {
  started <- proc.time()[["elapsed"]]
  call <- match.call()
  of_bandwidths <- setdiff(npregbw_arguments(), c("na.action", "w", "bandwidth.compute"))
  check_known("npcmstest", Filter(nzchar, given_names(...)), c(names(formals(npcmstest)), of_bandwidths))
  check_named("npcmstest", given_names(...), "random.seed")
  if (missing(model)) abort_input("`model` must be given, by its name: a model of lm() or glm().")
  asked <- specification_choices(distribution, boot.method, boot.num, pivot, density.weighted, random.seed)
  verbose <- asked_verbose(verbose)
  null <- null_model(model)
  x <- specification_regressors(if (!missing(formula)) formula, data, call, parent.frame(), if (!missing(xdat)) xdat)
  test <- specification_test(rows_of_model(x, null), if (!missing(ydat)) ydat, null, asked, threads, verbose, ...)
  finish_specification(test, null, asked, random.seed, call, started)
}

specification_choices <- function(distribution, boot.method, boot.num, pivot, density.weighted, random.seed) {
  list(distribution = check_choice(distribution, c("bootstrap", "asymptotic"), "distribution"),
       method = check_choice(boot.method, setdiff(sigtest_methods, "pairwise"), "boot.method"),
       count = check_count(boot.num, "boot.num", 9L), pivot = check_flag(pivot, "pivot"),
       weighted = check_flag(density.weighted, "density.weighted"), seed = check_seed(random.seed))
}

# The regressors of the formula, or those given. `call` has `subset`.
specification_regressors <- function(formula, data, call, env, xdat) {
  if (is.null(formula)) {
    if (is.null(xdat)) abort_input("`xdat` must be given where there is no formula.")
    return(named_column(xdat, "xdat"))
  }
  if (!inherits(formula, "formula")) {
    abort_input("`formula` must be a formula, as in ~ x, not ", describe_value(formula), ".")
  }
  if (length(formula) == 3L) formula[[2L]] <- NULL
  frame <- density_frame(formula, data, call, env)
  frame[regressors_of(attr(frame, "terms"))]
}

# The statistics, with the bandwidths of a regression of y, or of the response of the model, on x.
specification_test <- function(x, ydat, null, asked, threads, verbose, ...) {
  y <- if (is.null(ydat)) null$y else as_variable(ydat, "ydat")$value
  if (length(y) == length(null$y) + length(null$left_out)) y <- y[setdiff(seq_along(y), null$left_out)]
  choices <- list(...)
  given <- !is.null(choices$bws) && !inherits(choices$bws, "kestrel_regbw")
  bws <- do.call(npregbw.default, c(list(x, y, na.action = stats::na.fail, threads = threads, verbose = verbose),
                                    choices, if (given) list(bandwidth.compute = FALSE)), quote = TRUE)
  bws$ynames <- null$name
  made <- as_mixed_regression(bws)
  made$bws$regtype <- "lc"
  found <- with_search_progress(verbose, "Specification test", function(progress) {
    specification_statistics(made, null, asked, c(run_options(threads, "cpu"), progress = progress))
  })
  c(found, list(bws = bws))
}

finish_specification <- function(test, null, asked, random.seed, call, started) {
  marks <- marks_of(test$P)
  structure(c(test, list(pivot = asked$pivot, density.weighted = asked$weighted,
                         pdistribution = c(bootstrap = "Bootstrap", asymptotic = "Asymptotic")[[asked$distribution]],
                         pmethod = sigtest_names[[asked$method]], boot.method = asked$method, boot.num = asked$count,
                         pcall = paste(code_lines(null$call, 6L), collapse = " "), na.index = null$left_out,
                         reject = marks$reject, rejectNum = marks$rejectNum,
                         random.seed = as.numeric(random.seed), call = call,
                         seconds = proc.time()[["elapsed"]] - started)),
            class = c("kestrel_cmstest", "cmstest"))
}

# What the test takes of a model: residuals, the response, `errors`, draws of errors from uniform numbers, and
# `residuals_of`, the residuals of the model fitted to responses that are its fitted values plus each column of errors.
null_model <- function(model) {
  linear <- inherits(model, "lm") && !inherits(model, "glm") && !inherits(model, "mlm")
  if (!is.list(model) || !(linear || inherits(model, "glm"))) {
    abort_input("`model` must be a model of lm() or glm(), not ", describe_value(model), ".")
  }
  fields <- unclass(model)
  family <- if (!linear) fields$family$family
  if (!linear && !identical(family, "gaussian")) {
    abort_input("`model` must have the Gaussian family, since errors are drawn from its residuals, not ",
                describe_value(family), ".")
  }
  weights <- if (linear) fields$weights else fields$prior.weights
  if (!is.null(weights) && any(weights != 1)) abort_input("`model` must be a model without weights.")
  fitted <- as.vector(fields$fitted.values)
  fine <- is_numbers(fitted) && length(fitted) > 1L && all(is.finite(fitted)) && inherits(fields$qr, "qr")
  if (!fine) abort_input("`model` must have finite fitted values and its QR decomposition.")
  y <- if (linear) fitted + as.vector(fields$residuals) else as.vector(fields$y)
  if (!is_numbers(y) || length(y) != length(fitted) || !all(is.finite(y))) {
    abort_input("`model` must have a response for each fitted value.")
  }
  residuals <- y - fitted
  if (!(sum(residuals^2) > 1e-24 * sum((y - mean(y))^2))) abort_input("`model` must not fit its response exactly.")
  direct <- linear || identical(fields$family$link, "identity")
  residuals_of <- if (direct) {
    function(errors) qr.resid(fields$qr, errors)
  } else {
    design <- stats::model.matrix(model)
    function(errors) {
      apply(errors, 2L, function(error) {
        heard()
        made <- stats::glm.fit(design, fitted + error, start = fields$coefficients, family = fields$family,
                               offset = fields$offset, control = fields$control)
        fitted + error - made$fitted.values
      })
    }
  }
  terms <- fields$terms
  errors <- function(uniform, method) bootstrap_residuals(residuals - mean(residuals), uniform, method)
  list(residuals = residuals, y = y, errors = errors, residuals_of = residuals_of, call = fields$call,
       name = if (length(terms) == 3L) paste(code_lines(terms[[2L]], 1L), collapse = "") else "y",
       left_out = as.vector(unclass(fields$na.action)))
}

# The regressors at the observations of the model.
rows_of_model <- function(x, null) {
  columns <- some_columns(x, "xdat")
  names(columns) <- plain_data_name(names(columns), "x")
  n <- length(null$y)
  rows <- length(columns[[1L]])
  if (rows == n + length(null$left_out)) {
    kept <- setdiff(seq_len(rows), null$left_out)
    columns <- lapply(columns, function(column) column[kept])
  } else if (rows != n) {
    abort_input("`xdat` must have a row for each observation of `model`, ", n, ", not ", rows, ".")
  }
  check_whole_columns(columns)
  frame_of(columns, names(columns))
}

# Columns without missing or infinite values.
check_whole_columns <- function(columns) {
  for (name in names(columns)) {
    one <- columns[[name]]
    if (is.factor(one)) check_present(one, name) else check_finite(numbers_of(one), name)
  }
  columns
}

# The statistics, their distribution and P value.
specification_statistics <- function(made, null, asked, run) {
  smoother <- smoother_of(made$bws, made$raw, run)
  n <- made$bws$nobs
  volume <- prod(made$raw[made$bws$icon])
  # Weights lack the value of the kernel at 0 and the division by bandwidths.
  height <- if (made$bws$ncon == 0L) 1 else kernel_at(0, made$bws, run)^made$bws$ncon / volume
  over <- if (asked$weighted) height / n else 1
  # Where no other observation counts the mean is 0.
  sums <- function(u, functional) {
    found <- smooth_responses(smoother, u, functional, leave_out = TRUE)
    replace(found, is.na(found), 0)
  }
  of <- function(u) {
    u <- as.matrix(u)
    In <- colSums(u * over * sums(u, if (asked$weighted) "sum" else "mean")) / n
    omega <- 2 * volume * colSums(u^2 * over^2 * sums(u^2, if (asked$weighted) "square" else "mean_square"))
    sd <- sqrt(omega) / (n * sqrt(volume))
    list(In = In, Jn = ifelse(sd > 0, In / sd, 0), omega = omega, sd = sd)
  }
  found <- of(null$residuals)
  name <- if (asked$pivot) "Jn" else "In"
  value <- found[[name]]
  replicates <- if (asked$distribution == "bootstrap") {
    sort(in_replicates(n, asked$count, asked$seed, run, function(uniform) {
      of(null$residuals_of(null$errors(uniform, asked$method)))[[name]]
    }))
  }
  sd <- if (asked$pivot) 1 else found$sd
  shares <- c(0.9, 0.95, 0.99)
  quantiles <- if (is.null(replicates)) sd * stats::qnorm(shares) else
    stats::quantile(replicates, shares, names = FALSE, type = 1L)
  P <- if (is.null(replicates)) stats::pnorm(found$Jn, lower.tail = FALSE) else mean(replicates > value)
  list(Jn = found$Jn, In = found$In, Omega.hat = found$omega, sd = sd, q.90 = quantiles[1L], q.95 = quantiles[2L],
       q.99 = quantiles[3L], P = P,
       Jn.bootstrap = if (asked$pivot && !is.null(replicates)) replicates else NA,
       In.bootstrap = if (!asked$pivot && !is.null(replicates)) replicates else NA)
}

# ---- print and summary --------------------------------------------------------------------------------------------

cmstest_lines <- function(test) {
  name <- if (test$pivot) "Jn" else "In"
  bootstrap <- test$pdistribution == "Bootstrap"
  P <- if (bootstrap) p_text(test$P, test$boot.num) else format_short(test$P)
  c(paste0("Specification test of a parametric ", if (!is.null(test$tau)) "quantile ", "regression"),
    call_lines(test$call),
    label_line("model", test$pcall),
    if (!is.null(test$tau)) label_line("tau", format_short(test$tau)),
    label_line("n", format(test$bws$nobs, big.mark = ",")),
    label_line("against", paste0("any function of ", and_list(test$bws$xnames))),
    label_line("bandwidth", bandwidth_text(test$bws)),
    label_line("distribution", if (bootstrap) paste0("bootstrap: ", test$boot.num, " samples, ", test$boot.method) else
      "normal (asymptotic)"),
    label_line(name, paste0(format_short(test[[name]]), ", ", p_words(P), " ", test$reject)))
}

#' @rdname npcmstest
#' @param x,object a result of `npcmstest()`.
#' @export
print.kestrel_cmstest <- function(x, ...) {
  check_object(x, "x", "kestrel_cmstest")
  cat(cmstest_lines(x), sep = "\n")
  invisible(x)
}

#' @rdname npcmstest
#' @export
summary.kestrel_cmstest <- function(object, ...) {
  check_object(object, "object", "kestrel_cmstest")
  structure(list(test = object), class = "summary.kestrel_cmstest")
}

#' @export
print.summary.kestrel_cmstest <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_cmstest")
  test <- x$test
  cat(cmstest_lines(test),
      label_line("quantiles", paste(c("90 %", "95 %", "99 %"), format_short(c(test$q.90, test$q.95, test$q.99)),
                                    collapse = ", ")),
      label_line("Omega.hat", format_short(test$Omega.hat)), sep = "\n")
  invisible(x)
}
