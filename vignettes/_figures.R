# Makes the pictures of a vignette a third of their size, if there is a program for that: colours from a table, of as
# many as one can tell apart. They have 72 points an inch, so their letters are about as large as those of the text.
knitr::opts_chunk$set(dpi = 72)
if (nzchar(Sys.which("pngquant"))) {
  knitr::knit_hooks$set(pngquant = knitr::hook_pngquant)
  knitr::opts_chunk$set(pngquant = "--speed=1 --quality=0-60")
}
