# A call on a GPU polls in its middle: whatever stops it there ends the call, and the session goes on.

# Returns the condition of this class that ends `call`; the device was stopped in its middle, and works afterwards.
expect_ended <- function(call, class, info = NULL) {
  condition <- tryCatch(call(), condition = function(condition) condition)
  expect_s3_class(condition, class)
  expect_gte(as.numeric(Sys.getenv("FAKE_CUDA_STOPPED")), 0.4, label = info)
  Sys.unsetenv("FAKE_CUDA_STOPPED")
  expect_nothing_held(info)
  condition
}

test_that("an interrupt ends every call on a GPU in its middle and leaves R and the device usable", {
  for (name in names(fake_tasks)) {
    call <- fake_tasks[[name]]$call
    with_fake({
      before <- call("cuda")
      for (backend in c("cuda", "auto")) {
        fake_does(INTERRUPT = 0.4)
        expect_ended(function() call(backend), "interrupt", paste(name, backend))
        fake_does(INTERRUPT = "")
        expect_identical(call(backend), before, info = paste(name, backend))
      }
    })
  }
})

test_that("an interrupt between slabs leaves no file", {
  file <- tempfile()
  with_fake({
    fake_does(INTERRUPT = 0.4)
    expect_ended(function() {
      kde_stream(fake_sample, h = 2, gridsize = 600, slab = 500, kernel = "epanechnikov", to = file, backend = "cuda")
    }, "interrupt")
  })
  expect_false(file.exists(file))
})

test_that("an error in the progress function ends every call on a GPU with that error", {
  enough <- function(fraction) if (fraction >= 0.6) stop("enough at last")
  # Stands in for a progress bar, of a sum or of a search.
  watched <- function(verbose, label, body) body(structure(enough, evaluated = function() NULL))
  # The bar of slabs moves only between them.
  for (name in grep("slabs", names(fake_tasks), value = TRUE, invert = TRUE)) {
    with_fake({
      before <- fake_tasks[[name]]$call("cuda")
      with_bindings(list(with_progress = watched, with_search_progress = watched), {
        condition <- expect_ended(function() fake_tasks[[name]]$call("cuda"), "simpleError", name)
      })
      expect_identical(conditionMessage(condition), "enough at last", info = name)
      expect_identical(fake_tasks[[name]]$call("cuda"), before, info = name)
    })
  }
})
