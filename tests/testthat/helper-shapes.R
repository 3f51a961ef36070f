# The table of awkward shapes. An entry has name, x (n * d), w, points (m * d) and H (d * d, meant for the Gaussian
# kernel). `exact`: H is meant for every kernel as it is (lattices with h equal to a gap); otherwise compact kernels
# take (d + 4) H, whose second moment is about that of the Gaussian kernel with H.

with_seed <- function(seed, code) {
  old <- if (exists(".Random.seed", globalenv())) get(".Random.seed", globalenv())
  on.exit(if (is.null(old)) rm(".Random.seed", envir = globalenv()) else assign(".Random.seed", old, globalenv()))
  set.seed(seed, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  code
}

shape <- function(name, x, H, points = x, w = NULL, exact = FALSE) {
  x <- as.matrix(x)
  if (is.null(w)) w <- rep(1, nrow(x))
  H <- as.matrix(H)
  list(name = name, x = unname(x), w = w, points = unname(as.matrix(points)), H = unname(H), exact = exact)
}

shape_H <- function(shape, kernel) if (kernel == "gaussian" || shape$exact) shape$H else shape$H * (ncol(shape$x) + 4)

# n samples and m points of a d-variate normal, with uneven weights.
normal_shape <- function(n, m, d = 1, h = 0.5) {
  x <- matrix(rnorm(n * d), n, d)
  points <- matrix(rnorm(m * d, sd = 1.3), m, d)
  shape(sprintf("normal n = %d, m = %d, d = %d", n, m, d), x, h^2 * diag(d), points, runif(n, 0.1, 2))
}

# The sizes of lanes, tiles and blocks, and one less and more: the widest vector holds 8, a tile of samples 512, a block
# of points 256.
size_shapes <- function() {
  small <- lapply(1:17, function(n) normal_shape(n, 18 - n))
  sizes <- list(c(31, 33), c(255, 4), c(256, 3), c(257, 2), c(511, 17), c(512, 16), c(513, 15), c(1025, 9), c(5, 255),
                c(4, 256), c(3, 257), c(9, 511), c(8, 512), c(7, 513), c(513, 257), c(2100, 5))
  c(small, lapply(sizes, function(s) normal_shape(s[1], s[2])))
}

dimension_shapes <- function() {
  few <- lapply(2:6, function(d) normal_shape(41, 37, d, h = 0.7))
  lanes <- lapply(c(1, 7, 8, 9), function(n) normal_shape(n, 17, 3, h = 0.7))
  blocks <- list(normal_shape(513, 257, 2, h = 0.4), normal_shape(257, 130, 3, h = 0.5))
  many <- list(normal_shape(67, 35, 16, h = 1), normal_shape(515, 9, 16, h = 1), normal_shape(65, 33, 62, h = 2),
               normal_shape(130, 7, 62, h = 1.6))
  c(few, lanes, blocks, many)
}

# A lattice whose gaps are h, so that pairs lie exactly on the edge of the support.
lattice_shapes <- function() {
  decimal <- round(0.1 * sample(0:30, 90, replace = TRUE), 1)
  plane <- as.matrix(expand.grid(2 * (0:6), 4 * (0:5)))
  list(
    shape("integers, h a gap", rep(0:12, 3), 1, points = 0:14, exact = TRUE),
    shape("tenths, h a gap", decimal, 0.1^2, points = seq(-0.2, 3.3, by = 0.1), exact = TRUE),
    shape("tenths, h three gaps", decimal, 0.3^2, points = decimal, exact = TRUE),
    shape("lattice in the plane, H of its gaps", plane, diag(c(4, 16)), points = plane, exact = TRUE),
    shape("lattice far from 0", 1e9 + 0.25 * (0:40), 0.25^2, exact = TRUE),
    shape("all tied", rep(2.5, 20), 0.3^2, points = c(2.5, 2.6, 2.2)),
    shape("ties in the plane", cbind(rep(c(1, 2, 2), 9), rep(c(1, 5, 5), 9)), diag(c(0.3, 2)))
  )
}

# Scales and offsets at which careless arithmetic loses digits.
scale_shapes <- function() {
  x <- rnorm(60)
  clusters <- c(rnorm(20, sd = 1e-4), rnorm(20, 1e3, 1e-2), rnorm(20, 1e6, 1))
  pair <- cbind(x, rnorm(60))
  correlated <- matrix(c(1, 0.995, 0.995, 1), 2)
  list(
    shape("outliers at 1e6 sd", c(x, 1e6, -1e6), 0.4^2, points = c(x[1:20], 1e6, -1e6, 1e6 + 0.3, 5e5)),
    shape("outlier in the plane", rbind(pair, c(1e6, -1e6)), diag(c(0.4, 0.6)^2),
          points = rbind(pair[1:9, ], c(1e6, -1e6) + 0.2)),
    shape("offset 1e9", 1e9 + x, 0.3^2, points = 1e9 + seq(-3, 3, by = 0.25)),
    shape("offset 1e9 in three dimensions", 1e9 + matrix(rnorm(120), 40), diag(3) * 0.6^2),
    shape("clusters", clusters, 1e-3^2, points = c(clusters, 500)),
    shape("clusters, wide h", clusters, 1e4^2),
    shape("Cauchy", rcauchy(300), 0.5^2),
    shape("Cauchy in the plane", matrix(rcauchy(200), 100), diag(2) * 0.7^2),
    shape("zero weights", x, 0.4^2, w = ifelse(seq_along(x) %% 3 == 0, 0, runif(60))),
    shape("weights of 12 magnitudes", x, 0.4^2, w = 10^runif(60, -6, 6)),
    shape("tiny h", x, (1e-9)^2, points = c(x[1:30], 0)),
    shape("huge h", x, (1e9)^2),
    shape("units of 1e-150", 1e-150 * x, (0.4e-150)^2),
    shape("units of 1e100", 1e100 * x, (0.4e100)^2),
    shape("nothing near", x, 0.1^2, points = c(1e3, -1e8)),
    shape("far tail", x, 0.5^2, points = max(x) + 0.5 * c(20, 30, 36)),
    shape("scales 1e4:1", cbind(1e4 * x, rnorm(60), 1e-4 * rnorm(60)), diag(c(4e3, 0.4, 4e-5)^2)),
    shape("strongly correlated H", pair %*% chol(correlated), 0.3 * correlated),
    shape("H across the data", pair %*% chol(correlated), 0.3 * matrix(c(1, -0.9, -0.9, 1), 2)),
    shape("full H, d = 6", matrix(rnorm(360), 60), 0.5 * (0.6 * diag(6) + 0.4 + 0.1 * outer(1:6, 1:6) / 6))
  )
}

all_shapes <- function() with_seed(20261101, c(size_shapes(), dimension_shapes(), lattice_shapes(), scale_shapes()))

shape_names <- function(shapes) vapply(shapes, `[[`, "", "name")
