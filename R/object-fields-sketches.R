# Fields of sketches and of their plans, see object-fields.R.

columns_of_sketch <- function(of) length(of[["column"]])

# One to three.
sketch_columns <- function(of) texts(max(1L, min(3L, columns_of_sketch(of))))

sketch_plan_fields <- list(
  column = sketch_columns,
  exponent = function(of) {
    numbers(columns_of_sketch(of), whole = TRUE, between = c(-1, 1) * if (columns_of_sketch(of) == 1L) 980 else 400)
  },
  hmin = function(of) numbers(columns_of_sketch(of), sign = "positive"),
  weight = texts(1L),
  weight_exponent = numbers(1L, whole = TRUE, between = c(-900, 900)),
  response = texts(1L),
  response_exponent = numbers(1L, whole = TRUE, between = c(-400, 400)),
  response_origin = numbers(1L),
  bounded = flag()
)

named_as <- function(...) {
  list("numbers with the names of their kinds", function(value) identical(names(value), c(...)))
}

sketch_summary_fields <- list(
  n = numbers(1L, sign = "not negative", whole = TRUE),
  column = sketch_columns,
  range = function(of) numbers(if (columns_of_sketch(of) > 1L) c(2L, columns_of_sketch(of)) else 2L, finite = FALSE),
  mean = function(of) numbers(columns_of_sketch(of), finite = FALSE),
  sd = function(of) numbers(columns_of_sketch(of), finite = FALSE),
  weight = texts(1L),
  response = texts(1L),
  n_eff = numbers(1L, sign = "not negative"),
  width = function(of) numbers(columns_of_sketch(of), sign = "positive"),
  cells = numbers(2L, sign = "not negative", whole = TRUE, also = named_as("full", "kept")),
  least = function(of) {
    if (columns_of_sketch(of) > 1L) return(numbers(columns_of_sketch(of), sign = "not negative"))
    numbers(2L, sign = "not negative", also = named_as("sums", "density"))
  },
  ties = numbers(1L, sign = "not negative"),
  bytes = numbers(1L, sign = "positive", whole = TRUE)
)

sketch_regbw_fields <- list(
  bw = numbers(1L, sign = "positive"),
  fval = numbers(1L, finite = FALSE),
  search = texts(1L),
  grid = numbers(min = 1L, sign = "positive", increasing = TRUE),
  cv = function(of) fitted_numbers(length(of[["grid"]])),
  evaluations = numbers(1L, sign = "positive", whole = TRUE),
  remarks = texts(),
  regtype = texts(1L),
  method = texts(1L),
  nobs = numbers(1L, sign = "positive", whole = TRUE),
  xnames = texts(1L),
  ynames = texts(1L),
  sketch = of_class("kestrel_sketch"),
  seconds = numbers(1L)
)
