# Bandwidth objects of one numeric regressor.

# The fields of a bandwidth object with one numeric regressor. With `needed`, see search_bandwidth(), it also has the
# `.observations` of the search.
single_regbw <- function(xdat, ydat, asked, given, refine, w, na.action, run, verbose, needed,
                         period) {
  bws <- given$bws
  if (given$fixed && length(without_class(bws)) != 1L) {
    abort_input("`bws` must be one bandwidth for bandwidth.compute = FALSE, not ", describe_value(bws), ".")
  }
  if (!given$fixed && length(without_class(bws)) == 1L) {
    if (asked$type == "fixed") check_bandwidths(bws) else check_neighbours(bws)
    inform_ignored("bws")
    given["bws"] <- list(NULL)
  }
  if (is_nearest(asked)) check_nearest_arguments(asked, given)
  sample <- sample_within_period(check_regression_sample(xdat, ydat, w, na.action), period)
  data <- observations_of(sample, run)
  asked$sdev <- spread_of(data$sorted)
  asked$nconfac <- sample$nobs^(-1 / (2 * asked$ckerorder + 1))
  found <- with_progress(verbose, "Cross-validation", function(progress) {
    run$progress <- progress
    search_bandwidth(sample, data, asked, given, refine, run, needed)
  })
  for (remark in found$remarks) inform(remark)
  data <- found$data
  found$data <- NULL
  spread <- asked$sdev * asked$nconfac
  raw <- if (asked$scaling) found$bw * spread else found$bw
  c(found, asked, sample,
    list(ifval = 1L, bandwidth = list(x = raw), sfactor = list(x = raw / spread),
         engine = regression_engine(asked$ckertype, found$backend, asked$type)),
    if (!is.null(needed)) list(.observations = data))
}
