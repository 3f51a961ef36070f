# Plain-R oracles of the criteria of bandwidth matrices: least squares and smoothed cross-validation, the functionals
# psi_r and the pilots of smoothed cross-validation, from all differences x_i - x_j of the data as given. Only the last
# functions call the package.

# sum_ij p_i p_j K_H(x_i - x_j) for each matrix H, a column: of the pairs i != j, and of the terms i = j. With H = L L',
# from the lengths of L^-1 (x_i - x_j).
oracle_sums <- function(x, matrices, w = rep(1, nrow(x))) {
  p <- w / sum(w)
  pairs <- reference_pairs(unname(x), p)
  u <- t(pairs$u)
  vapply(matrices, function(H) {
    L <- t(chol(unname(H)))
    apart <- if (ncol(u) > 0) 2 * sum(pairs$w * exp(-colSums(forwardsolve(L, u)^2) / 2)) else 0
    c(apart = apart, own = sum(p^2)) * (2 * pi)^(-ncol(x) / 2) / prod(diag(L))
  }, c(apart = 0, own = 0))
}

# LSCV(H) = sum_ij p_i p_j K_2H - 2 c sum_{i != j} p_i p_j K_H, c = 1 / (1 - sum p_i^2), which with equal weights makes
# the divisor n (n - 1) (Wand & Jones 1995, section 4.7; Duong & Hazelton 2005, eq. 1), or 1 (Andrzejewski et al. 2013,
# eq. 32). Attribute "terms": the sum of the absolute values of all terms.
oracle_lscv <- function(x, H, w = rep(1, nrow(x)), form = "unbiased") {
  p <- w / sum(w)
  sums <- oracle_sums(x, list(2 * H, H), w)
  square <- sum(sums[, 1])
  cross <- 2 * sums["apart", 2] / (if (form == "unbiased") 1 - sum(p^2) else 1)
  structure(square - cross, names = NULL, terms = unname(square + cross))
}

# SCV(H; G) = (4 pi)^(-d/2) |H|^(-1/2) / n + sum_ij p_i p_j (K_{2H+2G} - 2 K_{H+2G} + K_2G) (Duong & Hazelton 2005,
# eq. 5), n = 1 / sum p^2.
oracle_scv <- function(x, H, G, w = rep(1, nrow(x))) {
  variance <- (4 * pi)^(-ncol(x) / 2) / sqrt(det(H)) * sum(w^2) / sum(w)^2
  sums <- colSums(oracle_sums(x, list(2 * H + 2 * G, H + 2 * G, 2 * G), w))
  structure(variance + sum(sums * c(1, -2, 1)), terms = variance + sum(sums * c(1, 2, 1)))
}

# psi_r(g) = sum_ij p_i p_j phi_g^(r)(x_i - x_j) for one multi-index r of exponents.
oracle_psi <- function(x, g, r, w = rep(1, nrow(x))) oracle_psis(x, g, t(r), w)[[1]]

# The same for each row of a matrix of multi-indices: the derivatives along each axis are computed once.
oracle_psis <- function(x, g, indices, w = rep(1, nrow(x))) {
  p <- w / sum(w)
  along <- lapply(seq_len(ncol(x)), function(k) {
    u <- outer(x[, k], x[, k], `-`) / g
    normal <- dnorm(u)
    lapply(0:max(indices), function(r) if (r %in% indices[, k]) reference_hermite(r, u) * normal / g^(1 + r))
  })
  lapply(seq_len(nrow(indices)), function(row) {
    terms <- outer(p, p)
    for (k in seq_len(ncol(x))) terms <- terms * along[[k]][[indices[row, k] + 1]]
    structure(sum(terms), terms = sum(abs(terms)))
  })
}

# The exponents of all multi-indices of one order, in the order of sorted tuples: in two dimensions (4, 0), (3, 1), ...
oracle_exponents <- function(d, order) {
  all <- reference_multi_indices(d, order)
  all[do.call(base::order, as.data.frame(-all)), , drop = FALSE]
}

# The symmetric D with dF = tr(D dH), by differences of an oracle: two central ones, extrapolated to step 0.
oracle_gradient <- function(criterion, H) {
  d <- nrow(H)
  D <- matrix(0, d, d)
  inverse <- diag(solve(H))
  for (k in seq_len(d)) for (l in seq_len(k)) {
    along <- matrix(0, d, d)
    along[k, l] <- along[l, k] <- 1
    # A small part of H, whatever its condition.
    step <- 0.01 / sqrt(inverse[k] * inverse[l])
    central <- function(s) as.numeric(criterion(H + s * along) - criterion(H - s * along)) / (2 * s)
    slope <- (64 * central(step / 4) - 20 * central(step / 2) + central(step)) / 45
    D[k, l] <- D[l, k] <- if (k == l) slope else slope / 2
  }
  D
}

# ---- [A] eq. 24-30 for H = h^2 Sigma, line by line, with the corrections: |Sigma|^-1/2 in R(K), d^3 not in h0.
# Values as in Andrzejewski, Gramacki & Gramacki (2013).
oracle_paper_curve <- function(x, h) {
  n <- nrow(x)
  d <- ncol(x)
  Sigma <- var(x)
  inverse <- solve(Sigma)
  # S_ij = (x_i - x_j)' Sigma^-1 (x_i - x_j), which does not depend on h
  S <- numeric(0)
  for (i in seq_len(n - 1)) for (j in (i + 1):n) {
    u <- x[i, ] - x[j, ]
    S <- c(S, sum(u * (inverse %*% u)))
  }
  R <- (4 * pi)^(-d / 2) / sqrt(det(Sigma))
  vapply(h, function(one) {
    K <- (2 * pi)^(-d / 2) / sqrt(det(Sigma)) * exp(-S / (2 * one^2))
    KK <- (4 * pi)^(-d / 2) / sqrt(det(Sigma)) * exp(-S / (4 * one^2))
    one^-d * (2 * n^-2 * sum(KK - 2 * K) + R / n)
  }, 0)
}

oracle_paper_range <- function(n, d) (4 / (d + 2))^(1 / (d + 4)) * n^(-1 / (d + 4)) * c(1 / 4, 4)

# ---- Samples and matrices
# Samples on which careless sums lose digits, for two or three columns; `w` if weights are not 1.
matrix_shapes <- function(d) {
  with_seed(20261201 + d, {
    normal <- function(n) matrix(rnorm(n * d), n)
    plain <- normal(60)
    correlated <- with_correlation(plain, 0.9999)
    # One cluster around 0 and one far out on each axis, each wider than the one before.
    clusters <- 10^(3 * rep(0:d, each = 20) - 3) * normal(20 * (d + 1)) +
      rbind(0, diag(1e6, d))[rep(seq_len(d + 1), each = 20), ]
    units <- plain %*% diag(10^(4 * seq_len(d) - 8), d)
    list(
      few = list(x = normal(d + 1)), more = list(x = normal(d + 2)), plain = list(x = plain),
      ties = list(x = round(plain, 0) + 0.001 * plain[, d]), tied_rows = list(x = plain[rep(1:20, 1:20 %% 4 + 1), ]),
      uneven = list(x = plain, w = 10^runif(60, -3, 3)), zero = list(x = plain, w = rep(c(0, 1, 2.5), 20)),
      copies = list(x = plain, w = rep(1:3, 20)), offset = list(x = 1e9 + plain), clusters = list(x = clusters),
      outliers = list(x = rbind(plain, diag(1e6, d), diag(-1e6, d))),
      one_outlier = list(x = rbind(plain, c(1e6, numeric(d - 1)))),
      heavy = list(x = matrix(rt(80 * d, 2), 80)), correlated = list(x = correlated), units = list(x = units),
      lattice = list(x = as.matrix(expand.grid(rep(list(0:3), d))) + 0), two_places = list(x = rbind(plain, 30 + plain))
    )
  })
}

with_correlation <- function(x, rho) {
  d <- ncol(x)
  x %*% chol(matrix(rho, d, d) + (1 - rho) * diag(d))
}

# Matrices around the normal reference: multiples; isotropic, with the geometric mean of the scales; the diagonal only;
# stretched along one axis and rotated in the plane of the first two; and with correlations of the other sign.
shape_matrices <- function(S, n) {
  d <- nrow(S)
  H <- unname(S) * (4 / ((d + 2) * n))^(2 / (d + 4))
  scale <- sqrt(diag(H))
  angle <- diag(d)
  angle[1:2, 1:2] <- matrix(c(cos(0.7), sin(0.7), -sin(0.7), cos(0.7)), 2)
  rotated <- angle %*% diag(4^-seq(0, 1, length.out = d)) %*% t(angle)
  turned <- H
  turned[1, -1] <- -0.5 * turned[1, -1]
  turned[-1, 1] <- -0.5 * turned[-1, 1]
  list(reference = H, narrow = H / 9, wide = 4 * H, diagonal = diag(diag(H)), rotated = outer(scale, scale) * rotated,
       turned = if (min(eigen(cov2cor(turned))$values) > 1e-3) turned)
}

# ---- The package
# The criteria of a sample by an engine.
criteria_by <- function(engine, x, w = NULL) criteria_for(selector_sample(x, w), engine, run_options())

relative_to_terms <- function(actual, expected, tol, info = NULL) {
  terms <- attr(expected, "terms")
  reference_problem(as.numeric(actual) / terms, as.numeric(expected) / terms, tol, 1, info)
}

matrix_tolerance <- function(d) if (d == 3) 1e-9 else 1e-12

# Without the warnings of a search.
quietly <- function(code) withCallingHandlers(code, kestrel_warning_search = function(w) invokeRestart("muffleWarning"))

# Such warnings without the numbers of tied pairs, of which sketches have an estimate.
without_pairs <- function(remarks) sub("has [0-9.]+ tied", "has tied", remarks)

# The value, and the warnings of a search as text.
with_remarks <- function(code) {
  remarks <- NULL
  value <- withCallingHandlers(code, kestrel_warning_search = function(w) {
    expect_s3_class(w, c("kestrel_warning_search", "kestrel_warning", "warning", "condition"), exact = TRUE)
    remarks <<- c(remarks, conditionMessage(w))
    invokeRestart("muffleWarning")
  })
  list(value = value, remarks = remarks)
}
