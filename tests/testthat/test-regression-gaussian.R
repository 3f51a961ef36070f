# The Gaussian kernel in regression, beside sums over all pairs in plain R: samples large enough for cells.

kernel_of_order <- function(u, order) {
  v <- u^2
  factor <- switch(order / 2, 1, 1 - v / 3, 1 - 2 * v / 3 + v^2 / 15, 1 - v + v^2 / 5 - v^3 / 105)
  factor * exp(-v / 2)
}

# Leave-one-out residuals, NA without another observation within 38 bandwidths. Weights are relative to the largest one,
# and lines are about its place.
left_out_residuals <- function(x, y, h, regtype) {
  vapply(seq_along(x), function(i) {
    u <- (x - x[i]) / h
    near <- abs(u) < 38
    near[i] <- FALSE
    if (!any(near)) return(NA_real_)
    w <- exp((min(u[near]^2) - u^2) / 2) * near
    d <- y - y[i]
    mean <- sum(w * d) / sum(w)
    if (regtype == "lc" || length(unique(x[near])) == 1L) return(-mean)
    about <- u[which.max(w)]
    v <- u - about
    centre <- sum(w * v) / sum(w)
    -mean + (about + centre) * sum(w * (v - centre) * (d - mean)) / sum(w * (v - centre)^2)
  }, 0)
}

test_that("curves of the Gaussian kernel are those of all pairs", {
  n <- 1200
  samples <- with_seed(5, list(normal = rnorm(n), tails = rt(n, 2), rounded = round(rnorm(n), 1),
                               clusters = c(rnorm(n / 2) / 100, 5 + rnorm(n / 2)), far = 1e7 + rnorm(n)))
  for (name in names(samples)) {
    x <- samples[[name]]
    z <- (x - median(x)) / IQR(x)
    for (noise in c(1, 1e-3)) {
      y <- sin(z) + with_seed(6, rnorm(n, sd = noise))
      h <- IQR(x) * c(0.05, 0.3, 3)
      for (regtype in c("lc", "ll")) {
        found <- suppressMessages(suppressWarnings(
          npregbw(xdat = x, ydat = y, bws = h, regtype = regtype, unsupported = "exclude")
        ))
        residuals <- lapply(h, function(one) left_out_residuals(x, y, one, regtype))
        wanted <- vapply(residuals, function(e) sum(e^2, na.rm = TRUE) / n, 0)
        expect_equal(found$cv, wanted, tolerance = 1e-12, label = paste(name, noise, regtype))
        expect_equal(found$n.unsupported, vapply(residuals, function(e) sum(is.na(e)), 0L), label = name)
      }
    }
  }
})

test_that("gradients and their errors are those of the weights of a fit", {
  x <- with_seed(7, rnorm(400))
  y <- sin(2 * x) + with_seed(8, rnorm(400, sd = 0.2))
  h <- 0.3
  points <- c(-1, 0.2, 1.5)
  # The derivative of K by the point.
  change <- function(u, order) {
    step <- 1e-5
    (kernel_of_order(u - step, order) - kernel_of_order(u + step, order)) / (2 * step * h)
  }
  weights_of_gradient <- function(e, regtype, order) {
    u <- (x - e) / h
    k <- kernel_of_order(u, order)
    if (regtype == "lc") return((change(u, order) - k * sum(change(u, order)) / sum(k)) / sum(k))
    from <- x - sum(k * x) / sum(k)
    k * from / sum(k * from^2)
  }
  for (regtype in c("lc", "ll")) {
    for (order in if (regtype == "lc") c(2, 4, 6, 8) else 2) {
      bw <- npregbw(xdat = x, ydat = y, bws = h, bandwidth.compute = FALSE, regtype = regtype, ckerorder = order)
      at_points <- npreg(bw, exdat = points, gradients = TRUE)
      at_data <- npreg(bw, gradients = TRUE)
      squares <- at_data$loo
      weights <- vapply(points, weights_of_gradient, numeric(400), regtype = regtype, order = order)
      label <- paste(regtype, order)
      expect_equal(drop(gradients(at_points)), drop(y %*% weights), tolerance = 1e-6, label = label)
      expect_equal(drop(gradients(at_points, errors = TRUE)),
                   sqrt(drop((y - squares)^2 %*% weights^2)), tolerance = 1e-6, label = label)
      own <- vapply(x[1:3], weights_of_gradient, numeric(400), regtype = regtype, order = order)
      expect_equal(drop(gradients(at_data))[1:3], drop(y %*% own), tolerance = 1e-6, label = label)
    }
  }
})
