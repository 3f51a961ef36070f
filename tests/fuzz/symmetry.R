# Selectors must follow the data: columns in another order give the matrix in that order, other units its multiple.

symmetric_call <- function() {
  d <- pick(c(2L, 3L), c(4, 1))
  n <- pick(c(20L, 60L, 150L))
  x <- matrix(stats::rnorm(n * d), n) %*% matrix(stats::rnorm(d * d), d)
  if (chance(0.3)) x[seq_len(n %/% 2L), ] <- x[seq_len(n %/% 2L), ] + 3
  if (chance(0.3)) x <- x * rep(10^stats::runif(d, -3, 3), each = n)
  name <- pick(c("Hns", "Hns.diag", "Hpi", "Hpi.diag", "Hscv", "Hscv.diag", "Hlscv", "Hlscv.diag"))
  pilots <- c("samse", "dscalar", if (!endsWith(name, "diag")) c("dunconstr", "unconstr"))
  more <- if (name %in% c("Hpi", "Hpi.diag", "Hscv", "Hscv.diag")) {
    some_of(list(pilot = pick(pilots), pre = pick(c("sphere", "scale"))), 0.3)
  }
  call("symmetric", name, x, order = sample.int(d), unit = 2^sample(-200:200, 1L), more = as.list(more))
}

# The selector's matrix for columns in another order and other units, transformed back, and that for the data.
symmetric <- function(name, x, order, unit, more) {
  select <- function(x) do.call(getExportedValue("kestrel", name), c(list(x = x, amise = TRUE), more))
  if (grepl("^Hns", name)) select <- function(x) list(H = do.call(getExportedValue("kestrel", name), list(x = x)))
  H <- function(found) unname(if (is.list(found)) found$H else found)
  back <- order(order)
  list(H = H(select(x)), turned = H(select(x[, order]))[back, back], scaled = H(select(x * unit)) / unit^2)
}

judge_symmetry <- function(call, environment) {
  end <- run_call(call, 1L, environment)
  if (end$seconds > patience) return(took_too_long(end))
  if (out_of_time(end)) return(NULL)
  differ <- function(a, b) max(abs(a - b) / sqrt(outer(diag(a), diag(a))))
  value <- end$value
  c(wrong_conditions(end, call, "symmetric"), if (!is.null(value)) {
    turned <- differ(value$H, value$turned)
    scaled <- differ(value$H, value$scaled)
    # Up to the accuracy of a search.
    c(if (turned > 1e-3) sprintf("columns in another order give another matrix: by %.2g", turned),
      if (scaled > 1e-10) sprintf("other units give another matrix: by %.2g", scaled))
  })
}
