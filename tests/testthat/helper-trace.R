# Records how often a function is called, for work that must not be done twice.

# The value of `expression`, in terms of the arguments, in each call of a function of the package while `code` runs.
traced <- function(name, expression, code) {
  seen <- list()
  note <- function(value) seen[[length(seen) + 1L]] <<- value
  where <- asNamespace("kestrel")
  suppressMessages(trace(name, bquote(.(note)(.(expression))), print = FALSE, where = where))
  on.exit(suppressMessages(untrace(name, where = where)))
  force(code)
  seen
}
