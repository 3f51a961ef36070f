# The CUDA object: where it is, its devices, and what happens if it cannot be used.

# Called when the package is loaded; nothing is opened.
find_cuda_object <- function(folder) {
  file <- file.path(folder, "cuda", "libkestrel_cuda.so")
  cuda_object_cpp(if (cuda_built_cpp()) file else "")
}

cuda_info <- function() {
  device <- cuda_devices_cpp(resolve_devices())
  if (!is.null(device$devices)) device$devices <- as.data.frame(device$devices, stringsAsFactors = FALSE)
  c(list(built = cuda_built_cpp(), usable = is.null(device$problem)), device[names(device) != "problem"])
}

cuda_text <- function(cuda) {
  if (!cuda$usable) return(paste0("no: ", cuda$reason))
  all <- cuda$devices
  driver <- paste0("driver for CUDA ", cuda$driver)
  about <- paste0(format_bytes(all$memory), ", compute capability ", all$capability)
  if (nrow(all) == 1L) return(paste0("yes: ", cuda$device, " (", about, ", ", driver, ")"))
  why <- ifelse(nzchar(all$reason), paste0(", not used: ", all$reason), ifelse(all$used, "", ", not used"))
  paste0("yes: ", paste0(seq_len(nrow(all)), ": ", all$device, " (", about, why, ")", collapse = "; "), "; ", driver)
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

# Too little memory on the device is an error of both classes: of the backend that was asked for, too, whatever the host
# has.
abort_cuda <- function(problem) {
  abort(c(if (problem$problem == "memory") "kestrel_error_memory", "kestrel_error_backend"),
        "`backend` must be \"auto\" or \"cpu\" here, not \"cuda\": ", problem$reason, ".")
}

say_cuda_unused <- function(problem) {
  inform_once(paste("cuda", problem$problem), "kestrel computes on the CPU: ", problem$reason, ".")
}
