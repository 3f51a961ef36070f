# Normal data for several scripts, and the bandwidth for them.

normal_data <- function(n, correlation) matrix(stats::rnorm(n * ncol(correlation)), n) %*% chol(correlation)
# One to three dimensions; the last are those of Lopez-Novoa (2015).
correlations <- list(diag(1L), matrix(c(1, 0.5, 0.5, 1), 2L), matrix(c(1, 0.5, 0.3, 0.5, 1, 0.5, 0.3, 0.5, 1), 3L))
# All variables with the same correlation.
normal_rows <- function(n, d, correlation = 0.3) normal_data(n, diag(1 - correlation, d) + correlation)

# The normal reference of Andrzejewski et al. (2013), eq. 28 with its missing factor.
reference_h <- function(n, d) (4 / (d + 2))^(1 / (d + 4)) * n^(-1 / (d + 4))
