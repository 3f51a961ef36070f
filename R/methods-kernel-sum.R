#' Methods for kernel sums
#'
#' Methods that print the result of [npksum()].
#'
#' @param object,x an object made by [npksum()].
#' @param ... not used.
#' @return `print()` returns its argument invisibly, and `summary()` a list with the object.
#' @section Units: As in [npksum()].
#' @section Errors: An error of class `kestrel_error_input` is for an object with fields that are not those of
#'   [npksum()].
#' @section Cost: O(m) for m points.
#' @references Li, Q. & Racine, J.S. (2007) *Nonparametric Econometrics*. Princeton University Press.
#' @examples
#' summary(npksum(waiting ~ eruptions, data = faithful, bws = 0.3))
#' @name kestrel_ksum-methods
#' @aliases print.kestrel_ksum
NULL

ksum_lines <- function(sums) {
  shape <- if (length(dim(sums$ksum)) > 1L) paste(dim(sums$ksum), collapse = " x ") else length(sums$ksum)
  c("Kernel sums",
    call_lines(sums$call),
    label_line("n", density_size(list(nobs = sums$ntrain, na.action = sums$na.action))),
    label_line("points", format(sums$nobs, big.mark = ",")),
    label_line("kernel", mixed_kernel_text(sums)),
    label_line("bandwidth", paste(sums$xnames, vapply(sums$bw, format_short, ""), collapse = ", ")),
    label_line("operator", paste(unique(sums$operator), collapse = ", ")),
    label_line("ksum", paste(shape, if (length(dim(sums$ksum)) > 1L) "array" else "numbers")),
    if (!is.null(sums$kw)) label_line("kw", paste(dim(sums$kw), collapse = " x ")),
    if (!is.null(sums$p.ksum)) label_line("p.ksum", paste(dim(sums$p.ksum), collapse = " x ")),
    label_line("engine", paste0(sums$engine, " on ", sums$backend, ", ", format_short(sums$seconds), " s")))
}

#' @rdname kestrel_ksum-methods
#' @export
print.kestrel_ksum <- function(x, ...) {
  check_object(x, "x", "kestrel_ksum")
  cat(ksum_lines(x), sep = "\n")
  invisible(x)
}

#' @rdname kestrel_ksum-methods
#' @export
summary.kestrel_ksum <- function(object, ...) {
  check_object(object, "object", "kestrel_ksum")
  structure(list(sums = object), class = "summary.kestrel_ksum")
}

#' @export
print.summary.kestrel_ksum <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_ksum")
  cat(ksum_lines(x$sums), label_line("sums", quartiles(x$sums$ksum)), sep = "\n")
  invisible(x)
}
