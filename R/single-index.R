# Coefficients and bandwidths of single index models (Ichimura 1993; Klein & Spady 1993).

index_methods <- c("ichimura", "kleinspady")

#' Coefficients and bandwidth of a single index model
#'
#' Selects the coefficients b and the bandwidth of the model y = g(x b) + error together, by cross-validation. The first
#' coefficient is 1. Names, arguments and fields are those of package \pkg{np}.
#'
#' With g_-i the local constant fit of y on the index x b without observation i, `"ichimura"` minimises the mean of (y_i
#' - g_-i)^2 (Hardle, Hall & Ichimura 1993), and `"kleinspady"`, for responses 0 and 1, minus the mean of y_i log g_-i +
#' (1 - y_i) log(1 - g_-i), where g_-i is kept within 1.5e-8 of 0 and 1, as in \pkg{np}. Regressors are numbers, or
#' factors, which become 0 and 1, positions of levels, or indicators, as in [npplregbw()]. The first should be a number.
#'
#' The objective has several minima. So the search looks at the least squares coefficients and at 32 directions for each
#' coefficient that is free, spread evenly, each with 30 bandwidths. From the best `nmulti` of them it descends with
#' [stats::optim()], by `optim.method` and then by its quasi-Newton method until that gains nothing. No random numbers
#' are drawn, and `random.seed` has no effect. It is not certain that the result is the least value of all. Values are
#' those of \pkg{np} 0.60 at the same coefficients and bandwidth.
#'
#' @param xdat the regressors: a matrix or a data frame with at least two columns. It may be the formula.
#' @param ydat the response.
#' @param bws a vector of the coefficients, of which the first is 1, and the bandwidth: a start of the search or, for
#'   `bandwidth.compute = FALSE`, what is taken. A bandwidth object decides on method and kernel, too.
#' @param bandwidth.compute FALSE to take `bws` as they are.
#' @param formula `y ~ x1 + x2`.
#' @param data,subset,na.action where the variables are, which rows to use, and what to do with missing values, as in
#'   [npregbw()].
#' @param method `"ichimura"`, or `"kleinspady"` for responses 0 and 1.
#' @param nmulti the number of descents; by default that of the columns, at most 5.
#' @param ckertype,ckerorder the kernel, one of those of [npregbw()] for one number, and its order.
#' @param optim.method,optim.maxit,optim.reltol,optim.abstol how to descend, as in [stats::optim()]: `"Nelder-Mead"`,
#'   `"BFGS"` or `"CG"`.
#' @param only.optimize.beta if TRUE, the bandwidth stays as in `bws`.
#' @param random.seed,optim.maxattempts accepted for scripts written for \pkg{np}, without effect.
#' @param threads,verbose as in [npregbw()].
#' @param ... no further arguments.
#' @return An object of class `c("kestrel_sibw", "sibandwidth")`, a list with
#'   \item{beta}{the coefficients}
#'   \item{bw}{the bandwidth of the index}
#'   \item{fval}{the objective}
#'   \item{fval.history}{the least value of each descent}
#'   \item{x, design, y}{the regressors, a data frame, the matrix made of them, and the response}
#'   and `method`, `ckertype`, `ckerorder`, `xnames`, `ynames`, `ndim`, `nobs`, `num.feval`, `convergence` (that of
#'   [stats::optim()]), `formula`, `terms`, `rows.omit`, `nobs.omit`, `seconds`, `call`. `coef()` returns the
#'   coefficients.
#' @section Units: A coefficient is in the units of the first regressor divided by those of its own. The bandwidth is in
#'   those of the first.
#' @section Errors: Errors of class `kestrel_error_input` are for fewer than two columns, columns that determine each
#'   other, responses other than 0 and 1 for `"kleinspady"`, coefficients that do not begin with 1 or are of another
#'   number, and as in [npregbw()].
#' @section Warnings: Warnings of class `kestrel_warning_search` are for a search that ended at its limit of steps.
#' @section Cost: An evaluation takes the time of one bandwidth of a regression on one number, O(n log n) with the
#'   Gaussian kernel (see [npregbw()]), and a search some hundreds for each descent.
#' @references Hardle, W., Hall, P. & Ichimura, H. (1993) Optimal smoothing in single-index models. *Annals of
#'   Statistics* **21**, 157-178.
#'
#'   Ichimura, H. (1993) Semiparametric least squares (SLS) and weighted SLS estimation of single-index models. *Journal
#'   of Econometrics* **58**, 71-120.
#'
#'   Klein, R.W. & Spady, R.H. (1993) An efficient semiparametric estimator for binary response models. *Econometrica*
#'   **61**, 387-421.
#' @seealso [npindex()]
#' @examples
#' bw <- npindexbw(mpg ~ wt + hp, data = mtcars)
#' bw
#' coef(bw)
#' @export
npindexbw <- function(xdat, ydat, bws = NULL, bandwidth.compute = TRUE, ..., formula = NULL, data = NULL, subset,
                      method = c("ichimura", "kleinspady"), nmulti = NULL, ckertype = "gaussian",
                      ckerorder = 2, optim.method = c("Nelder-Mead", "BFGS", "CG"), optim.maxit = 500,
                      optim.reltol = sqrt(.Machine$double.eps), optim.abstol = .Machine$double.eps,
                      optim.maxattempts = NULL, only.optimize.beta = FALSE, random.seed = NULL, na.action = NULL,
                      threads = NULL, verbose = NULL) {
  started <- proc.time()[["elapsed"]]
  call <- match.call()
  check_arguments("npindexbw", given_names(...))
  compute <- check_flag(bandwidth.compute, "bandwidth.compute")
  verbose <- asked_verbose(verbose)
  if (inherits(bws, "kestrel_sibw")) {
    check_object(bws, "bws", "kestrel_sibw")
    here <- environment()
    list2env(choices_of(bws, mget(intersect(chosen_by(bws), names(call)), here)), here)
    bws <- c(bws$beta, bws$bw)
  }
  asked <- list(method = check_choice(method, index_methods, "method"),
                ckertype = check_choice(ckertype, regression_kernels(), "ckertype"), regtype = "lc", bw.scale = "np",
                type = "fixed", scaling = FALSE, unsupported = "reject")
  asked$ckerorder <- check_order(ckerorder, asked$ckertype, higher = "gaussian")
  how <- list(method = check_choice(optim.method, c("Nelder-Mead", "BFGS", "CG"), "optim.method"),
              maxit = check_count(optim.maxit, "optim.maxit"), reltol = check_positive(optim.reltol, "optim.reltol"),
              abstol = check_positive(optim.abstol, "optim.abstol"),
              beta_only = check_flag(only.optimize.beta, "only.optimize.beta"))
  if (is.null(formula) && !missing(xdat) && inherits(xdat, "formula")) {
    formula <- xdat
    names(call)[names(call) == "xdat"] <- "formula"
    if (is.null(data) && !missing(ydat)) data <- ydat
  }
  if (!is.null(formula)) {
    read <- read_one_part(formula, data, call, parent.frame())
    if (is.null(na.action)) na.action <- getOption("na.action")
  } else {
    if (missing(xdat) || missing(ydat)) abort_input("`xdat` and `ydat` must be given where there is no formula.")
    read <- list(x = xdat, y = named_column(ydat, "ydat"))
    if (is.null(na.action)) na.action <- stats::na.omit
  }
  sample <- index_sample(read$x, read$y, na.action, asked)
  p <- ncol(sample$design)
  start <- check_index_parameters(bws, p, compute, how$beta_only)
  nmulti <- if (is.null(nmulti)) min(5L, p) else check_count(nmulti, "nmulti")
  found <- with_search_progress(verbose, "Single index model", function(progress) {
    run <- run_options(threads, "cpu")
    objective <- counted(index_objective(sample, asked, run), progress)
    if (!compute) return(list(beta = start[seq_len(p)], bw = start[p + 1L], num.feval = 1L, convergence = 0L,
                              fval = objective(start[seq_len(p)], start[p + 1L])))
    search_index(sample, start, nmulti, how, objective)
  })
  if (found$convergence != 0L) warn_search("The search for coefficients did not converge in ", how$maxit, " steps.")
  if (!compute && !is.finite(found$fval)) {
    warn_support("Some observations have no neighbour at the bandwidth ", describe_value(found$bw), ".")
  }
  names(found$beta) <- colnames(sample$design)
  made <- c(found[c("beta", "bw", "fval", "fval.history", "num.feval", "convergence")], asked["method"],
            asked[c("ckertype", "ckerorder")], sample,
            list(xnames = names(sample$x), ndim = length(sample$x), nobs = length(sample$y), searched = compute,
                 rows.omit = as.vector(sample$na.action), nobs.omit = length(sample$na.action), formula = formula,
                 terms = read$terms, call = call, seconds = proc.time()[["elapsed"]] - started))
  structure(Filter(Negate(is.null), made), class = c("kestrel_sibw", "sibandwidth"))
}

# The variables of a formula y ~ x + z, and its terms.
read_one_part <- function(formula, data, call, env) {
  data <- if (is_frame(data)) structure(data, class = "data.frame") else without_class(data)
  check_formula(formula, data)
  wanted <- call[c(1L, match("subset", names(call), nomatch = 0L))]
  wanted[[1L]] <- quote(stats::model.frame)
  wanted$formula <- formula
  if (!is.null(data)) wanted$data <- data
  wanted$na.action <- quote(stats::na.pass)
  frame <- try_formula(eval(wanted, env))
  terms <- attr(frame, "terms")
  list(x = frame[regressors_of(terms)], y = frame[1L], terms = terms)
}

index_sample <- function(x, y, na.action, asked) {
  x <- some_columns(x, "xdat")
  y <- as_variable(y, "ydat")
  n <- length(y$value)
  if (length(x[[1L]]) != n) {
    abort_input("`", y$name, "` must have as many values as the regressors, ", length(x[[1L]]), ", not ", n, ".")
  }
  gone <- Reduce(`|`, lapply(x, is.na), is.na(y$value))
  omitted <- omitted_rows(gone, na.action)
  kept <- function(column) if (length(omitted) > 0L) column[!gone] else column
  x <- lapply(x, kept)
  for (name in names(x)) check_regressor(x[[name]], name)
  x <- lapply(x, function(column) if (is.factor(column)) droplevels(column) else column)
  y$value <- kept(y$value)
  check_observed(y)
  if (length(y$value) < 3L) abort_input("`xdat` must have at least three rows, not ", length(y$value), ".")
  if (asked$method == "kleinspady" && !(all(y$value %in% c(0, 1)) && any(y$value != y$value[1L]))) {
    abort_input("`", plain_name(y$name), "` must be 0 and 1, both of them, for method = \"kleinspady\".")
  }
  check_squares(y$value, ones_cpp(length(y$value)), y$name, NULL)
  design <- linear_design(x)$matrix
  if (ncol(design) < 2L) abort_input("`xdat` must have at least two columns; npregbw() takes one.")
  for (k in seq_len(ncol(design))) check_extent(range(design[, k]), colnames(design)[k], NULL)
  check_determined(design)
  list(x = frame_of(x, names(x)), design = design, y = y$value, ynames = plain_name(y$name), na.action = omitted)
}

# Coefficients and bandwidth as a user gives them.
check_index_parameters <- function(bws, p, compute, beta_only) {
  if (is.null(bws)) {
    if (!compute) abort_input("`bws` must be given for bandwidth.compute = FALSE.")
    if (beta_only) abort_input("`bws` must be given for only.optimize.beta = TRUE.")
    return(NULL)
  }
  bws <- plain(bws)
  if (!is_numbers(bws) || length(bws) != p + 1L || length(dim(bws)) > 1L || !all(is.finite(bws))) {
    abort_input("`bws` must have the ", p, " coefficients and the bandwidth, ", p + 1L, " finite numbers, not ",
                describe_value(bws), ".")
  }
  bws <- as.numeric(bws)
  if (bws[1L] != 1) abort_input("`bws` must begin with the coefficient 1, not ", describe_value(bws[1L]), ".")
  check_bandwidths(bws[p + 1L])
  bws
}

# np's floor of probabilities.
least_probability <- sqrt(.Machine$double.eps)

# The objective as a function of coefficients and bandwidths; Inf where some observation has no neighbour. With several
# bandwidths it returns a value for each.
index_objective <- function(sample, asked, run) {
  n <- length(sample$y)
  function(beta, h) {
    index <- as.vector(sample$design %*% beta)
    if (!all(is.finite(index)) || !all(is.finite(h)) || diff(range(index)) == 0) return(rep(Inf, length(h)))
    h <- pmin(pmax(h, regression_limits[1L]), regression_limits[2L]) * np_scale(asked$ckertype)
    sorted <- regression_cpp(list(x = index, y = sample$y, w = ones_cpp(n)), run)
    if (asked$method == "ichimura") {
      sums <- regression_cv_cpp(sorted, local_fits(h, asked), run)
      return(ifelse(sums$unsupported > 0, Inf, sums$squares / n))
    }
    vapply(h, function(one) {
      loo <- regression_at_data_cpp(sorted, local_fits(one, asked), FALSE, FALSE, run)$loo
      if (anyNA(loo)) return(Inf)
      p <- pmin(pmax(loo, least_probability), 1 - least_probability)
      -mean(ifelse(sample$y == 1, log(p), log1p(-p)))
    }, 0)
  }
}

# Coefficients in units of the first column, and the logarithm of the bandwidth in units of the spread of the index.
search_index <- function(sample, start, nmulti, how, objective) {
  design <- sample$design
  p <- ncol(design)
  n <- nrow(design)
  size <- apply(design, 2L, stats::sd)
  evaluations <- 0L
  beta_of <- function(b) c(1, b * size[1L] / size[-1L])
  spread <- function(beta) stats::sd(as.vector(design %*% beta))
  fixed <- if (how$beta_only) start[p + 1L]
  value <- function(beta, h) {
    evaluations <<- evaluations + length(h)
    objective(beta, h)
  }
  at <- function(theta) {
    beta <- beta_of(theta[seq_len(p - 1L)])
    value(beta, if (is.null(fixed)) exp(theta[p]) * spread(beta) else fixed)
  }
  shares <- exp(seq(log(0.02), log(3), length.out = 30L))
  scored <- function(b) {
    beta <- beta_of(b)
    h <- if (is.null(fixed)) shares * spread(beta) else fixed
    values <- value(beta, h)
    best <- which.min(values)
    list(theta = c(b, if (is.null(fixed)) log(shares[best])), value = values[best])
  }
  straight <- stats::lm.fit(cbind(1, scale(design)), sample$y)$coefficients[-1L]
  directions <- stats::qnorm(sequence_shares(32L * (p - 1L), p))
  ratios <- function(d) pmin(pmax(d[-1L] / d[1L], -1e3), 1e3)
  candidates <- c(if (all(is.finite(straight)) && straight[1L] != 0) list(ratios(straight)),
                  lapply(seq_len(nrow(directions)), function(k) ratios(directions[k, ])))
  scores <- lapply(candidates, scored)
  scores <- scores[order(vapply(scores, `[[`, 0, "value"))]
  starts <- lapply(utils::head(scores, nmulti), `[[`, "theta")
  if (!is.null(start)) {
    b <- start[2:p] * size[-1L] / size[1L]
    starts <- c(list(c(b, if (is.null(fixed)) log(start[p + 1L] / spread(start[seq_len(p)])))), starts)
  }
  found <- lapply(starts, descend_index, at = at, how = how)
  values <- vapply(found, `[[`, 0, "value")
  if (all(values == Inf)) abort_input("`ydat` must have neighbours in the index: at no bandwidth all of them have.")
  best <- found[[which.min(values)]]
  beta <- beta_of(best$theta[seq_len(p - 1L)])
  list(beta = beta, bw = if (is.null(fixed)) exp(best$theta[p]) * spread(beta) else fixed, fval = min(values),
       fval.history = values, num.feval = evaluations, convergence = best$convergence)
}

# optim() by the method asked for, and then its quasi-Newton method, until that gains nothing.
descend_index <- function(theta, at, how) {
  first <- at(theta)
  if (!is.finite(first)) return(list(theta = theta, value = Inf, convergence = 0L))
  # optim() takes no infinite values in some of its methods.
  capped <- function(theta) min(at(theta), 1e3 * (1 + abs(first)))
  size <- max(abs(first), .Machine$double.xmin)
  control <- list(maxit = how$maxit, reltol = how$reltol, abstol = -Inf, fnscale = size)
  if (how$method == "Nelder-Mead" && length(theta) == 1L) how$method <- "BFGS"
  one <- function(method, theta) {
    heard()
    stats::optim(theta, capped, method = method, control = control)
  }
  best <- one(how$method, theta)
  for (round in 1:5) {
    again <- one("BFGS", best$par)
    gained <- best$value - again$value > how$reltol * abs(best$value)
    if (again$value < best$value) best <- again
    if (!gained) break
  }
  list(theta = best$par, value = best$value, convergence = if (best$convergence == 1L) 1L else 0L)
}

# ---- print and summary --------------------------------------------------------------------------------------------

index_names <- c(ichimura = "Ichimura, least squares", kleinspady = "Klein and Spady, likelihood")

index_size <- function(bws) {
  paste0(format(bws$nobs, big.mark = ","),
         if (!is.null(bws$na.action)) paste0(" (", length(bws$na.action), " left out: missing values)"))
}

index_kernel <- function(bws) {
  paste0(bws$ckertype, if (bws$ckerorder > 2) paste(", order", bws$ckerorder), ", h = ", format_short(bws$bw))
}

sibw_lines <- function(bws) {
  c("Single index model: coefficients and bandwidth",
    call_lines(bws$call),
    label_line("n", index_size(bws)),
    label_line("model", paste0(bws$ynames, " on an index of ", and_list(bws$xnames))),
    label_line("method", index_names[[bws$method]]),
    label_line("coefficients", paste(names(bws$beta), format_short(bws$beta), collapse = ", ")),
    label_line("kernel", index_kernel(bws)),
    label_line("objective", format(bws$fval, digits = 7)),
    label_line("search", if (bws$searched) {
      paste0(length(bws$fval.history), if (length(bws$fval.history) == 1L) " start" else " starts")
    } else {
      "these values alone"
    }))
}

#' @rdname npindexbw
#' @param x,object a result of `npindexbw()`.
#' @export
print.kestrel_sibw <- function(x, ...) {
  check_object(x, "x", "kestrel_sibw")
  cat(sibw_lines(x), sep = "\n")
  invisible(x)
}

#' @rdname npindexbw
#' @export
summary.kestrel_sibw <- function(object, ...) {
  check_object(object, "object", "kestrel_sibw")
  structure(list(bws = object), class = "summary.kestrel_sibw")
}

#' @export
print.summary.kestrel_sibw <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_sibw")
  cat(sibw_lines(x$bws), if (x$bws$searched) {
    label_line("minima", paste(format_short(sort(x$bws$fval.history)), collapse = ", "))
  }, sep = "\n")
  invisible(x)
}

#' @rdname npindexbw
#' @export
coef.kestrel_sibw <- function(object, ...) check_object(object, "object", "kestrel_sibw")$beta
