# Sums of products of kernels: np's npksum().

kernel_operators <- c("normal", "convolution", "derivative", "integral")

# np's arguments with the one value that is computed here.
ksum_fixed <- list(bwscaling = FALSE, compute.score = FALSE, bwtype = "fixed", ckerbound = "none")

#' Kernel sums of mixed data
#'
#' Computes sums of products of kernels with numbers, at points or at the data, for estimators and tests of one's own.
#' Columns may be numbers, factors and ordered factors. Names and conventions are those of package \pkg{np}.
#'
#' The sum at a point x is \deqn{\sum_j w_j y_j' K_j(x),}{sum_j w_j y_j' K_j(x),} where w_j and y_j are rows of
#' `weights` and `tydat`, which are 1 if they are not given, and K_j(x) is the product of the kernels of all columns.
#' The kernel of a column depends on its `operator`. With u = (x - x_j) / h these are for a number
#'
#' - `"normal"`: K(u), not divided by h;
#' - `"convolution"`: the integral of K(t) K(u - t) over t;
#' - `"derivative"`: K'(u) / h, the derivative of K(u) by x;
#' - `"integral"`: h times the integral of K up to u, so that sums divided by n h are distribution functions.
#'
#' For factors they are those of [npudensbw()] and [npudistbw()], where `okertype = "nliracine"` is what is called
#' `"liracine"` there. Here, as in \pkg{np}, `"liracine"` is lambda^d, without a factor that makes it a probability. Its
#' convolution is a sum over the levels, and its integral one over the lowest level, this plus 1, and so on up to x. The
#' integral for a factor without an order is the kernel itself.
#'
#' `permutation.operator` adds in `p.ksum` for each number the sum in which this operator takes the place of its own.
#' `compute.ocg` adds for each factor the sum with its levels in the points replaced: by the first level or, if the
#' factor has an order, by the level below, or by the second level where it is the lowest.
#'
#' The kernel weights `kw` are the products K_j(x) themselves, without the factors h and 1 / h of operators and without
#' the effect of `kernel.pow`, `bandwidth.divide` and `leave.one.out`, as in \pkg{np}.
#'
#' \pkg{np} 0.60 differs in these, as the script at the end of the examples shows:
#'
#' - its uniform kernel is convolved with itself to a constant, here to a triangle;
#' - its normal distribution function is accurate to 2e-9, and its Epanechnikov kernels of higher order to 1e-7;
#' - its integral of `"wangvanryzin"` above the observation is 1 - lambda^d, which is not the sum of the kernel;
#' - `weights` without `tydat` end in an error;
#' - `p.ksum` of `permutation.operator` lacks the kernels of factors;
#' - `compute.ocg` ends in an error. So does `compute.score`, or it has no result or ends the session; it is refused
#'   here.
#'
#' @param bws bandwidths, one for each column, or a bandwidth object of [npregbw()], [npudensbw()] or [npudistbw()],
#'   which decides on kernels. If `formula` is not given, it may be a formula.
#' @param formula `y ~ x + z`, or `~ x` for sums of kernels alone.
#' @param data,subset,na.action where the variables are, which rows to use, and what to do with missing values.
#' @param newdata,exdat points, a data frame of the variables, or a vector or matrix in their order; the data if not
#'   given.
#' @param txdat the data: a numeric vector, a factor, a numeric matrix, or a data frame of numbers and factors. By
#'   default those of a bandwidth object.
#' @param tydat a numeric vector or matrix with a row for each observation.
#' @param weights a numeric matrix with a row for each observation.
#' @param leave.one.out if TRUE, no observation counts at itself. Only at the data.
#' @param kernel.pow a whole number, at least 1, the power of the products of kernels.
#' @param bandwidth.divide if TRUE, kernels of numbers are divided by h.
#' @param operator `"normal"`, `"convolution"`, `"derivative"` or `"integral"`, one for all columns or one for each.
#'   Factors have no `"derivative"`.
#' @param permutation.operator `"none"`, `"normal"`, `"derivative"` or `"integral"`.
#' @param compute.ocg whether to add these sums.
#' @param return.kernel.weights whether to return `kw`.
#' @param ckertype,ckerorder,ukertype,okertype the kernels. `okertype` may be `"nliracine"`, too.
#' @param threads,verbose as in [npregbw()].
#' @param ... further arguments of the methods.
#' @return An object of class `c("kestrel_ksum", "npkernelsum")`, a list with
#'   \item{ksum}{the sums at m points. With q columns of weights and b of `tydat` an array of b, q and m; without a
#'     dimension that is 1; for q = 1 and b > 1 without weights a matrix of m and b}
#'   \item{kw}{NULL, or the kernel weights, a matrix with a row for each observation and a column for each point}
#'   \item{p.ksum}{NULL, or the sums that `permutation.operator` and `compute.ocg` add, an array of b, q,
#'     m and one for each column of these, without dimensions that are 1}
#'   \item{eval}{the points, a data frame}
#'   \item{bw, ckertype, ckerorder, ukertype, okertype}{as given}
#'   \item{nobs, ntrain}{the numbers of points and of observations}
#'   \item{trainiseval}{whether the points are the data}
#'   and `ndim`, `ncon`, `nuno`, `nord`, `xnames`, `operator`, `rows.omit`, `engine`, `backend`, `seconds`, `call`.
#' @section Units: Sums are in the units of `weights` and `tydat`, with those of the operators and of
#'   `bandwidth.divide`.
#' @section Errors: Errors of class `kestrel_error_input` are for data that are not numbers or factors, and for data
#'   that are infinite or of different lengths. They are also for bandwidths that are not positive, or above the largest
#'   lambda, for an operator that a factor does not have, and for sums beyond the range of numbers. `kernel.pow` must be
#'   a whole number from 1 to 100, and `leave.one.out` is only for the data.
#' @section Cost: O(n m (p + q b)) for n observations, m points and p columns, on all threads. `kw` takes 8 n m bytes.
#' @references Li, Q. & Racine, J.S. (2003) Nonparametric estimation of distributions with categorical and continuous
#'   data. *Journal of Multivariate Analysis* **86**, 266-292.
#'
#'   Li, Q. & Racine, J.S. (2007) *Nonparametric Econometrics*. Princeton University Press.
#' @seealso [npreg()], [npudens()], [npudist()].
#' @examples
#' # a density, and a local constant fit at three points
#' at <- 2:4
#' npksum(txdat = faithful$eruptions, exdat = at, bws = 0.3, bandwidth.divide = TRUE)$ksum / 272
#' npksum(waiting ~ eruptions, data = faithful, newdata = data.frame(eruptions = at), bws = 0.3)$ksum /
#'   npksum(~ eruptions, data = faithful, newdata = data.frame(eruptions = at), bws = 0.3)$ksum
#'
#' # leave-one-out sums of several columns of numbers
#' both <- cbind(faithful$waiting, 1)
#' sums <- npksum(txdat = faithful$eruptions, tydat = both, bws = 0.3, leave.one.out = TRUE)$ksum
#' mean((faithful$waiting - sums[, 1] / sums[, 2])^2)
#'
#' # what np 0.60 has in other ways
#' script <- function(npksum) {
#'   x <- data.frame(a = c(1, 2, 4), z = factor(c("u", "v", "v")))
#'   list(npksum(bws = 1, txdat = x$a, operator = "convolution", ckertype = "uniform")$ksum,
#'        npksum(bws = 0.3, txdat = ordered(1:3), operator = "integral", okertype = "wangvanryzin",
#'               return.kernel.weights = TRUE)$kw,
#'        npksum(bws = c(1, 0.2), txdat = x, permutation.operator = "derivative")$p.ksum)
#' }
#' script(npksum) # and script(np::npksum)
#' @export
npksum <- function(...) {
  UseMethod("npksum", dispatched_on(..., .called = "npksum", .known = npksum_arguments(),
                                    .classes = list(formula = "formula")))
}

npksum_arguments <- function() c(names(formals(npksum.formula)), names(formals(npksum.default)), names(ksum_fixed))

#' @rdname npksum
#' @export
npksum.formula <- function(formula, data = NULL, newdata = NULL, subset, na.action = getOption("na.action"), ...) {
  call <- called_as(quote(npksum), match.call())
  check_named("npksum", given_names(...), "na.action")
  response <- length(formula) == 3L
  both <- if (response) joint_formula(formula) else formula
  frame <- density_frame(both, data, match.call(expand.dots = FALSE), parent.frame())
  variables <- frame[regressors_of(attr(frame, "terms"))]
  first <- if (response) {
    seq_along(attr(stats::terms(stats::as.formula(call("~", formula[[2L]]))), "term.labels"))
  } else {
    integer(0)
  }
  if (length(first) == length(variables)) {
    abort_input("`formula` must have variables on the right, as in y ~ x, not ", deparse1(formula), ".")
  }
  x <- if (response) variables[-first] else variables
  terms <- if (response) stats::drop.terms(attr(frame, "terms"), first) else attr(frame, "terms")
  made <- npksum.default(txdat = x, tydat = if (response) variables[first],
                         exdat = points_of_formula(newdata, terms, x), ..., na.action = na.action)
  made$formula <- formula
  made$terms <- attr(frame, "terms")
  made$call <- call
  made
}

# The variables of a formula in new data.
points_of_formula <- function(newdata, terms, x) {
  if (is.null(newdata)) return(NULL)
  frame <- regressors_in(list(terms = terms, x = x), plain_points(newdata))
  frame[regressors_of(attr(frame, "terms"))]
}

#' @rdname npksum
#' @export
npksum.default <- function(bws, txdat = NULL, tydat = NULL, exdat = NULL, weights = NULL, leave.one.out = FALSE,
                           kernel.pow = 1, bandwidth.divide = FALSE, operator = "normal",
                           permutation.operator = c("none", "normal", "derivative", "integral"),
                           compute.ocg = FALSE, return.kernel.weights = FALSE, ...,
                           ckertype = "gaussian", ckerorder = 2,
                           ukertype = c("aitchisonaitken", "liracine"),
                           okertype = c("liracine", "wangvanryzin", "nliracine", "racineliyan"),
                           na.action = stats::na.omit, threads = NULL, verbose = NULL) {
  started <- proc.time()[["elapsed"]]
  if (!missing(bws) && inherits(bws, "formula")) {
    call <- match.call()
    return(eval(formula_call(call, "txdat", npksum.formula), parent.frame()))
  }
  check_named("npksum", given_names(...), "return.kernel.weights")
  check_fixed_arguments(ksum_fixed, ...)
  verbose <- asked_verbose(verbose)
  flags <- list(leave_one_out = check_flag(leave.one.out, "leave.one.out"),
                divide = check_flag(bandwidth.divide, "bandwidth.divide"),
                ocg = check_flag(compute.ocg, "compute.ocg"),
                keep = check_flag(return.kernel.weights, "return.kernel.weights"))
  if (missing(bws)) abort_input("`bws` must be given: one bandwidth for each column.")
  if (is_bandwidth_object(bws)) {
    kernels <- kernels_of_object(bws)
    if (is.null(txdat)) txdat <- kernels$x
    bws <- kernels$bw
  } else {
    kernels <- list(ckertype = check_choice(ckertype, kernel_names(), "ckertype"),
                    ukertype = check_choice(ukertype, c("aitchisonaitken", "liracine"), "ukertype"),
                    okertype = check_choice(okertype, c("liracine", "wangvanryzin", "nliracine", "racineliyan"),
                                            "okertype"))
    kernels$ckerorder <- check_order(ckerorder, kernels$ckertype)
  }
  if (is.null(txdat)) abort_input("`txdat` must be given where `bws` is not a bandwidth object.")
  core <- c(ksum_sample(named_column(txdat, "txdat"), tydat, weights, na.action),
            kernels[c("ckertype", "ckerorder", "ukertype", "okertype")])
  core$raw <- check_mixed_bandwidths(bws, core)
  core$operator <- check_operators(operator, core)
  asked <- c(flags, list(power = check_power(kernel.pow),
                         permutation = check_choice(permutation.operator, c("none", "normal", "derivative", "integral"),
                                                    "permutation.operator")))
  if (asked$leave_one_out && !is.null(exdat)) {
    abort_input("`leave.one.out` must be FALSE where `exdat` or `newdata` is given, not TRUE.")
  }
  points <- if (!is.null(exdat)) mixed_evaluation_points(core, NULL, exdat)
  at <- with_progress(verbose, "Kernel sums", function(progress) {
    kernel_sums(core, points, asked, c(run_options(threads, "cpu"), progress = progress))
  })
  eval <- if (is.null(points)) core$x else frame_of(unclass(points)[seq_len(core$ndim)], core$xnames)
  made <- c(list(bw = core$raw, eval = eval), at,
            core[c("ckertype", "ckerorder", "ukertype", "okertype", "operator", "xnames", "ndim", "ncon", "nuno",
                   "nord")],
            list(nobs = .row_names_info(eval, 2L), ntrain = core$nobs, trainiseval = is.null(points),
                 na.action = core$na.action, rows.omit = as.vector(core$na.action), engine = "direct", backend = "cpu",
                 call = called_as(quote(npksum), match.call()), seconds = proc.time()[["elapsed"]] - started))
  structure(made, class = c("kestrel_ksum", "npkernelsum"))
}

is_bandwidth_object <- function(bws) inherits(bws, c("kestrel_regbw", "kestrel_densbw"))

# Bandwidths, kernels and data of an object.
kernels_of_object <- function(bws) {
  regression <- inherits(bws, "kestrel_regbw")
  check_object(bws, "bws", if (regression) "kestrel_regbw" else "kestrel_densbw")
  if (inherits(bws, "kestrel_condensbw") || bws$type != "fixed" || identical(bws$bw.scale, "support")) {
    abort_input("`bws` must be bandwidths or a bandwidth object with fixed bandwidths on np's scale, not one of a ",
                "conditional estimate or of neighbours.")
  }
  check_no_period(bws, "bws")
  raw <- if (regression) bws$bandwidth$x else density_raw(bws)
  okertype <- if (is.null(bws$okertype)) "liracine" else bws$okertype
  list(bw = raw, x = in_dates(bws$x, bws$dates), ckertype = bws$ckertype, ckerorder = bws$ckerorder,
       ukertype = if (is.null(bws$ukertype)) "aitchisonaitken" else bws$ukertype,
       # Those of densities are probabilities.
       okertype = if (!regression && okertype == "liracine") "nliracine" else okertype)
}

# The sample, with `products`, those of a column of `weights` and one of `tydat` each.
ksum_sample <- function(txdat, tydat, weights, na.action) {
  columns <- density_columns(txdat, "txdat")
  n <- length(columns[[1L]])
  y <- number_columns(tydat, "tydat", n)
  w <- number_columns(weights, "weights", n)
  gone <- Reduce(`|`, lapply(columns, is.na)) | rowSums(is.na(y)) > 0 | rowSums(is.na(w)) > 0
  omitted <- omitted_rows(gone, na.action)
  if (length(omitted) > 0L) {
    columns <- lapply(columns, function(column) column[!gone])
    y <- y[!gone, , drop = FALSE]
    w <- w[!gone, , drop = FALSE]
    n <- sum(!gone)
  }
  for (name in names(columns)) check_regressor(columns[[name]], name)
  kinds <- unname(kinds_of(columns))
  b <- max(1L, ncol(y))
  q <- max(1L, ncol(w))
  of <- function(matrix, k) if (ncol(matrix) == 0L) rep(1, n) else matrix[, k]
  products <- if (ncol(y) + ncol(w) > 0L) {
    vapply(seq_len(b * q), function(k) of(y, (k - 1L) %% b + 1L) * of(w, (k - 1L) %/% b + 1L), numeric(n))
  }
  list(x = structure(columns, class = "data.frame", row.names = .set_row_names(n)), nobs = n, ndim = length(columns),
       ncon = sum(kinds == "continuous"), nuno = sum(kinds == "unordered"), nord = sum(kinds == "ordered"),
       icon = kinds == "continuous", iuno = kinds == "unordered", iord = kinds == "ordered", xnames = names(columns),
       given = logical(length(columns)),
       na.action = omitted, products = matrix(as.numeric(products), n), b = b, q = q,
       weighted = ncol(w) > 0L)
}

# A matrix of numbers with a row for each observation, without columns if none are given.
number_columns <- function(given, name, n) {
  if (is.null(given)) return(matrix(0, n, 0L))
  value <- plain_points(given)
  if (is_frame(value)) {
    value <- do.call(cbind, lapply(mixed_columns(value, name), function(column) {
      if (is.factor(column)) abort_input("`", name, "` must be numbers, not a factor.")
      numbers_of(column)
    }))
  }
  if (!is_numbers(value) || length(dim(value)) > 2L) {
    abort_input("`", name, "` must be a numeric vector or matrix, not ", describe_value(value), ".")
  }
  if (NROW(value) != n) {
    abort_input("`", name, "` must have a row for each of the ", n, " observations, not ", NROW(value), ".")
  }
  value <- if (is.matrix(value)) unname(value) else matrix(as.numeric(value), ncol = 1L)
  if (any(is.infinite(value))) abort_input("`", name, "` must be finite, but some values are not.")
  storage.mode(value) <- "double"
  value
}

check_power <- function(power) {
  checked <- check_count(power, "kernel.pow")
  if (checked > 100L) abort_input("`kernel.pow` must be at most 100, not ", describe_value(power), ".")
  checked
}

check_operators <- function(operator, core) {
  operator <- plain(operator)
  if (!is.character(operator) || !length(operator) %in% c(1L, core$ndim) || !all(operator %in% kernel_operators)) {
    abort_input("`operator` must be ", quoted(kernel_operators, "\""), ", one for all or one for each of the ",
                core$ndim, " columns, not ", describe_value(operator), ".")
  }
  operator <- rep_len(as.vector(operator), core$ndim)
  if (any(operator == "derivative" & !core$icon)) {
    abort_input("`operator` must not be \"derivative\" for a factor, `", core$xnames[!core$icon][1L], "`.")
  }
  operator
}

# `ksum`, `kw` and `p.ksum` in np's shapes.
kernel_sums <- function(core, points, asked, run) {
  columns <- if (is.null(points)) unclass(core$x) else unclass(points)[seq_len(core$ndim)]
  known <- !Reduce(`|`, lapply(columns, is.na))
  inside <- lapply(columns, function(column) column[known])
  sample <- ksum_cpp_sample(core, run)
  at <- function(operator, keep = FALSE, columns = inside) {
    own <- is.null(points) && identical(columns, inside)
    found <- mixed_sums_cpp(sample, ksum_task(core, operator, asked, keep), if (!own) coded_points(columns, core), run)
    if (all_finite_cpp(found$sums) && (!keep || all_finite_cpp(found$weights))) return(found)
    abort_input("`bws`, `tydat` and `weights` must be in units in which the sums are within the range of numbers: ",
                "rescale them.")
  }
  m <- length(known)
  placed <- function(value) {
    whole <- matrix(NA_real_, nrow(value), m)
    whole[, known] <- value
    whole
  }
  found <- at(core$operator, asked$keep)
  more <- permuted_sums(core, asked, inside, at)
  list(ksum = shaped_sums(placed(found$sums), core), kw = if (asked$keep) placed(found$weights),
       p.ksum = if (length(more) > 0L) shaped_permutations(lapply(more, placed), core))
}

# np's shapes: an array of the columns of `tydat`, those of `weights` and the points, without those that are 1. Without
# weights points come first.
shaped_sums <- function(sums, core) {
  m <- ncol(sums)
  if (core$b == 1L && core$q == 1L) return(array(sums, m))
  if (core$b > 1L && core$q > 1L) return(array(sums, c(core$b, core$q, m)))
  if (core$b > 1L && !core$weighted) t(sums) else sums
}

shaped_permutations <- function(sums, core) {
  of_one <- c(if (core$b > 1L) core$b, if (core$q > 1L) core$q, ncol(sums[[1L]]))
  array(unlist(sums), c(of_one, if (length(sums) > 1L) length(sums)))
}

# The sums of `permutation.operator` and of `compute.ocg`.
permuted_sums <- function(core, asked, inside, at) {
  numbers <- which(core$icon)
  changed <- if (asked$permutation != "none") {
    lapply(numbers, function(k) at(replace(core$operator, k, asked$permutation))$sums)
  }
  reference <- if (asked$ocg) {
    lapply(which(!core$icon), function(k) {
      levels <- levels(core$x[[k]])
      code <- match(as.character(inside[[k]]), levels)
      other <- if (core$iord[k]) ifelse(code == 1L, min(2L, length(levels)), code - 1L) else rep(1L, length(code))
      inside[[k]] <- factor(levels[other], levels)
      at(core$operator, columns = inside)$sums
    })
  }
  c(changed, reference)
}

ksum_cpp_sample <- function(core, run) {
  factors <- c(which(core$iuno), which(core$iord))
  levels <- unname(vapply(unclass(core$x)[factors], nlevels, 0L))
  mixed_cpp(c(coded_points(unclass(core$x), core), list(levels = levels, y = numeric(0))), run)
}

# All factors by the codes of their levels: their kernels are tables.
coded_points <- function(columns, core) {
  points <- mixed_points(columns, core)
  rows <- length(columns[[1L]])
  codes <- lapply(which(core$iord), function(k) match(as.character(columns[[k]]), levels(core$x[[k]])))
  points$unordered <- cbind(points$unordered, matrix(as.integer(unlist(codes)), rows, core$nord))
  points$ordered <- matrix(0, rows, 0L)
  points
}

ksum_task <- function(core, operator, asked, keep) {
  factors <- c(which(core$iuno), which(core$iord))
  h <- core$raw[core$icon]
  list(h = h, lambda = numeric(0), ckertype = core$ckertype, ckerorder = as.integer(core$ckerorder),
       ukertype = core$ukertype, okertype = "liracine", operator = operator[core$icon],
       tables = lapply(factors, function(k) kernel_table(core, k, operator[k])),
       divide = if (asked$divide) 1 / prod(h) else 1, power = as.integer(asked$power),
       leave_one_out = asked$leave_one_out, terms = core$products, keep = keep)
}

# The kernel of a factor from each level of the data (rows) to each level of a point.
kernel_table <- function(core, k, operator) {
  levels <- levels(core$x[[k]])
  lambda <- core$raw[k]
  if (core$iuno[k]) {
    form <- if (operator == "integral") "normal" else operator
    return(mixed_table_cpp(as.numeric(seq_along(levels)), lambda, core$ukertype, FALSE, form))
  }
  positions <- as.numeric(level_positions(levels, core$okertype))
  if (core$okertype != "liracine") return(mixed_table_cpp(positions, lambda, core$okertype, TRUE, operator))
  weights <- function(at) lambda^abs(outer(positions, at, `-`))
  if (operator == "normal") return(weights(positions))
  if (operator == "convolution") return(weights(positions) %*% t(weights(positions)))
  vapply(positions, function(to) rowSums(weights(seq(min(positions), to))), numeric(length(positions)))
}
