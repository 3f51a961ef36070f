# A skeleton to copy: the smallest estimator, the log density of x at points. Copy it to R/NAME.R, write NAME for
# skeleton, and give it help with the sections Units, Errors and Cost. test-skeleton.R is the test to copy.

skeleton <- function(x, eval.points, H, ..., w, na.action = stats::na.fail, backend = "auto", threads = NULL,
                     verbose = NULL) {
  check_arguments("kde", given_names(...)) # with the name of the function
  started <- proc.time()[["elapsed"]]
  # Arguments first: every mistake of a user is refused before anything is computed.
  verbose <- asked_verbose(verbose)
  run <- density_options(threads, backend, "auto", 1e-12, cuda = TRUE)
  sample <- check_sample(x, if (!missing(w)) w, na.action)
  points <- check_points(in_order_of(eval.points, sample$names, "eval.points"), ncol(sample$x), "eval.points")
  bandwidth <- resolve_bandwidth(list(H = if (!missing(H)) H), with_data(sample), "gaussian", FALSE,
                                 selecting(run, ncol(sample$x)), verbose)
  # Then the sums that there are; the core chooses the engine and the place.
  fhat <- new_density(sample, bandwidth$H, "gaussian", "radial", NULL, run)
  ran <- with_progress(verbose, "Log density", function(progress) {
    if (!is.null(progress)) run$progress <- progress
    run_density(fhat, task_at_points(fhat, points), run, verbose)
  })
  structure(list(eval.points = points, value = log(ran$estimate), H = bandwidth$H, n = nrow(sample$x),
                 engine = ran$plan$engine, backend = ran$plan$backend, na.action = sample$na.action,
                 call = match.call(), seconds = proc.time()[["elapsed"]] - started),
            class = "kestrel_skeleton")
}

print.kestrel_skeleton <- function(x, ...) {
  cat("Log density", call_lines(x$call), label_line("n", format(x$n, big.mark = ",")),
      label_line("value", paste(format_short(range(x$value)), collapse = " to ")), sep = "\n")
  invisible(x)
}
