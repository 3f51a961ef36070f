# Makes the pictures of a vignette a third of their size, if there is a program for that: colours from a table of 256.
if (nzchar(Sys.which("pngquant"))) {
  knitr::knit_hooks$set(pngquant = knitr::hook_pngquant)
  knitr::opts_chunk$set(pngquant = "--speed=1")
}
