# The examples of ks's help pages run here, but for those that need its data. Their code is read from the installed
# package. What differs is in vignettes/coming-from-ks-and-np.Rmd and vignettes/peer-functions.csv.

# The statements of the examples of each page that uses no data of ks.
examples_of_ks <- function() {
  data_sets <- data(package = "ks")$results[, "Item"]
  pages <- tools::Rd_db("ks")
  all <- lapply(pages, function(page) {
    file <- tempfile(fileext = ".R")
    on.exit(unlink(file))
    tools::Rd2ex(page, file, commentDontrun = TRUE)
    if (file.exists(file)) parse(file, keep.source = FALSE)
  })
  own_data <- function(code) any(data_sets %in% all.names(code))
  Filter(function(code) length(code) > 0L && !own_data(code), all)
}

# Pictures in three dimensions, which are not there.
known_to_differ <- list(
  quote(plot(kms.crabs, display = "plot3D", pch = 16)), quote(plot(Fhat, alpha = 0.3)), quote(plot(kda.fhat)),
  quote(plotmixt(mus = mus, Sigmas = Sigmas, props = props, dfs = c(11, 8), dist = "t"))
)

test_that("examples of ks run, with the functions that are here", {
  skip_if_not_installed("ks")
  skip_if_not_installed("MASS")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  functions <- getNamespaceExports("ks")
  here <- getNamespaceExports("kestrel")
  lacking <- character(0)
  ran <- 0L
  examples <- examples_of_ks()
  for (page in names(examples)) {
    frame <- new.env(parent = asNamespace("kestrel"))
    lost <- character(0)
    for (statement in as.list(examples[[page]])) {
      used <- all.names(statement)
      absent <- setdiff(intersect(used, functions), here)
      # What needs the result of such a call is left out, too.
      if (length(absent) > 0L || any(used %in% lost)) {
        lacking <- union(lacking, absent)
        if (is.call(statement) && identical(statement[[1L]], quote(`<-`))) {
          lost <- c(lost, as.character(statement[[2L]]))
        }
        next
      }
      differs <- any(vapply(known_to_differ, identical, NA, statement))
      failed <- tryCatch({
        utils::capture.output(suppressMessages(suppressWarnings(eval(statement, frame))))
        NULL
      }, error = conditionMessage)
      if (!differs) expect_null(failed, info = paste0(page, ": ", paste(deparse(statement), collapse = " ")))
      ran <- ran + 1L
    }
  }
  expect_gt(ran, 60L)
  expect_setequal(lacking, c("kms.part", "mvnorm.mixt.mode", "mvnorm.mixt.part"))
})
