# The fields of densities of mixed data. What takes those of regressions is a function, since this file is read first.

densbw_fields <- function(methods = density_methods) {
  c(
    mixed_bw_fields[c("x")],
    list(nobs = function(of) numbers(1L, between = rep(.row_names_info(of[["x"]], 2L), 2L))),
    mixed_bw_fields[c("icon", "iuno", "iord", "ncon", "nuno", "nord", "ndim")],
    list(method = function(of) texts(1L, among = methods), pmethod = texts(1L)),
    mixed_bw_fields[c("ckertype", "ckerorder", "ukertype", "okertype", "scaling", "sdev", "nconfac", "ncatfac",
                      "search", "remarks", "bw")],
    list(fval = anything(list("a number", function(fval) is.numeric(fval) && length(fval) == 1L))),
    mixed_bw_fields[c("ifval", "fval.history", "evaluations", "xnames")],
    list(na.action = function(of) left_out_field(.row_names_info(of[["x"]], 2L))),
    list(terms = anything(list("the terms of a formula without a response", function(terms) is_terms(terms, FALSE)),
                          optional = TRUE)),
    mixed_bw_fields[c("engine", "backend", "seconds")], list(device = texts(1L, optional = TRUE))
  )
}

# The sides of a conditional density: `x` and `y`.
side_fields <- function(side) {
  kinds <- c(con = "continuous", uno = "unordered", ord = "ordered")
  flags <- lapply(stats::setNames(kinds, paste0("i", side, names(kinds))), kinds_field, of_data = side)
  counts <- lapply(stats::setNames(nm = names(kinds)), function(kind) count_field(paste0("i", side, kind)))
  names(counts) <- paste0(side, "n", names(kinds))
  frame <- columns(list(), also = list("a data frame of finite numbers and factors", function(x) {
    length(x) > 0L && all(vapply(unclass(x), regressor_field, NA, n = .row_names_info(x, 2L)))
  }))
  width <- function(of) length(unclass(of[[side]]))
  kernels <- mixed_bw_fields[c("ckertype", "ckerorder", "ukertype", "okertype")]
  names(kernels) <- paste0(c("c", "c", "u", "o"), side, c("kertype", "kerorder", "kertype", "kertype"))
  c(stats::setNames(list(frame), side), flags, counts,
    stats::setNames(list(function(of) numbers(1L, between = rep(width(of), 2L)),
                         function(of) texts(width(of))), paste0(side, c("ndim", "names"))), kernels)
}

# The bandwidths of a side.
side_bandwidths <- function(side) {
  function(of) {
    field <- function(...) of[[paste0(...)]]
    core <- list(x = field(side), icon = field("i", side, "con"), iuno = field("i", side, "uno"),
                 iord = field("i", side, "ord"), ncon = field(side, "ncon"), nuno = field(side, "nuno"),
                 nord = field(side, "nord"), ndim = field(side, "ndim"), ukertype = field("u", side, "kertype"))
    largest <- rep(Inf, core$ndim)
    largest[core_order(core)[seq_len(core$ndim) > core$ncon]] <- largest_lambda(core)
    scale <- if (of[["scaling"]]) ifelse(core$icon, 1, of[["ncatfac"]]) else 1
    numbers(core$ndim, sign = "not negative", finite = FALSE, also = list(
      "positive for numbers, and for factors at most the largest lambda",
      function(bw) !anyNA(bw) && all(bw[core$icon] > 0) && all(bw * scale <= largest * (1 + 1e-7))
    ))
  }
}

condensbw_fields <- function(methods = density_methods) {
  c(
    side_fields("y"), side_fields("x"),
    list(nobs = function(of) {
           numbers(1L, between = rep(.row_names_info(of[["x"]], 2L), 2L), also = list(
             "the number of rows of its fields `x` and `y`", function(nobs) nobs == .row_names_info(of[["y"]], 2L)
           ))
         },
         ndim = function(of) numbers(1L, between = rep(of[["xndim"]] + of[["yndim"]], 2L)),
         ncon = function(of) numbers(1L, between = rep(of[["xncon"]] + of[["yncon"]], 2L)),
         sdev = function(of) numbers(of[["ncon"]], sign = "positive")),
    densbw_fields(methods)[c("method", "pmethod", "scaling", "nconfac", "ncatfac", "search", "remarks", "fval", "ifval",
                    "fval.history", "evaluations", "na.action", "terms", "engine", "backend", "seconds", "device")],
    list(ybw = side_bandwidths("y"), xbw = side_bandwidths("x"))
  )
}

condens_fields <- list(
  bws = of_class("kestrel_densbw"),
  trainiseval = flag(),
  xeval = function(of) points_like(of, "x"),
  yeval = function(of) points_like(of, "y"),
  condens = function(of) fitted_numbers(.row_names_info(of[["xeval"]], 2L)),
  conderr = function(of) fitted_numbers(.row_names_info(of[["xeval"]], 2L)),
  congrad = function(of) gradient_field(of, "congrad"), congerr = function(of) gradient_field(of, "congerr"),
  log_likelihood = numbers(1L, finite = FALSE),
  nobs = function(of) {
    numbers(1L, between = rep(.row_names_info(of[["xeval"]], 2L), 2L), also = list(
      "the number of rows of its fields `xeval` and `yeval`", function(nobs) nobs == .row_names_info(of[["yeval"]], 2L)
    ))
  },
  xnames = function(of) texts(of[["bws"]][["xndim"]]), ynames = function(of) texts(of[["bws"]][["yndim"]]),
  engine = texts(1L), backend = texts(1L), seconds = numbers(1L)
)

# Those of distribution functions, which have no likelihood.
condist_fields <- condens_fields[names(condens_fields) != "log_likelihood"]
names(condist_fields)[names(condist_fields) == "condens"] <- "condist"
condist_fields$bws <- of_class("kestrel_condistbw")

gradient_field <- function(of, name) {
  if (!identical(of[[name]], NA)) fitted_numbers(c(.row_names_info(of[["xeval"]], 2L), of[["bws"]][["xndim"]]))
}

# Points with the columns of the data of a side.
points_like <- function(of, side) {
  columns(list(), also = list(paste0("a data frame with the columns of `", side, "`"), function(eval) {
    kinds <- function(x) unname(kinds_of(unclass(x)))
    identical(kinds(eval), kinds(of[["bws"]][[side]])) &&
      (!of[["trainiseval"]] || .row_names_info(eval, 2L) == of[["bws"]][["nobs"]])
  }))
}

dens_fields <- list(
  bws = of_class("kestrel_densbw"),
  trainiseval = flag(),
  eval = function(of) {
    columns(list(), also = list(
      paste0("a data frame with the columns of the data", if (of[["trainiseval"]]) ", one row for each observation"),
      function(eval) {
        kinds <- function(x) unname(kinds_of(unclass(x)))
        identical(kinds(eval), kinds(of[["bws"]][["x"]])) &&
          (!of[["trainiseval"]] || .row_names_info(eval, 2L) == of[["bws"]][["nobs"]])
      }
    ))
  },
  dens = function(of) at_points(of), derr = function(of) at_points(of),
  log_likelihood = numbers(1L, finite = FALSE),
  nobs = function(of) numbers(1L, between = rep(points_of_fit(of), 2L)),
  engine = texts(1L), backend = texts(1L), device = texts(1L, optional = TRUE), seconds = numbers(1L)
)

dist_fields <- dens_fields[names(dens_fields) != "log_likelihood"]
names(dist_fields)[names(dist_fields) == "dens"] <- "dist"
dist_fields$bws <- of_class("kestrel_distbw")

qreg_fields <- list(
  bws = of_class("kestrel_condistbw"),
  trainiseval = flag(),
  xeval = function(of) points_like(of, "x"),
  tau = numbers(1L, also = list("between 0 and 1", function(tau) tau > 0 && tau < 1)),
  quantile = function(of) fitted_numbers(.row_names_info(of[["xeval"]], 2L)),
  quanterr = function(of) fitted_numbers(.row_names_info(of[["xeval"]], 2L)),
  quantgrad = function(of) {
    if (!identical(of[["quantgrad"]], NA)) {
      fitted_numbers(c(.row_names_info(of[["xeval"]], 2L), of[["bws"]][["xndim"]]))
    }
  },
  nobs = function(of) numbers(1L, between = rep(.row_names_info(of[["xeval"]], 2L), 2L)),
  xnames = function(of) texts(of[["bws"]][["xndim"]]), ynames = function(of) texts(1L),
  engine = texts(1L), backend = texts(1L), seconds = numbers(1L)
)

ksum_fields <- list(
  ndim = numbers(1L, sign = "positive", whole = TRUE),
  ncon = numbers(1L, sign = "not negative", whole = TRUE), nuno = numbers(1L, sign = "not negative", whole = TRUE),
  nord = numbers(1L, sign = "not negative", whole = TRUE),
  bw = function(of) numbers(of[["ndim"]], sign = "not negative", finite = FALSE),
  xnames = function(of) texts(of[["ndim"]]), operator = function(of) texts(of[["ndim"]], among = kernel_operators),
  nobs = numbers(1L, sign = "not negative", whole = TRUE), ntrain = numbers(1L, sign = "positive", whole = TRUE),
  ksum = anything(list("numbers", is_numbers)),
  eval = function(of) {
    columns(list(), also = list("a data frame with a row for each point", function(eval) {
      length(unclass(eval)) == of[["ndim"]] && .row_names_info(eval, 2L) == of[["nobs"]]
    }))
  },
  kw = anything(list("a numeric matrix", function(kw) is.null(kw) || is_numbers(kw) && is.matrix(kw))),
  p.ksum = anything(list("numbers", function(sums) is.null(sums) || is_numbers(sums))),
  ckertype = function(of) texts(1L, among = kernel_names()),
  ckerorder = numbers(1L, also = list("2, 4, 6 or 8", function(order) order %in% c(2, 4, 6, 8))),
  ukertype = texts(1L, among = c("aitchisonaitken", "liracine")),
  okertype = texts(1L, among = c("liracine", "wangvanryzin", "nliracine", "racineliyan")),
  na.action = function(of) left_out_field(of[["ntrain"]]),
  engine = texts(1L), backend = texts(1L), seconds = numbers(1L)
)
