#' Counts, sums, means, variances and quantiles from a density
#'
#' Computes the number of rows of a table in a box, and sums, means, variances and quantiles of a variable there. A box
#' is a range of each variable. The answers come from an estimate of the table's density instead of a scan of its rows
#' (Andrzejewski, Gramacki & Gramacki 2013, section 4.3):
#' \deqn{count = N \int_{box} \hat f, sum = N \int_{box} x_k \hat f, mean = sum / count,}{count = N int_box fhat, sum =
#' N int_box x_k fhat, mean = sum / count,}
#' The variance is that of x_k within the box, weighted by the density.
#'
#' @section Boxes:
#' `lower` and `upper` are matrices or data frames with one row for each box. They may also be vectors: numbers for one
#' variable, or one box of several variables. Columns with names are matched to the variables, in any order, and
#' variables that are not named have no limits. A single row applies to all boxes. Limits may be -Inf and Inf. A row
#' whose value equals a limit is in the box. This matters for the rows that an interval counts, but not for the density.
#' Boxes of an estimate with `bounds` or a `period` end there.
#'
#' @section Conditions: In place of `lower` and `upper` you can write a condition with the names of the variables, and
#' the quantity to compute: `kde_query(fhat, price > 1000 & price <= 2000 & carat < 1, mean(price))`. A condition
#' consists of
#'
#' - comparisons of a variable with numbers by `<`, `<=`, `>`, `>=` or `between(price, 1000, 2000)`; dates and times are
#'   compared with dates and times, or with texts such as `"2020-01-31"`;
#' - comparisons of a label of a synopsis with its categories by `==`, `!=` or `%in%`; a label of TRUE and FALSE may
#'   stand alone;
#' - `&`, `|`, `!` and parentheses between them.
#'
#' Values are constants, names of objects, elements such as `table$price` and `limits[2]`, and `c()`, `-`, `+`, `*`,
#' `/`, `^`, `:`, [as.Date()] and [as.POSIXct()] of these. They are looked up where `kde_query()` is called. A vector of
#' numbers makes one box of each number. Anything else is an error before anything is evaluated, such as calls of other
#' functions, `==` between numbers, and comparisons of two variables. Names of variables take precedence over objects of
#' the same name.
#'
#' A condition is written as boxes that may overlap, one for each alternative. Answers are added by inclusion and
#' exclusion: those of A or B are those of A and of B, less those of A and B.
#'
#' The quantity is `n()` or `count()`, the default, or `sum()`, `mean()`, `var()`, `median()` or `quantile(price, 0.9)`
#' of a variable.
#'
#' @section Labels: Labels have no density. For a condition with categories the density is that of the rows that have
#' them. The count for a condition on one label alone is that of the table, which the synopsis knows. Other counts are
#' at most those of their categories.
#'
#' @section Exactness: The integrals are those of the estimate. Kernels on one axis and their products are integrated in
#' closed form, or by a Gauss rule that is as exact. With the Gaussian kernel the relative error of a count is about
#' 1e-14, and 6e-16 z^2 for boxes that are z bandwidths away from all rows. With the other kernels the error is about
#' 1e-14 of `N`. Variances have an error of 1e-11, and a larger one in boxes whose count is hardly larger than its
#' error. A Gaussian kernel with correlations is computed as a sum of kernels without them. This adds, for each
#' dimension, an error of 1e-13 of the count and 1e-13 of `N`. Counts of many boxes in two and three dimensions are read
#' off a Fourier series, with an error of 2e-13 of `N` for each dimension. Radial polynomial kernels (uniform,
#' Epanechnikov, biweight, triweight) in two and three dimensions are integrated slice by slice, with an error of at
#' most 1e-11 of `N`. More dimensions are refused, and so are the radial triangular, tricube and cosine kernels.
#'
#' @section Interval:
#' The interval assumes that the `n` rows of the estimate are a simple random sample without replacement of a table of
#' `N` rows. Let p be the share of the box according to the density, and q the share of the rows in it. The interval is
#' that of Wilson (1927) about q,
#' \deqn{\frac{q + c / 2 \pm \sqrt{c q (1 - q) + c^2 / 4}}{1 + c}, c = z^2 (1 - n / N) / n}{(q + c/2 +- sqrt(c q
#' (1 - q) + c^2/4)) / (1 + c), c = z^2 (1 - n/N) / n}
#' with the correction for a finite table. The share in Wilson's interval that is farthest from p bounds the error of p.
#' The interval for the count is `N` p plus and minus `N` times the distance of that share from p, so it contains all of
#' Wilson's interval. If the estimate has all rows of the table (n = N), the rows in the box are known, and the distance
#' is the effect of smoothing, |p - q|. The interval ends at 0 and `N`. It is one point for the whole space and for
#' boxes beyond the ranges of a synopsis. With weights q is the weighted share, and n is the effective sample size.
#'
#' Wilson's interval alone has about the level that is asked for (less for shares near 1 / n, Brown, Cai & DasGupta
#' 2001). So the interval for the count mostly contains the true count more often than that. The rows of a synopsis are
#' drawn more evenly than a simple random sample, and their share q is closer to that of the table. So the interval of a
#' synopsis is wider than necessary, and contains the true count even more often.
#'
#' The intervals of other quantities have the same form: the quantity is computed from the rows in the box alone, an
#' interval for that is found, and it is made symmetric and widened by the distance from the density's answer.
#' For means and variances the interval is that of Student's t with the standard error of a mean of the rows in the box
#' (for variances of their squared deviations). For sums it is the normal one of a total, to which the other rows add
#' zeros. For quantiles it ends at the rows' quantiles at the ends of Wilson's interval of `prob`. With fewer than two
#' rows in the box it is all that is possible: the limits of the variable in the box, and for a variance 0 and a quarter
#' of their squared distance (Popoviciu 1935). Variances of variables with heavy tails need many rows.
#'
#' @param fhat an object made by [kde()] or [kde_synopsis()].
#' @param lower,upper limits of the boxes, see below; none if NULL or not given. Alternatively a condition and the
#'   quantity to compute.
#' @param fun the quantity to compute: `"count"`, `"sum"`, `"mean"`, `"var"` or `"quantile"`.
#' @param of the variable whose sum, mean, variance or quantile is computed, a name or the number of a column; not for
#'   counts.
#' @param N number of rows of the whole table. By default it is the number that the synopsis states, or the number of
#'   observations.
#' @param level the probability that intervals should have.
#' @param prob the probability of a quantile; the median by default.
#' @param ... no further arguments: other names are an error, which says what may have been meant.
#' @param threads the number of threads. The default is [kestrel_threads()], which also describes the maximum.
#' @param verbose if TRUE, show progress; if NULL, `options(kestrel.verbose=)` decides, or else interactive sessions
#'   show it after a second.
#' @return A data frame with one row for each box. Its first column, named by `fun`, is the answer. It is NA for means,
#'   variances and quantiles of boxes in which the density is zero. The next columns are the interval, `lower` and
#'   `upper`. For the other quantities than counts the last column is `count`.
#' @section Units: Limits are in the units of the variables. Counts are numbers of rows. Sums and means are in the units
#'   of the variable `of`, and variances in their squares.
#' @section Errors: Errors of class `kestrel_error_input` are for
#'
#'   - boxes with a lower limit above the upper one, and limits that are missing or of another dimension;
#'   - conditions that the grammar above does not have, that no row can fulfil, that compare a label with a category
#'     that it does not have, or that have more than 64 alternatives or 5,000 intersections of these;
#'   - variables that are unknown or not numeric, and sums of variables of an estimate with `positive` or
#'     `unit.interval`;
#'   - radial kernels that are refused, see the section on exactness;
#'   - bandwidth matrices whose correlations need a sum of more than 1e5 kernels without correlations. In five
#'     dimensions all but small correlations do, and in more dimensions nearly all.
#' @section Cost: Sorting the rows takes O(n d log n), on one thread. Each box takes O(n d). Rows whose kernels lie
#'   entirely inside or outside of the box take less, and so do variables without limits. A bandwidth matrix with
#'   correlations multiplies this by the number of kernels in its sum, about 20 for a moderate correlation in two
#'   dimensions and 400 in three. But counts of many boxes take O(n), a fast Fourier transform, and microseconds for
#'   each box, unless the observations extend over more than 500 bandwidths: 0.05 seconds for 5,000 boxes and 100,000
#'   observations in two dimensions. A radial kernel takes 0.1 microseconds for a row
#'   at one edge of the box. At a corner it takes 10 microseconds in two dimensions and a millisecond in three.
#'   Alternatives multiply it by the number of their intersections that are not empty, and quantiles by about 45.
#'   Intervals of other quantities than counts take another O(n d) for each box, in R. All threads are used, and their
#'   number does not change the result.
#' @references Andrzejewski, W., Gramacki, A. & Gramacki, J. (2013) Density estimations for approximate query processing
#'   on SIMD architectures.
#'
#'   Brown, L. D., Cai, T. T. & DasGupta, A. (2001) Interval estimation for a binomial proportion. *Statistical Science*
#'   **16**, 101-133.
#'
#'   Popoviciu, T. (1935) Sur les equations algebriques ayant toutes leurs racines reelles. *Mathematica (Cluj)* **9**,
#'   129-145.
#'
#'   Wilson, E. B. (1927) Probable inference, the law of succession, and statistical inference. *Journal of the American
#'   Statistical Association* **22**, 209-212.
#' @seealso [kde_synopsis()], [q_error()], [pkde()]
#' @examples
#' fhat <- kde(faithful, H = Hpi.diag(faithful))
#' kde_query(fhat, c(2, 50), c(3, 70))
#' kde_query(fhat, eruptions < 3 & waiting >= c(40, 50, 60), mean(waiting))
#' kde_query(fhat, eruptions < 2 | waiting > 90)
#' # from a sample of a larger table
#' kde_query(fhat, eruptions < 3, N = 1e6)
#' # with labels
#' synopsis <- kde_synopsis(iris, size = 100)
#' kde_query(synopsis, Species %in% c("setosa", "virginica") & Sepal.Length > 5)
#' @export
kde_query <- function(fhat, lower, upper, fun = c("count", "sum", "mean", "var", "quantile"), of = NULL, N = NULL,
                      level = 0.95, ..., prob = 0.5, threads = NULL, verbose = NULL) {
  check_arguments("kde_query", given_names(...))
  verbose <- asked_verbose(verbose)
  check_queried(fhat)
  expressions <- list(lower = if (!missing(lower)) substitute(lower), upper = if (!missing(upper)) substitute(upper))
  variables <- condition_variables(fhat)
  if (is_condition(expressions$lower) || is_flag(unwrapped(expressions$lower), variables)) {
    if (!missing(fun) || !is.null(of) || !missing(prob)) {
      abort_input("`fun`, `of` and `prob` must not be given with a condition: the quantity follows it, as in mean(x).")
    }
    query <- read_aggregate(expressions$upper, fhat$names, parent.frame())
    cells <- read_condition(expressions$lower, variables, parent.frame())
  } else {
    boxes <- list(lower = if (!missing(lower)) check_box_limits(lower, fhat$names, -Inf, "lower"),
                  upper = if (!missing(upper)) check_box_limits(upper, fhat$names, Inf, "upper"))
    query <- c(check_aggregate(fun, of, fhat$names), list(prob = check_level(prob, "prob")))
    cells <- list(c(pair_limits(boxes, fhat$names), list(sets = list())))
  }
  level <- check_level(level)
  source <- query_source(fhat)
  N <- if (is.null(N)) source$N else check_positive(N, "N")
  run <- run_options(threads)
  with_progress(verbose, "Queries", function(progress) {
    answer_cells(source, cells, query, N, level, replace(run, "progress", list(progress)))
  })
}

is_synopsis <- function(fhat) inherits(fhat, "kestrel_synopsis")

check_queried <- function(fhat) {
  if (is_synopsis(fhat)) return(check_object(fhat, "fhat", "kestrel_synopsis"))
  if (!inherits(fhat, "kestrel_kde")) {
    abort_input("`fhat` must be an estimate made by kde() or a synopsis made by kde_synopsis(), not ",
                describe_value(fhat), ".")
  }
  check_summable(check_estimate(fhat))
}

# Checks the aggregate: `fun`, and `of`, the number of a variable or NULL.
check_aggregate <- function(fun, of, names) {
  fun <- check_choice(fun, c("count", "sum", "mean", "var", "quantile"), "fun")
  if (fun == "count") {
    if (!is.null(of)) abort_input("`of` must not be given for fun = \"count\".")
    return(list(fun = fun, of = NULL))
  }
  number <- if (is.character(of)) match(without_class(of), names) else plain(of)
  if (!is_numbers(number) || length(number) != 1L || !number %in% seq_along(names)) {
    abort_input("`of` must be one of ", quoted(names, '"'), " or the number of one for fun = \"", fun, "\", not ",
                describe_value(of), ".")
  }
  list(fun = fun, of = as.integer(number))
}

# The limits that were given, as a matrix with one column for each variable. NULL if there are none.
check_box_limits <- function(limits, names, none, name) {
  if (is.null(limits)) return(NULL)
  d <- length(names)
  limits <- plain_points(limits)
  # Refuses other objects before their methods are called.
  if (is.object(limits)) limits <- as_points(limits, name)
  named <- readable(if (is.matrix(limits)) colnames(limits) else names(limits))
  # A vector is one box of several variables, or several boxes of one variable. In the latter case its names (those of
  # quantiles) are not columns.
  if (d == 1L && is.null(dim(limits)) && length(limits) > 1L) named <- NULL
  not_columns <- function(count) {
    abort_input("`", name, "` must have ", d, if (d == 1L) " column" else " columns", ", or columns named as those of ",
                "`fhat`, not ", count, ".")
  }
  if (is_numbers(limits) && length(dim(limits)) < 2L && (d > 1L || !is.null(named))) {
    if (is.null(named) && length(limits) != d) not_columns(length(limits))
    limits <- t(limits)
  }
  limits <- as_points(limits, name)
  if (anyNA(limits)) abort_input("`", name, "` must not have missing values, but ", sum(is.na(limits)), " are.")
  if (!is.null(named)) {
    at <- match(named, names)
    if (anyNA(at) || anyDuplicated(at) > 0L) {
      abort_input("`", name, "` must have different columns among ", quoted(names), ", not ", quoted(named), ".")
    }
    all <- matrix(none, nrow(limits), d)
    all[, at] <- limits
    return(all)
  }
  if (ncol(limits) != d) not_columns(ncol(limits))
  unname(limits)
}

# Lower and upper limits of the same number of boxes; NULL if there are none.
pair_limits <- function(query, names) {
  d <- length(names)
  lower <- if (is.null(query$lower)) matrix(-Inf, 1L, d) else query$lower
  upper <- if (is.null(query$upper)) matrix(Inf, 1L, d) else query$upper
  m <- if (nrow(lower) == 1L) nrow(upper) else nrow(lower)
  if (nrow(upper) != m && nrow(upper) != 1L) {
    abort_input("`lower` and `upper` must have the same number of boxes or one, not ", nrow(lower), " and ",
                nrow(upper), ".")
  }
  if (nrow(lower) != m) lower <- lower[rep(1L, m), , drop = FALSE]
  if (nrow(upper) != m) upper <- upper[rep(1L, m), , drop = FALSE]
  bad <- which(lower > upper | lower == Inf | upper == -Inf, arr.ind = TRUE)
  if (nrow(bad) > 0L) {
    i <- bad[1L, 1L]
    k <- bad[1L, 2L]
    abort_input("`lower` must not be above `upper`: in box ", i, " `", names[k], "` runs from ",
                describe_value(lower[i, k]), " to ", describe_value(upper[i, k]), ".")
  }
  list(lower = lower, upper = upper)
}

# The core divides distances by bandwidths and multiplies two of the quotients. With correlations the bandwidths of the
# mixture are smaller than those of H.
check_distances <- function(fhat, name = "fhat") {
  ends <- points_to_line(fhat$transform, ranges_cpp(fhat$x)) / 2
  spans <- ends[2L, ] - ends[1L, ]
  far <- which(spans > 1e140 * sqrt(diag(as.matrix(fhat$H))))
  if (length(far) == 0L) return()
  abort_input("`", name, "` must have data within 1e140 bandwidths of each other, but those of ",
              quoted(fhat$names[far[1L]]), " span ", format_short(2 * spans[far[1L]]), ".")
}

# Counts with their intervals, for an estimate from `n` of `N` rows. Of the shares in Wilson's interval about `within`,
# the share of these rows, the one farthest from the density's share bounds its error on both sides. Boxes that are
# `certain` hold no rows or all.
count_frame <- function(share, within, certain, N, n, level) {
  heard()
  c <- ifelse(certain, 0, stats::qnorm((1 + level) / 2)^2 * max(1 - n / N, 0) / n)
  middle <- (within + c / 2) / (1 + c)
  heard()
  error <- sqrt(c * within * (1 - within) + c^2 / 4) / (1 + c) + abs(share - middle)
  heard()
  data.frame(count = N * share, lower = N * pmax(share - error, 0), upper = N * pmin(share + error, 1))
}
