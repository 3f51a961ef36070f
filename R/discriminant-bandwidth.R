# Bandwidths of kernel discriminant analysis: a selector for each class.

#' Bandwidths of kernel discriminant analysis
#'
#' A bandwidth for each class, by one of the selectors of densities.
#'
#' @inheritParams kda
#' @param Hstart starts of the searches, one below the other, in the order of the classes.
#' @param bw `"plugin"` (\code{\link{Hpi}()} or [hpi()]), `"lscv"` or `"scv"`.
#' @param ... more arguments of the selector.
#' @return `Hkda()`, `Hkda.diag()`: the matrices of the classes, in the order of their levels, one below the other.
#'   `hkda()`: a vector.
#' @section Units: Those of the selectors.
#' @section Errors: Those of [kda()] and of the selectors.
#' @section Cost: A selector for each class.
#' @references Duong, T. (2007) ks: kernel density estimation and kernel discriminant analysis for multivariate data in
#'   R. *Journal of Statistical Software* **21**(7), 1-16.
#' @seealso [kda()]
#' @examples
#' Hkda(iris[, 1:2], iris$Species)
#' hkda(iris[, 1], iris$Species)
#' @rdname Hkda-matrix
#' @export
Hkda <- function(x, x.group, Hstart, bw = "plugin", ...) {
  bw <- check_choice(bw, c("plugin", "lscv", "scv"), "bw")
  classes <- check_classes(x, x.group, NULL, stats::na.fail)
  d <- ncol(classes$x)
  starts <- if (!missing(Hstart)) check_class_bandwidths(Hstart, NULL, d, length(classes$samples), "Hstart")
  select <- switch(bw, plugin = Hpi, lscv = Hlscv, scv = Hscv)
  found <- lapply(seq_along(classes$samples), function(k) {
    of_class <- classes$samples[[k]]$x
    if (is.null(starts)) select(of_class, ...) else select(of_class, Hstart = starts[[k]], ...)
  })
  do.call(rbind, lapply(found, unname))
}

#' @rdname Hkda-matrix
#' @export
hkda <- function(x, x.group, bw = "plugin", ...) {
  bw <- check_choice(bw, c("plugin", "lscv", "scv"), "bw")
  classes <- check_classes(x, x.group, NULL, stats::na.fail)
  select <- switch(bw, plugin = hpi, lscv = hlscv, scv = hscv)
  vapply(classes$samples, function(sample) select(sample$x, ...), 0)
}

#' @rdname Hkda-matrix
#' @export
Hkda.diag <- function(x, x.group, bw = "plugin", ...) {
  bw <- check_choice(bw, c("plugin", "lscv", "scv"), "bw")
  classes <- check_classes(x, x.group, NULL, stats::na.fail)
  select <- switch(bw, plugin = Hpi.diag, lscv = Hlscv.diag, scv = Hscv.diag)
  do.call(rbind, lapply(classes$samples, function(sample) unname(select(sample$x, ...))))
}
