.onLoad <- function(libname, pkgname) {
  find_cuda_object(file.path(libname, pkgname))
  register_foreign_methods()
}

.onUnload <- function(libpath) {
  # Threads that sleep would wake up in code that is gone.
  end_threads_cpp()
  library.dynam.unload("kestrel", libpath)
}

# Runs while the package is installed. Wraps all functions that users call, except generics, which only dispatch.
local({
  here <- topenv()
  home <- getNamespaceInfo(here, "path")
  public <- parseNamespaceFile(basename(home), dirname(home))
  methods <- paste(sub(".*::", "", public$S3methods[, 1L]), public$S3methods[, 2L], sep = ".")
  for (name in unique(c(public$exports, methods))) {
    code <- get(name, here)
    if ("UseMethod" %in% all.names(body(code))) next
    body(code) <- bquote(classing_memory(.(body(code))))
    assign(name, code, here)
  }
})
