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

# Expected seconds for n m pairs in d variables with the Gaussian kernel. Fits within an eighth to
# bench/results/2026-11-22-NVIDIA-H200.csv ("sums", the faster way): 0.75, 0.92, 1.20, 2.27, 4.09 and 7.72 ps a pair in
# double for d = 1, 3, 6, 16, 30 and 62, and 0.23, 0.28, 0.41, 0.98, 1.07, 2.99 and 5.97 ps in single for d = 1, 3, 6,
# 14, 16, 30 and 62.
cuda_seconds <- function(n, m, d, device, precision) {
  pair <- if (precision == "double") {
    0.65 + 0.11 * d
  } else if (d <= 8) {
    0.17 + 0.04 * d
  } else {
    (if (d <= 16) 0.07 else 0.096) * d
  }
  as.numeric(n) * as.numeric(m) * pair * 1e-12 * cuda_slowness(device, precision)
}

# Expected seconds for n samples whose kernels cross `rows` rows each, on a grid of m points. Measured (the same file):
# 61.0 ms for 1.1e9 rows and 1.95e8 points with two limbs (34.8 ms with one). The share of the points is the time to
# move their cells and values, 104 bytes at 4.3 TB/s. The host sorts (core/plan/plan.cpp), and values come back at
# 55 GB/s.
cuda_scanline_seconds <- function(n, m, rows, device) {
  cuda_slowness(device) * (n * rows * 50e-12 + m * 24e-12) + 60e-9 * n + 8 / 55e9 * m
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

# The plan of a task with its backend, "cpu" or "cuda"; `device` is then the name of the device. `engine`: the engine
# for the task on a GPU, NULL if there is none.
with_backend_chosen <- function(plan, n, m, d, run, engine = "direct") {
  plan$backend <- "cpu"
  if (is.null(engine)) return(plan)
  seconds <- function(device) {
    if (engine == "scanline") {
      cuda_scanline_seconds(n, m, plan$rows, device)
    } else {
      cuda_seconds(n, m, d, device, run$precision)
    }
  }
  device <- device_for(run, plan$seconds, seconds)
  if (is.null(device)) return(plan)
  reason <- if (engine == "scanline") "the ends of runs on the GPU" else "sums every pair on the GPU"
  plan[c("engine", "backend", "seconds", "reason", "device")] <- list(engine, "cuda", seconds(device), reason,
                                                                      device$device)
  plan
}

# The estimate of a task, its plan and its precision. If "auto" chose a GPU that then fails, they are those of the CPU.
run_planned <- function(fhat, task, run, verbose = FALSE) {
  plan <- plan_run(fhat, task, run, verbose)
  if (plan$backend == "cuda") {
    ran <- run_cuda_task(task, run, plan)
    if (!is_cuda_problem(ran)) return(c(ran, plan = list(plan)))
    run <- fall_back_to_cpu(run, ran)
    plan <- plan_run(fhat, task, run, verbose)
  }
  list(estimate = run_task(task, run, plan), precision = "double", plan = plan)
}

# The result of run_task() on the GPU, with its precision; or the problem.
run_cuda_task <- function(task, run, plan) {
  precision <- "double"
  found <- function(single) if (single) precision <<- "single"
  tryCatch({
    estimate <- task$complete(unless_problem(cuda_density(task, run, plan, found)))
    list(estimate = estimate, precision = precision)
  }, kestrel_cuda_problem = function(condition) condition$problem)
}

unless_problem <- function(sums) {
  if (is_cuda_problem(sums)) {
    stop(errorCondition(sums$reason, class = "kestrel_cuda_problem", problem = sums, call = NULL))
  }
  sums
}

# The density on the GPU as on the CPU, or the problem. found(single) is told the precision, which uniform kernels and
# scattered points choose for themselves.
cuda_density <- function(task, run, plan, found) {
  density <- on_axes(task, density_cuda_cpp(task$sample, task, plan$engine, run))
  found(isTRUE(attr(density, "single")))
  attr(density, "single") <- NULL
  density
}

is_auto <- function(engine) is.null(engine) || engine == "auto"

# `taken`: the engines that a GPU has for the task.
check_cuda_engine <- function(run, taken = "direct") {
  if (run$backend == "cuda" && !is_auto(run$engine) && !run$engine %in% taken) {
    abort_input("`engine` must be one of ", quoted(c("auto", taken), '"'), " for backend = \"cuda\", not \"",
                run$engine, "\".")
  }
}

# The engine on a GPU for a task; `grid` is the result of regular_grid(). NULL if "auto" has none for the engine that
# was asked for.
cuda_engine <- function(fhat, grid, run) {
  if (run$backend == "cuda" && !is_auto(run$engine)) return(run$engine)
  radial <- fhat$kernel_type == "radial" || dimension(fhat) == 1L
  runs <- !is.null(grid) && fhat$kernel == "epanechnikov" && radial
  if (is_auto(run$engine)) return(if (runs) "scanline" else "direct")
  if (run$engine == "direct" || (run$engine == "scanline" && runs)) run$engine
}

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
