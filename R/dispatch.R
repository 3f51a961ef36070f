# Dispatch on the class of an argument of any name, and the calls that objects keep.

# The argument on which to dispatch. `.classes`: the class that decides, by the name of its argument. The argument with
# such a name and class is taken, or else the first argument without a name if it has any of the classes. The others are
# left unevaluated, since `subset` and `w` may be expressions in variables of `data`. Unknown names are refused here,
# because only here all names are seen.
dispatched_on <- function(..., .called, .known, .classes) {
  given <- given_names(...)
  check_known(.called, Filter(nzchar, given), .known)
  for (name in c(names(.classes), "")) {
    position <- match(name, given, nomatch = 0L)
    wanted <- if (nzchar(name)) .classes[[name]] else unlist(.classes)
    if (position > 0L && inherits(...elt(position), wanted)) return(...elt(position))
  }
  NULL
}

# The call of the generic, not of its method.
called_as <- function(name, call) {
  call[[1L]] <- name
  call
}

# The call of `of`, which takes a formula, for one whose `bws` is the formula. As in np, its second argument is `data`.
formula_call <- function(call, second, of) {
  names(call)[names(call) == "bws"] <- "formula"
  names(call)[names(call) == second] <- "data"
  called_as(of, call)
}
