# The tables of fields of bandwidths and fits of regressions: see object-fields.R.

# The bandwidth may have been edited. What follows from it is made anew where it is used: see with_bandwidth().
regbw_fields <- list(
  x = numbers(min = 2L),
  y = function(of) numbers(length(of[["x"]])),
  w = function(of) numbers(length(of[["x"]]), sign = "not negative"),
  nobs = function(of) {
    used <- sum(of[["w"]] > 0)
    numbers(1L, whole = TRUE, between = c(2, length(of[["y"]])), also = list(
      "the number of positive weights, which is also their sum",
      function(nobs) nobs == used && sums_to(of[["w"]], nobs)
    ))
  },
  regtype = texts(1L, among = c("lc", "ll")),
  method = texts(1L, among = c("cv.ls", "cv.aic")),
  ckertype = function(of) texts(1L, among = regression_kernels()),
  ckerorder = function(of) {
    numbers(1L, also = list(if (of[["ckertype"]] == "gaussian") "2, 4, 6 or 8" else "2",
                            function(order) order %in% if (of[["ckertype"]] == "gaussian") c(2, 4, 6, 8) else 2))
  },
  bw.scale = texts(1L, among = c("support", "np")),
  scaling = flag(),
  sdev = numbers(1L, sign = "positive"), nconfac = numbers(1L, sign = "positive"),
  unsupported = texts(1L, among = c("reject", "exclude")),
  search = texts(1L, among = c("none", "grid", "global")),
  remarks = texts(optional = TRUE),
  type = function(of) texts(1L, among = bandwidth_types),
  period = numbers(1L, sign = "positive", optional = TRUE),
  bw = function(of) {
    if (is_nearest(of)) return(numbers(1L, whole = TRUE, between = c(1, of[["nobs"]] - 1)))
    numbers(1L, sign = "positive", finite = FALSE, also = list("a positive number", function(bw) !is.na(bw)))
  },
  h = numbers(1L, sign = "positive"),
  fval = numbers(1L, finite = FALSE),
  grid = numbers(min = 1L, sign = "positive", increasing = TRUE, finite = FALSE),
  cv = function(of) numbers(length(of[["grid"]]), finite = FALSE),
  n.unsupported = function(of) numbers(length(of[["grid"]]), sign = "not negative", whole = TRUE),
  ties = numbers(sign = "positive", finite = FALSE),
  evaluations = numbers(1L, sign = "positive", whole = TRUE),
  xnames = texts(1L), ynames = texts(1L),
  dates = anything(list("a date", is_date), optional = TRUE),
  na.action = function(of) left_out_field(length(of[["x"]])),
  terms = anything(list("the terms of a formula", function(terms) is_terms(terms)), optional = TRUE),
  engine = texts(1L), backend = texts(1L), device = texts(1L, optional = TRUE), seconds = numbers(1L)
)

# A column of a data frame of regressors.
regressor_field <- function(column, n) {
  column <- numbers_of(column)
  if (!is.factor(column)) return(is_numbers(column) && length(column) == n && all_finite_cpp(as.numeric(column)))
  codes <- unclass(column)
  is.integer(codes) && length(codes) == n && !anyNA(codes) && is.character(levels(column)) &&
    all(codes >= 1L & codes <= length(levels(column)))
}

kinds_field <- function(kind, of_data = "x") {
  function(of) {
    columns <- unclass(of[[of_data]])
    anything(list(paste("TRUE where a regressor is", kind), function(value) {
      is.logical(value) && !is.object(value) && identical(as.vector(value), unname(kinds_of(columns) == kind))
    }))
  }
}

count_field <- function(of_kind) function(of) exactly(sum(of[[of_kind]]))

exactly <- function(count) numbers(1L, also = list(format(count), function(value) value == count))

mixed_bw_fields <- list(
  x = columns(list(), also = list("a data frame of finite numbers and factors", function(x) {
    length(x) > 0L && all(vapply(unclass(x), regressor_field, NA, n = .row_names_info(x, 2L)))
  })),
  y = function(of) numbers(.row_names_info(of[["x"]], 2L), min = 2L),
  w = function(of) numbers(length(of[["y"]]), sign = "not negative"),
  nobs = regbw_fields$nobs,
  icon = kinds_field("continuous"), iuno = kinds_field("unordered"), iord = kinds_field("ordered"),
  ncon = count_field("icon"), nuno = count_field("iuno"), nord = count_field("iord"),
  ndim = function(of) exactly(length(unclass(of[["x"]]))),
  regtype = regbw_fields$regtype, method = regbw_fields$method,
  ckertype = function(of) texts(1L, among = kernel_names()),
  ckerorder = numbers(1L, also = list("2, 4, 6 or 8", function(order) order %in% c(2, 4, 6, 8))),
  ukertype = texts(1L, among = c("aitchisonaitken", "liracine")),
  okertype = texts(1L, among = c("liracine", "wangvanryzin", "racineliyan")),
  scaling = flag(), unsupported = regbw_fields$unsupported, type = regbw_fields$type,
  sdev = function(of) numbers(of[["ncon"]], sign = "positive"),
  nconfac = numbers(1L, sign = "positive"), ncatfac = numbers(1L, sign = "positive"),
  search = texts(1L, among = c("none", "starts")),
  remarks = texts(optional = TRUE),
  bw = function(of) {
    largest <- rep(Inf, of[["ndim"]])
    largest[core_order(of)[seq_len(of[["ndim"]]) > of[["ncon"]]]] <- largest_lambda(of)
    scale <- if (of[["scaling"]]) mixed_scale(of) else 1
    whole <- function(k) !is_nearest(of) || all(k == round(k) & k < of[["nobs"]])
    numbers(of[["ndim"]], sign = "not negative", finite = FALSE, also = list(
      paste0(if (is_nearest(of)) "numbers of neighbours" else "positive for numbers",
             ", and for factors at most the largest lambda"),
      function(bw) {
        !anyNA(bw) && all(bw[of[["icon"]]] > 0) && whole(bw[of[["icon"]]]) && all(bw * scale <= largest * (1 + 1e-7))
      }
    ))
  },
  bandwidth = function(of) parts(list(x = numbers(of[["ndim"]], sign = "not negative", finite = FALSE))),
  fval = numbers(1L, finite = FALSE),
  n.unsupported = numbers(1L, sign = "not negative", whole = TRUE),
  n.ridged = numbers(1L, sign = "not negative", whole = TRUE),
  ifval = numbers(1L, sign = "positive", whole = TRUE),
  fval.history = numbers(optional = TRUE, finite = FALSE),
  evaluations = numbers(1L, sign = "positive", whole = TRUE),
  xnames = function(of) texts(of[["ndim"]]), ynames = texts(1L),
  na.action = function(of) left_out_field(length(of[["y"]])),
  terms = regbw_fields$terms,
  engine = texts(1L), backend = texts(1L), seconds = numbers(1L)
)

# The rows that were left out, besides the `n` that were kept: naresid() puts NA in their positions.
left_out_field <- function(n) {
  fit <- function(rows) {
    if (!inherits(rows, c("omit", "exclude"))) return(FALSE)
    rows <- without_class(rows)
    is_numbers(rows) && !anyNA(rows) && anyDuplicated(as.vector(rows)) == 0L && all(rows %in% seq_len(n + length(rows)))
  }
  anything(list("the rows that were left out, of class \"omit\" or \"exclude\"", fit), optional = TRUE)
}

is_terms <- function(terms, response = TRUE) {
  inherits(terms, "terms") && is.call(terms) && length(unclass(terms)) == 2L + response &&
    is.call(attr(terms, "variables")) && identical(as.integer(attr(terms, "response")), as.integer(response)) &&
    is.environment(attr(terms, ".Environment"))
}

# Values at points or observations, which may have no neighbour.
fitted_numbers <- function(size, ...) numbers(size, finite = FALSE, ...)

points_of_fit <- function(of) rows_of_column(unclass(of[["eval"]])[[1L]])

rows_of_fit <- function(of) length(of[["bws"]][["y"]])

at_points <- function(of) fitted_numbers(points_of_fit(of))

at_rows <- function(of) fitted_numbers(rows_of_fit(of))

fit_fields <- list(
  bws = of_class("kestrel_regbw"),
  at.data = flag(),
  eval = function(of) {
    columns(list(), also = list(
      paste0("a data frame with one column of numbers",
             if (of[["at.data"]]) ", one for each observation"),
      function(eval) {
        points <- unclass(eval)
        length(points) == 1L &&
          is.null(numbers_problem(numbers_of(points[[1L]]), fitted_numbers(if (of[["at.data"]]) rows_of_fit(of)), ""))
      }
    ))
  },
  mean = function(of) fitted_numbers(if (of[["at.data"]]) rows_of_fit(of) else points_of_fit(of)),
  merr = at_points, lower = at_points, upper = at_points,
  resid = at_rows, loo = at_rows,
  eydat = function(of) if (!is.null(of[["eydat"]])) at_points(of),
  error2 = function(of) fitted_numbers(of[["bws"]][["nobs"]], sign = "not negative"),
  level = numbers(1L, also = list("a number between 0 and 1", function(level) level > 0 && level < 1)),
  grad = function(of) if (!identical(of[["grad"]], NA)) fitted_numbers(c(points_of_fit(of), 1L)),
  gerr = function(of) if (!identical(of[["gerr"]], NA)) fitted_numbers(c(points_of_fit(of), 1L)),
  R2 = fitted_numbers(1L), MSE = numbers(1L, sign = "not negative", finite = FALSE), MAE = fitted_numbers(1L),
  MAPE = fitted_numbers(1L), CORR = fitted_numbers(1L), SIGN = fitted_numbers(1L), edf = fitted_numbers(1L),
  n.unsupported = numbers(1L, sign = "not negative", whole = TRUE),
  nobs = numbers(1L, sign = "positive", whole = TRUE),
  xnames = texts(1L), ynames = texts(1L), engine = texts(1L), backend = texts(1L),
  device = texts(1L, optional = TRUE), seconds = numbers(1L)
)

# The same with several regressors: points are rows, whose missing values have no fit.
mixed_fields <- utils::modifyList(fit_fields, list(
  error2 = function(of) fitted_numbers(rows_of_fit(of), sign = "not negative"),
  eval = function(of) {
    columns(list(), also = list(
      paste0("a data frame with the regressors", if (of[["at.data"]]) ", one row for each observation"),
      function(eval) {
        kinds <- function(x) unname(kinds_of(unclass(x)))
        identical(kinds(eval), kinds(of[["bws"]][["x"]])) &&
          (!of[["at.data"]] || .row_names_info(eval, 2L) == rows_of_fit(of))
      }
    ))
  },
  grad = function(of) if (!identical(of[["grad"]], NA)) fitted_numbers(c(points_of_fit(of), of[["bws"]][["ndim"]])),
  gerr = function(of) if (!identical(of[["gerr"]], NA)) fitted_numbers(c(points_of_fit(of), of[["bws"]][["ndim"]])),
  xnames = function(of) texts(of[["bws"]][["ndim"]])
))
