# Progress bars: shown when wanted, never going back, and without effect on results.

# The updates of bars while `code` runs: a data frame with `current` and `total` of each update (NA for a search without
# a total) and the bar, from cli's own log. Every update is logged, not only a few per second.
bar_updates <- function(code) {
  before <- options(cli.progress_show_after = 0, cli.progress_handlers_only = "logger")
  on.exit(options(before))
  told <- function(bar, at, status) cli::cli_progress_update(id = bar, set = at, status = status, force = TRUE)
  with_binding("move_bar", told, lines <- capture.output(code))
  updates <- do.call(rbind, strsplit(grep("updated$", lines, value = TRUE), " "))
  if (is.null(updates)) return(data.frame(bar = character(0), current = numeric(0), total = numeric(0)))
  data.frame(bar = updates[, 2], current = as.numeric(sub("/.*", "", updates[, 3])),
             total = suppressWarnings(as.numeric(sub(".*/", "", updates[, 3]))))
}

# The calls, as functions of further arguments. Every poll is due, so that bars move however fast the machine is.
before <- kestrel_threads(1)
before_poll <- options(kestrel.poll = 0)
set.seed(1)
x1 <- rnorm(2000)
x2 <- matrix(rnorm(400), ncol = 2)
x4 <- matrix(rnorm(2800), ncol = 4)
many <- x4[rep(1:700, 8), ]
fhat <- kde(x4, H = diag(4), eval.points = x4[1:2, ])
line <- kde(x4[, 1], h = 0.3)
below <- kcde(x4[, 1:2], H = diag(2) / 9, gridsize = 5)
noisy <- data.frame(x = c(x4[, 1:2]), y = c(x4[, 3:4]))
bw <- npregbw(noisy$x, noisy$y, 0.3, ckertype = "gaussian")
calls <- list(
  kde = function(...) kde(x4, H = diag(4), eval.points = many, engine = "direct", ...)$estimate,
  predict = function(...) predict(fhat, many, ...),
  kde_stream = function(...) {
    seen <- list()
    kde_stream(x2, H = diag(2), gridsize = 20, slab = 2, to = function(slab) seen <<- c(seen, slab), ...)
    seen
  },
  dkde = function(...) dkde(many, fhat, ...),
  pkde = function(...) pkde(rep(x4[, 2], 8), replace(line, "kernel", "cosine"), ...),
  kcde = function(...) kcde(x4[, 1:3], H = diag(3), gridsize = 21, ...)$estimate,
  predict_kcde = function(...) predict(below, many[, 1:2], ...),
  hpi.kcde = function(...) hpi.kcde(x1, ...),
  Hpi.kcde = function(...) Hpi.kcde(x4, ...),
  qkde = function(...) qkde(rep(c(0.2, 0.7), 100), line, ...),
  marginal = function(...) {
    marginal(replace(fhat, c("eval.points", "estimate"), list(many, numeric(nrow(many)))), 4:1, ...)$estimate
  },
  contourLevels = function(...) {
    contourLevels(replace(fhat, c("x", "w"), list(many, rep(1, nrow(many)))), cont = 50, approx = FALSE, ...)
  },
  lscv = function(...) lscv(x4, h = 1, ...),
  psi = function(...) psi(x1, 0.1, 4, ...),
  Hpi = function(...) Hpi(x4, ...),
  Hlscv = function(...) Hlscv(x2, ...),
  Hscv = function(...) Hscv(x2, ...),
  hlscv = function(...) hlscv(x1, ...),
  hscv = function(...) hscv(x1, ...),
  npregbw = function(...) quietly(npregbw(x4[, 1], x4[, 2], ckertype = "gaussian", nbw = 10, ...)$cv),
  npreg = function(...) npreg(bws = 0.3, txdat = noisy$x, tydat = noisy$y, ckertype = "gaussian", ...)$mean,
  npreg_formula = function(...) npreg(y ~ x, noisy, bws = 0.3, ckertype = "gaussian", ...)$merr,
  npreg_bandwidth = function(...) npreg(bw, ...)$merr,
  predict_bandwidth = function(...) predict(bw, ...),
  hboot = function(...) with_seed(1, quietly(hboot(x4[, 1], h0 = 1, h = c(0.4, 0.6, 1), B = 50, ...)$errors)),
  pdf_score = function(...) with_seed(1, pdf_score(x2, x2[200:1, ], B = 3, gridsize = 20, ...)$replicates),
  kde_query = function(...) kde_query(fhat, lower = x4, upper = x4 + 1, ...),
  kde_synopsis = function(...) {
    with_seed(1, kde_synopsis(x4, 100, tune_queries = list(lower = x4[1:20, ], upper = x4[1:20, ] + 1), ...)$tuning)
  }
)
test_that("bars move, never back, and change no bit; a session decides, and FALSE is silent", {
  for (name in names(calls)) {
    with_binding("session_is_interactive", function() TRUE, {
      expect_identical(nrow(bar_updates(quiet <- calls[[name]](verbose = FALSE))), 0L, info = name)
      updates <- bar_updates(shown <- calls[[name]]())
    })
    expect_identical(shown, quiet, info = name)
    expect_gt(nrow(updates), 0, label = name)
    for (one in split(updates, updates$bar)) {
      expect_false(is.unsorted(one$current), info = name)
      expect_true(all(is.na(one$total) | one$current <= one$total), info = name)
    }
  }
  # For an estimate without a bandwidth both parts are shown.
  with_binding("session_is_interactive", function() TRUE, {
    updates <- bar_updates(kde(x4, eval.points = many, engine = "direct"))
  })
  expect_identical(length(unique(updates$bar)), 2L)
})

test_that("other sessions show what `verbose = TRUE` asks for", {
  expect_identical(nrow(bar_updates(calls$pdf_score())), 0L)
  expect_message(updates <- bar_updates(calls$pdf_score(verbose = TRUE)), "1 model")
  expect_gt(nrow(updates), 0)
})

test_that("a bar that has come to its end can be told so again", {
  updates <- bar_updates(with_progress(TRUE, "Sums", function(progress) {
    for (fraction in c(0.5, 1, 0.2, 1)) progress(fraction)
  }))
  expect_identical(updates$current, c(50, 100, 100, 100))
})

test_that("the bar of a search tells how far its sum is, and counts sums and evaluations", {
  said <- list()
  note <- function(bar, at, status) said <<- c(said, list(list(at = at, status = status)))
  with_binding("move_bar", note, with_search_progress(TRUE, "Search", function(progress) {
    for (fraction in c(0.2, 0.7, 0.1)) progress(fraction)
    attr(progress, "evaluated")()
    progress(0.5)
  }))
  expect_identical(vapply(said, `[[`, "", "status"),
                   c("sum 1, 20 %", "sum 1, 70 %", "sum 2, 10 %", "sum 2, 10 % (1 evaluation)",
                     "sum 2, 50 % (1 evaluation)"))
  at <- vapply(said, `[[`, 0, "at")
  expect_true(all(diff(at) > 0))
  # Sums without evaluations move it, too.
  updates <- bar_updates(calls$Hpi(verbose = TRUE))
  expect_gt(length(unique(updates$current)), 2)
})

test_that("a bar waits for a second, or for what the option of cli says", {
  before <- options(cli.progress_show_after = NULL, cli.progress_handlers_only = "logger")
  on.exit(options(before))
  expect_identical(bar_delay(), 1)
  options(cli.progress_show_after = 1e6)
  expect_identical(bar_delay(), 1e6)
  lines <- capture.output(suppressMessages(calls$kde(verbose = TRUE)))
  expect_match(lines, "created$", all = FALSE)
  expect_false(any(grepl("added$", lines)))
})

test_that("suppressMessages() silences a bar in a terminal", {
  before <- options(cli.progress_show_after = 0, cli.dynamic = TRUE, cli.progress_handlers_only = "cli")
  on.exit(options(before))
  drawn <- character(0)
  note <- function(condition) {
    drawn <<- c(drawn, conditionMessage(condition))
    invokeRestart("muffleMessage")
  }
  told <- function(bar, at, status) cli::cli_progress_update(id = bar, set = at, status = status, force = TRUE)
  with_binding("move_bar", told, {
    withCallingHandlers(calls$pdf_score(verbose = TRUE), message = note)
    expect_match(drawn, "PDF score", all = FALSE)
    silent <- capture.output(suppressMessages(calls$pdf_score(verbose = TRUE)), type = "message")
  })
  expect_identical(silent, character(0))
})

# In a session of its own: in that of the tests an interrupt is lost now and then, before any of this code sees it.
interrupted_while_drawing <- function() {
  namespace <- asNamespace("kestrel")
  with_binding <- function(name, value, code) {
    old <- get(name, namespace)
    unlockBinding(name, namespace)
    on.exit(assign(name, old, namespace))
    assign(name, value, namespace)
    code
  }
  drawn <- character(0)
  slow <- function(...) {
    tools::pskill(Sys.getpid(), tools::SIGINT)
    for (i in 1:1e5) i
    drawn <<- c(drawn, "whole")
  }
  wait <- function(progress) {
    progress(0.5)
    for (i in 1:1000) Sys.sleep(0.01)
  }
  caught <- function(with_any) {
    tryCatch({
      with_any(TRUE, "Sums", wait)
      "to the end"
    }, interrupt = function(i) "interrupted")
  }
  found <- c(with_binding("move_bar", slow, caught(namespace$with_progress)),
             with_binding("move_bar", slow, caught(namespace$with_search_progress)),
             with_binding("open_bar", slow, caught(namespace$with_progress)))
  cat(found, drawn)
}

test_that("Ctrl-C waits until a bar is drawn, and ends the computation then", {
  code <- c("library(kestrel)", "interrupted_while_drawing <-", deparse(interrupted_while_drawing),
            "interrupted_while_drawing()")
  script <- tempfile(fileext = ".R")
  on.exit(unlink(script))
  writeLines(code, script)
  said <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)), stdout = TRUE, stderr = FALSE)
  expect_identical(said, paste(rep(c("interrupted", "whole"), each = 3), collapse = " "))
})

test_that("an error of a bar does not end a computation, and a limit of time that is reached in one is not lost", {
  broken <- function(...) stop("NA/NaN argument")
  twice <- function(progress) {
    progress(0.5)
    attr(progress, "evaluated")()
    "done"
  }
  for (name in c("open_bar", "move_bar")) {
    with_binding(name, broken, expect_identical(with_search_progress(TRUE, "Search", twice), "done"))
    with_binding(name, broken, expect_identical(calls$kde(verbose = TRUE), calls$kde()))
  }
  # The limit is reached while the bar is drawn, and noticed by a poll after that.
  late <- function(...) {
    set_limit()
    for (i in 1:20) Sys.sleep(0.01)
    drawn <<- TRUE
  }
  drawn <- FALSE
  with_binding("move_bar", late, expect_limit(with_progress(TRUE, "Sums", function(progress) {
    progress(0.5)
    for (i in 1:1e7) heard()
  })))
  expect_true(drawn)
  # If an error of a limit comes out of a bar anyway, it passes.
  limit <- simpleError(gettext("reached elapsed time limit", domain = "R"))
  with_binding("move_bar", function(...) stop(limit), expect_limit(calls$kde(verbose = TRUE)))
})

test_that("`verbose` is a flag everywhere", {
  expect_refused(
    predict(fhat, x4, verbose = "yes"),
    kde_query(fhat, lower = x4, upper = x4, verbose = NA),
    hlscv(x1, verbose = 1),
    hscv(x1, verbose = 1),
    hpi(x1, verbose = 1),
    Hpi(x4, verbose = 1),
    npreg(y ~ x, noisy, verbose = 1),
    npreg(bws = 1, txdat = noisy$x, tydat = noisy$y, verbose = NA),
    predict(bw, verbose = 0),
    dkde(1, line, verbose = "no"),
    lscv(x1, h = 1, verbose = NA),
    contourLevels(line, cont = 50, verbose = "no")
  )
})

kestrel_threads(before)
options(before_poll)
