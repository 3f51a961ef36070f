# The papers' experiments on this machine: their programs, as bench/papers/ has them, beside kestrel and what the papers
# print.
#
#   Rscript bench/papers.R [density plugin lscv_h lscv_H regression grids pipeline]
#
# kestrel has to be installed; ks is timed where it is. The programs are checked against kestrel on small data before
# anything is timed (and in tools/core-tests/test-papers-*.cpp). Some minutes and 4 GB in all.

library(kestrel)
here <- local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
  if (length(file)) dirname(file) else "bench"
})
programs <- c("michailidis-margaritis.cpp", "andrzejewski.cpp", "rohlfs-zahran.cpp", "skde.cpp")
for (file in c("clock.cpp", file.path("papers", programs))) Rcpp::sourceCpp(file.path(here, file), env = globalenv())
for (file in c("race.R", "grid-task.R", "papers-tasks.R", "papers-grids.R")) source(file.path(here, file))

# ---- the programs against kestrel
check_programs <- function() {
  near <- function(value, exact, tolerance) stopifnot(max(abs(value - exact)) <= tolerance * max(abs(exact)))
  x <- serial_sample(100L, 3L)
  density <- kde(x, H = diag(serial_h^2, 3L), eval.points = x)$estimate
  near(michailidis_margaritis_serial(t(x), serial_h, 100L, FALSE), density, 1e-12)
  near(michailidis_margaritis_serial(t(x), serial_h, 100L, TRUE), density, 1e-5)
  near(andrzejewski_plugin(x[, 1L], FALSE)[["h"]], hpi(x[, 1L]), 1e-10)
  near(andrzejewski_simd_plugin(x[, 1L], 2L)[["h"]], hpi(x[, 1L]), 1e-4)
  S <- stats::cov(x)
  sums <- of_kestrel("direct_lscv_cpp")(x, rep(1, 100), t(chol(S)), FALSE, 1L, "auto", NULL)
  near(andrzejewski_simd_lscv_H(x, solve(S), det(S), 2L), sums$convolution - 2 * sums$kernel, 1e-4)
  near(andrzejewski_simd_lscv_h(x, solve(S), det(S), c(0.5, 1), 2L),
       andrzejewski_lscv_h(t(x), solve(S), det(S), c(0.5, 1), FALSE), 1e-4)
  y <- x[, 1L]^2
  h <- c(0.2, 0.5, 1)
  cv <- of_kestrel("regression_cv_cpp")(x[, 2L], y, rep(1, 100), h, "epanechnikov", FALSE, 1L, "auto", NULL)
  near(rohlfs_zahran_cv(x[, 2L], y, h, 1:100)$squares, cv$squares, 1e-10)
  near(rohlfs_zahran_sequential(x[, 2L], y, h, 100L)$squares, cv$squares, 1e-2)
  task <- task_for(x, c(20, 30, 40))
  grid <- numeric(evaluation_points(task))
  lopez_novoa_pipeline(x, task, 1e6, TRUE, grid)
  near(grid, as.vector(kestrel_grid(task)) / 100, 1e-12)
}

# ---- all of it in one data frame
parts <- list(density = measure_density, plugin = measure_plugin, lscv_h = measure_lscv_h, lscv_H = measure_lscv_H,
              regression = measure_regression, grids = measure_grids, pipeline = measure_pipeline)
measure_papers <- function(wanted = names(parts)) {
  published <- utils::read.csv(file.path(here, "papers", "published.csv"))
  rows <- do.call(rbind, lapply(parts[wanted], function(measure) measure()))
  rownames(rows) <- NULL
  beside_published(rows, published)
}

# ---- shown
show_papers <- function(table) {
  number <- function(x) ifelse(is.na(x), "", format(x, big.mark = ",", scientific = FALSE, trim = TRUE))
  short <- function(x) ifelse(is.na(x), "", vapply(x, figure, ""))
  for (task in unique(table$task)) {
    of <- table[table$task == task, ]
    faster <- ifelse(is.na(of$seconds) | is.na(of$published), NA, of$published / of$seconds)
    cat("\n", task, "\n", sep = "")
    show(data.frame(
      program = of$program, n = number(of$n), d = number(of$d), m = number(of$m), h = number(of$h),
      s = short(of$seconds), rate = ifelse(is.na(of$rate), "", formatC(of$rate, digits = 3, format = "g")),
      unit = of$unit, published = short(of$published), `published / s` = short(faster), source = of$source,
      check.names = FALSE
    ))
  }
}

wanted <- commandArgs(TRUE)
if (!length(wanted)) wanted <- names(parts)
stopifnot(wanted %in% names(parts))
set.seed(1)
options(width = 220)
cat("load before:", load_average(), "\n")
cat(R.version.string, "- kestrel", format(utils::packageVersion("kestrel")), "-", kestrel_info()$isa, "-", cores,
    "cores\n")
check_programs()
show_papers(measure_papers(wanted))
cat("\nload after: ", load_average(), "\n")
