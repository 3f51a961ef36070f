# Parts of a sketch as jobs of a Slurm cluster, by future.batchtools, beside that of tools/test-beside.sh.

library(future.apply)

template <- normalizePath("slurm.tmpl")
rows <- c(0L, 1L, 4001L, 20000L)
folder <- tempfile("kestrel-slurm")
dir.create(folder)
set.seed(1)
files <- vapply(seq_along(rows), function(k) {
  file <- file.path(folder, paste0("part", k, ".csv"))
  utils::write.csv(data.frame(x = stats::rnorm(rows[k]), y = stats::runif(rows[k])), file, row.names = FALSE)
  file
}, "")
plan_of <- function(column) sketch_plan(files[4L], column = column)

on_slurm <- function() {
  future::plan(future.batchtools::batchtools_slurm, template = template, workers = 2L)
}

test_that("jobs return the sketches of their files", {
  on_slurm()
  on.exit(future::plan(future::sequential))
  for (column in list("x", c("x", "y"))) {
    plan <- plan_of(column)
    parts <- future_lapply(files, kde_sketch, plan = plan, future.seed = NULL)
    hosts <- future_lapply(1:2, function(k) Sys.getenv("SLURM_JOB_ID"))
    expect_false(any(unlist(hosts) == ""))
    expect_identical(do.call(c, parts), do.call(c, lapply(files, kde_sketch, plan = plan)))
  }
})

test_that("a job that is cancelled is done again", {
  on_slurm()
  on.exit(future::plan(future::sequential))
  plan <- plan_of("x")
  started <- file.path(folder, "started")
  slow <- future::future({
    writeLines(Sys.getenv("SLURM_JOB_ID"), started)
    repeat Sys.sleep(1)
    kestrel::kde_sketch(files[3L], plan)
  })
  while (!file.exists(started) || length(job <- readLines(started)) == 0L) Sys.sleep(0.1)
  expect_identical(system2("scancel", job), 0L)
  expect_error(future::value(slow), class = "FutureError")
  again <- future::value(future::future(kestrel::kde_sketch(files[3L], plan)))
  others <- lapply(files[-3L], kde_sketch, plan = plan)
  expect_identical(again + do.call(c, others), do.call(c, lapply(files, kde_sketch, plan = plan)))
})
