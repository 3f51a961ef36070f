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

test_that("a bad value in any field ends in a value or a classed error, whatever is called", {
  problems <- said <- character(0)
  look <- function(take, object, label) {
    condition <- error_with(take, object)
    if (is.null(condition)) return("")
    said <- conditionMessage(condition)
    if (!inherits(condition, "kestrel_error")) problems <<- c(problems, paste0(label, ": ", said))
    said
  }
  # What print() refuses must be refused by all others, which check the same table.
  try_all <- function(object, functions, label) {
    message <- look(functions$print, object, paste(label, "print"))
    for (other in names(functions)[-1L]) {
      same <- grepl("; its field", look(functions[[other]], object, paste(label, other)), fixed = TRUE)
      if (same != grepl("; its field", message, fixed = TRUE)) problems <<- c(problems, paste(label, other, "differs"))
    }
    message
  }
  unseen(for (name in names(objects)) {
    object <- objects[[name]]
    known <- object_classes[[class(object)[1L]]]
    for (path in field_paths(object, 2L)) {
      field <- names(unclass(object))[path[1L]]
      # Fields that nothing reads may have any value. Parts of objects have many fields, so fewer values are tried.
      values <- if (!field %in% names(known$fields)) no_field[4L] else no_field[seq(1L, 16L, length(path)^2)]
      for (k in seq_along(values)) {
        # All values for print(), one of them for the others, too, which check the same table.
        takers <- if (k == 1L) takers_of(object) else takers_of(object)["print"]
        message <- try_all(with_field(object, path, values[[k]]), takers, paste(name, field))
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
