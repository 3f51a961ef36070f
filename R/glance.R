# What glance() (tidy.R) says of each class: one row, as a list.

glance_density <- function(class) {
  function(x) {
    check_object(x, "x", class)
    list(nobs = nobs(x), n.eff = x$n_eff, dimension = length(x$names), kernel = x$kernel, h = mean_bandwidth(x$H),
         points = if (x$gridded) prod(lengths(axes_of(x))) else
           nrow(check_points(x$eval.points, length(x$names), "eval.points", TRUE)), gridded = x$gridded)
  }
}

# What a row on a bandwidth object has.
bandwidth_row <- function(bws) list(nobs = bws$nobs, method = bws$method, criterion = bws$fval)

fit_row <- function(x, ...) list(nobs = x$bws$nobs, r.squared = x$R2, sigma = sqrt(x$MSE), ...)

glance_frames <- list(
  kestrel_kde = glance_density("kestrel_kde"), kestrel_kcde = glance_density("kestrel_kcde"),
  kestrel_kdde = glance_density("kestrel_kdde"), kestrel_kfs = glance_density("kestrel_kfs"),
  kestrel_bkde = function(x) {
    check_object(x, "x", "kestrel_bkde")
    list(nobs = nobs(x), n.eff = x$n_eff, dimension = length(x$names), kernel = x$boundary.kernel,
         h = mean_bandwidth(x$H), mass = x$mass)
  },
  kestrel_vkde = function(x) {
    check_object(x, "x", "kestrel_vkde")
    list(nobs = nobs(x), n.eff = x$n_eff, dimension = length(x$names), variable = x$variable,
         h = mean_bandwidth(x$pilot), mass = x$mass)
  },
  kestrel_kcopula = function(x) {
    check_object(x, "x", "kestrel_kcopula")
    list(nobs = nobs(x), dimension = length(x$names), h = mean_bandwidth(x$H), marginal = x$marginal)
  },
  # A row for each group.
  kestrel_kde_groups = function(x) {
    check_groups(x, "x")
    below_each_other(x, lapply(x$estimates, function(fhat) as.data.frame(glance_frames$kestrel_kde(fhat))))
  },
  kestrel_kda = function(x) {
    check_object(x, "x", "kestrel_kda")
    list(nobs = nobs(x), dimension = length(x$names), groups = nlevels(x$x.group))
  },
  kestrel_histde = function(x) {
    check_object(x, "x", "kestrel_histde")
    list(nobs = NROW(x$x), dimension = length(x$names), bins = length(x$estimate))
  },
  kestrel_kroc = function(x) {
    check_object(x, "x", "kestrel_kroc")
    list(n1 = length(x$w), n2 = length(x$y), auc = x$indices$auc, youden = x$indices$youden)
  },
  kestrel_kms = function(x) {
    check_object(x, "x", "kestrel_kms")
    list(nobs = nrow(as_points(x$x, "x")), clusters = x$nclust, h = mean_bandwidth(x$H))
  },
  kestrel_kdr = function(x) {
    check_object(x, "x", "kestrel_kdr")
    list(nobs = length(x$w), points = nrow(x$end.points), segments = length(unique(x$end.points$segment)),
         h = mean_bandwidth(x$H))
  },
  kestrel_loctest = function(x) {
    check_object(x, "x", "kestrel_loctest")
    list(n1 = x$n1, n2 = x$n2, level = x$signif.level, larger = sum(x$fhat.diff.pos$estimate),
         smaller = sum(x$fhat.diff.neg$estimate))
  },
  kestrel_risk = function(x) {
    check_object(x, "x", "kestrel_risk")
    list(n1 = x$n1, n2 = x$n2, h = mean_bandwidth(x$H), B = x$B)
  },
  kestrel_reg = function(x) {
    check_object(x, "x", "kestrel_reg")
    fit_row(x, edf = x$edf, logLik = as.vector(stats::logLik(x)), method = x$bws$method, criterion = x$bws$fval)
  },
  kestrel_dens = function(x) {
    check_object(x, "x", "kestrel_dens")
    list(nobs = x$bws$nobs, logLik = x$log_likelihood, method = x$bws$method, criterion = as.vector(x$bws$fval))
  },
  kestrel_qreg = function(x) {
    check_object(x, "x", "kestrel_qreg")
    list(nobs = x$bws$nobs, tau = x$tau, method = x$bws$method, criterion = as.vector(x$bws$fval))
  },
  kestrel_regbw = function(x) bandwidth_row(check_object(x, "x", "kestrel_regbw")),
  kestrel_densbw = function(x) bandwidth_row(check_object(x, "x", "kestrel_densbw")),
  kestrel_scbw = function(x) bandwidth_row(check_object(x, "x", "kestrel_scbw")),
  kestrel_sibw = function(x) {
    check_object(x, "x", "kestrel_sibw")
    c(bandwidth_row(x), list(h = x$bw))
  },
  kestrel_sketch_regbw = function(x) bandwidth_row(check_object(x, "x", "kestrel_sketch_regbw")),
  kestrel_plbw = function(x) {
    check_object(x, "x", "kestrel_plbw")
    list(nobs = x$nobs, method = x$method)
  },
  kestrel_plreg = function(x) fit_row(check_object(x, "x", "kestrel_plreg")),
  kestrel_si = function(x) {
    check_object(x, "x", "kestrel_si")
    fit_row(x, correct = if (identical(x$CCR.overall, NA)) NA_real_ else x$CCR.overall, method = x$bws$method,
            h = x$bws$bw)
  },
  kestrel_sc = function(x) fit_row(check_object(x, "x", "kestrel_sc")),
  kestrel_conmode = function(x) {
    check_object(x, "x", "kestrel_conmode")
    list(nobs = x$bws$nobs, correct = if (identical(x$CCR.overall, NA)) NA_real_ else x$CCR.overall)
  },
  kestrel_ksum = function(x) {
    check_object(x, "x", "kestrel_ksum")
    list(nobs = x$ntrain, points = x$nobs, dimension = x$ndim)
  },
  kestrel_score = function(x) {
    best <- as.data.frame(x)[1L, ]
    list(models = nrow(x$table), best = best$model, score = best$score)
  },
  kestrel_sizer = function(x) {
    check_object(x, "x", "kestrel_sizer")
    list(nobs = x$n, n.eff = x$n_eff, bandwidths = length(x$h), points = length(x$eval.points),
         deriv.order = x$deriv.order, level = x$signif.level)
  },
  kestrel_sizer_plane = function(x) {
    check_object(x, "x", "kestrel_sizer_plane")
    list(nobs = x$n, n.eff = x$n_eff, bandwidths = length(x$h), points = prod(lengths(x$eval.points)),
         deriv.order = x$deriv.order, level = x$signif.level)
  },
  kestrel_sigtest = function(x) {
    check_object(x, "x", "kestrel_sigtest")
    list(nobs = x$bws$nobs, terms = length(x$ixvar), joint = x$joint, boot.num = x$boot.num)
  },
  kestrel_sdeptest = function(x) {
    check_object(x, "x", "kestrel_sdeptest")
    list(nobs = x$nobs, lags = x$lag.num, boot.num = if (x$bootstrap) x$boot.num else NA_real_)
  },
  kestrel_explorer = function(x) {
    check_object(x, "x", "kestrel_explorer")
    least <- which.min(x$table$lscv)
    list(nobs = x$n, dimension = length(x$names), bandwidths = nrow(x$table),
         h.lscv = if (length(least) > 0L) x$table$h[least] else NA_real_)
  },
  kestrel_stream = function(x) {
    check_object(x, "x", "kestrel_stream")
    list(nobs = x$n, n.eff = x$n_eff, dimension = length(x$names), kernel = x$kernel, h = mean_bandwidth(x$H),
         points = prod(lengths(x$axes)), mass = x$mass, largest = x$largest)
  },
  # A row for each estimator.
  kestrel_q_error = function(x) {
    check_object(x, "x", "kestrel_q_error")
    table <- data.frame(unname(x$table))
    cbind(estimator = rownames(x$table), counts = nrow(x$errors),
          stats::setNames(table, c("median", "q95", "q99", "max")))
  },
  kestrel_boot = function(x) {
    check_object(x, "x", "kestrel_boot")
    list(nobs = x$n, n.eff = x$n_eff, B = x$B, kernel = x$kernel, h = x$h)
  },
  kestrel_modetree = function(x) {
    check_object(x, "x", "kestrel_modetree")
    list(nobs = x$n, n.eff = x$n_eff, bandwidths = length(x$h), branches = length(x$branches$from),
         critical = x$critical[1L])
  },
  kestrel_record = function(x) {
    check_object(x, "x", "kestrel_record")
    list(h = if (is.null(x$H)) x$h else mean_bandwidth(x$H), objective = x$objective, convergence = x$convergence,
         evaluations = x$evaluations)
  },
  kestrel_sketch = function(x) {
    of <- summary(x)
    list(nobs = of$n, n.eff = of$n_eff, dimension = length(of$column), cells = sum(of$cells), bytes = of$bytes)
  },
  kestrel_synopsis = function(x) {
    check_object(x, "x", "kestrel_synopsis")
    list(N = x$N, rows = nrow(x$x), dimension = length(x$names), kernel = x$kernel)
  }
)
