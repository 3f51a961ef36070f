# Plain-R oracles of the bandwidth selectors: normal scale, direct plug-in, the functionals psi, and the AMISE.

reference_hns <- function(x, r = 0) reference_Hns(matrix(x), r)[1, 1]^(1 / 2)

# Wand & Jones (1995) 4.1 with derivative order r (Chacon, Duong & Wand 2011).
reference_Hns <- function(x, r = 0) {
  x <- as.matrix(x)
  d <- ncol(x)
  (4 / (nrow(x) * (d + 2 * r + 2)))^(2 / (d + 2 * r + 4)) * var(x)
}

# The two-stage direct plug-in of one dimension, line by line (Andrzejewski et al. 2013, eq. 12-19, with the diagonal
# included; Wand & Jones 1995, 3.6). Weighted: n in rates and divisors is n_eff, the terms i = j have weights w_i^2.
reference_hpi <- function(x, scale = sd(x), w = rep(1, length(x))) {
  n <- sum(w)^2 / sum(w^2)
  K6_0 <- -15 / sqrt(2 * pi)
  K4_0 <- 3 / sqrt(2 * pi)
  psi8 <- 105 / (32 * sqrt(pi) * scale^9)
  g1 <- (-2 * K6_0 / (psi8 * n))^(1 / 9)
  psi6 <- reference_psi(x, w, g1, 6)
  g2 <- (-2 * K4_0 / (psi6 * n))^(1 / 7)
  psi4 <- reference_psi(x, w, g2, 4)
  h <- (1 / (2 * sqrt(pi)) / (psi4 * n))^(1 / 5)
  list(psi8_NS = psi8, g1 = g1, psi6_g1 = psi6, g2 = g2, psi4_g2 = psi4, h = h)
}

# min(sd, IQR / 1.349) of a weighted sample: n_eff in the place of n in the variance and in quantiles of type 7
# (Akinshin 2023, eq. 7).
reference_lesser_scale <- function(x, w = rep(1, length(x))) {
  p <- w / sum(w)
  n_eff <- 1 / sum(p^2)
  sd <- sqrt(sum(p * (x - sum(p * x))^2) * n_eff / (n_eff - 1))
  order <- order(x)
  reached <- c(0, cumsum(p[order]))
  quartile <- function(prob) sum(x[order] * diff(pmin(pmax(reached * n_eff - prob * (n_eff - 1), 0), 1)))
  min(sd, (quartile(3 / 4) - quartile(1 / 4)) / 1.349)
}

# psi_r(g) = (sum w)^-2 sum_{ij} w_i w_j K_g^(r)(x_i - x_j), the diagonal included. Hermite polynomials written out.
reference_psi <- function(x, w, g, r) {
  u <- outer(x, x, `-`) / g
  hermite <- switch(as.character(r),
    "0" = 1 + 0 * u,
    "2" = u^2 - 1,
    "4" = u^4 - 6 * u^2 + 3,
    "6" = u^6 - 15 * u^4 + 45 * u^2 - 15,
    "8" = u^8 - 28 * u^6 + 210 * u^4 - 420 * u^2 + 105
  )
  sum(outer(w, w) * hermite * dnorm(u)) / (sum(w)^2 * g^(r + 1))
}

# Probabilists' Hermite polynomial He_k by its recursion.
reference_hermite <- function(k, u) {
  previous <- 0 * u
  current <- 0 * u + 1
  for (j in seq_len(k)) {
    following <- u * current - (j - 1) * previous
    previous <- current
    current <- following
  }
  current
}

# psi_r(g^2 I) = n^-2 sum_{ij} D^r phi_g(x_i - x_j) for one multi-index r with even |r|.
reference_psi_index <- function(x, g, r) {
  n <- nrow(x)
  terms <- Reduce(`*`, lapply(seq_along(r), function(k) {
    u <- outer(x[, k], x[, k], `-`) / g
    reference_hermite(r[k], u) * dnorm(u) / g^(1 + r[k])
  }))
  sum(terms) / n^2
}

# The functional eta_2m = n^-2 sum_{ij} (Laplace operator)^m phi_g, the diagonal included (Chacon & Duong 2010, eq. 9).
reference_eta <- function(x, g, order) {
  x <- as.matrix(x)
  n <- nrow(x)
  at_zero <- reference_laplacian_polynomial(order / 2, ncol(x))[1] * (2 * pi)^(-ncol(x) / 2) * g^(-ncol(x) - order)
  (2 * sum(reference_laplacian_terms(x, rep(1, n), g, order)) + n * at_zero) / n^2
}

# AMISE(H) with the fourth-order functional estimated at the pilot G, a matrix or g with G = g^2 I:
# (4 pi)^(-d/2) |H|^(-1/2)/n + 1/4 n^-2 sum_{ij} (grad' H grad)^2 phi_G(x_i - x_j).
reference_amise <- function(H, x, G) {
  x <- as.matrix(x)
  n <- nrow(x)
  d <- ncol(x)
  P <- if (is.matrix(G)) solve(G) else diag(G^-2, d)
  u <- rbind(reference_pairs(x)$u, 0)
  v <- u %*% P
  HP <- H %*% P
  trace <- sum(diag(HP))
  quadratic <- rowSums((v %*% H) * v)
  constant <- trace^2 + 2 * sum(diag(HP %*% HP))
  curvature <- quadratic^2 - 2 * quadratic * trace - 4 * rowSums((v %*% HP %*% H) * v) + constant
  terms <- curvature * exp(-rowSums(v * u) / 2) * (2 * pi)^(-d / 2) * sqrt(det(P))
  times <- c(rep(2, nrow(u) - 1), n)
  (4 * pi)^(-d / 2) / sqrt(det(H)) / n + sum(times * terms) / (4 * n^2)
}

# The scalar pilot bandwidths of two-stage Hpi(pilot = "dscalar"), on sphered data (Chacon & Duong 2010, section 3). The
# sums of derivatives over all orderings of the indices make the functionals eta.
reference_pilot_dscalar <- function(x) {
  d <- ncol(x)
  n <- nrow(x)
  p4 <- d * (d + 2) * (d + 4) * (d + 6)
  B1 <- 2 * (2 * pi)^-d * 15 * p4
  B2 <- -(d + 4) * 2^(-d / 2 + 2) * (2 * pi)^-d * 15 * p4
  B3 <- ((4 * pi)^(-d / 2) * (d + 6) / 16)^2 * 15 * d * (d + 2) * (d + 4)
  g6 <- (2 * B1 / (-B2 + sqrt(B2^2 + 4 * B1 * B3)))^(1 / (d + 8)) * n^(-1 / (d + 8))
  eta6 <- reference_eta(x, g6, 6)
  A1 <- (2 * d + 8) * (2 * pi)^-d * 3 * d * (d + 2)
  A2 <- (d + 2) * (2 * pi)^(-d / 2) * 3 * eta6
  A3 <- eta6^2
  (2 * A1 / ((-A2 + sqrt(A2^2 + 4 * A1 * A3)) * n))^(1 / (d + 6))
}

# The SAMSE pilot of order j (Duong & Hazelton 2003): minimises the sum, over |r| = j with even exponents, of the
# squared leading bias n^-1 g^(-d-j) D^r phi(0) + g^2/2 sum_i psi_{r + 2 e_i}; a quadratic in n^-1 g^-(d+j+2).
reference_pilot_samse <- function(d, n, j, psi) {
  r <- 2 * reference_multi_indices(d, j / 2)
  at_zero <- apply(r, 1, function(index) prod(vapply(index, reference_hermite, 0, u = 0)) * (2 * pi)^(-d / 2))
  ahead <- apply(r, 1, function(index) sum(vapply(seq_len(d), function(k) psi(index + 2 * (seq_len(d) == k)), 0)))
  A1 <- sum(at_zero^2)
  A2 <- sum(at_zero * ahead)
  A3 <- sum(ahead^2)
  y <- (-(d + j - 2) * A2 + sqrt((d + j - 2)^2 * A2^2 + 4 * (2 * j + 2 * d) * A1 * A3)) / (2 * (2 * j + 2 * d) * A1)
  (n * y)^(-1 / (d + j + 2))
}

# psi_r of the N(0, S) density in two dimensions, |r| even: the derivative of the N(0, 2S) density at zero. That is this
# density times (-1)^(|r|/2) E Z1^r1 Z2^r2 with Z ~ N(0, (2S)^-1), by Isserlis' theorem; k factors are paired across the
# two variables.
reference_normal_psi2 <- function(S, r) {
  P <- solve(2 * S)
  k <- Filter(function(k) (r[1] - k) %% 2 == 0, 0:min(r))
  within <- (r[1] - k) / 2
  beyond <- (r[2] - k) / 2
  pairings <- prod(factorial(r)) / (2^(within + beyond) * factorial(within) * factorial(beyond) * factorial(k))
  moment <- sum(pairings * P[1, 1]^within * P[2, 2]^beyond * P[1, 2]^k)
  (-1)^(sum(r) / 2) * moment / (2 * pi * sqrt(det(2 * S)))
}

# Two stages of SAMSE in two dimensions: psi_8 from the normal reference, g_6, psi_6(g_6), and the g_4 used for the
# AMISE. `as_ks`: ks (1.14 to 1.15) has a list of all 2^6 derivatives, 60 51 51 42 51 42 42 .., and reads it as if it
# were that of the 7 distinct ones, 60 51 42 33 24 15 06.
reference_pilot_samse2 <- function(x, as_ks = FALSE) {
  n <- nrow(x)
  g6 <- reference_pilot_samse(2, n, 6, function(r) reference_normal_psi2(var(x), r))
  first <- if (as_ks) c(6, 5, 5, 4, 5, 4, 4) else 6:0
  psi6 <- vapply(first, function(k) reference_psi_index(x, g6, c(k, 6 - k)), 0)
  reference_pilot_samse(2, n, 4, function(r) psi6[7 - r[1]])
}

# The H that minimises the AMISE for that pilot in two dimensions, by a search over the Cholesky factor, for data
# multiplied by the inverse of `root`.
reference_Hpi_samse2 <- function(x, root, diagonal = FALSE, as_ks = FALSE) {
  star <- unname(sweep(x, 2, colMeans(x))) %*% t(solve(root))
  g <- reference_pilot_samse2(star, as_ks)
  psi4 <- vapply(4:0, function(k) reference_psi_index(star, g, c(k, 4 - k)), 0)
  factor_of <- function(theta) matrix(c(exp(theta[1]), if (diagonal) 0 else theta[3], 0, exp(theta[2])), 2)
  amise <- function(theta) {
    H <- tcrossprod(factor_of(theta))
    # (vec'H)^2 psi_4: products of two entries of H, sorted by how often they differentiate along the first axis.
    curved <- c(H[1, 1]^2, 4 * H[1, 1] * H[1, 2], 2 * H[1, 1] * H[2, 2] + 4 * H[1, 2]^2, 4 * H[1, 2] * H[2, 2],
                H[2, 2]^2)
    1 / (4 * pi * sqrt(det(H)) * nrow(x)) + sum(curved * psi4) / 4
  }
  theta <- c(-1, -1, if (!diagonal) 0)
  for (round in 1:3) theta <- optim(theta, amise, method = "BFGS", control = list(reltol = 1e-15, maxit = 1000))$par
  root %*% tcrossprod(factor_of(theta)) %*% t(root)
}

# The symmetric root of a covariance, with which ks spheres.
symmetric_root <- function(S) {
  e <- eigen(unname(S), symmetric = TRUE)
  e$vectors %*% (sqrt(e$values) * t(e$vectors))
}

# The root for sphering: the symmetric root of the correlations, in units of the standard deviations.
reference_root <- function(x) apply(x, 2, sd) * symmetric_root(cor(x))

# Sphered data, the root, and a matrix H in their units.
reference_sphere <- function(x) {
  x <- as.matrix(x)
  root <- reference_root(x)
  inverse <- solve(root)
  list(x = unname(sweep(x, 2, colMeans(x)) %*% t(inverse)), root = root,
       inward = function(H) inverse %*% H %*% t(inverse))
}

# The objective that Hpi minimises, at any H in the units of the data.
reference_hpi_objective <- function(x, pilot) {
  sphered <- reference_sphere(x)
  g <- if (pilot == "samse") reference_pilot_samse2(sphered$x) else reference_pilot_dscalar(sphered$x)
  function(H) reference_amise(sphered$inward(H), sphered$x, g)
}

# The data sets of fixtures/, under the names used there.
fixture_data <- function(name) {
  complete <- function(x) as.matrix(x[stats::complete.cases(x), ])
  switch(name,
    faithful = as.matrix(datasets::faithful),
    geyser = as.matrix(MASS::geyser),
    iris123 = as.matrix(datasets::iris[, 1:3]),
    iris4 = as.matrix(datasets::iris[, 1:4]),
    airquality.OzoneTemp = complete(datasets::airquality[, c("Ozone", "Temp")]),
    simnormal3_seed1 = as.matrix(utils::read.csv(test_path("fixtures", "simnormal3_seed1.csv"))),
    {
      parts <- regmatches(name, regexpr(".", name, fixed = TRUE), invert = TRUE)[[1]]
      table <- if (parts[1] == "geyser") MASS::geyser else getExportedValue("datasets", parts[1])
      column <- table[[parts[2]]]
      column[!is.na(column)]
    }
  )
}

fixture_matrix <- function(value) {
  entries <- as.numeric(strsplit(value, ";", fixed = TRUE)[[1]])
  matrix(entries, sqrt(length(entries)), byrow = TRUE)
}

read_fixture <- function(file) utils::read.csv(test_path("fixtures", file), colClasses = c(data = "character"))

relative_difference <- function(H, reference) max(abs(unname(H) - unname(reference))) / max(abs(reference))
