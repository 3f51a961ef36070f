.onLoad <- function(libname, pkgname) {
  find_cuda_object(file.path(libname, pkgname))
}

.onUnload <- function(libpath) {
  library.dynam.unload("kestrel", libpath)
}
