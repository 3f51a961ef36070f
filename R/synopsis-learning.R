# Upkeep of synopses: bandwidths learn from counts that turned out, and rows are drawn anew as the table changes.

#' Learn from counts that turned out
#'
#' After queries have been answered exactly elsewhere, `learn()` moves the bandwidths of a synopsis so that its errors
#' on such queries become smaller (Heimel, Kiefer & Markl 2015). It also keeps a balance for each row, its karma. Rows
#' that mislead are replaced by `refresh()`, which brings a synopsis up to date with its table in a database.
#'
#' @section Learning: The queries are taken in their order, `batch` at a time. For each batch the loss is the mean of
#' (log estimate - log truth)^2, where counts below one row are raised to one. Its gradient in the logarithms of the
#' bandwidths is that of the closed form of the answers. A step of RMSprop follows: the gradient is divided by the root
#' of its mean square, an average in which each step counts a tenth, and multiplied by `rate`. A bandwidth stays within
#' a factor of 64 of its value before the call. Batches of later calls go on from there.
#'
#' The karma of a row grows by the loss of a query without the row minus that with it, times the number of rows and the
#' share of the query. It is at most 3. A row below -3 misleads. A row that lies in boxes whose counts are far too large
#' gets there after some queries. Random errors seldom bring it there.
#'
#' @section Refreshing: With a `key` (see [kde_synopsis()]), rows that were deleted are found by their keys, and rows
#' that were inserted by keys above the largest one that was known. As many inserted rows are accepted as a simple
#' random sample of the table of today has (a hypergeometric number), and as many of the rows that are left are kept. If
#' too many were deleted, the synopsis has fewer rows. Rows that were changed in place are not noticed. Rows that
#' mislead are replaced by random ones of the table.
#'
#' Without a key, or when less than half of the rows would be left, all rows are drawn anew. The bandwidths stay as they
#' are in any case. So refresh a synopsis first when its table has changed, and let it learn then: where rows are
#' missing, bandwidths would grow to make up for them.
#'
#' @param synopsis an object made by [kde_synopsis()], with the Gaussian kernel and a diagonal `H`.
#' @param boxes a list with `lower` and `upper`, limits of boxes as in [kde_query()].
#' @param counts the true counts, one for each box.
#' @param con a connection of \pkg{DBI} to the database of which the synopsis was made.
#' @param batch how many queries make a step.
#' @param rate the largest change of the logarithm of a bandwidth in a typical step.
#' @param ... no further arguments: other names are an error, which says what may have been meant.
#' @return The synopsis with other bandwidths or rows. Its `history` is a data frame with a row for each batch that was
#'   learned, and for each time that it was refreshed:
#'   \item{event, queries}{`"learn"` or `"refresh"`, and how many queries were learned}
#'   \item{median, largest}{of the q-errors of these queries before they were learned}
#'   \item{replaced}{how many rows were replaced}
#'   Its `learning` has the mean squares of the gradients, `squares`, and the `karma` of each row.
#' @section Units: Limits are in the units of the variables. Counts are numbers of rows of the table.
#' @section Errors: Errors of class `kestrel_error_input` are for
#'
#'   - synopses with another kernel or with correlations, which cannot learn;
#'   - boxes and counts that do not fit, and a `rate` that is not positive;
#'   - synopses that were not made of a database, and all errors of the database. The synopsis is then as it was.
#' @section Cost: `learn()` takes O(n d) for each query, about 3 ms for 5,000 rows of three variables. `refresh()` lets
#'   the database count rows and categories, and reads the inserted rows; without a key that of [kde_synopsis()].
#' @references Heimel, M., Kiefer, M. & Markl, V. (2015) Self-tuning, GPU-accelerated kernel density models for
#'   multidimensional selectivity estimation. *Proceedings of SIGMOD 2015*, 1477-1492.
#' @seealso [kde_synopsis()], [q_error()]
#' @examples
#' set.seed(1)
#' table <- quakes[c("depth", "mag")]
#' synopsis <- kde_synopsis(table, size = 200, H = diag(c(200, 1)^2))
#' # forty boxes whose counts are known
#' lower <- as.matrix(table[1:40, ]) - rep(c(60, 0.3), each = 40)
#' upper <- as.matrix(table[1:40, ]) + rep(c(60, 0.3), each = 40)
#' counts <- sapply(1:40, function(i) {
#'   sum(table$depth >= lower[i, 1] & table$depth <= upper[i, 1] &
#'         table$mag >= lower[i, 2] & table$mag <= upper[i, 2])
#' })
#' learned <- learn(synopsis, list(lower = lower, upper = upper), counts, rate = 0.5)
#' learned$history
#' plot(learned)
#' @export
learn <- function(synopsis, boxes, counts, batch = 10, rate = 0.1, ...) {
  check_arguments("learn", given_names(...))
  check_object(synopsis, "synopsis", "kestrel_synopsis")
  if (is_compact(synopsis$kernel) || !is_diagonal(synopsis$H)) {
    abort_input("`synopsis` must have the Gaussian kernel and a diagonal bandwidth matrix.")
  }
  boxes <- check_known_boxes(boxes, synopsis$names, "boxes")
  counts <- check_counts(counts, "counts")
  if (ncol(counts) != 1L || nrow(counts) != nrow(boxes$lower)) {
    abort_input("`counts` must be a vector of ", nrow(boxes$lower), " counts, one for each box, not ",
                if (ncol(counts) == 1L) nrow(counts) else describe_value(unname(counts)), ".")
  }
  batch <- check_count(batch, "batch")
  rate <- check_positive(rate, "rate")
  boxes <- within_ranges(boxes, synopsis$ranges)
  d <- ncol(synopsis$x)
  state <- synopsis$learning
  if (is.null(state)) state <- list(squares = rep(0, d), karma = rep(0, nrow(synopsis$x)))
  first <- log(diag(synopsis$H)) / 2
  log_h <- first
  for (queries in split(seq_along(counts), (seq_along(counts) - 1) %/% batch)) {
    found <- lapply(queries, function(q) {
      heard()
      query_gradient(synopsis, exp(log_h), boxes$lower[q, ], boxes$upper[q, ], counts[q])
    })
    errors <- exp(abs(vapply(found, `[[`, 0, "error")))
    synopsis$history <- add_event(synopsis, "learn", length(queries), stats::median(errors), max(errors), 0)
    gradient <- rowMeans(matrix(unlist(lapply(found, `[[`, "gradient")), d))
    state$squares <- 0.9 * state$squares + 0.1 * gradient^2
    step <- ifelse(state$squares > 0, rate * gradient / sqrt(state$squares), 0)
    log_h <- pmin(pmax(log_h - step, first - log(64)), first + log(64))
    for (one in found) state$karma <- pmin(state$karma + one$karma, largest_karma)
  }
  synopsis$H <- diag(exp(2 * log_h), d)
  synopsis$learning <- state
  synopsis
}

# Rows mislead below its negative.
largest_karma <- 3

# A list with limits of boxes, as matrices.
check_known_boxes <- function(queries, names, name) {
  queries <- without_class(queries)
  if (!is.list(queries) || !all(c("lower", "upper") %in% names(queries))) {
    abort_input("`", name, "` must be a list with `lower` and `upper`, not ", describe_value(queries), ".")
  }
  pair_limits(list(lower = check_box_limits(queries$lower, names, -Inf, paste0(name, "$lower")),
                   upper = check_box_limits(queries$upper, names, Inf, paste0(name, "$upper"))), names)
}

# Of one query: `error`, log estimate - log truth; the gradient of its square in the logarithms of the bandwidths h; and
# what it adds to the karma of each row.
query_gradient <- function(synopsis, h, lower, upper, truth) {
  n <- nrow(synopsis$x)
  w <- row_weights(synopsis) / n
  if (has_images(synopsis$transform)) h <- pmin(h, widest_summed(synopsis$transform))
  # The mass of each row's kernel between the limits of each variable, and its derivative in log h.
  parts <- lapply(seq_along(h), function(k) {
    images <- images_of_range(synopsis$transform, k, lower[k], upper[k], image_reach(synopsis$kernel) * h[k])
    each <- Map(function(from, to) mass_of_rows(synopsis$x[, k], h[k], from, to), images$from, images$to)
    list(mass = Reduce(`+`, lapply(each, `[[`, "mass")), slope = Reduce(`+`, lapply(each, `[[`, "slope")))
  })
  masses <- vapply(parts, `[[`, numeric(n), "mass")
  dim(masses) <- c(n, length(h))
  of_row <- apply(masses, 1L, prod)
  share <- sum(w * of_row)
  loss_at <- function(share) log(pmax(synopsis$N * share, 1)) - log(max(truth, 1))
  error <- loss_at(share)
  slopes <- vapply(seq_along(h), function(k) {
    others <- apply(masses[, -k, drop = FALSE], 1L, prod)
    sum(w * others * parts[[k]]$slope)
  }, 0)
  # Estimates below one row are raised to it, and do not change with h.
  gradient <- if (synopsis$N * share > 1) 2 * error * slopes / share else 0 * slopes
  without <- loss_at(pmax(share - w * of_row, 0) / (1 - w))
  list(error = error, gradient = gradient, karma = if (n > 1L) n * share * (without^2 - error^2) else 0)
}

# The mass of the kernel of each row between two limits, and its derivative in log h.
mass_of_rows <- function(x, h, from, to) {
  to <- (to - x) / h
  from <- (from - x) / h
  slope <- function(z) ifelse(is.finite(z), z * stats::dnorm(z), 0)
  # Of two tails the difference of the smaller ones is exact.
  mass <- ifelse(from > 0, stats::pnorm(-from) - stats::pnorm(-to), stats::pnorm(to) - stats::pnorm(from))
  list(mass = mass, slope = slope(from) - slope(to))
}

# The history with one row more.
add_event <- function(synopsis, event, queries, median, largest, replaced) {
  rbind(synopsis$history, data.frame(event = event, queries = queries, median = median, largest = largest,
                                     replaced = replaced))
}

# "learned 40 queries, refreshed once".
history_text <- function(history) {
  queries <- sum(history$queries)
  times <- sum(history$event == "refresh")
  paste(c(if (queries > 0) paste("learned", queries, if (queries == 1) "query" else "queries"),
          if (times > 0) paste("refreshed", if (times == 1) "once" else paste(times, "times"))), collapse = ", ")
}

label_of_learning <- "q-error before the batch was learned"

# Of the queries so far: their number; the number at the end of each batch with its q-errors; the numbers at refreshes.
learned_batches <- function(x) {
  check_object(x, "x", "kestrel_synopsis")
  learned <- if (!is.null(x$history)) x$history$event == "learn" else FALSE
  if (!any(learned)) abort_input("`x` must have learned from queries before its q-errors can be drawn, see ?learn.")
  queries <- cumsum(x$history$queries)
  batches <- data.frame(queries, median = x$history$median, largest = x$history$largest)[learned, ]
  list(queries = max(queries), batches = batches, refreshed = queries[!learned])
}

#' @rdname kde_synopsis
#' @export
plot.kestrel_synopsis <- function(x, ...) {
  learned <- learned_batches(x)
  more <- list(...)
  empty_plot(c(0, learned$queries), c(1, max(learned$batches$largest)), more, log = "y", xlab = "Queries",
             ylab = label_of_learning)
  look <- look_of(more, col = kind_colours(2L), lwd = 2, lty = c(1, 3))
  drawing_with(more, {
    graphics::abline(v = learned$refreshed, col = "grey60")
    for (k in 1:2) {
      graphics::lines(learned$batches$queries, learned$batches[[k + 1L]], col = rep_len(look$col, 2L)[k],
                      lwd = rep_len(look$lwd, 2L)[k], lty = rep_len(look$lty, 2L)[k])
    }
    graphics::legend("topright", c("median", "largest"), bty = "n", col = look$col, lty = look$lty, lwd = look$lwd)
  })
  invisible(x)
}
