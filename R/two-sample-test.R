# Test of the equality of two densities from samples.

#' Test of the equality of two densities
#'
#' Tests whether two samples come from the same density, by the integrated squared difference of their kernel estimates
#' (Duong, Goud & Schauer 2012).
#'
#' The statistic is T = psi_1 + psi_2 - psi_12 - psi_21. The kernel K_l is the N(0, H_l) density. Psi_l is the mean of
#' K_l over all pairs of sample l, and includes those of an observation with itself. Psi_12 and psi_21 are the means of
#' K_1 and K_2 over all pairs of one observation from each sample. Under the null hypothesis T has the mean
#' \eqn{\mu = (2 \pi)^{-d/2} \sum_l |H_l|^{-1/2} / n_l}{mu = (2 pi)^(-d/2) sum_l |H_l|^(-1/2) / n_l}, n_l the sizes of
#' the samples. Its variance is taken to be
#' \deqn{3 (1/n_1 + 1/n_2) (n_1 v_1 + n_2 v_2) / (n_1 + n_2), v_l = \hat g_l' S_l \hat g_l.}{3 (1/n_1 + 1/n_2) (n_1 v_1
#' + n_2 v_2) / (n_1 + n_2), v_l = g_l' S_l g_l.}
#' S_l is the covariance of sample l, and g_l the gradient of its density at its mean, with the bandwidth `Hns(x,
#' deriv.order = 1)`. The P value is that of a normal T. These are the definitions of \pkg{ks}.
#'
#' Under the null hypothesis that P value is not uniform. T is then a degenerate U-statistic, whose variance is smaller.
#' For 100 normal observations in each sample of one variable the test rejects too seldom. With `B` permutations of the
#' pooled sample the P value is the share of statistics, the observed one included, that are at least as large. It is
#' then uniform for samples of any size. Bandwidths that are not given are selected again for each permutation.
#'
#' If no bandwidth is given, that of sample l is the plug-in bandwidth of the functional psi_l, with psi_2, the
#' functional of order two, from a normal reference pilot (Chacon & Duong 2010). In one dimension it is, as in \pkg{ks},
#' \deqn{h = (-K(0) / (n \psi_2))^{1/3},}{h = (-K(0) / (n psi_2))^(1/3),}
#' 2^(-1/3) times the one at which the leading bias vanishes. In several dimensions it is the multiple of
#' \eqn{(-\Psi_2)^{-1}}{(-Psi_2)^(-1)} at which the leading bias vanishes, which follows the units of the data. The one
#' of \pkg{ks} depends on its pilot and on where its search starts, and is another.
#'
#' @param x1,x2 the samples: numeric vectors, or matrices or data frames with the same d columns.
#' @param H1,H2 bandwidth matrices; in one dimension `h1` and `h2` may take their place.
#' @param h1,h2 bandwidths, positive numbers.
#' @param psi1,psi2 the means psi_1 and psi_2, computed if not given.
#' @param var.fhat1,var.fhat2 v_1 and v_2, computed if not given.
#' @param binned,bgridsize accepted for scripts written for \pkg{ks}, without effect: the sums are exact.
#' @param verbose if TRUE, show progress; if NULL, `options(kestrel.verbose=)` decides, or else interactive sessions
#'   show it after a second.
#' @param ... no further arguments: other names are an error, which says what may have been meant.
#' @param B number of permutations for the P value; 0 for that of the normal distribution.
#' @param threads the number of threads, see [kestrel_threads()].
#' @param x an object made by `kde.test()`.
#' @return An object of class `"kestrel_kdetest"`, a list with the fields of \pkg{ks}:
#'   \item{Tstat, mean, var, zstat}{T, its mean and variance, and its distance from the mean in standard deviations}
#'   \item{pvalue}{the P value}
#'   \item{var.fhat1, var.fhat2}{v_1 and v_2}
#'   \item{n1, n2}{the sizes of the samples}
#'   \item{h1, h2}{the bandwidths (d = 1), otherwise `H1` and `H2`}
#'   \item{psi1, psi12, psi21, psi2}{the means of the kernels}
#'   \item{permuted}{T of each permutation; without permutations `numeric(0)`}
#'   and further `B`, `call` and `seconds`. `print()` returns it invisibly.
#' @section Units: T, its mean and psi are in 1 / volume.
#' @section Errors: Errors of class `kestrel_error_input` are for
#'
#'   - samples that are missing, infinite, not numeric or constant, or have linearly dependent columns;
#'   - samples of different dimensions;
#'   - bandwidths that are not positive definite;
#'   - a `B` that is not a whole number.
#' @section Cost: Two densities at each sample, as [kde()] computes them: O(n) in one to three dimensions. With
#'   permutations B + 1 times as much.
#' @references Duong, T., Goud, B. & Schauer, K. (2012) Closed-form density-based framework for automatic detection of
#'   cellular morphology changes. *PNAS* **109**, 8382-8387.
#'
#'   Chacon, J.E. & Duong, T. (2010) Multivariate plug-in bandwidth selection with unconstrained pilot bandwidth
#'   matrices. *Test* **19**, 375-398.
#' @seealso [kde.local.test()], [npunitest()]
#' @examples
#' setosa <- iris[iris$Species == "setosa", 1:2]
#' virginica <- iris[iris$Species == "virginica", 1:2]
#' kde.test(setosa, virginica)
#'
#' # by permutations
#' set.seed(1)
#' kde.test(faithful$eruptions[1:136], faithful$eruptions[137:272], B = 99)$pvalue
#' @export
kde.test <- function(x1, x2, H1, H2, h1, h2, psi1, psi2, var.fhat1, var.fhat2, binned = FALSE, bgridsize,
                     verbose = NULL, ..., B = 0, threads = NULL) {
  check_arguments("kde.test", given_names(...), c("binned", "bgridsize"))
  started <- proc.time()[["elapsed"]]
  verbose <- asked_verbose(verbose)
  B <- check_count(B, "B", 0L)
  samples <- check_two_samples(x1, x2)
  d <- ncol(samples[[1L]]$x)
  given <- list(check_sample_bandwidth(if (!missing(H1)) H1, if (!missing(h1)) h1, d, 1L),
                check_sample_bandwidth(if (!missing(H2)) H2, if (!missing(h2)) h2, d, 2L))
  # NULL means that a number was not given.
  known <- list(psi = list(if (!missing(psi1)) check_real(psi1, "psi1"), if (!missing(psi2)) check_real(psi2, "psi2")),
                var = list(if (!missing(var.fhat1)) check_positive(var.fhat1, "var.fhat1"),
                           if (!missing(var.fhat2)) check_positive(var.fhat2, "var.fhat2")))
  if (B > 0L && !all(vapply(known$psi, is.null, NA))) {
    abort_input("`psi1` and `psi2` must not be given with permutations, which change them.")
  }
  found <- with_search_progress(verbose, "Test of equality", function(progress) {
    run <- replace(run_options(threads), "progress", list(progress))
    found <- squared_difference(samples, given, known$psi, run)
    if (B > 0L) found$permuted <- permuted_differences(samples, given, B, run, progress)
    found
  })
  n <- vapply(samples, function(sample) nrow(sample$x), 0L)
  v <- Map(function(sample, known) if (is.null(known)) variance_at_mean(sample) else known, samples, known$var)
  pooled <- sum(n * unlist(v)) / sum(n)
  variance <- 3 * pooled * sum(1 / n)
  # Of n observations with themselves.
  mean <- sum(vapply(found$H, normal_at_zero, 0) / n)
  z <- (found$statistic - mean) / sqrt(variance)
  p <- if (B > 0L) (1 + sum(found$permuted >= found$statistic)) / (B + 1) else stats::pnorm(z, lower.tail = FALSE)
  bandwidths <- if (d == 1L) list(h1 = sqrt(found$H[[1L]][[1L]]), h2 = sqrt(found$H[[2L]][[1L]])) else
    stats::setNames(found$H, c("H1", "H2"))
  structure(c(list(Tstat = found$statistic, zstat = z, pvalue = p, mean = mean, var = variance, var.fhat1 = v[[1L]],
                   var.fhat2 = v[[2L]], n1 = n[1L], n2 = n[2L]), bandwidths, as.list(found$psi),
              list(B = B, permuted = as.numeric(found$permuted), call = match.call(),
                   seconds = proc.time()[["elapsed"]] - started)),
            class = "kestrel_kdetest")
}

check_two_samples <- function(x1, x2) {
  samples <- list(known_as("x1", selector_sample(x1, NULL)), known_as("x2", selector_sample(x2, NULL)))
  check_same_columns(samples[[1L]], samples[[2L]])
  samples
}

# The number of columns of both samples.
check_same_columns <- function(sample, other) {
  d <- ncol(sample$x)
  if (ncol(other$x) == d) return(d)
  abort_input("`x2` must have ", d, if (d == 1L) " column" else " columns", ", as `x1` has, not ", ncol(other$x), ".")
}

check_sample_bandwidth <- function(H, h, d, number) {
  if (!is.null(H) && !is.null(h)) abort_input("`h", number, "` and `H", number, "` must not both be given.")
  if (!is.null(h)) return(diag(check_positives(h, paste0("h", number), one = TRUE)^2, d))
  if (!is.null(H)) check_H(H, d, paste0("H", number))
}

check_real <- function(value, name) {
  value <- plain(value)
  if (!is_number(value)) abort_input("`", name, "` must be a finite number, not ", describe_value(value), ".")
  as.numeric(value)
}

# T with its bandwidths and means; those that are known are not computed.
squared_difference <- function(samples, given, known, run) {
  H <- Map(function(sample, H) if (is.null(H)) functional_bandwidth(sample, run) else H, samples, given)
  mean_at <- function(k, at) cross_mean(samples[[k]], samples[[at]]$x, H[[k]], run)
  own <- function(k) if (is.null(known[[k]])) mean_at(k, k) else known[[k]]
  psi <- c(psi1 = own(1L), psi12 = mean_at(1L, 2L), psi21 = mean_at(2L, 1L), psi2 = own(2L))
  list(H = H, psi = psi, statistic = psi[["psi1"]] + psi[["psi2"]] - psi[["psi12"]] - psi[["psi21"]])
}

permuted_differences <- function(samples, given, B, run, progress) {
  all <- rbind(unname(samples[[1L]]$x), unname(samples[[2L]]$x))
  first <- nrow(samples[[1L]]$x)
  statistic <- counted(function(rows) {
    parts <- list(all[rows[seq_len(first)], , drop = FALSE], all[rows[-seq_len(first)], , drop = FALSE])
    squared_difference(lapply(parts, function(x) selector_sample(x, NULL)), given, list(NULL, NULL), run)$statistic
  }, progress)
  vapply(seq_len(B), function(b) statistic(sample.int(nrow(all))), 0)
}

# g' S g with the gradient g of the density at the mean.
variance_at_mean <- function(sample) {
  d <- ncol(sample$x)
  center <- colMeans(sample$x)
  H <- (4 / (sample$n * (d + 4)))^(2 / (d + 6)) * unname(sample$cov)
  root <- lower_root_cpp(H)
  z <- forwardsolve(root, t(sample$x) - center)
  gradient <- backsolve(root, rowMeans(sweep(z, 2L, exp(-colSums(z^2) / 2), "*")), upper.tri = FALSE, transpose = TRUE)
  gradient <- normal_at_zero(H) * gradient
  sum(gradient * (sample$cov %*% gradient))
}

# The bandwidth of psi_0, with the functionals of order two from a normal reference pilot.
functional_bandwidth <- function(sample, run) {
  d <- ncol(sample$x)
  n <- sample$n
  deviation <- sqrt(diag(sample$cov))
  star <- transformed_sample(sample, diag(1 / deviation, d))
  if (d == 1L) {
    g <- balanced_bandwidth(2L, psi_normal(matrix(1), 4L), n)
    psi2 <- line_functionals(sample, deviation, g, run)$psi(g, 2L)
    return(matrix((-gaussian_at_zero(0L) / (n * psi2))^(2 / 3) * deviation^2))
  }
  S <- -functionals_of_order_two(star, distribution_pilot(star, FALSE), run)
  # tr(H Psi_2) = -d h^2 for H = h^2 S^-1.
  h <- (2 * (2 * pi)^(-d / 2) * sqrt(det(S)) / (n * d))^(1 / (d + 2))
  H <- h^2 * matrix_power(S, -1) * outer(deviation, deviation)
  structure((H + t(H)) / 2, dimnames = dimnames(sample$cov))
}

#' @rdname kde.test
#' @export
print.kestrel_kdetest <- function(x, ...) {
  check_object(x, "x", "kestrel_kdetest")
  way <- if (x$B > 0) {
    paste0(", by ", format(x$B, big.mark = ","), " permutations")
  } else {
    ", by the normal distribution"
  }
  cat("Test of the equality of two densities", call_lines(x$call),
      label_line("n", paste(format(c(x$n1, x$n2), big.mark = ",", trim = TRUE), collapse = " and ")),
      if (!is.null(x$h1)) label_line("bandwidths", paste(format_short(c(x$h1, x$h2)), collapse = " and ")) else
        label_line("bandwidths", "matrices, see `H1` and `H2`"),
      label_line("statistic", paste0("T = ", format_short(x$Tstat), ", ", format_short(x$zstat),
                                     " standard deviations from its mean")),
      label_line("P value", paste0(format_short(x$pvalue), way)), sep = "\n")
  invisible(x)
}
