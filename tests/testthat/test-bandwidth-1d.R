# Cross-validation in one dimension: against the plain-R oracles, the stored long-double values and other packages; and
# bad input of all selectors of one dimension.

values <- read_fixture("lscv_1d_values.csv")
minima <- read_fixture("lscv_1d_minima.csv")

test_that("the convolutions of the oracle are those of its kernels", {
  for (kernel in lscv_kernel_names) for (u in c(0, 0.01, 0.3, 0.99, 1, 1.01, 1.5, 1.99)) {
    K <- function(t) reference_kernel(matrix(t), 1, kernel)
    edge <- if (kernel == "gaussian") 12 else 1
    breaks <- sort(unique(c(u - edge, 0, u, edge)))
    breaks <- breaks[breaks >= u - edge & breaks <= edge]
    pieces <- vapply(seq_along(breaks)[-1], function(i) {
      integrate(function(t) K(t) * K(u - t), breaks[i - 1], breaks[i], rel.tol = 1e-12)$value
    }, 0)
    expect_equal(reference_convolution(kernel, u), sum(pieces), tolerance = 1e-11, info = paste(kernel, u))
  }
})

test_that("the oracle reproduces the stored values of LSCV", {
  expect_no_problem(lapply(seq_len(nrow(values)), function(i) {
    x <- fixture_data(values$data[i])
    lapply(c(unbiased = "LSCV", paper = "LSCV_n2"), function(column) {
      form <- if (column == "LSCV") "unbiased" else "paper"
      expected <- reference_lscv(x, values$h[i], form = form)
      reference_problem(expected, values[[column]][i], 1e-14, attr(expected, "terms"), values$data[i])
    })
  }))
})

test_that("lscv agrees with the stored values, in both forms and by both engines", {
  for (name in unique(values$data)) {
    rows <- values[values$data == name, ]
    x <- fixture_data(name)
    scale <- attr(reference_lscv(x, rows$h), "terms")
    for (engine in c("direct", "fgt")) expect_no_problem(list(
      reference_problem(lscv_by(engine, x, rows$h) / scale, rows$LSCV / scale, 1e-13, 1, paste(name, engine)),
      reference_problem(lscv_by(engine, x, rows$h, form = "paper") / scale, rows$LSCV_n2 / scale, 1e-13, 1,
                        paste(name, engine, "paper"))
    ))
    expect_close_to_reference(lscv(x, h = rows$h), rows$LSCV, info = name)
    expect_close_to_reference(lscv(x, h = rows$h, form = "paper"), rows$LSCV_n2, info = name)
    expect_close_to_reference(lscv(x, rows$h[3]^2), rows$LSCV[3], info = name)
  }
})

test_that("lscv of every kernel is within 1e-12 of its absolute terms, whatever the shape of the data", {
  for (shape in names(bandwidth_shapes())) {
    x <- bandwidth_shapes()[[shape]]
    h <- shape_bandwidths(x)
    w <- with_seed(41, runif(length(x), 0.1, 2))
    for (kernel in lscv_kernel_names) expect_no_problem(lapply(engines_of(kernel), function(engine) {
      info <- paste(shape, kernel, engine)
      plain <- reference_lscv(x, h, kernel)
      weighted <- reference_lscv(x, h, kernel, w)
      list(reference_problem(lscv_by(engine, x, h, kernel) / attr(plain, "terms"), plain / attr(plain, "terms"), 1e-12,
                             1, info),
           reference_problem(lscv_by(engine, x, h, kernel, w) / attr(weighted, "terms"),
                             weighted / attr(weighted, "terms"), 1e-12, 1, paste(info, "weighted")))
    }))
  }
})

test_that("the curve is its points one by one, and the sum of psi_0 at two bandwidths", {
  x <- faithful$eruptions
  n <- length(x)
  h <- c(0.05, 0.1, 0.3, 1.2)
  expect_close_to_reference(lscv(x, h = h), vapply(h, function(one) lscv(x, h = one), 0), 1e-13)
  from_psi <- psi(x, sqrt(2) * h, 0) - 2 / (n - 1) * (n * psi(x, h, 0) - dnorm(0) / h)
  expect_close_to_reference(lscv(x, h = h), from_psi, 1e-13)
  expect_close_to_reference(lscv(matrix(x), h = h), lscv(data.frame(x), h = h), 0)
})

test_that("hlscv finds every stored minimum when the range holds it", {
  bounded <- minima[!is.na(minima$h), ]
  expect_setequal(minima$data[minima$unbounded_at_0], unique(minima$data))
  for (i in which(bounded$cross_divisor == "n(n-1)")) {
    x <- fixture_data(bounded$data[i])
    h <- bounded$h[i]
    found <- suppressWarnings(hlscv(x, amise = TRUE, hmin = h / 1.15, hmax = 1.15 * h))
    expect_equal(found$h, h, tolerance = 1e-6, info = bounded$data[i])
    expect_equal(found$LSCV, bounded$LSCV[i], tolerance = 1e-13, info = bounded$data[i])
    expect_equal(found$ties, bounded$tie_pairs_per_n[i], tolerance = 1e-14)
    expect_identical(found$convergence, 0L)
  }
  for (i in which(bounded$cross_divisor == "n^2")) {
    sample <- lscv_sample(check_sample(fixture_data(bounded$data[i])))
    curve <- function(h) lscv_curve(sample, h, "paper", "gaussian", run_options(), "fgt")
    found <- minimise_curve(curve, bounded$h[i] * c(1 / 1.15, 1.15), 50L)
    expect_equal(found$h, bounded$h[i], tolerance = 1e-6, info = bounded$data[i])
    expect_equal(found$objective, bounded$LSCV[i], tolerance = 1e-13, info = bounded$data[i])
  }
})

test_that("the minimum of the default range is the global one, or its end", {
  for (name in unique(minima$data)) {
    x <- fixture_data(name)
    h0 <- reference_hns(x)
    stored <- minima[minima$data == name & minima$cross_divisor == "n(n-1)", ]
    ends <- reference_lscv(x, c(1 / 4, 4) * h0)
    inside <- stored[!is.na(stored$h) & abs(log(stored$h_over_hNS)) < log(4), ]
    lowest <- if (nrow(inside) > 0) which.min(inside$LSCV)
    found <- suppressWarnings(hlscv(x, amise = TRUE))
    expect_equal(range(found$curve$h), c(1 / 4, 4) * h0, tolerance = 1e-12)
    if (nrow(inside) > 0 && inside$LSCV[lowest] < min(ends)) {
      expect_equal(found$h, inside$h[lowest], tolerance = 1e-6, info = name)
      expect_identical(found$convergence, 0L)
    } else {
      expect_equal(found$h, h0 / 4, tolerance = 1e-12, info = name)
      expect_equal(found$LSCV, as.vector(ends[1]), tolerance = 1e-12, info = name)
      expect_identical(found$convergence, 1L)
    }
  }
})

test_that("hlscv is the minimum of a fine grid for every kernel, with its reference range", {
  x <- with_seed(45, c(rnorm(40, sd = 0.3), rnorm(30, 3)))
  for (kernel in setdiff(lscv_kernel_names, "uniform")) {
    h0 <- reference_hns(x) * exp(log(kernel_width(kernel)) / 5)
    expect_equal(range(suppressWarnings(hlscv(x, kernel = kernel, amise = TRUE))$curve$h), c(1 / 4, 4) * h0,
                 tolerance = 1e-12, info = kernel)
    found <- hlscv(x, kernel = kernel, amise = TRUE, hmin = h0 / 20)
    fine <- exp(seq(log(h0 / 20), log(4 * h0), length.out = 500))
    expect_lte(found$LSCV, min(reference_lscv(x, fine, kernel)) + 1e-12)
    expect_equal(found$LSCV, as.vector(reference_lscv(x, found$h, kernel)), tolerance = 1e-11)
  }
})

test_that("hlscv of the uniform kernel is no higher than the grid, where the criterion jumps", {
  x <- with_seed(47, round(rnorm(80), 1))
  found <- suppressWarnings(hlscv(x, kernel = "uniform", amise = TRUE))
  expect_lte(found$LSCV, min(found$curve$objective))
  expect_equal(found$LSCV, as.vector(reference_lscv(x, found$h, "uniform")), tolerance = 1e-12)
})

test_that("with amise = TRUE there is the list of ks and what the search did", {
  x <- with_seed(48, rnorm(100))
  found <- hlscv(x, amise = TRUE)
  expect_named(found, c("h", "LSCV", "objective", "convergence", "evaluations", "engine", "backend", "seconds", "curve",
                        "ties"))
  expect_identical(found$h, hlscv(x))
  expect_identical(found$objective, found$LSCV)
  expect_identical(c(found$engine, hlscv(x, kernel = "biweight", amise = TRUE)$engine), c("fgt", "sweep"))
  expect_gt(found$evaluations, nrow(found$curve))
  expect_identical(found$ties, 0)
  expect_close_to_reference(found$curve$objective, reference_lscv(x, found$curve$h), 1e-12)
  expect_identical(hlscv(x, TRUE, 401, FALSE, 0, TRUE), hlscv(x))
})

test_that("ties make one warning that counts them, from the constant of each kernel on", {
  x <- with_seed(49, round(rnorm(500), 5))
  for (kernel in lscv_kernel_names) {
    at_zero <- reference_kernel(matrix(0), 1, kernel)
    roughness <- reference_convolution(kernel, 0)
    constant <- roughness / (2 * at_zero - roughness)
    if (kernel == "gaussian") expect_equal(constant, 0.547, tolerance = 1e-3)
    # k groups of two have 2k ordered pairs among the 500 observations
    few <- x
    few[1:100] <- rep(few[1:50], 2)
    enough <- few[seq_len(floor(100 / constant))]
    not_enough <- c(few, 10 + seq_len(max(0, ceiling(100 / constant) - 499)) / 7)
    ties <- function(y) count_ties(lscv_sample(check_sample(y)), kernel)
    expect_identical(ties(not_enough)$unbounded, FALSE, info = kernel)
    expect_identical(ties(not_enough)$per_observation, 100 / length(not_enough))
    if (constant < 1) expect_identical(ties(enough)$unbounded, TRUE, info = kernel)
    tiny <- reference_lscv(rep(x[1:30], 3), 1e-12, kernel)
    expect_identical(ties(rep(x[1:30], 3))$unbounded, as.vector(tiny) < 0, info = kernel)
  }
})

test_that("there is one warning of class kestrel_warning_search, and only where there is cause", {
  caught <- function(call) {
    warnings <- list()
    withCallingHandlers(call, warning = function(w) {
      warnings[[length(warnings) + 1]] <<- w
      invokeRestart("muffleWarning")
    })
    for (w in warnings) expect_s3_class(w, c("kestrel_warning_search", "kestrel_warning", "warning", "condition"), TRUE)
    vapply(warnings, conditionMessage, "")
  }
  x <- with_seed(48, rnorm(100))
  expect_length(caught(hlscv(x)), 0)
  expect_length(caught(hlscv(c(x, x[1:9]))), 0)
  expect_length(caught(hscv(faithful$waiting)), 0)
  messages <- c(caught(hlscv(faithful$waiting)), caught(hlscv(iris$Petal.Width)), caught(hlscv(x, hmin = 1)),
                caught(hlscv(x, hmin = 0.01, hmax = 0.1, kernel = "epanechnikov")))
  expect_snapshot_output(writeLines(strwrap(messages, 100, exdent = 4)))
  expect_length(messages, 4)
})

test_that("hlscv follows scale and location of the data; the order of the rows affects no bit", {
  x <- with_seed(50, rnorm(150))
  w <- with_seed(51, runif(150))
  mixed <- with_seed(52, sample(150))
  for (kernel in c("gaussian", "epanechnikov", "triweight")) {
    select <- function(y, scale = 1) hlscv(y, kernel = kernel, hmin = 0.01 * scale, hmax = 3 * scale)
    h <- select(x)
    expect_equal(select(3e5 * x, 3e5), 3e5 * h, tolerance = 1e-6)
    expect_equal(select(1e-100 * x, 1e-100), 1e-100 * h, tolerance = 1e-6)
    expect_equal(select(2^30 + round(x, 3)), select(round(x, 3)), tolerance = 1e-4)
    expect_equal(select(-x), h, tolerance = 1e-6)
    expect_same_bits(lscv(x[mixed], h = c(0.2, h), w = w[mixed], kernel = kernel),
                     lscv(x, h = c(0.2, h), w = w, kernel = kernel), kernel)
  }
  expect_equal(hscv(3e5 * x), 3e5 * hscv(x), tolerance = 1e-6)
  expect_equal(hscv(1e-90 * x), 1e-90 * hscv(x), tolerance = 1e-6)
  expect_equal(hscv(-rev(x) + 100), hscv(x), tolerance = 1e-6)
})

test_that("weights: equal ones change nothing, zero leaves out, others enter as in the formula", {
  x <- with_seed(53, rnorm(120))
  w <- with_seed(54, runif(120))
  for (kernel in c("gaussian", "biweight")) {
    expect_equal(hlscv(x, w = rep(3, 120), kernel = kernel), hlscv(x, kernel = kernel), tolerance = 1e-6)
    expect_equal(hlscv(c(x, 99), w = c(w, 0), kernel = kernel), hlscv(x, w = w, kernel = kernel), tolerance = 1e-6)
    found <- hlscv(x, w = w, kernel = kernel, amise = TRUE)
    expect_close_to_reference(found$curve$objective, reference_lscv(x, found$curve$h, kernel, w), 1e-12)
  }
  p <- w / sum(w)
  n_eff <- 1 / sum(p^2)
  scale <- sqrt(sum(p * (x - sum(p * x))^2) * n_eff / (n_eff - 1))
  expect_equal(range(hlscv(x, w = w, amise = TRUE)$curve$h), c(1 / 4, 4) * scale * (4 / (3 * n_eff))^(1 / 5),
               tolerance = 1e-12)
  found <- hscv(x, w = w, amise = TRUE)
  constant <- reference_scv_constant(x, 2, w)
  expect_equal(found$C, constant, tolerance = 1e-11)
  expect_close_to_reference(found$curve$objective, reference_scv(x, found$curve$h, constant, w), 1e-11)
})

test_that("selectors give the same bits for any number of threads", {
  x <- with_seed(55, rnorm(900))
  h <- c(0.05, 0.2, 1)
  all <- function() {
    list(hlscv(x), hscv(x), hpi(x), psi(x, h, 8), lscv(x, h = h), lscv(x, h = 0.3),
         unlist(lapply(setdiff(lscv_kernel_names, "gaussian"), function(kernel) lscv(x, h = h, kernel = kernel))))
  }
  one <- with_threads(1, all())
  for (threads in 2:3) expect_no_problem(Map(bits_problem, with_threads(threads, all()), one))
})

test_that("LSCV of Epanechnikov and the other kernels is that of kedd, after correction of the divisors", {
  skip_if_not_installed("kedd")
  # kedd also divides the sum of K*K over i != j by n (n - 1), with R(K) / (n h) for the diagonal: its criterion is n /
  # (n - 1) times that with n^2 in both, minus R(K) / (n (n - 1) h).
  as_kedd <- function(x, h, kernel) {
    n <- length(x)
    n / (n - 1) * lscv(x, h = h, form = "paper", kernel = kernel) -
      reference_convolution(kernel, 0) / (n * (n - 1) * h)
  }
  for (x in list(faithful$eruptions[1:100], precip, iris$Sepal.Length[1:100], with_seed(56, rnorm(60)))) {
    h0 <- kde(x, kernel = "epanechnikov", eval.points = 0)$h
    for (h in h0 * c(0.3, 0.7, 1, 2)) {
      peer <- kedd::h.ucv(as.vector(x), deriv.order = 0, lower = h, upper = 1.001 * h, kernel = "epanechnikov")
      expect_equal(peer$min.ucv, as_kedd(x, peer$h, "epanechnikov"), tolerance = 1e-10)
    }
    for (kernel in c("triangular", "biweight", "triweight", "gaussian")) {
      peer <- kedd::h.ucv(as.vector(x), deriv.order = 0, kernel = kernel)
      expect_equal(peer$min.ucv, as_kedd(x, peer$h, kernel), tolerance = 1e-10, info = kernel)
    }
  }
})

test_that("hlscv is near bw.ucv, and no higher than where ks ends", {
  skip_if_not_installed("ks")
  for (x in list(with_seed(57, rnorm(300)), with_seed(58, c(rnorm(150), rnorm(150, 4, 0.5))))) {
    found <- hlscv(x, amise = TRUE)
    # bw.ucv bins the data and divides by n^2
    expect_equal(found$h, bw.ucv(x, nb = 10000, lower = min(found$curve$h), upper = max(found$curve$h), tol = 1e-6),
                 tolerance = 0.05)
    peer <- ks::hlscv(x, binned = FALSE, bw.ucv = FALSE, amise = TRUE)
    expect_equal(lscv(x, h = peer$h), peer$LSCV, tolerance = 1e-12)
    if (peer$h >= min(found$curve$h)) expect_lte(found$LSCV, peer$LSCV + 1e-14)
    expect_equal(lscv(x, h = 0.4), ks:::lscv.1d(x, 0.4, binned = FALSE), tolerance = 1e-12)
  }
})

test_that("many observations need no table of all pairs", {
  x <- with_seed(61, rnorm(2e5))
  # 2e5^2 pairs are 320 GB
  expect_equal(hpi(x), 1.06 * 2e5^(-1 / 5), tolerance = 0.05)
  expect_equal(hscv(x), 1.06 * 2e5^(-1 / 5), tolerance = 0.1)
  expect_equal(hlscv(x), 1.06 * 2e5^(-1 / 5), tolerance = 0.3)
  for (kernel in lscv_kernel_names) {
    expect_equal(lscv(x, h = 0.2, kernel = kernel), -1 / (2 * sqrt(pi)), tolerance = 0.05)
  }
  # rounded data: all of them lie on about a hundred values
  tied <- round(x, 1)
  expect_equal(hscv(tied), hscv(x), tolerance = 0.1)
  expect_warning(expect_equal(hlscv(tied), reference_hns(tied) / 4), class = "kestrel_warning_search")
})

test_that("bad input", {
  x <- c(1.5, 2, 3.25, 4, 7)
  expect_refused(
    lscv(c(x, NA), h = 1),
    lscv(c(x, Inf), h = 1),
    lscv("a", h = 1),
    lscv(5, h = 1),
    lscv(x, h = 1, w = c(0, 0, 0, 0, 1)),
    lscv(x),
    lscv(x, H = 1, h = 1),
    lscv(x, H = -1),
    lscv(x, H = diag(2)),
    lscv(x, h = c(1, 0)),
    lscv(x, h = c(1, NA)),
    lscv(x, h = numeric(0)),
    lscv(x, h = "wide"),
    lscv(x, h = 1e-200),
    lscv(x, h = 1, w = 1:4),
    lscv(x, h = 1, form = "n2"),
    lscv(x, h = 1, kernel = "cosine"),
    hlscv(c(x, NaN)),
    hlscv(c(2, 2, 2)),
    hlscv(4),
    hlscv(cbind(x, x^2)),
    hlscv(letters),
    hlscv(x, kernel = "box"),
    hlscv(x, deriv.order = 6),
    hlscv(x, deriv.order = 1, kernel = "biweight"),
    hlscv(x, amise = "yes"),
    hlscv(x, hmin = -1),
    hlscv(x, hmin = 1:2),
    hlscv(x, hmin = 2, hmax = 1),
    hlscv(x, hmax = 0.01),
    hlscv(x, hmin = 100),
    hlscv(x, hmax = Inf),
    hlscv(x, w = c(-1, 1, 1, 1, 1)),
    hscv(c(x, NA)),
    hscv(rep(3, 4)),
    hscv(7),
    hscv(cbind(x, x^2)),
    hscv(x, nstage = 3),
    hscv(x, plot = NA),
    hscv(x, amise = 1),
    hscv(x, w = 1:2),
    hpi(x, amise = NULL),
    psi(c(x, NA), 1, 4),
    psi(cbind(x, x), 1, 4),
    psi(NULL, 1, 4),
    psi(x, 0, 4),
    psi(x, c(1, Inf), 4),
    psi(x, 1e-40, 10),
    psi(x, "a", 4),
    psi(x, 1, 3),
    psi(x, 1, 12),
    psi(x, 1, "four"),
    psi(x, 1, c(2, 4)),
    psi(x, 1, 4, w = rep(0, 5))
  )
})

test_that("cross-validation for derivatives is that of the formula, at its largest local minimum", {
  x <- with_seed(8, rexp(90))
  w <- with_seed(9, rexp(90))
  p <- w / sum(w)
  for (r in 1:3) {
    own <- function(h) sum(p^2) * reference_hermite(2 * r, 0) * dnorm(0) / h^(2 * r + 1)
    criterion <- function(h) {
      squared <- reference_psi_any(x, sqrt(2) * h, 2 * r, w)
      cross <- 2 * (reference_psi_any(x, h, 2 * r, w) - own(h)) / (1 - sum(p^2))
      as.numeric((-1)^r * (squared - cross))
    }
    found <- suppressWarnings(hlscv(x, w = w, deriv.order = r, amise = TRUE))
    expect_equal(found$objective, criterion(found$h), tolerance = 1e-9)
    some <- seq(1, length(found$curve$h), length.out = 9)
    expect_equal(found$curve$objective[some], vapply(found$curve$h[some], criterion, 0), tolerance = 1e-9)
    h <- exp(seq(log(hns(x, r, w = w) / 4), log(4 * hns(x, r, w = w)), length.out = 400))
    values <- vapply(h, criterion, 0)
    lowest <- which(diff(sign(diff(values))) > 0)
    if (length(lowest) > 0L) expect_lt(abs(log(found$h / h[max(lowest) + 1L])), 0.01)
  }
  expect_equal(suppressWarnings(hlscv(1000 * x, deriv.order = 1)), 1000 * suppressWarnings(hlscv(x, deriv.order = 1)),
               tolerance = 1e-6)
})
