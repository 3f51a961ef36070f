.onUnload <- function(libpath) {
  library.dynam.unload("kestrel", libpath)
}
