# Numbers with twice the digits of a double: list(high, low), whose sum is the number; vectors, elementwise. For the
# oracle, whose own error must be negligible (Dekker 1971; Knuth 1998, 4.2.2, theorems A to C).

twice <- function(high, low = 0) list(high = high, low = low + numeric(length(high)))

# a + b and a * b of doubles, exactly.
exact_sum <- function(a, b) {
  high <- a + b
  back <- high - a
  twice(high, (a - (high - back)) + (b - back))
}

exact_product <- function(a, b) {
  halves <- function(a) {
    large <- (2^27 + 1) * a
    high <- large - (large - a)
    list(high = high, low = a - high)
  }
  high <- a * b
  a <- halves(a)
  b <- halves(b)
  twice(high, ((a$high * b$high - high) + a$high * b$low + a$low * b$high) + a$low * b$low)
}

# high + low, where low is small compared with high.
settled <- function(high, low) {
  sum <- high + low
  twice(sum, low - (sum - high))
}

plus <- function(a, b) {
  sum <- exact_sum(a$high, b$high)
  settled(sum$high, sum$low + (a$low + b$low))
}

minus <- function(a, b) plus(a, twice(-b$high, -b$low))

times <- function(a, b) {
  product <- exact_product(a$high, b$high)
  settled(product$high, product$low + (a$high * b$low + a$low * b$high))
}

over <- function(a, b) {
  first <- a$high / b$high
  rest <- minus(a, times(twice(first), b))
  settled(first, (rest$high + rest$low) / b$high)
}

root_of <- function(a) {
  first <- sqrt(a$high)
  rest <- minus(a, exact_product(first, first))
  settled(first, ifelse(first > 0, rest$high / (2 * first), 0))
}

# One entry of a matrix of such numbers.
entry <- function(matrix, i, j) twice(matrix$high[i, j], matrix$low[i, j])

# The lower factor of a symmetric positive definite matrix of doubles.
exact_root <- function(H) {
  d <- ncol(H)
  L <- list(high = matrix(0, d, d), low = matrix(0, d, d))
  for (j in seq_len(d)) {
    for (i in j:d) {
      value <- twice((H[i, j] + H[j, i]) / 2)
      for (k in seq_len(j - 1L)) value <- minus(value, times(entry(L, i, k), entry(L, j, k)))
      value <- if (i == j) root_of(value) else over(value, entry(L, j, j))
      L$high[i, j] <- value$high
      L$low[i, j] <- value$low
    }
  }
  L
}
