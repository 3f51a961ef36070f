# Tests by the entropy of Granger, Maasoumi & Racine (2004): of the equality of two densities, of symmetry, and of
# independence.

#' Tests of equality, symmetry and independence by an entropy
#'
#' `npunitest()` tests whether two samples have the same density, `npsymtest()` whether a density is symmetric about its
#' mean, and `npdeptest()` whether two variables are independent, each by a bootstrap. The statistic is the normalized
#' Hellinger distance of two kernel densities f and g (Granger, Maasoumi & Racine 2004). Names, arguments and fields are
#' those of package \pkg{np}.
#'
#' The statistic is
#' \deqn{S_\rho = \frac12 \int (f^{1/2} - g^{1/2})^2}{Srho = 1/2 int (f^(1/2) - g^(1/2))^2}
#' or, with `method = "summation"`, half the mean of (1 - (g/f)^(1/2))^2 at the observations of f. It is 0 where the
#' densities are equal, and the integral is at most 1. The densities are
#'
#'   - `npunitest()`: those of `data.x` and `data.y`. Bootstrap samples are drawn with replacement from both together,
#'     for `"summation"` from `data.x`.
#'   - `npsymtest()`: those of the data, divided by their standard deviation, and of the data rotated about their mean,
#'     2 mean(x) - x. Bootstrap samples are drawn from both together, and rotated about their own mean.
#'   - `npdeptest()`: that of both variables, f, and the product of those of each, g. Bootstrap samples have `data.x`
#'     drawn with replacement, and `data.y` as it is.
#'
#' The kernel is the Gaussian one. Bandwidths are by default those of [stats::bw.SJ()], and in `npdeptest()` those of
#' [npudensbw()] by likelihood cross-validation. All samples have the same. P is the share of samples with a larger
#' statistic.
#'
#' Integrals are sums over a grid with 12 points in a bandwidth, 5 in each direction in `npdeptest()`, which reaches 12
#' bandwidths beyond every observation. Their relative error is below 1e-9 in the tests of the package (`npdeptest()`:
#' 1e-6). Statistics are those of \pkg{np} 0.60 at the same bandwidths, but for the errors of its quadrature, of up to
#' 5e-7 of them. Draws follow from
#' `random.seed` alone, are the same for any number of threads, and leave the random numbers of the session as they are.
#' Factors, other kernels and the stationary bootstrap (`boot.method = "geom"`) are not there.
#'
#' @param data.x,data.y numeric vectors; for `npdeptest()` of the same length.
#' @param data a numeric vector.
#' @param method `"integration"` or `"summation"`, see Details.
#' @param bootstrap if FALSE, compute the statistic only.
#' @param boot.num number of bootstrap samples, at least 9.
#' @param boot.method `"iid"`.
#' @param bw.x,bw.y,bw,bw.data.x,bw.data.y,bw.joint bandwidths, selected if NULL. `bw` is of the data divided by their
#'   standard deviation, and `bw.joint` has two.
#' @param random.seed a whole number, which determines the draws.
#' @param threads,verbose as in [npregbw()].
#' @param ... no further arguments.
#' @return An object of class `c("kestrel_srho", "unitest")`, `"symtest"` or `"deptest"`, a list with
#'   \item{Srho}{the statistic}
#'   \item{Srho.bootstrap}{those of the samples (`npdeptest()`: `Srho.bootstrap.vec`), NA without}
#'   \item{P}{the P value, NA without bootstrap}
#'   \item{bw.x, bw.y; bw; bw.data.x, bw.data.y, bw.joint}{the bandwidths}
#'   \item{data.rotate}{`npsymtest()`: the rotated data}
#'   \item{reject, rejectNum}{a mark of significance and its level, as in [npsigtest()]}
#'   and `boot.num`, `bootstrap`, `method`, `nobs`, `random.seed`, `seconds`, `call`.
#' @section Units: Statistics have none. Bandwidths are in the units of their variable, `bw` in standard deviations.
#' @section Errors: Errors of class `kestrel_error_input` are for data that are not finite numbers, constant, or fewer
#'   than three, and for bandwidths that are not positive.
#' @section Cost: With N observations in all, a grid of m points and B samples `npunitest()` and `npsymtest()` take
#'   O(N m B), about 0.3 s for N = 300 and B = 399, on one core. `npdeptest()` takes O(n m1 m2) for each sample, with m1
#'   and m2 points along the variables, or for `"summation"` O(n^2).
#' @references Granger, C.W., Maasoumi, E. & Racine, J.S. (2004) A dependence metric for possibly nonlinear processes.
#'   *Journal of Time Series Analysis* **25**, 649-669.
#'
#'   Maasoumi, E. & Racine, J.S. (2002) Entropy and predictability of stock market returns. *Journal of Econometrics*
#'   **107**, 291-312.
#'
#'   Maasoumi, E. & Racine, J.S. (2009) A robust entropy-based test of asymmetry for discrete and continuous processes.
#'   *Econometric Reviews* **28**, 246-261.
#' @examples
#' npunitest(iris$Sepal.Length[1:50], iris$Sepal.Length[51:100], boot.num = 99)
#' npsymtest(faithful$eruptions, boot.num = 99)
#' npdeptest(cars$speed, cars$dist, boot.num = 9)
#' @export
npunitest <- function(data.x, data.y, method = c("integration", "summation"), bootstrap = TRUE, boot.num = 399,
                      bw.x = NULL, bw.y = NULL, random.seed = 42, ..., threads = NULL, verbose = NULL) {
  started <- proc.time()[["elapsed"]]
  call <- match.call()
  check_arguments("npunitest", given_names(...))
  asked <- entropy_choices(method, bootstrap, boot.num, random.seed)
  verbose <- asked_verbose(verbose)
  x <- entropy_data(if (!missing(data.x)) data.x, "data.x")
  y <- entropy_data(if (!missing(data.y)) data.y, "data.y")
  h <- c(entropy_bandwidth(bw.x, x, "bw.x"), entropy_bandwidth(bw.y, y, "bw.y"))
  all <- c(x, y)
  first <- seq_along(x)
  found <- with_search_progress(verbose, "Test of equality", function(progress) {
    run <- c(run_options(threads, "cpu"), progress = progress)
    statistic <- entropy_statistic(all, h, asked$method, run)
    drawn_from <- if (asked$method == "summation") first else seq_along(all)
    entropy_bootstrap(asked, length(all), statistic$rows, run,
                      statistic$of(outer(seq_along(all), first, `==`) %*% rep(1, length(x)),
                                   outer(seq_along(all), length(x) + seq_along(y), `==`) %*% rep(1, length(y))),
                      function(uniform) {
      rows <- floor(uniform * length(drawn_from)) + 1
      statistic$of(times_drawn(rows[first, , drop = FALSE], length(all)),
                   times_drawn(rows[-first, , drop = FALSE], length(all)))
    })
  })
  finish_entropy(found, asked, list(bw.x = h[1L], bw.y = h[2L]), length(x) + length(y), call, started, "unitest",
                 random.seed)
}

#' @rdname npunitest
#' @export
npsymtest <- function(data, method = c("integration", "summation"), boot.num = 399, bw = NULL, boot.method = "iid",
                      random.seed = 42, ..., threads = NULL, verbose = NULL) {
  started <- proc.time()[["elapsed"]]
  call <- match.call()
  check_arguments("npsymtest", given_names(...))
  asked <- entropy_choices(method, TRUE, boot.num, random.seed)
  check_choice(boot.method, "iid", "boot.method")
  verbose <- asked_verbose(verbose)
  x <- entropy_data(if (!missing(data)) data, "data")
  x <- (x - mean(x)) / stats::sd(x)
  h <- entropy_bandwidth(bw, x, "bw")
  both <- c(x, -x)
  of <- function(sample, run) {
    statistic <- entropy_statistic(c(sample, 2 * mean(sample) - sample), c(h, h), asked$method, run)
    own <- rep(c(1, 0), each = length(sample))
    statistic$of(cbind(own), cbind(1 - own))
  }
  found <- with_search_progress(verbose, "Test of symmetry", function(progress) {
    run <- c(run_options(threads, "cpu"), progress = progress)
    entropy_bootstrap(asked, length(x), length(x), run, of(x, run), function(uniform) {
      apply(uniform, 2L, function(one) of(both[floor(one * length(both)) + 1], run))
    })
  })
  finish_entropy(found, asked, list(bw = h, data.rotate = -x), length(x), call, started, "symtest", random.seed)
}

#' @rdname npunitest
#' @export
npdeptest <- function(data.x, data.y, method = c("integration", "summation"), bootstrap = TRUE, boot.num = 399,
                      random.seed = 42, ..., bw.data.x = NULL, bw.data.y = NULL, bw.joint = NULL, threads = NULL,
                      verbose = NULL) {
  started <- proc.time()[["elapsed"]]
  call <- match.call()
  check_arguments("npdeptest", given_names(...))
  asked <- entropy_choices(method, bootstrap, boot.num, random.seed)
  verbose <- asked_verbose(verbose)
  x <- entropy_data(if (!missing(data.x)) data.x, "data.x")
  y <- entropy_data(if (!missing(data.y)) data.y, "data.y")
  if (length(x) != length(y)) {
    abort_input("`data.y` must have as many values as `data.x`, ", length(x), ", not ", length(y), ".")
  }
  selected <- function(bw, name, ...) dependence_bandwidths(bw, name, list(...), threads, verbose)
  h <- c(selected(bw.data.x, "bw.data.x", x), selected(bw.data.y, "bw.data.y", y))
  joint <- selected(bw.joint, "bw.joint", x, y)
  n <- length(x)
  found <- with_bar_if(verbose, "Test of independence", asked$count, function(move) {
    of <- dependence_statistic(x, y, h, joint, asked$method)
    run <- run_options(threads, "cpu")
    done <- 0
    entropy_bootstrap(asked, n, n, run, of(seq_len(n)), function(uniform) {
      apply(uniform, 2L, function(one) {
        heard()
        done <<- done + 1
        move(done)
        of(floor(one * n) + 1)
      })
    })
  })
  finish_entropy(found, asked, list(bw.data.x = h[1L], bw.data.y = h[2L], bw.joint = joint), n, call, started,
                 "deptest", random.seed)
}

entropy_choices <- function(method, bootstrap, boot.num, random.seed) {
  list(method = check_choice(method, c("integration", "summation"), "method"),
       bootstrap = check_flag(bootstrap, "bootstrap"), count = check_count(boot.num, "boot.num", 9L),
       seed = check_seed(random.seed))
}

entropy_data <- function(value, name) {
  if (is.null(value)) abort_input("`", name, "` must be given: a numeric vector.")
  check_rows(without_class(value), name)
  x <- as_variable(named_column(value, name), name)$value
  check_finite(x, name)
  if (length(x) < 3L) abort_input("`", name, "` must have at least three values, not ", length(x), ".")
  check_extent(range(x), name, NULL)
  x
}

entropy_bandwidth <- function(bw, x, name) {
  if (!is.null(bw)) return(check_positives(bw, name, one = TRUE))
  catching_errors(stats::bw.SJ(x), function(e) {
    abort_input("`", name, "` must be given: bw.SJ() finds none for these data.")
  })
}

# Bandwidths of these columns, one each: given, or selected by likelihood cross-validation.
dependence_bandwidths <- function(bw, name, columns, threads, verbose) {
  if (is.null(bw)) {
    return(npudensbw.default(frame_of(columns, c("x", "y")[seq_along(columns)]), threads = threads,
                             verbose = verbose)$bw)
  }
  count_is(check_positives(bw, name), length(columns), name)
}

# `bw` has `count` bandwidths.
count_is <- function(bw, count, name) {
  if (length(bw) == count) return(bw)
  abort_input("`", name, "` must have ", count, " bandwidth", if (count > 1L) "s", ", not ", describe_value(bw), ".")
}

# The statistic of two densities with the bandwidths h, each from counts of how often a sample has the values `all`:
# of(first, second), matrices with a column for each pair of samples. `rows`: the largest number of points.
entropy_statistic <- function(all, h, method, run) {
  smoother <- function(h) {
    bws <- list(x = frame_of(list(all), "x"), y = numeric(length(all)), icon = TRUE, iuno = FALSE, iord = FALSE,
                ncon = 1L, ndim = 1L, nobs = length(all), ckertype = "gaussian", ckerorder = 2L,
                ukertype = "aitchisonaitken", okertype = "liracine", regtype = "lc", method = "cv.ls")
    smoother_of(bws, h, run)
  }
  smoothers <- list(smoother(h[1L]), smoother(h[2L]))
  density <- function(k, counts, points) {
    sums <- smooth_responses(smoothers[[k]], counts, "sum", list(points))
    sums / (sqrt(2 * pi) * h[k]) / rep(colSums(counts), each = nrow(sums))
  }
  if (method == "summation") {
    of <- function(first, second) {
      ratio <- sqrt(density(2L, second, all) / density(1L, first, all))
      colSums(ifelse(first > 0, first * (1 - ratio)^2, 0)) / colSums(first) / 2
    }
    return(list(of = of, rows = length(all)))
  }
  grid <- entropy_grid(all, min(h), max(h), 12L, if (h[1L] == h[2L]) "bw" else if (h[1L] < h[2L]) "bw.x" else "bw.y")
  of <- function(first, second) {
    colSums((sqrt(density(1L, first, grid$points)) - sqrt(density(2L, second, grid$points)))^2) * grid$step / 2
  }
  list(of = of, rows = length(grid$points))
}

# Points with equal steps, `share` in the bandwidth h, up to 12 of the `widest` bandwidth beyond every value.
entropy_grid <- function(x, h, widest, share, name) {
  cell <- 12 * widest
  cells <- floor((x - x[1L]) / cell)
  cells <- sort(unique(c(cells - 1, cells, cells + 1)))
  inside <- ceiling(share * cell / h)
  step <- cell / inside
  if (length(cells) * inside > 2^26) {
    abort_input("`", name, "` must be wider beside the data or the other bandwidth: the integral would need ",
                format(length(cells) * inside, digits = 3), " points.")
  }
  list(points = x[1L] + rep(cells * cell, each = inside) + (seq_len(inside) - 1) * step, step = step)
}

# The statistic of pairs (x[rows], y[beside]), by default y: of their density and the product of those of each.
dependence_statistic <- function(x, y, h, joint, method) {
  kernels <- function(at, values, h) {
    made <- stats::dnorm(outer(at, values, `-`) / h)
    made / h
  }
  if (method == "summation") {
    alone <- list(kernels(x, x, h[1L]), kernels(y, y, h[2L]))
    both <- list(kernels(x, x, joint[1L]), kernels(y, y, joint[2L]))
    of_y <- rowMeans(alone[[2L]])
    return(function(rows, beside = NULL) {
      of_x <- rowMeans(alone[[1L]][rows, rows])
      if (!is.null(beside)) of_y <- rowMeans(alone[[2L]][beside, beside])
      together <- both[[1L]][rows, rows] * if (is.null(beside)) both[[2L]] else both[[2L]][beside, beside]
      mean((1 - sqrt(of_x * of_y / rowMeans(together)))^2) / 2
    })
  }
  along <- function(values, h, joint) entropy_grid(values, min(h, joint), max(h, joint), 5L, "bw.joint")
  grids <- list(along(x, h[1L], joint[1L]), along(y, h[2L], joint[2L]))
  alone <- lapply(1:2, function(k) kernels(grids[[k]]$points, list(x, y)[[k]], h[k]))
  both <- lapply(1:2, function(k) kernels(grids[[k]]$points, list(x, y)[[k]], joint[k]))
  side <- function(columns) {
    list(alone = sqrt(rowMeans(alone[[2L]][, columns])), both = t(both[[2L]][, columns]) / length(columns))
  }
  of_y <- side(seq_along(y))
  block <- parts_of(length(grids[[1L]]$points), max(1, floor(most_at_once / length(of_y$alone))))
  function(rows, beside = NULL) {
    if (!is.null(beside)) of_y <- side(beside)
    of_x <- sqrt(rowMeans(alone[[1L]][, rows]))
    sum <- 0
    for (part in block) {
      heard()
      sum <- sum + sum((sqrt(both[[1L]][part, rows, drop = FALSE] %*% of_y$both) - outer(of_x[part], of_y$alone))^2)
    }
    sum * grids[[1L]]$step * grids[[2L]]$step / 2
  }
}

# A bar for `total` steps, where one is wanted.
with_bar_if <- function(verbose, label, total, body) {
  if (wants_bar(verbose)) with_bar(label, total, body) else body(function(at) NULL)
}

entropy_bootstrap <- function(asked, count, rows, run, statistic, body) {
  replicates <- if (asked$bootstrap) in_replicates(count, asked$count, asked$seed, run, body, rows)
  list(Srho = as.vector(statistic), replicates = replicates)
}

finish_entropy <- function(found, asked, bandwidths, n, call, started, class, random.seed) {
  P <- if (asked$bootstrap) mean(found$replicates > found$Srho) else NA_real_
  marks <- marks_of(P)
  replicates <- list(if (asked$bootstrap) found$replicates else NA)
  names(replicates) <- if (class == "deptest") "Srho.bootstrap.vec" else "Srho.bootstrap"
  structure(c(list(Srho = found$Srho), replicates, list(P = P, bootstrap = asked$bootstrap, boot.num = asked$count),
              bandwidths, list(method = asked$method, nobs = n, reject = marks$reject,
                               rejectNum = marks$rejectNum, random.seed = as.numeric(random.seed),
                               call = call, seconds = proc.time()[["elapsed"]] - started)),
            class = c("kestrel_srho", class))
}

# ---- print and summary --------------------------------------------------------------------------------------------

entropy_titles <- c(unitest = "Test of the equality of two densities", symtest = "Test of the symmetry of a density",
                    deptest = "Test of the independence of two variables")

srho_lines <- function(test) {
  kind <- intersect(names(entropy_titles), class(test))[1L]
  test <- unclass(test)
  named <- c("bw.x", "bw.y", "bw", "bw.data.x", "bw.data.y", "bw.joint")
  bandwidths <- unlist(unclass(test)[intersect(named, names(unclass(test)))])
  P <- p_text(test$P, test$boot.num)
  c(entropy_titles[[kind]],
    call_lines(test$call),
    label_line("n", format(test$nobs, big.mark = ",")),
    label_line("bandwidth", paste(format_short(unname(bandwidths)), collapse = ", ")),
    label_line("method", test$method),
    if (test$bootstrap) label_line("bootstrap", paste(test$boot.num, "samples")),
    label_line("Srho", paste0(format_short(test$Srho),
                              if (test$bootstrap) paste0(", ", p_words(P), " ", test$reject))))
}

#' @rdname npunitest
#' @param x,object a result of these functions.
#' @export
print.kestrel_srho <- function(x, ...) {
  check_object(x, "x", "kestrel_srho")
  cat(srho_lines(x), sep = "\n")
  invisible(x)
}

#' @rdname npunitest
#' @export
summary.kestrel_srho <- function(object, ...) {
  check_object(object, "object", "kestrel_srho")
  structure(list(test = object), class = "summary.kestrel_srho")
}

replicates_of_srho <- function(test) {
  test[[if (inherits(test, "deptest")) "Srho.bootstrap.vec" else "Srho.bootstrap"]]
}

#' @export
print.summary.kestrel_srho <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_srho")
  cat(srho_lines(x$test), if (x$test$bootstrap) label_line("of samples", quartiles(replicates_of_srho(x$test))),
      sep = "\n")
  invisible(x)
}
