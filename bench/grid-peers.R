# The last sections of bench/grid.R: threads, memory, and grids of ks.

# The largest tasks of the thesis, but for its largest grid in three dimensions.
large_tasks <- list(list(n = 1e7, points = 1e6), list(n = 3473932, points = c(2800, 2700)),
                    list(n = 5e5, points = c(220, 440, 805)))
large_task <- function(one) task_for(normal_data(one$n, correlations[[length(one$points)]]), one$points)
task_columns <- function(one) {
  data.frame(d = length(one$points), n = format(one$n, big.mark = ",", scientific = FALSE),
             grid = grid_name(one$points))
}

# ---- two threads against one, wall time
bench_threads <- function() {
  cat("\nSeconds by the clock on one thread and on two\n")
  rows <- lapply(large_tasks, function(one) {
    task <- large_task(one)
    prepare_grid(evaluation_points(task))
    on_threads <- function(threads) function() kestrel_grid(task, threads = threads)
    times <- race(list(one = on_threads(1L), two = on_threads(2L)), clock = wall_seconds)
    gain <- times_of(times, "one", "two")
    data.frame(task_columns(one), one = figure(middle(times)[["one"]]), two = figure(middle(times)[["two"]]),
               `one/two` = figure(gain), bar = 1.8, met = verdict(gain >= 1.8), check.names = FALSE)
  })
  show(do.call(rbind, rows))
}

# ---- memory, each call in a session of its own
session_bytes <- function(threads, one) {
  script <- c(shQuote(file.path(here, "grid-memory.R")), threads, format(c(one$n, one$points), scientific = FALSE))
  printed <- system2(file.path(R.home("bin"), "Rscript"), script, stdout = TRUE, stderr = FALSE,
                     env = "MALLOC_MMAP_THRESHOLD_=131072")
  as.numeric(c(utils::tail(printed, 1L), NA))[1L]
}
bench_memory <- function() {
  cat("\nMemory beyond the result and the data, MB; bar: the samples once, and 2 MB a thread\n")
  row <- function(one, threads) {
    bytes <- session_bytes(threads, one)
    samples <- 8 * one$n * length(one$points)
    bar <- samples + 2e6 * threads
    data.frame(task_columns(one), threads = threads, samples = figure(samples / 1e6), extra = figure(bytes / 1e6),
               bar = figure(bar / 1e6), met = verdict(isTRUE(bytes <= bar)))
  }
  show(do.call(rbind, Map(row, rep(large_tasks, each = 2L), 1:2)))
}

# ---- ks
# Its kernel is Gaussian, its bandwidth here the normal reference for that. What it should give are direct sums with
# that kernel, at some points of the grid.
checked_points <- 2000L
points_of_grid <- function(task, which) {
  place <- arrayInd(which, task$points)
  vapply(seq_along(task$axes), function(k) task$axes[[k]][place[, k]], numeric(length(which)))
}
gaussian_at <- function(x, H, points) kde(x, H = H, eval.points = points, engine = "direct", threads = 1L)$estimate
check_gaussian <- function() {
  x <- normal_data(50L, correlations[[3L]])
  H <- correlations[[3L]] / 9
  at <- x[1:9, ] + 0.1
  plain <- apply(at, 1L, function(e) mean(exp(-stats::mahalanobis(x, e, H) / 2)) / sqrt((2 * pi)^3 * det(H)))
  stopifnot(max(abs(gaussian_at(x, H, at) / plain - 1)) < 1e-12)
}

# Samples for ks without bins, which takes each of them at every point around it.
few_for_ks <- 200L
beside_ks <- function(one) {
  task <- large_task(one)
  x <- task$x
  few <- x[seq_len(few_for_ks), ]
  H <- Hns(x)
  ends <- vapply(task$axes, range, c(0, 0))
  peer <- function(x, binned) {
    ks::kde(x, H = H, binned = binned, bgridsize = task$points, gridsize = task$points, xmin = ends[1L, ],
            xmax = ends[2L, ], compute.cont = FALSE)$estimate
  }
  times <- race(list(kestrel = function() kestrel_grid(task), binned = function() peer(x, TRUE),
                     all = function() peer(few, FALSE)), rounds = 3L)
  times[, "all"] <- times[, "all"] * nrow(x) / nrow(few)
  which <- sort(sample.int(evaluation_points(task), checked_points))
  points <- points_of_grid(task, which)
  error <- function(estimate, exact) scientific(max(abs(estimate[which] - exact)) / max(exact))
  ours <- kde(x, H = tcrossprod(task$root), kernel = "epanechnikov", eval.points = points, engine = "direct",
              threads = 1L)$estimate
  data.frame(
    task_columns(one), `kestrel, s` = figure(middle(times)[["kestrel"]]),
    error = error(kestrel_grid(task) / nrow(x), ours), `ks, binned, s` = figure(middle(times)[["binned"]]),
    ` error` = error(peer(x, TRUE), gaussian_at(x, H, points)), `ks, all*, s` = figure(middle(times)[["all"]]),
    `error ` = error(peer(few, FALSE), gaussian_at(few, H, points)),
    `binned/kestrel` = figure(times_of(times, "binned", "kestrel")),
    `all/kestrel` = figure(times_of(times, "all", "kestrel")), check.names = FALSE
  )
}
bench_peers <- function() {
  if (!requireNamespace("ks", quietly = TRUE)) return(cat("\nks is not installed\n"))
  cat("\nkestrel, Epanechnikov, beside ks, Gaussian: each with its normal reference bandwidth and its largest error\n")
  cat("at ", checked_points, " points of the grid, relative to the largest value there; ks, all*: not binned, of ",
      few_for_ks, "\nsamples, the time scaled to all (extrapolated)\n", sep = "")
  tasks <- list(list(n = 1e6, points = c(1400, 1350)), list(n = 5e5, points = c(110, 220, 322)))
  show(do.call(rbind, lapply(tasks, beside_ks)))
}
