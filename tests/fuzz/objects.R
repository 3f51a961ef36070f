# Objects of every class, edited as a script may edit them, given to every method and function that takes one.

# One of each kind, made when first asked for.
makers <- list(
  line = function() kde(faithful$eruptions, gridsize = 21),
  plane = function() kde(faithful[1:40, ], H = diag(c(0.1, 30)), gridsize = 9),
  product = function() kde(faithful[1:40, ], h = 1, kernel = "biweight", kernel_type = "product", gridsize = 9),
  space = function() kde(as.matrix(iris[1:30, 1:3]), H = diag(3), gridsize = 5),
  risk = function() kde_risk(faithful[1:20, ], faithful[21:40, ], H = diag(c(0.1, 30)), gridsize = 5),
  groups = function() kde(warpbreaks, ~ breaks | wool + tension, gridsize = 9),
  map = function() kde(on_map(data.frame(a = faithful$eruptions[1:40], b = faithful$waiting[1:40] / 10)), gridsize = 9),
  range = function() {
    corners <- cbind(c(1, 6, 6, 1), c(4, 4, 9, 4))
    kde.truncate(original("map"), sf::st_sfc(sf::st_polygon(list(corners)), crs = 32633))
  },
  points = function() kde(faithful[1:40, ], H = diag(2), eval.points = faithful[1:4, ]),
  positive = function() kde(faithful$eruptions, h = 0.2, positive = TRUE, adj.positive = 0, gridsize = 21),
  periodic = function() kde(faithful$eruptions, h = 0.2, period = 6, gridsize = 21),
  bounded = function() kde(faithful$eruptions, h = 0.2, bounds = c(1.6, Inf), gridsize = 21),
  unit = function() kde((1:30) / 31, h = 0.2, unit.interval = TRUE, gridsize = 21),
  weighted = function() kde(faithful$eruptions[1:9], h = 0.2, w = 1:9, gridsize = 21),
  integrated = function() marginal(kde(faithful[1:40, ], h = 1, kernel = "cosine", gridsize = 9), 1),
  below = function() kcde(faithful$eruptions, gridsize = 21),
  above = function() kcde(faithful[1:40, ], H = diag(c(0.1, 30)), gridsize = 9, tail.flag = "upper.tail"),
  below_at = function() kcde(faithful[1:40, ], h = 0.2, positive = TRUE, eval.points = faithful[1:4, ], w = 1:40),
  slope = function() kdde(faithful$eruptions, h = 0.2, deriv.order = 1, gridsize = 21),
  hessian = function() kdde(faithful[1:40, ], h = 0.2, deriv.order = 2, gridsize = 9),
  hessian_at = function() kdde(faithful[1:40, ], h = 0.2, deriv.order = 2, eval.points = faithful[1:4, ], w = 1:40),
  balloon = function() kde.balloon(faithful[1:40, ], H = diag(c(0.1, 30)), gridsize = c(9, 7)),
  balloon_at = function() kde.balloon(faithful$eruptions[1:40], h = 0.3, eval.points = 2:4),
  sample_point = function() kde.sp(faithful[1:40, ], gridsize = 9, w = 1:40),
  beta = function() kde.boundary(faithful[1:40, ], gridsize = 9, w = 1:40),
  linear = function() kde.boundary(faithful$eruptions[1:40], xmax = Inf, boundary.kernel = "linear", eval.points = 2:4),
  truncated = function() kde.truncate(kde(faithful[1:40, ], gridsize = 9), cbind(c(1, 6, 6), c(40, 40, 90))),
  features = function() kfs(faithful[1:40, ], H = diag(c(0.1, 30)), gridsize = c(9, 7)),
  features_at = function() kfs(faithful$eruptions[1:40], h = 0.3, deriv.order = 1, eval.points = 2:4),
  ridges = function() kdr(faithful[1:40, ], H = diag(c(0.1, 30)), gridsize = c(9, 7), keep.path = TRUE),
  clusters = function() kms(faithful[1:40, ], H = diag(c(0.1, 30)), keep.path = TRUE),
  clusters_on_line = function() kms(faithful$eruptions[1:40], H = 0.1),
  curvature = function() kcurv(kdde(faithful[1:40, ], h = 0.2, deriv.order = 2, gridsize = 9)),
  bandwidth = function() npregbw(waiting ~ eruptions, data = faithful[1:40, ], nbw = 5),
  bandwidth_xy = function() npregbw(faithful$eruptions[1:40], faithful$waiting[1:40], bws = c(0.5, 1), regtype = "ll"),
  bandwidth_nn = function() npregbw(waiting ~ eruptions, data = faithful[1:40, ], bwtype = "adaptive_nn"),
  fit = function() npreg(original("bandwidth")),
  fit_nn = function() npreg(original("bandwidth_nn"), exdat = 2:4),
  curve = function() plot(original("bandwidth"), plot.behavior = "data", gradients = TRUE, neval = 9)[[1L]],
  fit_at = function() npreg(original("bandwidth_xy"), exdat = 2:4, eydat = c(50, NA, 90)),
  density_bw = function() npudensbw(~ breaks + wool + tension, data = warpbreaks[1:30, ], nmulti = 1),
  density = function() npudens(original("density_bw")),
  density_at = function() npudens(original("density_bw"), edat = warpbreaks[1:3, ]),
  conditional_bw = function() npcdensbw(breaks ~ wool + tension, data = warpbreaks[1:30, ], nmulti = 1),
  conditional = function() npcdens(original("conditional_bw"), gradients = TRUE),
  distribution_bw = function() npudistbw(~ breaks + tension, data = ordered_breaks[1:30, ], nmulti = 1),
  distribution = function() npudist(original("distribution_bw")),
  conditional_distribution_bw = function() npcdistbw(breaks ~ wool + tension, data = warpbreaks[1:30, ], nmulti = 1),
  conditional_distribution = function() npcdist(original("conditional_distribution_bw"), gradients = TRUE),
  quantiles = function() npqreg(original("conditional_distribution_bw"), gradients = TRUE),
  summary_of_quantiles = function() summary(original("quantiles")),
  sums = function() npksum(bws = c(0.2, 0.3), txdat = warpbreaks[1:30, -1L], tydat = warpbreaks$breaks[1:30]),
  summary_of_sums = function() summary(original("sums")),
  summary_of_density_bw = function() summary(original("density_bw")),
  summary_of_mixed_density = function() summary(original("density")),
  mixed = function() npregbw(breaks ~ wool + tension, data = warpbreaks[1:30, ], nmulti = 1),
  mixed_nn = function() {
    npregbw(data.frame(a = faithful$eruptions[1:20], z = factor(rep(1:2, 10))), faithful$waiting[1:20],
            bws = c(5, 0.2), bandwidth.compute = FALSE, bwtype = "adaptive_nn")
  },
  mixed_fit = function() {
    npreg(bws = c(0.5, 0.2, 3), txdat = data.frame(a = faithful$eruptions[1:20], z = factor(rep(1:2, 10)), b = 1:20),
          tydat = faithful$waiting[1:20], gradients = TRUE)
  },
  conmode = function() npconmode(c(0.1, 0.4), mtcars["wt"], factor(mtcars$cyl)),
  conmode_at = function() npconmode(factor(cyl) ~ wt, mtcars, newdata = data.frame(wt = 2:4), nmulti = 1),
  summary_of_conmode = function() summary(original("conmode")),
  plbw = function() npplregbw(mpg ~ hp + factor(am) | wt, mtcars),
  plreg = function() npplreg(original("plbw")),
  plreg_at = function() {
    npplreg(npplregbw(mpg ~ hp | wt + factor(am), mtcars, bws = matrix(0.4, 2, 2), bandwidth.compute = FALSE),
            newdata = mtcars[1:3, ])
  },
  summary_of_plbw = function() summary(original("plbw")),
  summary_of_plreg = function() summary(original("plreg")),
  cmstest = function() npcmstest(model = lm(mpg ~ wt, mtcars), xdat = mtcars$wt, boot.num = 9),
  summary_of_cmstest = function() summary(original("cmstest")),
  index_bw = function() npindexbw(mpg ~ wt + hp, mtcars, nmulti = 1),
  index = function() npindex(original("index_bw"), gradients = TRUE),
  index_at = function() npindex(c(1, -0.01, 0.5), mtcars[c("wt", "hp")], mtcars$am, method = "kleinspady"),
  summary_of_index_bw = function() summary(original("index_bw")),
  summary_of_index = function() summary(original("index")),
  scoef_bw = function() npscoefbw(mpg ~ hp | wt + factor(am), mtcars, nmulti = 1),
  scoef = function() npscoef(original("scoef_bw"), betas = TRUE),
  scoef_at = function() npscoef(original("scoef_bw"), newdata = mtcars[1:3, ]),
  summary_of_scoef_bw = function() summary(original("scoef_bw")),
  summary_of_scoef = function() summary(original("scoef")),
  kroc = function() kroc(faithful$eruptions[1:40], faithful$eruptions[41:90] + 1, gridsize = 9),
  kcopula = function() kcopula(faithful[1:40, ], gridsize = 5),
  histde = function() histde(faithful$eruptions),
  histde_plane = function() histde(faithful),
  kda = function() kda(faithful$eruptions[1:40], rep(1:2, 20), gridsize = 9),
  kda_plane = function() kda(faithful[1:40, ], rep(c("a", "b"), 20), gridsize = 5),
  summary_of_kda = function() summary(original("kda_plane")),
  kdetest = function() kde.test(faithful$eruptions[1:20], faithful$eruptions[21:50], B = 3),
  loctest = function() kde.local.test(faithful$eruptions[1:20], faithful$eruptions[21:50], gridsize = 9),
  loctest_plane = function() kde.local.test(faithful[1:20, ], faithful[21:50, ], gridsize = 5),
  unitest = function() npunitest(faithful$eruptions[1:20], faithful$eruptions[21:50], boot.num = 9),
  symtest = function() npsymtest(faithful$eruptions[1:20], boot.num = 9),
  deptest = function() npdeptest(faithful$eruptions[1:20], faithful$waiting[1:20], boot.num = 9, method = "summation"),
  deneqtest = function() npdeneqtest(faithful[1:20, ], faithful[21:50, ], c(0.3, 4), c(0.3, 4), boot.num = 9),
  summary_of_deneqtest = function() summary(original("deneqtest")),
  sdeptest = function() npsdeptest(faithful$eruptions[1:20], 2, "summation", boot.num = 9),
  summary_of_sdeptest = function() summary(original("sdeptest")),
  summary_of_deptest = function() summary(original("deptest")),
  sigtest = function() npsigtest(original("mixed"), boot.num = 9),
  summary_of_sigtest = function() summary(original("sigtest")),
  score = function() pdf_score(faithful[1:30, ], faithful[31:60, ], h = 1, gridsize = 6, B = 2),
  scores = function() {
    pdf_score(faithful[1:30, ], list(a = faithful[31:60, ], b = faithful[61:90, ]), h = 1, gridsize = 6,
              sensitivity = c(0.5, 2))
  },
  modes = function() modetree(faithful$eruptions[1:40], length = 9),
  slider = function() explore(kde(faithful$eruptions[1:40], gridsize = 9), factor = 1:2),
  map = function() sizer(faithful$eruptions[1:40], length = 4, gridsize = 9),
  map_plane = function() sizer(faithful[1:40, ], length = 3, gridsize = 5, deriv.order = 2),
  boot = function() hboot(faithful$eruptions[1:30], B = 2, h = c(0.3, 0.5, 1), gridsize = 30),
  boot_plane = function() Hboot(faithful[1:30, ], B = 2, h = c(0.3, 1), gridsize = 9),
  record = function() hscv(precip, amise = TRUE),
  record_of_matrix = function() Hpi(faithful, amise = TRUE),
  errors = function() q_error(1:5, c(2, 2, 3, 5, 5)),
  info = function() kestrel_info(),
  stream = function() kde_stream(faithful[1:40, ], function(slab) NULL, H = diag(2), gridsize = c(5, 5)),
  synopsis = function() {
    learn(kde_synopsis(faithful, size = 9), list(lower = c(2, 50), upper = c(4, 80)), 40)
  },
  selection = function() {
    kinds <- kde_synopsis(data.frame(faithful, kind = rep(c("u", "v"), 136)), size = 9)
    dplyr::group_by(dplyr::filter(kinds, waiting > 50 | kind == "u"), kind)
  },
  sketch_plan = function() sketch_plan(faithful$eruptions),
  sketch = function() kde_sketch(faithful$eruptions, sketch_plan(faithful$eruptions, hmin = 0.1)),
  sketch_bw = function() {
    rows <- faithful[rep(1:272, 5), ]
    npregbw(kde_sketch(rows, sketch_plan(rows, 0.4, "eruptions", y = "waiting")), 0.5, bandwidth.compute = FALSE)
  },
  plane_plan = function() sketch_plan(faithful),
  plane_sketch = function() kde_sketch(faithful, sketch_plan(faithful, hmin = c(1, 8))),
  plane_sketched = function() kde(original("plane_sketch"), H = diag(c(4, 100)), gridsize = 9),
  summary_of_plane = function() summary(original("plane_sketch")),
  sketched = function() kde(original("sketch"), h = 0.5, gridsize = 9),
  summary_of_sketch = function() summary(original("sketch")),
  summary_of_density = function() summary(original("plane")),
  summary_of_distribution = function() summary(original("above")),
  summary_of_fit = function() summary(original("fit")),
  summary_of_bandwidth = function() summary(original("bandwidth")),
  summary_of_mixed = function() summary(original("mixed")),
  summary_of_score = function() summary(original("score")),
  summary_of_boot = function() summary(original("boot"))
)

# Its factor has an order.
ordered_breaks <- transform(warpbreaks, tension = as.ordered(tension))

made <- new.env()

original <- function(name) {
  if (is.null(made[[name]])) assign(name, suppressWarnings(makers[[name]]()), envir = made)
  made[[name]]
}

# Edits of a field.
edits <- list(
  removed = function(value) NULL,
  empty = function(value) value[0],
  shorter = function(value) value[-1],
  longer = function(value) c(value, value),
  first = function(value) value[1],
  negative = function(value) if (is.numeric(value)) -value else rev(value),
  missing = function(value) replace(value, 1, NA),
  nothing = function(value) replace(value, 1, NaN),
  infinite = function(value) replace(value, length(value), Inf),
  zero = function(value) replace(value, seq_along(value), 0),
  huge = function(value) if (is.numeric(value)) value * 1e300 else value,
  half = function(value) if (is.numeric(value)) value + 0.5 else value,
  text = function(value) as.character(value),
  list = function(value) as.list(value),
  factor = function(value) factor(as.character(value)),
  complex = function(value) if (is.numeric(value)) value + 0i else 1i,
  flat = function(value) as.vector(value),
  turned = function(value) t(value),
  frame = function(value) as.data.frame(value),
  unnamed = function(value) unname(value),
  classed = function(value) structure(value, class = "mine"),
  failing = function(value) structure(value, class = c("failing", class(value))),
  environment = function(value) structure(new.env(), class = class(value)),
  bytes = function(value) {
    if (is.character(value)) replace(value, 1L, "\xff\xfe") else stats::setNames(value, "\xff\xfe")
  },
  cube = function(value) array(value, c(length(value), 1L, 1L))
)

# An object whose field (a path) is edited by the edit of that name, or replaced by a value. If the edit does not fit
# the field, it is left out.
edited <- function(object, field, edit) {
  value <- tryCatch(suppressWarnings(edits[[edit]](unclass(object)[[field]])), error = function(e) NULL)
  replaced(object, field, value)
}

# Uses the list, since a class may have a method of `[[<-`.
with_field <- function(object, name, value) {
  kept <- attributes(object)
  object <- unclass(object)
  if (is.null(value)) object[[name]] <- NULL else object[name] <- list(value)
  # A list with dimensions loses them together with one of its entries.
  kept[c("dim", "dimnames")] <- NULL
  kept$names <- names(object)
  attributes(object) <- kept
  object
}

# If an earlier edit has removed the list that a path leads into, nothing changes.
replaced <- function(object, field, value) {
  if (length(field) == 1L) return(with_field(object, field, value))
  within <- unclass(object)[[field[1L]]]
  if (is.list(within)) with_field(object, field[1L], with_field(within, field[2L], value)) else object
}

field_of <- function(object) {
  first <- pick(names(object))
  inner <- object[[first]]
  if (is.list(inner) && !is.null(names(inner)) && chance(0.5)) c(first, pick(names(inner))) else first
}

edited_object <- function(name) {
  call <- call("original", name)
  if (chance(0.03)) return(bquote(structure(new.env(), class = class(.(call)))))
  for (round in seq_len(pick(1:2, c(4, 1)))) {
    field <- field_of(original(name))
    call <- if (chance(0.8)) {
      call("edited", call, field, pick(names(edits)))
    } else {
      call("replaced", call, field, wrong_value())
    }
  }
  call
}

# Uses of an object of each class: calls in which OBJECT stands for it.
density_uses <- expression(
  print(OBJECT), nobs(OBJECT), summary(OBJECT), plot(OBJECT), as.data.frame(OBJECT), contourLevels(OBJECT),
  contourLevels(OBJECT, prob = 0.5), contourLevels(OBJECT, approx = FALSE), predict(OBJECT, x = AT), dkde(AT, OBJECT),
  pkde(3, OBJECT), qkde(0.5, OBJECT), rkde(2, OBJECT), marginal(OBJECT, 1), kde_query(OBJECT, AT, AT + 1),
  kde_query(OBJECT, AT, AT + 1, fun = "mean", of = 1), write_pdf(OBJECT, tempfile(fileext = ".nc")),
  pdf_score(OBJECT, OBJECT), plot(OBJECT, drawpoints = TRUE), lines(OBJECT), points(OBJECT),
  as.data.frame(OBJECT, interval = "simultaneous", B = 9), plot(OBJECT, interval = "pointwise", method = "asymptotic")
)
uses <- list(
  kestrel_kde = density_uses,
  kestrel_risk = expression(print(OBJECT), plot(OBJECT), as.data.frame(OBJECT)),
  kestrel_kde_groups = expression(print(OBJECT), plot(OBJECT), as.data.frame(OBJECT), nobs(OBJECT), predict(OBJECT, 30),
                                  predict(OBJECT, warpbreaks)),
  kestrel_kcde = expression(as.data.frame(OBJECT), nobs(OBJECT), print(OBJECT), summary(OBJECT), plot(OBJECT),
                            predict(OBJECT, x = AT), predict(OBJECT, x = AT, interval = "pointwise", B = 9),
                            plot(OBJECT, display = "slice", drawpoints = TRUE), lines(OBJECT), points(OBJECT)),
  kestrel_kdde = expression(nobs(OBJECT), print(OBJECT), plot(OBJECT), predict(OBJECT, x = AT), as.data.frame(OBJECT),
                            contourLevels(OBJECT), contourLevels(OBJECT, cont = 50), kcurv(OBJECT),
                            plot(OBJECT, display = "slice", which.deriv.ind = 2)),
  kestrel_bkde = expression(nobs(OBJECT), print(OBJECT), summary(OBJECT), plot(OBJECT), predict(OBJECT, x = AT),
                            as.data.frame(OBJECT), contourLevels(OBJECT, cont = 50)),
  kestrel_vkde = expression(nobs(OBJECT), print(OBJECT), summary(OBJECT), plot(OBJECT), predict(OBJECT, x = AT),
                            as.data.frame(OBJECT), contourLevels(OBJECT, cont = 50)),
  kestrel_kfs = expression(nobs(OBJECT), print(OBJECT), summary(OBJECT), plot(OBJECT), as.data.frame(OBJECT)),
  kestrel_kdr = expression(nobs(OBJECT), print(OBJECT), summary(OBJECT), plot(OBJECT), as.data.frame(OBJECT),
                           kdr.segment(OBJECT)),
  kestrel_kms = expression(as.data.frame(OBJECT), nobs(OBJECT), print(OBJECT), summary(OBJECT), plot(OBJECT)),
  kestrel_regbw = expression(as.data.frame(OBJECT), model.frame(OBJECT), print(OBJECT), summary(OBJECT),
                             plot(OBJECT), predict(OBJECT), formula(OBJECT),
                             nobs(OBJECT), npreg(OBJECT), npreg(bws = OBJECT, exdat = 2:3)),
  kestrel_reg = expression(logLik(OBJECT), model.frame(OBJECT), print(OBJECT), summary(OBJECT), plot(OBJECT),
                           predict(OBJECT), fitted(OBJECT),
                           predict(OBJECT, newdata = data.frame(eruptions = 2:3)), residuals(OBJECT), se(OBJECT),
                           gradients(OBJECT), npplot(OBJECT, plot.behavior = "data"), formula(OBJECT), nobs(OBJECT),
                           predict(OBJECT, interval = "confidence"),
                           as.data.frame(OBJECT), lines(OBJECT), points(OBJECT)),
  kestrel_mixed_bw = expression(print(OBJECT), summary(OBJECT), plot(OBJECT), predict(OBJECT), formula(OBJECT),
                                nobs(OBJECT), npreg(OBJECT, gradients = TRUE),
                                npreg(bws = OBJECT, exdat = data.frame(wool = "B", tension = "H"))),
  kestrel_mixed = expression(print(OBJECT), summary(OBJECT), plot(OBJECT), predict(OBJECT), fitted(OBJECT),
                             predict(OBJECT, newdata = data.frame(a = 2, z = "2", b = 3)), residuals(OBJECT),
                             se(OBJECT), gradients(OBJECT), npplot(OBJECT, plot.behavior = "data"), formula(OBJECT),
                             nobs(OBJECT), as.data.frame(OBJECT), lines(OBJECT), points(OBJECT)),
  kestrel_densbw = expression(as.data.frame(OBJECT), model.frame(OBJECT), print(OBJECT), summary(OBJECT),
                              plot(OBJECT), predict(OBJECT), formula(OBJECT),
                              nobs(OBJECT), npudens(OBJECT), npudens(bws = OBJECT, edat = warpbreaks[1:2, ])),
  kestrel_dens = expression(logLik(OBJECT), model.frame(OBJECT), print(OBJECT), summary(OBJECT), plot(OBJECT),
                            predict(OBJECT), fitted(OBJECT), se(OBJECT),
                            predict(OBJECT, newdata = warpbreaks[1:2, ]), formula(OBJECT), nobs(OBJECT),
                            as.data.frame(OBJECT)),
  kestrel_condensbw = expression(print(OBJECT), summary(OBJECT), plot(OBJECT), predict(OBJECT), formula(OBJECT),
                                 nobs(OBJECT), npcdens(OBJECT), npcdens(bws = OBJECT, gradients = TRUE)),
  kestrel_condens = expression(print(OBJECT), summary(OBJECT), plot(OBJECT), predict(OBJECT), fitted(OBJECT),
                               se(OBJECT), gradients(OBJECT), gradients(OBJECT, errors = TRUE),
                               predict(OBJECT, newdata = warpbreaks[1:2, ]), formula(OBJECT), nobs(OBJECT),
                               as.data.frame(OBJECT)),
  kestrel_distbw = expression(print(OBJECT), summary(OBJECT), plot(OBJECT), predict(OBJECT), formula(OBJECT),
                              nobs(OBJECT), npudist(OBJECT), npudist(bws = OBJECT, edat = ordered_breaks[1:2, -2L])),
  kestrel_dist = expression(print(OBJECT), summary(OBJECT), plot(OBJECT), predict(OBJECT), fitted(OBJECT), se(OBJECT),
                            predict(OBJECT, newdata = ordered_breaks[1:2, ]), formula(OBJECT), nobs(OBJECT),
                            as.data.frame(OBJECT)),
  kestrel_condistbw = expression(print(OBJECT), summary(OBJECT), plot(OBJECT), predict(OBJECT), formula(OBJECT),
                                 nobs(OBJECT), npcdist(OBJECT), npcdist(bws = OBJECT, gradients = TRUE),
                                 npqreg(OBJECT, tau = 0.9)),
  kestrel_condist = expression(print(OBJECT), summary(OBJECT), plot(OBJECT), predict(OBJECT), fitted(OBJECT),
                               se(OBJECT), gradients(OBJECT), gradients(OBJECT, errors = TRUE),
                               predict(OBJECT, newdata = warpbreaks[1:2, ]), formula(OBJECT), nobs(OBJECT),
                               as.data.frame(OBJECT)),
  kestrel_qreg = expression(model.frame(OBJECT), print(OBJECT), summary(OBJECT), plot(OBJECT), predict(OBJECT),
                            predict(OBJECT, tau = 0.2),
                            fitted(OBJECT), quantile(OBJECT), se(OBJECT), gradients(OBJECT), formula(OBJECT),
                            nobs(OBJECT), as.data.frame(OBJECT), predict(OBJECT, newdata = warpbreaks[1:2, ])),
  kestrel_ksum = expression(as.data.frame(OBJECT), nobs(OBJECT), print(OBJECT), summary(OBJECT)),
  summary.kestrel_qreg = expression(print(OBJECT)), summary.kestrel_ksum = expression(print(OBJECT)),
  summary.kestrel_densbw = expression(print(OBJECT)), summary.kestrel_dens = expression(print(OBJECT)),
  kestrel_conmode = expression(as.data.frame(OBJECT), model.frame(OBJECT), nobs(OBJECT), formula(OBJECT),
                               print(OBJECT), summary(OBJECT), fitted(OBJECT), predict(OBJECT),
                               predict(OBJECT, type = "prob")),
  summary.kestrel_conmode = expression(print(OBJECT)),
  kestrel_plbw = expression(as.data.frame(OBJECT), formula(OBJECT), model.frame(OBJECT), nobs(OBJECT),
                            print(OBJECT), summary(OBJECT), npplreg(OBJECT),
                            npplreg(bws = OBJECT, newdata = mtcars)),
  kestrel_plreg = expression(as.data.frame(OBJECT), formula(OBJECT), model.frame(OBJECT), nobs(OBJECT),
                             print(OBJECT), summary(OBJECT), fitted(OBJECT), residuals(OBJECT), coef(OBJECT),
                             coef(OBJECT, errors = TRUE), vcov(OBJECT), predict(OBJECT),
                             predict(OBJECT, newdata = mtcars[1:2, ]), plot(OBJECT)),
  summary.kestrel_plbw = expression(print(OBJECT)), summary.kestrel_plreg = expression(print(OBJECT)),
  kestrel_cmstest = expression(as.data.frame(OBJECT), print(OBJECT), summary(OBJECT)),
  summary.kestrel_cmstest = expression(print(OBJECT)),
  kestrel_sibw = expression(as.data.frame(OBJECT), formula(OBJECT), model.frame(OBJECT), nobs(OBJECT),
                            print(OBJECT), summary(OBJECT), coef(OBJECT),
                            npindex(OBJECT, gradients = TRUE),
                            npindex(bws = OBJECT, newdata = mtcars)),
  kestrel_si = expression(as.data.frame(OBJECT), formula(OBJECT), model.frame(OBJECT), nobs(OBJECT), print(OBJECT),
                          summary(OBJECT), fitted(OBJECT), residuals(OBJECT), coef(OBJECT),
                          coef(OBJECT, errors = TRUE), vcov(OBJECT), predict(OBJECT), se(OBJECT), gradients(OBJECT),
                          predict(OBJECT, newdata = mtcars[1:2, ]), plot(OBJECT)),
  summary.kestrel_sibw = expression(print(OBJECT)), summary.kestrel_si = expression(print(OBJECT)),
  kestrel_scbw = expression(as.data.frame(OBJECT), formula(OBJECT), model.frame(OBJECT), nobs(OBJECT),
                            print(OBJECT), summary(OBJECT), npscoef(OBJECT),
                            npscoef(bws = OBJECT, newdata = mtcars)),
  kestrel_sc = expression(as.data.frame(OBJECT), formula(OBJECT), model.frame(OBJECT), nobs(OBJECT), print(OBJECT),
                          summary(OBJECT), fitted(OBJECT), residuals(OBJECT), coef(OBJECT),
                          coef(OBJECT, errors = TRUE), predict(OBJECT), se(OBJECT), plot(OBJECT),
                          predict(OBJECT, newdata = mtcars[1:2, ]), plot(OBJECT, coef = TRUE)),
  summary.kestrel_scbw = expression(print(OBJECT)), summary.kestrel_sc = expression(print(OBJECT)),
  kestrel_kroc = expression(as.data.frame(OBJECT), print(OBJECT), summary(OBJECT), plot(OBJECT), predict(OBJECT, 0.2)),
  kestrel_kcopula = expression(as.data.frame(OBJECT), nobs(OBJECT), print(OBJECT), plot(OBJECT)),
  kestrel_histde = expression(as.data.frame(OBJECT), nobs(OBJECT), print(OBJECT), plot(OBJECT),
                              predict(OBJECT, rep(2, length(OBJECT$names)))),
  kestrel_kda = expression(as.data.frame(OBJECT), nobs(OBJECT), print(OBJECT), summary(OBJECT), plot(OBJECT),
                           contourLevels(OBJECT, cont = 50),
                           predict(OBJECT, rep(2, length(OBJECT$names)))),
  summary.kestrel_kda = expression(print(OBJECT)),
  kestrel_kdetest = expression(as.data.frame(OBJECT), print(OBJECT)),
  kestrel_loctest = expression(as.data.frame(OBJECT), print(OBJECT), plot(OBJECT)),
  kestrel_deneqtest = expression(as.data.frame(OBJECT), print(OBJECT), summary(OBJECT)),
  summary.kestrel_deneqtest = expression(print(OBJECT)),
  kestrel_sdeptest = expression(as.data.frame(OBJECT), print(OBJECT), summary(OBJECT)),
  summary.kestrel_sdeptest = expression(print(OBJECT)),
  kestrel_srho = expression(as.data.frame(OBJECT), print(OBJECT), summary(OBJECT)),
  summary.kestrel_srho = expression(print(OBJECT)),
  kestrel_sigtest = expression(as.data.frame(OBJECT), print(OBJECT), summary(OBJECT)),
  summary.kestrel_sigtest = expression(print(OBJECT)),
  kestrel_curve = expression(fitted(OBJECT), se(OBJECT), gradients(OBJECT), gradients(OBJECT, errors = TRUE)),
  kestrel_score = expression(print(OBJECT), summary(OBJECT), plot(OBJECT), as.data.frame(OBJECT)),
  kestrel_boot = expression(as.data.frame(OBJECT), nobs(OBJECT), print(OBJECT), summary(OBJECT), plot(OBJECT)),
  kestrel_modetree = expression(as.data.frame(OBJECT), nobs(OBJECT), print(OBJECT), summary(OBJECT), plot(OBJECT)),
  kestrel_sizer = expression(nobs(OBJECT), print(OBJECT), summary(OBJECT), plot(OBJECT), as.data.frame(OBJECT)),
  kestrel_sizer_plane = expression(nobs(OBJECT), print(OBJECT), summary(OBJECT), plot(OBJECT), as.data.frame(OBJECT)),
  kestrel_explorer = expression(as.data.frame(OBJECT), print(OBJECT)),
  kestrel_record = expression(as.data.frame(OBJECT), print(OBJECT), plot(OBJECT)),
  kestrel_q_error = expression(as.data.frame(OBJECT), print(OBJECT), plot(OBJECT)),
  kestrel_info = expression(print(OBJECT)),
  kestrel_stream = expression(print(OBJECT)),
  kestrel_sketch_plan = expression(print(OBJECT), as.data.frame(OBJECT), kde_sketch(1:3, OBJECT),
                                   sketch_sql(OBJECT, "t", "x")),
  kestrel_sketch = expression(nobs(OBJECT), print(OBJECT), summary(OBJECT), plot(OBJECT), c(OBJECT, OBJECT),
                              OBJECT + OBJECT, update(OBJECT, 1:3), as.data.frame(OBJECT), hpi(OBJECT), hlscv(OBJECT),
                              hscv(OBJECT), npregbw(OBJECT)),
  summary.kestrel_sketch = expression(print(OBJECT)),
  kestrel_sketch_regbw = expression(print(OBJECT), predict(OBJECT, c(2, 4)), as.data.frame(OBJECT), nobs(OBJECT),
                                    formula(OBJECT)),
  kestrel_synopsis = expression(as.data.frame(OBJECT), print(OBJECT), kde_query(OBJECT, c(2, 50), c(4, 80)),
                                kde_query(OBJECT, eruptions > 3),
                                kde_query(OBJECT, waiting > 60 | eruptions < 2, mean(eruptions)),
                                dplyr::count(dplyr::filter(OBJECT, waiting > 60), cut(eruptions, c(1, 3, 5))),
                                dplyr::summarise(dplyr::group_by(OBJECT), n = n(), median(waiting)), plot(OBJECT),
                                dplyr::filter(OBJECT, waiting > 60), dplyr::group_by(OBJECT, cut(waiting, c(50, 60))),
                                learn(OBJECT, list(lower = c(2, 50), upper = c(4, 80)), 40),
                                kde_join(OBJECT, OBJECT, "waiting")),
  kestrel_selection = expression(print(OBJECT), dplyr::count(OBJECT), dplyr::summarise(OBJECT, mean(waiting)),
                                 dplyr::filter(OBJECT, waiting < 90),
                                 dplyr::group_by(OBJECT, cut(waiting, c(40, 60)))),
  summary.kestrel_kde = expression(print(OBJECT)),
  summary.kestrel_kcde = expression(print(OBJECT)),
  summary.kestrel_reg = expression(print(OBJECT)),
  summary.kestrel_regbw = expression(print(OBJECT)),
  summary.kestrel_mixed_bw = expression(print(OBJECT)),
  summary.kestrel_score = expression(print(OBJECT)),
  summary.kestrel_boot = expression(print(OBJECT))
)

# Calls of generics of other packages, whose methods have tables of classes.
foreign_calls <- list(
  tidy = quote(generics::tidy(OBJECT)), glance = quote(generics::glance(OBJECT)),
  augment = quote(generics::augment(OBJECT)), autoplot = quote(ggplot2::ggplot_build(ggplot2::autoplot(OBJECT))),
  autolayer = quote(ggplot2::autolayer(OBJECT)), knit_print = quote(knitr::knit_print(OBJECT)),
  st_as_sf = quote(sf::st_as_sf(OBJECT)),
  st_as_stars = quote(stars::st_as_stars(OBJECT))
)

foreign_generics <- unlist(unname(kestrel:::foreign_methods()), recursive = FALSE)

foreign_uses <- function(object) {
  takes <- vapply(foreign_generics, function(generic) inherits(object, generic$classes), NA)
  c(unname(foreign_calls[names(foreign_generics)[takes]]),
    if (inherits(object, c("kestrel_kde", "kestrel_bkde"))) quote(terra::rast(OBJECT)))
}

# The methods that kestrel registers and `uses` lacks.
methods_forgotten <- function() {
  registered <- getNamespaceInfo("kestrel", "S3methods")
  ours <- grepl("kestrel_", registered[, 2L])
  used <- unlist(lapply(names(uses), function(class) {
    paste(vapply(uses[[class]], function(use) utils::tail(as.character(use[[1L]]), 1L), ""), class)
  }))
  c(setdiff(paste(registered[ours, 1L], registered[ours, 2L]), used),
    setdiff(names(foreign_generics), names(foreign_calls)))
}

object_call <- function() {
  name <- pick(names(makers))
  object <- original(name)
  foreign <- foreign_uses(object)
  use <- if (length(foreign) > 0L && chance(0.2)) {
    pick(foreign)
  } else {
    pick(uses[[intersect(class(object), names(uses))[1L]]])
  }
  estimates <- c("kestrel_kde", "kestrel_kcde", "kestrel_kdde")
  d <- if (inherits(object, estimates) && is.matrix(object$x)) ncol(object$x) else 1L
  do.call(substitute, list(use, list(OBJECT = edited_object(name), AT = if (d == 1L) 2.5 else t(rep(2.5, d)))))
}

# An edited object may give any value, with missing values where its numbers were removed.
judge_object <- function(call, environment) {
  # libnetcdf may crash on it.
  end <- if (call[[1L]] == quote(write_pdf)) run_in_fork(call, environment) else run_call(call, 1L, environment)
  if (!is.null(end$wrong)) return(end$wrong)
  if (end$seconds > patience) return(took_too_long(end))
  if (out_of_time(end)) return(NULL)
  wrong_conditions(end, call, deparse1(call[[1L]]))
}
