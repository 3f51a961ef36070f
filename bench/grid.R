# Speed of density estimates on regular grids, radial Epanechnikov kernel, compared with the programs of Lopez-Novoa
# (2015), chapter 6, all in one run, alternating: medians, CPU time of the process, one thread, unless stated otherwise.
#
#   Rscript bench/grid.R [--short] [three two one threads memory]
#
# kestrel must be installed. The reference programs are checked against plain R on small grids before anything is timed.
# A method marked * ran on a few samples or points only, and its time, linear in their number, was scaled to all of
# them. The largest grid takes 3.2 GB, for two arrays.

library(kestrel)
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (file in c("harness.R", "sums.R", "normal-data.R", "grid-task.R")) source(file.path(here, file))
compile("clock.cpp", "grid.cpp", "papers/skde.cpp")

wide_isas <- intersect(c("avx512", "avx2"), kestrel_info()$isa_available)

# ---- the reference programs against plain R
plain_density <- function(task) {
  at <- as.matrix(expand.grid(task$axes))
  d <- ncol(at)
  H <- tcrossprod(task$root)
  volume <- c(2, pi, 4 / 3 * pi, pi^2 / 2)[d]
  sum <- numeric(nrow(at))
  for (s in seq_len(nrow(task$x))) {
    q <- stats::mahalanobis(at, task$x[s, ], H)
    sum <- sum + (d + 2) / 2 / volume * pmax(0, 1 - q)
  }
  sum / sqrt(det(H)) / nrow(task$x)
}
yardsticks <- function(task) {
  filled <- function(method) {
    grid <- numeric(evaluation_points(task))
    method(grid)
    grid
  }
  s_kde <- function(chop, atomic) filled(function(grid) lopez_novoa_s_kde(task$x, task, chop, atomic, grid))
  list(
    ep = filled(function(grid) lopez_novoa_ep_kde(task$x, task, 1, length(grid), grid)), box = s_kde(FALSE, FALSE),
    box_atomic = s_kde(FALSE, TRUE), chop = s_kde(TRUE, FALSE), chop_atomic = s_kde(TRUE, TRUE),
    rows = if (ncol(task$x) == 1L) filled(function(grid) direct_rows(task$x, task, grid))
  )
}
check_task <- function(task) {
  exact <- plain_density(task)
  stopifnot(max(exact) > 0)
  for (value in Filter(length, yardsticks(task))) stopifnot(max(abs(value - exact)) < 1e-12 * max(exact))
  for (isa in wide_isas) stopifnot(grid_difference(kestrel_grid(task, isa), 1, exact) < 1e-12)
}
# Grids around all samples; grids that hold only part of them, with samples beyond two corners; and these corners alone,
# so that most samples reach no point.
check_yardsticks <- function() {
  for (d in 1:4) {
    correlation <- 0.7^abs(outer(seq_len(d), seq_len(d), "-"))
    x <- normal_data(150L, correlation) %*% diag(c(1, -30, 0.01, 5)[seq_len(d)], d)
    thesis_points <- c(301L, 23L, 14L, 7L)[d] + seq_len(d)
    inside <- apply(x, 2L, stats::quantile, c(0.2, 0.9))
    x <- rbind(x, inside, 2 * inside)
    check_task(task_for(x, thesis_points))
    check_task(task_for(x, thesis_points, inside))
    check_task(task_for(x, rep(2L, d), inside))
  }
}

# ---- one task, all contenders
# About how many evaluation points within reach of samples a reference program computes in a round.
yardstick_work <- sized(5e7, 1e7)
ep_work <- sized(2e8, 5e7)
few_samples <- function(task) {
  n <- nrow(task$x)
  task$x[seq_len(round(min(max(yardstick_work / task$influenced, 5e-4 * n), 0.03 * n))), , drop = FALSE]
}

# kestrel, a call for each instruction set.
calls_of_kestrel <- function(task) {
  lapply(stats::setNames(nm = wide_isas), function(isa) function() kestrel_grid(task, isa))
}
# Touches the pages of `grid`, for the reference programs, and of a result of kestrel, whose memory stays in the
# process.
prepare_grid <- function(points) {
  gc()
  release_pages()
  grid <- numeric(points)
  numeric(1.05 * points)
  grid
}
# Differences, for each instruction set, from the sum of the samples x by `method`, which adds to a grid.
differences <- function(task, x, grid, method) {
  clear(grid)
  method(grid)
  difference <- function(isa) grid_difference(kestrel_grid(task, isa, x), nrow(x) / nrow(task$x), grid)
  scientific(vapply(wide_isas, difference, 0))
}

# A row for each instruction set of kestrel and, marked *, for each reference program. `bars`: a list with the bars for
# some of these; NA for none.
table_of <- function(times, bars, difference) {
  others <- setdiff(colnames(times), wide_isas)
  table <- data.frame(
    method = c(rep("kestrel", length(wide_isas)), paste0(others, "*")), isa = c(wide_isas, rep("", length(others))),
    s = vapply(middle(times)[c(wide_isas, others)], figure, ""), row.names = NULL
  )
  for (other in names(bars)) {
    gain <- vapply(wide_isas, function(isa) times_of(times, other, isa), 0)
    # Bars are for AVX-512; with AVX2 they are six tenths of that.
    bar <- bars[[other]] * ifelse(wide_isas == "avx2", 0.6, 1)
    met <- ifelse(is.na(bar), "", vapply(gain >= bar, function(it) verdict(isTRUE(it)), ""))
    table[[paste0(other, "/it")]] <- c(vapply(gain, figure, ""), rep("", length(others)))
    table[[paste0("bar", strrep(" ", ncol(table)))]] <- c(ifelse(is.na(bar), "", figure(bar)), rep("", length(others)))
    table[[paste0("met", strrep(" ", ncol(table)))]] <- c(met, rep("", length(others)))
  }
  table$difference <- c(difference, rep("", length(others)))
  table
}
# The results of a race with reference programs, which did `share` of their work.
keep_task <- function(times, task, share) {
  named <- times
  colnames(named)[match(wide_isas, colnames(times))] <- paste0("kestrel, ", wide_isas)
  keep_times(named, "S-KDE", d = ncol(task$x), n = nrow(task$x), m = evaluation_points(task), share = share)
}
# Shown at once, since the next task may take minutes.
show_task <- function(task, few, table) {
  n <- nrow(task$x)
  cat(sprintf("\n%s samples, %s points; *: of %s %% of the samples; EP, direct: at some of the points\n",
              format(n, big.mark = ","), task$name, trimws(figure(100 * nrow(few) / n, 2L))))
  show(table)
}

race_task <- function(task, bars) {
  x <- few_samples(task)
  points <- evaluation_points(task)
  some <- min(points, max(1, round(ep_work / nrow(task$x))))
  first <- floor((points - some) / 2) + 1
  grid <- prepare_grid(points)
  s_kde <- function(chop, atomic) function() lopez_novoa_s_kde(x, task, chop, atomic, grid)
  times <- race(c(calls_of_kestrel(task), list(
    chop = s_kde(TRUE, FALSE), atomic = s_kde(TRUE, TRUE), box = s_kde(FALSE, FALSE),
    EP = function() lopez_novoa_ep_kde(task$x, task, first, first + some - 1, grid)
  )), rounds = 3L)
  sampled <- c("chop", "atomic", "box")
  times[, sampled] <- times[, sampled] * nrow(task$x) / nrow(x)
  times[, "EP"] <- times[, "EP"] * points / some
  keep_task(times, task, c(stats::setNames(rep(nrow(x) / nrow(task$x), 3L), sampled), EP = some / points))
  difference <- differences(task, x, grid, function(grid) lopez_novoa_s_kde(x, task, TRUE, FALSE, grid))
  show_task(task, x, table_of(times, bars, difference))
}

# ---- three dimensions (thesis, chapter 6, table 4)
bench_three <- function() {
  cat("\nd = 3, normal data, correlations 0.5, 0.3, 0.5; chop, atomic: S-KDE with chop & crop, without and with\n")
  cat("atomic additions; box: S-KDE, bounding boxes; EP: every sample at every point\n")
  chop_bars <- list(2.5, NA, NA, NA, 10)
  for (n in sized(c(5e5, 1e6), 1e5)) {
    x <- normal_data(n, correlations[[3L]])
    for (i in sized(seq_along(space_grids), c(1L, 3L))) {
      race_task(task_for(x, space_grids[[i]]), list(chop = chop_bars[[i]], atomic = 15))
    }
  }
}

# ---- two dimensions (tables 2 and 3, the largest)
bench_two <- function() {
  cat("\nd = 2, normal data, correlation 0.5; the slice is the bounding box\n")
  if (short) return(race_task(task_for(normal_data(1e5, correlations[[2L]]), c(1400, 1350)), list()))
  race_task(task_for(normal_data(3473932, correlations[[2L]]), c(2800, 2700)), list(chop = 8, atomic = NA))
  race_task(task_for(normal_data(5885326, correlations[[2L]]), c(3800, 3400)), list(chop = 8, atomic = NA))
}

# ---- one dimension
bench_one <- function() {
  cat("\nd = 1, normal data; rows: every sample adds its parabola to the points that it reaches, vectorised; direct:\n")
  cat("kestrel's direct engine, every sample at every point\n")
  task <- task_for(normal_data(sized(1e7, 1e6), correlations[[1L]]), sized(1e6, 1e5))
  x <- few_samples(task)
  points <- evaluation_points(task)
  some <- task$axes[[1L]][round(seq(1, points, length.out = 64L))]
  grid <- prepare_grid(points)
  times <- race(c(calls_of_kestrel(task), list(
    rows = function() direct_rows(x, task, grid),
    direct = function() kestrel_sums(task$x, matrix(some), task$root, "epanechnikov", w = task$w)
  )))
  times[, "rows"] <- times[, "rows"] * nrow(task$x) / nrow(x)
  times[, "direct"] <- times[, "direct"] * points / length(some)
  keep_task(times, task, c(rows = nrow(x) / nrow(task$x), direct = length(some) / points))
  difference <- differences(task, x, grid, function(grid) direct_rows(x, task, grid))
  show_task(task, x, table_of(times, list(rows = 150), difference))
}

# ---- two threads against one, wall time
# The largest tasks of the thesis, except its largest grid in three dimensions.
large_tasks <- sized(
  list(list(n = 1e7, points = 1e6), list(n = 3473932, points = c(2800, 2700)),
       list(n = 5e5, points = c(220, 440, 805))),
  list(list(n = 1e6, points = 1e5), list(n = 1e5, points = c(1400, 1350)), list(n = 1e5, points = c(110, 220, 322)))
)
task_columns <- function(one) {
  data.frame(d = length(one$points), n = format(one$n, big.mark = ",", scientific = FALSE),
             grid = grid_name(one$points))
}
bench_threads <- function() {
  cat("\nSeconds by the clock on one thread and on two\n")
  rows <- lapply(large_tasks, function(one) {
    task <- task_for(normal_data(one$n, correlations[[length(one$points)]]), one$points)
    prepare_grid(evaluation_points(task))
    on_threads <- function(threads) function() kestrel_grid(task, threads = threads)
    times <- race(list(one = on_threads(1L), two = on_threads(2L)), clock = wall_seconds)
    keep_times(times, "S-KDE, threads", d = length(one$points), n = one$n, m = evaluation_points(task))
    gain <- times_of(times, "one", "two")
    data.frame(task_columns(one), one = figure(middle(times)[["one"]]), two = figure(middle(times)[["two"]]),
               `one/two` = figure(gain), bar = 1.8, met = verdict(gain >= 1.8), check.names = FALSE)
  })
  show(do.call(rbind, rows))
}

# ---- memory beyond the result, each call in a session of its own
bench_memory <- function() {
  cat("\nMemory beyond the result and the data, MB; bar: the samples once, and 2 MB a thread\n")
  row <- function(one, threads) {
    points <- prod(one$points)
    bytes <- do.call(bytes_of, c("grid", threads, one$n, as.list(one$points)))[["added"]] - 8 * points
    samples <- 8 * one$n * length(one$points)
    bar <- samples + 2e6 * threads
    keep("S-KDE, threads", c("one", "two")[threads], "MB beyond the result", bytes / 1e6, d = length(one$points),
         n = one$n, m = points)
    data.frame(task_columns(one), threads = threads, samples = figure(samples / 1e6), extra = figure(bytes / 1e6),
               bar = figure(bar / 1e6), met = verdict(isTRUE(bytes <= bar)))
  }
  show(do.call(rbind, Map(row, rep(large_tasks, each = 2L), 1:2)))
}

# ---- run
keep_pages()
sections <- list(three = bench_three, two = bench_two, one = bench_one, threads = bench_threads, memory = bench_memory)
run_sections(sections, check_yardsticks)
