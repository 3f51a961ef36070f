# Objects of every class and form, the functions that take them, and values that no field may have.

objects_to_edit <- function() {
  set.seed(11)
  x <- round(rexp(12), 2) + 0.1
  X <- cbind(a = x, b = rnorm(12))
  y <- sin(x) + rnorm(12) / 9
  plane <- kde(X, H = diag(2) / 4, gridsize = 5, w = 1:12)
  file <- tempfile(fileext = ".nc")
  on.exit(unlink(file))
  streamed <- kde_stream(X, file, H = diag(2), gridsize = 5)
  bw <- npregbw(y ~ x, data = data.frame(x, y), nbw = 5, unsupported = "exclude")
  fit <- npreg(c(x, NA), c(y, 1), bws = 2, na.action = na.omit)
  mixed <- npregbw(data.frame(a = x, z = factor(rep(1:3, 4)), o = ordered(rep(1:2, 6))), y, bws = c(0.5, 0.2, 0.3),
                   bandwidth.compute = FALSE)
  distribution <- npudistbw(dat = data.frame(a = x, z = ordered(rep(1:3, 4))), bws = c(0.5, 0.2),
                            bandwidth.compute = FALSE)
  below <- npcdistbw(xdat = data.frame(a = x, z = factor(rep(1:3, 4))), ydat = y, bws = c(0.3, 0.5, 0.2),
                     bandwidth.compute = FALSE)
  density <- npudensbw(dat = data.frame(a = x, z = factor(rep(1:3, 4))), bws = c(0.5, 0.2), bandwidth.compute = FALSE)
  conditional <- npcdensbw(xdat = data.frame(a = x, z = factor(rep(1:3, 4))), ydat = y, bws = c(0.3, 0.5, 0.2),
                           bandwidth.compute = FALSE)
  frame <- data.frame(a = x, z = factor(rep(1:3, 4)))
  partly <- npplregbw(xdat = X[, "b"], ydat = y, zdat = x, bws = matrix(0.5, 2), bandwidth.compute = FALSE)
  smooth <- npscoefbw(xdat = X[, "b"], ydat = y, zdat = x, bws = 0.5, bandwidth.compute = FALSE)
  index <- npindexbw(xdat = X, ydat = y, bws = c(1, 0.5, 0.5), bandwidth.compute = FALSE)
  tested <- npsigtest(mixed, boot.num = 9)
  modes <- npconmode(bws = c(0.2, 0.5), txdat = x, tydat = frame$z)
  specified <- npcmstest(model = lm(y ~ x), xdat = x, ydat = y, bws = 0.5, boot.num = 9)
  equality <- npdeneqtest(x, y, 0.5, 0.5, boot.num = 9)
  serial <- npsdeptest(y, 2, "summation", boot.num = 9, bw.y = c(1, 1), bw.y.lag = c(1, 1), bw.joint = matrix(1, 2, 2))
  entropy <- npunitest(x, y, boot.num = 9, bw.x = 0.3, bw.y = 0.3)
  sketch <- kde_sketch(x, sketch_plan(x))
  boot <- hboot(x, B = 3, gridsize = 9)
  tree <- modetree(x, length = 3)
  map <- sizer(x, h = c(0.5, 2), gridsize = 4)
  plane_map <- sizer(X, h = c(0.5, 2), gridsize = 4, deriv.order = 2)
  score <- pdf_score(X, list(one = X + 1, two = X + 2), gridsize = 5, sensitivity = 2, B = 3)
  list(
    plane = plane, line = kde(x, h = 0.5, gridsize = 6, positive = TRUE),
    bounded = kde(X, h = 1, gridsize = 4, bounds = cbind(c(-Inf, min(X[, 2])), Inf)),
    points = kde(X, h = 1, eval.points = data.frame(a = 1:2, b = 0)),
    integrated = marginal(kde(X, h = 1, gridsize = 5, kernel = "epanechnikov"), "b"), read = read_pdf(file),
    risk = kde_risk(X[1:6, ], X[7:12, ], h = 1, gridsize = 4),
    grouped = kde(frame, ~ a | z, h = 0.5, gridsize = 5), summary = summary(plane), stream = streamed,
    sketch_plan = sketch_plan(x), sketch = sketch, of_sketch = summary(sketch), sketched = kde(sketch, h = 0.5),
    sketch_bw = npregbw(kde_sketch(data.frame(x = rep(x, 17), y = rep(x^2, 17)),
                                   sketch_plan(data.frame(x = 1, y = 0:1), 8, "x", y = "y")), 9,
                        bandwidth.compute = FALSE),
    synopsis = learn(kde_synopsis(data.frame(X, l = c("u", "v", "v")), size = 9, h = 1,
                                  tune_queries = list(lower = X - 1, upper = X + 1)),
                     list(lower = X - 1, upper = X + 1), rep(4, 12)),
    selection = dplyr::group_by(dplyr::filter(kde_synopsis(data.frame(X, l = c("u", "v")), h = 1), a > 0 | l == "u"),
                                l),
    q_error = q_error(cbind(a = 1:3, b = 2:4), 3:1),
    bw = bw, best = summary(bw), fit = fit, curve = npreg(bw, exdat = c(1, NA), eydat = c(3, 4)), of_fit = summary(fit),
    mixed = mixed, of_mixed = summary(mixed), mixed_fit = npreg(mixed, gradients = TRUE),
    density_bw = density, of_density_bw = summary(density), density = npudens(density),
    of_density = summary(npudens(density)), conditional_bw = conditional,
    conditional = npcdens(conditional, gradients = TRUE),
    distribution_bw = distribution, distribution = npudist(distribution), conditional_distribution_bw = below,
    conditional_distribution = npcdist(below, gradients = TRUE), quantiles = npqreg(below, gradients = TRUE),
    of_quantiles = summary(npqreg(below)), sums = npksum(bws = 1, txdat = x, return.kernel.weights = TRUE),
    of_sums = summary(npksum(bws = 1, txdat = x)),
    partly_bw = partly, of_partly_bw = summary(partly), partly = npplreg(partly), of_partly = summary(npplreg(partly)),
    smooth_bw = smooth, of_smooth_bw = summary(smooth), smooth = npscoef(smooth, betas = TRUE),
    of_smooth = summary(npscoef(smooth)), index_bw = index, of_index_bw = summary(index),
    index = npindex(index, gradients = TRUE), of_index = summary(npindex(index)), tested = tested,
    of_tested = summary(tested), tree = tree, map = map, plane_map = plane_map,
    modes = modes, of_modes = summary(modes),
    specified = specified, of_specified = summary(specified), equality = equality, of_equality = summary(equality),
    serial = serial, of_serial = summary(serial), entropy = entropy, of_entropy = summary(entropy),
    roc = kroc(x, x + 1, gridsize = 9),
    copula = kcopula(X, gridsize = 4), copula_at = kcopula(X, eval.points = c(0.2, 1)),
    histogram = histde(x), histogram_of_plane = histde(X),
    classes = kda(x, rep(1:2, 6), gridsize = 7), classes_at = kda(X, rep(1:2, 6), eval.points = X[1:3, ]),
    plane_of_classes = kda(X, rep(1:2, 6), gridsize = 5), of_classes = summary(kda(X, rep(1:2, 6), kde.flag = FALSE)),
    two_samples = kde.test(x, y, B = 3), two_planes = kde.test(X, X + 1),
    local = kde.local.test(x, y, gridsize = 9),
    to_draw = plot(bw, plot.behavior = "data")$r1,
    below = kcde(x, h = 0.5, gridsize = 6, positive = TRUE), above = kcde(X, h = 1, eval.points = c(1, Inf), w = 1:12),
    of_below = summary(kcde(X, h = 1, gridsize = 4, tail.flag = "upper.tail")),
    slope = kdde(x, h = 0.5, deriv.order = 1, gridsize = 6, w = 1:12),
    hessian = kdde(X, h = 1, deriv.order = 2, gridsize = 4),
    gradient_at = kdde(X, h = 1, deriv.order = 1, eval.points = X),
    curvature = kcurv(kdde(X, h = 1, deriv.order = 2, gridsize = 4)),
    balloon = kde.balloon(X, H = diag(2), gridsize = 4), balloon_at = kde.balloon(x, h = 1, eval.points = 1:3),
    of_beta = kde.boundary(X, gridsize = 4), truncated = kde.truncate(plane, cbind(c(-9, 9, 9), c(-9, -9, 9))),
    linear = kde.boundary(x, h = 1, xmax = Inf, boundary.kernel = "linear", eval.points = 1:3),
    sample_point = kde.sp(X, gridsize = 4, w = 1:12), ridges = kdr(X, H = diag(2), gridsize = 5, min.seg.size = 0),
    features = kfs(X, H = diag(2), gridsize = 4), features_at = kfs(x, h = 0.5, deriv.order = 1, eval.points = 1:3),
    clusters = kms(X, H = diag(2), keep.path = TRUE), clusters_on_line = kms(x, H = 0.5),
    record = hscv(x, amise = TRUE), record_of_matrix = Hpi(X, amise = TRUE),
    explorer = explore(kde(x, h = 0.5, gridsize = 6), factor = c(0.5, 1, 2)),
    boot = boot, of_boot = summary(boot), score = score, of_score = summary(score), info = kestrel_info()
  )
}

in_the_middle <- function(fhat) rep(0.5, length(fhat$names))

# Functions of an object of a class: its methods, and others that take one.
takers <- list(
  kestrel_kde = list(
    print = print, summary = summary, plot = plot, frame = as.data.frame,
    predict = function(f) predict(f, in_the_middle(f)),
    levels = function(f) c(contourLevels(f), contourLevels(f, cont = 50), contourLevels(f, prob = 0.5, approx = FALSE)),
    dkde = function(f) dkde(in_the_middle(f), f), pkde = function(f) pkde(1, f), qkde = function(f) qkde(0.5, f),
    rkde = function(f) rkde(3, f), marginal = function(f) marginal(f, 1),
    query = function(f) kde_query(f, in_the_middle(f)), score = function(f) pdf_score(f, f),
    models = function(f) pdf_score(f, list(other = f), B = 2),
    write = function(f) {
      file <- tempfile(fileext = ".nc")
      on.exit(unlink(file))
      write_pdf(f, file)
    }
  ),
  kestrel_risk = list(print = print, plot = plot, frame = as.data.frame),
  kestrel_kde_groups = list(print = print, plot = plot, predict = function(f) predict(f, in_the_middle(f)),
                            frame = as.data.frame, nobs = nobs),
  kestrel_kcde = list(frame = as.data.frame, print = print, summary = summary, plot = plot,
                      predict = function(f) predict(f, in_the_middle(f))),
  kestrel_kdde = list(print = print, predict = function(f) predict(f, in_the_middle(f)), frame = as.data.frame,
                      levels = function(f) contourLevels(f, cont = 50)),
  kestrel_bkde = list(print = print, summary = summary, predict = function(f) predict(f, in_the_middle(f)),
                      frame = as.data.frame, levels = function(f) contourLevels(f, cont = 50)),
  kestrel_vkde = list(print = print, summary = summary, predict = function(f) predict(f, in_the_middle(f)),
                      frame = as.data.frame, levels = function(f) contourLevels(f, cont = 50)),
  kestrel_kfs = list(print = print, summary = summary, frame = as.data.frame),
  kestrel_kdr = list(print = print, summary = summary, plot = plot, frame = as.data.frame, segments = kdr.segment),
  kestrel_kms = list(frame = as.data.frame, print = print, summary = summary, plot = plot),
  kestrel_sketch_plan = list(print = print, frame = as.data.frame, sketch = function(plan) kde_sketch(1:3, plan)),
  kestrel_sketch = list(print = print, summary = summary, plot = plot, frame = as.data.frame, c = c,
                        sum = function(s) s + s, update = function(s) update(s, 1:3), hns = hns),
  summary.kestrel_sketch = list(print = print),
  kestrel_sketch_regbw = list(print = print, predict = function(bw) predict(bw, 1:2), frame = as.data.frame,
                              nobs = nobs, formula = formula),
  kestrel_synopsis = list(frame = as.data.frame, print = print, query = function(s) kde_query(s, c(0, 0), c(1, 1)),
                          condition = function(s) kde_query(s, a > 0 | l == "u", mean(b)), plot = plot,
                          learn = function(s) learn(s, list(lower = c(0, 0), upper = c(1, 1)), 3),
                          join = function(s) kde_join(s, s, "a")),
  kestrel_selection = list(print = print, count = dplyr::count, group = function(s) dplyr::group_by(s, l)),
  kestrel_regbw = list(frame = as.data.frame, print = print, summary = summary, plot = plot, npreg = npreg,
                       predict = predict, nobs = nobs,
                       formula = formula, other = function(bw) npreg(bw, txdat = c(1, 2, 4, 3), tydat = 1:4)),
  kestrel_reg = list(print = print, summary = summary, plot = plot, predict = predict, fitted = fitted,
                     residuals = residuals, se = se, nobs = nobs, formula = formula, frame = as.data.frame,
                     band = function(fit) predict(fit, exdat = 1:2, interval = "confidence", se.fit = TRUE)),
  kestrel_mixed_bw = list(frame = as.data.frame, print = print, summary = summary, plot = plot, npreg = npreg,
                          predict = predict, nobs = nobs,
                          formula = formula),
  kestrel_mixed = list(print = print, summary = summary, plot = plot, predict = predict, fitted = fitted,
                       residuals = residuals, se = se, nobs = nobs, formula = formula, frame = as.data.frame,
                       band = function(fit) {
                         predict(fit, exdat = data.frame(a = 1, z = "2", o = "1"), interval = "confidence")
                       }),
  kestrel_qreg = list(print = print, summary = summary, plot = plot, predict = predict, fitted = fitted, se = se,
                      gradients = gradients, nobs = nobs, formula = formula, frame = as.data.frame,
                      quantile = quantile, other = function(fit) predict(fit, tau = 0.2)),
  kestrel_ksum = list(frame = as.data.frame, print = print, summary = summary),
  kestrel_plbw = list(frame = as.data.frame, formula = formula, data = model.frame, print = print,
                      summary = summary, npplreg = npplreg),
  kestrel_plreg = list(frame = as.data.frame, print = print, summary = summary, plot = plot, predict = predict,
                       fitted = fitted, coef = coef,
                       vcov = vcov, residuals = residuals),
  kestrel_scbw = list(frame = as.data.frame, formula = formula, data = model.frame, print = print,
                      summary = summary, npscoef = npscoef),
  kestrel_sc = list(frame = as.data.frame, print = print, summary = summary, plot = plot, predict = predict,
                    fitted = fitted, coef = coef,
                    se = se, residuals = residuals),
  kestrel_sibw = list(frame = as.data.frame, formula = formula, data = model.frame, print = print,
                      summary = summary, coef = coef, npindex = npindex),
  kestrel_si = list(frame = as.data.frame, print = print, summary = summary, plot = plot, predict = predict,
                    fitted = fitted, coef = coef,
                    vcov = vcov, gradients = gradients, se = se, residuals = residuals),
  kestrel_sigtest = list(frame = as.data.frame, print = print, summary = summary),
  kestrel_conmode = list(frame = as.data.frame, print = print, summary = summary, predict = predict, fitted = fitted),
  kestrel_cmstest = list(frame = as.data.frame, print = print, summary = summary),
  kestrel_deneqtest = list(frame = as.data.frame, print = print, summary = summary),
  kestrel_sdeptest = list(frame = as.data.frame, print = print, summary = summary),
  kestrel_srho = list(frame = as.data.frame, print = print, summary = summary),
  kestrel_kroc = list(frame = as.data.frame, print = print, summary = summary, plot = plot,
                      predict = function(f) predict(f, 0.5)),
  kestrel_kcopula = list(frame = as.data.frame, print = print, plot = plot),
  kestrel_histde = list(frame = as.data.frame, print = print, plot = plot,
                        predict = function(f) predict(f, in_the_middle(f))),
  kestrel_kda = list(frame = as.data.frame, print = print, summary = summary, plot = plot,
                     predict = function(f) predict(f, in_the_middle(f)),
                     levels = function(f) contourLevels(f, cont = 50)),
  kestrel_kdetest = list(frame = as.data.frame, print = print),
  kestrel_loctest = list(frame = as.data.frame, print = print, plot = plot),
  kestrel_distbw = list(print = print, summary = summary, plot = plot, npudist = npudist, predict = predict,
                        nobs = nobs, formula = formula),
  kestrel_condistbw = list(print = print, summary = summary, plot = plot, npcdist = npcdist, predict = predict,
                           nobs = nobs, formula = formula),
  kestrel_condensbw = list(print = print, summary = summary, plot = plot, npcdens = npcdens, predict = predict,
                           nobs = nobs, formula = formula),
  kestrel_condens = list(print = print, summary = summary, plot = plot, predict = predict, fitted = fitted, se = se,
                         gradients = gradients, nobs = nobs, formula = formula, frame = as.data.frame),
  kestrel_densbw = list(frame = as.data.frame, print = print, summary = summary, plot = plot, npudens = npudens,
                        predict = predict,
                        nobs = nobs, formula = formula),
  kestrel_dens = list(print = print, summary = summary, plot = plot, predict = predict, fitted = fitted, se = se,
                      nobs = nobs, formula = formula, frame = as.data.frame,
                      at = function(fit) predict(fit, edat = data.frame(a = 1, z = "2"))),
  kestrel_score = list(print = print, summary = summary, plot = plot, frame = as.data.frame,
                       one = function(s) plot(s, model = 1)),
  kestrel_boot = list(frame = as.data.frame, print = print, summary = summary, plot = plot),
  kestrel_modetree = list(frame = as.data.frame, nobs = nobs, print = print, summary = summary, plot = plot),
  kestrel_explorer = list(frame = as.data.frame, print = print, knit = function(x) knitr::knit_print(x)),
  kestrel_sizer = list(frame = as.data.frame, nobs = nobs, print = print, summary = summary, plot = plot),
  kestrel_sizer_plane = list(frame = as.data.frame, nobs = nobs, print = print, summary = summary, plot = plot),
  kestrel_curve = list(print = fitted, se = se),
  kestrel_record = list(frame = as.data.frame, print = print, plot = plot),
  kestrel_q_error = list(frame = as.data.frame, print = print, plot = plot)
)

takers_of <- function(object) {
  class <- intersect(class(object), names(takers))
  if (length(class) > 0L) takers[[class[1L]]] else list(print = print)
}

no_field <- list(NULL, NA, "a", list(1), -1, Inf, numeric(0), c(1, 2, 3), 0, 1e300, 2.5, character(0), mean,
                 structure(1, class = "foo"), 1i, matrix(1:4, 2))

# The object with another value in one field, or in a field of a part if `path` has several numbers.
with_field <- function(object, path, value) {
  if (length(path) == 0L) return(value)
  kept <- attributes(object)
  fields <- unclass(object)
  fields[path[1L]] <- list(with_field(fields[[path[1L]]], path[-1L], value))
  attributes(fields) <- kept
  fields
}

# The paths of the fields, and of those of their parts down to a depth.
field_paths <- function(object, depth) {
  fields <- unclass(object)
  if (!is.list(fields) || depth == 0L) return(list())
  inner <- function(k) lapply(field_paths(fields[[k]], depth - 1L), function(path) c(k, path))
  do.call(c, lapply(seq_along(fields), function(k) c(list(k), inner(k))))
}

# The error of a call with an object, NULL if there is none.
error_with <- function(take, object) {
  tryCatch({
    suppressWarnings(take(object))
    NULL
  }, error = identity)
}

# Without output and plots.
unseen <- function(code) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  capture.output(code)
  invisible()
}
