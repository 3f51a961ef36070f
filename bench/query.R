# Answers from a density: the time of 10,000 boxes in three dimensions with a synopsis of 5,000 rows on one thread, and
# q-errors on 1,000 boxes of the diamonds of ggplot2 (carat, depth, price) with a synopsis of 1 % of the rows, compared
# with uniform sampling and an equi-width histogram of the same number of bytes.
#
#   Rscript bench/query.R [--short] [errors time]
#
# kestrel and ggplot2 must be installed. Boxes lie around random rows and hold 1 to 20 % of all rows. The bytes are
# those of the synopsis in a file, as it prints them: rows of a sample take 8 for each variable, the counts of a
# histogram 4.

library(kestrel)
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
source(file.path(here, "harness.R"))
compile("clock.cpp")
source(system.file("query", "boxes.R", package = "kestrel"), local = TRUE)

bench_errors <- function(seeds = sized(1:5, 1L)) {
  table <- as.matrix(as.data.frame(ggplot2::diamonds)[c("carat", "depth", "price")])
  size <- round(nrow(table) / 100)
  for (seed in seeds) {
    set.seed(seed)
    tuning <- row_boxes(table, 400)[c("lower", "upper")]
    boxes <- row_boxes(table, 1000)
    set.seed(seed)
    synopsis <- kde_synopsis(table, size = size)
    set.seed(seed)
    tuned <- kde_synopsis(table, size = size, tune_queries = tuning)
    bytes <- length(serialize(tuned, NULL))
    sampled <- table[sample.int(nrow(table), floor(bytes / (8 * ncol(table)))), ]
    answer <- kde_query(tuned, boxes$lower, boxes$upper)
    found <- q_error(data.frame(
      synopsis = kde_query(synopsis, boxes$lower, boxes$upper)$count, tuned = answer$count,
      sampling = count_rows(sampled, boxes) * nrow(table) / nrow(sampled),
      histogram = histogram_counts(equi_width_histogram(table, bytes), boxes)
    ), boxes$count)
    share <- boxes$count / nrow(table)
    width <- 2 * qnorm(0.975) * nrow(table) * sqrt(share * (1 - share) / size)
    cat(sprintf("seed %d: %d rows, %.0f bytes, factor %.3g; interval: holds %.1f %%, %.2f binomial widths\n", seed,
                size, bytes, tuned$tuning$factor,
                100 * mean(answer$lower <= boxes$count & boxes$count <= answer$upper),
                mean(answer$upper - answer$lower) / mean(width)))
    print(found)
    for (level in c("median", "95%")) {
      keep(paste("counts of boxes of diamonds, seed", seed), rownames(found$table), paste("q-error,", level),
           found$table[, level], d = 3L, n = nrow(table), m = nrow(boxes$lower))
    }
  }
}

bench_time <- function(m = 10000, n = 5000) {
  set.seed(1)
  table <- matrix(stats::rnorm(1e5 * 3), 1e5)
  synopsis <- kde_synopsis(table, size = n)
  boxes <- row_boxes(table, m)
  for (fun in c("count", "mean")) {
    times <- race(list(query = function() {
      kde_query(synopsis, boxes$lower, boxes$upper, fun, if (fun == "mean") 1)
    }), rounds = 1L)
    seconds <- middle(times)
    keep(paste("boxes,", fun), "kde_query", "seconds", seconds, d = 3L, n = n, m = m)
    cat(sprintf("%s of %d boxes, synopsis of %d rows, d = 3, one thread: %.2f s%s\n", fun, m, n, seconds,
                if (fun == "count") " (to reach: 1 s)" else ""))
  }
}

run_sections(list(errors = bench_errors, time = bench_time))
