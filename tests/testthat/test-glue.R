# The lists that R hands to C++: a task and a run, by field names.

# The error of kde() if a function of the package that makes one of these returns something else.
said_with <- function(name, change) {
  usual <- get(name, asNamespace("kestrel"))
  said <- tryCatch(with_binding(name, function(...) change(usual(...)), kde(1:9, h = 1, eval.points = 5)),
                   error = conditionMessage)
  expect_type(said, "character")
  said
}

test_that("a field that is missing, unknown or of another type is an error that names it", {
  without <- function(list, name) list[names(list) != name]
  expect_snapshot_output(cat(sep = "\n",
    said_with("run_options", function(run) without(run, "threads")),
    said_with("run_options", function(run) c(run, treads = 1L)),
    said_with("run_options", function(run) replace(run, "threads", list("two"))),
    said_with("task_at_points", function(task) without(task, "points")),
    said_with("task_at_points", function(task) c(task, h = 1)),
    said_with("task_at_points", function(task) replace(task, "root", list("L")))
  ))
})
