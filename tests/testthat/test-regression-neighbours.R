# Bandwidths that are distances to nearest neighbours: beside the oracle, beside np, and what users see.

each_neighbour_case <- function(body) {
  problems <- list()
  for (s in neighbour_shapes()) for (kernel in regression_kernels) for (regtype in c("lc", "ll")) {
    for (type in neighbour_types) {
      problems <- c(problems, body(s, kernel, regtype, type, paste(s$name, kernel, regtype, type)))
    }
  }
  expect_no_problem(problems)
}

test_that("objectives are those of the oracle for every kernel and type", {
  each_neighbour_case(function(s, kernel, regtype, type, info) {
    k <- numbers_of_neighbours(s$x)
    run <- run_options(1L, "cpu")
    actual <- regression_sums(observations_of(s, run), k, neighbour_asked(kernel, regtype, type), run)
    unlist(lapply(seq_along(k), function(i) {
      reference <- reference_neighbour_cv(s$x, s$y, k[i], kernel, regtype, type, s$w)
      info <- paste(info, "k =", k[i])
      c(reference_problem(actual$squares[i], reference$squares, info = paste(info, "squares")),
        reference_problem(actual$trace[i], reference$trace, info = paste(info, "trace")),
        reference_problem(actual$insample[i], reference$insample, info = paste(info, "in sample"),
                          scale = reference$insample + 1e-3 * reference$squares),
        reference_problem(actual$unsupported[i], reference$unsupported, tol = 0, info = paste(info, "unsupported")))
    }))
  })
})

test_that("residuals, fits, gradients and their errors are those of the oracle", {
  each_neighbour_case(function(s, kernel, regtype, type, info) {
    k <- numbers_of_neighbours(s$x)
    k <- k[ceiling(length(k) / 2)]
    run <- run_options(1L, "cpu")
    bws <- neighbour_bws(s, k, neighbour_asked(kernel, regtype, type))
    data <- observations_of(bws, run)
    found <- with_fit(data, k, bws, c(errors = TRUE, gradients = TRUE), run)$fit
    reference <- reference_neighbour_residuals(s$x, s$y, k, kernel, regtype, type, s$w)
    alone <- is.nan(reference$loo)
    scale <- max(abs(reference$loo[!alone]), diff(range(s$y)))
    problems <- c(if (!identical(is.na(found$loo), alone)) paste(info, "other points without fit"),
                  reference_problem((s$y - found$loo)[!alone], reference$loo[!alone], 1e-11, scale, info),
                  reference_problem(found$resid, reference$insample, 1e-11, scale, paste(info, "in sample")))
    points <- c(s$x[1:min(9, length(s$x))], s$x[1:2] + 0.3 * diff(range(s$x)), min(s$x) - 1, max(s$x) + 0.7)
    error2 <- s$y^2 / max(s$y^2) + 0.1
    at <- values_at(list(bws = bws, error2 = error2), points, TRUE, run, data, TRUE)
    local <- lapply(points, function(point) {
      h <- reference_bandwidths(point, s$x, k, type)
      if (anyNA(h)) return(list(value = NaN, smoother = NaN, slope = NaN, distinct = 0))
      reference_neighbour_fit(point, s$x, s$y, s$w, h, kernel, regtype)
    })
    of <- function(field) vapply(local, function(one) if (is.null(one[[field]])) NaN else one[[field]], 0)
    squares <- function(field) vapply(local, function(one) sum(one[[field]]^2 * error2), 0)
    mean <- of("value")
    there <- !is.nan(mean)
    sloped <- there & of("distinct") > (regtype == "ll")
    # Terms of a derivative may be far larger than their sum.
    terms <- pmax(of("terms"), 1e-300)
    c(problems,
      if (!identical(is.na(at$mean), !there)) paste(info, "other points without a fit"),
      reference_problem(at$mean[there], mean[there], 1e-11, max(abs(s$y), abs(mean[there])), paste(info, "at points")),
      reference_problem(at$se[there]^2, squares("smoother")[there], 1e-11, info = paste(info, "variance")),
      reference_problem((at$grad / terms)[sloped], (of("change") / terms)[sloped], 1e-11, diff(range(s$y)),
                        paste(info, "gradient")),
      reference_problem((at$gerr / terms)[sloped], (sqrt(squares("slope")) / terms)[sloped], 1e-11, 1,
                        paste(info, "error of the gradient")))
  })
})
