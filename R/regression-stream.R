# Regressions by compact kernels of more rows than memory, from sources that are sorted by the regressor. An observation
# is fitted when all rows within the largest bandwidth have been read, and dropped when nothing reaches it any more.

#' Kernel regression of more rows than memory
#'
#' Cross-validation of bandwidths for a regression on one variable by a compact kernel, and the fit at points, of rows
#' that are never all in memory. The rows are read once, in chunks, and must be sorted by the regressor. The sums are
#' those of [npregbw()] and [npreg()] for all rows together.
#'
#' For the Gaussian kernel and rows in any order see [kde_sketch()]: [npregbw()] takes a sketch.
#'
#' @section Sources: A source is read by [next_chunk()], as those of [kde_sketch()]. A database sorts the rows:
#'   `SELECT x, y FROM t ORDER BY x`. Files may be sorted one by one, if all values in one are at most those in the
#'   next: a list of sources is read one after another. A source that is not sorted is refused at its first row that is
#'   less than the row before.
#' @section Units: Bandwidths and points are in the units of the regressor, and fits in those of the response. The
#'   criterion `"cv.ls"` is in those of the squared response, and `"cv.aic"` has none.
#' @section Errors: Errors of class `kestrel_error_input` are for
#'
#'   - sources that are not sorted, that have infinite values, missing values where `na.action` is [stats::na.fail], or
#'     fewer than two rows;
#'   - kernels that are not compact;
#'   - bandwidths that all leave observations without neighbours.
#'
#'   They have the fields `source` and `chunk` if they are about a chunk.
#' @section Cost: For n rows, b bandwidths and m points O(b (n + m)) time, about 0.2 microseconds for each row and
#'   bandwidth on one thread, on all threads. Memory is in proportion to a chunk and to the rows within the largest
#'   window.
#' @param source a source, or a list of sources, see the section on these.
#' @param y the name of the column of the response.
#' @param bws bandwidths, positive numbers, on the scale of `bw.scale`. The one with the least criterion is chosen.
#' @param exdat points to fit at, a numeric vector, or NULL for none.
#' @param ... no further arguments.
#' @param column the name of the column of the regressor. It is not needed if there are only two.
#' @param regtype,bwmethod,bw.scale,unsupported as in [npregbw()].
#' @param ckertype a compact kernel of [npregbw()].
#' @param na.action what to do with rows that have missing values: [stats::na.fail] ends in an error, [stats::na.omit]
#'   leaves them out.
#' @param threads as in [npregbw()].
#' @return A list:
#'   \item{bw}{the bandwidth with the least criterion}
#'   \item{fval}{the criterion there}
#'   \item{curve}{a data frame with the columns `bw`, the bandwidths in ascending order, `cv`, the criterion, and
#'     `unsupported`, the number of observations without a neighbour. `cv` is NA where there are any, unless
#'     `unsupported` is `"exclude"`}
#'   \item{fit}{a data frame with the columns `x`, the points, and `mean`, the fit with the bandwidth `bw`, NA without a
#'     neighbour; NULL without points}
#'   \item{nobs}{the number of rows}
#'   and `regtype`, `bwmethod`, `ckertype`, `bw.scale`, `xname` and `yname`.
#' @references Langrene, N. & Warin, X. (2019) Fast and stable multivariate kernel density estimation by fast sum
#'   updating. *Journal of Computational and Graphical Statistics* **28**, 596-608. (Sums over windows of sorted data.)
#'
#'   Rohlfs, C. & Zahran, M. (2017) Optimal bandwidth selection for kernel regression using a fast grid search and a
#'   GPU. *IEEE International Parallel and Distributed Processing Symposium Workshops*, 550-556.
#' @seealso [npregbw()], [npreg()], [kde_sketch()], [kde_stream()]
#' @examples
#' # a source of sorted rows that is read in chunks of 50
#' rows <- faithful[order(faithful$eruptions), ]
#' at <- 0
#' chunks <- function(reset) {
#'   if (reset) at <<- 0
#'   if (reset || at >= nrow(rows)) return(NULL)
#'   chunk <- rows[seq(at + 1, min(at + 50, nrow(rows))), ]
#'   at <<- at + 50
#'   chunk
#' }
#' found <- npreg_stream(chunks, y = "waiting", bws = 1:8 / 10, exdat = 2:5)
#' found$curve
#' found$fit
#'
#' # the same in memory
#' npregbw(waiting ~ eruptions, faithful, bws = 1:8 / 10, ckertype = "epanechnikov")$fval
#' @export
npreg_stream <- function(source, y, bws, exdat = NULL, ..., column = NULL, regtype = c("lc", "ll"),
                         bwmethod = c("cv.ls", "cv.aic"), ckertype = "epanechnikov", bw.scale = c("np", "support"),
                         unsupported = c("reject", "exclude"), na.action = stats::na.fail, threads = NULL) {
  check_arguments("npreg_stream", given_names(...))
  asked <- list(regtype = check_choice(regtype, c("lc", "ll"), "regtype"),
                method = check_choice(bwmethod, c("cv.ls", "cv.aic"), "bwmethod"),
                ckertype = check_choice(ckertype, regression_kernels(), "ckertype"), ckerorder = 2,
                bw.scale = check_choice(bw.scale, c("np", "support"), "bw.scale"), scaling = FALSE, type = "fixed",
                unsupported = check_choice(unsupported, c("reject", "exclude"), "unsupported"))
  if (asked$ckertype == "gaussian") {
    abort_input("`ckertype` must be a compact kernel, such as \"epanechnikov\", not \"gaussian\". For that one: ",
                "npregbw(kde_sketch(source, plan)).")
  }
  plan <- list(column = if (!is.null(column)) check_column_names(column, 1L), weight = "",
               response = check_column_name(if (!missing(y)) y, "y"))
  bw <- sort(unique(check_positives(if (!missing(bws)) bws, "bws", limits = regression_limits)))
  points <- check_stream_points(exdat)
  run <- run_options(threads)
  window <- sliding_window(bw * unit_of(asked), sort(points), asked, run)
  reading <- check_reading(source, list(future = FALSE, na.action = na.action, threads = threads), "source")
  read <- read_sources(reading$sources, plan, reading$na.action, function(rows) window$add(rows$x, rows$w), most = 1L,
                       check_second = function(w, plan, k) NULL)
  found <- window$finish()
  if (found$n < 2) abort_input("`source` must have at least two rows, not ", found$n, ".")
  curve <- stream_curve(bw, found, asked)
  best <- which.min(curve$cv)
  if (length(best) == 0L) {
    abort_input("`bws` must have a bandwidth that gives every observation a neighbour; at ",
                describe_value(bw[length(bw)]), " ", curve$unsupported[length(bw)], " of ", found$n, " have none",
                if (asked$unsupported == "reject") "; unsupported = \"exclude\" leaves them out", ".")
  }
  list(bw = bw[best], fval = curve$cv[best], curve = curve,
       fit = if (!is.null(exdat)) data.frame(x = points, mean = found$mean[order(order(points)), best]),
       nobs = found$n, regtype = asked$regtype, bwmethod = asked$method, ckertype = asked$ckertype,
       bw.scale = asked$bw.scale, xname = if (nzchar(read$column)) read$column else "x", yname = plan$response)
}

check_stream_points <- function(exdat) {
  if (is.null(exdat)) return(numeric(0))
  points <- plain_points(exdat)
  if (!is_numbers(points) || !all(is.finite(points))) {
    abort_input("`exdat` must be numbers, all finite, not ", describe_value(exdat), ".")
  }
  as.numeric(points)
}

stream_curve <- function(bw, found, asked) {
  n <- found$n
  cv <- if (asked$method == "cv.ls") found$sums$squares / n else
    corrected_aic(found$sums$insample / n, found$sums$trace, n)
  missing <- found$sums$unsupported >= if (asked$unsupported == "exclude") n else 1
  data.frame(bw = bw, cv = ifelse(missing, NA_real_, cv), unsupported = found$sums$unsupported)
}

# Rows that are fitted together, at least, so that small chunks cost no more than large ones.
rows_of_window <- 1e5

# The rows between those that have been fitted and those that have not come. add(x, y) takes the next rows, finish()
# returns the number of all, the sums of regression_cv_cpp() for each of the bandwidths `h`, and the fits at the points,
# a row for each.
sliding_window <- function(h, points, asked, run) {
  x <- y <- numeric(0)
  coming <- list()
  waiting <- n <- done <- fitted <- 0 # rows not in x yet; all rows; those of x that have been left out, and points
  last <- -Inf
  sums <- lapply(c(squares = 0, insample = 0, trace = 0, unsupported = 0), rep, times = length(h))
  mean <- matrix(NA_real_, length(points), length(h))
  # A little wider than windows, whose ends are rounded differences.
  reach_at <- function(at) max(h) * (1 + 1e-9) + 1e-15 * abs(at)

  take <- function() {
    x <<- c(x, unlist(lapply(coming, `[[`, "x")))
    y <<- c(y, unlist(lapply(coming, `[[`, "y")))
    coming <<- list()
    waiting <<- 0
  }
  # Fits what no row to come can reach: rows and points below `limit`.
  fit_below <- function(limit) {
    end <- findInterval(limit, x, left.open = TRUE)
    if (end > done) {
      rows <- seq(done + 1, end)
      near <- which(x >= x[done + 1] - reach_at(x[done + 1]) & x <= x[end] + reach_at(x[end]))
      near <- near[near <= done | near > end]
      # Neighbours count in the fits of the others, as images of a periodic variable do.
      sample <- list(x = x[c(rows, near)], y = y[c(rows, near)], w = ones_cpp(length(rows) + length(near)),
                     images = integer(length(near)))
      found <- regression_cv_cpp(regression_cpp(sample, run), local_fits(h, asked), run)
      for (name in names(sums)) sums[[name]] <<- sums[[name]] + found[[name]]
      done <<- end
    }
    last_point <- findInterval(limit, points, left.open = TRUE)
    if (last_point > fitted) {
      at <- seq(fitted + 1, last_point)
      sorted <- regression_cpp(list(x = x, y = y, w = ones_cpp(length(x))), run)
      for (k in seq_along(h)) {
        mean[at, k] <<- regression_fit_cpp(sorted, local_fits(h[k], asked), points[at], numeric(0), FALSE, run)$mean
      }
      fitted <<- last_point
    }
  }
  # Drops rows that are out of reach of all that follows.
  drop <- function() {
    next_one <- min(if (done < length(x)) x[done + 1] else last, if (fitted < length(points)) points[fitted + 1])
    gone <- min(done, findInterval(next_one - reach_at(next_one), x, left.open = TRUE))
    if (gone == 0) return()
    x <<- x[-seq_len(gone)]
    y <<- y[-seq_len(gone)]
    done <<- done - gone
  }
  add <- function(new_x, new_y) {
    if (is.unsorted(c(last, new_x))) {
      at <- which(diff(c(last, new_x)) < 0)[1L]
      abort_input("`source` must be sorted by its regressor, but row ", n + at, " has ", describe_value(new_x[at]),
                  " after ", describe_value(c(last, new_x)[at]), ". A database sorts by ORDER BY.")
    }
    n <<- n + length(new_x)
    last <<- new_x[length(new_x)]
    coming <<- c(coming, list(list(x = new_x, y = new_y)))
    waiting <<- waiting + length(new_x)
    # At least as many as were kept, so that rows are not kept again and again.
    if (waiting < max(rows_of_window, length(x))) return()
    take()
    fit_below(last - reach_at(last))
    drop()
  }
  finish <- function() {
    take()
    if (n > 1) fit_below(Inf)
    list(n = n, sums = sums, mean = mean)
  }
  list(add = add, finish = finish)
}
