# tidy(), glance() and augment() of package generics.

#' Tidy results
#'
#' Methods of the generics `tidy()`, `glance()` and `augment()` of package \pkg{generics} (which \pkg{broom} exports,
#' too), for every class of this package that they mean something for. They are there once \pkg{generics} is loaded.
#'
#' `tidy()` returns the result as a table. That of a density, of a distribution function or of derivatives has a row for
#' each point, as [as.data.frame()][data-frames] has. That of a regression, or of a density of mixed data, has points,
#' `estimate`, `std.error`, `conf.low` and `conf.high`. Models with coefficients have `term`, `estimate`,
#' `std.error`, `statistic` and `p.value`, bandwidth objects `term` and `bandwidth`, and tests `statistic`, `p.value`
#' and `method`.
#'
#' `glance()` returns one row about the whole, or about each group of [densities by group][kde-groups] and each
#' estimator of [q_error()]: sizes, bandwidths and measures of the fit. The names are those of \pkg{broom} where it has
#' them: `nobs`, `r.squared`, `sigma`, `logLik`, `statistic`, `p.value`. For densities in several dimensions `h` is the
#' 2d-th root of the determinant of `H`, the geometric mean of the bandwidths along its axes.
#'
#' `augment()` returns the data, or `newdata`, with further columns: `.fitted`, `.se.fit` and `.resid`, `.cluster` for
#' [kms()], and `.class` for [kda()] and [npconmode()]. For densities `.fitted` is the density at each observation. It
#' includes the kernel of the observation itself. Derivatives by several variables have a column for each, such as
#' `.D.x.y`. A bandwidth object gives what its fit gives.
#'
#' @param x an object of this package.
#' @param conf.int,conf.level `tidy()` of [npplreg()] and [npindex()]: whether to give confidence limits, and their
#'   level.
#' @param data `augment()`: the data from which `x` was made, if they have further columns that are to be kept. Rows
#'   that were left out because they had missing values are left out here, too.
#' @param newdata `augment()`: other points, as for `predict()`.
#' @param ... no further arguments: other names are an error.
#' @return A tibble if package \pkg{tibble} is installed, and otherwise a data frame.
#' @section Classes without some of them: `augment()` needs an estimate at the rows of data. It is missing for
#'   - tests, which are about whole samples: [npcmstest()], [npqcmstest()], [npsigtest()], [npdeneqtest()],
#'     [npunitest()], [npsymtest()], [npdeptest()], [npsdeptest()], [kde.test()] and [kde.local.test()];
#'   - maps and records of many bandwidths: [sizer()], [modetree()], [explore()], [hboot()], \code{\link{Hboot}()}, and
#'     what selectors return with `amise = TRUE`;
#'   - [kcopula()], [kfs()], [kdr()] and [kde_risk()], which have no `predict()`; [kroc()], whose points are rates; and
#'     [npksum()], whose sums are no estimates;
#'   - [pdf_score()] and [q_error()], which are about estimates and not about rows;
#'   - [kde_sketch()], [kde_synopsis()] and [kde_stream()], which do not keep the rows, and [sketch_plan()].
#'
#'   `tidy()` is missing for [kde_stream()], whose estimate is in a file or went to a function. `glance()` is missing
#'   for [sketch_plan()], which has only a row for each column.
#'
#'   Three classes have none of these. [dplyr::summarise()] and [dplyr::count()] make tables of the selections of a
#'   synopsis. [kestrel_info()] is about the machine and not about data. What plots return with
#'   `plot.behavior = "data"` is a list for code that was written for \pkg{np}; the columns of its table are `eval`,
#'   `fitted()` and `se()`.
#' @section Units: Those of the fields from which the columns are taken.
#' @section Errors: Errors of class `kestrel_error_input` are for objects that have been edited, for `data` with another
#'   number of rows, for `data` and `newdata` together, and for points that `predict()` refuses.
#' @section Cost: O(rows) for `tidy()` and `glance()`. `augment()` costs as much as `predict()` at the data, if `x` does
#'   not have the values there.
#' @references Robinson, D., Hayes, A. & Couch, S. broom: Convert Statistical Objects into Tidy Tibbles. R package.
#'
#'   Wickham, H. (2014) Tidy data. *Journal of Statistical Software* **59**(10), 1-23.
#' @seealso [as.data.frame()][data-frames]
#' @examplesIf requireNamespace("generics", quietly = TRUE)
#' fit <- npreg(waiting ~ eruptions, data = faithful)
#' generics::glance(fit)
#' generics::tidy(fit)
#' generics::augment(kms(faithful))
#' @name tidiers
NULL

# A tibble if there are tibbles here.
as_tidy <- function(frame) {
  rownames(frame) <- NULL
  if (requireNamespace("tibble", quietly = TRUE)) tibble::as_tibble(frame) else frame
}

tidy_object <- function(x, ...) {
  make <- entry_for(tidy_frames, x)
  check_known("tidy", given_names(...), c("x", "...", names(formals(make))))
  as_tidy(make(x, ...))
}

glance_object <- function(x, ...) {
  check_arguments("glance", given_names(...))
  as_tidy(as.data.frame(Filter(Negate(is.null), entry_for(glance_frames, x)(x))))
}

augment_object <- function(x, data = NULL, newdata = NULL, ...) {
  check_arguments("augment", given_names(...))
  if (!is.null(data) && !is.null(newdata)) abort_input("`data` and `newdata` must not both be given.")
  made <- entry_for(augment_frames, x)(x, newdata)
  as_tidy(beside_rows(made, data, newdata))
}

# ---- tidy() -------------------------------------------------------------------------------------------------------

# The columns of a table named in `names`, under new names, after those of its variables, of which there are `count`.
renamed <- function(frame, count, names) {
  variables <- frame[seq_len(count)]
  values <- stats::setNames(frame[names(names)], names)
  bound_beside(variables, values)
}

coefficient_rows <- function(estimate, error, conf.int, conf.level) {
  conf.int <- check_flag(conf.int, "conf.int")
  conf.level <- check_level(conf.level, "conf.level")
  # Nothing is tested of a coefficient that is fixed.
  statistic <- ifelse(error > 0, estimate / error, NA_real_)
  rows <- data.frame(term = names(estimate), estimate = unname(estimate), std.error = unname(error),
                     statistic = unname(statistic), p.value = unname(2 * stats::pnorm(-abs(statistic))))
  if (!conf.int) return(rows)
  z <- stats::qnorm((1 + conf.level) / 2)
  cbind(rows, conf.low = rows$estimate - z * rows$std.error, conf.high = rows$estimate + z * rows$std.error)
}

bandwidth_rows <- function(x) {
  table <- as.data.frame(x)
  stats::setNames(table, c("term", names(table)[-1L]))
}

test_rows <- function(statistic, p.value, method, ...) {
  data.frame(..., statistic = as.vector(statistic), p.value = as.vector(p.value), method = method)
}

as_frame_of <- function(x) as.data.frame(x)

tidy_frames <- list(
  kestrel_kde = as_frame_of, kestrel_kcde = as_frame_of, kestrel_kdde = as_frame_of, kestrel_bkde = as_frame_of,
  kestrel_vkde = as_frame_of, kestrel_kfs = as_frame_of, kestrel_kcopula = as_frame_of, kestrel_kda = as_frame_of,
  kestrel_histde = as_frame_of, kestrel_kroc = as_frame_of, kestrel_kdr = as_frame_of, kestrel_score = as_frame_of,
  kestrel_boot = as_frame_of, kestrel_record = as_frame_of, kestrel_ksum = as_frame_of, kestrel_q_error = as_frame_of,
  kestrel_synopsis = as_frame_of, kestrel_kde_groups = as_frame_of, kestrel_risk = as_frame_of,
  kestrel_sizer = as_frame_of, kestrel_sizer_plane = as_frame_of, kestrel_modetree = as_frame_of,
  kestrel_explorer = as_frame_of, kestrel_sketch_plan = as_frame_of,
  # A row for each variable.
  kestrel_sketch = function(x) {
    of <- summary(x)
    range <- rbind(of$range)
    if (length(of$column) == 1L) range <- t(range)
    data.frame(term = sketch_names(of$column), mean = unname(of$mean), sd = unname(of$sd), min = unname(range[1L, ]),
               max = unname(range[2L, ]), width = unname(of$width))
  },
  kestrel_kms = function(x) {
    check_object(x, "x", "kestrel_kms")
    modes <- stats::setNames(as.data.frame(unname(x$mode)), beside(c("cluster", "size"), x$names))
    cbind(cluster = seq_len(x$nclust), size = as.vector(x$nclust.table), modes)
  },
  kestrel_loctest = function(x) {
    renamed(as.data.frame(x), length(x$names), c(fhat.diff = "estimate", chisq = "statistic", pvalue = "p.value",
                                                 significant = "significant"))
  },
  kestrel_reg = function(x) {
    frame <- as.data.frame(x)
    renamed(frame, length(x$xnames), c(mean = "estimate", merr = "std.error", lower = "conf.low", upper = "conf.high"))
  },
  kestrel_dens = function(x) {
    frame <- as.data.frame(x)
    names <- stats::setNames(c("estimate", "std.error"), c(density_field(x), error_field(x)))
    renamed(frame, length(frame) - 2L, names)
  },
  kestrel_qreg = function(x) {
    frame <- renamed(as.data.frame(x), length(x$xnames), c(quantile = "estimate", quanterr = "std.error"))
    cbind(frame, tau = x$tau)
  },
  kestrel_regbw = function(x) {
    if (is_mixed_object(x)) return(bandwidth_rows(x))
    check_object(x, "x", "kestrel_regbw")
    data.frame(term = x$xnames, bandwidth = x$bw)
  },
  kestrel_sketch_regbw = function(x) {
    check_object(x, "x", "kestrel_sketch_regbw")
    data.frame(term = x$xnames, bandwidth = x$bw)
  },
  kestrel_densbw = bandwidth_rows, kestrel_scbw = bandwidth_rows,
  kestrel_plbw = function(x) stats::setNames(as.data.frame(x), c("response", "term", "bandwidth")),
  kestrel_sibw = as_frame_of,
  kestrel_plreg = function(x, conf.int = FALSE, conf.level = 0.95) {
    check_object(x, "x", "kestrel_plreg")
    coefficient_rows(x$xcoef, x$xcoeferr, conf.int, conf.level)
  },
  kestrel_si = function(x, conf.int = FALSE, conf.level = 0.95) {
    check_object(x, "x", "kestrel_si")
    error <- if (identical(x$betavcov, NA)) rep(NA_real_, length(x$beta)) else sqrt(diag(x$betavcov))
    coefficient_rows(x$beta, error, conf.int, conf.level)
  },
  # The coefficients at each point.
  kestrel_sc = function(x) {
    points <- frame_of(unclass(check_object(x, "x", "kestrel_sc")$eval$ezdat), x$bws$znames)
    at <- scoef_values(x, scoef_points_of(x), TRUE)
    values <- data.frame(term = rep(colnames(at$beta), each = nrow(at$beta)), estimate = as.vector(at$beta),
                         std.error = as.vector(at$beta_se))
    bound_beside(points[rep(seq_len(nrow(at$beta)), ncol(at$beta)), , drop = FALSE], values)
  },
  kestrel_conmode = function(x) {
    frame <- as.data.frame(x)
    renamed(frame, length(x$bws$xnames), c(conmode = "class", condens = "estimate"))
  },
  kestrel_sigtest = function(x) {
    frame <- as.data.frame(x)
    test_rows(frame$In, frame$P, "Kernel regression significance test", term = frame$regressor)
  },
  kestrel_cmstest = function(x) {
    check_object(x, "x", "kestrel_cmstest")
    test_rows(if (x$pivot) x$Jn else x$In, x$P, "Consistent model specification test")
  },
  kestrel_deneqtest = function(x) {
    check_object(x, "x", "kestrel_deneqtest")
    test_rows(x$Tn, x$Tn.P, "Integrated squared difference test of equal densities")
  },
  kestrel_srho = function(x) {
    frame <- as.data.frame(x)
    test_rows(frame$Srho, frame$P, "Entropy test")
  },
  kestrel_sdeptest = function(x) {
    frame <- as.data.frame(x)
    test_rows(frame$Srho, frame$P, "Entropy test of serial dependence", lag = frame$lag)
  },
  kestrel_kdetest = function(x) {
    check_object(x, "x", "kestrel_kdetest")
    test_rows(x$zstat, x$pvalue, "Kernel test of equal densities")
  }
)

# Of a test one row is the whole.
glance_frames[c("kestrel_cmstest", "kestrel_deneqtest", "kestrel_srho", "kestrel_kdetest")] <-
  tidy_frames[c("kestrel_cmstest", "kestrel_deneqtest", "kestrel_srho", "kestrel_kdetest")]

# ---- augment() ----------------------------------------------------------------------------------------------------

# The rows and their new columns. `data`: the data of a user in place of the rows that the object holds.
beside_rows <- function(made, data, newdata) {
  rows <- if (is.null(newdata)) data else newdata
  if (is.null(rows)) return(bound_beside(made$rows, made$values))
  name <- if (is.null(newdata)) "data" else "newdata"
  if (!is_frame(rows)) {
    if (name == "data") abort_input("`data` must be a data frame, not ", describe_value(rows), ".")
    rows <- stats::setNames(as.data.frame(unname(check_points(rows, length(made$names), "newdata"))), made$names)
  }
  n <- nrow(made$values)
  left_out <- as.vector(made$left_out)
  with_them <- name == "data" && length(left_out) > 0L && nrow(rows) == n + length(left_out)
  if (with_them) rows <- rows[-left_out, , drop = FALSE]
  if (nrow(rows) != n) {
    abort_input("`", name, "` must have ", n, " rows, as many as the object has observations, not ", nrow(rows), ".")
  }
  bound_beside(rows, made$values)
}

sample_frame <- function(x) stats::setNames(as.data.frame(unname(as_points(x$x, "x"))), x$names)

# The columns of `newdata` for an estimate; others are not asked for.
columns_for <- function(x, newdata) {
  if (is_frame(newdata) && all(x$names %in% names(newdata))) newdata[x$names] else newdata
}

augment_density <- function(x, newdata) {
  if (is.null(newdata) && length(x$x) == 0L) abort_input("`newdata` must be given for an estimate without its data.")
  points <- if (is.null(newdata)) unname(as_points(x$x, "x")) else columns_for(x, newdata)
  list(rows = sample_frame(x), names = x$names, values = data.frame(.fitted = predict(x, points)),
       left_out = x$na.action)
}

# The response comes first in the rows of a fit.
augment_fit <- function(x, newdata, values_at_data, errors = TRUE) {
  values <- if (is.null(newdata)) {
    values_at_data()
  } else {
    at <- if (errors) predict(x, newdata = newdata, se.fit = TRUE) else list(fit = predict(x, newdata = newdata))
    as.data.frame(c(list(.fitted = as.vector(at$fit)), if (errors) list(.se.fit = as.vector(at$se.fit))))
  }
  list(rows = stats::model.frame(x), names = x$bws$xnames, values = values, left_out = x$bws$na.action)
}

# The density or distribution function at its data, also that of some variables given others.
density_at_data <- function(bws, call) {
  if (inherits(bws, "kestrel_condensbw")) return(estimate_conditional(bws, NULL, FALSE, NULL, FALSE, call))
  estimate_density(bws, NULL, NULL, FALSE, call)
}

fitted_rows <- function(mean, y, se = NULL) {
  values <- list(.fitted = as.vector(mean), .se.fit = as.vector(se), .resid = as.vector(y - mean))
  as.data.frame(Filter(length, values))
}

augment_frames <- list(
  kestrel_kde = function(x, newdata) augment_density(check_estimate(x, "x"), newdata),
  kestrel_kcde = function(x, newdata) augment_density(check_object(x, "x", "kestrel_kcde"), newdata),
  kestrel_bkde = function(x, newdata) augment_density(check_object(x, "x", "kestrel_bkde"), newdata),
  kestrel_vkde = function(x, newdata) augment_density(check_object(x, "x", "kestrel_vkde"), newdata),
  kestrel_histde = function(x, newdata) augment_density(check_object(x, "x", "kestrel_histde"), newdata),
  kestrel_kdde = function(x, newdata) {
    check_object(x, "x", "kestrel_kdde")
    points <- if (is.null(newdata)) unname(as_points(x$x, "x")) else columns_for(x, newdata)
    names <- derivative_columns(x)
    values <- as.data.frame(unname(as.matrix(predict(x, points))))[as.integer(names(names))]
    list(rows = sample_frame(x), names = x$names, left_out = x$na.action,
         values = stats::setNames(values, if (is_single(x)) ".fitted" else paste0(".", names)))
  },
  kestrel_kde_groups = function(x, newdata) {
    check_groups(x, "x")
    rows <- below_each_other(x, lapply(x$estimates, sample_frame))
    points <- if (is.null(newdata)) rows else newdata
    if (!is_frame(points) || !all(names(x$groups) %in% names(points))) {
      abort_input("`newdata` must be a data frame with the columns of the groups, ", quoted(names(x$groups)), ".")
    }
    list(rows = rows, names = x$names, values = data.frame(.fitted = predict(x, points)))
  },
  kestrel_kda = function(x, newdata) {
    check_object(x, "x", "kestrel_kda")
    rows <- stats::setNames(as.data.frame(do.call(rbind, lapply(x$x, function(one) unname(as_points(one, "x"))))),
                            beside("group", x$names))
    rows$group <- rep(factor(levels(x$x.group), levels(x$x.group)), vapply(x$x, NROW, 0L))
    points <- if (is.null(newdata)) unname(rows[seq_along(x$names)]) else columns_for(x, newdata)
    list(rows = rows, names = x$names, values = data.frame(.class = predict(x, points)))
  },
  kestrel_kms = function(x, newdata) {
    check_object(x, "x", "kestrel_kms")
    if (!is.null(newdata)) abort_input("`newdata` must not be given for clusters: kms() takes points in `y`.")
    frame <- as.data.frame(x)
    list(rows = frame[-length(frame)], names = x$names, values = data.frame(.cluster = factor(x$label)))
  },
  kestrel_reg = function(x, newdata) {
    check_object(x, "x", "kestrel_reg")
    augment_fit(x, newdata, function() {
      at <- known_at_data(x, TRUE, run_options())
      replace(fitted_rows(at$mean, x$bws$y, at$se), ".resid", list(x$resid))
    })
  },
  kestrel_dens = function(x, newdata) {
    check_object(x, "x", "kestrel_dens")
    augment_fit(x, newdata, function() {
      at <- if (x$trainiseval) x else density_at_data(x$bws, x$call)
      data.frame(.fitted = at[[density_field(at)]], .se.fit = at[[error_field(at)]])
    })
  },
  kestrel_qreg = function(x, newdata) {
    check_object(x, "x", "kestrel_qreg")
    augment_fit(x, newdata, function() {
      at <- if (x$trainiseval) x else npqreg(x$bws, tau = x$tau)
      fitted_rows(at$quantile, unclass(x$bws$y)[[1L]], at$quanterr)
    })
  },
  kestrel_plreg = function(x, newdata) {
    check_object(x, "x", "kestrel_plreg")
    augment_fit(x, newdata, function() fitted_rows(x$inside, x$bws$bw[[1L]]$y), FALSE)
  },
  kestrel_si = function(x, newdata) {
    check_object(x, "x", "kestrel_si")
    augment_fit(x, newdata, function() fitted_rows(x$link$mean, x$bws$y, x$link$merr))
  },
  kestrel_sc = function(x, newdata) {
    check_object(x, "x", "kestrel_sc")
    augment_fit(x, newdata, function() {
      fitted_rows(x$inside, x$bws$y, scoef_values(x, NULL, TRUE)$se)
    })
  },
  # Bandwidth objects: their fits.
  kestrel_regbw = function(x, newdata) augment_frames$kestrel_reg(npreg(x), newdata),
  kestrel_densbw = function(x, newdata) {
    check_object(x, "x", "kestrel_densbw")
    augment_frames$kestrel_dens(density_at_data(x, x$call), newdata)
  },
  kestrel_plbw = function(x, newdata) augment_frames$kestrel_plreg(npplreg(x), newdata),
  kestrel_scbw = function(x, newdata) augment_frames$kestrel_sc(npscoef(x), newdata),
  kestrel_sibw = function(x, newdata) augment_frames$kestrel_si(npindex(x), newdata),
  kestrel_sketch_regbw = function(x, newdata) {
    fitted <- if (is.null(newdata)) predict(x) else predict(x, newdata)
    list(rows = newdata, names = x$xnames, values = data.frame(.fitted = fitted))
  },
  kestrel_conmode = function(x, newdata) {
    check_object(x, "x", "kestrel_conmode")
    modes <- if (!is.null(newdata)) predict(x, newdata = newdata) else
      (if (x$trainiseval) x else npconmode(x$bws))$conmode
    list(rows = stats::model.frame(x), names = x$bws$xnames, values = data.frame(.class = modes),
         left_out = x$bws$na.action)
  }
)
