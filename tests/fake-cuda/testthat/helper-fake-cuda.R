# The package on a CUDA object that needs no CUDA. FAKE_CUDA_OBJECT is its file; tests/fake-cuda/fake-cuda.cpp describes
# what FAKE_CUDA_SUM and the like make it do.

testthat::source_test_helpers("../../tests/testthat", env = environment())

# Sets what the device does from now on: fake_does(SUM = 2), and fake_does(SUM = "") to undo that.
fake_does <- function(...) {
  given <- list(...)
  do.call(Sys.setenv, stats::setNames(lapply(given, as.character), paste0("FAKE_CUDA_", names(given))))
}

# Runs code with the fake device, which "auto" uses for whatever a GPU can do, and about which there has been no message
# yet. Afterwards the device works as it should again.
with_fake <- function(code) {
  rm(list = ls(informed_of), envir = informed_of)
  on.exit(Sys.unsetenv(setdiff(grep("^FAKE_CUDA_", names(Sys.getenv()), value = TRUE), "FAKE_CUDA_OBJECT")))
  options_of <- kestrel:::run_options
  # As if a device had been chosen before.
  settled_options <- function(...) c(options_of(...), settled = TRUE)
  eager <- list(run_options = settled_options)
  with_cuda_object(Sys.getenv("FAKE_CUDA_OBJECT"), with_bindings(eager, code))
}

# Runs code with other values of the package's own variables.
with_bindings <- function(values, code) {
  put <- function(values) for (name in names(values)) utils::assignInNamespace(name, values[[name]], "kestrel")
  before <- mget(names(values), asNamespace("kestrel"))
  on.exit(put(before))
  put(values)
  code
}

# No handle of the device stays open until R's garbage collector runs.
expect_nothing_held <- function(info = NULL) {
  held <- Sys.getenv("FAKE_CUDA_HELD", "0")
  expect(held == "0", paste0(info, ": ", held, " handles are open"))
}

# What a result says about where it was computed, and its numbers.
placed <- function(result, numbers) {
  c(result[intersect(c("engine", "backend", "device", "precision"), names(result))], list(numbers = as.vector(numbers)))
}

streamed <- function(..., to = function(slab) NULL) {
  slabs <- list()
  result <- kde_stream(fake_sample, h = 2, ..., to = function(slab) {
    slabs <<- c(slabs, list(as.vector(slab$estimate)))
    to(slab)
  })
  c(placed(result, unlist(slabs)), list(slabs = slabs))
}

fake_sample <- as.matrix(datasets::faithful)
fake_flowers <- as.matrix(datasets::iris[1:50, 1:4])

fake_visits <- cbind(datasets::faithful, sign = factor(rep_len(c("a", "b", "c"), 272L)))

# One call of each kind that a GPU takes, and the functions of the object that it needs. Grids are so large that the
# device polls more than once.
fake_tasks <- list(
  "density at points" = list(needs = c("OPEN", "SUM"), call = function(backend) {
    fhat <- kde(fake_sample, h = 2, eval.points = fake_sample[1:100, ], precision = "single", backend = backend)
    placed(fhat, fhat$estimate)
  }),
  "density on a grid" = list(needs = c("OPEN", "SLAB"), call = function(backend) {
    fhat <- kde(fake_sample, h = 2, gridsize = 600, kernel = "epanechnikov", compute.cont = FALSE, backend = backend)
    placed(fhat, fhat$estimate)
  }),
  "slabs of runs" = list(needs = c("OPEN", "SLAB"), call = function(backend) {
    streamed(gridsize = 600, slab = 500, kernel = "epanechnikov", backend = backend)
  }),
  "slabs of direct sums" = list(needs = c("OPEN", "SUM"), call = function(backend) {
    streamed(gridsize = c(20, 30), slab = 10, backend = backend)
  }),
  "derivatives" = list(needs = c("OPEN", "SUM"), call = function(backend) {
    fhat <- kdde(fake_sample, h = 2, deriv.order = 2, eval.points = fake_sample[1:100, ], engine = "direct",
                 backend = backend)
    placed(fhat, fhat$estimate)
  }),
  "LSCV of a matrix" = list(needs = c("OPEN", "PAIRS"), call = function(backend) {
    found <- Hlscv(fake_sample, engine = "direct", amise = TRUE, backend = backend)
    placed(found, found$LSCV)
  }),
  "LSCV of its multiples" = list(needs = c("OPEN", "PAIRS"), call = function(backend) {
    found <- Hlscv(fake_sample, type = "scalar", engine = "direct", amise = TRUE, backend = backend)
    placed(found, found$LSCV)
  }),
  "plug-in matrix" = list(needs = c("OPEN", "PAIRS"), call = function(backend) {
    found <- Hpi(fake_flowers, amise = TRUE, backend = backend)
    placed(found, c(found$G, found$objective))
  }),
  "regression bandwidth" = list(needs = c("OPEN", "REGRESSION"), call = function(backend) {
    found <- npregbw(xdat = faithful$eruptions, ydat = faithful$waiting, bws = 1:20 / 20, ckertype = "gaussian",
                     backend = backend)
    placed(found, found$cv)
  }),
  "bandwidths of several regressors" = list(
    needs = c("MIXED_OPEN", "MIXED", "MIXED_CHANGES"),
    call = function(backend) {
      found <- npregbw(waiting ~ eruptions + sign, fake_visits, regtype = "ll", nmulti = 1, backend = backend)
      placed(found, c(found$bw, found$fval))
    }
  ),
  "fit of several regressors" = list(
    needs = c("MIXED_OPEN", "MIXED"),
    call = function(backend) {
      found <- npreg(c(0.6, 0.3), fake_visits[c("eruptions", "sign")], fake_visits$waiting, backend = backend)
      placed(found, c(found$mean, found$merr, found$loo))
    }
  ),
  "bandwidths of a density" = list(needs = c("MIXED_OPEN", "MIXED"), call = function(backend) {
    found <- npudensbw(~ waiting + sign, fake_visits, nmulti = 1, backend = backend)
    placed(found, c(found$bw, found$fval))
  }),
  "bandwidths of a conditional density" = list(needs = c("MIXED_OPEN", "MIXED"), call = function(backend) {
    found <- npcdensbw(waiting ~ sign, fake_visits, nmulti = 1, backend = backend)
    placed(found, c(found$xbw, found$ybw, found$fval))
  }),
  "density of mixed data" = list(needs = c("MIXED_OPEN", "MIXED", "MIXED_CHANGES"), call = function(backend) {
    found <- npudens(c(6, 0.3), fake_visits[c("waiting", "sign")], backend = backend)
    placed(found, c(found$dens, found$derr))
  })
)
