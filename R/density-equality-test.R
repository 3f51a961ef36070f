# A test of the equality of two densities of mixed data (Li, Maasoumi & Racine 2009).

#' Test of the equality of two densities of mixed data
#'
#' Tests whether two samples of numbers, factors and ordered factors have the same density, by the integrated squared
#' difference of two kernel densities and a bootstrap (Li, Maasoumi & Racine 2009). Names, arguments and fields are
#' those of package \pkg{np}.
#'
#' K_ij is the product kernel of observations i and j that [npudensbw()] describes, with the bandwidths of x where one
#' of the observations is in x, and those of y where both are in y. Sums run over pairs of different observations. The
#' integrated squared difference is estimated by
#' \deqn{I_n = \frac{\sum_{x,x} K_{ij}}{n_1 (n_1 - 1)} + \frac{\sum_{y,y} K_{ij}}{n_2 (n_2 - 1)} - \frac{2 \sum_{x,y}
#' K_{ij}}{n_1 n_2}}{In = sum_xx K_ij / (n1 (n1 - 1)) + sum_yy K_ij / (n2 (n2 - 1)) - 2 sum_xy K_ij / (n1 n2)}
#' and its variance by
#' \deqn{\hat\sigma^2 = \frac{2 \sum_{x,x} K_{ij}^2}{n_1^2 (n_1 - 1)^2} + \frac{2 \sum_{y,y}
#' K_{ij}^2}{n_2^2 (n_2 - 1)^2} + \frac{4 \sum_{x,y} K_{ij}^2}{n_1^2 n_2^2}.}{sigma^2 = 2 sum_xx K_ij^2 / (n1 (n1 -
#' 1))^2 + 2 sum_yy K_ij^2 / (n2 (n2 - 1))^2 + 4 sum_xy K_ij^2 / (n1 n2)^2.}
#' The statistic is Tn = In / sigma. Large values speak against equality. Since the sums over pairs of x and y have the
#' bandwidths of x, the test of y and x differs from that of x and y where the bandwidths differ.
#'
#' Bootstrap samples of both sizes are drawn with replacement from x and y together. They have the bandwidths of x and
#' y. P is the share of samples with a larger statistic.
#'
#' Statistics are those of \pkg{np} 0.60 at the same bandwidth objects, but for these differences:
#'
#'   - Kernels are those of densities. \pkg{np} takes those of `npksum()`, whose kernel `"liracine"` of an ordered
#'     factor lacks the factor (1 - lambda) / (1 + lambda). Tn is the same where lambda is the same in x and y. Where it
#'     is not, the three sums of \pkg{np} have different scales, and In is not near 0 for equal densities. The script in
#'     the example shows this with the same data twice.
#'   - If one of `bw.x` and `bw.y` is given, only the other is selected. \pkg{np} selects both.
#'   - Draws follow from `random.seed` alone, are the same for any number of threads, and leave the random numbers of
#'     the session as they are.
#'
#' @param x,y the samples: data frames of numbers and factors with the same columns, or numeric vectors or matrices.
#' @param bw.x,bw.y bandwidth objects of [npudensbw()], or bandwidths, one for each column. If NULL, [npudensbw()]
#'   selects them.
#' @param boot.num number of bootstrap samples, at least 9.
#' @param random.seed a whole number, which determines the draws.
#' @param threads,verbose as in [npregbw()].
#' @param ... arguments of [npudensbw()]: `bwmethod`, `ckertype` and others.
#' @return An object of class `c("kestrel_deneqtest", "deneqtest")`, a list with
#'   \item{Tn, In}{the statistics}
#'   \item{Tn.P, In.P}{their P values}
#'   \item{Tn.bootstrap, In.bootstrap}{the statistics of the samples}
#'   \item{bw.x, bw.y}{the bandwidth objects}
#'   \item{reject, rejectNum}{a mark of the significance of Tn and its level, as in [npsigtest()]}
#'   and `boot.num`, `nobs` (the sizes of x and y), `random.seed`, `seconds`, `call`.
#' @section Units: Tn has none. In is a density: it is in the reciprocal of the product of the units of the numbers.
#' @section Errors: Errors of class `kestrel_error_input` are for samples with different columns, or with missing or
#'   infinite values, for bandwidth objects of other columns, and for errors of [npudensbw()].
#' @section Cost: All samples share the kernels, so that the test takes O(N^2 (p + B)) for N observations in all, p
#'   columns and B samples: about 0.5 s for N = 1,000 and B = 399, on one core. The cost of [npudensbw()] is added.
#' @references Li, Q., Maasoumi, E. & Racine, J.S. (2009) A nonparametric test for equality of distributions with mixed
#'   categorical and continuous data. *Journal of Econometrics* **148**, 186-200.
#' @seealso [npunitest()] for one variable, by an entropy; [kde.test()] for numbers.
#' @examples
#' columns <- c("mpg", "cyl")
#' cars <- transform(mtcars, cyl = factor(cyl))
#' npdeneqtest(cars[cars$am == 0, columns], cars[cars$am == 1, columns], boot.num = 99)
#'
#' # lambda differs, the data do not
#' script <- function(npdeneqtest, npudensbw) {
#'   x <- data.frame(z = ordered(rep(1:3, 20)))
#'   of <- function(lambda) npudensbw(dat = x, bws = lambda, bandwidth.compute = FALSE)
#'   npdeneqtest(x, x, of(0.1), of(0.6), boot.num = 9)$In
#' }
#' script(npdeneqtest, npudensbw) # and script(np::npdeneqtest, np::npudensbw)
#' @export
npdeneqtest <- function(x = NULL, y = NULL, bw.x = NULL, bw.y = NULL, boot.num = 399, random.seed = 42, ...,
                        threads = NULL, verbose = NULL) {
  started <- proc.time()[["elapsed"]]
  call <- match.call()
  of_bandwidths <- setdiff(npudensbw_arguments(), c("dat", "bws", "bandwidth.compute", "na.action"))
  check_known("npdeneqtest", Filter(nzchar, given_names(...)), c(names(formals(npdeneqtest)), of_bandwidths))
  check_named("npdeneqtest", given_names(...), "random.seed")
  asked <- list(count = check_count(boot.num, "boot.num", 9L), seed = check_seed(random.seed))
  verbose <- asked_verbose(verbose)
  samples <- samples_compared(x, y)
  bws <- list(x = compared_bandwidths(bw.x, samples$x, "bw.x", threads, verbose, ...),
              y = compared_bandwidths(bw.y, samples$y, "bw.y", threads, verbose, ...))
  sizes <- unname(vapply(samples[c("x", "y")], .row_names_info, 0L, 2L))
  first <- seq_len(sizes[1L])
  all <- seq_len(sum(sizes))
  found <- with_search_progress(verbose, "Test of equality", function(progress) {
    run <- c(run_options(threads, "cpu"), progress = progress)
    of <- difference_statistic(samples$both, bws, run)
    drawn <- in_replicates(length(all), asked$count, asked$seed, run, function(uniform) {
      rows <- floor(uniform * length(all)) + 1
      of(times_drawn(rows[first, , drop = FALSE], length(all)), times_drawn(rows[-first, , drop = FALSE], length(all)))
    })
    list(value = of(cbind(as.numeric(all %in% first)), cbind(as.numeric(!all %in% first))), drawn = matrix(drawn, 2L))
  })
  P <- rowMeans(found$drawn > as.vector(found$value))
  marks <- marks_of(P[1L])
  structure(list(Tn = found$value[1L], In = found$value[2L], Tn.bootstrap = found$drawn[1L, ],
                 In.bootstrap = found$drawn[2L, ], Tn.P = P[1L], In.P = P[2L], boot.num = asked$count, bw.x = bws$x,
                 bw.y = bws$y, nobs = sizes, reject = marks$reject, rejectNum = marks$rejectNum,
                 random.seed = as.numeric(random.seed), call = call, seconds = proc.time()[["elapsed"]] - started),
            class = c("kestrel_deneqtest", "deneqtest"))
}

# Data frames of both samples and of both together, whose factors have the levels of both.
samples_compared <- function(x, y) {
  read <- function(value, name) {
    if (is.null(value)) abort_input("`", name, "` must be given: a data frame, matrix or vector.")
    check_whole_columns(density_columns(named_column(value, name), name))
  }
  x <- read(x, "x")
  # The column of a vector has the name of its argument.
  y <- read(y, "y")
  if (length(x) == 1L && length(y) == 1L && identical(names(y), "y")) names(y) <- names(x)
  if (!identical(names(x), names(y))) {
    abort_input("`y` must have the columns of `x`, ", quoted(names(x)), ", not ", quoted(names(y)), ".")
  }
  both <- lapply(names(x), function(name) both_columns(x[[name]], y[[name]], name))
  levels_of <- function(columns) {
    Map(function(own, all) {
      if (is.factor(own)) factor(as.character(own), levels(all), ordered = is.ordered(own)) else own
    }, columns, both)
  }
  list(x = frame_of(levels_of(x), names(x)), y = frame_of(levels_of(y), names(x)), both = frame_of(both, names(x)))
}

both_columns <- function(x, y, name) {
  kinds <- unname(kinds_of(list(x, y)))
  if (kinds[1L] != kinds[2L] || is_date(x) != is_date(y)) {
    abort_input("`y` must have the same kind of values as `x` in `", name, "`: numbers, dates, a factor or ",
                "an ordered factor.")
  }
  if (!is.factor(x)) return(if (is_date(x)) c(x, y) else c(numbers_of(x), numbers_of(y)))
  if (kinds[1L] == "ordered" && !identical(levels(x), levels(y))) {
    abort_input("`y` must have the levels of `x` in the ordered factor `", name, "`.")
  }
  factor(c(as.character(x), as.character(y)), union(levels(x), levels(y)), ordered = kinds[1L] == "ordered")
}

# The bandwidth object of a sample, for the argument `name`.
compared_bandwidths <- function(bw, x, name, threads, verbose, ...) {
  known_as(name, of = "bws", {
    if (!inherits(bw, "kestrel_densbw")) {
      return(npudensbw.default(x, bw, is.null(bw), ..., na.action = stats::na.fail, threads = threads,
                               verbose = verbose))
    }
    check_density_object(bw)
    if (inherits(bw, "kestrel_condensbw") || !identical(unname(kinds_of(bw$x)), unname(kinds_of(x)))) {
      abort_input("`bws` must be a bandwidth object of npudensbw() for columns like those of the data.")
    }
    check_beside_object(bw, npudensbw.default, ...)
    bw
  })
}

# The statistics Tn and In, rows, from counts of how often a sample has the rows of `both`: of(first, second), matrices
# with a column for each pair of samples.
difference_statistic <- function(both, bws, run) {
  kernels <- lapply(bws, function(bw) {
    of <- kernels_of_object(bw)
    core <- c(ksum_sample(both, NULL, NULL, stats::na.fail), of[c("ckertype", "ckerorder", "ukertype", "okertype")])
    core$raw <- check_mixed_bandwidths(of$bw, core)
    list(core = core, sample = ksum_cpp_sample(core, run), own = own_kernels(core, run),
         volume = prod(core$raw[core$icon]))
  })
  # At each row the sum over the other rows.
  others <- function(of, counts, power) {
    of$core$products <- counts
    task <- ksum_task(of$core, rep("normal", of$core$ndim), list(divide = FALSE, power = power, leave_one_out = TRUE),
                      FALSE)
    t(mixed_sums_cpp(of$sample, task, NULL, run)$sums)
  }
  # Over pairs of a sample, and of both. A row that was drawn more than once makes pairs with itself.
  within <- function(of, counts, sums, power) colSums(counts * (sums + of$own^power * (counts - 1)))
  function(first, second) {
    n1 <- sum(first[, 1L])
    n2 <- sum(second[, 1L])
    pairs <- lapply(1:2, function(power) {
      of_x <- others(kernels$x, first, power)
      # On the scale of the kernels of x.
      to_x <- (kernels$x$volume / kernels$y$volume)^power
      list(xx = within(kernels$x, first, of_x, power) / (n1 * (n1 - 1))^power,
           yy = within(kernels$y, second, others(kernels$y, second, power), power) * to_x / (n2 * (n2 - 1))^power,
           xy = colSums(second * (of_x + kernels$x$own^power * first)) / (n1 * n2)^power)
    })
    difference <- pairs[[1L]]$xx + pairs[[1L]]$yy - 2 * pairs[[1L]]$xy
    variance <- 2 * pairs[[2L]]$xx + 2 * pairs[[2L]]$yy + 4 * pairs[[2L]]$xy
    rbind(ifelse(variance > 0, difference / sqrt(variance), 0), difference / kernels$x$volume)
  }
}

# The kernel of each row and itself.
own_kernels <- function(core, run) {
  own <- rep(kernel_at(0, core, run)^core$ncon, core$nobs)
  for (k in which(!core$icon)) {
    own <- own * diag(kernel_table(core, k, "normal"))[match(as.character(core$x[[k]]), levels(core$x[[k]]))]
  }
  own
}

# ---- print and summary --------------------------------------------------------------------------------------------

deneqtest_lines <- function(test) {
  cores <- lapply(unclass(test)[c("bw.x", "bw.y")], density_core)
  kernels <- unique(vapply(cores, mixed_kernel_text, ""))
  c("Test of the equality of two densities of mixed data",
    call_lines(test$call),
    label_line("n", paste(format(test$nobs, big.mark = ",", trim = TRUE), collapse = " and ")),
    label_line("density", density_text(cores[[1L]])),
    label_line("kernel", paste(kernels, collapse = " / ")),
    label_line("bandwidth x", mixed_bandwidth_text(cores[[1L]])),
    label_line("bandwidth y", mixed_bandwidth_text(cores[[2L]])),
    label_line("bootstrap", paste(test$boot.num, "samples")),
    label_line("Tn", paste0(format_short(test$Tn), ", ", p_words(p_text(test$Tn.P, test$boot.num)), " ", test$reject)))
}

#' @rdname npdeneqtest
#' @param object a result of `npdeneqtest()`, as `x` of `print()`.
#' @export
print.kestrel_deneqtest <- function(x, ...) {
  check_object(x, "x", "kestrel_deneqtest")
  cat(deneqtest_lines(x), sep = "\n")
  invisible(x)
}

#' @rdname npdeneqtest
#' @export
summary.kestrel_deneqtest <- function(object, ...) {
  check_object(object, "object", "kestrel_deneqtest")
  structure(list(test = object), class = "summary.kestrel_deneqtest")
}

#' @export
print.summary.kestrel_deneqtest <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_deneqtest")
  test <- x$test
  cat(deneqtest_lines(test), label_line("of samples", quartiles(test$Tn.bootstrap)),
      label_line("In", paste0(format_short(test$In), ", ", p_words(p_text(test$In.P, test$boot.num)))), sep = "\n")
  invisible(x)
}
