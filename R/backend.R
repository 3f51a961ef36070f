# Where and how a kernel sum runs: backend, threads, instruction set.

# Former names of two engines.
renamed_engines <- c(cells = "fgt", runs = "scanline")
known_backends <- c("auto", "cpu", "cuda")
known_precisions <- c("double", "single")
known_isas <- c("auto", "scalar", "sse2", "avx2", "avx512")

# Refuses an engine that does not take a task. `gridded`: whether the points are a grid.
check_engine <- function(engine, d, kernel, gridded) {
  fitting <- c("auto", engines_cpp(kernel, d, gridded))
  if (engine %in% fitting) return(engine)
  abort_input("`engine` must be one of ", quoted(fitting, '"'), " for d = ", d, " and kernel = \"", kernel, "\"",
              if (gridded) " on a grid" else " at points", ", not \"", engine, "\", which takes ",
              engine_takes_cpp(engine), ".")
}

# Checks the name of an engine, whatever the task.
check_engine_name <- function(engine) {
  known_engines <- c("auto", engines_cpp("gaussian", 0L, FALSE))
  engine <- without_class(engine)
  if (is.character(engine) && length(engine) == 1L && engine %in% names(renamed_engines)) {
    abort_input("`engine` must be one of ", quoted(known_engines, '"'), ", not \"", engine, "\", which is called \"",
                renamed_engines[[engine]], "\" now.")
  }
  check_choice(engine, known_engines, "engine")
}

# The backend of a call. `cuda`: whether the function can run on a GPU; "auto" then stays undecided.
resolve_backend <- function(backend, cuda) {
  backend <- check_choice(backend, known_backends, "backend")
  if (cuda) return(backend)
  if (backend == "cuda") {
    abort_backend("`backend` must be \"auto\" or \"cpu\" here, not \"cuda\": this runs on the CPU only.")
  }
  "cpu"
}

resolve_threads <- function(threads) {
  parallel_threads_cpp(if (is.null(threads)) thread_cap_cpp() else check_count(threads, "threads"))
}

resolve_isa <- function() {
  isa <- check_choice(getOption("kestrel.isa", "auto"), known_isas, "options(kestrel.isa=)")
  if (isa != "auto" && !isa %in% isa_available_cpp()) {
    abort_backend("`options(kestrel.isa=)` must be an instruction set of this processor (",
                  quoted(isa_available_cpp(), '"'), "), not \"", isa, "\".")
  }
  isa
}

# How a kernel sum runs: what every call of the core needs besides its data, except for `progress`, which the body of
# with_progress() adds.
run_options <- function(threads = NULL, backend = "auto", cuda = FALSE, precision = "double") {
  list(backend = resolve_backend(backend, cuda), threads = resolve_threads(threads), isa = resolve_isa(),
       precision = check_choice(precision, known_precisions, "precision"), poll = resolve_poll(),
       devices = resolve_devices())
}

# The numbers of the GPUs that calls may use; NULL: all.
resolve_devices <- function() {
  given <- plain(getOption("kestrel.devices"))
  if (is.null(given)) return(NULL)
  fine <- is_numbers(given) && length(given) > 0L && all(is.finite(given)) && all(given >= 1) &&
    all(given == round(given)) && all(given <= .Machine$integer.max) && !anyDuplicated(given)
  if (!fine) {
    abort_input("`options(kestrel.devices=)` must be different numbers of GPUs, as kestrel_info() lists them, not ",
                describe_value(given), ".")
  }
  as.integer(given)
}

# The minimum number of seconds between two polls; NULL leaves it to the core.
resolve_poll <- function() {
  seconds <- plain(getOption("kestrel.poll"))
  if (!is.null(seconds) && !(is_number(seconds) && seconds >= 0)) {
    abort_input("`options(kestrel.poll=)` must be a number of seconds that is not negative, not ",
                describe_value(seconds), ".")
  }
  seconds
}

# The same for a density, which engines compute to a tolerance.
density_options <- function(threads, backend, engine, tol, cuda = FALSE, precision = "double") {
  c(run_options(threads, backend, cuda = cuda, precision = precision),
    engine = check_engine_name(engine), tol = check_positive(tol, "tol"))
}

#' Hardware and libraries of this session
#'
#' The instruction set, threads and optional parts that kestrel found on this machine.
#'
#' @param ... no further arguments: other names are an error, which says what may have been meant.
#' @return A list of class `"kestrel_info"`:
#'   \item{version}{the version of the package}
#'   \item{isa, isa_available}{the instruction set in use, and all that the processor has}
#'   \item{threads}{the maximum number of threads, see [kestrel_threads()]}
#'   \item{cuda}{a list: `built` (whether there is a CUDA object), `usable`, and `reason` if it cannot be used.
#'     Otherwise `device`, `memory` in bytes, `multiprocessors` and `capability` of the first GPU that is used,
#'     `driver`, the newest version of CUDA that the driver supports, and `devices`. That is a data frame with a row for
#'     each GPU: `device`, `memory`, `multiprocessors` and `capability` as above, `used` (whether calls use it), and
#'     `reason`, which is `""` unless it cannot be used}
#'   \item{build}{the compiler and the optional libraries that configure found}
#'   With a CUDA object the first call starts the driver and all GPUs. After that, processes forked from this one cannot
#'   use a GPU. Calls use all GPUs that CUDA shows, or those whose numbers `options(kestrel.devices = )` has, such as
#'   `c(1, 3)`. A number is that of a row of `devices`. The environment variable CUDA_VISIBLE_DEVICES hides GPUs from
#'   CUDA, if it is set before the first call.
#' @section Units: `memory` is in bytes.
#' @section Cost: The first call starts the CUDA driver and all GPUs, if there are any. This takes up to seconds.
#' @section Errors: Errors of class `kestrel_error_backend` are raised when `options(kestrel.isa=)` names an instruction
#'   set that the processor lacks. Errors of class `kestrel_error_input` are raised when `options(kestrel.devices=)`
#'   does not have different whole numbers of at least 1. If it names a GPU that is not there, none can be used.
#' @examples
#' kestrel_info()
#' @export
kestrel_info <- function(...) {
  check_arguments("kestrel_info", given_names(...))
  structure(list(
    version = own_version(),
    isa = isa_used_cpp(resolve_isa()),
    isa_available = isa_available_cpp(),
    threads = thread_cap_cpp(),
    cuda = cuda_info(),
    build = build_info_cpp()
  ), class = "kestrel_info")
}

# packageVersion() reads a file, and takes a limit of time meanwhile for a package that is not there.
own_version <- function() getNamespaceVersion("kestrel")[["version"]]

#' @export
print.kestrel_info <- function(x, ...) {
  check_object(x, "x", "kestrel_info")
  cat("kestrel ", x$version, "\n",
      "  instruction set  ", x$isa, " (available: ", paste(x$isa_available, collapse = ", "), ")\n",
      "  threads          ", x$threads, "\n",
      sep = "")
  cat(strwrap(cuda_text(x$cuda), width = 78, initial = "  CUDA             ", exdent = 19), sep = "\n")
  parts <- vapply(x$build, function(part) if (is.character(part)) part else if (part) "yes" else "no", "")
  cat(strwrap(paste(names(parts), parts, collapse = ", "), width = 78, initial = "  build            ", exdent = 19),
      sep = "\n")
  invisible(x)
}

#' The number of threads
#'
#' Reads, and if `n` is given sets, the maximum number of threads of calls that do not have their own `threads`
#' argument.
#'
#' Until it is set, it is the number of processors that R may run on at the time of the call. It is less if a control
#' group of Linux limits the processor time, as containers and batch systems do. The environment variables
#' OMP_THREAD_LIMIT, OMP_NUM_THREADS and RCPP_PARALLEL_NUM_THREADS may also lower it. The limit and the variables are
#' read once. On Linux the processors are those of the affinity of R's thread, which `taskset`, a cpuset or
#' [parallel::mcaffinity()] sets. Elsewhere they are all processors of the machine.
#'
#' If a call asks for more threads than there are such processors, it gets one for each of them, or up to 8 if there are
#' fewer than 8. A call begins on one thread, and others join when they save time. Threads that have nothing to do
#' sleep. After a fork (as in [parallel::mclapply()]) one thread is used. Results are the same to the last bit for any
#' number of threads. The choice between CPU and GPU by `backend = "auto"` may depend on it, see [engines].
#'
#' @param n number of threads, a whole number of at least 1; `NULL` only reads.
#' @param ... no further arguments: other names are an error, which says what may have been meant.
#' @return The cap before the call, an integer: invisibly when `n` is given, so that it can be set back.
#' @section Units: threads.
#' @section Cost: negligible.
#' @section Errors: Errors of class `kestrel_error_input` are raised when `n` is not a whole number of at least 1.
#' @examples
#' before <- kestrel_threads(1)
#' kestrel_threads()
#' kestrel_threads(before)
#' @export
kestrel_threads <- function(n = NULL, ...) {
  check_arguments("kestrel_threads", given_names(...))
  before <- thread_cap_cpp()
  if (is.null(n)) return(before)
  set_thread_cap_cpp(check_count(n, "n"))
  invisible(before)
}
