# The fields of estimates of densities, distribution functions, derivatives and copulas, of histograms, ROC curves and
# clusters: see object-check.R.

columns_of <- function(of) length(of[["names"]])

rows_of <- function(of) length(of[["w"]])

# The dimensions of a sample as estimates hold it: a vector, or a column, for one variable.
sample_size_of <- function(of) {
  c(rows_of(of), if (columns_of(of) > 1L || is.matrix(of[["x"]])) columns_of(of))
}

axis <- function() numbers(min = 2L, increasing = TRUE)

# The axis of one variable is not in a list.
axes_sizes <- function(of) lengths(if (is.list(of[["eval.points"]])) of[["eval.points"]] else of["eval.points"])

sums_to <- function(w, total) abs(sum(w) - total) <= 1e-6 * total

is_bandwidth_matrix <- function(H) {
  size <- sqrt(abs(diag(H)))
  all(abs(H - t(H)) <= 1e-10 * outer(size, size)) && !is.null(lower_root_cpp(unname(H)))
}

# H for d variables, a number for one; `diagonal`: for a product kernel.
bandwidth_matrix <- function(d, diagonal, number = d == 1L) {
  if (number) return(numbers(1L, sign = "positive"))
  numbers(c(d, d), also = list(
    if (diagonal) "a diagonal matrix with positive elements" else "a symmetric and positive definite matrix",
    function(H) is_bandwidth_matrix(H) && (!diagonal || is_diagonal(H))
  ))
}

estimate_fields <- list(
  names = texts(min = 1L),
  gridded = flag(),
  w = function(of) {
    numbers(sign = "not negative", also = list("weights that sum to their number",
                                               function(w) length(w) == 0L || sums_to(w, length(w))))
  },
  # For an estimate from a file without data, or of a sketch.
  n = function(of) {
    most <- if (is.null(of[["sketch"]])) .Machine$integer.max else 2^53
    if (rows_of(of) == 0L) numbers(1L, whole = TRUE, between = c(1, most))
  },
  x = function(of) numbers(sample_size_of(of)),
  sketch = function(of) if (!is.null(of[["sketch"]])) of_class("kestrel_sketch"),
  kernel = function(of) texts(1L, among = kernel_names()),
  kernel_type = texts(1L, among = c("radial", "product", "integrated")),
  H = function(of) bandwidth_matrix(columns_of(of), of[["kernel_type"]] == "product"),
  h = function(of) {
    if (columns_of(of) > 1L) return(NULL)
    numbers(1L, sign = "positive", also = list("the square root of `H`",
                                               function(h) abs(h - sqrt(of[["H"]])) <= 1e-9 * h))
  },
  n_eff = function(of) {
    numbers(1L, between = c(1 - 1e-9, (if (rows_of(of) > 0L) rows_of(of) else of[["n"]]) * (1 + 1e-9)))
  },
  transform = function(of) transform_field(columns_of(of), of[["x"]]),
  eval.points = function(of) points_field(columns_of(of), of[["gridded"]]),
  gridtype = function(of) if (of[["gridded"]]) texts(as.integer(columns_of(of)), among = known_gridtypes),
  estimate = function(of) {
    d <- columns_of(of)
    numbers(if (of[["gridded"]]) axes_sizes(of) else nrow(check_points(of[["eval.points"]], d, "eval.points")),
            sign = "not negative")
  },
  cont = numbers(min = 1L, sign = "not negative", optional = TRUE,
                 also = list("numbers with names", function(cont) !is.null(names(cont)) && !anyNA(names(cont)))),
  # An estimate from a file of kde_stream() does not know what computed it.
  engine = function(of) texts(1L, optional = rows_of(of) == 0L),
  backend = function(of) texts(1L, optional = rows_of(of) == 0L),
  device = texts(1L, optional = TRUE),
  precision = function(of) texts(1L, among = known_precisions, optional = TRUE),
  tol = function(of) numbers(1L, sign = "positive", optional = rows_of(of) == 0L),
  crs = anything(list("a coordinate reference system of package sf", function(crs) inherits(crs, "crs")),
                 optional = TRUE),
  seconds = numbers(1L)
)

transform_field <- function(d, x, types = c("log", "probit", "images")) {
  within <- function(transform) {
    if (transform$type == "probit") return(d == 1L && all(x > 0 & x < 1))
    if (transform$type == "images") {
      lower <- transform$lower
      upper <- transform$upper
      periodic <- transform$period > 0
      return(!anyNA(c(lower, upper)) && all(lower < upper) && any(is.finite(c(lower, upper))) &&
               all(is.finite(c(lower[periodic], upper[periodic]))) &&
               all(x >= rep(lower, each = length(x) / d) & x <= rep(upper, each = length(x) / d)))
    }
    d == length(transform$adj) && all(rep(transform$adj, each = length(x) / d) + x > 0)
  }
  of_type <- function(type, what) function(of) if (of[["transform"]][["type"]] == type) what
  fields <- list(type = texts(1L, among = types), adj = of_type("log", numbers(d)),
                 lower = of_type("images", numbers(d, finite = FALSE)),
                 upper = of_type("images", numbers(d, finite = FALSE)),
                 period = of_type("images", numbers(d, sign = "not negative")))
  parts(fields, optional = TRUE, also = list("a scale for all data", within))
}

points_field <- function(d, gridded, limits = FALSE) {
  if (gridded) return(if (d == 1L) axis() else each(axis(), d))
  fit <- function(points) {
    tryCatch(is.matrix(check_points(points, d, "eval.points", limits)), kestrel_error_input = function(e) FALSE)
  }
  anything(list(paste("points in", d, if (d == 1L) "dimension" else "dimensions"), fit))
}

# Those of an estimate, but for weights, which are there, and for values, which are probabilities. Points may be
# infinite.
kcde_fields <- c(
  estimate_fields["names"], gridded = list(flag()),
  list(w = numbers(min = 1L, sign = "not negative", also = list("weights that sum to their number",
                                                                function(w) sums_to(w, length(w))))),
  estimate_fields[c("x", "kernel")], list(kernel_type = texts(1L, among = c("radial", "product"))),
  estimate_fields[c("H", "h", "n_eff", "gridtype", "cont")],
  list(
    transform = function(of) transform_field(columns_of(of), of[["x"]], c("log", "probit")),
    tail = texts(1L, among = known_tails),
    eval.points = function(of) points_field(columns_of(of), of[["gridded"]], limits = TRUE),
    estimate = function(of) {
      d <- columns_of(of)
      numbers(if (of[["gridded"]]) axes_sizes(of) else nrow(check_points(of[["eval.points"]], d, "eval.points", TRUE)),
              between = c(0, 1))
    },
    seconds = numbers(1L)
  )
)

# Those of an estimate without a scale of its own, whose values may be negative and, but for one value a point, are
# several: `deriv.ind` has a row for each.
kdde_fields <- c(
  kcde_fields[c("names", "gridded", "w", "x", "kernel", "kernel_type", "H", "h", "n_eff", "gridtype")],
  list(
    type = texts(1L, among = c("kdde", "kcurv")),
    deriv.order = function(of) {
      numbers(1L, whole = TRUE, between = if (of[["type"]] == "kcurv") c(2, 2) else c(0, highest_derivative))
    },
    deriv.ind = function(of) {
      d <- columns_of(of)
      order <- of[["deriv.order"]]
      known <- lapply(c(TRUE, FALSE), function(whole) if (d == 1L) order else derivative_exponents(d, order, whole))
      same <- function(ind) {
        any(vapply(known, function(one) {
          is_numbers(ind) && identical(dim(ind), dim(one)) && length(ind) == length(one) && isTRUE(all(ind == one))
        }, NA))
      }
      anything(list("that of kdde()", same))
    },
    eval.points = estimate_fields$eval.points,
    estimate = function(of) {
      d <- columns_of(of)
      points <- if (of[["gridded"]]) axes_sizes(of) else nrow(check_points(of[["eval.points"]], d, "eval.points"))
      if (is_single(of)) return(numbers(points))
      components <- nrow(of[["deriv.ind"]])
      if (of[["gridded"]]) each(numbers(points), components) else numbers(c(points, components))
    },
    cont = estimate_fields$cont, tol = numbers(1L, sign = "positive"),
    engine = texts(1L), backend = texts(1L), device = texts(1L, optional = TRUE), seconds = numbers(1L)
  )
)

# Those of derivatives, with one value for each point.
kfs_fields <- c(
  kcde_fields[c("names", "gridded", "w", "x", "kernel", "kernel_type", "H", "h", "n_eff", "gridtype")],
  list(deriv.order = numbers(1L, whole = TRUE, between = c(1, 2)), signif.level = numbers(1L, between = c(0, 1))),
  estimate_fields["eval.points"],
  list(
    density = estimate_fields$estimate,
    estimate = function(of) numbers(value_size(of), whole = TRUE, between = c(0, 1)),
    p.value = function(of) {
      numbers(value_size(of), finite = FALSE,
              also = list("between 0 and 1", function(p) all(is.na(p) | (p >= 0 & p <= 1))))
    },
    engine = texts(1L), backend = texts(1L), tol = numbers(1L, sign = "positive"), seconds = numbers(1L)
  )
)

value_size <- function(of) if (of[["gridded"]]) axes_sizes(of) else length(of[["density"]])

# Those of an estimate whose bandwidths vary: H has their squares, infinite ones, too.
vkde_fields <- c(
  kcde_fields[c("names", "gridded", "w", "x", "n_eff", "gridtype")],
  list(
    variable = texts(1L, among = c("balloon", "sample point")),
    pilot = function(of) bandwidth_matrix(columns_of(of), FALSE, number = FALSE),
    scale = function(of) numbers(columns_of(of), sign = "positive"),
    mass = numbers(1L, sign = "positive"),
    kernel = function(of) texts(1L, among = kernel_names()), engine = texts(1L), backend = texts(1L)
  ),
  estimate_fields[c("eval.points", "estimate", "cont", "precision")],
  list(
    H = function(of) {
      size <- if (of[["variable"]] == "sample point") rows_of(of) else if (of[["gridded"]]) axes_sizes(of) else
        length(of[["estimate"]])
      numbers(size, finite = of[["variable"]] == "sample point", sign = "positive",
              also = list("squares of bandwidths", function(H) !anyNA(H)))
    },
    tol = numbers(1L, sign = "positive"), seconds = numbers(1L)
  )
)

# Those of an estimate whose values may be negative.
bkde_fields <- c(
  kcde_fields[c("names", "gridded", "w", "x")],
  list(boundary.kernel = texts(1L, among = c("beta", "linear", "truncated")),
       H = function(of) bandwidth_matrix(columns_of(of), of[["boundary.kernel"]] != "truncated"),
       xmin = function(of) bounds_field(of), xmax = function(of) bounds_field(of),
       boundary = function(of) if (of[["boundary.kernel"]] == "truncated") numbers(c(NA, 2), finite = FALSE),
       untruncated = function(of) if (of[["boundary.kernel"]] == "truncated") of_class("kestrel_kde"),
       mass = numbers(1L, sign = "positive")),
  kcde_fields[c("n_eff", "gridtype")], estimate_fields[c("eval.points", "cont")],
  list(estimate = function(of) {
         d <- columns_of(of)
         numbers(if (of[["gridded"]]) axes_sizes(of) else nrow(check_points(of[["eval.points"]], d, "eval.points")))
       },
       tol = numbers(1L, sign = "positive"), seconds = numbers(1L))
)

# Bounds that hold the data.
bounds_field <- function(of) {
  if (of[["boundary.kernel"]] == "truncated") return(NULL)
  d <- columns_of(of)
  numbers(d, finite = of[["boundary.kernel"]] == "beta", also = list("bounds of the data", function(bound) {
    lower <- of[["xmin"]]
    upper <- of[["xmax"]]
    x <- of[["x"]]
    length(lower) == d && length(upper) == d && is_numbers(lower) && is_numbers(upper) && !anyNA(c(lower, upper)) &&
      all(lower < upper) && all(x >= rep(lower, each = length(x) / d) & x <= rep(upper, each = length(x) / d))
  }))
}

kms_fields <- list(
  names = texts(min = 1L),
  x = anything(list("numbers", is_numbers)),
  y = function(of) numbers(c(NA, columns_of(of))),
  end.points = function(of) numbers(dim(of[["y"]])),
  H = function(of) bandwidth_matrix(columns_of(of), FALSE),
  nclust = numbers(1L, sign = "positive", whole = TRUE),
  label = function(of) numbers(nrow(of[["y"]]), whole = TRUE, between = c(1, of[["nclust"]])),
  nclust.table = function(of) {
    sizes <- function(sizes) is_numbers(plain(sizes)) && length(sizes) == of[["nclust"]] && all(sizes >= 0)
    anything(list("the sizes of the clusters", sizes))
  },
  mode = function(of) numbers(c(of[["nclust"]], columns_of(of))),
  tol.iter = numbers(1L, sign = "positive"), tol.clust = numbers(1L, sign = "positive"),
  min.clust.size = numbers(1L, sign = "not negative"),
  steps = function(of) numbers(nrow(of[["y"]]), sign = "positive", whole = TRUE),
  seconds = numbers(1L)
)

kdr_fields <- list(
  names = texts(min = 2L),
  w = numbers(min = 1L, sign = "not negative"),
  x = function(of) numbers(sample_size_of(of)),
  y = function(of) numbers(c(NA, columns_of(of))),
  end.points = function(of) {
    count <- nrow(of[["y"]])
    variables <- setdiff(names(of[["end.points"]]), "segment")
    coordinates <- lapply(stats::setNames(nm = variables), function(name) numbers(count))
    columns(c(coordinates, list(segment = numbers(count, sign = "positive", whole = TRUE))),
            also = list("a data frame with a column for each variable and `segment`",
                        function(points) length(points) == columns_of(of) + 1L && count > 0L))
  },
  H = function(of) bandwidth_matrix(columns_of(of), FALSE),
  p = function(of) numbers(1L, whole = TRUE, between = c(1, columns_of(of) - 1)),
  k = numbers(1L, sign = "positive", whole = TRUE), min.seg.size = numbers(1L, sign = "not negative"),
  tol.iter = numbers(1L, sign = "positive"),
  steps = function(of) numbers(nrow(of[["y"]]), sign = "positive", whole = TRUE),
  seconds = numbers(1L)
)

histde_fields <- list(
  names = texts(min = 1L),
  x = function(of) numbers(if (columns_of(of) > 1L) c(NA, columns_of(of)), min = 1L),
  eval.points = function(of) if (columns_of(of) == 1L) axis() else each(axis(), columns_of(of)),
  estimate = function(of) numbers(axes_sizes(of) - 1L, sign = "not negative")
)

kcopula_fields <- list(
  names = texts(min = 2L), gridded = flag(),
  w = numbers(min = 1L, sign = "not negative", also = list("weights that sum to their number",
                                                           function(w) sums_to(w, length(w)))),
  x = function(of) numbers(sample_size_of(of), between = c(0, 1)),
  H = function(of) bandwidth_matrix(columns_of(of), FALSE),
  hs = function(of) numbers(columns_of(of), sign = "positive"),
  marginal = texts(1L, among = c("kernel", "empirical")),
  gridtype = function(of) texts(columns_of(of), among = "linear"),
  eval.points = function(of) points_field(columns_of(of), of[["gridded"]]),
  estimate = function(of) {
    d <- columns_of(of)
    numbers(if (of[["gridded"]]) axes_sizes(of) else nrow(check_points(of[["eval.points"]], d, "eval.points")),
            between = c(0, 1))
  },
  seconds = numbers(1L)
)

kroc_fields <- list(
  names = texts(min = 1L), w = numbers(min = 1L, sign = "not negative"),
  y = numbers(finite = FALSE), hy = numbers(1L, sign = "positive"),
  eval.points = numbers(min = 1L, between = c(0, 1)),
  estimate = function(of) numbers(length(of[["eval.points"]]), between = c(0, 1)),
  indices = parts(list(auc = numbers(1L, between = c(0, 1)), youden = numbers(1L),
                       LR = parts(list(minus = numbers(1L, finite = FALSE), plus = numbers(1L, finite = FALSE))))),
  seconds = numbers(1L)
)

# Densities of groups, with a row of `groups` and an entry of `n` for each.
kde_groups_fields <- list(
  names = texts(min = 1L),
  estimates = anything(list("a list of estimates made by kde(), with names", function(estimates) {
    is.list(estimates) && !is.object(estimates) && length(estimates) > 0L && is.character(names(estimates)) &&
      !anyNA(names(estimates)) && all(vapply(estimates, function(fhat) {
      inherits(fhat, "kestrel_kde") && is.list(fhat) && is.null(object_problem(fhat, "kestrel_kde"))
    }, NA))
  })),
  groups = function(of) {
    columns(list(), also = list("a data frame with a row for each estimate", function(groups) {
      length(unclass(groups)) > 0L && .row_names_info(groups, 2L) == length(of[["estimates"]])
    }))
  },
  n = function(of) numbers(length(of[["estimates"]]), sign = "positive", whole = TRUE),
  left.out = texts(),
  seconds = numbers(1L)
)
