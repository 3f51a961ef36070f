# The contents of snapshots: messages of errors, and printed objects without what differs between machines.

# Each call must end in an error with exactly the class of bad input, which goes into the snapshot with the message.
refuse <- function(...) {
  calls <- eval(substitute(alist(...)))
  for (call in calls) {
    condition <- tryCatch(eval(call, parent.frame()), error = identity)
    expect_s3_class(condition, c("kestrel_error_input", "kestrel_error", "error", "condition"), exact = TRUE)
    expect_null(conditionCall(condition))
    cat(deparse(call, width.cutoff = 120), sep = "\n")
    cat(strwrap(conditionMessage(condition), 100, prefix = "    "), sep = "\n")
  }
}

expect_refused <- function(...) {
  calls <- substitute(refuse(...))
  frame <- parent.frame()
  expect_snapshot_output(eval(calls, frame))
}

# The messages of conditions, whatever their class.
say <- function(...) {
  for (condition in list(...)) cat(strwrap(conditionMessage(condition), 100), sep = "\n")
}

# Processors differ in time, in which engine is the fastest, and in the last digits of a sum, so a search ends a step
# earlier or later.
engine_line <- "^( *engine +)([a-z]+) on"
search_line <- "([0-9][0-9,]*) (evaluations|bandwidths, .* s$)"

steady <- function(lines) {
  lines <- sub(engine_line, "\\1<engine> on", lines)
  lines <- sub(search_line, "<count> \\2", lines)
  sub("[0-9.e+-]+ s$", "<time> s", lines)
}

# The values of a field of an object and of its parts.
values_of <- function(object, field, depth = 3L) {
  object <- unclass(object)
  if (!is.list(object) || depth == 0L) return(NULL)
  c(object[[field]], unlist(lapply(object, values_of, field, depth - 1L)))
}

# What a snapshot does not hold is compared with the object.
expect_own <- function(lines, pattern, group, values) {
  found <- grep(pattern, lines, value = TRUE)
  said <- vapply(regmatches(found, regexec(pattern, found)), `[`, "", group)
  expect_true(all(gsub(",", "", said) %in% values))
}

shown <- function(object) {
  lines <- capture.output(returned <- withVisible(print(object)))
  expect_false(returned$visible)
  expect_identical(returned$value, object)
  expect_true(all(nchar(lines) <= 80))
  expect_own(lines, engine_line, 3L, values_of(object, "engine"))
  expect_own(lines, search_line, 2L, values_of(object, "evaluations"))
  cat(steady(lines), sep = "\n")
}

# Draws to a device without output, and counts what was drawn.
drawn <- function(code) length(recorded(code))

recorded <- function(code) {
  grDevices::pdf(NULL)
  grDevices::dev.control("enable")
  on.exit(grDevices::dev.off())
  code
  grDevices::recordPlot()[[1]]
}

# The arguments of each call of a primitive of graphics in a drawing, with these names.
graphics_arguments <- list(
  plotXY = c("xy", "type", "pch", "lty", "col", "bg", "cex", "lwd"),
  segments = c("x0", "y0", "x1", "y1", "col", "lty", "lwd"),
  contour = c("x", "y", "z", "levels", "labels", "labcex", "drawlabels", "method", "vfont", "col", "lty", "lwd"),
  title = c("main", "sub", "xlab", "ylab", "line", "outer"),
  mtext = c("text", "side", "line", "outer", "at", "adj", "padj", "cex"),
  text = c("xy", "labels"), raster = "image"
)

graphics_calls <- function(primitive, code) {
  calls <- lapply(recorded(code), function(entry) as.list(entry[[2]]))
  calls <- Filter(function(call) identical(call[[1]]$name, paste0("C_", primitive)), calls)
  lapply(calls, function(call) {
    arguments <- call[-1]
    names(arguments)[seq_along(graphics_arguments[[primitive]])] <- graphics_arguments[[primitive]]
    arguments
  })
}
