# Functions of report.Rmd: example() estimates a density with kestrel and with ks, and
# compares the values and the times.

# Elapsed seconds; for a call too short for one reading of the clock, the median of
# several calls.
seconds <- function(code) {
  code <- substitute(code)
  where <- parent.frame()
  once <- function() {
    start <- Sys.time()
    eval(code, where)
    as.numeric(difftime(Sys.time(), start, units = "secs"))
  }
  first <- once()
  if (first > 0.05) first else stats::median(c(first, replicate(4, once())))
}

number <- function(x, digits = 2) {
  format(signif(x, digits), scientific = abs(x) < 1e-3 & x != 0, big.mark = ",",
    drop0trailing = TRUE, trim = TRUE)
}
column <- function(x, digits = 2) vapply(x, number, "", digits = digits)

# Points at which the two packages are compared. They are points of the binned grid of
# ks, so that binned, exact and kestrel are evaluated at the same places. They are drawn
# at random where the density is above a thousandth of its peak, with the peak.
points_of_grid <- function(binned, d, m) {
  axes <- binned$eval.points
  grid <- if (d == 1L) matrix(axes) else as.matrix(expand.grid(axes))
  height <- as.vector(binned$estimate)
  dense <- which(height > 1e-3 * max(height))
  drawn <- dense[sample.int(length(dense), min(m, length(dense)))]
  chosen <- union(which.max(height), drawn)
  list(at = unname(grid[chosen, , drop = d == 1L]), binned = height[chosen])
}

spread <- function(H) if (is.matrix(H)) sqrt(diag(H)) else H
distance <- function(H, reference) sqrt(sum((H - reference)^2) / sum(reference^2))

# The density in plain R. Its sums are those of sum(), which adds long doubles.
plain_sums <- function(x, H, points) {
  x <- as.matrix(x)
  L <- t(chol(as.matrix(H)))
  scaled <- forwardsolve(L, t(x))
  at <- forwardsolve(L, t(points))
  sums <- vapply(seq_len(ncol(at)), function(j) {
    sum(exp(-0.5 * colSums((scaled - at[, j])^2)))
  }, 0)
  sums / (nrow(x) * (2 * pi)^(ncol(x) / 2) * prod(diag(L)))
}

# One example with both packages: the plug-in bandwidth, the density on the default
# grid, and the density at m points.
example <- function(data, x, m = 100L) {
  x <- as.matrix(x)
  rownames(x) <- NULL
  d <- ncol(x)
  n <- nrow(x)
  if (d == 1L) x <- as.vector(x)
  select <- if (d == 1L) kestrel::hpi else kestrel::Hpi
  ks_select <- if (d == 1L) ks::hpi else ks::Hpi
  estimate <- function(kde, H, ...) {
    if (d == 1L) kde(x, h = H, ...) else kde(x, H = H, ...)
  }

  bandwidth_s <- seconds(H <- select(x))
  ks_bandwidth_s <- seconds(ks_H <- ks_select(x))
  # The scale of ks::hpi is min(sd, IQR / 1.349), and the scale of hpi() is the sd.
  comparable <- if (d == 1L) hpi(x) else H

  grid_s <- seconds(fhat <- estimate(kestrel::kde, H))
  ks_grid_s <- seconds(binned <- estimate(ks::kde, H, binned = TRUE))
  points <- points_of_grid(binned, d, m)
  points_s <- seconds(ours <- predict(fhat, x = points$at))
  ks_points_s <- seconds({
    exact <- estimate(ks::kde, H, eval.points = points$at, binned = FALSE)$estimate
  })
  plain <- plain_sums(x, if (d == 1L) H^2 else H, points$at)

  peak <- max(fhat$estimate, exact)
  off <- function(value, reference) max(abs(value - reference)) / peak
  list(
    data = data, n = n, d = d, H = H, fhat = fhat, m = length(exact),
    bandwidth_s = bandwidth_s, ks_bandwidth_s = ks_bandwidth_s,
    ks_bandwidth_off = distance(ks_H, comparable),
    grid_points = length(fhat$estimate), grid_s = grid_s, ks_grid_s = ks_grid_s,
    points_s = points_s, ks_points_s = ks_points_s,
    off = off(ours, exact), binned_off = off(points$binned, exact),
    plain_off = off(ours, plain), ks_plain_off = off(exact, plain)
  )
}
