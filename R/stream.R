# Density estimates on grids larger than memory, slab by slab.

#' Kernel density estimate on a grid of any size, slab by slab
#'
#' The estimate of [kde()] on a grid, computed in slabs of some indices of the last axis. Each slab goes to a function
#' or into a file and is then dropped, so that the disk limits the size of the grid, not memory.
#'
#' With the engine `"scanline"` (the compact kernels on a grid with equal steps) the observations are sorted once, and
#' every slab has the same bits as in kde() with the same backend. If a GPU that `backend = "auto"` chose fails on the
#' way, the CPU computes the remaining slabs. With other engines, and with `bounds` or a `period`, each slab is a
#' separate estimate, within `tol` of the largest value that the estimate has anywhere.
#'
#' If `x` is a source or a list of sources, neither the rows nor the grid need fit in memory.
#'
#' @section Sources: `x` may be a source that [next_chunk()] reads in chunks: a function, the name of a file, a result
#' of a query, an object of \pkg{ff}, \pkg{bigmemory} or \pkg{arrow}, or one of a class with a method of its own. It may
#' also be a list of sources, whose rows are taken together. A vector, matrix or data frame in a list is a source, too.
#'
#' The kernel must be compact, and the engine is `"scanline"`. At each point of the grid it adds whole numbers in a unit
#' that the data do not determine. So the estimate has the same bits for any partition of the rows into sources and
#' chunks, any order of them, and any number of threads and processes. It differs from kde() with the engine
#' `"scanline"` by at most 1e-14 of its largest value, or of the largest value of the heaviest row's kernel, if that is
#' larger. In one dimension kde() itself may be off by 1e-13. The Gaussian kernel is for sketches:
#' `kde(kde_sketch(source, plan), H = )`.
#'
#'   - With `future = TRUE` other processes or machines read the sources, each an equal number of them, by
#'     \pkg{future.apply}. [future::plan()] says which. They need kestrel, must be able to read the sources (a
#'     connection to a database cannot be sent to them), and return sums, never rows.
#'   - A bandwidth must be given. One for the Gaussian kernel comes from a sketch, as `hpi(kde_sketch(source, plan))`.
#'     In one dimension the Epanechnikov kernel is as smooth with 2.214 times that bandwidth, the biweight kernel with
#'     2.623 times (Marron & Nolan 1988).
#'   - Sources are read twice: a first pass finds the columns, their ranges for the grid, and the largest weight. If
#'     `column`, `xmin` and `xmax` are given, and `w` is not, there is no such pass. Only then can a source be a result
#'     of a query or a reader of \pkg{arrow}, which cannot be read again.
#'   - The sums take 16 bytes for each point of the grid, and with `future = TRUE` 48 more for each process that reads.
#'     If that is too much memory, the sources are read once for each part of the grid that fits.
#'
#' @section Files:
#' A name that ends in `.nc` makes a netCDF-4 file (package \pkg{ncdf4}) with the axes as dimensions, named as the
#' variables, and the estimate as the variable `density`. Any other name makes a file with only the estimate, as doubles
#' of 8 bytes, lowest byte first, the first axis fastest, which `readBin(file, "double", n, endian = "little")` reads.
#'
#' The file is written completely or not at all. It is written as `kestrel-*.incomplete` in the same folder, with room
#' reserved before the first slab if the file system can do that, and renamed when it is complete. Only then does it
#' replace an existing file; after an error or an interrupt that one is unchanged, and the incomplete one is removed.
#' Only a process that is killed leaves it behind. It must be possible to create files in the folder. A symbolic link is
#' kept, and the file that it leads to is replaced. Devices and pipes are refused, because data sent there cannot be
#' taken back. A function may write to them.
#'
#' @section Units: As [kde()]: the estimate and `largest` are in 1 / volume, `h` and the axes in the units of the
#'   variables, `mass` has no unit, `seconds` are seconds.
#' @section Errors: As [kde()], including those of a backend; `kestrel_error_memory` also when one index of the last
#'   axis needs too much memory; `kestrel_error_input` also for a file that cannot be written completely.
#'
#'   With sources, `kestrel_error_input` also for
#'
#'   - a Gaussian kernel, `bounds`, a `period` or no bandwidth;
#'   - a source that fails, and rows that are missing, not finite or of other columns, or have negative weights. The
#'     error has the fields `source`, such as `"x[[3]]"`, and `chunk`, the number of the chunk;
#'   - a source that must be read twice and cannot, or that has other rows the second time;
#'   - more than 2^37 rows.
#'
#'   `kestrel_error_memory` is also for sums that do not fit in memory if a source cannot be read again, and
#'   `kestrel_error_backend` also for a process of `future = TRUE` that ends on the way.
#' @section Cost: The cost of kde(), in memory for one slab, the observations and a sorted copy of them. A netCDF file
#'   is read once more for its seal, see [write_pdf()].
#'
#'   With sources, that of reading the rows, and that of kde() with the engine `"scanline"` for each row. A point of the
#'   grid costs some nanoseconds for every million rows. With weights the radial Epanechnikov kernel takes the time of
#'   the other kernels, which grows with the number of points that a kernel covers. The memory is that of the sums, of a
#'   million rows, twice, and of a chunk.
#'
#' @inheritParams kde
#' @param x a numeric vector, matrix or data frame as in [kde()], a source, or a list of sources.
#' @param w weights as in [kde()]. For sources: the name of their column.
#' @param to a function, called with each slab in turn, or the name of a file.
#' @param slab how many indices of the last axis make a slab; if NULL, as many as take 64 MB.
#' @param gridsize,xmin,xmax,supp,step the grid, as in [kde()].
#' @param bounds,period as in [kde()].
#' @param column the names of the columns of sources, one to six. If NULL, all but that of the weights.
#' @param future if TRUE, other processes read a list of sources.
#' @param backend as in [kde()]; the GPU's memory limits neither the grid nor a slab.
#' @param verbose if TRUE, say what is going to be computed and show progress; otherwise as in [kde()].
#' @return An object of class `"kestrel_stream"`, invisibly, a list:
#'   \item{axes}{a list of d vectors}
#'   \item{file}{its name, or NULL}
#'   \item{slabs}{the number of slabs}
#'   \item{mass}{the integral of the estimate over the grid by the trapezoid rule}
#'   \item{largest}{the largest value}
#'   \item{h, H, names, n, n_eff, kernel, kernel_type, transform, engine, backend, device, call, seconds}{as in [kde()].
#'     If slabs are separate estimates, `engine`, `backend` and `device` are those of the first}
#'
#'   A function is called with a list: `estimate`, an array with d dimensions (a vector when d = 1); `axes`, its axes;
#'   `first`, the index on the last axis where it begins.
#' @references Lopez-Novoa, U. (2015) *Contributions to the Efficient Use of General Purpose Coprocessors: Kernel
#'   Density Estimation as Case Study*. PhD thesis, University of the Basque Country, ch. 6 and 7.
#'
#'   Marron, J.S. & Nolan, D. (1988) Canonical kernels for density estimation. *Statistics & Probability Letters* **7**,
#'   195-199.
#' @seealso [kde()], [next_chunk()], [kde_sketch()]
#' @examples
#' # the largest value of each slab
#' peaks <- numeric(0)
#' kde_stream(faithful, kernel = "epanechnikov", gridsize = c(200, 300), slab = 100,
#'            to = function(slab) peaks <<- c(peaks, max(slab$estimate)))
#' peaks
#'
#' # a file of doubles
#' file <- tempfile()
#' written <- kde_stream(faithful, kernel = "epanechnikov", gridsize = c(200, 300), to = file)
#' written
#' estimate <- readBin(file, "double", 200 * 300, endian = "little")
#' fhat <- kde(faithful, kernel = "epanechnikov", gridsize = c(200, 300))
#' identical(estimate, as.vector(fhat$estimate))
#' unlink(file)
#'
#' # a million rows, generated in ten chunks
#' rows <- function(reset) {
#'   if (reset) {
#'     set.seed(1)
#'     left <<- 10
#'     return(NULL)
#'   }
#'   if (left == 0) return(NULL)
#'   left <<- left - 1
#'   rexp(1e5)
#' }
#' left <- 0
#' kde_stream(rows, kernel = "epanechnikov", h = 0.1, xmin = 0, xmax = 5,
#'            to = function(slab) plot(slab$axes[[1]], slab$estimate, type = "l"))
#' @export
kde_stream <- function(x, to, H, h, gridsize, xmin, xmax, supp, step = NULL, slab = NULL, ..., bounds = NULL,
                       period = NULL, column = NULL, future = FALSE, w, kernel = "gaussian",
                       kernel_type = c("radial", "product"), na.action = stats::na.fail, tol = 1e-12, engine = "auto",
                       backend = "auto", threads = NULL, verbose = NULL) {
  check_arguments("kde_stream", given_names(...))
  started <- proc.time()[["elapsed"]]
  grid <- given_grid(step = step, streamed = TRUE)
  given <- list(H = if (!missing(H)) H, h = if (!missing(h)) h)
  verbose <- asked_verbose(verbose)
  kernel <- check_choice(kernel, kernel_names(), "kernel")
  kernel_type <- check_choice(kernel_type, c("radial", "product"), "kernel_type")
  run <- density_options(threads, backend, engine, tol, cuda = TRUE)
  wanted <- list(w = if (!missing(w)) w, kernel = kernel, kernel_type = kernel_type, bounds = bounds, period = period,
                 na.action = na.action, column = column, future = future, threads = threads)
  streamed <- if (is_of_sources(x)) stream_of_sources else stream_of_sample
  from <- streamed(x, given, grid, if (!missing(to)) to, slab, wanted, run, verbose)
  fhat <- from$fhat
  axes <- from$axes
  source <- from$source
  sink <- from$sink
  on.exit(source$close())
  result <- with_progress(verbose, "Density by slabs", function(progress) {
    pour_slabs(fhat, axes, from$slabs, source, sink, progress)
  })
  by <- source$by()
  fhat <- with_rounding(fhat)
  fhat[c("engine", "backend")] <- by[c("engine", "backend")]
  fhat$device <- by$device
  kept <- c("h", "H", "names", "kernel", "kernel_type", "engine", "backend", "device", "n_eff", "transform")
  result <- c(list(axes = axes, file = sink$file, slabs = length(from$slabs$first)), result,
              list(n = sample_size(fhat)),
              fhat[intersect(kept, names(fhat))])
  result$call <- match.call()
  result$seconds <- proc.time()[["elapsed"]] - started
  invisible(structure(result, class = "kestrel_stream"))
}

# What kde_stream() needs for data in memory: the estimate without values, its axes, the slabs with what computes them,
# and where they go. `wanted`: further arguments of kde_stream().
stream_of_sample <- function(x, given, grid, to, slab, wanted, run, verbose) {
  check_cuda_engine(run, c("direct", "scanline"))
  for (name in c("column", "future")) {
    if (!is.null(wanted[[name]]) && !isFALSE(wanted[[name]])) {
      abort_input("`", name, "` must not be given for data in memory; `x` may be a list of sources.")
    }
  }
  kernel <- wanted$kernel
  sample <- check_sample(x, wanted$w, wanted$na.action)
  transform <- choose_transform(sample$x, sample$names, FALSE, NULL, FALSE, wanted$bounds, wanted$period)
  if (has_images(transform)) sample <- wrapped_sample(sample, transform)
  d <- ncol(sample$x)
  check_engine(run$engine, d, kernel, TRUE)
  grid <- check_grid(grid, d)
  sink <- check_sink(to)
  bandwidth <- resolve_bandwidth(given, sample, kernel, wanted$kernel_type == "product", selecting(run, d), verbose,
                                 transform = transform)
  check_H_with_images(bandwidth$H, transform, sample$names)
  fhat <- new_density(sample, bandwidth$H, kernel, wanted$kernel_type, transform, run)
  axes <- grid_for(fhat, grid)$axes
  slabs <- cut_slabs(lengths(axes), slab)
  source <- slab_source(fhat, axes, slabs, run)
  inform_slabs(axes, slabs, source$by(), verbose)
  list(fhat = fhat, axes = axes, slabs = slabs, source = source, sink = sink)
}

inform_slabs <- function(axes, slabs, by, verbose) {
  if (!isTRUE(verbose)) return(invisible())
  inform(sprintf("%s points (%s) in %d slabs: engine %s on %s.", format_sizes(lengths(axes)),
                 format_bytes(8 * prod(lengths(axes))), length(slabs$first), by$engine, backend_text(by)))
}

# Where slabs go. `pour(fhat, axes, fill)` returns the result of fill(put), where put() takes a slab; `file` is the name
# of a file, if they go to one.
check_sink <- function(to) {
  if (is.function(to)) return(list(pour = function(fhat, axes, fill) fill(to), file = NULL))
  name <- without_class(to)
  if (!is_file_name(name)) {
    abort_input("`to` must be a function of a slab or the name of a file, not ", describe_value(to), ".")
  }
  target <- check_target(name, "to")
  c(if (endsWith(target$file, ".nc")) netcdf_sink(target) else raw_sink(target), file = target$file)
}

raw_sink <- function(target) {
  list(pour = function(fhat, axes, fill) {
    write_doubles(target, prod(lengths(axes)), function(put) fill(function(slab) put(as.vector(slab$estimate))))
  })
}

# Where slabs begin on the last axis, and how many indices each has.
cut_slabs <- function(sizes, slab) {
  last <- sizes[length(sizes)]
  slice <- prod(sizes[-length(sizes)])
  count <- if (is.null(slab)) max(1, floor(64e6 / 8 / slice)) else check_count(slab, "slab")
  count <- min(count, last)
  needed <- 8 * (2 * slice * count + sum(sizes))
  check_fits(needed, "`slab` must be few enough indices of the last axis to fit in memory: ", count, " of ",
             format_sizes(sizes), " points need ")
  first <- seq(1, last, by = count)
  list(first = first, count = pmin(count, last - first + 1))
}

# slab(first, count): the estimate at `count` indices of the last axis from `first` on; by(): the engine, the backend
# and, if it was one, the device; close(): to be called when no more slabs are wanted. The device is chosen once, for
# all slabs.
slab_source <- function(fhat, axes, slabs, run) {
  part_of_task <- function(first, count) task_on_axes(fhat, part_of_axes(axes, first, count))
  task <- task_on_axes(fhat, axes)
  # A slab may have equal steps where the whole grid has not.
  regular <- run$engine %in% c("auto", "scanline") && is.null(fhat$transform) && takes_scanline_cpp(task, run)
  if (!regular && run$engine == "scanline" && is.null(fhat$transform)) abort_irregular()
  plan <- if (regular) {
    plan_density(fhat, task, c(run, slabs = TRUE))
  } else {
    first <- part_of_task(1, slabs$count[1L])
    plan_density(fhat, first, run, larger = task$m / first$m)
  }
  run <- settled_run(run, plan)
  if (plan$engine == "scanline" && regular) return(scanline_by_slabs(task, run))
  slab <- function(first, count) {
    ran <- run_density(fhat, part_of_task(first, count), run)
    run <<- settled_run(run, ran$plan)
    if (first == 1) plan <<- ran$plan
    ran$estimate
  }
  list(by = function() plan, slab = slab, close = function() NULL)
}

# The axes of `count` indices of the last one from `first` on.
part_of_axes <- function(axes, first, count) {
  d <- length(axes)
  c(axes[-d], list(axes[[d]][first - 1 + seq_len(count)]))
}

# The run of tasks that stay where the plan of the first is.
settled_run <- function(run, plan) {
  if (plan$backend == "cpu" && run$backend == "auto") run$backend <- "cpu"
  run$settled <- TRUE
  run
}

# The density by the engine "scanline" by slabs; samples are sorted once.
scanline_by_slabs <- function(task, run) {
  runs <- slabs_cpp(task, run)
  slab <- function(first, count) {
    on_axes(slab_cpp(runs, first, count, run), part_of_axes(task$axes, first, count))
  }
  by <- function() c(list(engine = "scanline"), slabs_place_cpp(runs))
  list(by = by, slab = slab, close = function() close_slabs_cpp(runs))
}

# Passes every slab to the sink; returns the integral and the largest value of the estimate.
pour_slabs <- function(fhat, axes, slabs, source, sink, progress) {
  result <- sink$pour(fhat, axes, function(put) {
    weights <- trapezoid_weights(axes[[length(axes)]])
    mass <- largest <- 0
    for (i in seq_along(slabs$first)) {
      index <- slabs$first[i] - 1 + seq_len(slabs$count[i])
      part <- part_of_axes(axes, slabs$first[i], slabs$count[i])
      estimate <- source$slab(slabs$first[i], slabs$count[i])
      largest <- max(largest, estimate)
      mass <- mass + sum(slice_integrals(part, estimate) * weights[index])
      put(list(estimate = estimate, axes = part, first = slabs$first[i]))
      if (!is.null(progress)) progress(i / length(slabs$first))
    }
    list(mass = mass, largest = largest)
  })
  warn_sparse(fhat, axes, result$largest)
  result
}

#' @export
print.kestrel_stream <- function(x, ...) {
  check_object(x, "x", "kestrel_stream")
  cat(
    paste0("Kernel density estimate by slabs, d = ", length(x$axes)),
    call_lines(x$call),
    label_line("n", format(x$n, big.mark = ",", scientific = FALSE)),
    label_line("variables", paste(x$names, collapse = ", ")),
    if (!is.null(x$transform)) label_line("bounds", images_text(x$transform)),
    label_line("grid", axes_text(x$axes)),
    label_line("slabs", paste0(x$slabs, if (is.null(x$file)) ", to a function" else paste0(", in ", x$file))),
    label_line("engine", paste0(x$engine, " on ", backend_text(x), ", ", format_short(x$seconds), " s")),
    label_line("estimate", paste("up to", format_short(x$largest))),
    label_line("mass on grid", format(x$mass, digits = 6)), sep = "\n"
  )
  invisible(x)
}
