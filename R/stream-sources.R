# Densities of compact kernels on a grid, of rows that are never all in memory: of sources that are read in chunks, see
# next_chunk(). The rows add to integers (src/core/scanline/total.hpp), so that parts may be added in any order.

# Whether data are a source, or a list of sources, and not in memory.
is_of_sources <- function(x) {
  if (is.list(x) && !is.object(x)) return(TRUE)
  if (is.character(x) && !is.object(x)) return(is.null(dim(x)))
  has_method <- function(class) !is.null(utils::getS3method("next_chunk", class, optional = TRUE))
  any(vapply(.class2(x), has_method, NA))
}

# As stream_of_sample() of R/stream.R, for the rows of sources.
stream_of_sources <- function(x, given, grid, to, slab, wanted, run, verbose) {
  check_source_arguments(given, wanted, run)
  sink <- check_sink(to)
  reading <- check_reading(x, wanted)
  column <- if (!is.null(wanted$column)) check_column_names(wanted$column, most_stream_columns)
  weight <- if (is.null(wanted$w)) "" else check_column_name(wanted$w, "w")
  plan <- list(column = column, weight = weight)
  seen <- first_pass(reading, plan, grid)
  if (!is.null(seen)) plan$column <- seen$column
  d <- length(plan$column)
  grid <- check_grid(grid, d)
  H <- check_bandwidth(given, d, wanted$kernel_type == "product")
  data <- list(x = if (is.null(seen)) rbind(grid$xmin, grid$xmax) else seen$range, w = numeric(0),
               names = stream_names(plan$column), is_vector = FALSE)
  run[c("engine", "backend")] <- c("scanline", "cpu")
  fhat <- new_density(data, H, wanted$kernel, wanted$kernel_type, NULL, run)
  check_engine("scanline", d, fhat$kernel, TRUE)
  check_volume(fhat)
  axes <- grid_for(fhat, grid)$axes
  slabs <- cut_slabs(lengths(axes), slab)
  together <- slabs_of_pass(lengths(axes), slabs, reading)
  inform_slabs(axes, slabs, list(engine = "scanline", backend = "cpu"), verbose)
  plan$weight_exponent <- if (nzchar(weight)) exponent_above(seen$largest) else 0L
  plan <- c(plan, list(axes = axes, root = bandwidth_root(fhat), kernel = fhat$kernel,
                       kernel_type = fhat$kernel_type))
  source <- slabs_of_sources(reading, plan, slabs, together, seen$n, run)
  fhat$x <- fhat$x[0L, , drop = FALSE]
  fhat[c("n", "n_eff")] <- source$size[c("n", "n_eff")]
  list(fhat = fhat, axes = axes, slabs = slabs, source = source, sink = sink)
}

most_stream_columns <- 6L

# The least e with 2^e at least a positive number.
exponent_above <- function(number) {
  exponent <- as.integer(ceiling(log2(number)))
  if (2^exponent < number) exponent + 1L else exponent
}

stream_names <- function(column) {
  ifelse(nzchar(column), column, if (length(column) == 1L) "x" else paste0("x[, ", seq_along(column), "]"))
}

check_source_arguments <- function(given, wanted, run) {
  if (!is_compact(wanted$kernel)) {
    abort_input("`kernel` must be a compact one for sources, such as \"epanechnikov\", not \"", wanted$kernel,
                "\". For that one: kde(kde_sketch(source, plan), H = ).")
  }
  for (name in c("bounds", "period")) {
    if (!is.null(wanted[[name]])) abort_input("`", name, "` must be NULL for sources; `x` may be data in memory.")
  }
  if (!run$engine %in% c("auto", "scanline")) {
    abort_input("`engine` must be \"auto\" or \"scanline\" for sources, not \"", run$engine, "\".")
  }
  if (run$backend == "cuda") abort_backend("`backend` must be \"auto\" or \"cpu\" for sources, not \"cuda\".")
  if (is.null(given$h) && is.null(given$H)) {
    abort_input("`h` or `H` must be given for sources. hpi(kde_sketch(source, plan)) selects one for the Gaussian ",
                "kernel, and ?kde_stream says how others follow from it.")
  }
}

# ---- reading -----------------------------------------------------------------------------------

# The sources, named as messages call them, and how they are read. `workers`: in how many parts; NULL if they are read
# here.
check_reading <- function(x, wanted, name = "x") {
  listed <- is.list(x) && !is.object(x)
  if (listed && length(x) == 0L) abort_input("`", name, "` must have at least one source, not an empty list.")
  sources <- if (listed) x else list(x)
  labels <- if (listed) paste0("`", name, "[[", seq_along(x), "]]`") else paste0("`", name, "`")
  workers <- NULL
  if (check_flag(wanted$future, "future")) {
    for (package in c("future", "future.apply")) need_package(package, "for future = TRUE")
    workers <- min(length(sources), future::nbrOfWorkers())
  }
  list(sources = stats::setNames(sources, labels), workers = workers, na.action = check_na_action(wanted$na.action),
       threads = wanted$threads)
}

# The sources that are gone when they have been read.
read_once <- function(sources) {
  names(sources)[vapply(sources, inherits, NA, what = c("DBIResult", "RecordBatchReader"))]
}

# What part(sources, plan, na.action, threads) returns for all sources, or for parts of them that other processes read.
of_sources <- function(reading, plan, part) {
  sources <- reading$sources
  if (is.null(reading$workers)) return(list(part(sources, plan, reading$na.action, reading$threads)))
  parts <- unname(split(sources, rep_len(seq_len(reading$workers), length(sources))))
  catching_errors(future.apply::future_lapply(parts, part, plan = plan, na.action = reading$na.action,
                                              threads = reading$threads), function(e) {
    abort_backend("`future` must be FALSE, or its workers must be there until the end: ", conditionMessage(e), ".")
  })
}

# Calls body(rows) for the values `x` and weights `w` of each chunk that has rows. Returns the names of the columns,
# which the first chunk determines if the plan does not have them.
read_sources <- function(sources, plan, na.action, body, most = most_stream_columns,
                         check_second = check_stream_weights) {
  n <- 0
  others <- Filter(nzchar, c(plan$weight, plan$response))
  read <- function(chunk, k) {
    if (is.null(plan$column)) {
      plan$column <<- columns_of_chunk(chunk, NULL, k, others, most)$names
    }
    rows <- rows_of_source(chunk, plan, k, na.action, check_second)
    n <<- n + NROW(rows$x)
    if (n > 2^37) abort_input("`source` must end before there are more than 2^37 rows; chunk ", k, " has the next.")
    if (length(rows$x) > 0L) body(rows)
    FALSE
  }
  for (label in names(sources)) {
    columns <- c(plan$column, others)
    naming_source(label, each_chunk(sources[[label]], if (all(nzchar(plan$column))) columns, read,
                                    so_far = function() NULL))
  }
  list(n = n, column = plan$column)
}

# Errors about a source with its name in the call, in the message and as the field `source`.
naming_source <- function(label, code) {
  tryCatch(code, kestrel_error_input = function(e) {
    e$message <- sub("`source`", label, conditionMessage(e), fixed = TRUE)
    e$source <- gsub("`", "", label, fixed = TRUE)
    e$sketch <- NULL
    stop(e)
  })
}

check_stream_weights <- function(w, plan, k) {
  check_chunk_negative(w, k)
  large <- if (!is.null(plan$weight_exponent)) which(w > 2^plan$weight_exponent)
  if (length(large) > 0L) {
    abort_input("`source` must have the same rows each time it is read, but row ", large[1L], " of chunk ", k,
                " has a larger weight than before.")
  }
}

# ---- passes ------------------------------------------------------------------------------------

# What a pass over all rows finds: their number, the ranges of the columns, a matrix of two rows, the largest weight and
# the columns. NULL if none of this is needed.
first_pass <- function(reading, plan, grid) {
  needed <- c("column", "xmin", "xmax")[vapply(c(plan["column"], grid[c("xmin", "xmax")]), is.null, NA)]
  if (length(needed) == 0L && !nzchar(plan$weight)) return(NULL)
  once <- read_once(reading$sources)
  if (length(once) > 0L) {
    abort_input(once[1L], " must be a source that can be read twice",
                if (nzchar(plan$weight)) " for weights" else paste0(" if ", quoted(needed[1L]), " is not given"), ".")
  }
  parts <- Filter(function(part) part$n > 0, of_sources(reading, plan, range_of_part))
  if (length(parts) == 0L) abort_input("`x` must have at least one row, but its sources have none.")
  largest <- max(vapply(parts, `[[`, 0, "largest"))
  if (nzchar(plan$weight) && largest == 0) {
    abort_input("`w` must be a column with a positive weight, but all of ", quoted(plan$weight), " are zero.")
  }
  list(n = sum(vapply(parts, `[[`, 0, "n")), range = Reduce(wider_ranges, lapply(parts, `[[`, "range")),
       largest = largest, column = common_columns(parts))
}

range_of_part <- function(sources, plan, na.action, threads) {
  range <- NULL
  largest <- 0
  read <- read_sources(sources, plan, na.action, function(rows) {
    ranges <- matrix(ranges_cpp(rows$x), nrow = 2L)
    range <<- if (is.null(range)) ranges else wider_ranges(range, ranges)
    if (!is.null(rows$w)) largest <<- max(largest, rows$w)
  })
  c(read, list(range = range, largest = largest))
}

wider_ranges <- function(one, other) rbind(pmin(one[1L, ], other[1L, ]), pmax(one[2L, ], other[2L, ]))

# Of parts that have rows. Columns without names go with all names.
common_columns <- function(parts) {
  columns <- unique(lapply(parts, `[[`, "column"))
  named <- Filter(function(column) all(nzchar(column)), columns)
  if (length(named) > 1L || length(unique(lengths(columns))) > 1L) {
    abort_input("`x` must be sources with the same columns, or `column` must name them; some have ",
                column_text(columns[[1L]]), ", others ", column_text(columns[[2L]]), ".")
  }
  c(named, columns)[[1L]]
}

# The sums of the rows of all sources, a pointer, with the number of rows and their effective number.
sums_of_sources <- function(reading, plan, run) {
  total <- tryCatch(new_total_cpp(plan), kestrel_core_unfit = function(e) {
    abort_input("`gridsize` must give a grid with equal steps of at most 256 bandwidths for sources, and at most 2^27 ",
                "points along an axis.")
  })
  if (is.null(reading$workers)) {
    add_sources(total, reading$sources, plan, reading$na.action, run)
  } else {
    for (part in of_sources(reading, plan, sums_of_part)) merge_total_cpp(total, part, run)
  }
  c(total = total, settle_total_cpp(total, run))
}

sums_of_part <- function(sources, plan, na.action, threads) {
  run <- run_options(threads)
  total <- new_total_cpp(plan)
  add_sources(total, sources, plan, na.action, run)
  settle_total_cpp(total, run)
  total_bytes_cpp(total, run)
}

add_sources <- function(total, sources, plan, na.action, run) {
  read_sources(sources, plan, na.action, function(rows) add_to_total_cpp(total, rows$x, rows$w, run))
}

# ---- slabs -------------------------------------------------------------------------------------

# How many slabs are summed in one pass over the rows, all of them if their sums fit in memory. A sum has 16 bytes a
# point. Those of other processes come as bytes, beside which they have them twice.
slabs_of_pass <- function(sizes, slabs, reading) {
  copies <- if (is.null(reading$workers)) 1 else 1 + 3 * reading$workers
  bytes <- 16 * copies * prod(sizes[-length(sizes)])
  all <- bytes * sizes[length(sizes)]
  limit <- memory_limit(all)
  if (all <= limit) return(length(slabs$first))
  count <- slabs$count[1L]
  check_fits(bytes * count, "`slab` must be few enough indices of the last axis for their sums to fit in memory: ",
             count, " of ", format_sizes(sizes), " points need ")
  once <- read_once(reading$sources)
  if (length(once) > 0L) {
    check_fits(all, once[1L], " must be a source that can be read again, or all sums must fit in memory: ",
               format_sizes(sizes), " points need ")
  }
  floor(limit / (bytes * count))
}

# As slab_source() of R/stream.R, with the `size` of the sample. rows: how many there are, NULL if that is not known.
slabs_of_sources <- function(reading, plan, slabs, together, rows, run) {
  sums <- NULL
  read <- function(i) {
    close()
    of_pass <- seq(i, min(i + together - 1, length(slabs$first)))
    plan[c("first", "count")] <- list(slabs$first[i], sum(slabs$count[of_pass]))
    sums <<- sums_of_sources(reading, plan, run)
    if (sums$n == 0 && is.null(rows)) abort_input("`x` must have at least one row, but its sources have none.")
    if (is.null(rows)) rows <<- sums$n
    if (sums$n != rows) {
      abort_input("`x` must have the same rows each time it is read, but first there were ",
                  paste(format(c(rows, sums$n), big.mark = ",", scientific = FALSE, trim = TRUE),
                        collapse = " and then "), ".")
    }
  }
  close <- function() {
    if (!is.null(sums)) close_total_cpp(sums$total)
    sums <<- NULL
  }
  slab <- function(first, count) {
    i <- match(first, slabs$first)
    if (i > 1L && (i - 1) %% together == 0) read(i)
    on_axes(total_slab_cpp(sums$total, first, count, run), part_of_axes(plan$axes, first, count))
  }
  read(1L)
  list(by = function() list(engine = "scanline", backend = "cpu"), slab = slab, close = close,
       size = sums[c("n", "n_eff")])
}
