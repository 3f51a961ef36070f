# A test of serial dependence by the entropy of Granger, Maasoumi & Racine (2004).

#' Test of serial dependence by an entropy
#'
#' Tests whether the values of a series depend on earlier ones, by the normalized Hellinger distance between the density
#' of values at a lag and the product of the densities of each (Granger, Maasoumi & Racine 2004), and a bootstrap.
#' Names, arguments and fields are those of package \pkg{np}.
#'
#' At lag k the statistic is that of [npdeptest()] for the pairs of x_t and x_(t + k), t = 1, ..., n - k. The cumulative
#' statistic is the sum of those of the lags 1 to k. Bootstrap samples are series of n values, drawn from the data with
#' replacement, with the bandwidths of the data. P is the share of samples with a larger statistic.
#'
#' Bandwidths are by default those of [npudensbw()] by likelihood cross-validation, of the Gaussian kernel.
#'
#' Statistics are those of \pkg{np} 0.60 at the same bandwidths, but for the errors of its quadrature. These are the
#' differences:
#'
#'   - A bootstrap sample has at each lag its own pairs. \pkg{np} takes the pairs at the lag `lag.num` for all lags.
#'     Then the statistics of a sample at all lags are nearly equal, and their sum varies too much. With the script in
#'     the example \pkg{np} has a correlation of 0.92, where it should be near 0.
#'   - A series with missing values is refused. \pkg{np} leaves them out and joins the values around them, so that pairs
#'     there have another lag.
#'   - Bandwidths may be given.
#'   - Draws follow from `random.seed` alone, are the same for any number of threads, and leave the random numbers of
#'     the session as they are.
#'
#' @param data a numeric vector or a time series, in the order of time.
#' @param lag.num the largest lag, at most three less than the number of values.
#' @param method `"integration"` or `"summation"`, see [npdeptest()].
#' @param bootstrap if FALSE, compute the statistics only.
#' @param boot.num number of bootstrap samples, at least 9.
#' @param random.seed a whole number, which determines the draws.
#' @param bw.y,bw.y.lag bandwidths of x_t and of x_(t + k), one for each lag, selected if NULL.
#' @param bw.joint bandwidths of both together, a matrix with a row for each lag and two columns, or for one lag two
#'   numbers. They are selected if NULL.
#' @param threads,verbose as in [npregbw()].
#' @param ... no further arguments.
#' @return An object of class `c("kestrel_sdeptest", "sdeptest")`, a list with
#'   \item{Srho, Srho.cumulant}{the statistics, and their cumulative sums, one for each lag}
#'   \item{Srho.bootstrap.mat, Srho.cumulant.bootstrap.mat}{those of the samples, a row for each sample and a column for
#'     each lag; NA without bootstrap}
#'   \item{P, P.cumulant}{their P values, NA without bootstrap}
#'   \item{bw.y, bw.y.lag, bw.joint}{the bandwidths, `bw.joint` a matrix}
#'   \item{reject, rejectNum}{marks of significance of `P` and their levels, as in [npsigtest()]}
#'   and `lag.num`, `boot.num`, `bootstrap`, `method`, `nobs`, `random.seed`, `seconds`, `call`.
#' @section Units: Statistics have none. Bandwidths are in the units of the data.
#' @section Errors: Errors of class `kestrel_error_input` are for data that are not finite numbers, constant, or too few
#'   for `lag.num`, and for bandwidths that are not positive or not as many as lags.
#' @section Cost: As [npdeptest()], at each lag.
#' @references Granger, C.W., Maasoumi, E. & Racine, J.S. (2004) A dependence metric for possibly nonlinear processes.
#'   *Journal of Time Series Analysis* **25**, 649-669.
#' @seealso [npdeptest()]
#' @examples
#' returns <- diff(log(EuStockMarkets[1:101, "DAX"]))
#' npsdeptest(returns, lag.num = 2, method = "summation", boot.num = 19)
#'
#' # the correlation of the statistics of two lags in bootstrap samples
#' script <- function(npsdeptest) {
#'   test <- npsdeptest(as.numeric(lh), lag.num = 2, method = "summation", boot.num = 99)
#'   cor(test$Srho.bootstrap.mat)[1, 2]
#' }
#' script(npsdeptest) # and script(np::npsdeptest)
#' @export
npsdeptest <- function(data = NULL, lag.num = 1, method = c("integration", "summation"), bootstrap = TRUE,
                       boot.num = 399, random.seed = 42, ..., bw.y = NULL, bw.y.lag = NULL, bw.joint = NULL,
                       threads = NULL, verbose = NULL) {
  started <- proc.time()[["elapsed"]]
  call <- match.call()
  check_arguments("npsdeptest", given_names(...))
  asked <- entropy_choices(method, bootstrap, boot.num, random.seed)
  verbose <- asked_verbose(verbose)
  x <- entropy_data(data, "data")
  lags <- check_count(lag.num, "lag.num")
  if (lags > length(x) - 3) {
    abort_input("`lag.num` must be at most ", length(x) - 3L, ", three less than the number of values, not ",
                describe_value(lag.num), ".")
  }
  h <- lag_bandwidths(x, lags, bw.y, bw.y.lag, bw.joint, threads, verbose)
  found <- with_bar_if(verbose, "Test of serial dependence", lags * asked$count, function(move) {
    lapply(seq_len(lags), function(k) {
      serial_statistics(x, k, c(h$y[k], h$lag[k]), h$joint[k, ], asked, run_options(threads, "cpu"), function(done) {
        move((k - 1) * asked$count + done)
      })
    })
  })
  Srho <- vapply(found, `[[`, 0, "Srho")
  replicates <- if (asked$bootstrap) matrix(unlist(lapply(found, `[[`, "replicates")), asked$count)
  cumulated <- if (asked$bootstrap) matrix(apply(replicates, 1L, cumsum), asked$count, byrow = lags > 1L)
  P_of <- function(drawn, value) {
    if (asked$bootstrap) colMeans(drawn > rep(value, each = asked$count)) else rep(NA_real_, lags)
  }
  P <- P_of(replicates, Srho)
  marks <- marks_of(P)
  structure(list(Srho = Srho, Srho.cumulant = cumsum(Srho),
                 Srho.bootstrap.mat = if (is.null(replicates)) NA else replicates,
                 Srho.cumulant.bootstrap.mat = if (is.null(cumulated)) NA else cumulated, P = P,
                 P.cumulant = P_of(cumulated, cumsum(Srho)), bootstrap = asked$bootstrap, boot.num = asked$count,
                 lag.num = lags, bw.y = h$y, bw.y.lag = h$lag, bw.joint = h$joint, method = asked$method,
                 nobs = length(x), reject = marks$reject, rejectNum = marks$rejectNum,
                 random.seed = as.numeric(random.seed), call = call, seconds = proc.time()[["elapsed"]] - started),
            class = c("kestrel_sdeptest", "sdeptest"))
}

# Values at the lag k are x[first] and x[first + k].
firsts_at <- function(x, k) seq_len(length(x) - k)

# Bandwidths at each lag, as given or selected: `y` and `lag`, vectors, and `joint`, a matrix with two columns.
lag_bandwidths <- function(x, lags, y, lag, joint, threads, verbose) {
  at <- function(k) list(x[firsts_at(x, k)], x[firsts_at(x, k) + k])
  for (k in seq_len(lags)) for (values in at(k)) check_extent(range(values), "data", NULL)
  selected <- function(bw, name, side) {
    if (!is.null(bw)) return(count_is(check_positives(bw, name), lags, name))
    vapply(seq_len(lags), function(k) dependence_bandwidths(NULL, name, at(k)[side], threads, verbose), 0)
  }
  both <- if (is.null(joint)) {
    t(vapply(seq_len(lags), function(k) dependence_bandwidths(NULL, "bw.joint", at(k), threads, verbose), numeric(2L)))
  } else {
    given <- without_class(plain(joint))
    if (is.matrix(given) && !identical(dim(given), c(lags, 2L))) {
      abort_input("`bw.joint` must be a matrix with a row for each lag, ", lags, ", and two columns, not ",
                  describe_value(joint), ".")
    }
    matrix(count_is(check_positives(as.vector(given), "bw.joint"), 2L * lags, "bw.joint"), lags)
  }
  list(y = selected(y, "bw.y", 1L), lag = selected(lag, "bw.y.lag", 2L), joint = both)
}

# The statistic at the lag k, and those of bootstrap samples, whose draws are the same for all lags.
serial_statistics <- function(x, k, h, joint, asked, run, move) {
  of <- dependence_statistic(x, x, h, joint, asked$method)
  first <- firsts_at(x, k)
  done <- 0
  entropy_bootstrap(asked, length(x), length(x), run, of(first, first + k), function(uniform) {
    apply(uniform, 2L, function(one) {
      heard()
      done <<- done + 1
      move(done)
      drawn <- floor(one * length(x)) + 1
      of(drawn[first], drawn[first + k])
    })
  })
}

# ---- print and summary --------------------------------------------------------------------------------------------

sdeptest_lines <- function(test) {
  c("Test of serial dependence",
    call_lines(test$call),
    label_line("n", format(test$nobs, big.mark = ",")),
    label_line("method", test$method),
    if (test$bootstrap) label_line("bootstrap", paste(test$boot.num, "samples")))
}

sdeptest_table <- function(test) {
  statistics <- data.frame(lag = seq_len(test$lag.num), Srho = format_short(test$Srho), row.names = NULL)
  if (!test$bootstrap) return(cbind(statistics, cumulative = format_short(test$Srho.cumulant)))
  table <- cbind(statistics, P = p_text(unname(test$P), test$boot.num), reject = test$reject,
                 cumulative = format_short(test$Srho.cumulant), p = p_text(unname(test$P.cumulant), test$boot.num),
                 mark = marks_of(test$P.cumulant)$reject)
  stats::setNames(table, c("lag", "Srho", "P", "", "cumulative", "P", ""))
}

#' @rdname npsdeptest
#' @param x,object a result of `npsdeptest()`.
#' @export
print.kestrel_sdeptest <- function(x, ...) {
  check_object(x, "x", "kestrel_sdeptest")
  cat(sdeptest_lines(x), "", sep = "\n")
  print(sdeptest_table(x), row.names = FALSE)
  if (x$bootstrap) cat(meaning_of_marks)
  invisible(x)
}

#' @rdname npsdeptest
#' @export
summary.kestrel_sdeptest <- function(object, ...) {
  check_object(object, "object", "kestrel_sdeptest")
  structure(list(test = object), class = "summary.kestrel_sdeptest")
}

#' @export
print.summary.kestrel_sdeptest <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_sdeptest")
  print(x$test)
  test <- x$test
  cat("\nBandwidths:\n")
  print(data.frame(lag = seq_len(test$lag.num), y = test$bw.y, y.lag = test$bw.y.lag, joint = test$bw.joint[, 1L],
                   joint.lag = test$bw.joint[, 2L]), row.names = FALSE, digits = 4)
  invisible(x)
}
