# The fields of each class that are read by its methods and by functions that take such objects: see object-check.R.
# Fields that determine the sizes of others come first.

curve_column <- function(of) fitted_numbers(length(of[["curve"]][["h"]]), sign = "not negative")

boot_fields <- list(
  names = texts(min = 1L),
  axes = function(of) each(axis(), columns_of(of)),
  curve = columns(list(h = numbers(min = 1L, sign = "positive", increasing = TRUE), min = curve_column,
                       lower = curve_column, median = curve_column, upper = curve_column, max = curve_column)),
  h = function(of) {
    numbers(1L, also = list("one of the bandwidths of `curve`", function(h) h %in% of[["curve"]][["h"]]))
  },
  h0 = numbers(1L, sign = "positive"),
  n = numbers(1L, sign = "positive", whole = TRUE),
  n_eff = numbers(1L, sign = "positive"),
  B = numbers(1L, sign = "positive", whole = TRUE),
  convergence = numbers(1L, whole = TRUE),
  kernel = texts(1L),
  seconds = numbers(1L)
)

stream_fields <- list(
  names = texts(min = 1L),
  axes = function(of) each(axis(), columns_of(of)),
  n = numbers(1L, sign = "positive", whole = TRUE),
  slabs = numbers(1L, sign = "positive", whole = TRUE),
  file = texts(1L, optional = TRUE),
  engine = texts(1L), backend = texts(1L), device = texts(1L, optional = TRUE),
  transform = function(of) transform_field(columns_of(of), numeric(0), "images"),
  kernel = function(of) texts(1L, among = kernel_names()), n_eff = numbers(1L, sign = "positive"),
  H = function(of) bandwidth_matrix(columns_of(of), FALSE),
  largest = numbers(1L, sign = "not negative"),
  mass = numbers(1L, sign = "not negative"),
  seconds = numbers(1L)
)

rows_of_x <- function(of) nrow(of[["x"]])

# The categories of one column of a synopsis.
label_field <- function(of) {
  parts(list(
    levels = texts(),
    counts = numbers(sign = "not negative", whole = TRUE),
    other = numbers(1L, sign = "not negative", whole = TRUE),
    codes = numbers(rows_of_x(of), sign = "not negative", whole = TRUE)
  ), also = list("a count for each of `levels`, and one of their numbers, or 0, for each row", function(label) {
    length(label$counts) == length(label$levels) && all(label$codes <= length(label$levels))
  }))
}

synopsis_fields <- list(
  version = function(of) {
    numbers(1L, also = list(paste0(synopsis_version, ", as in synopses that this version of the package makes"),
                            function(version) version == synopsis_version))
  },
  names = texts(min = 1L),
  N = numbers(1L, sign = "positive", whole = TRUE),
  x = function(of) {
    numbers(c(NA, columns_of(of)), also = list("at most `N` rows", function(x) nrow(x) <= of[["N"]]))
  },
  w = function(of) {
    numbers(rows_of_x(of), sign = "not negative", optional = TRUE,
            also = list("weights of which one is positive", function(w) any(w > 0)))
  },
  kernel = function(of) texts(1L, among = kernel_names()),
  H = function(of) bandwidth_matrix(columns_of(of), is_compact(of[["kernel"]]), number = FALSE),
  types = function(of) texts(columns_of(of), among = c("number", "Date", "POSIXct")),
  labels = function(of) {
    what <- each(label_field(of), NULL)
    what$also <- list("a list with different names", function(labels) {
      length(labels) == 0L || all(nzchar(names(labels))) && anyDuplicated(names(labels)) == 0L
    })
    what
  },
  ranges = function(of) {
    numbers(c(2L, columns_of(of)), also = list("lower limits above upper ones",
                                               function(ranges) all(ranges[1L, ] <= ranges[2L, ])))
  },
  tuning = parts(list(factor = numbers(1L, sign = "positive"), queries = numbers(1L, sign = "positive", whole = TRUE),
                      errors = numbers(c(2L, 4L), also = list("a table of q-errors", function(errors) {
                        "median" %in% colnames(errors)
                      }))), optional = TRUE),
  transform = function(of) transform_field(columns_of(of), numeric(0), "images"),
  source = parts(list(
    from = texts(1L),
    columns = texts(min = 1L),
    is_table = flag(),
    na.action = texts(1L, among = c("na.fail", "na.omit"))
  ), optional = TRUE),
  key = function(of) {
    parts(list(
      name = texts(1L),
      values = numbers(rows_of_x(of)),
      last = numbers(1L),
      type = texts(1L, among = c("number", "Date", "POSIXct"))
    ), optional = TRUE)
  },
  history = columns(list(
    event = anything(list("\"learn\" or \"refresh\"", function(event) all(event %in% c("learn", "refresh")))),
    queries = numbers(sign = "not negative", whole = TRUE),
    median = numbers(finite = FALSE),
    largest = numbers(finite = FALSE),
    replaced = numbers(sign = "not negative", whole = TRUE)
  ), optional = TRUE, also = list("q-errors, at least one, of each batch that was learned", function(history) {
    learned <- history$event == "learn"
    all(is.finite(history$median[learned])) && all(history$largest[learned] >= 1)
  })),
  learning = function(of) {
    parts(list(squares = numbers(columns_of(of), sign = "not negative"), karma = numbers(rows_of_x(of))),
          optional = TRUE)
  }
)

# The cells of a selection: boxes of the synopsis, and sets of its categories.
cell_field <- function(of) {
  limits <- function(value) {
    is_numbers(value) && identical(dim(value), c(1L, columns_of(of[["synopsis"]]))) && !anyNA(value)
  }
  known <- function(sets) {
    is.list(sets) && all(names(sets) %in% names(of[["synopsis"]]$labels)) &&
      all(vapply(names(sets), function(name) {
        is.logical(sets[[name]]) && !anyNA(sets[[name]]) &&
          length(sets[[name]]) == length(of[["synopsis"]]$labels[[name]]$levels) + 1L
      }, NA))
  }
  parts(list(), also = list("limits of the variables, and sets of categories", function(cell) {
    limits(cell$lower) && limits(cell$upper) && known(cell$sets)
  }))
}

selection_fields <- list(
  synopsis = of_class("kestrel_synopsis"),
  conditions = texts(),
  cells = function(of) {
    what <- each(cell_field(of), NULL)
    what$also <- list("cells, at least one", function(cells) length(cells) > 0L)
    what
  },
  groups = function(of) {
    each(parts(list(
      name = texts(1L),
      values = anything(list("texts", is.character)),
      cells = each(cell_field(of), NULL)
    ), also = list("as many cells as values", function(group) length(group$cells) == length(group$values))), NULL)
  }
)

found_devices <- anything(list("a data frame of devices", function(devices) {
  is.data.frame(devices) && nrow(devices) > 0L && is.character(devices[["device"]]) &&
    is.numeric(devices[["memory"]]) && is.character(devices[["capability"]]) && is.logical(devices[["used"]]) &&
    is.character(devices[["reason"]])
}))

info_fields <- list(
  version = texts(1L), isa = texts(1L), isa_available = texts(min = 1L),
  threads = numbers(1L, sign = "positive", whole = TRUE),
  cuda = parts(list(
    usable = flag(),
    reason = function(of) if (!of[["cuda"]][["usable"]]) texts(1L),
    device = function(of) if (of[["cuda"]][["usable"]]) texts(1L),
    memory = function(of) if (of[["cuda"]][["usable"]]) numbers(1L, sign = "positive"),
    capability = function(of) if (of[["cuda"]][["usable"]]) texts(1L),
    driver = function(of) if (of[["cuda"]][["usable"]]) texts(1L),
    devices = function(of) if (of[["cuda"]][["usable"]]) found_devices
  )),
  build = anything(list("a list of strings and flags, named", function(build) {
    if (!is.list(build) || is.object(build)) return(FALSE)
    !is.null(names(build)) && length(build) > 0L && all(vapply(build, function(part) {
      !is.object(part) && length(part) == 1L && (is.character(part) || is.logical(part)) && !is.na(part)
    }, NA))
  }))
)

q_error_fields <- list(
  errors = function(of) {
    numbers(c(NA, NCOL(without_class(of[["errors"]]))), sign = "positive",
            also = list("a matrix with names of columns", function(errors) !is.null(colnames(errors))))
  },
  table = function(of) {
    numbers(c(ncol(of[["errors"]]), 4L), sign = "positive", also = list(
      "a table with the columns of `errors` as rows",
      function(table) identical(rownames(table), colnames(of[["errors"]])) && !is.null(colnames(table))
    ))
  }
)

models_of <- function(of) length(of[["score"]])

# A row for each model, under its name.
models_matrix <- function(columns) {
  function(of) {
    count <- columns(columns_of(of))
    # One variable has no pairs.
    if (count == 0) return(NULL)
    numbers(c(models_of(of), count), finite = FALSE, also = list(
      "a matrix with rows named as the models and names of columns",
      function(value) identical(rownames(value), names(of[["score"]])) && !is.null(colnames(value))
    ))
  }
}

pairs_count <- function(d) d * (d - 1) / 2

model_column <- function(of) texts(among = names(of[["score"]]))

score_column <- function() numbers(finite = FALSE)

# The densities of the variables and their pairs, by the names of margin_dims().
margins_of <- function(of) {
  margins <- margin_dims(columns_of(of))
  parts(lapply(margins, function(dims) function(of) numbers(lengths(of[["axes"]])[dims], sign = "not negative")))
}

score_fields <- list(
  names = texts(min = 1L),
  score = numbers(min = 1L, sign = "not negative", also = list("scores with the names of models", function(score) {
    !is.null(names(score)) && !anyNA(names(score)) && anyDuplicated(names(score)) == 0L
  })),
  axes = function(of) each(axis(), columns_of(of)),
  table = columns(list(
    model = function(of) {
      model <- texts(models_of(of), among = names(of[["score"]]))
      c(model, list(also = list("a model in each row", function(value) anyDuplicated(value) == 0L)))
    },
    score = function(of) numbers(models_of(of), sign = "not negative"),
    rank = function(of) numbers(models_of(of), sign = "positive", whole = TRUE),
    corrected = function(of) if (!is.null(of[["replicates"]])) fitted_numbers(models_of(of)),
    lower = function(of) if (!is.null(of[["replicates"]])) fitted_numbers(models_of(of)),
    upper = function(of) if (!is.null(of[["replicates"]])) fitted_numbers(models_of(of))
  )),
  variables = models_matrix(identity),
  pairs = models_matrix(pairs_count),
  bias = models_matrix(identity),
  marginals = parts(list(
    obs = margins_of,
    models = function(of) parts(stats::setNames(rep(list(margins_of), models_of(of)), names(of[["score"]])))
  )),
  n = function(of) numbers(models_of(of) + 1L, sign = "positive", whole = TRUE),
  sensitivity = columns(list(model = model_column, h = numbers(sign = "positive"), score = score_column(),
                             rank = score_column()), optional = TRUE),
  replicates = function(of) {
    numbers(c(NA, models_of(of)), finite = FALSE, optional = TRUE)
  },
  h = numbers(1L, sign = "positive", optional = TRUE),
  level = numbers(1L, also = list("a number between 0 and 1", function(level) level > 0 && level < 1)),
  centred = flag(),
  seconds = numbers(1L)
)

record_curve <- function() {
  columns(list(h = numbers(min = 1L, sign = "positive"), objective = numbers(min = 1L)), optional = TRUE)
}

without_curve <- function(of) is.null(of[["curve"]]) && is.null(of[["path"]])

record_fields <- list(
  h = function(of) numbers(1L, sign = "positive", optional = without_curve(of)),
  H = anything(list("a square matrix of numbers", function(H) {
    is_numbers(H) && length(dim(H)) == 2L && nrow(H) == ncol(H) && all(is.finite(H))
  }), optional = TRUE),
  objective = function(of) numbers(1L, optional = without_curve(of)),
  convergence = numbers(1L, optional = TRUE),
  evaluations = function(of) if (!is.null(of[["convergence"]])) numbers(1L),
  engine = texts(1L, optional = TRUE),
  backend = texts(1L, optional = TRUE),
  device = texts(1L, optional = TRUE),
  seconds = function(of) if (!is.null(of[["engine"]])) numbers(1L),
  curve = record_curve(),
  path = record_curve()
)

# What each class is, in words, and its fields.
bandwidth_table_field <- columns(list(), also = list("a data frame of numbers and strings", function(table) {
  all(vapply(unclass(table), function(column) is.atomic(column) && !is.null(column), NA))
}))

object_classes <- list(
  kestrel_kde = list(made = "an estimate made by kde()", fields = estimate_fields),
  kestrel_kde_groups = list(made = "estimates by group made by kde()", fields = kde_groups_fields),
  summary.kestrel_kde = list(made = "a summary of an estimate", fields = list(
    fhat = of_class("kestrel_kde"),
    levels = numbers(min = 1L, sign = "not negative", optional = TRUE),
    mass = function(of) if (of[["fhat"]][["gridded"]]) numbers(1L)
  )),
  kestrel_kcde = list(made = "an estimate made by kcde()", fields = kcde_fields),
  summary.kestrel_kcde = list(made = "a summary of an estimate", fields = list(
    fhat = of_class("kestrel_kcde"),
    quantiles = function(of) {
      named <- function(value) length(dimnames(value)) == 2L && !any(vapply(dimnames(value), is.null, NA))
      numbers(c(length(of[["fhat"]][["names"]]), 5L), also = list("a matrix with names of rows and columns", named))
    }
  )),
  kestrel_kdde = list(made = "an estimate made by kdde()", fields = kdde_fields),
  kestrel_bkde = list(made = "an estimate made by kde.boundary() or kde.truncate()", fields = bkde_fields),
  kestrel_vkde = list(made = "an estimate made by kde.balloon() or kde.sp()", fields = vkde_fields),
  kestrel_kfs = list(made = "regions made by kfs()", fields = kfs_fields),
  kestrel_kdr = list(made = "ridges made by kdr()", fields = kdr_fields),
  kestrel_kms = list(made = "clusters made by kms()", fields = kms_fields),
  kestrel_stream = list(made = "what kde_stream() returned", fields = stream_fields),
  kestrel_synopsis = list(made = "a synopsis made by kde_synopsis()", fields = synopsis_fields),
  kestrel_selection = list(made = "a selection of a synopsis, of filter() or group_by()", fields = selection_fields),
  kestrel_sketch_plan = list(made = "a plan made by sketch_plan()", fields = sketch_plan_fields),
  kestrel_sketch = list(made = "a sketch made by kde_sketch()", fields = list(
    bytes = anything(list("a raw vector", function(bytes) is.raw(bytes) && !is.object(bytes)))
  )),
  summary.kestrel_sketch = list(made = "a summary of a sketch", fields = sketch_summary_fields),
  kestrel_sketch_regbw = list(made = "a bandwidth of a sketch made by npregbw()", fields = sketch_regbw_fields),
  kestrel_q_error = list(made = "errors made by q_error()", fields = q_error_fields),
  kestrel_regbw = list(made = "a bandwidth object made by npregbw()", fields = regbw_fields),
  kestrel_mixed_bw = list(made = "a bandwidth object made by npregbw()", fields = mixed_bw_fields,
                          kind_of = "kestrel_regbw"),
  summary.kestrel_mixed_bw = list(made = "a summary of a bandwidth object", fields = list(
    bws = of_class("kestrel_regbw"), table = bandwidth_table_field
  )),
  summary.kestrel_regbw = list(made = "a summary of a bandwidth object", fields = list(
    bws = of_class("kestrel_regbw"),
    best = columns(list(bw = fitted_numbers(NULL), cv = fitted_numbers(NULL), n.unsupported = fitted_numbers(NULL)),
                   optional = TRUE)
  )),
  kestrel_reg = list(made = "a fit made by npreg()", fields = fit_fields),
  kestrel_mixed = list(made = "a fit made by npreg()", fields = mixed_fields, kind_of = "kestrel_reg"),
  summary.kestrel_reg = list(made = "a summary of a fit", fields = list(fit = of_class("kestrel_reg"))),
  kestrel_densbw = list(made = "a bandwidth object made by npudensbw() or npcdensbw()",
                        fields = densbw_fields()),
  summary.kestrel_densbw = list(made = "a summary of a bandwidth object", fields = list(
    bws = of_class("kestrel_densbw"), table = bandwidth_table_field
  )),
  kestrel_condensbw = list(made = "a bandwidth object made by npcdensbw()", fields = condensbw_fields(),
                           kind_of = "kestrel_densbw"),
  kestrel_distbw = list(made = "a bandwidth object made by npudistbw()", fields = densbw_fields(distribution_methods),
                        kind_of = "kestrel_densbw"),
  kestrel_condistbw = list(made = "a bandwidth object made by npcdistbw()",
                           fields = condensbw_fields(distribution_methods), kind_of = "kestrel_densbw"),
  kestrel_ksum = list(made = "kernel sums made by npksum()", fields = ksum_fields),
  summary.kestrel_ksum = list(made = "a summary of kernel sums", fields = list(sums = of_class("kestrel_ksum"))),
  kestrel_qreg = list(made = "a quantile regression made by npqreg()", fields = qreg_fields),
  summary.kestrel_qreg = list(made = "a summary of a quantile regression",
                              fields = list(fit = of_class("kestrel_qreg"))),
  kestrel_dist = list(made = "a distribution function made by npudist()", fields = dist_fields,
                      kind_of = "kestrel_dens"),
  kestrel_condist = list(made = "a distribution function made by npcdist()", fields = condist_fields,
                         kind_of = "kestrel_dens"),
  kestrel_dens = list(made = "a density made by npudens() or npcdens()", fields = dens_fields),
  kestrel_condens = list(made = "a density made by npcdens()", fields = condens_fields, kind_of = "kestrel_dens"),
  summary.kestrel_dens = list(made = "a summary of a density", fields = list(fit = of_class("kestrel_dens"))),
  kestrel_sigtest = list(made = "a test made by npsigtest()", fields = sigtest_fields),
  summary.kestrel_sigtest = list(made = "a summary of a test", fields = list(test = of_class("kestrel_sigtest"))),
  kestrel_conmode = list(made = "modes made by npconmode()", fields = conmode_fields),
  summary.kestrel_conmode = list(made = "a summary of modes", fields = list(mode = of_class("kestrel_conmode"))),
  kestrel_plbw = list(made = "a bandwidth object made by npplregbw()", fields = plbw_fields),
  summary.kestrel_plbw = list(made = "a summary of bandwidths", fields = list(bws = of_class("kestrel_plbw"))),
  kestrel_plreg = list(made = "a fit made by npplreg()", fields = plreg_fields),
  summary.kestrel_plreg = list(made = "a summary of a fit", fields = list(fit = of_class("kestrel_plreg"))),
  kestrel_cmstest = list(made = "a test made by npcmstest() or npqcmstest()", fields = cmstest_fields),
  summary.kestrel_cmstest = list(made = "a summary of a test", fields = list(test = of_class("kestrel_cmstest"))),
  kestrel_sibw = list(made = "a bandwidth object made by npindexbw()", fields = sibw_fields),
  summary.kestrel_sibw = list(made = "a summary of coefficients", fields = list(bws = of_class("kestrel_sibw"))),
  kestrel_si = list(made = "a fit made by npindex()", fields = si_fields),
  summary.kestrel_si = list(made = "a summary of a fit", fields = list(fit = of_class("kestrel_si"))),
  kestrel_scbw = list(made = "a bandwidth object made by npscoefbw()", fields = scbw_fields),
  summary.kestrel_scbw = list(made = "a summary of a bandwidth object", fields = list(
    bws = of_class("kestrel_scbw"), table = bandwidth_table_field
  )),
  kestrel_sc = list(made = "a fit made by npscoef()", fields = sc_fields),
  summary.kestrel_sc = list(made = "a summary of a fit", fields = list(
    fit = of_class("kestrel_sc"), beta = function(of) fitted_numbers(c(NA, ncol(of[["fit"]][["bws"]][["design"]]) + 1L))
  )),
  kestrel_deneqtest = list(made = "a test made by npdeneqtest()", fields = deneqtest_fields),
  summary.kestrel_deneqtest = list(made = "a summary of a test", fields = list(test = of_class("kestrel_deneqtest"))),
  kestrel_sdeptest = list(made = "a test made by npsdeptest()", fields = sdeptest_fields),
  summary.kestrel_sdeptest = list(made = "a summary of a test", fields = list(test = of_class("kestrel_sdeptest"))),
  kestrel_srho = list(made = "a test made by npunitest(), npsymtest() or npdeptest()", fields = srho_fields),
  summary.kestrel_srho = list(made = "a summary of a test", fields = list(test = of_class("kestrel_srho"))),
  kestrel_kroc = list(made = "a curve made by kroc()", fields = kroc_fields),
  kestrel_kcopula = list(made = "an estimate made by kcopula()", fields = kcopula_fields),
  kestrel_histde = list(made = "a histogram made by histde()", fields = histde_fields),
  kestrel_kda = list(made = "an analysis made by kda()", fields = kda_fields),
  summary.kestrel_kda = list(made = "a summary of an analysis", fields = list(
    fit = of_class("kestrel_kda"),
    errors = parts(list(
      cross = function(of) numbers(rep(nlevels(of[["fit"]][["x.group"]]) + 1L, 2L), sign = "not negative"),
      error = numbers(1L, between = c(0, 1))
    ), optional = TRUE)
  )),
  kestrel_kdetest = list(made = "a test made by kde.test()", fields = kdetest_fields),
  kestrel_loctest = list(made = "a test made by kde.local.test()", fields = loctest_fields),
  kestrel_risk = list(made = "a relative risk made by kde_risk()", fields = risk_fields),
  kestrel_curve = list(made = "what plot() returned", fields = list(mean = numbers(min = 2L, finite = FALSE))),
  kestrel_record = list(made = "what a selector returned with amise = TRUE", fields = record_fields),
  kestrel_boot = list(made = "a bandwidth made by Hboot() or hboot()", fields = boot_fields),
  summary.kestrel_boot = list(made = "a summary of a bandwidth", fields = list(boot = of_class("kestrel_boot"))),
  kestrel_explorer = list(made = "a page made by explore()", fields = explorer_fields),
  kestrel_modetree = list(made = "a tree made by modetree()", fields = modetree_fields),
  kestrel_sizer = list(made = "a map made by sizer()", fields = sizer_fields),
  kestrel_sizer_plane = list(made = "a map of two variables made by sizer()", fields = sizer_plane_fields),
  kestrel_score = list(made = "scores made by pdf_score()", fields = score_fields),
  summary.kestrel_score = list(made = "a summary of scores", fields = list(score = of_class("kestrel_score"))),
  kestrel_info = list(made = "what kestrel_info() returned", fields = info_fields)
)
