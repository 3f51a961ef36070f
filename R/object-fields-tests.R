# The fields of tests and of semiparametric models: see object-fields.R.

sigtest_fields <- list(
  bws = of_class("kestrel_regbw"),
  ixvar = function(of) numbers(min = 1L, whole = TRUE, between = c(1, length(of[["bws"]][["xnames"]]))),
  joint = flag(), pivot = flag(),
  In = function(of) fitted_numbers(if (of[["joint"]]) 1L else length(of[["ixvar"]])),
  P = function(of) fitted_numbers(length(of[["In"]])),
  boot.num = numbers(1L, sign = "positive", whole = TRUE),
  In.bootstrap = function(of) fitted_numbers(c(of[["boot.num"]], length(of[["In"]]))),
  boot.method = texts(1L), ptype = texts(1L),
  reject = function(of) texts(length(of[["In"]])),
  seconds = numbers(1L)
)
