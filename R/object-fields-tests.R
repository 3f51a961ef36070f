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

conmode_fields <- list(
  bws = of_class("kestrel_densbw"),
  trainiseval = flag(),
  conmode = function(of) {
    anything(list("a factor with the levels of the response", function(mode) {
      codes <- unclass(mode)
      is.factor(mode) && identical(levels(mode), levels(of[["bws"]][["y"]][[1L]])) && is.integer(codes) &&
        all(codes %in% c(NA, seq_along(levels(mode)))) &&
        (!of[["trainiseval"]] || length(codes) == of[["bws"]][["nobs"]])
    }))
  },
  condens = function(of) fitted_numbers(length(unclass(of[["conmode"]]))),
  probabilities = function(of) {
    fitted_numbers(c(length(unclass(of[["conmode"]])), length(levels(of[["conmode"]]))))
  },
  CCR.overall = anything(list("a number or NA", function(value) {
    (is.numeric(value) || identical(value, NA)) && !is.object(value) && length(value) == 1L
  })),
  confusion.matrix = function(of) if (!identical(of[["CCR.overall"]], NA)) confusion_field(levels(of[["conmode"]])),
  CCR.byoutcome = function(of) if (!identical(of[["CCR.overall"]], NA)) fitted_numbers(length(levels(of[["conmode"]]))),
  fit.mcfadden = function(of) if (!identical(of[["CCR.overall"]], NA)) fitted_numbers(1L),
  nobs = function(of) numbers(1L, between = rep(length(unclass(of[["conmode"]])), 2L)),
  seconds = numbers(1L)
)

confusion_field <- function(levels) {
  anything(list("a table of the levels", function(table) {
    table <- without_class(table)
    is_numbers(table) && identical(dim(table), rep(length(levels), 2L)) && !anyNA(table) &&
      identical(unname(dimnames(table)), list(levels, levels))
  }))
}
