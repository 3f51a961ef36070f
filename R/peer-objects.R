# Estimates that ks::kde() has made, for functions that take an estimate.

# The same estimate as kde() would make it; other objects are returned as they are. ks does not record a transform of
# bounded data or a bandwidth that varies, so the values on the object are compared with those of its data and
# bandwidth. Binning changes them by much less than a tenth of the largest.
from_ks <- function(object, name) {
  if (inherits(object, "kestrel_kde") || !inherits(object, "kde") || !is.list(object)) return(object)
  fields <- unclass(object)
  whole <- all(c("x", "H", "w", "eval.points", "estimate", "gridded", "names") %in% names(fields))
  if (!whole) abort_input("`", name, "` must be an estimate made by kde(), here or in ks, not a part of one.")
  sample <- known_as(paste0(name, "$x"), check_sample(fields$x, fields$w))
  sample$names <- readable(as.character(fields$names))
  H <- known_as(paste0(name, "$x"), check_H(fields$H, ncol(sample$x), paste0(name, "$H")))
  made <- gaussian_density(sample, H)
  kept <- c("eval.points", "estimate", "gridtype", "gridded", "cont")
  made[kept] <- fields[kept]
  made$seconds <- 0
  made$call <- quote(ks::kde())
  # The sums of bins that are empty may be negative by rounding.
  if (is_numbers(made$estimate)) made$estimate <- clamped(made$estimate, 0, Inf)
  check_object(made, name, "kestrel_kde")
  some <- unique(round(seq(1, length(made$estimate), length.out = 50L)))
  axes <- axes_of(made)
  points <- if (made$gridded) {
    at <- arrayInd(some, lengths(axes))
    vapply(seq_along(axes), function(k) axes[[k]][at[, k]], numeric(length(some)))
  } else {
    check_points(made$eval.points, dimension(made), "eval.points")[some, ]
  }
  points <- matrix(points, length(some))
  off <- abs(density_at(made, points, run_options()) - made$estimate[some])
  if (max(off) > 0.1 * max(made$estimate)) {
    abort_input("`", name, "` must be an estimate that is the sum of kernels with one bandwidth at its data; ks does ",
                "not record transforms of bounded data, and bandwidths that vary.")
  }
  made
}
