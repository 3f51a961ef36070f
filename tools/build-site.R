# Rscript tools/build-site.R SOURCE FOLDER: builds the pages of the package in SOURCE, which must be installed, in
# FOLDER. It fails if a page is in no group of the index, an example fails, or a page is missing. Code in the text of an
# article (`like::this()`) becomes a link. A package that is not installed would be looked up on the network, and
# without a network the build would end.
arguments <- commandArgs(trailingOnly = TRUE)
source <- normalizePath(arguments[1])
folder <- file.path(normalizePath(dirname(arguments[2])), basename(arguments[2]))

read_page <- function(file) paste(readLines(file, encoding = "UTF-8", warn = FALSE), collapse = "\n")
found_in <- function(pattern, text) regmatches(text, gregexpr(pattern, text, perl = TRUE))[[1]]

# ---- Formulas -----------------------------------------------------------------------------------------------------
# pkgdown leaves TeX for MathJax, which is fetched from a server. pandoc makes MathML of it, which browsers draw.

formula <- "(?s)\\$\\$.+?\\$\\$|\\\\\\(.+?\\\\\\)"
mathjax <- "(?s)(<!-- mathjax -->\\s*)?<script[^>]*mathjax[^>]*></script>\\s*"
# Where `$$` and `\(` are no formulas, or no element can be.
elsewhere <- "(?s)<(pre|code|script)\\b.*?</\\1>|<meta\\b[^>]*>"

as_mathml <- function(formulas) {
  tex <- substring(formulas, 3, nchar(formulas) - 2)
  tex <- gsub("&lt;", "<", gsub("&gt;", ">", gsub("&amp;", "&", tex, fixed = TRUE), fixed = TRUE), fixed = TRUE)
  sign <- ifelse(startsWith(formulas, "$$"), "$$", "$")
  lines <- tempfile(fileext = ".md")
  writeLines(paste0(sign, gsub("\\s+", " ", trimws(tex)), sign, "\n"), lines, useBytes = TRUE)
  html <- system2("pandoc", c("--from=markdown", "--to=html", "--mathml", "--wrap=none", lines), stdout = TRUE)
  made <- found_in("(?s)<math.*?</math>", paste(html, collapse = "\n"))
  if (length(made) != length(formulas)) stop("pandoc made ", length(made), " of ", length(formulas), " formulas")
  made
}

draw_formulas <- function(files) {
  pages <- lapply(files, function(file) gsub(mathjax, "", read_page(file), perl = TRUE))
  places <- lapply(pages, gregexpr, pattern = elsewhere, perl = TRUE)
  texts <- Map(function(page, place) regmatches(page, place, invert = TRUE)[[1]], pages, places)
  formulas <- unique(unlist(lapply(unlist(texts), found_in, pattern = formula)))
  drawn <- stats::setNames(as_mathml(formulas), formulas)
  for (k in seq_along(files)) {
    rest <- regmatches(pages[[k]], places[[k]])[[1]]
    is_meta <- startsWith(rest, "<meta")
    rest[is_meta] <- gsub(formula, "", rest[is_meta], perl = TRUE)
    found <- gregexpr(formula, texts[[k]], perl = TRUE)
    regmatches(texts[[k]], found) <- lapply(regmatches(texts[[k]], found), function(one) unname(drawn[one]))
    writeLines(paste0(texts[[k]], c(rest, ""), collapse = ""), files[k], useBytes = TRUE)
  }
}

# ---- Gallery ------------------------------------------------------------------------------------------------------
# The pictures of the examples of help pages, each with the code since the one before.

figures_of <- function(file) {
  page <- read_page(file)
  title <- sub(".*<h1>(.*?)</h1>.*", "\\1", page)
  lines <- strsplit(sub(".*id=\"ref-examples\"", "", page), "\n")[[1]]
  is_code <- grepl("<span class=\"r-in\"><span>(?!</span>)", lines, perl = TRUE)
  code <- ifelse(is_code, sub(".*?(<span class=\"r-in\">.*</span>).*", "\\1", lines), "")
  code <- gsub("href=\"(?!http)", "href=\"reference/", code, perl = TRUE)
  image <- ifelse(grepl("<img src=", lines), sub(".*<img src=\"([^\"]*)\".*", "\\1", lines), "")
  drawn <- which(nzchar(image))
  before <- findInterval(seq_along(lines), drawn, left.open = TRUE) + 1
  vapply(seq_along(drawn), function(k) {
    own <- code[before == k]
    sprintf(paste0("<figure><a href=\"reference/%1$s\">",
                   "<img src=\"reference/%2$s\" alt=\"%3$s\" loading=\"lazy\"></a>\n",
                   "<figcaption><a href=\"reference/%1$s\">%3$s</a></figcaption>\n",
                   "<pre class=\"sourceCode r\"><code>%4$s</code></pre></figure>"),
            basename(file), image[drawn[k]], title, paste(own[nzchar(own)], collapse = "\n"))
  }, "")
}

build_gallery <- function(package) {
  topics <- package$topics
  page_of <- function(alias) topics$file_out[topics$name == alias | vapply(topics$alias, is.element, NA, el = alias)][1]
  body <- lapply(package$meta$reference, function(group) {
    figures <- unlist(lapply(file.path(folder, "reference", vapply(group$contents, page_of, "")), figures_of))
    if (length(figures) == 0) return(NULL)
    id <- gsub("[^a-z]+", "-", tolower(group$title))
    paste0("<h2 id=\"", id, "\">", group$title, "</h2>\n<div class=\"gallery\">\n",
           paste(figures, collapse = "\n"), "\n</div>")
  })
  body <- paste(c("<p>The pictures of the examples in the help, with the code that draws them. ",
                  "It goes on from that of the picture before on the same page.</p>", unlist(body)),
                collapse = "\n")
  pkgdown::render_page(package, "title-body", list(pagetitle = "Gallery", body = body), "gallery.html")
}

# ---- The site -----------------------------------------------------------------------------------------------------

options(pkgdown.internet = FALSE)
package <- pkgdown::as_pkgdown(source, override = list(destination = folder))
pkgdown::check_pkgdown(package)
pkgdown::build_site(package, devel = FALSE, preview = FALSE, install = FALSE, new_process = FALSE)
build_gallery(package)

shown <- package$topics[!package$topics$internal, ]
expected <- c("index.html", "gallery.html", "news/index.html", "reference/index.html", "articles/index.html",
              file.path("reference", shown$file_out), package$vignettes$file_out)
lost <- expected[!file.exists(file.path(folder, expected))]
if (length(lost) > 0) stop("no page: ", paste(lost, collapse = ", "))

draw_formulas(list.files(folder, "\\.html$", recursive = TRUE, full.names = TRUE))
