# Full disks, and sessions that are killed. A file must be complete or absent, an error must have a class, and an
# existing file must be replaced completely or not at all.

# A file system of 64 kB for this process alone, mounted by tools/fuzz.sh; "" if it could not be mounted.
small_disk <- Sys.getenv("KESTREL_FUZZ_DISK")

# Writers, by the name of a file: of small estimates, and of ones too large for that disk.
write_density <- function(file, seed, sizes) {
  set.seed(seed)
  d <- length(sizes)
  x <- matrix(stats::rnorm(20L * d), 20L)
  kestrel::write_pdf(kestrel::kde(x, H = diag(d), gridsize = sizes), file)
}

stream_density <- function(file, seed, sizes, ...) {
  set.seed(seed)
  d <- length(sizes)
  kestrel::kde_stream(matrix(stats::rnorm(20L * d), 20L), file, H = diag(d), gridsize = sizes, ...)
}

# The estimate that both writers write.
density_written <- function(seed, sizes) {
  set.seed(seed)
  d <- length(sizes)
  as.vector(kestrel::kde(matrix(stats::rnorm(20L * d), 20L), H = diag(d), gridsize = sizes)$estimate)
}

disk_call <- function() {
  folder <- pick(c("small disk", "killed", "device"), c(if (nzchar(small_disk)) 8 else 0, 2, 1))
  name <- pick(c("density.nc", "density.bin"))
  sizes <- pick(list(2, 40, c(5, 6), c(40, 30), c(90, 80), c(7, 8, 9)))
  if (folder == "killed") sizes <- pick(list(c(400, 300), c(900, 400)))
  writer <- if (name == "density.nc" && folder != "killed" && chance(0.6)) "write_density" else "stream_density"
  more <- if (writer == "stream_density" && chance(0.5)) list(slab = pick(c(1, 3, 20)))
  as.call(c(list(as.name("onto_disk"), folder = folder, file = if (folder == "device") "/dev/full" else name,
                 filled = if (chance(0.4)) 0 else stats::runif(1L, 0, 64000), before = chance(0.3),
                 wait = stats::rexp(1L, 10), writer = writer, seed = sample.int(100L, 1L), sizes = sizes), more))
}

descriptors_in <- function(folder) {
  links <- Sys.readlink(list.files("/proc/self/fd", full.names = TRUE))
  sum(startsWith(links, folder), na.rm = TRUE)
}

# Runs a writer in a fork, and returns what is wrong afterwards.
onto_disk <- function(folder, file, filled, before, wait, writer, seed, sizes, ...) {
  place <- if (folder == "small disk") small_disk else tempfile("place")
  dir.create(place, showWarnings = FALSE)
  on.exit(unlink(file.path(place, list.files(place, all.files = TRUE, no.. = TRUE))))
  target <- if (folder == "device") file else file.path(place, file)
  old <- as.raw(1:100)
  if (before && folder != "device") writeBin(old, target)
  if (folder == "small disk") try(suppressWarnings(writeBin(raw(filled), file.path(place, "filler"))), silent = TRUE)
  there <- list.files(place, all.files = TRUE, no.. = TRUE)
  # Only the target is on this disk.
  call <- as.call(list(as.name(writer), target, seed, sizes, ...))
  if (folder == "killed") {
    killed_fork(function() eval(call), wait)
    return(if (file.exists(target) && !is_old(target, if (before) old)) wrong_file(target, seed, sizes))
  }
  end <- run_call(call, 1L, environment())
  c(wrong_conditions(end, call, writer),
    if (folder == "device" && is.null(end$error)) "no error, though nothing can be written there",
    if (folder != "device") wrong_after(end, target, there, if (before) old, seed, sizes),
    if (folder == "small disk" && descriptors_in(place) > 0L) "a file is still open")
}

is_old <- function(file, old) {
  !is.null(old) && file.exists(file) && identical(readBin(file, "raw", length(old) + 1L), old)
}

wrong_after <- function(end, target, there, old, seed, sizes) {
  if (is.null(end$error)) return(wrong_file(target, seed, sizes))
  left <- setdiff(list.files(dirname(target), all.files = TRUE, no.. = TRUE), there)
  c(if (length(left) > 0L) paste("an error, and files are left:", toString(left)),
    if (!is.null(old) && !is_old(target, old)) "an error, and the file that was there is not what it was")
}

# What is wrong with a file that should be complete.
wrong_file <- function(file, seed, sizes) {
  if (!file.exists(file)) return("no error and no file")
  expected <- density_written(seed, sizes)
  found <- if (endsWith(file, ".nc")) {
    tryCatch(as.vector(kestrel::read_pdf(file)$estimate), kestrel_error = function(e) conditionMessage(e))
  } else {
    readBin(file, "double", length(expected) + 1L, endian = "little")
  }
  if (length(found) != length(expected)) return(sprintf("a file of %d values of %d", length(found), length(expected)))
  # Slabs are computed as separate estimates.
  if (any(abs(found - expected) > 1e-12 * max(expected))) "a file of other values"
}

judge_disk <- function(call, environment) {
  ran <- in_fork(function() eval(call, environment), 2 * patience)
  if (is.null(ran$ended)) ran$value else ran$ended
}
