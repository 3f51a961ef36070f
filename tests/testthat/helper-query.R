# Plain-R oracles of queries: the mass of a density in a box, by adaptive quadrature. Nothing here calls the package.

# Integral of f over [from, to], piece by piece between `breaks`, where f or its derivatives jump or its scale changes.
# Relative error 1e-13, or error `absolute`.
reference_integral <- function(f, from, to, breaks, absolute = 0) {
  ends <- c(from, breaks[breaks > from & breaks < to], to)
  pieces <- vapply(seq_along(ends[-1]), function(i) {
    integrate(f, ends[i], ends[i + 1], rel.tol = 1e-13, abs.tol = absolute, subdivisions = 1000,
              stop.on.error = FALSE)$value
  }, 0)
  sum(pieces)
}

# The integral of (t - centre)^r K((t - x) / h) / h over [from, to], one dimension.
reference_axis_moment <- function(r, x, h, kernel, from, to, centre) {
  reach <- if (kernel == "gaussian") 38 else 1
  breaks <- if (kernel == "gaussian") c(-30, -20, -10, -6, -3, -1, 0, 1, 3, 6, 10, 20, 30) else 0
  # Ends to the precision with which they differ from x.
  ends <- pmin(pmax((c(from, to) - x) / h, -reach), reach)
  if (ends[1] >= ends[2]) return(0)
  f <- function(u) (x - centre + h * u)^r * reference_kernel(matrix(u), 1, kernel)
  reference_integral(f, ends[1], ends[2], breaks)
}

# The answers computed from part(r, centre), the r-th moment about a centre of the mass in a box; `near` is a first
# guess of the mean.
reference_answers <- function(part, near) {
  share <- part(0, 0)
  mean <- near + part(1, near) / share
  list(share = share, sum = share * mean, mean = mean, var = part(2, mean) / share)
}

# Share, sum, mean and variance of variable `of` in the box [lower, upper], for a product kernel with bandwidths h:
# Andrzejewski et al. (2013), eq. 9 to 11. Moments about the mean are integrated separately.
reference_query <- function(x, h, lower, upper, of = 1, w = rep(1, NROW(x)), kernel = "gaussian") {
  x <- as.matrix(x)
  part <- function(r, centre) {
    terms <- vapply(seq_len(nrow(x)), function(i) {
      axes <- vapply(seq_len(ncol(x)), function(k) {
        reference_axis_moment(if (k == of) r else 0, x[i, k], h[k], kernel, lower[k], upper[k], centre)
      }, 0)
      w[i] * prod(axes)
    }, 0)
    sum(terms) / sum(w)
  }
  reference_answers(part, sum(w * x[, of]) / sum(w))
}

# The same for any kernel and bandwidth matrix in two dimensions, by nested quadrature of the density itself, one
# observation after another. An observation's ellipse is the support of its kernel; for the Gaussian kernel it has nine
# standard deviations, beyond which there is less than 1e-18 of its mass.
reference_query_2d <- function(x, H, lower, upper, of = 1, w = rep(1, nrow(x)), kernel = "gaussian") {
  reach <- if (kernel == "gaussian") 9 else 1
  L <- root_of(H)
  # The kernel from q, the squared length of L^-1 times a difference.
  constant <- exp(reference_log_constant(kernel, 2)) / prod(diag(L))
  density <- function(q) {
    if (kernel == "gaussian") return(constant * exp(-q / 2))
    constant * (q <= 1) * reference_shape(kernel, pmin(sqrt(q), 1))
  }
  part <- function(r, centre) {
    terms <- vapply(seq_len(nrow(x)), function(i) {
      slice <- function(u) {
        # within the ellipse the second coordinate covers its conditional middle plus and minus a half width
        middle <- L[2, 1] * u
        half <- L[2, 2] * sqrt(max(reach^2 - u^2, 0))
        ends <- c(max(lower[2] - x[i, 2], middle - half), min(upper[2] - x[i, 2], middle + half))
        if (ends[1] >= ends[2]) return(0)
        f <- function(v) {
          power <- if (of == 1) (x[i, 1] - centre + L[1, 1] * u)^r else (x[i, 2] - centre + v)^r
          power * density(u^2 + ((v - middle) / L[2, 2])^2)
        }
        reference_integral(f, ends[1], ends[2], middle + half * c(-0.5, -0.2, 0, 0.2, 0.5), 1e-14)
      }
      inner <- function(first) vapply(first, slice, 0)
      ends <- pmin(pmax((c(lower[1], upper[1]) - x[i, 1]) / L[1, 1], -reach), reach)
      if (ends[1] >= ends[2]) return(0)
      # where an edge of the box leaves the ellipse the inner integral has a kink
      edges <- c(lower[2], upper[2]) - x[i, 2]
      edges <- edges[is.finite(edges)] / sqrt(H[2, 2])
      edges <- edges[abs(edges) < reach]
      slope <- L[2, 1] / sqrt(H[2, 2])
      kinks <- c(edges * slope + sqrt(1 - slope^2) * sqrt(reach^2 - edges^2),
                 edges * slope - sqrt(1 - slope^2) * sqrt(reach^2 - edges^2))
      # no more accurate than the rounding of the inner integrals
      w[i] * L[1, 1] * reference_integral(inner, ends[1], ends[2],
                                          sort(c(kinks, reach * c(-0.5, -0.2, 0, 0.2, 0.5))), 1e-12)
    }, 0)
    sum(terms) / sum(w)
  }
  reference_answers(part, sum(w * x[, of]) / sum(w))
}

# The answers of a function of the package for one box, with the oracle's names.
queried <- function(fhat, lower, upper, of = 1) {
  answer <- function(fun) kde_query(fhat, lower, upper, fun, if (fun != "count") of, N = 1)[[1]]
  list(share = answer("count"), sum = answer("sum"), mean = answer("mean"), var = answer("var"))
}

expect_query <- function(fhat, lower, upper, reference, of = 1, tol = 1e-10, info = NULL) {
  actual <- queried(fhat, lower, upper, of)
  expect_no_problem(lapply(names(reference), function(name) {
    reference_problem(actual[[name]], reference[[name]], tol, info = paste(info, name))
  }))
}
