# The experiments of Lopez-Novoa (2015) for bench/papers-tasks.R: chapter 6, densities on grids, and chapter 7, the
# pipeline. One thread, unless the program has another number: the thesis ran all programs on eight.

# ---- chapter 6, figures 11 and 12 and table 5
# Table 2; table 4 is space_grids. The 2-D data of the thesis, DNA sequencing, are not available: normal data of that
# size.
plane_grids <- list(c(560, 540), c(560, 1350), c(1400, 1350), c(1400, 2700), c(2800, 2700))
grid_sets <- sized(
  list(list(n = 3473932L, grids = plane_grids), list(n = 500000L, grids = space_grids)),
  list(list(n = 100000L, grids = plane_grids[1:2]), list(n = 20000L, grids = list(c(55, 110, 161), c(110, 110, 161))))
)

# How many samples S-KDE needs for about `work` evaluation points.
some_samples <- function(task, work = sized(2e7, 2e6)) {
  n <- nrow(task$x)
  task$x[seq_len(min(n, max(50, round(work / task$influenced)))), , drop = FALSE]
}
measure_grid <- function(task, ep_work = sized(2e8, 1e7)) {
  n <- nrow(task$x)
  d <- ncol(task$x)
  m <- evaluation_points(task)
  few <- some_samples(task)
  points <- min(m, max(1, round(ep_work / n)))
  first <- floor((m - points) / 2) + 1
  grid <- numeric(m)
  s_kde <- function(chop, atomic) function() lopez_novoa_s_kde(few, task, chop, atomic, grid)
  kestrel <- function(threads) function() kestrel_grid(task, threads = threads)
  contenders <- list(
    `EP-KDE` = function() lopez_novoa_ep_kde(task$x, task, first, first + points - 1, grid),
    `S-KDE, box` = s_kde(FALSE, FALSE), `S-KDE` = s_kde(TRUE, FALSE), `S-KDE, atomic` = s_kde(TRUE, TRUE),
    `kestrel, one thread` = kestrel(1L), kestrel = kestrel(cores)
  )
  share <- c(`EP-KDE` = points / m, stats::setNames(rep(nrow(few) / n, 3L), names(contenders)[2:4]))
  timed("grid", contenders, as.numeric(n) * m, "pairs/s", n, d, m, 1L, share, rounds = 1L)
}

# Geometric means over grids; the averages of table 5 are over data and grids.
average_ratio <- function(rows, d, above, below) {
  plain <- sub("[*]$", "", rows$program)
  of <- function(program) rows$seconds[plain == program & rows$d == d]
  rate <- exp(mean(log(of(above) / of(below))))
  row_of("grid", paste(above, "over", below), d = d, rate = rate, unit = "times")
}
# Points of the bounding boxes and of the cropped rectangles, per sample.
points_of_boxes <- function(task) {
  few <- some_samples(task)
  box <- prod(2 * task$reach / task$step)
  grid <- numeric(evaluation_points(task))
  cropped <- lopez_novoa_pipeline(few, task, 64e6, FALSE, grid)[["densities"]] / nrow(few)
  counted <- function(program, points) {
    row_of("grid", program, nrow(task$x), ncol(task$x), evaluation_points(task), rate = points, unit = "points")
  }
  rbind(counted("S-KDE, points of a box", box), counted("S-KDE, points of a box, cropped", cropped))
}

# ---- ks, by the rule of section 5.2
# With a bandwidth for which its estimate has a score of 98 % (Perkins et al. 2007) with that of S-KDE
score_of <- function(a, b, step) sum(pmin(a, b)) * prod(step)
wanted_score <- 0.98
few_for_ks <- sized(200L, 20L)
beside_ks <- function(task) {
  x <- task$x
  n <- nrow(x)
  ends <- vapply(task$axes, range, c(0, 0))
  peer <- function(x, H, binned) {
    ks::kde(x, H = H, binned = binned, bgridsize = task$points, gridsize = task$points, xmin = ends[1L, ],
            xmax = ends[2L, ], compute.cont = FALSE)$estimate
  }
  ours <- kestrel_grid(task) / n
  # The normal reference for its kernel gives about as smooth an estimate; if not, narrower and wider ones are tried.
  best <- list(score = -Inf)
  for (factor in c(1, 0.9, 1.1, 0.8, 0.7, 0.6, 0.5)) {
    H <- factor^2 * Hns(x)
    score <- score_of(peer(x, H, TRUE), ours, task$step)
    if (score > best$score) best <- list(score = score, factor = factor, H = H)
    if (score >= wanted_score) break
  }
  few <- x[seq_len(few_for_ks), ]
  all_of <- c(n = n, d = ncol(x), m = evaluation_points(task))
  rows <- timed("grid", list(ks = function() peer(few, best$H, FALSE), `ks, binned` = function() peer(x, best$H, TRUE)),
                as.numeric(n) * all_of[["m"]], "pairs/s", all_of[["n"]], all_of[["d"]], all_of[["m"]], 1L,
                c(ks = few_for_ks / n), rounds = 1L)
  rbind(rows, row_of("grid", "ks, score", d = ncol(x), rate = best$score, unit = "score"),
        row_of("grid", "ks, bandwidth", d = ncol(x), rate = best$factor, unit = "of Hns"))
}

measure_grids <- function(sets = grid_sets, with_ks = requireNamespace("ks", quietly = TRUE)) {
  one_set <- function(set) {
    d <- length(set$grids[[1L]])
    x <- normal_data(set$n, correlations[[d]])
    rows <- do.call(rbind, lapply(set$grids, function(grid) measure_grid(task_for(x, grid))))
    peers <- if (with_ks) beside_ks(task_for(x, set$grids[[1L]]))
    rows <- rbind(rows, points_of_boxes(task_for(x, set$grids[[length(set$grids)]])), peers)
    over <- list(c("EP-KDE", "S-KDE"), c("S-KDE, box", "S-KDE"), c("S-KDE, atomic", "S-KDE"),
                 c("S-KDE", "kestrel, one thread"))
    averages <- do.call(rbind, lapply(over, function(pair) average_ratio(rows, d, pair[1L], pair[2L])))
    if (!is.null(peers)) {
      first <- rows[rows$m %in% prod(set$grids[[1L]]), ]
      averages <- rbind(averages, average_ratio(first, d, "ks", "S-KDE"))
    }
    rbind(rows, averages)
  }
  do.call(rbind, lapply(sets, one_set))
}

# ---- chapter 7, table 4: a million samples, objects of 256 MB
measure_pipeline <- function(n = 1000000L, grids = space_grids[sized(c(1L, 3L, 5L), 1L)], object_bytes = 256e6,
                             work = sized(2e8, 1e7)) {
  x <- normal_data(n, correlations[[3L]])
  one_grid <- function(thesis_points) {
    task <- task_for(x, thesis_points)
    m <- evaluation_points(task)
    few <- some_samples(task, work)
    share <- nrow(few) / n
    grid <- numeric(m)
    stages <- c("computation", "transfer", "consolidation", "total")
    one <- function(overlapped) {
      run <- function() lopez_novoa_pipeline(few, task, object_bytes, overlapped, grid)[stages]
      run()   # touches the pages of the grid
      seconds <- run() / share
      row_of("pipeline", paste0("host", if (overlapped) ", overlapped", ": ", stages, if (share < 1) "*"), n, 3L, m, 1L,
             unname(seconds), unname(as.numeric(n) * m / seconds), "pairs/s")
    }
    timed_rows <- timed("pipeline", list(`S-KDE` = function() lopez_novoa_s_kde(few, task, TRUE, FALSE, grid),
                                         `kestrel, one thread` = function() kestrel_grid(task),
                                         kestrel = function() kestrel_grid(task, threads = cores)),
                        as.numeric(n) * m, "pairs/s", n, 3L, m, 1L, c(`S-KDE` = share), rounds = 1L)
    rows <- rbind(one(FALSE), one(TRUE), timed_rows)
    rbind(rows, ratios(rows, c("S-KDE", "host: total"), c("S-KDE", "host, overlapped: total"),
                       c("S-KDE", "kestrel, one thread")))
  }
  do.call(rbind, lapply(grids, one_grid))
}
