# The parts of random calls. Arguments are values or expressions, so that a call can be printed and run again.

chance <- function(p) stats::runif(1L) < p

pick <- function(choices, prob = NULL) choices[[sample.int(length(choices), 1L, prob = prob)]]

# 10^U; with max = 308 over all magnitudes of doubles.
magnitude <- function(max = 300) 10^stats::runif(1L, -max, max)

kernels <- kestrel:::kernel_names()
mixed_kernels <- kestrel:::kernel_names()
engines <- c("auto", "direct", "kdtree", "sweep", "fgt", "fourier", "scanline")

# ---- samples ------------------------------------------------------------------------------------------------------

sample_size <- function() pick(c(0, 1, 2, 3, 4, 7, 15, 40, 60), c(1, 2, 3, 3, 3, 5, 6, 6, 6))

dimensions <- function() pick(c(1, 2, 3, 4, 5, 6, 16), c(40, 25, 12, 6, 4, 4, 3))

# Shapes of one column.
column <- function(n) {
  values <- switch(pick(c("normal", "uniform", "heavy", "whole", "skew")),
    normal = stats::rnorm(n),
    uniform = stats::runif(n),
    heavy = stats::rcauchy(n),
    whole = round(3 * stats::rnorm(n)),
    skew = stats::rexp(n)
  )
  if (chance(0.1)) values <- rep(values, length.out = 3L)[seq_len(n) %% 3L + 1L]
  if (chance(0.08)) values <- values + pick(c(1e9, -1e9, 1e15))
  if (chance(0.12)) values <- values * magnitude(pick(c(10, 100, 300)))
  if (chance(0.03)) values[] <- pick(c(0, 1, 1e300))
  values
}

# Numbers in a form in which a user may have them.
sample_values <- function(n = sample_size(), d = dimensions()) {
  if (chance(0.03)) return(large_sample(d))
  x <- vapply(seq_len(d), function(k) column(n), numeric(n))
  x <- matrix(x, n, d)
  if (d > 1L && chance(0.05)) x[, d] <- x[, 1L]
  if (chance(0.1)) x[] <- x * magnitude()
  if (n > 1L && chance(0.1)) x <- x[rep(seq_len(n), length.out = 2L * n), , drop = FALSE]
  if (chance(0.04) && max(abs(x), 0) < 1e9) storage.mode(x) <- "integer"
  if (chance(0.15)) colnames(x) <- c("a", "b", "c", "x", "y", "z", LETTERS)[seq_len(d)]
  if (d == 1L && chance(0.7)) return(as.vector(x))
  if (chance(0.15)) return(as.data.frame(x))
  x
}

# Enough observations for the engines that need many, as an expression.
large_sample <- function(d) {
  seed <- sample.int(1000L, 1L)
  n <- if (d <= 3L) 2500 else 300
  bquote(local({
    set.seed(.(seed))
    matrix(rnorm(.(n * d)), .(n))
  }))
}

# The size and the columns of a sample as made above.
shape_of <- function(x) {
  x <- if (is.language(x)) eval(x) else x
  if (is.null(dim(x))) c(length(x), 1L) else dim(x)
}

# The typical distance of values, for bandwidths that suit them.
spread_of <- function(x) {
  x <- as.matrix(if (is.language(x)) eval(x) else x)
  scale <- suppressWarnings(apply(x, 2L, stats::sd))
  ifelse(is.finite(scale) & scale > 0, scale, 1)
}

# ---- other arguments ----------------------------------------------------------------------------------------------

weights_for <- function(n) {
  w <- stats::rexp(n)
  if (chance(0.3)) w[sample.int(max(n, 1L), n %/% 2L)] <- 0
  if (chance(0.1)) w <- w * magnitude()
  if (chance(0.05)) w[seq_len(min(n, 1L))] <- 1e300
  w
}

bandwidth_for <- function(x) {
  h <- spread_of(x)[1L] * 10^stats::runif(1L, -2, 1)
  if (chance(0.08)) h * magnitude() else h
}

matrix_for <- function(x) {
  d <- shape_of(x)[2L]
  scale <- spread_of(x) * 10^stats::runif(1L, -2, 1)
  R <- diag(d)
  if (d > 1L && chance(0.6)) R <- stats::cov2cor(crossprod(matrix(stats::rnorm(d * (d + 2)), d + 2)))
  H <- R * outer(scale, scale)
  if (d == 1L && chance(0.5)) H <- as.vector(H)
  if (chance(0.08)) H * magnitude() else H
}

# `m` points near a sample.
points_for <- function(x, m = pick(c(0, 1, 2, 5, 30))) {
  values <- as.matrix(if (is.language(x)) eval(x) else x)
  d <- ncol(values)
  if (nrow(values) == 0L) values <- matrix(0, 1L, d)
  at <- values[sample.int(nrow(values), m, replace = TRUE), , drop = FALSE]
  at <- unname(at + rep(spread_of(x), each = m) * stats::rnorm(m * d, sd = pick(c(0, 0.5, 10, 1e6))))
  if (d == 1L && chance(0.7)) as.vector(at) else at
}

# A few points on each axis for more than two.
grid_size_for <- function(d) {
  if (d == 1L) return(pick(list(2, 11, 401, 1000)))
  if (d == 2L) return(pick(list(2, c(7, 12), 25, 60)))
  pick(list(2, 3, rep(c(2, 4), length.out = d)))
}

# ---- wrong arguments ----------------------------------------------------------------------------------------------

# A class whose methods all fail, as those of a package that is not what it was when an object was saved.
for (generic in c("length", "names", "dim", "dimnames", "[", "format", "as.character", "as.double", "as.vector",
                  "is.na", "anyNA", "rep", "unique", "t", "xtfrm", "Ops", "Math", "Summary")) {
  assign(paste0(generic, ".failing"), function(...) stop("a method of the class failed"))
}

# In the place of a value: `failing` keeps its numbers.
unusual <- list(
  failing = function(value) structure(value, class = c("failing", if (is.data.frame(value)) "data.frame")),
  # More than an integer counts; R keeps its two ends only.
  long = function(value) quote(seq(1, 3e9)),
  environment = function(value) bquote(structure(new.env(), class = .(class(value)))),
  bytes = function(value) "\xff\xfe",
  device = function(value) pick(c("stdin", "clipboard", "http://localhost/a.nc", "file:///dev/zero"))
)
# Without a limit of memory R would make all values of `long`.
if (sanitized) unusual$long <- NULL

# Values that are wrong for an argument.
wrong_value <- function() {
  if (chance(0.1)) return(pick(unusual)(pick(list(1, 1:3, "gaussian", TRUE, data.frame(a = 1:3), list(1)))))
  pick(list(
    NULL, NA, NA_real_, NaN, Inf, -Inf, -1, 0, 0.5, 2, 3L, 1e300, -1e300, 1e-300, 5e-324, 2^31, 2^53, 1e9, TRUE, FALSE,
    "a", "", NA_character_, c("gaussian", "epanechnikov"), "auto", "cuda", factor(c("a", "b")), factor(1:7), 1i,
    complex(0), as.raw(1:3), list(), list(1, 2), list(a = 1:3, b = "x"), numeric(0), character(0), integer(0),
    logical(0), matrix(0, 0L, 0L), matrix(0, 0L, 2L), matrix(0, 2L, 0L), matrix(1, 3L, 3L), diag(2), matrix(1:6, 2L),
    matrix(NA_real_, 2L, 2L), matrix("a", 2L, 2L), array(1:8, c(2L, 2L, 2L)), array(1, 3L), c(1, NA), c(1, NaN, 2),
    c(Inf, 1), -(1:3), 1:5, c(a = 1, b = 2), data.frame(), data.frame(a = 1:3), data.frame(a = 1:3, b = letters[1:3]),
    data.frame(a = I(list(1, 2))), as.Date("2020-01-01") + 0:2, as.difftime(1:2, units = "secs"),
    quote(base::list), quote(stats::na.omit), quote(function(...) NULL), quote(globalenv()), quote(quote(a + b)),
    quote(y ~ x), quote(y ~ a + b), quote(~x), quote(kestrel::kestrel_info()),
    quote(kestrel::kde(c(1, 2, 4), h = 1)), quote(as.POSIXlt("2020-01-01")), quote(expression(a, b)),
    quote(structure(1:3, class = "mine"))
  ))
}

# Changes one entry, or all of them, to a troublesome value.
damaged <- function(value) {
  if (is.object(value) || !is.numeric(value) || length(value) == 0L || length(dim(value)) > 2L) return(wrong_value())
  at <- if (chance(0.7)) sample.int(length(value), 1L) else seq_along(value)
  with_entry <- function(entry) {
    value[at] <- entry
    value
  }
  switch(pick(c("entry", "scale", "drop", "negative", "shape", "type", "failing")),
    entry = with_entry(pick(c(NA, NaN, Inf, -Inf, 0, 1e300, -1e300, 1e-300, 5e-324, 1e9, .Machine$double.xmax))),
    scale = value * pick(c(0, 1e-300, 1e-100, 1e-20, 1e20, 1e100, 1e300)),
    drop = as.vector(value)[-1L],
    negative = -value,
    shape = pick(list(t(value), rbind(value), as.vector(value), as.data.frame(unclass(value)),
                      array(value, length(value)))),
    type = pick(list(as.character(value), factor(value), as.list(value), as.complex(value), value > 0,
                     suppressWarnings(as.integer(value)), structure(value, class = "mine"),
                     structure(value, class = "difftime", units = "secs"))),
    failing = unusual$failing(value)
  )
}

# The arguments with at most a few of them spoilt or left out; most calls have none.
spoilt <- function(arguments) {
  for (round in seq_len(pick(0:2, c(5, 4, 1)))) {
    if (length(arguments) == 0L) break
    k <- sample.int(length(arguments), 1L)
    if (chance(0.1)) {
      arguments <- arguments[-k]
      next
    }
    value <- if (chance(0.5)) wrong_value() else damaged(arguments[[k]])
    arguments[k] <- list(value)
  }
  arguments
}

# Each of the arguments with probability p.
some_of <- function(arguments, p = 0.25) arguments[stats::runif(length(arguments)) < p]
