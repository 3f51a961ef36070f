# The fields of tests and of semiparametric models: see object-fields.R.

sigtest_fields <- list(
  bws = of_class("kestrel_regbw"),
  ixvar = function(of) numbers(min = 1L, whole = TRUE, between = c(1, length(of[["bws"]][["xnames"]]))),
  joint = flag(), pivot = flag(),
  In = function(of) fitted_numbers(if (of[["joint"]]) 1L else length(of[["ixvar"]])),
  P = function(of) fitted_numbers(length(of[["In"]])),
  boot.num = numbers(1L, between = c(1, 1e9), whole = TRUE),
  In.bootstrap = function(of) fitted_numbers(c(of[["boot.num"]], length(of[["In"]]))),
  boot.method = texts(1L), ptype = texts(1L),
  reject = function(of) texts(length(of[["In"]])),
  seconds = numbers(1L)
)

conmode_fields <- list(
  bws = of_class("kestrel_densbw"),
  trainiseval = flag(),
  conmode = function(of) {
    anything(list("a factor with the levels of the response", function(mode) {
      codes <- unclass(mode)
      is.factor(mode) && identical(levels(mode), levels(of[["bws"]][["y"]][[1L]])) && is.integer(codes) &&
        all(codes %in% c(NA, seq_along(levels(mode)))) &&
        (!of[["trainiseval"]] || length(codes) == of[["bws"]][["nobs"]])
    }))
  },
  condens = function(of) fitted_numbers(length(unclass(of[["conmode"]]))),
  probabilities = function(of) {
    fitted_numbers(c(length(unclass(of[["conmode"]])), length(levels(of[["conmode"]]))))
  },
  xeval = function(of) {
    columns(list(), also = list("a data frame with the columns of `x`, one row for each mode", function(eval) {
      length(unclass(eval)) == of[["bws"]][["xndim"]] && .row_names_info(eval, 2L) == length(unclass(of[["conmode"]]))
    }))
  },
  CCR.overall = anything(list("a number or NA", function(value) {
    (is.numeric(value) || identical(value, NA)) && !is.object(value) && length(value) == 1L
  })),
  confusion.matrix = function(of) if (!identical(of[["CCR.overall"]], NA)) confusion_field(levels(of[["conmode"]])),
  CCR.byoutcome = function(of) if (!identical(of[["CCR.overall"]], NA)) fitted_numbers(length(levels(of[["conmode"]]))),
  fit.mcfadden = function(of) if (!identical(of[["CCR.overall"]], NA)) fitted_numbers(1L),
  nobs = function(of) numbers(1L, between = rep(length(unclass(of[["conmode"]])), 2L)),
  seconds = numbers(1L)
)

confusion_field <- function(levels) {
  anything(list("a table of the levels", function(table) {
    table <- without_class(table)
    is_numbers(table) && identical(dim(table), rep(length(levels), 2L)) && !anyNA(table) &&
      identical(unname(dimnames(table)), list(levels, levels))
  }))
}

plbw_fields <- list(
  nobs = numbers(1L, sign = "positive", whole = TRUE),
  zndim = numbers(1L, sign = "positive", whole = TRUE),
  x = function(of) {
    columns(list(), also = list("a data frame of finite numbers and factors", function(x) {
      length(x) > 0L && all(vapply(unclass(x), regressor_field, NA, n = of[["nobs"]]))
    }))
  },
  xndim = function(of) exactly(length(unclass(of[["x"]]))),
  design = function(of) numbers(c(of[["nobs"]], max(0L, length(without_class(of[["bw"]])) - 1L))),
  bw = function(of) {
    one <- function(bws) {
      inherits(bws, "kestrel_regbw") && is.list(bws) && is.null(object_problem(bws, "kestrel_regbw")) &&
        bws$nobs == of[["nobs"]] && length(bws$y) == of[["nobs"]] && length(bws$bw) == of[["zndim"]]
    }
    anything(list("a list of bandwidth objects of npregbw(), with the names of the columns", function(bw) {
      is.list(bw) && !is.object(bw) && length(bw) > 1L && is.character(names(bw)) && !anyNA(names(bw)) &&
        all(vapply(bw, one, NA)) && all(vapply(bw, function(one) identical(class(one), class(bw[[1L]])), NA))
    }))
  },
  xnames = function(of) texts(of[["xndim"]]), znames = function(of) texts(of[["zndim"]]), ynames = texts(1L),
  regtype = texts(1L, among = c("lc", "ll")), method = texts(1L),
  na.action = function(of) left_out_field(of[["nobs"]]),
  seconds = numbers(1L)
)

plreg_fields <- list(
  bws = of_class("kestrel_plbw"),
  trainiseval = flag(),
  xcoef = function(of) named_numbers(length(of[["bws"]][["bw"]]) - 1L),
  xcoeferr = function(of) named_numbers(length(of[["bws"]][["bw"]]) - 1L),
  xcoefvcov = function(of) numbers(rep(length(of[["xcoef"]]), 2L)),
  mean = fitted_numbers(NULL),
  evalx = function(of) points_of_side(of, of[["bws"]][["xndim"]]),
  evalz = function(of) points_of_side(of, of[["bws"]][["zndim"]]),
  inside = function(of) fitted_numbers(of[["bws"]][["nobs"]]),
  bw = function(of) {
    numbers(c(length(of[["bws"]][["bw"]]), of[["bws"]][["zndim"]]), sign = "not negative", finite = FALSE)
  },
  R2 = fitted_numbers(1L), MSE = numbers(1L, sign = "not negative", finite = FALSE), MAE = fitted_numbers(1L),
  MAPE = fitted_numbers(1L), CORR = fitted_numbers(1L), SIGN = fitted_numbers(1L),
  nobs = function(of) numbers(1L, between = rep(length(of[["mean"]]), 2L)),
  seconds = numbers(1L)
)

# So many columns, one row for each value of the fit.
points_of_side <- function(of, count) {
  needed <- paste0("a data frame with ", count, if (count == 1) " column" else " columns",
                   ", one row for each value of the fit")
  columns(list(), also = list(needed, function(eval) {
    length(unclass(eval)) == count && .row_names_info(eval, 2L) == length(of[["mean"]])
  }))
}

# Errors of the values of a fit, NA without them.
errors_field <- function(of) if (!identical(of[["merr"]], NA)) fitted_numbers(length(of[["mean"]]))

named_numbers <- function(size) {
  numbers(size, also = list("numbers with names", function(value) !is.null(names(value)) && !anyNA(names(value))))
}

cmstest_fields <- list(
  bws = of_class("kestrel_regbw"),
  pivot = flag(),
  tau = numbers(1L, between = c(0, 1), optional = TRUE),
  Jn = numbers(1L), In = numbers(1L), Omega.hat = numbers(1L, sign = "not negative"),
  P = numbers(1L, between = c(0, 1)),
  q.90 = numbers(1L), q.95 = numbers(1L), q.99 = numbers(1L),
  pdistribution = texts(1L, among = c("Bootstrap", "Asymptotic")),
  boot.num = numbers(1L, between = c(1, 1e9), whole = TRUE), boot.method = texts(1L), pcall = texts(1L),
  sd = numbers(1L, sign = "not negative"),
  Jn.bootstrap = function(of) replicates_field(of, "Jn"), In.bootstrap = function(of) replicates_field(of, "In"),
  reject = texts(1L), seconds = numbers(1L)
)

# The statistics of the bootstrap samples, if this is the one that is tested.
replicates_field <- function(of, name) {
  tested <- if (of[["pivot"]]) "Jn" else "In"
  if (name == tested && of[["pdistribution"]] == "Bootstrap") numbers(of[["boot.num"]])
}

sibw_fields <- list(
  y = numbers(min = 3L),
  nobs = function(of) exactly(length(of[["y"]])),
  x = function(of) {
    columns(list(), also = list("a data frame of finite numbers and factors", function(x) {
      length(x) > 0L && all(vapply(unclass(x), regressor_field, NA, n = of[["nobs"]]))
    }))
  },
  ndim = function(of) exactly(length(unclass(of[["x"]]))),
  beta = named_numbers(NULL),
  design = function(of) numbers(c(of[["nobs"]], length(of[["beta"]]))),
  bw = numbers(1L, sign = "positive"),
  fval = numbers(1L, finite = FALSE), fval.history = numbers(optional = TRUE, finite = FALSE),
  method = texts(1L, among = c("ichimura", "kleinspady")),
  ckertype = function(of) texts(1L, among = regression_kernels()), ckerorder = regbw_fields$ckerorder,
  searched = flag(),
  xnames = function(of) texts(of[["ndim"]]), ynames = texts(1L),
  na.action = function(of) left_out_field(of[["nobs"]]),
  terms = regbw_fields$terms,
  seconds = numbers(1L)
)

si_fields <- list(
  bws = of_class("kestrel_sibw"),
  trainiseval = flag(),
  beta = function(of) named_numbers(length(of[["bws"]][["beta"]])),
  betavcov = function(of) {
    if (identical(of[["betavcov"]], NA)) return(NULL)
    fitted_numbers(rep(length(of[["beta"]]), 2L), also = list("a matrix without negative variances", function(vcov) {
      all(diag(vcov) >= 0, na.rm = TRUE)
    }))
  },
  link = of_class("kestrel_reg"),
  index = fitted_numbers(NULL),
  mean = function(of) fitted_numbers(length(of[["index"]])),
  eval = function(of) points_of_side(of, of[["bws"]][["ndim"]]),
  merr = errors_field,
  mean.grad = function(of) if (!identical(of[["mean.grad"]], NA)) fitted_numbers(length(of[["beta"]])),
  R2 = fitted_numbers(1L), MSE = numbers(1L, sign = "not negative", finite = FALSE), MAE = fitted_numbers(1L),
  MAPE = fitted_numbers(1L), CORR = fitted_numbers(1L), SIGN = fitted_numbers(1L),
  CCR.overall = anything(list("a number or NA", function(value) {
    (is.numeric(value) || identical(value, NA)) && !is.object(value) && length(value) == 1L
  })),
  confusion.matrix = function(of) if (!identical(of[["CCR.overall"]], NA)) confusion_field(c("0", "1")),
  CCR.byoutcome = function(of) if (!identical(of[["CCR.overall"]], NA)) fitted_numbers(2L),
  fit.mcfadden = function(of) if (!identical(of[["CCR.overall"]], NA)) fitted_numbers(1L),
  nobs = function(of) numbers(1L, between = rep(length(of[["mean"]]), 2L)),
  seconds = numbers(1L)
)

scbw_fields <- list(
  y = numbers(min = 3L),
  nobs = function(of) exactly(length(of[["y"]])),
  w = function(of) numbers(length(of[["y"]]), also = list("1 for each observation", function(w) all(w == 1))),
  x = function(of) frame_field(of[["nobs"]]), z = function(of) frame_field(of[["nobs"]]),
  xnames = function(of) texts(length(unclass(of[["x"]]))), znames = function(of) texts(length(unclass(of[["z"]]))),
  ynames = texts(1L),
  design = function(of) {
    anything(list("a matrix of finite numbers, with a name for each column", function(x) {
      is_numbers(x) && is.matrix(x) && nrow(x) == of[["nobs"]] && ncol(x) %in% 1:32 && all(is.finite(x)) &&
        !is.null(colnames(x)) && !anyNA(colnames(x))
    }))
  },
  icon = kinds_field("continuous", "z"), iuno = kinds_field("unordered", "z"), iord = kinds_field("ordered", "z"),
  ncon = count_field("icon"), nuno = count_field("iuno"), nord = count_field("iord"),
  ndim = function(of) exactly(length(unclass(of[["z"]]))),
  regtype = texts(1L, among = "lc"), method = texts(1L, among = "cv.ls"), unsupported = texts(1L),
  ckertype = mixed_bw_fields$ckertype, ckerorder = mixed_bw_fields$ckerorder,
  ukertype = mixed_bw_fields$ukertype, okertype = mixed_bw_fields$okertype,
  scaling = flag(), sdev = function(of) numbers(of[["ncon"]], sign = "positive"),
  nconfac = numbers(1L, sign = "positive"), ncatfac = numbers(1L, sign = "positive"),
  search = texts(1L, among = c("none", "starts")), remarks = texts(optional = TRUE),
  bw = function(of) {
    core <- of
    core$x <- of[["z"]]
    mixed_bw_fields$bw(core)
  },
  fval = numbers(1L, finite = FALSE), fval.history = numbers(optional = TRUE, finite = FALSE),
  na.action = function(of) left_out_field(of[["nobs"]]),
  seconds = numbers(1L)
)

frame_field <- function(n) {
  columns(list(), also = list("a data frame of finite numbers and factors", function(x) {
    length(x) > 0L && all(vapply(unclass(x), regressor_field, NA, n = n))
  }))
}

sc_fields <- list(
  bws = of_class("kestrel_scbw"),
  trainiseval = flag(),
  mean = fitted_numbers(NULL),
  eval = function(of) {
    like <- function(of_data) {
      columns(list(), also = list(paste0("a data frame with the columns of `", of_data, "`"), function(eval) {
        kinds <- function(x) unname(kinds_of(unclass(x)))
        identical(kinds(eval), kinds(of[["bws"]][[of_data]])) && .row_names_info(eval, 2L) == length(of[["mean"]])
      }))
    }
    parts(list(exdat = like("x"), ezdat = like("z")))
  },
  merr = errors_field,
  inside = function(of) fitted_numbers(of[["bws"]][["nobs"]]),
  error2 = function(of) numbers(of[["bws"]][["nobs"]], sign = "not negative"),
  R2 = fitted_numbers(1L), MSE = numbers(1L, sign = "not negative", finite = FALSE), MAE = fitted_numbers(1L),
  MAPE = fitted_numbers(1L), CORR = fitted_numbers(1L), SIGN = fitted_numbers(1L),
  nobs = function(of) numbers(1L, between = rep(length(of[["mean"]]), 2L)),
  seconds = numbers(1L)
)

deneqtest_fields <- list(
  bw.x = of_class("kestrel_densbw"), bw.y = of_class("kestrel_densbw"),
  Tn = numbers(1L), In = numbers(1L),
  Tn.P = numbers(1L, between = c(0, 1)), In.P = numbers(1L, between = c(0, 1)),
  boot.num = numbers(1L, between = c(1, 1e9), whole = TRUE),
  Tn.bootstrap = function(of) numbers(of[["boot.num"]]), In.bootstrap = function(of) numbers(of[["boot.num"]]),
  nobs = numbers(2L, sign = "positive", whole = TRUE),
  reject = texts(1L), seconds = numbers(1L)
)

srho_fields <- list(
  Srho = fitted_numbers(1L),
  bootstrap = flag(),
  P = function(of) fitted_numbers(1L),
  boot.num = numbers(1L, between = c(1, 1e9), whole = TRUE),
  Srho.bootstrap = function(of) {
    if (of[["bootstrap"]] && is.null(of[["Srho.bootstrap.vec"]])) fitted_numbers(of[["boot.num"]])
  },
  Srho.bootstrap.vec = function(of) {
    if (of[["bootstrap"]] && is.null(of[["Srho.bootstrap"]])) fitted_numbers(of[["boot.num"]])
  },
  bw.x = numbers(1L, optional = TRUE), bw.y = numbers(1L, optional = TRUE), bw = numbers(1L, optional = TRUE),
  bw.data.x = numbers(1L, optional = TRUE), bw.data.y = numbers(1L, optional = TRUE),
  bw.joint = numbers(2L, optional = TRUE),
  method = texts(1L, among = c("integration", "summation")),
  nobs = numbers(1L, sign = "positive", whole = TRUE),
  reject = texts(1L), seconds = numbers(1L)
)

sdeptest_fields <- list(
  lag.num = numbers(1L, sign = "positive", whole = TRUE),
  bootstrap = flag(), boot.num = numbers(1L, between = c(1, 1e9), whole = TRUE),
  Srho = function(of) fitted_numbers(of[["lag.num"]]), Srho.cumulant = function(of) fitted_numbers(of[["lag.num"]]),
  Srho.bootstrap.mat = function(of) if (of[["bootstrap"]]) fitted_numbers(c(of[["boot.num"]], of[["lag.num"]])),
  P = function(of) fitted_numbers(of[["lag.num"]]), P.cumulant = function(of) fitted_numbers(of[["lag.num"]]),
  bw.y = function(of) numbers(of[["lag.num"]]), bw.y.lag = function(of) numbers(of[["lag.num"]]),
  bw.joint = function(of) numbers(c(of[["lag.num"]], 2L)),
  method = texts(1L, among = c("integration", "summation")),
  nobs = numbers(1L, sign = "positive", whole = TRUE),
  reject = function(of) texts(of[["lag.num"]]), seconds = numbers(1L)
)

# The entries of a class have the number of its rows.
kda_fields <- list(
  names = texts(min = 1L), gridded = flag(),
  x.group = anything(list("a factor with two levels or more", function(group) {
    is.factor(group) && nlevels(group) > 1L && !anyNA(group)
  })),
  prior.prob = function(of) {
    numbers(nlevels(of[["x.group"]]), between = c(0, 1), also = list("probabilities that add to one", function(prior) {
      abs(sum(prior) - 1) < 1e-6
    }))
  },
  x = function(of) {
    d <- columns_of(of)
    each(numbers(if (d > 1L) c(NA, d), min = 1L), nlevels(of[["x.group"]]))
  },
  w = function(of) {
    fits <- function(w) {
      all(lengths(w) == vapply(of[["x"]], NROW, 0L)) && all(vapply(w, function(w) sums_to(w, length(w)), NA))
    }
    c(each(numbers(sign = "not negative", min = 1L), nlevels(of[["x.group"]])),
      also = list(list("a list of weights that sum to their number, as many as `x` has", fits)))
  },
  H = function(of) {
    d <- columns_of(of)
    k <- nlevels(of[["x.group"]])
    if (d == 1L) numbers(k, sign = "positive") else each(bandwidth_matrix(d, FALSE), k)
  },
  h = function(of) if (columns_of(of) == 1L) numbers(nlevels(of[["x.group"]]), sign = "positive"),
  eval.points = function(of) if (!is.null(of[["estimate"]])) points_field(columns_of(of), of[["gridded"]]),
  estimate = function(of) {
    if (is.null(of[["estimate"]]) && !of[["gridded"]]) return(NULL)
    d <- columns_of(of)
    size <- if (of[["gridded"]]) axes_sizes(of) else nrow(check_points(of[["eval.points"]], d, "eval.points"))
    each(numbers(size, sign = "not negative"), nlevels(of[["x.group"]]))
  },
  x.group.estimate = function(of) {
    anything(list("a factor with the levels of `x.group`", function(group) {
      is.factor(group) && identical(levels(group), levels(of[["x.group"]])) && !anyNA(group)
    }))
  },
  seconds = numbers(1L)
)

kdetest_fields <- c(
  list(n1 = numbers(1L, sign = "positive", whole = TRUE), n2 = numbers(1L, sign = "positive", whole = TRUE),
       h1 = numbers(1L, sign = "positive", optional = TRUE),
       h2 = function(of) numbers(1L, sign = "positive", optional = is.null(of[["h1"]]))),
  lapply(c(Tstat = "any", zstat = "any", mean = "any"), function(sign) numbers(1L)),
  list(var = numbers(1L, sign = "positive"), pvalue = numbers(1L, between = c(0, 1)),
       B = numbers(1L, between = c(0, 1e9), whole = TRUE), permuted = function(of) numbers(of[["B"]]),
       seconds = numbers(1L))
)

estimate_beside <- function(first) {
  c(of_class("kestrel_kde"), also = list(list("an estimate on the grid of `fhat1`", function(fhat) {
    fhat$gridded && identical(axes_of(fhat), axes_of(first))
  })))
}

# The regions are estimates on the grid of the first one.
loctest_fields <- list(
  fhat1 = c(of_class("kestrel_kde"), also = list(list("an estimate on a grid", function(fhat) fhat$gridded))),
  fhat2 = function(of) estimate_beside(of[["fhat1"]]),
  fhat.diff.pos = function(of) estimate_beside(of[["fhat1"]]),
  fhat.diff.neg = function(of) estimate_beside(of[["fhat1"]]),
  fhat.diff = function(of) numbers(axes_sizes(of[["fhat1"]])),
  chisq = function(of) numbers(axes_sizes(of[["fhat1"]]), sign = "not negative"),
  pvalue = function(of) numbers(axes_sizes(of[["fhat1"]]), between = c(0, 1)),
  names = function(of) texts(length(of[["fhat1"]][["names"]])),
  n1 = numbers(1L, sign = "positive", whole = TRUE), n2 = numbers(1L, sign = "positive", whole = TRUE),
  signif.level = numbers(1L, between = c(0, 1)), seconds = numbers(1L)
)

modetree_fields <- list(
  names = texts(1L),
  h = numbers(min = 2L, sign = "positive", also = list("decreasing", function(h) all(diff(h) < 0))),
  counts = function(of) numbers(length(of[["h"]]), sign = "positive", whole = TRUE),
  branches = columns(list(from = numbers(min = 1L, sign = "positive"), mode = numbers(min = 1L),
                          parent = numbers(min = 1L, sign = "not negative", whole = TRUE))),
  modes = function(of) {
    columns(list(
      h = numbers(sum(of[["counts"]]), also = list("bandwidths of `h`", function(h) all(h %in% of[["h"]]))),
      mode = numbers(min = 1L), density = numbers(min = 1L, sign = "not negative"),
      branch = numbers(min = 1L, sign = "positive", whole = TRUE, also = list("each branch of `branches`", function(b) {
        setequal(b, seq_along(of[["branches"]][["from"]]))
      }))
    ))
  },
  critical = numbers(sign = "positive"),
  n = numbers(1L, sign = "positive", whole = TRUE),
  n_eff = numbers(1L, sign = "positive"),
  seconds = numbers(1L)
)

explorer_fields <- list(
  names = texts(min = 1L),
  table = columns(list(factor = numbers(min = 2L, sign = "positive", increasing = TRUE),
                       h = numbers(min = 2L, sign = "positive", increasing = TRUE), lscv = fitted_numbers(NULL))),
  html = texts(1L), file = texts(1L),
  n = numbers(1L, sign = "positive", whole = TRUE),
  seconds = numbers(1L)
)

map_size <- function(of) c(length(of[["eval.points"]]), length(of[["h"]]))

sizer_fields <- list(
  names = texts(1L),
  eval.points = numbers(min = 2L, increasing = TRUE),
  h = numbers(min = 1L, sign = "positive", increasing = TRUE),
  estimate = function(of) {
    numbers(map_size(of), finite = FALSE, also = list("-1, 0, 1 and NA", function(kind) all(kind %in% c(-1, 0, 1, NA))))
  },
  derivative = function(of) numbers(map_size(of)),
  std.error = function(of) numbers(map_size(of), sign = "not negative"),
  ess = function(of) numbers(map_size(of), sign = "not negative"),
  quantile = function(of) numbers(length(of[["h"]]), finite = FALSE),
  deriv.order = numbers(1L, whole = TRUE, between = c(1, 2)),
  signif.level = numbers(1L, between = c(0, 1)),
  method = texts(1L, among = c("extremes", "blocks")),
  n = numbers(1L, sign = "positive", whole = TRUE),
  n_eff = numbers(1L, sign = "positive"),
  seconds = numbers(1L)
)

plane_sizes <- function(of) c(lengths(of[["eval.points"]]), length(of[["h"]]))

sizer_plane_fields <- c(sizer_fields["deriv.order"], list(
  names = texts(2L),
  eval.points = points_field(2L, TRUE),
  h = sizer_fields$h,
  scale = numbers(2L, sign = "positive"),
  estimate = function(of) {
    kinds <- if (of[["deriv.order"]] == 1) 1 else 5
    numbers(plane_sizes(of), finite = FALSE, also = list(paste("whole numbers from 0 to", kinds, "and NA"),
                                                         function(kind) all(kind %in% c(0:kinds, NA))))
  },
  derivative = function(of) {
    sizes <- plane_sizes(of)
    numbers(c(sizes[1:2], of[["deriv.order"]] + 1, sizes[3L]))
  },
  statistic = function(of) {
    sizes <- plane_sizes(of)
    numbers(c(sizes[1:2], if (of[["deriv.order"]] == 2) 2, sizes[3L]))
  },
  ess = function(of) numbers(plane_sizes(of), sign = "not negative")
), sizer_fields[c("quantile", "signif.level", "method", "n", "n_eff", "seconds")])

risk_fields <- list(
  names = texts(min = 1L),
  fhat1 = c(of_class("kestrel_kde"), also = list(list("an estimate on a grid", function(fhat) fhat$gridded))),
  fhat2 = function(of) estimate_beside(of[["fhat1"]]),
  eval.points = function(of) points_field(length(of[["fhat1"]][["names"]]), TRUE),
  gridded = flag(),
  estimate = function(of) fitted_numbers(axes_sizes(of)), p.value = function(of) fitted_numbers(axes_sizes(of)),
  H = function(of) bandwidth_matrix(columns_of(of), FALSE),
  n1 = numbers(1L, sign = "positive", whole = TRUE), n2 = numbers(1L, sign = "positive", whole = TRUE),
  B = numbers(1L, sign = "not negative", whole = TRUE), seconds = numbers(1L)
)
