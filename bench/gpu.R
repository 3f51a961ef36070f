# Speed on a GPU: everything in one table, with the targets and the papers' programs, printed and written to
# bench/results/DATE-DEVICE.csv, which vignettes/gpu.Rmd shows.
#
#   Rscript bench/gpu.R [--results=FILE]      (kestrel installed with its CUDA object; nvcc and g++ on the PATH)
#
# Limits of the device: bench/gpu-ceilings.cu. Sums alone, with data and results on the device, for 131,072 samples at
# 131,072 points with the Gaussian kernel: bench/gpu-kernels.cu. The programs of Michailidis & Margaritis (2013), timed
# in the same way: bench/papers/michailidis-margaritis.cu; that of Rohlfs & Zahran (2017), with transfers from and to
# the host: bench/papers/rohlfs-zahran.cu; that of Lopez-Novoa (2015, chapter 7): bench/papers/skde-pipeline.cu. Work on
# the device for grids: tools/gpu-check.sh bench-scanline. Several devices: tools/gpu-check.sh bench-devices, and copies
# between them: bench/gpu-peers.cu. All others are whole calls, with transfers from and to the
# host: medians of five after a first one, or of one if a call takes seconds. If Andrzejewski et al. (2013, table 3) or
# Rohlfs & Zahran (2017, table I) have that size, the seconds on their GPUs are given, too.

library(kestrel)
internal <- function(name) getFromNamespace(name, "kestrel")
run_with <- function(precision = "double") internal("run_options")(backend = "cuda", cuda = TRUE, precision = precision)
here <- local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  if (length(file)) dirname(gsub("~+~", " ", file, fixed = TRUE)) else "bench"
})
set.seed(1)

# ---- the table: `value` is a rate or seconds, by `unit`, of `count` pairs or rows; `flops` and `bytes` of one
table <- NULL
add <- function(part, what, value, unit, precision = "", d = NA, way = "", wanted = NA, paper = NA, flops = NA,
                bytes = NA, count = NA) {
  table <<- rbind(table, data.frame(part, what, precision, d, way, value, unit, wanted, paper, flops, bytes, count))
}

# Output lines of a program of bench/ that begin with `name`. It is compiled into build/bench/ unless there is a newer
# one.
run_program <- function(source, name, ..., arguments = character()) {
  root <- file.path(here, "..")
  program <- file.path(root, "build", "bench", sub("[.]cu$", "", basename(source)))
  headers <- file.path(root, c("src/cuda/*/*.cuh", "src/shared/*", "bench/papers/*.cuh", "bench/papers/*.hpp"))
  of <- c(file.path(here, source), Sys.glob(headers))
  if (!isTRUE(all(file.mtime(program) > file.mtime(of)))) {
    dir.create(dirname(program), showWarnings = FALSE, recursive = TRUE)
    flags <- c("-O3", "-std=c++17", paste0("-arch=", Sys.getenv("KESTREL_CUDA_ARCH", "native")))
    include <- paste0("-I", shQuote(file.path(root, "src")))
    status <- system2("nvcc", c(flags, include, "-o", shQuote(program), shQuote(of[1L])))
    if (status != 0L) stop(source, " could not be built")
  }
  rows_of(system2(program, arguments, stdout = TRUE), name, ...)
}

rows_of <- function(lines, name, ...) {
  found <- grep(paste0("^", name, " "), lines, value = TRUE)
  if (length(found) == 0L) stop("no line begins with '", name, "': ", paste(lines, collapse = "; "))
  read.table(text = substring(found, nchar(name) + 2L), col.names = c(...))
}

# Seconds of a call. Not by system.time(), which counts milliseconds.
seconds_of <- function(call, calls = 5L) {
  once <- function(i) {
    gc(FALSE)
    start <- as.numeric(Sys.time())
    check_result(call())
    as.numeric(Sys.time()) - start
  }
  if (calls == 1L) return(once())
  median(vapply(0:calls, once, 0)[-1L])
}
check_result <- function(value) if (is.list(value) && !is.null(value$problem)) stop(value$reason)

# ---- ceilings
ceilings <- run_program("gpu-ceilings.cu", "ceiling", "name", "rate")
for (i in seq_len(nrow(ceilings))) {
  name <- ceilings$name[i]
  add("ceiling", name, ceilings$rate[i], if (grepl("memory|host", name)) "B/s" else "1/s")
}

# ---- density: sums alone
n <- 131072L
wanted_sums <- list(double = c(`1` = 7.8e11, `3` = 6.5e11, `16` = 7.5e11, `62` = 2.9e11),
                    single = c(`1` = 3.6e12, `2` = 3.6e12, `3` = 3.0e12, `6` = 2.0e12))
paper <- run_program(file.path("papers", "michailidis-margaritis.cu"), "paper", "d", "algorithm", "threads", "tile",
                     "rate", arguments = n)
# The best of the blocks and tiles that the paper found best, and others; algorithms 5 and 7 are unrolled, 3 and 4
# naive.
best_of_paper <- function(algorithms, d) max(paper$rate[paper$algorithm %in% algorithms & paper$d == d], -Inf)
sums <- run_program("gpu-kernels.cu", "kernel", "precision", "d", "way", "rate", "points", arguments = n)
fastest <- function(precision, d) max(sums$rate[sums$precision == precision & sums$d == d])

# Operations of a pair: 3 for the difference of a variable (a multiply-add is two), or 2 for inner products. 2^v takes
# 13 in double, with the addition to the sum; in single one exponential and one addition (src/cuda/base/exp2.cuh).
# Bytes: a block reads every sample and its weight once for its points, and its points once for a chunk of 1024 samples,
# for which it writes a double for each point.
for (i in seq_len(nrow(sums))) {
  row <- sums[i, ]
  size <- if (row$precision == "double") 8 else 4
  min <- wanted_sums[[row$precision]][as.character(row$d)]
  theirs <- if (row$precision == "single") best_of_paper(c(5, 7), row$d) else NA
  if (is.infinite(theirs)) theirs <- NA
  if (row$precision == "single" && row$d >= 14) min <- 3 * theirs
  # If there are several ways, the target is for the fastest one.
  if (row$rate < fastest(row$precision, row$d)) min <- NA
  add("sums", "Gaussian, sums alone", row$rate, "pairs/s", row$precision, row$d, row$way, unname(min), theirs,
      if (row$way == "tensor") {
        NA
      } else {
        (if (row$way == "products") 2 else 3) * row$d + (if (row$precision == "double") 13 else 2)
      },
      size * ((row$d + 1) / row$points + row$d / 1024) + 8 / 1024)
}
for (d in unique(paper$d)) {
  add("paper", "Michailidis & Margaritis, unrolled", best_of_paper(c(5, 7), d), "pairs/s", "single", d)
  add("paper", "Michailidis & Margaritis, naive", best_of_paper(c(3, 4), d), "pairs/s", "single", d)
}

# ---- density: whole calls
density_call <- function(x, points, root, precision, kernel = "gaussian") {
  task <- list(sample = internal("sample_cpp")(x, rep(1, nrow(x))), points = points, axes = list(), root = root,
               kernel = kernel, kernel_type = "radial", within = numeric(0))
  run <- c(run_with(precision), engine = "direct", tol = 1e-12)
  function() internal("density_cpp")(task, run, function(plan) NULL)$values
}
for (d in c(1L, 2L, 3L, 6L, 14L, 16L, 30L, 62L)) {
  x <- matrix(rnorm(n * d), n)
  points <- matrix(rnorm(n * d), n)
  for (precision in c("double", "single")) {
    for (kernel in c("gaussian", if (d == 3L) c("epanechnikov", "triweight", "triangular", "cosine", "uniform"))) {
      call <- density_call(x, points, diag(0.5 * sqrt(d), d), precision, kernel)
      add("call", paste0(kernel, ", whole calls"), n^2 / seconds_of(call), "pairs/s", precision, d)
    }
  }
}

# ---- the same, where most of the time should be that of the sums
large <- 262144L
for (d in c(1L, 2L, 3L, 6L)) {
  x <- matrix(rnorm(large * d), large)
  points <- matrix(rnorm(large * d), large)
  seconds <- seconds_of(density_call(x, points, diag(0.5 * sqrt(d), d), "single"), 21L)
  add("whole", "gaussian, whole calls, 262,144 samples and points", large^2 / seconds, "pairs/s", "single", d,
      wanted = 0.8 * fastest("single", d))
}

# ---- 12.5 million points against themselves in two variables: a sixteenth of the targets
many <- 12500000L
x <- matrix(rnorm(2 * many), many)
call <- density_call(x, x[seq(1L, many, by = 16L), ], diag(many^(-1 / 6), 2L), "single")
add("large", "12.5 million points against themselves, a sixteenth timed", 16 * seconds_of(call, 1L), "s", "single", 2L,
    wanted = 60)
rm(x, call)

# ---- sums over all pairs, double
# Operations of a pair: 3 d + 1 for the distance, 12 for 2^v, and then 13 for a polynomial and its sum, or 4 for two
# sums; a pass over 16 bandwidths takes the distance once and 17 for each. Bytes: 128 points read every sample and its
# weight (src/cuda/pairs/pair_kernels.cuh).
pairs_of <- function(n, d) {
  task <- list(engine = "direct", use = "functional", kernel = "gaussian", n = n, bandwidths = 1, bandwidth = 0)
  internal("pairs_cpp")(internal("sample_cpp")(matrix(rnorm(n * d), n), rep(1 / n, n)), task, run_with())
}
line <- pairs_of(32768L, 1L)
matrices <- pairs_of(16384L, 16L)
curve <- pairs_of(300000L, 6L)
h <- exp(seq(log(1 / 4), log(4), length.out = 64L))
add_pairs <- function(what, n, d, seconds, wanted = NA, paper = NA, flops = NA, sweeps = 1) {
  add("pairs", what, seconds, "s", "double", d, "", wanted, paper, flops, sweeps * 8 * (d + 1) / 128, n * (n - 1) / 2)
}
plug_in <- function() for (order in c(6L, 4L)) internal("psi_1d")(line, 0.2, order, run_with())
objective <- function(gradient) {
  function() internal("lscv_cpp")(matrices, list(H = diag(0.36, 16L), form = "paper", gradient = gradient), run_with())
}
sweep_once <- function() internal("lscv_curve_cpp")(curve, list(S = diag(0.09, 6L), h = h, form = "paper"), run_with())
add_pairs("PLUGIN: psi_6 and psi_4, n = 32,768", 32768, 1L, seconds_of(plug_in, 51L), 0.005, 0.0879, 2 * 29, 2)
add_pairs("LSCV_H, n = 16,384", 16384, 16L, seconds_of(objective(FALSE), 51L), 0.01, 0.184, 3 * 16 + 17)
add_pairs("LSCV_H with its gradient, n = 16,384", 16384, 16L, seconds_of(objective(TRUE), 51L))
add_pairs("LSCV_h, n = 300,000, 64 bandwidths", 300000, 6L, seconds_of(sweep_once, 1L), 5, NA,
          4 * (3 * 6 + 1) + 64 * 17, 4)

# ---- grids: a million samples, 220 x 1100 x 805 points
# An end of a run is three numbers of a limb: 48 bytes of additions for each row that a sample reaches, in the device's
# cache; a point is 8 bytes of memory.
object <- system.file("cuda", "libkestrel_cuda.so", package = "kestrel")
check_lines <- system2(file.path(here, "..", "tools", "gpu-check.sh"), "bench-scanline", stdout = TRUE,
                       env = paste0("KESTREL_CUDA_OBJECT=", shQuote(object)))
runs <- rows_of(check_lines, "bench scanline", "limbs", "device", "whole", "points", "rows")
for (i in seq_len(nrow(runs))) {
  limbs <- if (runs$limbs[i] == 1) "equal weights" else "weights, two limbs"
  bytes <- 8 * runs$points[i] / runs$rows[i]
  add("grid", paste0("S-KDE, 220 x 1100 x 805, ", limbs, ", device"), runs$device[i], "s", "double", 3L,
      wanted = if (runs$limbs[i] == 1) 0.045 else 0.09, bytes = bytes, count = runs$rows[i])
  add("grid", paste0("S-KDE, 220 x 1100 x 805, ", limbs, ", and back"), runs$whole[i], "s", "double", 3L,
      count = runs$rows[i])
}
rows <- rows_of(check_lines, "bench rows", "type", "kernel", "device", "whole", "covered")
for (i in seq_len(nrow(rows))) {
  what <- paste0("220 x 1100 x 805 by rows, ", rows$type[i], " ", rows$kernel[i])
  add("rows", paste0(what, ", device"), rows$device[i], "s", "double", 3L, count = rows$covered[i])
  add("rows", paste0(what, ", and back"), rows$whole[i], "s", "double", 3L, count = rows$covered[i])
}

# ---- bandwidths that vary: whole calls of kde.sp(), 100,000 observations at as many points
vary_call <- function(d, kernel, precision, backend = "cuda", n = 1e5) {
  x <- matrix(rnorm(n * d), n)
  points <- matrix(rnorm(n * d), n)
  h <- exp(0.3 * rnorm(n)) * n^(-1 / (d + 4))
  function() {
    kde.sp(x, hs = h, eval.points = points, kernel = kernel, engine = "direct", backend = backend,
           precision = precision)$estimate
  }
}
for (d in 1:3) {
  for (precision in c("double", "single")) {
    for (kernel in c("epanechnikov", "cosine")) {
      seconds <- seconds_of(vary_call(d, kernel, precision), 21L)
      add("vary", paste0("kde.sp(), ", kernel, ", n = m = 100,000"), seconds, "s", precision, d)
    }
  }
}

# ---- cross-validation of regression, local constant and linear, the Epanechnikov kernel, whole calls
# At the target size, and at the largest of Rohlfs & Zahran (2017, table I) with their data, bandwidths and seconds. A
# fit counts as one. The grid of a million goes from a fiftieth of a standard deviation to two.
add_regression <- function(what, x, h, regtype, wanted = NA, paper = NA) {
  data <- list(x = x, y = sin(x) + 0.3 * rnorm(length(x)), w = rep(1, length(x)))
  task <- list(h = h, kernel = "epanechnikov", regtype = regtype, order = 2L, bwtype = "fixed")
  call <- function() {
    held <- internal("regression_cpp")(data, run_with())
    internal("choose_regression_place_cpp")(held, task, run_with())
    internal("regression_cv_cpp")(held, task, run_with())
  }
  add("regression", paste0("Regression CV, ", what), seconds_of(call, 21L), "s", "double", 1L, "", wanted, paper,
      count = length(x) * length(h))
}
x <- rnorm(1e6)
h <- 0.02 * 100^(0:99 / 99)
add_regression("n = 1,000,000, 100 bandwidths", x, h, "lc", 0.15)
add_regression("the same, local linear", x, h, "ll")
add_regression("the same, 100 bandwidths up to the range", x, diff(range(x)) * 1:100 / 100, "lc", 0.15)
add_regression("n = 20,000, 50 bandwidths", runif(20000), 1:50 / 50, "lc", paper = 32.5)
theirs <- run_program(file.path("papers", "rohlfs-zahran.cu"), "paper", "n", "k", "seconds")
add("regression", "Regression CV by Rohlfs & Zahran's program, the same", theirs$seconds, "s", "single", 1L,
    paper = 32.5, count = 20000 * 50)

# ---- searches for the bandwidths of three numbers and a factor from five starts, whole calls
add_search <- function(n, regtype, wanted = NA) {
  set.seed(1)
  data <- data.frame(x1 = rnorm(n), x2 = runif(n), x3 = rnorm(n), z = factor(sample(letters[1:3], n, TRUE)))
  data$y <- sin(data$x1) + data$x2^2 + as.integer(data$z) * 0.3 + rnorm(n) * 0.3
  search <- function() {
    suppressMessages(npregbw(y ~ x1 + x2 + x3 + z, data, regtype = regtype, nmulti = 5, backend = "cuda"))
  }
  add("regression", sprintf("npregbw, 3 numbers, a factor, %s, n = %s", regtype, format(n, big.mark = ",")),
      seconds_of(search, 1L), "s", "double", 3L, "", wanted)
}
add_search(10000, "lc", 1)
add_search(10000, "ll")
add_search(100000, "lc", 30)

# ---- the pipeline of Lopez-Novoa (2015, chapter 7): grids of table 4, a million samples, one after the other and
# overlapped, its stages apart
stages <- c("computation", "transfer", "consolidation", "total")
pipeline <- run_program(file.path("papers", "skde-pipeline.cu"), "paper", "points", "overlapped", stages)
for (i in seq_len(nrow(pipeline))) {
  for (stage in stages) {
    what <- paste0("Lopez-Novoa, ", format(pipeline$points[i], big.mark = ","), " points, ",
                   if (pipeline$overlapped[i] == 1) "overlapped, ", stage)
    add("pipeline", what, pipeline[[stage]][i], "s", "double", 3L, count = pipeline$points[i])
  }
}

# ---- several devices: whole calls on 1, 2, 4, ... of them, and copies between them
# The least of some calls after a first one. Devices that share the work equally would take one over their number of the
# time of one device; 2 and 4 should come to 0.95 of that, 8 to 0.90.
if (nrow(kestrel_info()$cuda$devices) > 1L) {
  check_lines <- system2(file.path(here, "..", "tools", "gpu-check.sh"), c("bench-devices", "bench-devices-grid"),
                         stdout = TRUE, env = paste0("KESTREL_CUDA_OBJECT=", shQuote(object)))
  devices <- rows_of(check_lines, "bench devices", "task", "devices", "seconds", "efficiency")
  alone <- devices$seconds[devices$devices == 1]
  names(alone) <- devices$task[devices$devices == 1]
  for (i in seq_len(nrow(devices))) {
    row <- devices[i, ]
    efficiency <- if (row$devices < 8) 0.95 else 0.9
    add("devices", sprintf("%s, %d device%s", row$task, row$devices, if (row$devices > 1) "s" else ""),
        row$seconds, "s", "double", way = as.character(row$devices),
        wanted = if (row$devices > 1) unname(alone[as.character(row$task)]) / row$devices / efficiency else NA)
  }
  copies <- run_program("gpu-peers.cu", "copy", "way", "from", "to", "rate")
  for (i in seq_len(nrow(copies))) {
    row <- copies[i, ]
    add("devices", sprintf("copy, %s, %d to %d", row$way, row$from + 1L, row$to + 1L), row$rate, "B/s",
        way = as.character(row$way))
  }
}

# ---- the table, printed and kept
readable <- function(value, unit) {
  if (is.na(value)) "" else if (unit == "s") sprintf("%.4g", value) else sprintf("%.0f", value / 1e9)
}
met <- ifelse(table$unit == "s", table$value <= table$wanted, table$value >= table$wanted)
over <- ifelse(table$unit == "s", table$wanted / table$value, table$value / table$wanted)
beside <- ifelse(table$unit == "s", table$paper / table$value, table$value / table$paper)
cuda <- kestrel_info()$cuda
driver <- tryCatch(system2("nvidia-smi", c("--query-gpu=driver_version", "--format=csv,noheader"), stdout = TRUE)[1L],
                   error = function(e) "unknown")
head <- c(sprintf("kestrel %s, %s, %s", packageVersion("kestrel"), Sys.Date(), cuda$device),
          sprintf("driver %s (CUDA %s), compute capability %s", driver, cuda$driver, cuda$capability))
cat("\n", paste0(head, "\n"), sep = "")
cat(sprintf("%-58s %6s %3s %-11s %9s %8s %8s %6s %6s\n", "", "", "d", "", "value", "wanted", "paper", "over", "ratio"))
for (i in which(table$part != "paper")) {
  row <- table[i, ]
  cat(sprintf("%-58s %6s %3s %-11s %9s %8s %8s %6s %6s%s\n", substr(row$what, 1L, 58L), row$precision,
              if (is.na(row$d)) "" else row$d,
              if (row$part == "sums") row$way else if (row$unit == "s") "s" else paste("1e9", row$unit),
              readable(row$value, row$unit), readable(row$wanted, row$unit), readable(row$paper, row$unit),
              if (is.na(over[i])) "" else sprintf("%.2f", over[i]),
              if (is.na(beside[i])) "" else sprintf("%.1f", beside[i]), if (isFALSE(met[i])) "  NOT reached" else ""))
}
cat("Rates in 1e9 a second, times in seconds; over: how much better than what is wanted; ratio: than the paper's.\n")
said <- sub("^--results=", "", grep("^--results=", commandArgs(TRUE), value = TRUE))
usual <- file.path(here, "results", paste0(Sys.Date(), "-", gsub("[^A-Za-z0-9]+", "-", cuda$device), ".csv"))
file <- c(said, usual)[1L]
dir.create(dirname(file), showWarnings = FALSE)
written <- file(file, "w")
writeLines(paste("#", head), written)
write.csv(transform(table, value = signif(value, 4), wanted = signif(wanted, 4), paper = signif(paper, 4),
                    bytes = signif(bytes, 4), count = signif(count, 6)), written, row.names = FALSE, na = "")
close(written)
cat("kept in", file, "\n", if (all(met, na.rm = TRUE)) "all reached\n" else "NOT all reached\n")
