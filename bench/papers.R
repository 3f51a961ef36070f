# The papers' experiments on this machine: their programs, from bench/papers/, compared with kestrel and with the
# papers' own numbers.
#
#   Rscript bench/papers.R [--short] [density plugin lscv_h lscv_H regression grids pipeline]
#
# kestrel must be installed; ks is timed if it is. The programs are checked against kestrel on small data before
# anything is timed (and in tests/cpp/papers/). Takes some minutes and 4 GB in all.

library(kestrel)
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
files <- c("harness.R", "sums.R", "normal-data.R", "grid-task.R", "papers-tasks.R", "papers-grids.R")
for (file in files) source(file.path(here, file))
compile("clock.cpp", "papers/michailidis-margaritis.cpp", "papers/andrzejewski.cpp", "papers/rohlfs-zahran.cpp",
        "papers/skde.cpp")

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
  ours <- pair_sum_of(kestrel_lscv(x, t(chol(S))), x, t(chol(S)))
  near(andrzejewski_simd_lscv_H(x, solve(S), det(S), 2L), ours, 1e-4)
  near(andrzejewski_simd_lscv_h(x, solve(S), det(S), c(0.5, 1), 2L),
       andrzejewski_lscv_h(t(x), solve(S), det(S), c(0.5, 1), FALSE), 1e-4)
  y <- x[, 1L]^2
  h <- c(0.2, 0.5, 1)
  cv <- kestrel_cv(list(x = x[, 2L], y = y), h)
  near(rohlfs_zahran_cv(x[, 2L], y, h, 1:100)$squares, cv$squares, 1e-10)
  near(rohlfs_zahran_sequential(x[, 2L], y, h, 100L)$squares, cv$squares, 1e-2)
  task <- task_for(x, c(20, 30, 40))
  grid <- numeric(evaluation_points(task))
  lopez_novoa_pipeline(x, task, 1e6, TRUE, grid)
  near(grid, as.vector(kestrel_grid(task)) / 100, 1e-12)
}

# ---- shown and kept
show_papers <- function(table) {
  number <- function(x) ifelse(is.na(x), "", format(x, big.mark = ",", scientific = FALSE, trim = TRUE))
  brief <- function(x) ifelse(is.na(x), "", vapply(x, figure, ""))
  for (task in unique(table$task)) {
    of <- table[table$task == task, ]
    faster <- ifelse(is.na(of$seconds) | is.na(of$published), NA, of$published / of$seconds)
    cat("\n", task, "\n", sep = "")
    show(data.frame(
      program = of$program, n = number(of$n), d = number(of$d), m = number(of$m), h = number(of$h),
      s = brief(of$seconds), rate = ifelse(is.na(of$rate), "", formatC(of$rate, digits = 3, format = "g")),
      unit = of$unit, published = brief(of$published), `published / s` = brief(faster), source = of$source,
      check.names = FALSE
    ))
  }
}
# Seconds if there are any, else `rate`; includes rows that only a paper has.
keep_papers <- function(table) {
  seconds <- !is.na(table$seconds)
  timed <- seconds | table$unit == "s"
  share <- ifelse(grepl("[*]$", table$program), NA, 1)
  keep(table$task, sub("[*]$", "", table$program), ifelse(timed, "seconds", table$unit),
       ifelse(timed, table$seconds, table$rate), d = table$d, n = table$n, m = table$m, h = table$h, share = share,
       published = table$published, source = table$source)
}

published <- utils::read.csv(file.path(here, "papers", "published.csv"))
section_of <- function(measure) {
  function() {
    options(width = 220)
    table <- beside_published(measure(), published)
    show_papers(table)
    keep_papers(table)
  }
}
cat(cores, "cores\n")
run_sections(lapply(list(
  density = measure_density, plugin = measure_plugin, lscv_h = measure_lscv_h, lscv_H = measure_lscv_H,
  regression = measure_regression, grids = measure_grids, pipeline = measure_pipeline
), section_of), check_programs)
