# Coverage of confidence bands (?bands): how often bands of 1,000 observations contain the density or the distribution
# function that these were drawn from, the standard normal one and a mixture with two modes. Pointwise bands are judged
# at 25 quantiles from 2 to 98 per cent, on average; simultaneous ones on all of the grid of 101 points.
#
#   Rscript bench/coverage.R [--short]
#
# kestrel must be installed. The last column is the standard error of the simulation.
library(kestrel)
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
source(file.path(here, "harness.R"))
options(kestrel.verbose = FALSE)

samples <- sized(2000L, 200L)
truths <- list(
  normal = list(draw = rnorm, density = dnorm, below = pnorm),
  "two modes" = list(
    draw = function(n) rnorm(n, sample(c(-1, 1), n, TRUE), 2 / 3),
    density = function(x) (dnorm(x, -1, 2 / 3) + dnorm(x, 1, 2 / 3)) / 2,
    below = function(x) (pnorm(x, -1, 2 / 3) + pnorm(x, 1, 2 / 3)) / 2
  )
)

# Whether a band contains the truth: on average over points, or everywhere.
contained <- function(band, truth, average) {
  inside <- truth >= band[, "lwr"] & truth <= band[, "upr"]
  if (average) mean(inside) else all(inside)
}

of_one_sample <- function(truth, quantiles) {
  x <- truth$draw(1000)
  estimates <- list(density = kde(x, gridsize = 101, compute.cont = FALSE), distribution = kcde(x, gridsize = 101))
  results <- c()
  for (what in names(estimates)) for (method in c("bootstrap", "asymptotic")) {
    fhat <- estimates[[what]]
    of <- if (what == "density") truth$density else truth$below
    at <- function(points, interval) predict(fhat, points, interval = interval, method = method)
    results[paste(what, method, "pointwise")] <- contained(at(quantiles, "pointwise"), of(quantiles), TRUE)
    grid <- fhat$eval.points
    results[paste(what, method, "simultaneous")] <- contained(at(grid, "simultaneous"), of(grid), FALSE)
  }
  results
}

set.seed(1)
for (name in names(truths)) {
  truth <- truths[[name]]
  quantiles <- vapply(seq(0.02, 0.98, by = 0.04), function(p) uniroot(function(x) truth$below(x) - p, c(-9, 9))$root, 0)
  results <- t(replicate(samples, of_one_sample(truth, quantiles)))
  cat("\n", name, ", ", samples, " samples\n", sep = "")
  print(round(100 * cbind(coverage = colMeans(results), error = apply(results, 2, sd) / sqrt(samples)), 1))
}
