# Smooths of many responses with one set of weights, as the replicates of a bootstrap need them, and the draws of these.

# A regression of fixed bandwidths in the form of several regressors: `bws`, its sample and choices, and `raw`, the
# bandwidths as they are now, which may have been edited. `name`: of the argument.
as_mixed_regression <- function(bws, name = "bws") {
  if (any(bws$w != 1)) abort_input("`", name, "` must be a regression without weights here.")
  if (is_nearest(bws)) {
    abort_input("`", name, "` must have fixed bandwidths here, not numbers of neighbours.")
  }
  check_no_period(bws, name)
  if (is_mixed_object(bws)) return(list(bws = bws, raw = if (bws$scaling) bws$bw * mixed_scale(bws) else bws$bw))
  core <- bws[c("y", "w", "nobs", "xnames", "ynames", "ckertype", "ckerorder", "regtype", "method", "unsupported",
                "sdev", "nconfac", "na.action", "terms")]
  core <- c(core, list(x = frame_of(list(bws$x), bws$xnames), ndim = 1L, ncon = 1L, nuno = 0L, nord = 0L, icon = TRUE,
                       iuno = FALSE, iord = FALSE, ukertype = "aitchisonaitken", okertype = "liracine",
                       scaling = FALSE, ncatfac = bws$nobs^(-2 / (2 * bws$ckerorder + 1))))
  list(bws = core, raw = h_of(bws$bw, unit_of(bws), range_of(bws$x)) / np_scale(bws$ckertype))
}

# What smooths of any response need, with bandwidths `raw`.
smoother_of <- function(bws, raw, run) {
  list(bws = bws, sample = mixed_sample(bws, run), task = mixed_task(bws, raw), run = run)
}

# A matrix with a row for each point and a column for each of the responses in the columns of y. `functional`: "fit",
# the fit; "slope", its derivative by the `column`-th of the numeric columns; "sum" and "square", the sum of products
# with the weights or their squares, where a numeric column has the weight 1 at the point itself; "mean" and
# "mean_square", the same with weights that sum to 1. `points`: columns as in the data, or NULL for the data, whose
# observations may be left out of their own smooth.
smooth_responses <- function(smoother, y, functional = "fit", points = NULL, column = 1L, leave_out = FALSE) {
  y <- as.matrix(y)
  heard()
  trend <- trend_of(smoother$bws, y, functional)
  at <- if (!is.null(points)) mixed_points(points, smoother$bws)
  of <- list(functional = functional, column = as.integer(column), leave_out = leave_out, y = trend$rest)
  found <- mixed_responses_cpp(smoother$sample, smoother$task, at, of, smoother$run)
  if (functional %in% c("sum", "square", "mean_square")) return(found)
  if (functional == "slope") {
    return(if (is.null(trend$slope)) found else found + rep(trend$slope[column, ], each = nrow(found)))
  }
  x <- if (is.null(points)) smoother$bws$x else points
  found + trend$at(unclass(x))
}

# What smooths reproduce is taken off the responses, so that it costs no digits: the mean, or for local linear fits the
# plane of least squares, whose slopes these have where neighbours do not differ.
trend_of <- function(bws, y, functional) {
  if (functional %in% c("sum", "square", "mean_square")) return(list(rest = y))
  level <- colMeans(y)
  linear <- functional %in% c("fit", "slope") && bws$regtype == "ll" && bws$ncon > 0L
  rest <- y - rep(level, each = nrow(y))
  if (!linear) return(list(rest = rest, at = function(columns) matrix(level, length(columns[[1L]]), ncol(y), TRUE)))
  numbers <- function(columns) {
    matrix(as.numeric(unlist(lapply(columns[bws$icon], numbers_of), use.names = FALSE)), ncol = bws$ncon)
  }
  x <- numbers(unclass(bws$x))
  centre <- colMeans(x)
  plane <- qr(x - rep(centre, each = nrow(x)))
  slope <- qr.coef(plane, rest)
  slope[is.na(slope)] <- 0
  slope <- matrix(slope, bws$ncon)
  planes <- function(columns) {
    x <- numbers(columns)
    rep(level, each = nrow(x)) + (x - rep(centre, each = nrow(x))) %*% slope
  }
  list(rest = y - planes(unclass(bws$x)), slope = slope, at = planes)
}

# The kernel of numeric columns with a bandwidth of 1, at distances u.
kernel_at <- function(u, bws, run) {
  of <- function(x) list(x = matrix(x), unordered = matrix(0L, length(x), 0L), ordered = matrix(0, length(x), 0L))
  sample <- mixed_cpp(c(of(0), list(levels = integer(0), y = numeric(0))), run)
  task <- list(h = 1, lambda = numeric(0), ckertype = bws$ckertype, ckerorder = as.integer(bws$ckerorder),
               ukertype = "aitchisonaitken", okertype = "liracine", given = 0L, method = "cv.ml")
  run$progress <- NULL
  mixed_density_cpp(sample, task, of(u), FALSE, run)$density
}

# ---- Bootstraps ---------------------------------------------------------------------------------------------------

# Numbers in memory at once, so replicates are computed in blocks.
most_at_once <- 2^24

# Calls body(y, replicates) for blocks of replicates, and joins the vectors that it returns. draw(uniform) makes
# responses, a column for each replicate, of uniform numbers of the same form. `rows`: of the largest matrix in body().
in_replicates <- function(count, replicates, seed, run, body, rows = count) {
  size <- max(1L, min(replicates, floor(most_at_once / max(rows, count))))
  unlist(lapply(parts_of(replicates, size), function(part) {
    heard()
    body(replicate_draws_cpp(count, length(part), part[1L] - 1, seed, run))
  }))
}

# How often each of `count` observations is among the rows drawn: a column for each column of `rows`.
times_drawn <- function(rows, count) apply(rows, 2L, tabulate, count)

# The residuals of replicates, from uniform numbers: drawn with replacement, or times draws of mean 0 and variance 1,
# from Mammen's (1993) two-point distribution, whose third moment is 1, too, or of -1 and 1.
bootstrap_residuals <- function(residuals, uniform, method) {
  if (method == "iid") {
    drawn <- residuals[floor(uniform * length(residuals)) + 1]
    return(matrix(drawn, nrow(uniform)))
  }
  golden <- (1 + sqrt(5)) / 2
  values <- if (method == "wild") c(1 - golden, golden, golden / sqrt(5)) else c(-1, 1, 0.5)
  residuals * ifelse(uniform < values[3L], values[1L], values[2L])
}

# np's marks of P values, and their levels in per cent.
marks_of <- function(P) {
  level <- vapply(P, function(p) c(which(p < c(0.001, 0.01, 0.05, 0.1)), 5L)[1L], 0L)
  list(reject = c("***", "**", "*", ".", "")[level], rejectNum = c(0.1, 1, 5, 10, NA)[level])
}

meaning_of_marks <- "\nSignificance: *** 0.001, ** 0.01, * 0.05, . 0.1\n"

# P values of bootstraps of `count` samples: 0 is below one of them.
p_text <- function(P, count) ifelse(is.na(P) | P > 0, format_short(P), paste0("<", format_short(1 / count)))

# "P = 0.05" or "P <0.01", of the text of a P value.
p_words <- function(text) paste("P", if (startsWith(text, "<")) text else paste("=", text))

check_seed <- function(seed, name = "random.seed") {
  seed <- plain(seed)
  if (!is_number(seed) || seed != round(seed) || abs(seed) > 2^31) {
    abort_input("`", name, "` must be a whole number between -2^31 and 2^31, not ", describe_value(seed), ".")
  }
  # The core takes numbers that are not negative.
  as.numeric(seed) %% 2^32
}
