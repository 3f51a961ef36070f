# Boxes to try answers on, what they hold, and an equi-width histogram to compare with: for the tests, bench/query.R and
# the vignette "Approximate answers".

# m boxes about random rows of a table, half as long on every axis as it takes to hold a share of all rows, in units of
# the axes' standard deviations: the share is uniform within `shares`, and boxes are drawn anew that ties carry beyond
# it. `lower` and `upper`, m x d matrices, and `count`, how many rows are in each.
row_boxes <- function(table, m, shares = c(0.01, 0.2)) {
  table <- as.matrix(table)
  d <- ncol(table)
  size <- apply(table, 2, stats::sd)
  found <- vapply(seq_len(m), function(i) row_box(table, size, shares), numeric(2 * d + 1))
  limits <- function(side) matrix(found[side, ], m, d, byrow = TRUE, dimnames = list(NULL, colnames(table)))
  list(lower = limits(seq_len(d)), upper = limits(d + seq_len(d)), count = found[2 * d + 1, ])
}

row_box <- function(table, size, shares) {
  n <- nrow(table)
  repeat {
    centre <- table[sample.int(n, 1), ]
    rank <- ceiling(stats::runif(1, shares[1], shares[2]) * n)
    distance <- do.call(pmax, lapply(seq_along(size), function(k) abs(table[, k] - centre[k]) / size[k]))
    # a little more, so that rows on the edge are within after rounding
    half <- sort(distance, partial = rank)[rank] * (1 + 1e-9)
    count <- sum(distance <= half)
    if (count <= shares[2] * n) return(c(centre - half * size, centre + half * size, count))
  }
}

# How many rows of a table are in each box: the scan that a density is in place of.
count_rows <- function(table, boxes) {
  table <- as.matrix(table)
  vapply(seq_len(nrow(boxes$lower)), function(i) {
    sum(Reduce(`&`, lapply(seq_len(ncol(table)), function(k) {
      table[, k] >= boxes$lower[i, k] & table[, k] <= boxes$upper[i, k]
    })))
  }, 0)
}

# Counts of the cells of a grid of equal cells over the range, as many as fit into `bytes` at 4 bytes each and as equal
# in number on the axes as that allows.
equi_width_histogram <- function(table, bytes) {
  table <- as.matrix(table)
  d <- ncol(table)
  cells <- rep(floor((bytes / 4)^(1 / d)), d)
  for (k in seq_len(d)) if (prod(cells + (seq_len(d) == k)) <= bytes / 4) cells[k] <- cells[k] + 1
  edges <- lapply(seq_len(d), function(k) seq(min(table[, k]), max(table[, k]), length.out = cells[k] + 1))
  at <- lapply(seq_len(d), function(k) {
    factor(findInterval(table[, k], edges[[k]], all.inside = TRUE), seq_len(cells[k]))
  })
  list(edges = edges, counts = unclass(do.call(base::table, at)))
}

# Its answers: each cell's rows are taken to be spread evenly over it.
histogram_counts <- function(histogram, boxes) {
  vapply(seq_len(nrow(boxes$lower)), function(i) {
    shares <- Map(function(edges, from, to) {
      pmax(pmin(edges[-1], to) - pmax(edges[-length(edges)], from), 0) / diff(edges)
    }, histogram$edges, boxes$lower[i, ], boxes$upper[i, ])
    sum(histogram$counts * Reduce(outer, shares))
  }, 0)
}
