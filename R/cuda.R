# The CUDA object: where it is, its devices, and what happens if it cannot be used.

# Called when the package is loaded; nothing is opened.
find_cuda_object <- function(folder) {
  file <- file.path(folder, "cuda", "libkestrel_cuda.so")
  cuda_object_cpp(if (cuda_built_cpp()) file else "")
}

cuda_info <- function() {
  device <- cuda_device_cpp()
  c(list(built = cuda_built_cpp(), usable = is.null(device$problem)), device[names(device) != "problem"])
}

cuda_text <- function(cuda) {
  if (!cuda$usable) return(paste0("no: ", cuda$reason))
  paste0("yes: ", cuda$device, " (", format_bytes(cuda$memory), ", compute capability ", cuda$capability,
         ", driver for CUDA ", cuda$driver, ")")
}

# Multiply-adds per second of a device, at 1.5 GHz. A multiprocessor has 64 units for double precision in compute
# capability 9.0 and 10.0, 32 in 6.0, 7.0 and 8.0, and 2 in all others (CUDA C++ Programming Guide, throughput of
# arithmetic instructions). For single precision it has 128, or 64 in some older ones.
cuda_rate <- function(device, precision) {
  units <- if (precision == "single") {
    if (device$capability %in% c("6.0", "7.0", "7.5", "8.0")) 64 else 128
  } else {
    switch(device$capability, "9.0" = , "10.0" = 64, "6.0" = , "7.0" = , "8.0" = 32, 2)
  }
  device$multiprocessors * units * 1.5e9
}

# The factor by which a device is expected to be slower than the H200 on which the times below were measured (2026-11).
cuda_slowness <- function(device, precision = "double") {
  cuda_rate(list(multiprocessors = 132, capability = "9.0"), precision) / cuda_rate(device, precision)
}

# The run with the device that computes its sums: `device` is the result of cuda_device_cpp(), or NULL for the CPU. The
# run holds an environment with `backend` and the GPU's `name`, so that all copies of the run see a fallback to the CPU.
with_device <- function(run, device) {
  chosen <- list(backend = if (is.null(device)) "cpu" else "cuda", name = device$device)
  run$device <- list2env(chosen, parent = emptyenv())
  run
}

on_cuda <- function(run) identical(run$device$backend, "cuda")

# The fields of a result about the device that computed it.
device_of <- function(run) {
  if (on_cuda(run)) list(backend = "cuda", device = run$device$name) else list(backend = "cpu")
}

# Handles a problem of the GPU: an error if the user asked for the GPU; with "auto", one message, and the CPU takes over
# for every copy of this run.
fall_back_to_cpu <- function(run, problem) {
  if (run$backend == "cuda") abort_cuda(problem)
  say_cuda_unused(problem)
  if (is.null(run$device)) return(with_device(run, NULL))
  run$device$backend <- "cpu"
  run$device$name <- NULL
  run
}

# `cuda` or `cpu`, whichever the run is for. If "auto" chose a GPU that then fails, the result is that of the CPU, which
# the run uses from then on.
sums_by_backend <- function(run, cuda, cpu) {
  if (!on_cuda(run)) return(cpu)
  sums <- cuda
  if (!is_cuda_problem(sums)) return(sums)
  fall_back_to_cpu(run, sums)
  cpu
}

# "auto" asks for a device only if the CPU would take longer than starting the driver: a second, by the model of the
# plan, which divides by the number of threads where they share the work.
cuda_worthwhile <- 1

# Whether "auto" takes a GPU for a task of `cpu` seconds on the CPU and `gpu` seconds there.
gpu_pays_off <- function(cpu, gpu) cpu >= cuda_worthwhile && cpu >= 2 * gpu

# The device of a run, NULL for the CPU. The task is expected to take `cpu` seconds on the CPU and seconds(device) on a
# device. If the user asked for a GPU, it is an error that there is none. "auto" takes one if it pays off, or if the
# device is already chosen.
device_for <- function(run, cpu, seconds) {
  if (run$backend == "cpu" || identical(run$device$backend, "cpu")) return(NULL)
  weighed <- run$backend == "auto" && !on_cuda(run)
  if (weighed && (!cuda_built_cpp() || !gpu_pays_off(cpu, 0))) return(NULL)
  device <- cuda_device_cpp()
  if (is_cuda_problem(device)) {
    fall_back_to_cpu(run, device)
    return(NULL)
  }
  if (weighed && !gpu_pays_off(cpu, seconds(device))) return(NULL)
  device
}

is_auto <- function(engine) is.null(engine) || engine == "auto"

# `taken`: the engines that a GPU has for the task.
check_cuda_engine <- function(run, taken = "direct") {
  if (run$backend == "cuda" && !is_auto(run$engine) && !run$engine %in% taken) {
    abort_input("`engine` must be one of ", quoted(c("auto", taken), '"'), " for backend = \"cuda\", not \"",
                run$engine, "\".")
  }
}

# Called by the core if the GPU cannot be used: an error if the user `asked` for it. With "auto" it is one message, and
# the CPU takes over.
cuda_failed <- function(asked, problem) if (asked) abort_cuda(problem) else say_cuda_unused(problem)

# Called by the core if the GPU cannot be used: an error if the user `asked` for it; with "auto", one message, and the
# CPU takes over.
cuda_failed <- function(asked, problem) if (asked) abort_cuda(problem) else say_cuda_unused(problem)

# `problem` is what the C++ layer returns instead of a result: its kind and a sentence.
is_cuda_problem <- function(value) is.list(value) && !is.null(value$problem)

# Too little memory on the device is an error of both classes: of the backend that was asked for, too, whatever the host
# has.
abort_cuda <- function(problem) {
  abort(c(if (problem$problem == "memory") "kestrel_error_memory", "kestrel_error_backend"),
        "`backend` must be \"auto\" or \"cpu\" here, not \"cuda\": ", problem$reason, ".")
}

say_cuda_unused <- function(problem) {
  inform_once(paste("cuda", problem$problem), "kestrel computes on the CPU: ", problem$reason, ".")
}
