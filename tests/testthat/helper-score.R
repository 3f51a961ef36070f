# Oracles of the smoothed bootstrap and of the PDF score: every density at every point of a grid by helper-reference.R,
# and integrals as sums over these points. Nothing here calls the package.

# The volume that each point of a grid represents: on each axis, half of the way to its neighbours (trapezoid rule). In
# the order of expand.grid(axes).
reference_cells <- function(axes) {
  widths <- lapply(axes, function(axis) {
    vapply(seq_along(axis), function(i) (axis[min(i + 1, length(axis))] - axis[max(i - 1, 1)]) / 2, 0)
  })
  apply(as.matrix(expand.grid(widths)), 1, prod)
}

# The PDF score (Lopez-Novoa 2015, ch. 8; Perkins et al. 2007) of values in the order of expand.grid(axes).
reference_score <- function(axes, f, g) sum(ifelse(f < g, f, g) * reference_cells(axes))

# Integrated squared errors of the smoothed bootstrap (Lopez-Novoa 2015, ch. 8, listing 2), one row a replicate, one
# column a bandwidth. S: covariance of the data; draws: a list, the sample of each replicate.
reference_boot_errors <- function(x, w, S, h0, h, axes, draws) {
  points <- as.matrix(expand.grid(axes))
  cells <- reference_cells(axes)
  target <- reference_density(points, x, h0^2 * S, w, "epanechnikov")
  one <- function(draw, h) sum((target - reference_density(points, draw, h^2 * S, NULL, "epanechnikov"))^2 * cells)
  t(vapply(draws, function(draw) vapply(h, function(h) one(draw, h), 0), numeric(length(h))))
}

# Philox4x32-10 (Salmon, Moraes, Dror & Shaw 2011), in numbers of 32 bits: four of a counter, two of a key.
reference_philox <- function(counter, key) {
  half <- 2^16
  xor <- function(a, b) bitwXor(a %/% half, b %/% half) * half + bitwXor(a %% half, b %% half)
  # The upper and the lower 32 bits of a product.
  product <- function(a, b) {
    low <- a * (b %% half)
    high <- a * (b %/% half) + low %/% half
    c(high %/% half, (high %% half) * half + low %% half)
  }
  for (round in 0:9) {
    even <- product(0xD2511F53, counter[1])
    odd <- product(0xCD9E8D57, counter[3])
    counter <- c(xor(xor(odd[1], counter[2]), key[1]), odd[2], xor(xor(even[1], counter[4]), key[2]), even[2])
    key <- (key + c(0x9E3779B9, 0xBB67AE85)) %% 2^32
  }
  counter
}

# The sample of one replicate, from rows of x drawn by their weights: x + h0 L u, S = L L', u drawn from the radial
# Epanechnikov kernel as the first of d + 4 coordinates on a sphere. The variables are taken from the last to the first.
reference_boot_draws <- function(x, w, S, h0, size, number, key) {
  x <- x[w > 0, , drop = FALSE]
  d <- ncol(x)
  order <- rev(seq_len(d))
  L <- t(chol(unname(S)[order, order, drop = FALSE]))
  sums <- cumsum(w[w > 0])
  one <- function(item) {
    block <- numeric(0)
    count <- 0
    two <- function() {
      if (length(block) == 0) {
        block <<- reference_philox(c(count, item, number - 1, 0), rev(key))
        count <<- count + 1
      }
      on.exit(block <<- block[-(1:2)])
      block[1:2]
    }
    uniforms <- function() (two() + 0.5) / 2^32
    normals <- function() {
      repeat {
        pair <- 2 * uniforms() - 1
        square <- sum(pair^2)
        if (square < 1) return(pair * sqrt(-2 * log(square) / square))
      }
    }
    bits <- two() # 52 of them
    at <- (bits[1] * 2^20 + bits[2] %/% 2^12 + 0.5) / 2^52
    row <- which(sums > at * sums[length(sums)])[1]
    u <- as.vector(replicate(ceiling(d / 2), normals()))[seq_len(d)]
    u <- u / sqrt(sum(u^2) - 2 * log(prod(uniforms())))
    rev(x[row, order] + h0 * as.vector(L %*% u))
  }
  t(matrix(vapply(seq_len(size) - 1, one, numeric(d)), d))
}

# n draws with mean zero and covariance S exactly.
exact_normal <- function(n, S) {
  z <- matrix(rnorm(n * ncol(S)), n)
  z <- sweep(z, 2, colMeans(z))
  z %*% solve(chol(crossprod(z) / (n - 1))) %*% chol(S)
}
