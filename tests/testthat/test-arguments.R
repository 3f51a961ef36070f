# Arguments that functions do not have, and those without effect.

# Generics, and functions that pass their dots on to others, which refuse them.
passing <- c("hucv", "Hucv", "Hucv.diag", "Hkda", "hkda", "Hkda.diag", "compare.kda.cv",
             "compare.kda.diag.cv", "plotmixt")
functions <- setdiff(getNamespaceExports("kestrel"), c("contourLevels", "gradients", "kde_synopsis", "next_chunk",
                                                       "npplot", "npreg", "npregbw", "se", passing))

test_that("every exported function refuses names that it does not have, before it looks at anything else", {
  for (name in functions) {
    code <- get(name, asNamespace("kestrel"))
    expect_error(code(nonsense = stop("evaluated")), paste0(name, "\\(\\) has no argument `nonsense`"),
                 class = "kestrel_error_input")
  }
})

test_that("arguments that all functions share come last and in one order, after the dots", {
  shared <- c("w", "kernel", "kernel_type", "na.action", "tol", "engine", "backend", "precision", "threads", "verbose")
  for (name in c(functions, "npregbw.default", "npreg.formula", "npreg.default", "npreg.kestrel_regbw",
                 "kde_synopsis.default", "kde_synopsis.DBIConnection", "kde_synopsis.tbl_sql",
                 "predict.kestrel_kde", "predict.kestrel_reg")) {
    given <- names(formals(get(name, asNamespace("kestrel"))))
    after <- given[-seq_len(match("...", given))]
    last <- intersect(shared, after)
    expect_identical(utils::tail(after, length(last)), last, info = name)
    verbose <- formals(get(name, asNamespace("kestrel")))$verbose
    if ("verbose" %in% given) expect_null(verbose, info = name)
  }
})

test_that("functions that pass their dots on refuse unknown names, too", {
  x <- faithful$eruptions
  group <- rep(1:2, 136)
  expect_error(hucv(x, nonsense = 1), "no argument `nonsense`", class = "kestrel_error_input")
  expect_error(Hucv(faithful, nonsense = 1), "no argument `nonsense`", class = "kestrel_error_input")
  expect_error(Hucv.diag(faithful, nonsense = 1), "no argument `nonsense`", class = "kestrel_error_input")
  expect_error(hkda(x, group, nonsense = 1), "no argument `nonsense`", class = "kestrel_error_input")
  expect_error(Hkda(faithful, group, nonsense = 1), "no argument `nonsense`", class = "kestrel_error_input")
  expect_error(Hkda.diag(faithful, group, nonsense = 1), "no argument `nonsense`", class = "kestrel_error_input")
  expect_error(compare.kda.cv(x, group, nonsense = 1), "no argument `nonsense`", class = "kestrel_error_input")
  expect_error(compare.kda.diag.cv(faithful, group, nonsense = 1), "no argument", class = "kestrel_error_input")
  expect_error(drawn(plotmixt(0, 1, props = 1, nonsense = 1)), "nonsense", class = "kestrel_error_input")
})

test_that("the arguments of ks come first, in its order", {
  skip_if_not_installed("ks")
  for (name in intersect(functions, getNamespaceExports("ks"))) {
    theirs <- names(formals(get(name, asNamespace("ks"))))
    ours <- names(formals(get(name, asNamespace("kestrel"))))
    expect_identical(ours[seq_along(theirs)], theirs, info = name)
  }
})

test_that("a name that is not known is never taken for part of another, and the message tells what was meant", {
  x <- faithful$eruptions
  fhat <- kde(x, h = 1)
  bw <- npregbw(dist ~ speed, cars)
  expect_refused(
    kde(x, n = 512),
    kde(x, bw = 0.3),
    kde(x, bandwidth = 0.3),
    kde(x, kernal = "uniform"),
    kde(x, k = "uniform"),
    kde(x, weights = x),
    kde(x, na.rm = TRUE),
    kde(x, from = 0),
    kde(x, eval_points = 3),
    kde(x, colour = 3),
    kde(x, threds = 2),
    hpi(x, nstages = 2),
    hns(x, 0, x),
    hlscv(x, kern = "uniform"),
    Hlscv(faithful, method = "nlm"),
    hboot(x, replicates = 3),
    psi(x, 1, 4, weights = x),
    pdf_score(x, x, nboot = 10),
    kde_query(fhat, 1, 2, n = 10),
    kde_stream(x, ncores = 2),
    predict(fhat, 3, bw = 2),
    contourLevels(fhat, probs = 0.5),
    dkde(3, object = fhat),
    npregbw(dist ~ speed, cars, kernel = "gaussian"),
    npregbw(cars$speed, cars$dist, bw = 2),
    npregbw(cars$speed, cars$dist, 2, FALSE, "ll"),
    npregbw(dist ~ speed, cars, bandwith = 2),
    npreg(bw, weights = 1),
    npreg(bw, newdat = cars),
    npreg(dist ~ speed, cars, cars$dist > 3, stats::na.fail, 4),
    predict(npreg(bw), cars, types = "response"),
    kestrel_threads(threads = 2),
    kestrel_info(TRUE),
    vech(diag(2), TRUE)
  )
})

test_that("names of ks that are abbreviated stay what they are there", {
  x <- faithful$eruptions
  expect_identical(kde(x, h = 1, eval = 3)$estimate, kde(x, h = 1, eval.points = 3)$estimate)
  expect_identical(kde(x, h = 1, gridt = "quantile")$eval.points, kde(x, h = 1, gridtype = "quantile")$eval.points)
})

test_that("an argument without effect says so once in a session", {
  rm(list = ls(informed_of), envir = informed_of)
  x <- faithful$eruptions
  expect_snapshot({
    hpi(x, binned = TRUE, bgridsize = 100)
    kde(x, h = 1, eval.points = 3, binned = TRUE, density = TRUE)$estimate
    hpi(x, binned = FALSE)
    Hpi.kcde(faithful, pilot = "dscalar")
    npregbw(dist ~ speed, cars, bws = 4, nmulti = 5)$bw
    predict(kde(x, h = 1), 3, zero.flag = TRUE)
  })
})

test_that("messages have a class by which they can be muffled", {
  rm(list = ls(informed_of), envir = informed_of)
  expect_message(hpi(faithful$eruptions, binned = TRUE), class = "kestrel_message")
})

test_that("`verbose = NULL` leaves the decision to the option, and then to the session", {
  x <- faithful$eruptions
  before <- options(kestrel.verbose = NULL)
  on.exit(options(before))
  expect_null(asked_verbose(NULL))
  for (option in c(TRUE, FALSE)) {
    options(kestrel.verbose = option)
    expect_identical(asked_verbose(NULL), option)
    expect_identical(asked_verbose(!option), !option)
  }
  options(kestrel.verbose = "yes")
  expect_refused(hpi(x))
})
