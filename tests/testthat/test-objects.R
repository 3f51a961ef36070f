# Edited objects: each function that takes one returns a value or ends in an error that names the field.

objects <- suppressWarnings(objects_to_edit())

test_that("every class with methods has a table of fields", {
  methods <- getNamespaceInfo("kestrel", "S3methods")[, 2L]
  # A kind of another class may have the methods of that class only.
  kinds <- names(Filter(function(known) !is.null(known$kind_of), object_classes))
  classes <- unique(c(grep("kestrel_", methods, value = TRUE), kinds))
  expect_setequal(names(object_classes), classes)
  expect_setequal(unique(vapply(objects, function(object) class(object)[1L], "")), classes)
})

test_that("objects as they are made are fine", {
  unseen(for (object in objects) expect_null(error_with(print, object)))
})

# Values that a field of a type refuses at once, whatever else its table says: of these one is tried, in turn.
refused_at_once <- list(
  numbers = c(3L, 4L, 12L, 13L, 15L), texts = c(4:7, 9:11, 13:16), flag = 3:16, list = c(3L, 5:16),
  "data frame" = c(3L, 5:16), object = 2:16
)

test_that("a bad value in any field ends in a value or a classed error, whatever is called", {
  problems <- said <- tried <- character(0)
  turn <- 0L
  in_turn <- function(choices) {
    turn <<- turn + 1L
    choices[turn %% length(choices) + 1L]
  }
  look <- function(take, object, label) {
    condition <- error_with(take, object)
    if (is.null(condition)) return("")
    said <- conditionMessage(condition)
    if (!inherits(condition, "kestrel_error")) problems <<- c(problems, paste0(label, ": ", said))
    said
  }
  of_field <- function(message) grepl("; its field", message, fixed = TRUE)
  # What print() refuses must be refused by all others, which check the same table: one of them, in turn, shows it.
  # What print() takes must not surprise any other.
  try_all <- function(object, functions, label) {
    message <- look(functions$print, object, paste(label, "print"))
    others <- setdiff(names(functions), "print")
    for (other in if (of_field(message) && length(others) > 0L) in_turn(others) else others) {
      same <- of_field(look(functions[[other]], object, paste(label, other)))
      if (same != of_field(message)) problems <<- c(problems, paste(label, other, "differs"))
    }
    message
  }
  # Fields that nothing reads may have any value: all of them at once, and one by one where that is an error.
  try_unread <- function(object, functions, within, label) {
    unread <- which(!names(unclass(object)) %in% names(object_classes[[class(object)[1L]]]$fields))
    spoilt <- function(fields) within(Reduce(function(object, k) with_field(object, k, list(1)), fields, object))
    if (length(unread) == 0L) return()
    for (taker in names(functions)) {
      if (look(functions[[taker]], spoilt(unread), paste(label, taker)) == "") next
      for (k in unread) look(functions[[taker]], spoilt(k), paste(label, k, taker))
    }
  }
  is_part <- function(object) {
    vapply(unclass(object), function(field) is.list(field) && class(field)[1L] %in% names(object_classes), NA)
  }
  is_read <- function(object, path) {
    known <- names(object_classes[[class(object)[1L]]]$fields)
    if (!names(unclass(object))[path[1L]] %in% known) return(FALSE)
    length(path) == 1L || !is_part(object)[path[1L]] || is_read(unclass(object)[[path[1L]]], path[2L])
  }
  # The numbers of the values for a field, or for a part of it. A part that is an object has a table that is tried with
  # objects of its class; other parts have many fields, so fewer values are tried.
  values_for <- function(object, path, fields) {
    field <- unclass(object)[[path[1L]]]
    if (length(path) > 1L) return(if (inherits(field, names(object_classes))) 1L else seq(1L, 16L, 4L))
    name <- names(unclass(object))[path]
    what <- fields[[name]]
    # The rule is the same for every object of the class. Texts may decide on the sizes of other fields.
    alike <- paste(class(object)[1L], name)
    if (alike %in% tried) return(1L)
    if (is.function(what)) {
      what <- what(unclass(object))
    } else if (what$type != "texts") {
      tried <<- c(tried, alike)
    }
    if (is.null(what)) return(seq(1L, 16L, 4L))
    refused <- refused_at_once[[what$type]]
    c(setdiff(1:16, refused), if (length(refused) > 0L) in_turn(refused))
  }
  unseen(for (name in names(objects)) {
    object <- objects[[name]]
    functions <- takers_of(object)
    fields <- object_classes[[class(object)[1L]]]$fields
    try_unread(object, functions, identity, name)
    for (k in which(is_part(object))) {
      try_unread(unclass(object)[[k]], functions, function(part) with_field(object, k, part), paste(name, k))
    }
    for (path in Filter(function(path) is_read(object, path), field_paths(object, 2L))) {
      label <- paste(name, names(unclass(object))[path[1L]])
      for (k in values_for(object, path, fields)) {
        edited <- with_field(object, path, no_field[[k]])
        # All values for print(), one of them for the others, too, which check the same table.
        message <- if (k == 1L) try_all(edited, functions, label) else look(functions$print, edited, label)
        if (length(path) == 1L) said <- c(said, sub(".* must be (.*); its field", "\\1:", message))
      }
    }
  })
  expect_no_problem(problems)
  # What each field must be.
  expect_snapshot_output(cat(unique(sub("(, not|, but one is) .*", ".", said[grepl(": `", said)])), sep = "\n"))
})

test_that("fields have to fit together", {
  bytes <- "\xff"
  Encoding(bytes) <- "UTF-8"
  plane <- objects$plane
  edit <- function(object, ...) {
    object[names(list(...))] <- list(...)
    object
  }
  expect_refused(
    predict(edit(plane, H = "a"), c(1, 1)),
    predict(edit(plane, H = matrix(c(1, 2, 2, 1), 2)), c(1, 1)),
    plot(edit(plane, estimate = plane$estimate[-1, ])),
    plot(edit(plane, estimate = replace(plane$estimate, 3, NA))),
    rkde(2, edit(plane, w = plane$w * 2)),
    summary(edit(plane, w = replace(plane$w, 2, -1))),
    kde_query(edit(plane, x = plane$x[1:4, ]), c(0, 0)),
    marginal(edit(plane, eval.points = list(c(3, 2, 1, 0, 4), 1:5)), 1),
    pdf_score(plane, list(other = edit(plane, gridded = NA))),
    qkde(0.5, edit(objects$line, h = 3)),
    dkde(1, edit(objects$line, transform = list(type = "log", adj = -9))),
    write_pdf(edit(plane, cont = character(0)), tempfile()),
    npreg(edit(objects$bw, bw = -3)),
    npreg(edit(objects$bw, bw = 1:2)),
    npreg(edit(objects$bw, ckertype = "cosine")),
    npreg(edit(objects$bw, w = rep(1, 12) / 2)),
    predict(edit(objects$fit, bws = edit(objects$fit$bws, x = "a"))),
    residuals(edit(objects$fit, resid = 1:3)),
    print(edit(objects$boot, h = 99)),
    plot(edit(objects$score, score = unname(objects$score$score))),
    as.data.frame(edit(objects$fit, eval = objects$fit$eval[0])),
    as.data.frame(edit(objects$fit, eval = rbind(objects$fit$eval, 1))),
    plot(edit(plane, names = c("a", bytes))),
    print(structure(new.env(), class = class(plane))),
    predict(edit(objects$fit, bws = structure(new.env(), class = class(objects$bw)))),
    print(structure(1, class = class(plane))),
    print(structure(list(), class = class(plane))),
    plot(structure(list(), class = class(objects$score))),
    se(structure(mean, class = class(objects$fit)))
  )
})

test_that("a class of a choice or a flag does not get into the object", {
  odd <- function(value) structure(value, class = "foo")
  fhat <- kde(1:5, h = 1, kernel = odd("biweight"), kernel_type = odd("product"), gridtype = odd("sqrt"), gridsize = 9,
              xmin = 1)
  unseen(expect_null(error_with(print, fhat)))
  plain <- kde(1:5, h = 1, kernel = "biweight", gridtype = "sqrt", gridsize = 9, xmin = 1)
  expect_identical(fhat$estimate, plain$estimate)
})

test_that("more fields, attributes and classes are the user's", {
  unseen(for (object in objects) {
    own <- structure(c(unclass(object), list(note = "mine")), class = c("mine", class(object)), of = 1)
    expect_null(error_with(print, own))
  })
  own <- structure(c(unclass(objects$fit), list(note = mean)), class = c("mine", class(objects$fit)))
  expect_identical(fitted(own), fitted(objects$fit))
})
