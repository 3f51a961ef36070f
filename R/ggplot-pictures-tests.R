# Pictures by ggplot2 of tests with bootstrap samples, see ggplot-pictures.R.

pictures_of_tests <- list(
  kestrel_sigtest = function(x) {
    frame <- as.data.frame(x)
    replicates_picture(x$In.bootstrap, frame$In, frame$regressor, "In")
  },
  kestrel_deneqtest = function(x) {
    check_object(x, "object", "kestrel_deneqtest")
    replicates_picture(x$Tn.bootstrap, x$Tn, "Tn", "Tn")
  },
  kestrel_srho = function(x) {
    check_object(x, "object", "kestrel_srho")
    need_bootstrap(x)
    replicates_picture(replicates_of_srho(x), x$Srho, "Srho", "Srho")
  },
  kestrel_sdeptest = function(x) {
    check_object(x, "object", "kestrel_sdeptest")
    need_bootstrap(x)
    replicates_picture(x$Srho.bootstrap.mat, x$Srho, paste("lag", seq_len(x$lag.num)), "Srho")
  }
)

need_bootstrap <- function(x) {
  if (!x$bootstrap) abort_input("`object` must be a test with bootstrap samples to be drawn.")
}

# The statistics of bootstrap samples, with a column for each of those of the data, which are marked.
replicates_picture <- function(replicates, observed, names, label) {
  names <- factor(names, unique(names))
  rows <- data.frame(value = as.vector(replicates), of = rep(names, each = NROW(replicates)))
  samples <- ggplot2::geom_histogram(by_columns(x = "value"), rows[is.finite(rows$value), ], inherit.aes = FALSE,
                                     bins = 30L, fill = colours$shade, colour = colours$curve)
  marks <- ggplot2::geom_vline(by_columns(xintercept = "value"), data.frame(value = observed, of = names),
                               colour = colours$mark, linetype = 2)
  picture(list(samples, marks), list(x = label, y = "bootstrap samples"),
          if (length(observed) > 1L) list(ggplot2::facet_wrap("of", scales = "free")) else list())
}
