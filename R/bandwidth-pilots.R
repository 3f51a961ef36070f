# Pilot bandwidths of plug-in and smoothed cross-validation matrices: the matrix G with which functionals of order four
# are estimated, g^2 I or unconstrained, for data that are sphered or scaled.

known_pilots <- c("samse", "dscalar", "unconstr")
# `order`: of the derivatives that the bandwidth is for.
default_pilot <- function(d, order = 0L) if (d == 2L && order == 0L) "samse" else "dscalar"

# Up to this dimension pilots are unconstrained, which takes all functionals of order six: Hpi() takes 4 s in 10
# dimensions, 14 s in 12 and 327 s in 16 (n = 300).
unconstrained_dimensions <- 10L

# `amse`: whether the selector has this pilot.
check_pilot <- function(pilot, d, diagonal, order = 0L, amse = FALSE) {
  if (is.null(pilot)) return(default_pilot(d, order))
  pilot <- check_choice(pilot, c(known_pilots, if (amse) "amse"), "pilot")
  if (pilot != "dscalar" && order > 0L) {
    abort_input("`pilot` must be \"dscalar\" for deriv.order = ", order, ", not \"", pilot, "\".")
  }
  if (pilot == "amse" && d != 2L) {
    abort_input("`pilot` must be \"samse\", \"dscalar\" or \"unconstr\" for ", d, " columns; \"amse\" takes two.")
  }
  if (pilot == "unconstr" && diagonal) {
    abort_input("`pilot` must be \"samse\" or \"dscalar\" for a diagonal bandwidth matrix, not \"unconstr\".")
  }
  if (pilot == "unconstr" && d > unconstrained_dimensions) {
    abort_input("`pilot` must be \"samse\" or \"dscalar\" for ", d, " columns; \"unconstr\" takes at most ",
                unconstrained_dimensions, ".")
  }
  pilot
}

# A list of G, d x d, and g, the scalar bandwidths that were used, first stage first.
plug_in_pilots <- function(star, nstage, pilot, run, order) {
  switch(pilot,
    samse = scalar_pilots(samse_pilots(star, nstage, run), ncol(star$x)),
    dscalar = scalar_pilots(dscalar_pilots(star, nstage, run, plug_in_factors, order), ncol(star$x)),
    unconstr = unconstrained_pilots(star, nstage, 1, run)
  )
}

scv_pilots <- function(star, nstage, pilot, run, order) {
  switch(pilot,
    samse = scalar_pilots(samse_scv_pilots(star, nstage, run), ncol(star$x)),
    dscalar = scalar_pilots(dscalar_pilots(star, nstage, run, scv_factors(ncol(star$x), order), order),
                            ncol(star$x)),
    unconstr = unconstrained_pilots(star, nstage, 1 / 2, run)
  )
}

# The functionals of order four, each with a bandwidth of its own (Wand & Jones 1994): the one at which the leading bias
# vanishes, or, if a derivative of odd order makes the term i = j zero, that of least leading squared error. For these
# the integral of the squared density is that of normal data.
amse_functionals <- function(star, nstage, run) {
  g6 <- if (nstage == 2L) amse_bandwidths(star, 6L, psi_normal(star$cov, 8L))
  g4 <- amse_bandwidths(star, 4L, if (nstage == 2L) separate_functionals(star, g6, 6L, run) else
    psi_normal(star$cov, 6L))
  psi4 <- separate_functionals(star, g4, 4L, run)
  list(g = c(g6, g4), psi4 = structure(as.vector(psi4), by = attr(psi4, "by")))
}

amse_bandwidths <- function(star, order, psi_ahead) {
  d <- ncol(star$x)
  exponents <- tuple_exponents(index_tuples(d, order), d)
  at_zero <- normal_derivatives(diag(d), order)
  curvature <- psi_contracted(psi_ahead, d, order)
  squared <- apply(exponents, 1L, function(r) prod(factorial(2 * r) / (2^(2 * r + 1) * sqrt(pi) * factorial(r))))
  biased <- apply(exponents %% 2L == 0L, 1L, all)
  unbiased <- 2 * psi_normal(star$cov, 0L) * (2 * order + d) * squared / (curvature * star$n)^2
  ifelse(biased, (-2 * at_zero / (curvature * star$n))^(1 / (d + order + 2)), unbiased^(1 / (d + 2 * order + 4)))
}

# One functional at each bandwidth. At bandwidths far beyond the data it is 0.
separate_functionals <- function(star, g, order, run) {
  by <- NULL
  psi <- vapply(seq_along(g), function(k) {
    if (g[k] > 1e2) return(0)
    all <- psi_order(star, g[k], order, run)
    by <<- attr(all, "by")
    all[k]
  }, 0)
  structure(psi, by = by)
}

scalar_pilots <- function(g, d) list(g = g, G = diag(g[length(g)]^2, d))

# The g that minimises A1 n^-2 g^(-2d-2j) + A2 n^-1 g^(2-d-j) + A3 g^4 / 4: squared bias, summed over the functionals of
# order j, of diagonal terms (A1), curvature (A3) and their products (A2) (Duong & Hazelton 2003, section 3).
pilot_bandwidth <- function(A1, A2, A3, d, j, n) {
  slope <- (d + j - 2) * A2
  (4 * (d + j) * A1 / ((sqrt(slope^2 + 8 * (d + j) * A1 * A3) - slope) * n))^(1 / (d + j + 2))
}

# One pilot of order j from the functionals psi of order j + 2, over multi-indices with even exponents. Their sum
# changes when the data are rotated, so it matters which root of the covariance has sphered them (pre_transform()).
samse_pilot <- function(psi, d, j, n) {
  even <- apply(tuple_exponents(index_tuples(d, j), d) %% 2L == 0L, 1L, all)
  at_zero <- normal_derivatives(diag(d), j)[even]
  curvature <- psi_contracted(psi, d, j)[even]
  pilot_bandwidth(sum(at_zero^2), sum(at_zero * curvature), sum(curvature^2), d, j, n)
}

samse_pilots <- function(star, nstage, run) {
  d <- ncol(star$x)
  if (nstage == 1L) return(samse_pilot(psi_normal(star$cov, 6L), d, 4L, star$n))
  g6 <- samse_pilot(psi_normal(star$cov, 8L), d, 6L, star$n)
  c(g6, samse_pilot(psi_order(star, g6, 6L, run), d, 4L, star$n))
}

# Chacon & Duong (2010), with the squared error summed over all d^j derivatives, so that a rotation of the data changes
# nothing. `factors` multiply the terms A1, A2 and A3; they depend on the criterion that the pilot is for, plug-in or
# smoothed cross-validation (Chacon & Duong 2011).
#
# Three things follow ks, whose values are to be reproduced, and not the theory. For the plug-in, the first of two
# stages has a factor of 64 in the product term, and the second uses the single number eta_6 as curvature. For
# derivatives of order 1 the product term of the second has the wrong sign. For smoothed
# cross-validation, A1 is 16 times and A2 four times that of the theory in the last stage.
#
# With one stage, it is the last of two, with psi_6 of the normal density. Here ks is not followed: its rate,
# n^(-1/(d+8)), is that of derivatives of order six, and its pilot does not change with the units of the data as a
# bandwidth must.
plug_in_factors <- list(first = c(1, 64, 1), last = c(1, 1, 1))
scv_factors <- function(d, r) {
  list(first = c(2^(-2 * r - 6 - d), 2^(-r - 2 - d / 2), 4), last = c(2^-d, 2^(1 - d / 2), 4))
}

dscalar_pilots <- function(star, nstage, run, factors, order = 0L) {
  d <- ncol(star$x)
  last <- 2L * order + 4L
  of_kernel <- function(j) {
    list(counts = tuple_counts(tuple_exponents(index_tuples(d, j), d)), at_zero = normal_derivatives(diag(d), j))
  }
  terms <- function(j, psi) {
    of <- of_kernel(j)
    curvature <- psi_contracted(psi, d, j)
    c(sum(of$counts * of$at_zero^2), sum(of$counts * of$at_zero * curvature), sum(of$counts * curvature^2))
  }
  pilot <- function(A, j) pilot_bandwidth(A[1L], A[2L], A[3L], d, j, star$n)
  if (nstage == 1L) return(pilot(factors$last * terms(last, psi_normal(star$cov, last + 2L)), last))
  first <- pilot(factors$first * terms(last + 2L, psi_normal(star$cov, last + 4L)), last + 2L)
  ahead <- eta(star, first, last + 2L, run)
  # D^j phi(0) contracted with itself and, since it is a product of unit matrices, with the functionals.
  of <- of_kernel(last)
  product <- (-1)^order * gaussian_at_zero(last) * (2 * pi)^((1 - d) / 2) * ahead
  A <- c(sum(of$counts * of$at_zero^2), product, ahead^2)
  c(first, pilot(factors$last * A, last))
}

# The g that minimises the leading squared error of the SCV criterion's pilot, summed over the entries of H, at the
# one-stage plug-in H (Duong & Hazelton 2005, eq. 10): like pilot_bandwidth(), with functionals of order six.
samse_scv_pilots <- function(star, nstage, run) {
  d <- ncol(star$x)
  H <- one_stage_matrix(star, run)
  g6 <- if (nstage == 2L) samse_pilot(psi_normal(star$cov, 8L), d, 6L, star$n)
  psi6 <- if (nstage == 2L) psi_order(star, g6, 6L, run) else psi_normal(star$cov, 6L)
  tuples <- as.matrix(expand.grid(rep(list(seq_len(d)), 6L)))
  full <- array(psi6[tuple_positions(unname(tuples), d)], rep(d, 6L))
  # The first and the last index are contracted with H, all others with themselves.
  outer_pair <- matrix(full, d)
  moved <- matrix(H %*% outer_pair, d^5) %*% H
  squared_bias <- sum(matrix(full, d^5) * moved) / 4
  by_matrices <- outer(outer(H, H), diag(d))
  cross <- 3 / 4 * (4 * pi)^(-d / 2) * sum(by_matrices * full)
  diagonal <- (4 * pi)^(-d) * (4 * sum(H * H) + (d + 8) * sum(diag(H))^2) / 64
  slope <- (d + 2) * cross
  g <- (2 * (d + 4) * diagonal /
          ((sqrt(slope^2 + 8 * (d + 4) * squared_bias * diagonal) - slope) * star$n))^(1 / (d + 6))
  c(g6, g)
}

# The one-stage plug-in matrix, for data that are sphered once more.
one_stage_matrix <- function(star, run) {
  d <- ncol(star$x)
  root <- pre_transform(star$cov, "sphere")
  twice <- transformed_sample(star, inverse_root(root))
  g4 <- samse_pilot(psi_normal(twice$cov, 6L), d, 4L, star$n)
  psi4 <- psi_order(twice, g4, 4L, run)
  start <- reference_scale(star$n, d, "gaussian")^2 * twice$cov
  best <- minimise_over_matrices(amise_criterion(psi4, star$n, d), start, diagonal = FALSE)
  moved_back(best$H, root)
}

# The G that minimises the squared leading bias of psi_4(G), summed over all its d^4 derivatives: |D^4 phi_G(0) / n +
# (vec'G x I) psi_6 / 2|^2 (Chacon & Duong 2010), for data that are sphered. SCV compares kernels with 2G where the
# plug-in has G, so its G is half of the plug-in's: a factor `share` in both stages (Chacon & Duong 2011).
unconstrained_pilots <- function(star, nstage, share, run) {
  d <- ncol(star$x)
  # If psi_(r + 2) is that of the normal density, a multiple of the covariance removes all of the bias.
  normal <- function(r) 2 * (2 / (star$n * (d + r)))^(2 / (d + r + 2))
  if (nstage == 1L) return(list(g = numeric(0), G = share * diag(normal(4), d)))
  g6 <- sqrt(share * normal(6))
  bias <- functional_bias(psi_order(star, g6, 6L, run), star$n, d, 4L)
  best <- minimise_over_matrices(bias, diag(normal(4), d), diagonal = FALSE)
  if (best$convergence != 0L) {
    warn_search("The search for the pilot bandwidth matrix did not converge: ", best$message, ".")
  }
  list(g = g6, G = share * best$H)
}

# That squared bias as a function of G, for functionals of any order. As dphi_G / dG = D^2 phi_G / 2, its gradient by
# G_kl is the sum over the derivatives r of that order of bias_r (D^(r + kl) phi_G(0) / n + psi_(r + kl)).
functional_bias <- function(psi_ahead, n, d, order) {
  tuples <- index_tuples(d, order)
  counts <- tuple_counts(tuple_exponents(tuples, d))
  ahead <- vapply(seq_len(d^2) - 1L, function(kl) tuple_positions(cbind(tuples, kl %% d + 1, kl %/% d + 1), d),
                  numeric(nrow(tuples)))
  curvature <- matrix(psi_ahead[ahead], nrow(tuples))
  function(G) {
    bias <- normal_derivatives(G, order) / n + drop(curvature %*% as.vector(G)) / 2
    slope <- crossprod(matrix(normal_derivatives(G, order + 2L)[ahead], nrow(tuples)) / n + curvature, counts * bias)
    structure(sum(counts * bias^2), gradient = matrix(slope, d))
  }
}
