# How far derivatives, divided by their standard errors, must be from zero where there are few data. Both are sums over
# the observations: of y_i, the kernel's derivative at (x - X_i) / h, and of y_i^2. So the ratio is S / sqrt(V), S the
# sum of y_i and V that of y_i^2, which is not normal for small effective sample sizes. Where there is no feature, the
# data nearby are as those of a Poisson process of constant intensity, with the cumulant function
#   K(a, b) = log E exp(a S + b V) = lambda int (exp(a y(u) + b y(u)^2) - 1) du.
# From it the saddlepoint approximation has the density of (S, V), and P(S > q sqrt(V)) is its integral (Daniels & Young
# 1991). Beside simulations its relative error is some percent, also for effective sample sizes of 8 and probabilities
# of 1e-3.

# y at points u, and weights for integrals over u; the trapezoid rule is exact to rounding for such smooth functions.
# lambda is the effective sample size over the integral of the kernel, (2 pi)^(d / 2).
kernel_values <- function(d, order) {
  step <- 0.375
  u <- seq(-6, 6, by = step)
  y <- if (order == 1L) u * exp(-u^2 / 2) else (u^2 - 1) * exp(-u^2 / 2)
  if (d == 1L) return(list(y = y, weight = rep(step, length(u))))
  # The other axis has the kernel itself, on half of it.
  v <- seq(0, 6, by = step)
  list(y = as.vector(outer(y, exp(-v^2 / 2))), weight = rep(step^2 * ifelse(v == 0, 1, 2), each = length(u)))
}

# log P(S > q sqrt(V)). The integral is over log V, by the trapezoid rule; that over S beyond q sqrt(V) is of the
# density's expansion to second order in the exponent, which is that of a normal density.
log_tail <- function(q, kernel, lambda) {
  weight <- lambda * kernel$weight
  y <- cbind(kernel$y, kernel$y^2)
  mean <- sum(weight * y[, 2L])
  spread <- min(sqrt(sum(weight * y[, 2L]^2)) / mean, 0.6)
  at <- seq(-4, 4, by = 0.8) * spread
  v <- mean * exp(at)
  target <- rbind(q * sqrt(v), v)
  point <- c(saddlepoints(target, y, weight, rbind(target[1L, ] / mean, 0)), list(log_v = log(v)))
  # Others are so far in the tails that they do not count.
  if (!any(point$found)) return(-1e3)
  point <- lapply(point, `[`, point$found)
  # The second derivative along S of the exponent.
  bend <- point$bb / point$determinant
  beyond <- point$a^2 / (2 * bend) + stats::pnorm(point$a / sqrt(bend), lower.tail = FALSE, log.p = TRUE)
  log_density <- -point$rate - log(2 * pi) - log(point$determinant) / 2 + log(2 * pi / bend) / 2 + beyond + point$log_v
  largest <- max(log_density)
  largest + log(sum(exp(log_density - largest))) + log(0.8 * spread)
}

# For each column (s, v) of `target` the a and b with K_a = s and K_b = v, the exponent a s + b v - K there, and of the
# second derivatives of K that in b and the determinant: by Newton's method on the exponent, which is concave, with
# steps halved while it falls. `found`: whether they were.
saddlepoints <- function(target, y, weight, start) {
  exponent <- function(at) {
    growth <- exp(y %*% at)
    list(growth = growth, value = colSums(at * target) - drop(crossprod(growth - 1, weight)))
  }
  at <- start
  now <- exponent(at)
  for (round in seq_len(60L)) {
    sums <- crossprod(now$growth * weight, cbind(y, y[, 1L] * y[, 2L], y[, 2L]^2))
    gradient <- target - t(sums[, 1:2, drop = FALSE])
    aa <- sums[, 2L]
    ab <- sums[, 3L]
    bb <- sums[, 4L]
    determinant <- aa * bb - ab^2
    step <- rbind(bb * gradient[1L, ] - ab * gradient[2L, ], aa * gradient[2L, ] - ab * gradient[1L, ]) /
      rep(determinant, each = 2L)
    gain <- colSums(step * gradient)
    usable <- is.finite(gain) & determinant > 0 & is.finite(now$value)
    open <- usable & gain > 1e-18
    if (!any(open)) break
    step[, !open] <- 0
    size <- rep(1, ncol(target))
    repeat {
      tried <- exponent(at + step * rep(size, each = 2L))
      falls <- open & size > 1e-9 & !(is.finite(tried$value) & tried$value >= now$value - 1e-12 * abs(now$value))
      if (!any(falls)) break
      size[falls] <- size[falls] / 2
    }
    at <- at + step * rep(size, each = 2L)
    now <- tried
  }
  list(a = at[1L, ], rate = now$value, bb = bb, determinant = determinant, found = usable & gain < 1e-12)
}

# The q at which P(S > q sqrt(V)) is that of a normal variable beyond z: by secants from a q nearby, since the logarithm
# is nearly a quadratic.
tail_quantile <- function(z, kernel, lambda, near) {
  wanted <- stats::pnorm(z, lower.tail = FALSE, log.p = TRUE)
  excess <- function(q) log_tail(q, kernel, lambda) - wanted
  q <- c(near, 1.02 * near)
  value <- c(excess(q[1L]), excess(q[2L]))
  for (round in seq_len(20L)) {
    slope <- diff(value) / diff(q)
    if (!is.finite(slope) || slope >= 0) slope <- -q[2L]
    step <- max(min(-value[2L] / slope, 0.2 * q[2L]), -0.2 * q[2L])
    q <- c(q[2L], q[2L] + step)
    if (abs(step) < 1e-5 * q[2L]) break
    value <- c(value[2L], excess(q[2L]))
  }
  q[2L]
}

# For effective sample sizes, taken as at least five, the limits of the ratio above zero and below: list(above, below).
# Their ratios to z are smooth functions of z and of one over the root of the size. So they are polynomials through
# values at Chebyshev's points, to some thousandths.
tail_limits <- function(z, size, d, order) {
  x <- 2 * sqrt(5 / pmax(size, 5)) - 1
  z <- pmin(pmax(z, tail_range[1L]), tail_range[2L])
  at <- chebyshev_values((2 * z - sum(tail_range)) / diff(tail_range), nrow(tail_table(d, order)$above))
  limits <- lapply(tail_table(d, order), function(of) z * drop(chebyshev_values(x, ncol(of)) %*% t(at %*% of)))
  if (order == 1L) c(limits, list(below = limits$above)) else limits
}

tail_range <- c(1, 6)

# The coefficients of these polynomials, a row for each of z and a column for each of the size: list(above, below). They
# do not depend on data, and are computed once in a session.
tail_tables <- new.env(parent = emptyenv())

tail_table <- function(d, order) {
  name <- paste(d, order)
  if (is.null(tail_tables[[name]])) tail_tables[[name]] <- new_tail_table(d, order)
  tail_tables[[name]]
}

new_tail_table <- function(d, order) {
  z_nodes <- cos(pi * (seq_len(7L) - 0.5) / 7)
  x_nodes <- cos(pi * (seq_len(6L) - 0.5) / 6)
  kernel <- kernel_values(d, order)
  z <- mean(tail_range) + z_nodes * diff(tail_range) / 2
  root <- (x_nodes + 1) / 2 / sqrt(5)
  coefficients <- function(sign) {
    kernel$y <- sign * kernel$y
    ratios <- vapply(z, function(one) {
      near <- one
      # From the largest size to the smallest.
      for (node in rev(seq_along(root))) {
        heard()
        lambda <- 1 / root[node]^2 / (2 * pi)^(d / 2)
        near[node] <- tail_quantile(one, kernel, lambda, near[min(node + 1L, length(near))])
      }
      near / one
    }, root)
    solve(chebyshev_values(z_nodes, 7L)) %*% t(solve(chebyshev_values(x_nodes, 6L)) %*% ratios)
  }
  above <- coefficients(1)
  if (order == 1L) list(above = above) else list(above = above, below = coefficients(-1))
}

# The Chebyshev polynomials of degrees below m at t, a column for each.
chebyshev_values <- function(t, m) cos(outer(acos(pmin(pmax(t, -1), 1)), seq_len(m) - 1))
