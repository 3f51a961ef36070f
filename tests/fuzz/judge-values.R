# Errors of values against the oracle, in units of the error that the help promises: above 1 is wrong.

# The density that a call of kde() or a related function is about, with its arguments evaluated.
density_of <- function(given) {
  x <- unname(as.matrix(given$x))
  list(x = x, w = if (is.null(given$w)) rep(1, nrow(x)) else given$w / max(given$w), H = as.matrix(given$H),
       kernel = if (is.null(given$kernel)) "gaussian" else given$kernel,
       product = identical(given$kernel_type, "product"))
}

# The error that the help of kde() allows, relative to the largest value.
promised <- function(given, of, said) {
  tol <- max(if (is.null(given$tol)) 1e-12 else given$tol, said)
  if (identical(given$engine, "fourier")) max(tol, 2e-16 * span_in_bandwidths(of$x, of$H)) else tol
}

# The maximum number of rows for the oracle, which takes n of them at a time.
max_pairs <- 60000

# `said`: the tolerance that the result reports.
density_error <- function(given, points, estimate, said = NULL) {
  of <- density_of(given)
  if (nrow(points) == 0L) return(0)
  if (any(estimate < 0)) return(Inf)
  rows <- unique(round(seq(1, nrow(points), length.out = min(nrow(points), ceiling(max_pairs / nrow(of$x))))))
  # Includes the largest values.
  rows <- union(rows, utils::head(order(-estimate), 5L))
  exact <- with(of, exact_density(points[rows, , drop = FALSE], x, w, H, kernel, product))
  largest <- max(exact$value, with(of, largest_density(x, w, H, kernel, product)))
  found <- Reduce(`*`, units_of(of$H), estimate[rows])
  max((abs(found - exact$value) - exact$doubt) / largest) / promised(given, of, said)
}

grid_of <- function(eval.points) if (is.list(eval.points)) unname(as.matrix(expand.grid(eval.points))) else eval.points

# Mass of a kernel on the line below z.
kernel_mass <- function(kernel, z) {
  if (kernel == "gaussian") return(stats::pnorm(z))
  z <- pmax(pmin(z, 1), -1)
  switch(kernel,
    epanechnikov = 0.5 + 0.75 * (z - z^3 / 3),
    uniform = (1 + z) / 2,
    triangular = ifelse(z < 0, (1 + z)^2 / 2, 1 - (1 - z)^2 / 2),
    biweight = 0.5 + 15 / 16 * (z - 2 * z^3 / 3 + z^5 / 5),
    triweight = 0.5 + 35 / 32 * (z - z^3 + 3 * z^5 / 5 - z^7 / 7),
    tricube = 0.5 + 70 / 81 * z * (1 - 3 * abs(z)^3 / 4 + 3 * z^6 / 7 - abs(z)^9 / 10),
    cosine = 0.5 + sinpi(z / 2) / 2
  )
}

# For each of the points (rows), the mass of each sample's kernel below it, on one axis.
mass_below <- function(of, points, k) {
  u <- exact_sum(rep(points[, k], nrow(of$x)), -rep(of$x[, k], each = nrow(points)))
  z <- (u$high + u$low) / sqrt(of$H[k, k])
  matrix(kernel_mass(of$kernel, z), nrow(points))
}

weighted <- function(values, w) apply(values, 1L, function(row) sum(w * row)) / sum(w)

nested <- function(call, environment) lapply(as.list(call)[-1L], eval, environment)

# The criterion from densities at the sample: int fhat^2 is the mean of the one for 2 H, and fhat_-i(x_i) leaves out i.
lscv_error <- function(x, w, H, value) {
  p <- if (is.null(w)) rep(1 / nrow(x), nrow(x)) else w / max(w) / sum(w / max(w))
  unit <- units_of(H)
  mean_density <- function(H) {
    sum(p * exact_density(x, x, p, H, "gaussian", FALSE)$value) * prod(unit / units_of(H))
  }
  squared <- mean_density(2 * H)
  cross <- mean_density(H)
  own <- sum(p^2) * (2 * pi)^(-ncol(x) / 2) / prod(diag(exact_root(H / outer(unit, unit))$high))
  left <- 1 - sum(p^2)
  error <- abs(Reduce(`*`, unit, value) - (squared - 2 * (cross - own) / left))
  error / (squared + 2 * (cross + own) / left) / 1e-12
}

worst_error <- list(
  kde = function(given, value) {
    density_error(given, as.matrix(grid_of(value$eval.points)), as.vector(value$estimate), value$tol)
  },
  dkde = function(given, value) {
    # The error that the estimate reports of itself.
    fhat <- suppressWarnings(do.call(kestrel::kde, given$fhat))
    density_error(given$fhat, given$x, value, fhat$tol)
  },
  marginal = function(given, value) {
    of <- given$fhat
    of$x <- of$x[, given$dims, drop = FALSE]
    of$H <- of$H[given$dims, given$dims, drop = FALSE]
    density_error(of, as.matrix(value$eval.points), value$estimate, value$tol)
  },
  pkde = function(given, value) {
    of <- density_of(given$fhat)
    max(abs(weighted(mass_below(of, as.matrix(given$q), 1L), of$w) - value), 0) / 1e-12
  },
  kcde = function(given, value) {
    of <- density_of(given)
    points <- as.matrix(grid_of(value$eval.points))
    below <- if (value$tail == "lower.tail") mass_below else function(of, points, k) {
      mass_below(replace(of, "x", list(-of$x)), -points, k)
    }
    masses <- Reduce(`*`, lapply(seq_len(ncol(of$H)), function(k) below(of, points, k)))
    max(abs(weighted(masses, of$w) - as.vector(value$estimate)), 0) / 1e-12
  },
  kdde = function(given, value) {
    of <- density_of(given)
    d <- ncol(of$H)
    # In units of the bandwidths, so that H is a correlation matrix.
    scale <- sqrt(diag(of$H))
    P <- solve(of$H / outer(scale, scale))
    points <- as.matrix(grid_of(value$eval.points))
    # D phi = -P v phi; the second derivatives are P v v'P - P times phi.
    sums <- function(axes) {
      vapply(seq_len(nrow(points)), function(i) {
        v <- (rep(points[i, ], each = nrow(of$x)) - of$x) / rep(scale, each = nrow(of$x))
        v[rowSums(v^2) > 1e4 * d, ] <- 1e3 # no weight
        Pv <- v %*% P
        phi <- exp(-rowSums(Pv * v) / 2) * sqrt(det(P)) / (2 * pi)^(d / 2) * of$w / sum(of$w)
        terms <- if (length(axes) == 1L) -Pv[, axes] * phi else
          cbind(Pv[, axes[1L]] * Pv[, axes[2L]] * phi, -P[axes[1L], axes[2L]] * phi)
        c(sum(terms), sum(abs(terms)))
      }, c(0, 0))
    }
    values <- if (is.list(value$estimate)) vapply(value$estimate, as.vector, numeric(nrow(points))) else value$estimate
    values <- matrix(values, nrow(points))
    ind <- matrix(value$deriv.ind, ncol = d)
    # The terms of all components count: one of them may be an entry of the inverse of H that is 0 but for rounding.
    found <- vapply(seq_len(ncol(values)), function(k) {
      axes <- rep(seq_len(d), ind[k, ])
      wanted <- sums(axes)
      actual <- values[, k]
      for (unit in c(scale, scale[axes])) actual <- actual * unit
      c(max(abs(actual - wanted[1L, ])), max(wanted[2L, ]))
    }, c(0, 0))
    # The inverse of H has fewer digits here than its root there.
    max(found[1L, ]) / max(found[2L, ], 1e-150) / max(1e-12, 1e-14 * kappa(P, exact = TRUE))
  },
  kde_query = function(given, value) {
    of <- density_of(given$fhat)
    boxes <- Reduce(`*`, lapply(seq_len(ncol(of$H)), function(k) {
      mass_below(of, given$upper, k) - mass_below(of, given$lower, k)
    }))
    # Counts are for n rows.
    max(abs(weighted(boxes, of$w) - value$count / nrow(of$x)), 0) / 1e-12
  },
  psi = function(given, value) {
    w <- if (is.null(given$w)) rep(1, length(given$x)) else given$w / max(given$w)
    exact <- exact_psi(as.vector(given$x), w / sum(w), given$g, given$r)
    # In two steps, since g^(r + 1) may be near the ends of the range.
    scaled <- value * given$g^((given$r + 2) / 2) * given$g^(given$r / 2)
    abs(scaled - exact[["value"]]) / exact[["size"]] / 1e-12
  },
  lscv = function(given, value) {
    x <- as.matrix(given$x)
    matrices <- if (is.null(given$H)) lapply(given$h^2, diag, nrow = ncol(x)) else list(given$H)
    max(mapply(lscv_error, list(x), list(given$w), matrices, value))
  },
  npreg = function(given, value) {
    of <- list(x = as.matrix(given$txdat), w = rep(1, length(given$txdat)), H = as.matrix(given$bws^2))
    q <- squared_distances(as.matrix(given$exdat), of$x, of$H, FALSE)[[1L]]
    k <- matrix(kernel_shape(given$ckertype, q), length(given$exdat))
    mass <- rowSums(k)
    fit <- rowSums(k * rep(given$tydat, each = nrow(k))) / mass
    # Rounding decides at the edge of the uniform kernel, and near the edge of the others weights have no digits.
    sure <- mass > 1e-6 & (given$ckertype != "uniform" | rowSums(matrix(on_edge(q), nrow(k))) == 0)
    if (!any(sure)) return(0)
    max(abs(value$mean - fit)[sure]) / max(abs(given$tydat)) / 1e-11
  },
  whole = function(given, value) if (is.null(value)) 0 else worst_error$kde(given, value)
)
worst_error$streamed <- worst_error$kde

# What is wrong with a value: the call is one of value_calls.
wrong_values <- function(value, call, environment) {
  given <- lapply(as.list(call)[-1L], function(argument) {
    if (is.call(argument) && identical(argument[[1L]], quote(kde))) return(nested(argument, environment))
    eval(argument, environment)
  })
  error <- worst_error[[as.character(call[[1L]])]](given, value)
  if (!is.finite(error) || error > 1) sprintf("the error is %.3g times what is promised", error)
}
