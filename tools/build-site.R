# Rscript tools/build-site.R SOURCE FOLDER: builds the pages of the package in SOURCE, which must be installed, in
# FOLDER. It fails if a page is in no group of the index, an example fails, or a page is missing. Code in the text of an
# article (`like::this()`) becomes a link. A package that is not installed would be looked up on the network, and
# without a network the build would end.
arguments <- commandArgs(trailingOnly = TRUE)
source <- normalizePath(arguments[1])
folder <- file.path(normalizePath(dirname(arguments[2])), basename(arguments[2]))

options(pkgdown.internet = FALSE)
package <- pkgdown::as_pkgdown(source, override = list(destination = folder))
pkgdown::check_pkgdown(package)
pkgdown::build_site(package, devel = FALSE, preview = FALSE, install = FALSE, new_process = FALSE)

shown <- package$topics[!package$topics$internal, ]
expected <- c("index.html", "news/index.html", "reference/index.html", "articles/index.html",
              file.path("reference", shown$file_out), package$vignettes$file_out)
lost <- expected[!file.exists(file.path(folder, expected))]
if (length(lost) > 0) stop("no page: ", paste(lost, collapse = ", "))
