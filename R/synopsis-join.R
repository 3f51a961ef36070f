# Sizes of equi-joins from two synopses.

#' The size of a join from two synopses
#'
#' Estimates how many pairs of rows of two tables have the same key, from a synopsis of each. A database needs this to
#' order joins, and a person to know whether a result will fit into memory.
#'
#' @section Method: Keys are numbers in steps of `spacing`: 1 for identifiers and days, 0.01 for prices. A table of N
#' rows and density f has about N s f(v) rows with the key v, where s is the spacing. So the join has
#' \deqn{\sum_v N_x s f_x(v) \, N_y s f_y(v)}{sum over v of N_x s f_x(v) N_y s f_y(v)}
#' rows. The sum is over the keys in the range of both tables and between `lower` and `upper`. It is that of all keys if
#' there are at most 100,000. Otherwise the product of the densities is integrated by the midpoint rule in 100,000 cells
#' of equal width. The densities are those of the keys alone, with the bandwidths of the synopses, and are reflected
#' half a step beyond the range of their table (Silverman 1986, section 2.10), so that all rows are within it.
#'
#' @section Error: Densities know how many rows have about the same key. They do not know whether the same keys occur in
#' both tables. The estimate assumes that near a key the numbers of rows in the two tables do not depend on each other.
#' So it is wrong for tables that have no key in common, such as the even and the odd numbers.
#'
#' The interval has two parts. The estimate is a mean over pairs of rows of two samples. Its variance is that of the
#' means of each row over the rows of the other sample, divided by the number of rows (Hoeffding 1948), and is less for
#' a large part of a table. Smoothing has a bias, which is about proportional to the square of the bandwidths. When all
#' bandwidths are multiplied by the root of 2, the estimate changes by about as much, and this change is added on both
#' sides. Keys with many more rows than their neighbours are smoothed away, and the interval does not show it. If they
#' are the same keys in both tables, the join is larger than estimated. The interval ends at 0 and at the number of all
#' pairs.
#'
#' @param x,y objects made by [kde_synopsis()], with the Gaussian kernel.
#' @param by the name of the key in both, or in `x` and in `y`.
#' @param lower,upper the least and the largest key, or several of each for as many ranges; in the units of the key.
#' @param spacing the difference between two keys, in these units.
#' @param level the probability that intervals should have.
#' @param ... no further arguments: other names are an error, which says what may have been meant.
#' @param threads the number of threads. The default is [kestrel_threads()].
#' @return A data frame with a row for each range, and the columns `count`, the number of pairs of rows, `lower` and
#'   `upper`.
#' @section Units: Keys are in those of the variable: days for dates, seconds for times. Counts are pairs of rows.
#' @section Errors: Errors of class `kestrel_error_input` are for synopses with another kernel, for a `by` that is not
#'   the name of a variable of both, or of variables of different types, and for ranges that do not fit.
#' @section Cost: Three densities of each table, two of them at as many points as there are keys, at most 100,000:
#'   O(n + m) for n rows and m points, some tens of milliseconds for each range.
#' @references Hoeffding, W. (1948) A class of statistics with asymptotically normal distribution. *Annals of
#'   Mathematical Statistics* **19**, 293-325.
#'
#'   Silverman, B. W. (1986) *Density Estimation for Statistics and Data Analysis*. Chapman & Hall.
#' @seealso [kde_query()], [kde_synopsis()]
#' @examples
#' set.seed(1)
#' orders <- data.frame(customer = ceiling(1000 * rbeta(20000, 2, 4)), price = rexp(20000))
#' visits <- data.frame(customer = ceiling(1000 * rbeta(50000, 3, 3)))
#' kde_join(kde_synopsis(orders, size = 1000), kde_synopsis(visits, size = 1000), by = "customer")
#' sum(tabulate(orders$customer, 1000) * as.numeric(tabulate(visits$customer, 1000)))
#' @export
kde_join <- function(x, y, by, lower = -Inf, upper = Inf, spacing = 1, level = 0.95, ..., threads = NULL) {
  check_arguments("kde_join", given_names(...))
  by <- check_join_key(x, y, if (!missing(by)) by)
  spacing <- check_positive(spacing, "spacing")
  level <- check_level(level)
  limits <- pair_limits(list(lower = check_box_limits(lower, by[1L], -Inf, "lower"),
                             upper = check_box_limits(upper, by[1L], Inf, "upper")), by[1L])
  threads <- run_options(threads)$threads
  keys <- list(key_density(x, by[1L], spacing, threads), key_density(y, by[2L], spacing, threads))
  from <- max(keys[[1L]]$range[1L], keys[[2L]]$range[1L])
  to <- min(keys[[1L]]$range[2L], keys[[2L]]$range[2L])
  answers <- lapply(seq_along(limits$lower), function(k) {
    range <- c(max(from, limits$lower[k]), min(to, limits$upper[k]))
    if (range[1L] > range[2L]) return(c(0, 0, 0))
    size_of_join(keys, range + c(-0.5, 0.5) * spacing, spacing, level)
  })
  stats::setNames(as.data.frame(do.call(rbind, answers)), c("count", "lower", "upper"))
}

most_join_cells <- 1e5

check_join_key <- function(x, y, by) {
  given <- list(x = x, y = y)
  for (name in names(given)) {
    kernel <- check_object(given[[name]], name, "kestrel_synopsis")$kernel
    if (is_compact(kernel)) abort_input("`", name, "` must have the Gaussian kernel, not \"", kernel, "\".")
  }
  known <- if (is.character(by) && length(by) %in% 1:2 && !anyNA(by)) rep_len(as.vector(without_class(by)), 2L)
  if (is.null(known) || !known[1L] %in% x$names || !known[2L] %in% y$names) {
    abort_input("`by` must be a variable of both synopses, or one of each: ", quoted(x$names), " and ", quoted(y$names),
                ", not ", describe_value(by), ".")
  }
  types <- c(x$types[match(known[1L], x$names)], y$types[match(known[2L], y$names)])
  if (types[1L] != types[2L]) abort_input("`by` must name variables of one type, not ", quoted(types), ".")
  known
}

# The density of a key, at(points, factor) with a multiple of the bandwidth; its range in the table; the rows that are
# kept, `x`, and their weights; and N.
key_density <- function(synopsis, name, spacing, threads) {
  k <- match(name, synopsis$names)
  x <- synopsis$x[, k]
  w <- row_weights(synopsis)
  bounds <- synopsis$ranges[, k] + c(-0.5, 0.5) * spacing
  at <- function(points, factor = 1) {
    kde(x, h = factor * sqrt(synopsis$H[k, k]), w = w, bounds = bounds, eval.points = points, threads = threads,
        compute.cont = FALSE)$estimate
  }
  list(at = at, range = synopsis$ranges[, k], x = x, w = w / sum(w), N = synopsis$N)
}

# The number of pairs with keys between the ends, and its interval.
size_of_join <- function(keys, ends, spacing, level) {
  cells <- min(max(1, round((ends[2L] - ends[1L]) / spacing)), most_join_cells)
  width <- (ends[2L] - ends[1L]) / cells
  middles <- ends[1L] + (seq_len(cells) - 0.5) * width
  pairs <- keys[[1L]]$N * keys[[2L]]$N * spacing
  size <- function(factor) pairs * width * sum(keys[[1L]]$at(middles, factor) * keys[[2L]]$at(middles, factor))
  count <- size(1)
  # What each row adds is the other table's density at its key.
  variance <- function(key, other) {
    inside <- key$x >= ends[1L] & key$x <= ends[2L]
    added <- numeric(length(key$x))
    added[inside] <- other$at(key$x[inside])
    n <- 1 / sum(key$w^2)
    if (n < 1.5) return(if (n < key$N) Inf else 0)
    max(1 - n / key$N, 0) * n / (n - 1) * sum(key$w^2 * (added - sum(key$w * added))^2)
  }
  error <- pairs * sqrt(variance(keys[[1L]], keys[[2L]]) + variance(keys[[2L]], keys[[1L]]))
  half <- stats::qnorm((1 + level) / 2) * error + abs(size(sqrt(2)) - count)
  c(count, max(count - half, 0), min(count + half, keys[[1L]]$N * keys[[2L]]$N))
}
