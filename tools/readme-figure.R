# Draws man/figures/README-faithful.png, the picture of the example in README.md, with the installed package.
# Run from the root of the source tree: Rscript tools/readme-figure.R
library(kestrel)

lines <- readLines("README.md", encoding = "UTF-8")
fence <- grep("^```", lines)
first <- fence[match("```r", lines[fence])]
code <- lines[(first + 1L):(fence[fence > first][1L] - 1L)]

file <- "man/figures/README-faithful.png"
png(file, width = 1300, height = 980, res = 190)
par(mar = c(4, 4, 1, 1), mgp = c(2.4, 0.7, 0), las = 1)
eval(parse(text = code), new.env())
invisible(dev.off())
if (nzchar(Sys.which("pngquant"))) system2("pngquant", c("--speed=1", "--force", "--output", file, file))
