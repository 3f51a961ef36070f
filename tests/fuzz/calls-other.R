# Random arguments of the functions for regressions, scores, queries, files and the session, and of methods.

regression_data <- function() {
  n <- sample_size()
  x <- column(n)
  y <- if (chance(0.8)) sin(x / spread_of(x)) + stats::rnorm(n, sd = 0.3) else column(n)
  list(x = x, y = suppressWarnings(ifelse(is.finite(y), y, 0)))
}

regression_arguments <- function(x) {
  if (chance(0.15)) return(neighbour_arguments(length(x)))
  c(some_of(list(regtype = pick(c("lc", "ll")), bwmethod = pick(c("cv.ls", "cv.aic")),
                 ckertype = pick(setdiff(kernels, "cosine")), unsupported = pick(c("reject", "exclude"))), 0.4),
    some_of(list(nbw = pick(c(2, 7, 50)), bwmin = spread_of(x)[1L] / 10, bwmax = spread_of(x)[1L] * 2,
                 bw.scale = pick(c("support", "np")), refine = TRUE, w = weights_for(length(x)),
                 bws = spread_of(x)[1L] * pick(list(0.3, c(0.2, 0.5, 1))), na.action = quote(stats::na.omit),
                 bandwidth.compute = FALSE, period = pick(list(24, spread_of(x)[1L] * c(0.3, 2)[pick(1:2)], -1))), 0.1))
}

neighbour_arguments <- function(n) {
  c(list(bwtype = pick(c("generalized_nn", "adaptive_nn"))),
    some_of(list(regtype = "ll", bwmethod = "cv.aic", ckertype = pick(setdiff(kernels, "cosine")),
                 unsupported = "exclude", w = weights_for(n), bws = pick(list(1, 5, 1:3, 2.5, n)),
                 bandwidth.compute = FALSE, nbw = 5), 0.25))
}

# The data as a formula or as xdat and ydat, whose names differ between functions.
with_data <- function(data, names, more) {
  if (chance(0.4)) return(c(list(formula = quote(y ~ x), data = as.data.frame(data)), more))
  c(stats::setNames(list(data$x, data$y), names), more)
}

bandwidth_call <- function() {
  n <- pick(c(5, 20, 60))
  x <- stats::runif(n)
  as.call(c(quote(npregbw), with_data(list(x = x, y = x^2 + stats::rnorm(n, sd = 0.1)), c("xdat", "ydat"),
                                      some_of(list(regtype = "ll", ckertype = pick(setdiff(kernels, "cosine")),
                                                   bwtype = pick(c("fixed", "generalized_nn", "adaptive_nn")))))))
}

# Several regressors, factors and ordered factors.
mixed_frame <- function(n = pick(c(3, 8, 25))) {
  columns <- list(a = column(n), b = stats::runif(n), z = factor(sample(letters[1:3], n, TRUE), letters[1:4]),
                  o = ordered(sample(1:3, n, TRUE)), l = stats::runif(n) < 0.5,
                  d = as.Date("2020-01-01") + sample(2 * n, n))
  some <- columns[sort(sample(6L, pick(1:3)))]
  if (length(some) == 1L && is.numeric(some[[1L]])) some$z <- columns$z
  if (chance(0.05)) some[[1L]][1L] <- NA
  structure(some, class = "data.frame", row.names = seq_len(n))
}

bandwidths_of <- function(frame) {
  unname(vapply(frame, function(column) {
    if (inherits(column, "Date")) 9 else if (is.numeric(column)) spread_of(column)[1L] else 0.3
  }, 0))
}

mixed_arguments <- function(frame) {
  c(some_of(list(regtype = "ll", bwmethod = "cv.aic", ckertype = pick(mixed_kernels),
                 ukertype = pick(c("aitchisonaitken", "liracine")), nmulti = pick(1:2),
                 okertype = pick(c("liracine", "wangvanryzin", "racineliyan"))), 0.4),
    some_of(list(bwtype = pick(c("generalized_nn", "adaptive_nn"))), 0.2),
    some_of(list(ckerorder = 4, unsupported = "exclude", bwscaling = TRUE, bws = bandwidths_of(frame),
                 bandwidth.compute = FALSE, na.action = quote(stats::na.fail), w = weights_for(nrow(frame))), 0.1))
}

mixed_call <- function() {
  frame <- mixed_frame(pick(c(8, 25)))
  as.call(c(quote(npregbw), list(xdat = frame, ydat = stats::rnorm(nrow(frame)), nmulti = 1),
            some_of(list(regtype = "ll"))))
}

# Densities of mixed data; `sides`: what stands before the rest of the names of kernels.
mixed_density_arguments <- function(frame, sides) {
  kernels <- list(c = pick(mixed_kernels), u = pick(c("aitchisonaitken", "liracine")),
                  o = pick(c("liracine", "wangvanryzin", "racineliyan")))
  named <- unlist(lapply(names(kernels), function(kind) {
    stats::setNames(rep(kernels[kind], length(sides)), paste0(kind, sides, "kertype"))
  }), recursive = FALSE)
  c(if (chance(0.4)) named,
    some_of(list(bwmethod = pick(c("cv.ml", "cv.ls", "normal-reference")), bwscaling = TRUE, nmulti = pick(c(1, 3)),
                 bws = stats::runif(length(frame)), bandwidth.compute = FALSE), 0.2))
}

mixed_density_frame <- function(n = pick(c(3, 8, 25))) {
  frame <- mixed_frame(n)
  if (length(frame) > 1L) return(frame)
  cbind(frame, stats::setNames(data.frame(stats::rnorm(n)), "other"))
}

kernel_operators <- c("normal", "convolution", "derivative", "integral")

# Distribution functions of mixed data: most factors have an order. `grid`: the argument with points of the criterion.
mixed_distribution_frame <- function(conditional, n = pick(c(3, 8, 25))) {
  frame <- mixed_density_frame(n)
  of <- if (conditional) 1L else seq_along(frame)
  in_order <- function(column) if (is.factor(column)) as.ordered(column) else column
  if (chance(0.95)) frame[of] <- lapply(frame[of], in_order)
  frame
}

mixed_distribution_arguments <- function(frame, sides, grid) {
  more <- mixed_density_arguments(frame, sides)
  more <- more[!names(more) %in% c("bwmethod", "ukertype", "uykertype")]
  of <- if (identical(sides, "")) frame else frame[1L]
  points <- stats::setNames(list(of[1:2, , drop = FALSE]), grid)
  c(more, some_of(c(list(bwmethod = pick(c("cv.cdf", "cv.ls", "normal-reference")), do.full.integral = TRUE,
                         ngrid = pick(c(1, 2, 20))), points), 0.2))
}

mixed_density_call <- function(conditional = chance(0.5)) {
  frame <- mixed_density_frame(pick(c(8, 25)))
  more <- c(mixed_density_arguments(frame, if (conditional) c("x", "y") else ""), list(nmulti = 1))
  more <- more[!duplicated(names(more)) & names(more) != "bandwidth.compute"]
  if (!conditional) return(as.call(c(list(quote(npudens), tdat = frame), more)))
  as.call(c(list(quote(npcdens), txdat = frame[-1L], tydat = frame[1L]), more))
}

# Fixed bandwidths of a regression, for a test of it.
tested_call <- function() {
  frame <- mixed_frame(pick(c(5, 25)))
  as.call(c(list(quote(npregbw), xdat = frame, ydat = stats::rnorm(nrow(frame)), bandwidth.compute = FALSE,
                 bws = bandwidths_of(frame)),
            some_of(list(regtype = "ll", ckertype = pick(mixed_kernels)), 0.3)))
}

# Regressors of an index and responses, which are 0 and 1 for one of the methods.
index_data <- function(n = pick(c(6, 15, 40))) {
  x <- data.frame(a = column(n), b = stats::rnorm(n), c = stats::runif(n) < 0.5)[seq_len(pick(2:3))]
  method <- pick(c("ichimura", "kleinspady"))
  y <- stats::rnorm(n)
  list(xdat = x, ydat = if (method == "ichimura") y else as.numeric(y > 0), method = method)
}

# Linear regressors, response and other regressors.
partly_linear_data <- function(n = pick(c(5, 12, 25))) {
  x <- data.frame(p = stats::rnorm(n), q = stats::runif(n) < 0.5, f = factor(sample(letters[1:3], n, TRUE)))
  z <- data.frame(z = column(n), g = factor(sample(1:2, n, TRUE)))
  if (chance(0.2)) z$z <- as.Date("2020-01-01") + sample(2 * n, n)
  list(xdat = x[sort(sample(3L, pick(1:2)))], ydat = stats::rnorm(n), zdat = if (chance(0.5)) z else z[pick(1:2)])
}

partly_linear_bandwidths <- function(data) {
  rows <- 1L + sum(vapply(data[[1L]], function(one) if (is.factor(one)) max(nlevels(droplevels(one)) - 1L, 1L) else 1L,
                          0L))
  one <- bandwidths_of(data[[3L]])
  matrix(one, rows, length(one), TRUE)
}

entropy_arguments <- function() {
  c(list(boot.num = 9), some_of(list(method = pick(c("integration", "summation")), bootstrap = FALSE,
                                     random.seed = 3), 0.4))
}

bootstrap_arguments <- function(methods) {
  c(list(boot.num = pick(c(9, 20))),
    some_of(list(boot.method = pick(methods), pivot = chance(0.5), random.seed = pick(c(1, -5, 2^31))), 0.4))
}

fit_call <- function() {
  as.call(list(quote(npreg), bws = if (chance(0.3)) mixed_call() else bandwidth_call()))
}

new_points <- function() pick(list(stats::runif(5L), stats::runif(3L, -1, 2), c(0.5, NA), numeric(0)))

fit_more <- function() {
  more <- some_of(list(exdat = new_points(), se = chance(0.5), level = stats::runif(1L), residuals = TRUE,
                       gradients = TRUE), 0.2)
  if (is.null(more$exdat) || chance(0.5)) return(more)
  c(more, list(eydat = c(stats::rnorm(max(0L, length(more$exdat) - 1L)), pick(list(NA, 0, 1e300)))))
}

# Samples of a table for scores and queries: few variables, all of the table or scaled.
table_of <- function(d = pick(1:3), n = pick(c(3, 10, 60))) {
  x <- matrix(stats::rnorm(n * d), n, d, dimnames = list(NULL, letters[seq_len(d)]))
  if (chance(0.1)) x[] <- round(x)
  if (chance(0.05)) x <- x * magnitude()
  if (chance(0.3)) as.data.frame(x) else x
}

score_arguments <- function() {
  d <- pick(1:3)
  model <- if (chance(0.7)) table_of(d) else list(first = table_of(d), second = table_of(d))
  if (chance(0.2)) {
    grid <- list(H = diag(d), kernel = "epanechnikov", xmin = rep(-5, d), xmax = rep(5, d), gridsize = rep(9, d))
    fhat <- function() as.call(c(quote(kde), list(x = as.matrix(table_of(d))), grid))
    return(list(obs = fhat(), model = fhat()))
  }
  c(list(obs = table_of(d), model = model, gridsize = rep(pick(c(2, 8)), d)),
    if (chance(0.8)) list(h = stats::runif(1L, 0.2, 3)),
    some_of(list(center = TRUE, sensitivity = stats::runif(2L, 0.2, 3), B = pick(1:3), level = stats::runif(1L)), 0.15))
}

box_limits <- function(d, m = pick(c(1, 1, 4))) {
  lower <- matrix(stats::rnorm(m * d, -1), m, d)
  if (chance(0.2)) lower[1L, 1L] <- -Inf
  list(lower = lower, upper = lower + stats::rexp(m * d, 0.5))
}

queried <- function() {
  if (chance(0.5)) return(estimate(n = 60, points = TRUE))
  table <- table_of(n = 60)
  as.call(c(quote(kde_synopsis), list(data = table, size = pick(c(5, 20, 100)), h = bandwidth_for(table)),
            some_of(list(kernel = pick(kernels), bounds = if (chance(0.5)) bounds_for(table)), 0.4)))
}

query_arguments <- function() {
  fhat <- queried()
  if (chance(0.2)) {
    condition <- pick(list(quote(a > 0), quote(a > -1 & a <= 2), quote(b < 1 & a > 0), quote(1 < a), quote(a == 1),
                           quote(a > 0 | a < -1), quote(!a), quote(z > 1), quote(a > "x"), quote(a > NA)))
    aggregate <- pick(list(quote(count()), quote(mean(a)), quote(sum(b)), quote(var(a)), quote(max(a)), quote(a), 3))
    return(structure(list(fhat, condition, if (chance(0.7)) aggregate), whole = TRUE))
  }
  d <- shape_of(if (is.null(fhat$x)) fhat$data else fhat$x)[2L]
  c(list(fhat = fhat), box_limits(d), some_of(list(fun = pick(c("count", "sum", "mean", "var")), of = pick(1:2)), 0.5),
    some_of(list(N = pick(c(10, 1e6)), level = stats::runif(1L)), 0.15))
}

# A connection to a database that has this table only, as `t`.
database <- function(rows) {
  if (is.null(made$con)) made$con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  DBI::dbWriteTable(made$con, "t", rows, overwrite = TRUE)
  made$con
}

database_rows <- function() {
  n <- pick(c(0, 1, 3, 40), c(1, 1, 3, 9))
  rows <- data.frame(i = seq_len(n), a = column(n), b = stats::rnorm(n), l = sample(letters[1:3], n, TRUE))
  if (chance(0.1) && n > 0L) rows$a[1L] <- NA
  rows
}

# Of a synopsis of a table in a database.
table_arguments <- function() {
  connection <- call("database", database_rows())
  data <- if (chance(0.3)) {
    list(data = call("tbl_of", connection))
  } else {
    list(data = connection, table = pick(c("t", "SELECT * FROM t WHERE b < 1", "none"), c(8, 3, 1)))
  }
  c(data, list(columns = pick(list("a", c("a", "l"), c("a", "b", "l"), "l", "none"), c(5, 5, 5, 1, 1))),
    some_of(list(size = pick(c(1, 5, 30)), key = pick(c("i", "a", "l"), c(8, 1, 1)), na.action = quote(stats::na.omit),
                 h = 1), 0.5))
}

tbl_of <- function(con) dplyr::tbl(con, "t")

# The data of a layer of ggplot2 once it is drawn. ggplot2 makes warnings of errors in groups.
drawn <- function(layer, data) {
  plot <- ggplot2::ggplot(data, ggplot2::aes(x, colour = g)) + layer
  withCallingHandlers(ggplot2::layer_data(plot), warning = function(w) {
    if (inherits(w$parent, "kestrel_error") || grepl("^Removed [0-9]+ rows", conditionMessage(w))) {
      invokeRestart("muffleWarning")
    }
  })
}

layer_call <- function(names) {
  name <- pick(names)
  given <- other_calls[[name]]()
  if (name != "stat_kestrel_density") given <- c(list(mapping = quote(ggplot2::aes(y = y))), given)
  as.call(c(as.name(name), given))
}

# Files are made once, so that a call can spoil the reading alone.
make_files <- function() {
  folder <- tempdir()
  file <- file.path(folder, "density.nc")
  kestrel::write_pdf(kestrel::kde(cbind(a = c(1, 2, 4, 3), b = c(0, 3, 1, 5)), H = diag(2), gridsize = 5), file)
  bytes <- readBin(file, "raw", 1e6)
  writeBin(bytes[seq_len(length(bytes) %/% 2L)], file.path(folder, "half.nc"))
  writeLines("not a netCDF file", file.path(folder, "text.nc"))
  dir.create(file.path(folder, "http:"), showWarnings = FALSE)
}

file_argument <- function() {
  pick(list(quote(file.path(tempdir(), "density.nc")), quote(file.path(tempdir(), "half.nc")),
            quote(file.path(tempdir(), "text.nc")), quote(file.path(tempdir(), "nowhere.nc")), quote(tempdir())),
       c(8, 1, 1, 1, 1))
}

other_calls <- list(
  npregbw = function() {
    if (chance(0.3)) {
      frame <- mixed_frame()
      return(c(list(xdat = frame, ydat = stats::rnorm(nrow(frame))), mixed_arguments(frame)))
    }
    data <- regression_data()
    with_data(data, c("xdat", "ydat"), regression_arguments(data$x))
  },
  npreg = function() {
    if (chance(0.3)) {
      frame <- mixed_frame()
      return(c(list(txdat = frame, tydat = stats::rnorm(nrow(frame))), mixed_arguments(frame),
               some_of(list(exdat = mixed_frame(4), gradients = TRUE, se = FALSE), 0.3)))
    }
    if (chance(0.4)) return(c(list(bws = bandwidth_call()), fit_more()))
    data <- regression_data()
    with_data(data, c("txdat", "tydat"), c(regression_arguments(data$x), fit_more()))
  },
  npudensbw = function() {
    frame <- mixed_density_frame()
    c(list(dat = frame), mixed_density_arguments(frame, ""))
  },
  npudens = function() {
    frame <- mixed_density_frame()
    more <- mixed_density_arguments(frame, "")
    c(list(tdat = frame), more[names(more) != "bandwidth.compute"], some_of(list(edat = frame[1:2, ]), 0.3))
  },
  npcdensbw = function() {
    frame <- mixed_density_frame()
    c(list(xdat = frame[-1L], ydat = frame[1L]), mixed_density_arguments(frame, c("x", "y")))
  },
  npcdens = function() {
    frame <- mixed_density_frame()
    more <- mixed_density_arguments(frame, c("x", "y"))
    c(list(txdat = frame[-1L], tydat = frame[1L]), more[names(more) != "bandwidth.compute"],
      if (chance(0.3)) list(exdat = frame[1:2, -1L, drop = FALSE], eydat = frame[1:2, 1L, drop = FALSE]),
      some_of(list(gradients = TRUE), 0.3))
  },
  npudistbw = function() {
    frame <- mixed_distribution_frame(FALSE)
    c(list(dat = frame), mixed_distribution_arguments(frame, "", "gdat"))
  },
  npudist = function() {
    frame <- mixed_distribution_frame(FALSE)
    more <- mixed_distribution_arguments(frame, "", "gdat")
    c(list(tdat = frame), more[names(more) != "bandwidth.compute"], some_of(list(edat = frame[1:2, ]), 0.3))
  },
  npcdistbw = function() {
    frame <- mixed_distribution_frame(TRUE)
    c(list(xdat = frame[-1L], ydat = frame[1L]), mixed_distribution_arguments(frame, c("x", "y"), "gydat"))
  },
  npcdist = function() {
    frame <- mixed_distribution_frame(TRUE)
    more <- mixed_distribution_arguments(frame, c("x", "y"), "gydat")
    c(list(txdat = frame[-1L], tydat = frame[1L]), more[names(more) != "bandwidth.compute"],
      if (chance(0.3)) list(exdat = frame[1:2, -1L, drop = FALSE], eydat = frame[1:2, 1L, drop = FALSE]),
      some_of(list(gradients = TRUE), 0.3))
  },
  npquantile = function() {
    c(list(x = column(pick(c(5, 30)))), some_of(list(tau = stats::runif(3L), f = pick(c(0, 2)), nmulti = 1), 0.4),
      some_of(list(bws = stats::runif(1L), ckertype = "epanechnikov", ckerorder = 4), 0.4))
  },
  npcopula = function() {
    frame <- mixed_distribution_frame(FALSE)
    of <- as.call(list(pick(list(quote(npudistbw), quote(npudensbw))), dat = frame,
                       bws = stats::runif(length(frame)) / 2, bandwidth.compute = FALSE))
    c(list(bws = of), some_of(list(u = matrix(stats::runif(2L * length(frame)), 2L), data = frame), 0.5))
  },
  npconmode = function() {
    frame <- mixed_density_frame()
    frame[[1L]] <- factor(sample(c("u", "v", "w"), nrow(frame), TRUE))
    more <- mixed_density_arguments(frame, c("x", "y"))
    c(list(bws = stats::runif(length(frame)) / 2, txdat = frame[-1L], tydat = frame[[1L]]),
      more[!names(more) %in% c("bandwidth.compute", "bws")],
      if (chance(0.3)) list(exdat = frame[1:2, -1L, drop = FALSE]),
      if (chance(0.1)) list(eydat = frame[1:2, 1L]))
  },
  npcmstest = function() {
    frame <- mixed_frame(pick(c(8, 25)))
    data <- data.frame(y = stats::rnorm(nrow(frame)), t = stats::rnorm(nrow(frame)))
    model <- pick(list(quote(stats::lm(y ~ t)), quote(stats::glm(y ~ t)), quote(stats::lm(y ~ 1))))
    model$data <- data
    c(list(xdat = frame, model = model), bootstrap_arguments(c("iid", "wild", "wild-rademacher")),
      some_of(list(distribution = "asymptotic", density.weighted = FALSE, ckertype = "epanechnikov", nmulti = 1,
                   bws = stats::runif(length(frame)) / 2), 0.3))
  },
  npqcmstest = function() {
    frame <- mixed_frame(pick(c(8, 25)))
    n <- nrow(frame)
    data <- data.frame(y = pick(list(stats::rnorm(n), sample(3, n, TRUE))), t = stats::rnorm(n))
    c(list(xdat = frame, data = data, model = y ~ t), bootstrap_arguments(c("iid", "wild", "wild-rademacher")),
      some_of(list(tau = stats::runif(1L), distribution = "asymptotic", bwydat = "varepsilon",
                   bws = stats::runif(length(frame)) / 2), 0.3))
  },
  npindexbw = function() {
    data <- index_data()
    c(data, some_of(list(bws = c(1, stats::rnorm(length(data$xdat) - 1L), 0.5), bandwidth.compute = FALSE,
                         optim.method = pick(c("BFGS", "CG")), nmulti = 1, ckertype = pick(setdiff(kernels, "cosine")),
                         only.optimize.beta = TRUE, optim.maxit = 5), 0.3))
  },
  npindex = function() {
    data <- index_data()
    c(list(bws = c(1, stats::rnorm(length(data$xdat) - 1L), 0.5), txdat = data$xdat, tydat = data$ydat),
      data["method"], some_of(list(exdat = data$xdat[1:2, ], gradients = TRUE, errors = TRUE, residuals = TRUE), 0.4))
  },
  npscoefbw = function() {
    data <- partly_linear_data(pick(c(8, 12, 25)))
    c(data, some_of(list(bws = partly_linear_bandwidths(data)[1L, ], bandwidth.compute = FALSE, nmulti = 1,
                         ckertype = "epanechnikov", ckerorder = 4, bwscaling = TRUE), 0.3))
  },
  npscoef = function() {
    data <- partly_linear_data(pick(c(8, 12, 25)))
    names(data) <- c("txdat", "tydat", "tzdat")
    points <- list(exdat = utils::head(data$txdat, 2L), ezdat = utils::head(data$tzdat, 2L))
    c(list(bws = partly_linear_bandwidths(data)[1L, ]), data, if (chance(0.3)) points,
      some_of(list(betas = TRUE, errors = FALSE, leave.one.out = TRUE, ckertype = "uniform"), 0.3))
  },
  npdeneqtest = function() {
    x <- mixed_density_frame()
    y <- x[sample(nrow(x), pick(c(3, 20)), TRUE), , drop = FALSE]
    bandwidths <- function() stats::runif(length(x)) / 2
    more <- mixed_density_arguments(x, "")
    c(list(x = x, y = y), list(boot.num = 9), more[!names(more) %in% c("bandwidth.compute", "bws")],
      some_of(list(bw.x = bandwidths(), bw.y = bandwidths()), 0.6))
  },
  npunitest = function() {
    c(list(data.x = column(pick(c(5, 20))), data.y = column(pick(c(5, 20)))), entropy_arguments(),
      some_of(list(bw.x = stats::runif(1L), bw.y = 1), 0.3))
  },
  npsdeptest = function() {
    lags <- pick(1:2)
    c(list(data = column(pick(c(6, 12))), lag.num = lags), entropy_arguments(),
      some_of(list(bw.y = stats::runif(lags), bw.y.lag = stats::runif(lags), bw.joint = matrix(0.5, lags, 2L)), 0.4))
  },
  npsymtest = function() {
    more <- entropy_arguments()
    c(list(data = column(pick(c(5, 20)))), more[names(more) != "bootstrap"], some_of(list(bw = 0.5), 0.3))
  },
  npdeptest = function() {
    n <- pick(c(5, 12))
    c(list(data.x = stats::rnorm(n), data.y = stats::rnorm(n)), entropy_arguments(),
      some_of(list(bw.data.x = 0.5, bw.joint = c(0.4, 0.5)), 0.4))
  },
  npplregbw = function() {
    data <- partly_linear_data()
    c(data, some_of(list(bws = partly_linear_bandwidths(data), bandwidth.compute = FALSE, regtype = "ll", nmulti = 1),
                    0.4))
  },
  npplreg = function() {
    data <- partly_linear_data()
    names(data) <- c("txdat", "tydat", "tzdat")
    points <- list(exdat = utils::head(data$txdat, 2L), ezdat = utils::head(data$tzdat, 2L))
    c(list(bws = partly_linear_bandwidths(data)), data, if (chance(0.3)) points,
      some_of(list(regtype = "ll", residuals = TRUE, ckertype = "epanechnikov"), 0.2))
  },
  npsigtest = function() {
    c(list(bws = if (chance(0.3)) bandwidth_call() else tested_call()),
      bootstrap_arguments(c("iid", "wild", "wild-rademacher", "pairwise")),
      some_of(list(joint = TRUE, boot.type = "II", index = pick(list(1, 2, c(1, 1)))), 0.15))
  },
  npqreg = function() {
    frame <- mixed_density_frame()
    y <- if (chance(0.95)) stats::rnorm(nrow(frame)) else frame[1L]
    more <- mixed_distribution_arguments(cbind(data.frame(y = stats::rnorm(nrow(frame))), frame), c("x", "y"), "gydat")
    c(list(txdat = frame, tydat = y), more[names(more) != "bandwidth.compute"],
      some_of(list(exdat = frame[1:2, ], tau = pick(c(0.01, 0.3, 0.5, 1)), gradients = TRUE), 0.3))
  },
  npksum = function() {
    frame <- mixed_density_frame()
    n <- nrow(frame)
    numbers <- function() matrix(stats::rnorm(n * pick(1:3)), n)
    c(list(bws = stats::runif(length(frame), 0, 0.6), txdat = frame),
      some_of(list(exdat = frame[1:2, ], tydat = numbers(), weights = numbers(), leave.one.out = TRUE,
                   kernel.pow = pick(1:3), bandwidth.divide = TRUE, operator = pick(kernel_operators),
                   permutation.operator = pick(c("none", "normal", "derivative", "integral")), compute.ocg = TRUE,
                   return.kernel.weights = TRUE, ckertype = pick(mixed_kernels),
                   ckerorder = pick(c(2, 4, 6, 8)), ukertype = "liracine",
                   okertype = pick(c("liracine", "wangvanryzin", "nliracine", "racineliyan"))), 0.3))
  },
  se = function() list(object = if (chance(0.3)) mixed_density_call() else fit_call()),
  gradients = function() {
    c(list(x = if (chance(0.3)) mixed_density_call(TRUE) else fit_call()), some_of(list(errors = TRUE), 0.3))
  },
  npplot = function() {
    c(list(if (chance(0.5)) bandwidth_call() else fit_call()),
      some_of(list(gradients = TRUE, neval = pick(c(2, 50)), plot.errors.method = "asymptotic",
                   plot.behavior = pick(c("plot", "data", "plot-data"))), 0.3))
  },
  pdf_score = score_arguments,
  kde_query = query_arguments,
  kde_synopsis = function() {
    if (chance(0.1)) return(list(data = quote(many(1e6))))
    if (chance(0.3)) return(table_arguments())
    x <- if (chance(0.5)) sample_values() else table_of()
    d <- shape_of(x)[2L]
    c(list(data = x), bandwidth_arguments(x),
      some_of(list(size = pick(c(1, 5, 30)), kernel = pick(kernels), tune_queries = box_limits(d, 12L),
                   bounds = bounds_for(x), period = pick(c(1, 3, NA))), 0.4))
  },
  kde_join = function() {
    key <- quote(kde_synopsis(faithful, size = 9))
    c(list(x = key, y = pick(list(key, key, quote(kde_synopsis(faithful$waiting)), 3)),
           by = pick(list("waiting", "waiting", c("waiting", "x"), c("waiting", "eruptions"), "id", 1))),
      some_of(list(lower = pick(list(50, c(50, 60), -Inf, "a")), upper = pick(list(70, c(80, 90), 40)),
                   spacing = pick(c(1, 0.5, 1e-9, -1)), level = pick(c(0.5, 1.5))), 0.4))
  },
  learn = function() {
    c(list(synopsis = quote(kde_synopsis(faithful, size = 9))), list(boxes = box_limits(pick(c(2L, 2L, 1L)), 4L)),
      list(counts = pick(list(1:4, c(0, 1e9, 2, 3), 3))),
      some_of(list(batch = pick(c(1, 3)), rate = pick(c(0.1, 9))), 0.4))
  },
  refresh = function() {
    if (chance(0.3)) return(list(synopsis = quote(kde_synopsis(faithful, size = 9)), con = pick(list(3, "con", NULL))))
    list(synopsis = as.call(c(quote(kde_synopsis), table_arguments())), con = call("database", database_rows()))
  },
  sketch_plan = function() {
    if (chance(0.1)) return(list(source = pick(list(NULL, "no file", quote(sin), list(1)))))
    x <- if (chance(0.7)) sample_values() else table_of()
    c(list(source = x),
      some_of(list(hmin = pick(c(0.01, 1, 1e-290, -1)), column = pick(list("a", "x", 3, c("a", "b")))), 0.4))
  },
  kde_sketch = function() {
    if (chance(0.2)) {
      plane <- quote(cbind(a = c(1:600 / 90, 7), b = sin(0:600)))
      return(list(source = plane, plan = call("sketch_plan", plane, hmin = pick(c(0.01, 4)))))
    }
    x <- if (chance(0.8)) sample_values() else table_of()
    plan <- list(hmin = pick(c(0.01, 1, 1e200)), column = pick(list("a", "x", NULL)))
    if (chance(0.3)) {
      rows <- quote(data.frame(a = c(1:40 / 9, 7), v = c(1:40, 1e6)))
      return(list(source = rows, plan = call("sketch_plan", rows, hmin = pick(c(0.01, 4)), column = "a", w = "v",
                                            bounded = chance(0.5))))
    }
    c(list(source = x, plan = as.call(c(quote(sketch_plan), list(source = c(1, 2)), plan))),
      some_of(list(na.action = quote(stats::na.omit)), 0.4))
  },
  npreg_stream = function() {
    rows <- pick(list(quote(data.frame(x = 1:40 / 9, y = sin(1:40))), quote(data.frame(x = c(1, 1, 2, 1e9), y = 4:1)),
                      quote(data.frame(x = c(2, 1), y = 1:2)), sample_values()))
    c(list(source = rows, y = "y", bws = pick(list(1, c(0.1, 1e300), -1, Inf, NULL, "a"))),
      some_of(list(exdat = pick(list(1:3, NA, 1e300)), regtype = "ll", bwmethod = "cv.aic", column = pick(c("x", "z")),
                   ckertype = pick(c("uniform", "tricube", "gaussian")), unsupported = "exclude"), 0.4))
  },
  next_chunk = function() list(source = pick(list(sample_values(), NULL, "no file", quote(function(reset) 1)))),
  as_sketch = function() {
    sketch <- quote(kde_sketch(c(1, 1:40 / 50), sketch_plan(1, hmin = 4)))
    frame <- call("as.data.frame", sketch)
    bytes <- call("$", sketch, quote(bytes))
    list(x = pick(list(sketch, frame, bytes, call("[", bytes, 1:50), 3)),
         plan = pick(list(NULL, quote(sketch_plan(1, hmin = 4)), quote(sketch_plan(1, hmin = 1)), 2)))
  },
  sketch_sql = function() {
    list(plan = quote(sketch_plan(1, hmin = 1)), table = pick(list("t", "a.b", "\"", "", 3)),
         column = pick(list("x", "a b", "", NULL)))
  },
  q_error = function() {
    m <- pick(c(0, 1, 9))
    list(estimate = if (chance(0.3)) matrix(stats::rexp(2 * m), m) else stats::rexp(m), truth = stats::rexp(m),
         least = stats::rexp(1L))
  },
  write_pdf = function() {
    c(list(fhat = estimate(points = chance(0.1)), file = quote(tempfile(fileext = ".nc"))),
      some_of(list(units = pick(list("m", c("m", "s")))), 0.2))
  },
  read_pdf = function() list(file = file_argument()),
  read_sample = function() list(file = file_argument(), variables = pick(list("a", c("a", "b"), "density", "sample"))),
  vech = function() list(x = pick(list(diag(3), matrix_for(sample_values())))),
  invvech = function() list(x = stats::rnorm(pick(c(0, 1, 2, 3, 6, 136)))),
  vec = function() c(list(x = sample_values()), some_of(list(byrow = TRUE))),
  invvec = function() c(list(x = stats::rnorm(pick(c(0, 1, 4, 6)))), some_of(list(ncol = 2, nrow = 3, byrow = TRUE))),
  matrix.sqrt = function() list(A = matrix_for(sample_values())),
  pre.sphere = function() c(list(x = sample_values()), some_of(list(mean.centred = TRUE))),
  pre.scale = function() c(list(x = sample_values()), some_of(list(mean.centred = TRUE))),
  kde_overlap = function() {
    c(list(fhat1 = quote(kde(faithful[1:40, ], h = 1, gridsize = 9)),
           fhat2 = quote(kde(faithful[30:90, ], H = diag(2), gridsize = 7))), some_of(list(cont = 50, gridsize = 9)))
  },
  kde_risk = function() {
    d <- pick(1:2)
    c(list(x1 = sample_values(d = d), x2 = sample_values(d = d), h = stats::rexp(1L) + 0.1, gridsize = 7),
      some_of(list(B = 3, supp = 1)))
  },
  stat_kestrel_density = function() {
    some_of(list(h = pick(list(0.2, c(0.1, 0.3), quote(hns))), kernel = "biweight", gridsize = 9, bounds = c(0, Inf)))
  },
  stat_kestrel_density_2d = function() {
    some_of(list(h = 0.2, filled = TRUE, cont = c(20, 90), gridsize = c(9, 9), kernel = "uniform"))
  },
  geom_kestrel_hdr = function() some_of(list(H = quote(diag(2)), cont = 50, gridsize = 9)),
  stat_kestrel_smooth = function() some_of(list(se = FALSE, level = 0.9, n = 9, regtype = "ll", bws = 0.3)),
  kestrel_info = function() list(),
  kestrel_threads = function() some_of(list(n = pick(1:4)), 0.5)
)

# Methods of generics from other packages, for objects of kestrel.
method_calls <- list(
  drawn = function() {
    n <- pick(c(1, 2, 8, 40))
    frame <- data.frame(x = column(n), y = stats::rnorm(n), g = sample(letters[1:2], n, TRUE))
    structure(list(layer_call(grep("_kestrel_", names(other_calls), value = TRUE)), frame), whole = TRUE)
  },
  predict = function() {
    if (chance(0.2)) {
      f <- band_estimate()
      return(c(list(f, x = points_for(f$x)), band_arguments()))
    }
    if (chance(0.5)) {
      fhat <- estimate()
      return(list(fhat, x = points_for(fhat$x)))
    }
    c(list(fit_call(), newdata = data.frame(x = new_points())),
      some_of(list(se.fit = TRUE, interval = pick(c("none", "confidence")), level = stats::runif(1L))))
  },
  print = function() list(if (chance(0.3)) call("summary", summarised()) else any_object()),
  summary = function() list(summarised()),
  as.data.frame = function() {
    if (chance(0.2)) return(c(list(band_estimate()), band_arguments()))
    list(pick(list(estimate(), fit_call())))
  },
  fitted = function() list(fit_call()),
  residuals = function() list(fit_call()),
  plot = function() {
    if (chance(0.4)) return(list(summarised()))
    c(list(estimate()), some_of(list(cont = pick(list(50, c(10, 90))), drawpoints = TRUE), 0.3))
  }
)

# Confidence bands are of one variable.
band_estimate <- function() {
  f <- estimate(d = 1)
  if (chance(0.4)) f[[1L]] <- quote(kcde)
  f
}

band_arguments <- function() {
  c(list(interval = pick(c("pointwise", "simultaneous"))),
    some_of(list(level = stats::runif(1L), method = pick(c("bootstrap", "asymptotic")), B = pick(c(2, 20))), 0.5))
}

summarised <- function() {
  score <- as.call(list(quote(pdf_score), obs = table_of(2, 20), model = list(a = table_of(2, 20), b = table_of(2, 20)),
                        h = 1, gridsize = 6))
  boot <- as.call(list(quote(hboot), x = stats::rnorm(20L), B = 2, h = c(0.5, 1, 2), gridsize = 30))
  pick(list(estimate(), fit_call(), bandwidth_call(), score, boot), c(6, 2, 2, 1, 1))
}

any_object <- function() {
  if (chance(0.8)) return(summarised())
  if (chance(0.5)) return(queried())
  as.call(list(quote(q_error), estimate = stats::rexp(5L), truth = stats::rexp(5L)))
}
