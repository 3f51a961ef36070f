# The mass of an estimate, and its rows, in boxes. The limits of m boxes are m x d matrices `lower` and `upper`.

# The share of the whole mass in each box and, if `of` is the number of a variable, its mean and variance there (NA
# without mass). `sample`: data_on_line(fhat). For errors and cost see src/core/query/query.hpp.
box_answers <- function(fhat, sample, lower, upper, of, run, name = "fhat") {
  if (has_images(fhat$transform)) {
    lower <- points_within_bounds(fhat$transform, lower)
    upper <- points_within_bounds(fhat$transform, upper)
  }
  root <- bandwidth_root(fhat)
  check_queried_kernel(root, fhat$kernel, fhat$kernel_type == "product", name)
  task <- list(lower = lower, upper = upper, root = root, kernel = fhat$kernel, kernel_type = fhat$kernel_type,
               of = if (is.null(of)) 0L else of)
  held <- query_boxes_cpp(sample, task, run)
  held$share <- pmin(held$share * mass_of_images(sample), 1)
  lapply(held, function(value) replace(value, is.nan(value), NA))
}

check_queried_kernel <- function(root, kernel, product, name = "fhat") {
  d <- ncol(root)
  if (!is_compact(kernel)) {
    terms <- query_terms_cpp(root)
    if (terms[1L] <= terms[2L]) return()
    abort_input("`", name, "` must have ", if (name != "H") "a bandwidth matrix with ",
                "less correlation for queries: the integral over a box would ",
                "take more than ", format(terms[2L], big.mark = ",", scientific = FALSE), " terms for each ",
                "observation", if (d > 4L) ", as it does in five or more dimensions unless correlations are small",
                ". A diagonal `H` takes one.")
  }
  if (d == 1L || product) return()
  if (d > 3L || kernel_row(kernel)$inner != 2L) {
    abort_input("`fhat` must have the Gaussian kernel, a product kernel, a radial power of 1 - u'u in two or three ",
                "dimensions, or one dimension for queries, not a radial ", kernel, " kernel in ", d, " dimensions.")
  }
}
