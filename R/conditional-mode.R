# The most probable level of a factor given other variables.

#' Conditional mode of a factor
#'
#' Finds the most probable level of a factor, or ordered factor, given numbers and factors, from its conditional
#' probabilities by kernels ([npcdens()]), and counts how often it is the observed one. Names and fields are those of
#' package \pkg{np}.
#'
#' Of levels with the same probability the first is taken. The probabilities of the levels of an ordered factor by the
#' kernels `"liracine"` and `"wangvanryzin"` do not sum to 1, because these are probabilities of all whole numbers (see
#' [npudensbw()]).
#'
#' The measure of McFadden, Puig and Kerschner (1977) is the sum of p_kk minus the sum of the squares of the other p_kl.
#' Here p_kl is the share of observations at level k whose mode is l.
#'
#' Differences from \pkg{np} 0.60: tables have a row and a column for every level, also for those that do not occur.
#' `conderr` has standard errors, where \pkg{np} has NA. `newdata` need not have the response. The mode is NA at points
#' where no observation counts, and in rows with missing values, which \pkg{np} leaves out.
#'
#' @param bws a bandwidth object of [npcdensbw()] or a density of [npcdens()], whose only response is a factor; or a
#'   formula `y ~ x + z`, or bandwidths, first that of y, for `txdat` and `tydat`.
#' @param txdat,tydat the data, as `xdat` and `ydat` of [npcdensbw()]. With a bandwidth object they are other data, with
#'   its bandwidths and kernels.
#' @param exdat points at which to find the mode, if not at the data.
#' @param eydat observed levels there, if known.
#' @param data with a formula, the data frame of its variables. It may be the second argument.
#' @param newdata points as a data frame with the variables of the formula, or the names of x. If it also has the
#'   response, its levels are those observed.
#' @param threads,verbose as in [npregbw()].
#' @param ... for a formula or bandwidths arguments of [npcdensbw()].
#' @return An object of class `c("kestrel_conmode", "conmode")`, a list with
#'   \item{conmode}{the modes, a factor}
#'   \item{condens, conderr}{the probability of the mode and its standard error}
#'   \item{probabilities}{those of all levels, a matrix with a row for each point}
#'   \item{xeval, yeval}{the points and the levels observed there, data frames; `yeval` is NA where they are unknown}
#'   \item{confusion.matrix}{a table of observed levels (rows) and modes; this and the following are NA without observed
#'     levels}
#'   \item{CCR.overall, CCR.byoutcome}{the share of points whose mode is the observed level, of all and of those at each
#'     level}
#'   \item{fit.mcfadden}{the measure of McFadden, Puig and Kerschner}
#'   \item{bws, xbw, ybw}{the bandwidth object and its bandwidths}
#'   and `xnames`, `ynames`, `ntrain`, `nobs`, `trainiseval`, `rows.omit`, `nobs.omit`, `seconds`, `call`.
#'   `fitted()` returns `condens`, as in \pkg{np}, and `predict()` modes or, with `type = "prob"`, probabilities.
#' @section Units: Probabilities have none.
#' @section Errors: Errors of class `kestrel_error_input` are for a response that is not one factor, and for observed
#'   levels that are not as many as points. The errors of [npcdens()] can occur, too.
#' @section Cost: A point takes O(n (p + q)) for each level, with n observations, p numbers and q factors. Unless `bws`
#'   is a bandwidth object or a density, the cost of [npcdensbw()] is added for a formula.
#' @references Hall, P., Racine, J. & Li, Q. (2004) Cross-validation and the estimation of conditional probability
#'   densities. *Journal of the American Statistical Association* **99**, 1015-1026.
#'
#'   McFadden, D., Puig, C. & Kerschner, D. (1977) Determinants of the long-run demand for electricity. *Proceedings of
#'   the American Statistical Association (Business and Economics Section)*, 109-117.
#' @seealso [npcdens()] for the probabilities.
#' @examples
#' mode <- npconmode(factor(cyl) ~ wt + hp, data = mtcars)
#' mode
#' predict(mode, data.frame(wt = c(2, 4), hp = c(90, 200)))
#' predict(mode, data.frame(wt = c(2, 4), hp = c(90, 200)), type = "prob")
#' @export
npconmode <- function(bws, txdat, tydat, exdat = NULL, eydat = NULL, ..., data = NULL, newdata = NULL, threads = NULL,
                      verbose = NULL) {
  started <- proc.time()[["elapsed"]]
  call <- match.call()
  check_known("npconmode", Filter(nzchar, given_names(...)), c(names(formals(npconmode)), npcdensbw_arguments()))
  if (missing(bws)) {
    abort_input("`bws` must be a bandwidth object of npcdensbw(), a density of npcdens(), a formula or bandwidths.")
  }
  verbose <- asked_verbose(verbose)
  bws <- conditional_bandwidths("npconmode", bws, if (!missing(txdat)) txdat, if (!missing(tydat)) tydat, data, threads,
                                verbose, call, ...)
  if (bws$yndim != 1L || any(bws$iycon)) {
    abort_input("`bws` must be of one factor given others, not of ", and_list(paste0("`", bws$ynames, "`")), ".")
  }
  points <- mode_points(bws, newdata, exdat, eydat)
  made <- find_modes(bws, points, threads, verbose)
  structure(c(list(xbw = bws$xbw, ybw = bws$ybw, bws = bws, xnames = bws$xnames, ynames = bws$ynames,
                   xeval = points$x, yeval = if (is.null(points$y)) NA else
                     frame_of(list(points$y), bws$ynames)),
              made, classification(points$y, made$conmode),
              list(ntrain = bws$nobs, nobs = length(made$conmode), trainiseval = points$at_data,
                   rows.omit = bws$rows.omit, nobs.omit = bws$nobs.omit, call = call,
                   seconds = proc.time()[["elapsed"]] - started)),
            class = c("kestrel_conmode", "conmode"))
}

# The bandwidth object of a conditional density, as regression_bandwidths().
conditional_bandwidths <- function(called, bws, txdat, tydat, data, threads, verbose, call, ...) {
  if (inherits(bws, "formula")) {
    if (is.null(data)) data <- txdat
    bw <- npcdensbw.formula(bws, data, ..., threads = threads, verbose = verbose)
    return(replace(bw, "call", list(call)))
  }
  if (inherits(bws, "kestrel_condens")) bws <- check_object(bws, "bws", "kestrel_dens")$bws
  object <- inherits(bws, "kestrel_condensbw")
  if (object) check_object(bws, "bws", "kestrel_densbw")
  if (object && is.null(txdat) && is.null(tydat)) {
    check_arguments(called, given_names(...))
    return(bws)
  }
  if (is.null(txdat) || is.null(tydat)) abort_input("`txdat` and `tydat` must both be given, or none.")
  if (!object && !is_numbers(plain(bws))) {
    abort_input("`bws` must be a bandwidth object of npcdensbw(), a density of npcdens(), a formula or bandwidths, ",
                "not ", describe_value(bws), ".")
  }
  choices <- if (object) choices_of(bws, list(...)) else list(...)
  bw <- do.call(npcdensbw.default, c(list(named_column(txdat, "txdat"), named_column(tydat, "tydat"),
                                          if (object) c(bws$ybw, bws$xbw) else bws, FALSE, threads = threads,
                                          verbose = verbose), choices), quote = TRUE)
  replace(bw, "call", list(call))
}

# The points: `x`, a data frame, and `y`, the observed levels, NULL if they are not known.
mode_points <- function(bws, newdata, exdat, eydat) {
  if (is.null(newdata) && is.null(exdat)) {
    if (!is.null(eydat)) abort_input("`eydat` must not be given without `exdat`.")
    return(list(x = bws$x, y = bws$y[[1L]], at_data = TRUE))
  }
  if (!is.null(newdata) && (!is.null(exdat) || !is.null(eydat))) {
    abort_input("`newdata` must not be given together with `exdat` or `eydat`.")
  }
  side <- function(of, newdata, points, name) {
    terms <- if (!is.null(bws$formula)) {
      stats::terms(stats::as.formula(call("~", bws$formula[[if (of == "x") 3L else 2L]]),
                                     env = environment(bws$formula)))
    }
    one <- list(x = bws[[of]], xnames = bws[[paste0(of, "names")]], ndim = bws[[paste0(of, "ndim")]], terms = terms)
    mixed_evaluation_points(one, newdata, points, name)
  }
  x <- side("x", newdata, exdat, "exdat")
  known <- if (is.null(newdata)) {
    !is.null(eydat)
  } else {
    wanted <- if (is.null(bws$formula)) bws$ynames else variables_in(bws$formula[[2L]])
    is_frame(newdata) && all(wanted %in% names(newdata))
  }
  y <- if (known) unclass(side("y", newdata, eydat, "eydat"))[[1L]]
  if (known && length(y) != .row_names_info(x, 2L)) {
    abort_input("`eydat` must have one level for each point, ", .row_names_info(x, 2L), ", not ", length(y), ".")
  }
  list(x = x, y = y, at_data = FALSE)
}

# The probabilities of all levels, their greatest and its level.
find_modes <- function(bws, points, threads, verbose) {
  levels <- levels(bws$y[[1L]])
  m <- .row_names_info(points$x, 2L)
  of_level <- factor(rep(levels, each = m), levels, ordered = is.ordered(bws$y[[1L]]))
  all <- frame_of(c(list(of_level), lapply(unclass(points$x)[seq_len(bws$xndim)], rep, length(levels))),
                  c(bws$ynames, bws$xnames))
  at <- with_progress(verbose, "Conditional mode", function(progress) {
    density_values_at(density_core(bws), density_raw(bws), all, c(run_options(threads, "cpu"), progress = progress))
  })
  probabilities <- matrix(at$density, m, length(levels), dimnames = list(NULL, levels))
  best <- apply(probabilities, 1L, function(row) if (anyNA(row)) NA_integer_ else which.max(row))
  best <- as.integer(best)
  missing <- Reduce(`|`, lapply(unclass(points$x)[seq_len(bws$xndim)], is.na))
  lost <- sum(is.na(best) & !missing)
  if (lost > 0L) {
    warn_support(lost, " of ", m, " points ", if (lost == 1L) "has" else "have", " no observation that counts: ",
                 if (lost == 1L) "its" else "their", " mode is NA.")
  }
  chosen <- cbind(seq_len(m), best)
  list(conmode = factor(levels[best], levels, ordered = is.ordered(bws$y[[1L]])), condens = probabilities[chosen],
       conderr = matrix(at$se, m)[chosen], probabilities = probabilities)
}

classification <- function(observed, mode) {
  if (is.null(observed)) {
    return(list(confusion.matrix = NA, CCR.overall = NA, CCR.byoutcome = NA, fit.mcfadden = NA))
  }
  table <- table(Actual = observed, Predicted = mode)
  share <- table / sum(table)
  right <- diag(table) / rowSums(table)
  off <- share
  diag(off) <- 0
  whole <- function(value) if (is.nan(value)) NA_real_ else value
  list(confusion.matrix = table, CCR.overall = whole(sum(diag(table)) / sum(table)),
       CCR.byoutcome = replace(right, is.nan(right), NA), fit.mcfadden = whole(sum(diag(share)) - sum(off^2)))
}

#' @rdname npconmode
#' @param object,x a result of `npconmode()`.
#' @param type `"class"`, the modes, or `"prob"`, the probabilities of all levels.
#' @export
predict.kestrel_conmode <- function(object, newdata = NULL, exdat = NULL, type = c("class", "prob"), ...,
                                    verbose = NULL) {
  check_arguments("predict", given_names(...))
  check_object(object, "object", "kestrel_conmode")
  type <- check_choice(type, c("class", "prob"), "type")
  verbose <- asked_verbose(verbose)
  at_data <- is.null(newdata) && is.null(exdat)
  points <- mode_points(object$bws, newdata, exdat, NULL)
  stored <- at_data && object$trainiseval
  at <- if (stored) object else find_modes(object$bws, points, NULL, verbose)
  value <- if (type == "class") at$conmode else at$probabilities
  if (at_data) stats::napredict(object$bws$na.action, value) else value
}

#' @rdname npconmode
#' @export
fitted.kestrel_conmode <- function(object, ...) {
  check_object(object, "object", "kestrel_conmode")
  if (object$trainiseval) stats::napredict(object$bws$na.action, object$condens) else object$condens
}

conmode_lines <- function(mode) {
  bws <- mode$bws
  core <- density_core(bws)
  c("Conditional mode of a factor",
    call_lines(mode$call),
    label_line("n", density_size(bws)),
    label_line("mode", density_text(core)),
    label_line("kernel", mixed_kernel_text(core)),
    label_line("bandwidth", mixed_bandwidth_text(core)),
    if (!mode$trainiseval) label_line("evaluated at", format(mode$nobs, big.mark = ",")),
    if (!identical(mode$CCR.overall, NA)) {
      label_line("correct", paste0(format_short(mode$CCR.overall), " of all"))
    })
}

#' @rdname npconmode
#' @export
print.kestrel_conmode <- function(x, ...) {
  check_object(x, "x", "kestrel_conmode")
  cat(conmode_lines(x), sep = "\n")
  invisible(x)
}

#' @rdname npconmode
#' @export
summary.kestrel_conmode <- function(object, ...) {
  check_object(object, "object", "kestrel_conmode")
  structure(list(mode = object), class = "summary.kestrel_conmode")
}

#' @export
print.summary.kestrel_conmode <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_conmode")
  mode <- x$mode
  cat(conmode_lines(mode), sep = "\n")
  if (identical(mode$CCR.overall, NA)) return(invisible(x))
  print_classification(mode)
  invisible(x)
}

# The table of observed and predicted levels, and the shares that are right.
print_classification <- function(made) {
  cat(label_line("McFadden", format_short(made$fit.mcfadden)), "", "Observed levels (rows) and predicted ones:",
      sep = "\n")
  shown <- cbind(made$confusion.matrix, correct = format_short(made$CCR.byoutcome))
  print(noquote(shown), right = TRUE)
}
