# Pictures by ggplot2 of tests: the statistic beside its distribution where the hypothesis holds, see
# ggplot-pictures.R.

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
  },
  kestrel_kdetest = function(x) {
    check_object(x, "object", "kestrel_kdetest")
    if (x$B == 0) return(normal_picture(x$Tstat, x$mean, sqrt(x$var), "T"))
    replicates_picture(x$permuted, x$Tstat, "T", "T", "permutations")
  },
  kestrel_cmstest = function(x) {
    check_object(x, "object", "kestrel_cmstest")
    name <- if (x$pivot) "Jn" else "In"
    if (x$pdistribution == "Asymptotic") return(normal_picture(x[[name]], 0, x$sd, name))
    replicates_picture(x[[paste0(name, ".bootstrap")]], x[[name]], name, name)
  }
)

need_bootstrap <- function(x) {
  if (!x$bootstrap) abort_input("`object` must be a test with bootstrap samples to be drawn.")
}

# The statistics of bootstrap samples, with a column for each of those of the data, which are marked. A bar ends at 0,
# so that no rounding decides whether the axis reaches it.
replicates_picture <- function(replicates, observed, names, label, of = "bootstrap samples") {
  names <- factor(names, unique(names))
  rows <- data.frame(value = as.vector(replicates), of = rep(names, each = NROW(replicates)))
  samples <- ggplot2::geom_histogram(by_columns(x = "value"), rows[is.finite(rows$value), ], inherit.aes = FALSE,
                                     bins = 30L, boundary = 0, fill = colours$shade, colour = colours$curve)
  marks <- ggplot2::geom_vline(by_columns(xintercept = "value"), data.frame(value = observed, of = names),
                               colour = colours$mark, linetype = 2)
  picture(list(samples, marks), list(x = label, y = of),
          if (length(observed) > 1L) list(ggplot2::facet_wrap("of", scales = "free")) else list())
}

# The normal density of a statistic, and the one that was observed.
normal_picture <- function(observed, mean, sd, label) {
  at <- seq(min(mean - 4 * sd, observed), max(mean + 4 * sd, observed), length.out = 201L)
  frame <- data.frame(value = at, density = stats::dnorm(at, mean, sd))
  mark <- ggplot2::geom_vline(xintercept = observed, colour = colours$mark, linetype = 2)
  picture(list(curve_layer(frame, "value", "density"), mark), list(x = label, y = "density"))
}
