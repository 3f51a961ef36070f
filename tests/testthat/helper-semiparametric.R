# Plain-R oracles of tests and semiparametric models, from the matrices of all weights, and np's values for them.

# np 0.60-18 for calls of np_semiparametric.csv, whose data are these.
semiparametric_data <- function() {
  list(mt = transform(datasets::mtcars, cyl = factor(cyl), gear = ordered(gear), am = factor(am)))
}

# Compares what the calls of a function give with np's values. `part`: code, in which `x` is the result.
expect_np_values <- function(called, tolerance = 1e-8) {
  rows <- utils::read.csv(test_path("fixtures", "np_semiparametric.csv"), colClasses = "character")
  rows <- rows[startsWith(rows$call, paste0(called, "(")), ]
  expect_gt(nrow(rows), 0)
  for (call in unique(rows$call)) {
    x <- eval(str2lang(call), c(semiparametric_data(), list()), parent.frame())
    for (k in which(rows$call == call)) {
      value <- unname(as.numeric(eval(str2lang(rows$part[k]), list(x = x))))
      expect_equal(value, as.numeric(strsplit(rows$values[k], ";")[[1]]), tolerance = tolerance,
                   info = paste(call, rows$part[k]))
    }
  }
}

# The matrix of all weights of a task at points: a row for each point.
weight_matrix <- function(data, task, points = data) {
  made <- mixed_weights(data, task, points)
  exp(made$scale) * t(ifelse(made$near, made$weight, 0))
}

# Those of the smoother and, with `column`, of its slope.
smoother_matrix <- function(data, task, points = data, column = NULL) {
  weights <- mixed_weights(data, task, points)
  t(vapply(seq_len(nrow(points$x)), function(i) {
    made <- mixed_smoother(data, task, weights, points, i)
    if (is.null(column)) made$value else made$slopes[, column]
  }, numeric(nrow(data$x))))
}

# The statistic of npsigtest() for one regressor: `column` of the numeric ones, or a factor whose effects are with
# respect to the points `base`. The integrals of the Gaussian kernel are known.
sigtest_oracle <- function(data, task, y, pivot, column = NULL, base = NULL) {
  square <- 1 / (2 * sqrt(pi))
  difference <- 2 * square - 2 * stats::dnorm(1, sd = sqrt(2))
  error2 <- function(points) {
    w <- weight_matrix(data, task, points)
    mean <- w %*% y / rowSums(w)
    (w %*% y^2 / rowSums(w) - mean^2) * square^length(task$h) / rowSums(w)
  }
  if (is.null(base)) {
    gradient <- smoother_matrix(data, task, column = column) %*% y
    return(mean(gradient^2 / if (pivot) error2(data) * difference / square / task$h[column]^2 else 1))
  }
  effect <- (smoother_matrix(data, task) - smoother_matrix(data, task, base)) %*% y
  mean(effect^2 / if (pivot) error2(data) + error2(base) else 1)
}

# A model as rq() of quantreg makes it, from its coefficients.
rq_model <- function(formula, data, tau, coefficients) {
  x <- stats::model.matrix(formula, data)
  y <- data[[all.vars(formula)[1L]]]
  fitted <- as.vector(x %*% coefficients)
  structure(list(coefficients = coefficients, x = x, y = y, residuals = y - fitted, fitted.values = fitted, tau = tau,
                 formula = formula, call = call("rq", formula = formula, tau = tau)), class = "rq")
}

# `of(...)` are draws of a test with more arguments: they follow from the seed alone.
expect_seeded_draws <- function(of) {
  one <- of(threads = 1)
  with_seed(1, state <- .Random.seed)
  with_seed(1, {
    expect_identical(of(threads = 3), one)
    expect_identical(.Random.seed, state)
  })
  expect_false(identical(of(random.seed = 1), one))
}
