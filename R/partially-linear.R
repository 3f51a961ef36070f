# Bandwidths of partially linear regressions (Robinson 1988).

#' Bandwidths of a partially linear regression
#'
#' Selects the bandwidths of the model y = x b + g(z) + error of [npplreg()]: those of the kernel regressions of y and
#' of each linear regressor on z. Names, arguments and fields are those of package \pkg{np}.
#'
#' Each of these regressions has bandwidths of its own, as [npregbw()] selects them. Linear regressors are numbers.
#' Logical values and factors with two levels are 0 and 1, and ordered factors the positions of their levels. A factor
#' with more levels has an indicator for each level but the first, like the treatment contrasts of [stats::lm()]:
#' \pkg{np} takes the positions of its levels. Levels without observations are dropped.
#'
#' @param xdat the linear regressors: a numeric vector, a factor, a matrix or a data frame. It may be the formula.
#' @param ydat the response.
#' @param zdat the regressors of the kernel regressions, as `xdat` of [npregbw()].
#' @param bws a matrix with a row of bandwidths for each of these regressions, that of y first, and a column for each
#'   variable of `zdat`, which are the starts of the searches or, for `bandwidth.compute = FALSE`, the bandwidths. A
#'   bandwidth object decides on kernels and criterion.
#' @param bandwidth.compute FALSE to take `bws` as they are.
#' @param formula `y ~ x1 + x2 | z1 + z2`: the linear regressors stand before the bar.
#' @param data,subset,na.action where the variables are, which rows to use, and what to do with missing values, as in
#'   [npregbw()].
#' @param threads,verbose as in [npregbw()].
#' @param ... arguments of [npregbw()]: `regtype`, `bwmethod`, `ckertype` and others, for all regressions.
#' @return An object of class `c("kestrel_plbw", "plbandwidth")`, a list with
#'   \item{bw}{a list of the bandwidth objects of the regressions, that of y first, under the name `yzbw`, and then
#'     those of the columns of x. Their fields `bw` may be edited}
#'   \item{fval}{the objectives of the regressions}
#'   \item{bandwidth, sfactor}{lists of the bandwidths of each, without and with the scaling of `bwscaling`}
#'   \item{x, design}{the linear regressors, a data frame, and the matrix made of them}
#'   and `xnames`, `ynames`, `znames`, `xndim`, `zndim`, `nobs`, `regtype`, `method`, `ckertype`, `ckerorder`,
#'   `ukertype`, `okertype`, `scaling`, `type`, `formula`, `terms`, `rows.omit`, `nobs.omit`, `call`, `seconds`.
#' @section Units: Bandwidths of numbers are in the units of their columns.
#' @section Errors: The errors of [npregbw()] can occur here, too, and errors of class `kestrel_error_input` for data of
#'   different lengths, a formula without a bar, and bandwidths of another number of rows or columns.
#' @section Cost: That of [npregbw()] for each of the regressions.
#' @references Robinson, P.M. (1988) Root-n-consistent semiparametric regression. *Econometrica* **56**, 931-954.
#'
#'   Li, Q. & Racine, J.S. (2007) *Nonparametric Econometrics*. Princeton University Press, ch. 7.
#' @seealso [npplreg()]
#' @examples
#' bw <- npplregbw(mpg ~ hp + qsec | wt, data = mtcars)
#' bw
#' summary(bw)
#' @export
npplregbw <- function(xdat, ydat, zdat, bws = NULL, bandwidth.compute = TRUE, ..., formula = NULL, data = NULL, subset,
                      na.action = NULL, threads = NULL, verbose = NULL) {
  started <- proc.time()[["elapsed"]]
  call <- match.call()
  check_known("npplregbw", Filter(nzchar, given_names(...)),
              c(names(formals(npplregbw)), setdiff(npregbw_arguments(), "w")))
  check_named("npplregbw", given_names(...), "bandwidth.compute")
  compute <- check_flag(bandwidth.compute, "bandwidth.compute")
  verbose <- asked_verbose(verbose)
  if (is.null(formula) && !missing(xdat) && inherits(xdat, "formula")) {
    formula <- xdat
    names(call)[names(call) == "xdat"] <- "formula"
    if (is.null(data) && !missing(ydat)) data <- ydat
  }
  if (!is.null(formula)) {
    read <- read_two_parts(formula, data, call, parent.frame())
    if (is.null(na.action)) na.action <- getOption("na.action")
  } else {
    if (missing(xdat) || missing(ydat) || missing(zdat)) {
      abort_input("`xdat`, `ydat` and `zdat` must be given where there is no formula.")
    }
    read <- list(x = named_column(xdat, "xdat"), y = named_column(ydat, "ydat"), z = named_column(zdat, "zdat"))
    if (is.null(na.action)) na.action <- stats::na.omit
  }
  choices <- list(...)
  if (inherits(bws, "kestrel_plbw")) {
    check_object(bws, "bws", "kestrel_plbw")
    choices <- c(choices_of(bws$bw[[1L]], choices[names(choices) %in% chosen_by(bws$bw[[1L]])]),
                 choices[!names(choices) %in% chosen_by(bws$bw[[1L]])])
    bws <- do.call(rbind, lapply(bws$bw, `[[`, "bw"))
  }
  sample <- two_part_sample(read$x, read$y, read$z, na.action)
  design <- linear_design(sample$x)
  columns <- c(list(sample$y), lapply(seq_len(ncol(design$matrix)), function(k) design$matrix[, k]))
  names(columns) <- c(sample$ynames, colnames(design$matrix))
  bws <- check_rows_of_bandwidths(bws, length(columns), length(sample$z), compute)
  found <- lapply(seq_along(columns), function(k) {
    do.call(npregbw.default, c(list(sample$z, named_column(columns[[k]], names(columns)[k]), bws[k, ], compute,
                                    na.action = stats::na.fail, threads = threads, verbose = verbose), choices),
            quote = TRUE)
  })
  names(found) <- c("yzbw", names(columns)[-1L])
  first <- found[[1L]]
  same <- intersect(c("regtype", "method", "ckertype", "ckerorder", "ukertype", "okertype", "scaling", "type"),
                    names(first))
  made <- c(list(bw = found, fval = vapply(found, `[[`, 0, "fval"),
                 bandwidth = lapply(found, function(one) one$bandwidth$x),
                 sfactor = lapply(found, function(one) one$sfactor$x), x = sample$x, design = design$matrix),
            unclass(first)[same],
            list(xnames = names(sample$x), ynames = sample$ynames, znames = first$xnames, xndim = length(sample$x),
                 zndim = first$ndim, nobs = length(sample$y), na.action = sample$na.action,
                 rows.omit = as.vector(sample$na.action), nobs.omit = length(sample$na.action), formula = formula,
                 terms = read$terms, call = call, seconds = proc.time()[["elapsed"]] - started))
  structure(Filter(Negate(is.null), made), class = c("kestrel_plbw", "plbandwidth"))
}

# The variables of a formula y ~ x | z, and the terms of y ~ x + z, x and z. `shared`: x and z may have some in common.
read_two_parts <- function(formula, data, call, env, shared = FALSE) {
  right <- if (length(formula) == 3L) formula[[3L]]
  has_bar <- function(side) is.call(side) && identical(side[[1L]], as.name("|"))
  if (!has_bar(right) || has_bar(right[[2L]])) {
    abort_input("`formula` must have two parts, as in y ~ x | z, not ", deparse1(formula), ".")
  }
  both <- stats::as.formula(call("~", formula[[2L]], call("+", right[[2L]], right[[3L]])), env = environment(formula))
  data <- if (is_frame(data)) structure(data, class = "data.frame") else without_class(data)
  check_formula(both, data)
  part <- function(side) {
    stats::terms(stats::as.formula(call("~", side), env = environment(formula)), data = if (is_frame(data)) data)
  }
  terms <- try_formula(list(x = part(right[[2L]]), z = part(right[[3L]])))
  wanted <- call[c(1L, match("subset", names(call), nomatch = 0L))]
  wanted[[1L]] <- quote(stats::model.frame)
  wanted$formula <- both
  if (!is.null(data)) wanted$data <- data
  wanted$na.action <- quote(stats::na.pass)
  frame <- try_formula(eval(wanted, env))
  names <- lapply(terms, function(one) rownames(attr(one, "factors")))
  if (any(lengths(names) == 0L) || !shared && length(intersect(names$x, names$z)) > 0L) {
    abort_input("`formula` must have ", if (!shared) "different ", "variables on both sides of the bar, as in ",
                "y ~ x | z, not ", deparse1(formula), ".")
  }
  list(x = frame[names$x], y = frame[1L], z = frame[names$z],
       terms = c(list(y = attr(frame, "terms")), terms))
}

# The sample: columns of x and z and the response y, without the rows that na.action leaves out.
two_part_sample <- function(x, y, z, na.action) {
  x <- some_columns(x, "xdat")
  z <- some_columns(z, "zdat")
  y <- as_variable(y, "ydat")
  n <- length(y$value)
  if (length(x[[1L]]) != n || length(z[[1L]]) != n) {
    abort_input("`xdat`, `ydat` and `zdat` must have the same number of rows, not ", length(x[[1L]]), ", ", n, " and ",
                length(z[[1L]]), ".")
  }
  gone <- Reduce(`|`, lapply(c(x, z), is.na), is.na(y$value))
  omitted <- omitted_rows(gone, na.action)
  kept <- function(column) if (length(omitted) > 0L) column[!gone] else column
  x <- lapply(x, kept)
  for (name in names(x)) check_regressor(x[[name]], name)
  x <- lapply(x, function(column) if (is.factor(column)) droplevels(column) else column)
  frame <- function(columns, names) {
    structure(stats::setNames(columns, names), class = "data.frame", row.names = .set_row_names(length(columns[[1L]])))
  }
  list(x = frame(x, plain_data_name(names(x), "x")), y = kept(y$value),
       z = frame(lapply(z, kept), plain_data_name(names(z), "z")), ynames = plain_name(y$name), na.action = omitted)
}

# At least one column of one length.
some_columns <- function(value, name) {
  columns <- mixed_columns(value, name)
  if (length(columns) == 0L) abort_input("`", name, "` must have at least one column, not 0.")
  if (any(lengths(columns) != length(columns[[1L]]))) abort_input("`", name, "` must have columns of one length.")
  columns
}

plain_data_name <- function(names, short) {
  ifelse(names %in% c("xdat", "zdat", "txdat", "tzdat"), short, names)
}

# The matrix of the linear regressors, without a constant, and which variable each of its columns is of.
linear_design <- function(x) {
  columns <- lapply(unclass(x), function(column) {
    if (!is.factor(column)) return(cbind(numbers_of(column)))
    if (is.ordered(column) || nlevels(column) <= 2L) return(cbind(as.integer(column) - 1))
    made <- outer(as.integer(column), seq_len(nlevels(column))[-1L], `==`) + 0
    made[is.na(column), ] <- NA
    structure(made, dimnames = list(NULL, levels(column)[-1L]))
  })
  widths <- vapply(columns, ncol, 0L)
  matrix <- do.call(cbind, unname(columns))
  colnames(matrix) <- unlist(lapply(seq_along(columns), function(k) {
    paste0(names(x)[k], if (widths[k] > 1L) colnames(columns[[k]]))
  }))
  list(matrix = matrix, of = rep(seq_along(columns), widths))
}

# Columns, each of which varies, must not determine each other.
check_determined <- function(design) {
  unit <- apply(design, 2L, function(column) (column - min(column)) / (max(column) - min(column)))
  known_as("xdat", check_spread(unit, colnames(design), stats::cov(unit)))
}

# A matrix with a row of bandwidths for each of `rows` regressions, or NULL.
check_rows_of_bandwidths <- function(bws, rows, columns, compute) {
  if (is.null(bws)) {
    if (!compute) abort_input("`bws` must be given for bandwidth.compute = FALSE.")
    return(NULL)
  }
  bws <- plain(bws)
  if (is_numbers(bws) && length(dim(bws)) < 2L && length(bws) == rows && columns == 1L) bws <- matrix(bws)
  if (is_frame(bws) && length(not_numbers(bws)) == 0L) bws <- as.matrix(bws)
  if (!is_numbers(bws) || !identical(dim(bws), c(rows, columns))) {
    abort_input("`bws` must be a ", rows, " x ", columns, " matrix, with a row for the response and each linear ",
                "regressor, not ", describe_value(bws), ".")
  }
  bws
}

# ---- print and summary --------------------------------------------------------------------------------------------

plbw_text <- function(bws) {
  paste0(bws$ynames, " on ", and_list(bws$xnames), " (linear) and ", and_list(bws$znames), " (",
         if (bws$regtype == "lc") "local constant" else "local linear", ")")
}

plbw_lines <- function(bws) {
  c("Bandwidths of a partially linear regression",
    call_lines(bws$call),
    label_line("n", plbw_size(bws)),
    label_line("regression", plbw_text(bws)),
    label_line("kernel", kernel_text(bws$bw[[1L]])),
    label_line("criterion", if (bws$bw[[1L]]$search == "none") "none: bandwidths as given" else bws$method))
}

plbw_size <- function(bws) {
  paste0(format(bws$nobs, big.mark = ","),
         if (!is.null(bws$na.action)) paste0(" (", length(bws$na.action), " left out: missing values)"))
}

# The bandwidths, with a row for each regression.
plbw_table <- function(bws) {
  table <- do.call(rbind, lapply(bws$bw, function(one) one$bw))
  dimnames(table) <- list(paste(vapply(bws$bw, `[[`, "", "ynames"), "on"), bws$znames)
  table
}

#' @rdname npplregbw
#' @param x,object a result of `npplregbw()`.
#' @export
print.kestrel_plbw <- function(x, ...) {
  check_object(x, "x", "kestrel_plbw")
  cat(plbw_lines(x), "", "Bandwidths:", sep = "\n")
  print(noquote(apply(plbw_table(x), c(1L, 2L), format_short)), right = TRUE)
  invisible(x)
}

#' @rdname npplregbw
#' @export
summary.kestrel_plbw <- function(object, ...) {
  check_object(object, "object", "kestrel_plbw")
  structure(list(bws = object), class = "summary.kestrel_plbw")
}

#' @export
print.summary.kestrel_plbw <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_plbw")
  bws <- x$bws
  print(bws)
  for (one in bws$bw) {
    cat("", paste0(one$ynames, ":"), label_line(one$method, format(one$fval, digits = 7)),
        unlist(lapply(one$remarks, label_line, label = "remark")), sep = "\n")
  }
  invisible(x)
}
