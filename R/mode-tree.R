# The tree of modes: the modes of estimates by their bandwidth.

#' Tree of modes
#'
#' The modes of Gaussian kernel density estimates of one variable for many bandwidths (Minnotte & Scott 1993). Modes of
#' successive bandwidths are joined to branches, which begin where a mode splits off another one as the bandwidth
#' decreases.
#'
#' Modes are found as in [nmodes()], to 1e-12 of h / 8. From one bandwidth to the next smaller one each mode continues
#' in the nearest mode that is left, the nearest pairs first. What remains are new branches, whose parent is the
#' branch of the nearest mode.
#'
#' @section Bandwidths: By default they decrease from 1.25 times the critical bandwidth of one mode, or [hpi()] if that
#'   is larger, to a quarter of [hpi()].
#' @param x for `modetree()` the data, as in [nmodes()]; for methods an object made by `modetree()`.
#' @param h bandwidths, at least two different positive numbers, in any order.
#' @param length the number of bandwidths in equal ratios, if `h` is not given.
#' @param w,na.action,threads as in [nmodes()].
#' @param object an object made by `modetree()`.
#' @param col colour of the branches.
#' @param xlab,ylab,main labels. If NULL they are the name of the variable, or the expression in the call, and
#'   "Bandwidth h".
#' @param ... nothing for `modetree()`, where other arguments are an error. For `plot()` further graphical parameters.
#' @return An object of class `"kestrel_modetree"`, a list:
#'   \item{h}{the bandwidths, decreasing}
#'   \item{counts}{their numbers of modes}
#'   \item{modes}{a data frame with a row for each mode of each bandwidth: `h`, `mode`, `density` there, `branch`}
#'   \item{branches}{a data frame with a row for each branch: `from`, the largest bandwidth that has it, `mode`, where
#'     it begins, and `parent`, the branch that it splits off, 0 for those of the largest bandwidth}
#'   \item{critical}{the critical bandwidths ([bw.crit()]) for one mode up to four, as far as the smallest of `h`}
#'   and further `n`, `n_eff`, `names`, `call` and `seconds`.
#'
#'   `print()`, `summary()` and `plot()` return it invisibly.
#' @section Units: Modes and bandwidths are in those of `x`, densities are 1 over them.
#' @section Errors: Those of [nmodes()].
#' @section Cost: That of [nmodes()] for each bandwidth, and of [bw.crit()] for each critical one.
#' @references Minnotte, M.C. & Scott, D.W. (1993) The mode tree: a tool for visualization of nonparametric density
#'   features. *Journal of Computational and Graphical Statistics* **2**, 51-68.
#' @seealso [modetest()]
#' @examples
#' tree <- modetree(faithful$eruptions, length = 41)
#' tree
#' plot(tree)
#' @export
modetree <- function(x, h = NULL, length = 101, ..., w = NULL, na.action = stats::na.fail, threads = NULL) {
  check_arguments("modetree", given_names(...))
  started <- proc.time()[["elapsed"]]
  call <- match.call()
  run <- run_options(threads)
  line <- line_of_modes(x, w, na.action, "modetree")
  length <- check_count(length, "length", 2L)
  check_rows(h, "h")
  first <- if (length(unique(as.vector(line$x))) > 1L) critical_bandwidth(line, 1L, run)
  h <- if (is.null(h)) {
    usual_bandwidths(line, first, length, run)
  } else {
    unique(sort(check_positives(h, "h"), decreasing = TRUE)) / line$unit
  }
  if (base::length(h) < 2L) abort_input("`h` must be at least two different bandwidths, not one.")
  places <- lapply(h, function(one) modes_at(line, one, run))
  counts <- lengths(places)
  joined <- join_modes(places)
  density <- unlist(Map(function(at, one) density_of_line(line, at, one, run), places, h))
  modes <- data.frame(h = rep(h, counts) * line$unit, mode = unlist(places) * line$unit + line$lower,
                      density = density / line$unit, branch = unlist(joined$branch))
  begun <- match(seq_along(joined$parent), modes$branch)
  branches <- data.frame(from = modes$h[begun], mode = modes$mode[begun], parent = joined$parent)
  most <- min(4L, max(counts) - 1L)
  critical <- vapply(seq_len(most), function(k) if (k == 1L) first else critical_bandwidth(line, k, run), 0)
  structure(list(h = h * line$unit, counts = counts, modes = modes, branches = branches,
                 critical = critical * line$unit, n = line$n, n_eff = line$n_eff, names = line$names, call = call,
                 seconds = proc.time()[["elapsed"]] - started),
            class = "kestrel_modetree")
}

usual_bandwidths <- function(line, first, length, run) {
  sample <- with_covariance(list(x = line$x, w = line$w, names = line$names))
  plug_in <- plug_in_1d(sample, 2L, "minim", run)$h
  exp(seq(log(1.25 * max(first, plug_in)), log(plug_in / 4), length.out = length))
}

density_of_line <- function(line, at, h, run) {
  fhat <- gaussian_density(line[c("x", "w", "names")], as.matrix(h^2))
  fhat$.sample <- line$data
  density_at(fhat, as.matrix(at), run)
}

# The branch of each mode, and the parent of each branch.
join_modes <- function(places) {
  branch <- list(seq_along(places[[1L]]))
  parent <- integer(length(places[[1L]]))
  for (level in seq_along(places)[-1L]) {
    before <- places[[level - 1L]]
    here <- places[[level]]
    own <- nearest_pairs(before, here)
    continued <- branch[[level - 1L]][own]
    for (k in which(is.na(own))) {
      parent <- c(parent, branch[[level - 1L]][which.min(abs(before - here[k]))])
      continued[k] <- length(parent)
    }
    branch[[level]] <- continued
  }
  list(branch = branch, parent = parent)
}

# For each of `here` the one of `before` that it is joined with, the nearest pairs first; NA for those that are left.
nearest_pairs <- function(before, here) {
  distance <- abs(outer(here, before, "-"))
  own <- rep(NA_integer_, length(here))
  taken <- logical(length(before))
  for (pair in order(distance)) {
    row <- (pair - 1L) %% length(here) + 1L
    column <- (pair - 1L) %/% length(here) + 1L
    if (!is.na(own[row]) || taken[column]) next
    own[row] <- column
    taken[column] <- TRUE
  }
  own
}

tree_lines <- function(tree) {
  size <- format(tree$n, big.mark = ",")
  if (tree$n_eff < tree$n * (1 - 1e-12)) size <- paste0(size, ", weighted: effective n ", format_short(tree$n_eff))
  c(
    "Tree of modes",
    call_lines(tree$call),
    label_line("n", size),
    label_line("variable", tree$names),
    label_line("bandwidths", paste0(length(tree$h), " from ", format_short(max(tree$h)), " to ",
                                    format_short(min(tree$h)), ", ", format_short(tree$seconds), " s")),
    label_line("modes", paste(min(tree$counts), "to", max(tree$counts))),
    if (length(tree$critical) > 0L) {
      label_line("critical h", paste0(seq_along(tree$critical), " mode", ifelse(seq_along(tree$critical) > 1L, "s", ""),
                                      " from ", format_short(tree$critical), collapse = ", "))
    }
  )
}

# Where branches split off others: the bandwidth `h`, the `mode` of the other branch there, and the new one in `to`.
tree_forks <- function(tree) {
  modes <- plain_columns(tree$modes)
  branches <- plain_columns(tree$branches)
  at <- match(paste(branches$parent, branches$from), paste(modes$branch, modes$h))
  data.frame(h = branches$from, mode = modes$mode[at], to = branches$mode)[!is.na(at), ]
}

#' @rdname modetree
#' @export
print.kestrel_modetree <- function(x, ...) {
  check_object(x, "x", "kestrel_modetree")
  cat(tree_lines(x), sep = "\n")
  invisible(x)
}

#' @rdname modetree
#' @export
summary.kestrel_modetree <- function(object, ...) {
  check_object(object, "object", "kestrel_modetree")
  cat(tree_lines(object), "", sep = "\n")
  branches <- plain_columns(object$branches)
  last <- vapply(seq_along(branches$from), function(k) min(object$modes$h[object$modes$branch == k]), 0)
  shown <- data.frame(branch = seq_along(branches$from), parent = branches$parent, from = branches$from, to = last,
                      mode = branches$mode)
  print(format(shown, digits = 4), row.names = FALSE)
  invisible(object)
}

#' @rdname modetree
#' @export
plot.kestrel_modetree <- function(x, col = NULL, xlab = NULL, ylab = "Bandwidth h", main = NULL, ...) {
  check_object(x, "x", "kestrel_modetree")
  modes <- as.data.frame(x)
  forks <- tree_forks(x)
  col <- if (is.null(col)) colours$curve else check_graphical(col, "col")
  more <- utils::modifyList(list(log = "y"), list(...))
  note <- "Lines: modes by bandwidth. Broken lines: where a mode splits off another one"
  empty_plot(range(modes$mode), range(x$h), more, xlab = given_or(xlab, label_from_call(x$names, "x", x$call, "x")),
             ylab = ylab, main = main, note = note)
  drawing_with(more, {
    for (own in split(modes, modes$branch)) {
      do.call(graphics::lines, c(list(own$mode, own$h), look_of(more, col = col, lwd = 2, lty = 1)))
    }
    graphics::segments(forks$mode, forks$h, forks$to, forks$h, lty = 2, col = col)
  })
  invisible(x)
}
