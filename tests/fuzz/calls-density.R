# Random arguments of the functions for densities and bandwidths. Each function here returns the arguments of one call.

sample_and_weights <- function(x) c(list(x = x), if (chance(0.2)) list(w = weights_for(shape_of(x)[1L])))

grid_arguments <- function(x) {
  d <- shape_of(x)[2L]
  inside <- spread_of(x)
  # The default grid of several dimensions takes long, so it is rare.
  size <- if (d <= 2L && chance(0.3) || chance(0.03)) NULL else list(gridsize = grid_size_for(d))
  limits <- some_of(list(xmin = -inside * stats::rexp(1L, 0.3), xmax = inside * stats::rexp(1L, 0.3)), 0.15)
  if (chance(0.07)) return(c(limits, list(step = inside / pick(c(2, 3, 7)))))
  c(size, limits)
}

bandwidth_arguments <- function(x, none = 0.25) {
  if (chance(none)) return(NULL)
  if (chance(0.5)) list(h = bandwidth_for(x)) else list(H = matrix_for(x))
}

kernel_arguments <- function() {
  some_of(list(kernel = pick(kernels), kernel_type = pick(c("radial", "product")), engine = pick(engines)), 0.4)
}

# Bounds that mostly hold the data, at distances from 0 to several times their spread.
bounds_for <- function(x) {
  if (is.language(x)) return(c(0, 10))
  x <- as.matrix(x)
  if (!is.numeric(x) || length(x) == 0L || !all(is.finite(x)) || chance(0.05)) {
    return(pick(list(c(0, 1), c(1, 0), NA, "none")))
  }
  room <- function() spread_of(x) * pick(c(0, 0.1, 3, Inf))
  cbind(apply(x, 2L, min) - room(), apply(x, 2L, max) + room())
}

kde_arguments <- function(x = sample_values()) {
  d <- shape_of(x)[2L]
  c(sample_and_weights(x), bandwidth_arguments(x), kernel_arguments(),
    if (chance(0.5)) grid_arguments(x) else list(eval.points = points_for(x)),
    some_of(list(positive = TRUE, adj.positive = stats::rexp(d), unit.interval = TRUE), 0.06),
    if (chance(0.15)) list(bounds = bounds_for(x)),
    if (chance(0.1)) list(period = pick(list(24, spread_of(x)[1L], rep(c(NA, 3), length.out = d), 0))),
    some_of(list(gridtype = pick(list("linear", "sqrt", "quantile", "exp", rep(c("exp", "linear"), length.out = d))),
                 supp = stats::rexp(1L, 0.3), compute.cont = chance(0.5), approx.cont = chance(0.5),
                 tol = magnitude(16), backend = pick(c("auto", "cpu", "cuda")), precision = pick(c("double", "single")),
                 threads = pick(c(1, 2, 5)), na.action = pick(list(quote(stats::na.omit), "na.omit")),
                 binned = TRUE, density = TRUE), 0.07))
}

# Densities of groups, and of points of sf.
grouped_arguments <- function() {
  n <- pick(c(2, 8, 30))
  frame <- data.frame(a = column(n), b = stats::rnorm(n), g = factor(sample(letters[1:3], n, TRUE)),
                      l = stats::runif(n) < 0.5)
  bandwidth <- some_of(list(h = pick(list(0.5, c(0.2, 0.5, 1), quote(hns), quote(hpi)))), 0.5)
  data <- pick(list(frame, call("grouped", frame[c("a", "g")]), call("on_map", frame[c("a", "b")])))
  formula <- if (is.data.frame(data)) {
    list(H = pick(list(quote(~ a | g), quote(~ a + b | g), quote(~ a | g + l), quote(~ b), quote(~ z | g))))
  }
  c(list(x = data), formula, bandwidth, list(gridsize = pick(c(2, 9))),
    some_of(list(kernel = pick(kernels), w = weights_for(n),
                 .by = pick(list(quote(g), quote(c(g, l)), "l", quote(z), 7, NULL))), 0.2))
}

grouped <- function(frame) dplyr::group_by(frame, g)

# Columns a and b are metres of a projected system.
on_map <- function(frame) sf::st_as_sf(frame, coords = c("a", "b"), crs = 32633)

# An estimate that can usually be computed, as a call.
estimate <- function(n = pick(c(5, 20, 60)), d = pick(c(1, 2, 3), c(6, 3, 1)), points = chance(0.2)) {
  scale <- if (chance(0.1)) magnitude() else 1
  values <- if (chance(0.1)) vapply(seq_len(d), function(k) column(n), numeric(n)) else stats::rnorm(n * d)
  x <- scale * matrix(values, n, d, dimnames = list(NULL, letters[seq_len(d)]))
  type <- if (chance(0.2)) list(kernel_type = "product")
  H <- diag(spread_of(x)^2 / pick(c(1, 10, 100)), d)
  as.call(c(quote(kde), list(x = x, H = H), some_of(list(kernel = pick(kernels)), 0.4), type,
            if (chance(0.2)) list(w = weights_for(n)),
            if (chance(0.1)) list(positive = TRUE, adj.positive = 10 * scale) else if (chance(0.1)) {
              list(bounds = cbind(apply(x, 2L, min), Inf))
            },
            if (points) list(eval.points = points_for(x)) else list(gridsize = pick(list(2, 9)))))
}

dimension_of <- function(estimate) shape_of(estimate$x)[2L]

selector_arguments <- function(x) c(sample_and_weights(x), some_of(list(amise = TRUE), 0.3))

one_column <- function() if (chance(0.1)) sample_values() else sample_values(d = 1)

several_columns <- function() if (chance(0.1)) sample_values() else sample_values(d = pick(2:6, c(8, 4, 2, 1, 1)))

matrix_selector_arguments <- function() {
  x <- several_columns()
  c(selector_arguments(x),
    some_of(list(deriv.order = pick(0:1), verbose = FALSE, optim.fun = pick(c("optim", "nlm"))), 0.1),
    if (chance(0.1)) list(Hstart = matrix_for(x)))
}

pilot_arguments <- function(pilots, pre) {
  some_of(list(nstage = pick(1:2), pilot = pick(pilots), pre = pick(pre)), 0.3)
}

pilots <- c("samse", "unconstr", "dscalar", "dunconstr", "amse")

distribution_selector_arguments <- function() {
  given <- matrix_selector_arguments()
  c(given[names(given) != "deriv.order"],
    some_of(list(nstage = pick(1:2), pilot = pick(c("dunconstr", "dscalar")), pre = chance(0.9)), 0.3))
}

limits_for <- function(x) {
  h <- spread_of(x)[1L] * stats::runif(1L, 0.01, 0.5)
  some_of(list(hmin = h, hmax = 10 * h), 0.2)
}

boot_arguments <- function(x) {
  h <- stats::runif(pick(1:4), 0.1, 3)
  c(sample_and_weights(x), list(B = pick(1:3)), some_of(list(h0 = stats::runif(1L, 0.1, 2), h = h), 0.4),
    list(gridsize = grid_size_for(shape_of(x)[2L])))
}

classes_of <- function(x) rep_len(pick(list(1:2, c("a", "b", "c"), c(TRUE, FALSE))), NROW(x))

line_reference <- function() {
  c(line_mixture(), list(samp = pick(1:99), deriv.order = pick(c(0, 0:3))), some_of(list(hstart = stats::rexp(1L))))
}

plane_reference <- function() {
  c(plane_mixture(), list(samp = pick(1:99), deriv.order = pick(c(0, 0, 1))),
    some_of(list(Hstart = stats::rexp(1L) * diag(2))))
}

line_mixture <- function() list(mus = stats::rnorm(2L), sigmas = stats::rexp(2L) + 0.1, props = c(0.25, 0.75))

plane_mixture <- function() {
  list(mus = matrix(stats::rnorm(4L), 2L), Sigmas = rbind(diag(2) + stats::runif(1L, -0.9, 0.9) * (1 - diag(2)),
                                                          stats::rexp(1L) * diag(2)), props = c(0.4, 0.6))
}

density_calls <- list(
  kde = function() if (chance(0.15)) grouped_arguments() else kde_arguments(),
  dkde = function() {
    fhat <- estimate()
    list(x = points_for(fhat$x), fhat = fhat)
  },
  pkde = function() {
    fhat <- estimate()
    q <- points_for(fhat$x)
    list(q = if (dimension_of(fhat) == 1L) c(q, if (chance(0.3)) c(-Inf, Inf)) else q, fhat = fhat)
  },
  kcde = function() {
    x <- sample_values()
    d <- shape_of(x)[2L]
    grid <- grid_arguments(x)
    c(sample_and_weights(x), bandwidth_arguments(x), if (chance(0.5)) grid[setdiff(names(grid), "step")] else
      list(eval.points = points_for(x)),
      some_of(list(kernel = pick(kernels), kernel_type = pick(c("radial", "product"))), 0.4),
      some_of(list(tail.flag = pick(c("lower.tail", "upper.tail"))), 0.5),
      some_of(list(positive = TRUE, adj.positive = stats::rexp(d), supp = stats::rexp(1L, 0.3)), 0.06))
  },
  kdde = function() {
    x <- sample_values(d = pick(1:4))
    grid <- grid_arguments(x)
    c(sample_and_weights(x), bandwidth_arguments(x), list(deriv.order = pick(0:4)),
      if (chance(0.5)) grid[setdiff(names(grid), "step")] else list(eval.points = points_for(x)),
      some_of(list(deriv.vec = chance(0.5), engine = pick(c("auto", "direct", "fgt", "fourier")), threads = pick(1:3)),
              0.3))
  },
  kcurv = function() {
    x <- sample_values(d = pick(1:3))
    list(fhat = as.call(c(quote(kdde), sample_and_weights(x), bandwidth_arguments(x),
                          list(deriv.order = pick(c(2, 2, 1)), eval.points = points_for(x)))))
  },
  kde.balloon = function() {
    x <- sample_values(d = pick(1:3))
    grid <- grid_arguments(x)
    c(sample_and_weights(x), bandwidth_arguments(x),
      if (chance(0.5)) grid[setdiff(names(grid), "step")] else list(eval.points = points_for(x)),
      some_of(list(compute.cont = chance(0.5), approx.cont = chance(0.5), kernel = pick(kernels),
                   engine = pick(engines), precision = pick(c("double", "single")), threads = pick(1:3)), 0.3))
  },
  kde.sp = function() {
    x <- sample_values(d = pick(1:3))
    grid <- grid_arguments(x)
    c(sample_and_weights(x),
      if (chance(0.5)) bandwidth_arguments(x) else list(hs = exp(stats::rnorm(shape_of(x)[1L]))),
      if (chance(0.5)) grid[setdiff(names(grid), "step")] else list(eval.points = points_for(x)),
      some_of(list(compute.cont = chance(0.5), approx.cont = chance(0.5), kernel = pick(kernels),
                   engine = pick(engines), precision = pick(c("double", "single")), threads = pick(1:3)), 0.3))
  },
  kde.boundary = function() {
    x <- sample_values(d = pick(1:3))
    kernel <- pick(c("beta", "linear"))
    grid <- grid_arguments(x)
    bounds <- if (chance(0.7)) bounds_for(x)
    if (is.matrix(bounds)) grid[c("xmin", "xmax")] <- list(bounds[, 1L], bounds[, 2L])
    c(sample_and_weights(x),
      if (chance(0.7)) list(h = min(spread_of(x)) * stats::runif(1L)) else bandwidth_arguments(x),
      list(boundary.kernel = kernel), grid[setdiff(names(grid), "step")],
      if (chance(0.4)) list(eval.points = points_for(x)),
      some_of(list(compute.cont = chance(0.5), approx.cont = chance(0.5), threads = pick(1:3), boundary.supp = 3), 0.3))
  },
  kde.truncate = function() {
    of <- if (chance(0.1)) estimate() else estimate(d = 2, points = FALSE)
    corners <- matrix(stats::rnorm(2 * pick(c(3, 4, 9))), ncol = 2L) * spread_of(of$x)[1L]
    list(fhat = of, boundary = if (chance(0.1)) pick(list(1, NULL, "a", cbind(1:2, 1))) else corners)
  },
  hbeta = function() {
    x <- one_column()
    c(sample_and_weights(x), some_of(list(method = pick(c("reference", "lscv"))), 0.6),
      some_of(list(xmin = pick(c(-1e3, 0, NA)), xmax = pick(c(1e3, 1, Inf))), 0.3))
  },
  nmodes = function() {
    x <- one_column()
    c(sample_and_weights(x), list(h = bandwidth_for(x) * c(0.5, 1, 3)))
  },
  bw.crit = function() c(sample_and_weights(one_column()), some_of(list(mod0 = pick(1:3)))),
  modetest = function() c(sample_and_weights(one_column()), list(B = 9), some_of(list(mod0 = pick(1:3)))),
  modetree = function() {
    x <- one_column()
    c(sample_and_weights(x), if (chance(0.5)) list(h = bandwidth_for(x) * c(3, 2, 1)) else list(length = 5))
  },
  explore = function() {
    c(list(fhat = estimate(), file = quote(file.path(tempdir(), "page.html"))),
      some_of(list(factor = pick(list(2, c(0.5, 1, 3), stats::rexp(3L), -1)), threads = pick(1:3)), 0.3))
  },
  sizer = function() {
    x <- if (chance(0.3)) sample_values(d = 2) else one_column()
    c(sample_and_weights(x), if (chance(0.5)) list(h = bandwidth_for(x) * c(1, 3)) else list(length = 3),
      list(gridsize = pick(c(2, 9, 40))),
      some_of(list(deriv.order = 2, signif.level = stats::runif(1L), method = "blocks", xmin = pick(c(-1e3, 0, NA)),
                   xmax = pick(c(1e3, 1, Inf)), threads = pick(1:3)), 0.3))
  },
  kfs = function() {
    x <- sample_values(d = pick(1:3))
    grid <- grid_arguments(x)
    c(sample_and_weights(x), bandwidth_arguments(x), list(deriv.order = pick(c(1, 2, 2))),
      if (chance(0.5)) grid[setdiff(names(grid), "step")] else list(eval.points = points_for(x)),
      some_of(list(signif.level = stats::runif(1L), threads = pick(1:3)), 0.3))
  },
  kdr = function() {
    x <- sample_values(d = pick(2:3))
    given <- bandwidth_arguments(x)
    c(sample_and_weights(x), given[intersect(names(given), "H")], list(y = points_for(x)),
      some_of(list(p = pick(1:2), max.iter = pick(c(1, 400)), segment = chance(0.5), k = pick(1:3), pre = chance(0.5),
                   keep.path = chance(0.5), min.seg.size = pick(0:3)), 0.3))
  },
  kdr.segment = function() {
    x <- sample_values(d = 2)
    c(list(x = as.call(c(quote(kdr), list(x = x, H = diag(2), y = points_for(x))))),
      some_of(list(k = pick(1:3), kmax = pick(1:9), min.seg.size = pick(0:3)), 0.4))
  },
  kms = function() {
    x <- sample_values(d = pick(1:3))
    given <- bandwidth_arguments(x)
    c(sample_and_weights(x), given[intersect(names(given), "H")],
      some_of(list(y = points_for(x), max.iter = pick(c(1, 400)), merge = chance(0.5), keep.path = chance(0.5),
                   min.clust.size = pick(0:9)), 0.3))
  },
  qkde = function() list(p = stats::runif(pick(0:5)), fhat = estimate(d = 1)),
  rkde = function() list(n = pick(c(1, 2, 50)), fhat = estimate()),
  contourLevels = function() {
    c(list(x = estimate(points = chance(0.05))),
      some_of(list(prob = stats::runif(2L), cont = pick(list(50, c(5, 95))), nlevels = pick(1:9), approx = chance(0.5)),
              0.3))
  },
  marginal = function() {
    fhat <- estimate(d = pick(1:3))
    list(fhat = fhat, dims = sample.int(dimension_of(fhat), sample.int(dimension_of(fhat), 1L)))
  },
  kde_stream = function() {
    x <- sample_values()
    to <- pick(list(quote(function(slab) NULL), quote(tempfile()), quote(tempfile(fileext = ".nc"))), c(6, 1, 1))
    size <- list(gridsize = grid_size_for(shape_of(x)[2L]))
    grid <- grid_arguments(x)
    if (is.null(grid$step)) grid <- utils::modifyList(size, as.list(grid))
    c(list(x = x, to = to), bandwidth_arguments(x), grid, kernel_arguments(), if (chance(0.3)) list(slab = pick(1:5)),
      if (chance(0.2)) list(bounds = bounds_for(x)) else if (chance(0.1)) list(period = spread_of(x)[1L]))
  },
  hns = function() c(sample_and_weights(one_column()), some_of(list(deriv.order = pick(0:4)))),
  Hns = function() c(sample_and_weights(sample_values()), some_of(list(deriv.order = pick(0:4)))),
  Hns.diag = function() sample_and_weights(sample_values()),
  hpi = function() {
    x <- one_column()
    c(selector_arguments(x), some_of(list(nstage = pick(1:2), scalest = pick(c("minim", "stdev")))),
      if (chance(0.2)) list(bounds = bounds_for(x)) else if (chance(0.1)) list(period = spread_of(x)[1L]))
  },
  hpi.kcde = function() c(selector_arguments(one_column()), some_of(list(nstage = pick(1:2)))),
  Hpi.kcde = function() distribution_selector_arguments(),
  Hpi.diag.kcde = function() distribution_selector_arguments(),
  hlscv = function() {
    x <- one_column()
    c(selector_arguments(x), some_of(list(kernel = pick(kernels)), 0.5), limits_for(x),
      some_of(list(deriv.order = pick(0:5)), 0.3),
      if (chance(0.2)) list(bounds = bounds_for(x)) else if (chance(0.1)) list(period = spread_of(x)[1L]))
  },
  hscv = function() c(selector_arguments(one_column()), some_of(list(nstage = pick(1:2)))),
  Hpi = function() c(matrix_selector_arguments(), pilot_arguments(c(pilots, "amse"), c("sphere", "scale"))),
  Hpi.diag = function() {
    given <- matrix_selector_arguments()
    c(given, pilot_arguments(pilots, c("sphere", "scale")),
      if (chance(0.2)) list(bounds = bounds_for(given$x)) else if (chance(0.1)) list(period = spread_of(given$x)[1L]))
  },
  Hscv = function() {
    given <- matrix_selector_arguments()
    c(given[names(given) != "deriv.order"], pilot_arguments(pilots, c("sphere", "scale")),
      some_of(list(deriv.order = pick(0:2)), 0.2))
  },
  Hscv.diag = function() c(matrix_selector_arguments(), pilot_arguments(pilots, c("sphere", "scale"))),
  Hlscv = function() {
    given <- matrix_selector_arguments()
    c(given[names(given) != "deriv.order"],
      some_of(list(type = pick(c("full", "diag", "scalar")), engine = pick(c("auto", "fourier", "direct")),
                   deriv.order = pick(0:3)), 0.4))
  },
  hucv = function() selector_arguments(one_column()),
  Hucv = function() matrix_selector_arguments(),
  Hucv.diag = function() matrix_selector_arguments(),
  Hbcv = function() c(sample_and_weights(sample_values()), some_of(list(whichbcv = pick(1:2), amise = TRUE))),
  Hbcv.diag = function() c(sample_and_weights(sample_values()), some_of(list(whichbcv = pick(1:2), amise = TRUE))),
  hnm = function() list(x = one_column(), G = pick(list(1, 1:2)), mise.flag = chance(0.3)),
  Hnm = function() list(x = sample_values(), G = pick(list(1, 1:2)), mise.flag = chance(0.3)),
  Hnm.diag = function() list(x = sample_values(), G = pick(list(1, 1:2)), mise.flag = chance(0.3)),
  hns.kcde = function() sample_and_weights(one_column()),
  Hns.kcde = function() sample_and_weights(sample_values()),
  kroc = function() {
    d <- pick(1:2)
    c(list(x1 = sample_values(d = d), x2 = sample_values(d = d)),
      some_of(list(hy = stats::rexp(1L), gridsize = 9), 0.3))
  },
  binning = function() {
    x <- sample_values(d = pick(1:3))
    c(sample_and_weights(x), list(bgridsize = pick(c(2, 5))), some_of(list(supp = 1), 0.3))
  },
  kcopula = function() {
    c(list(x = sample_values(d = 2), gridsize = pick(c(2, 4))),
      some_of(list(marginal = "empirical", hs = stats::rexp(2L), H = stats::rexp(1L) * diag(2),
                   eval.points = c(0.1, 1)), 0.3))
  },
  histde = function() c(list(x = sample_values(d = pick(1:3))), some_of(list(adj = stats::runif(1L)))),
  contourSizes = function() c(list(x = estimate()), some_of(list(cont = 50, abs.cont = 0.1, approx = FALSE), 0.3)),
  contourProbs = function() c(list(x = estimate()), some_of(list(cont = 50, abs.cont = 0.1, approx = FALSE), 0.3)),
  ksupp = function() c(list(fhat = estimate()), some_of(list(cont = 50, abs.cont = 0.1, convex.hull = FALSE), 0.4)),
  kda = function() {
    x <- sample_values(d = pick(1:2))
    c(list(x = x, x.group = classes_of(x)),
      some_of(list(gridsize = 5, kde.flag = FALSE, eval.points = points_for(x)), 0.3))
  },
  Hkda = function() {
    x <- sample_values(d = 2)
    c(list(x = x, x.group = classes_of(x)), some_of(list(bw = pick(c("plugin", "lscv", "scv")))))
  },
  Hkda.diag = function() {
    x <- sample_values(d = 2)
    list(x = x, x.group = classes_of(x))
  },
  hkda = function() {
    x <- one_column()
    list(x = x, x.group = classes_of(x))
  },
  compare = function() list(x.group = sample.int(3L, 9L, TRUE), est.group = sample.int(3L, 9L, TRUE)),
  compare.kda.cv = function() {
    x <- sample_values(d = pick(1:2))
    list(x = x, x.group = classes_of(x))
  },
  compare.kda.diag.cv = function() {
    x <- sample_values(d = 2)
    list(x = x, x.group = classes_of(x))
  },
  kde.test = function() {
    d <- pick(1:3)
    c(list(x1 = sample_values(d = d), x2 = sample_values(d = d)), some_of(list(B = 2, h1 = stats::rexp(1L)), 0.3))
  },
  kde.local.test = function() {
    d <- pick(1:2)
    c(list(x1 = sample_values(d = d), x2 = sample_values(d = d), gridsize = pick(c(2, 9))),
      some_of(list(signif.level = 0.5, min.ESS = 2, mean.adj = TRUE, h1 = stats::rexp(1L)), 0.3))
  },
  dnorm.mixt = function() c(list(x = stats::rnorm(3L)), line_mixture()),
  rnorm.mixt = function() c(list(n = pick(c(1, 9))), line_mixture(), some_of(list(mixt.label = TRUE))),
  dmvnorm.mixt = function() c(list(x = matrix(stats::rnorm(6L), 3L)), plane_mixture()),
  rmvnorm.mixt = function() c(list(n = pick(c(1, 9))), plane_mixture(), some_of(list(mixt.label = TRUE))),
  dmvt.mixt = function() c(list(x = matrix(stats::rnorm(6L), 3L)), plane_mixture(), list(dfs = c(3, 1.5))),
  rmvt.mixt = function() c(list(n = pick(c(1, 9))), plane_mixture(), list(dfs = c(3, 1.5))),
  moments.mixt = function() plane_mixture(),
  plotmixt = function() if (chance(0.5)) line_mixture() else plane_mixture(),
  mise.mixt = function() {
    c(list(H = stats::rexp(1L) * diag(2), samp = pick(1:99), deriv.order = pick(c(0, 0:8))), plane_mixture())
  },
  amise.mixt = function() {
    c(list(h = stats::rexp(1L), samp = pick(1:99), deriv.order = pick(c(0, 0:8))), line_mixture())
  },
  hmise.mixt = function() line_reference(), hamise.mixt = function() line_reference(),
  Hmise.mixt = function() plane_reference(), Hmise.mixt.diag = function() plane_reference(),
  Hamise.mixt = function() plane_reference(), Hamise.mixt.diag = function() plane_reference(),
  ise.mixt = function() c(list(x = stats::rnorm(9L), h = stats::rexp(1L)), line_mixture()),
  Hlscv.diag = function() {
    c(matrix_selector_arguments(), some_of(list(engine = pick(c("auto", "fourier", "direct")))))
  },
  lscv = function() {
    x <- sample_values()
    h <- if (chance(0.5)) bandwidth_for(x) * c(0.5, 1, 2) else bandwidth_for(x)
    c(sample_and_weights(x), if (chance(0.5)) list(h = h) else list(H = matrix_for(x)),
      some_of(list(form = pick(c("unbiased", "paper")), kernel = pick(kernels))))
  },
  psi = function() {
    x <- one_column()
    c(sample_and_weights(x), list(g = bandwidth_for(x) * pick(list(1, c(0.5, 1))), r = pick(seq(0, 10, by = 2))))
  },
  hboot = function() boot_arguments(one_column()),
  Hboot = function() boot_arguments(sample_values(d = pick(1:3)))
)
