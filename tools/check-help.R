# Rscript tools/check-help.R: checks in man/ what every help page must have. Each page has an example that runs, the
# cost of the call, the units of its arguments and results, and a reference to what it implements (except for the pages
# about the session). Each exported function has a page. The page of the package lists all functions and all vignettes,
# and the site's index lists all pages.
sections <- function(page) {
  tags <- vapply(page, attr, "", "Rd_tag")
  titles <- vapply(page[tags == "\\section"], function(section) trimws(paste(unlist(section[[1L]]), collapse = "")), "")
  c(tags[tags != "TEXT"], titles)
}

text_of <- function(page, tag) {
  parts <- page[vapply(page, attr, "", "Rd_tag") == tag]
  trimws(vapply(parts, function(part) paste(unlist(part), collapse = ""), ""))
}

# An example that is only inside \dontrun does not count.
has_example <- function(page) {
  examples <- page[vapply(page, attr, "", "Rd_tag") == "\\examples"]
  code <- unlist(lapply(examples, function(part) {
    unlist(part[!vapply(part, attr, "", "Rd_tag") %in% c("\\dontrun", "\\donttest", "COMMENT")])
  }))
  length(parse(text = as.character(code))) > 0L
}

about_session <- c("kestrel_info", "kestrel_threads")
# These pages are about no single function.
topics <- c("kestrel-package", "engines")

missing_parts <- function(page) {
  name <- text_of(page, "\\name")
  there <- sections(page)
  # Everything except names of arguments and titles of papers.
  body <- unlist(page[vapply(page, attr, "", "Rd_tag") %in% c("\\value", "\\arguments", "\\details", "\\section")])
  of_function <- !name %in% topics
  c(if (!has_example(page)) "an example that runs",
    if (!"\\references" %in% there && !name %in% about_session) "references",
    if (!"Cost" %in% there && of_function) "a section on its cost",
    if (!any(grepl("\\bunits?\\b", body)) && !"Units" %in% there && of_function) "the units of what it takes and gives",
    if (!"\\value" %in% there && of_function) "what it returns")
}

# Markdown does not distinguish [hpi()] from [Hpi()], so one of them would lead to the page of the other.
miscased_links <- function(file) {
  text <- paste(readLines(file), collapse = "\n")
  links <- regmatches(text, gregexpr("\\\\link\\[=[^]]+\\]\\{[^}]+", text))[[1L]]
  topic <- sub(".*\\[=([^]]+)\\].*", "\\1", links)
  shown <- sub("\\(\\)$", "", sub(".*\\{", "", links))
  links[topic != shown & tolower(topic) == tolower(shown)]
}

pages <- lapply(list.files("man", "[.]Rd$", full.names = TRUE), tools::parse_Rd)
names(pages) <- vapply(pages, text_of, "", "\\name")
faults <- unlist(lapply(names(pages), function(name) {
  parts <- missing_parts(pages[[name]])
  if (length(parts) > 0L) paste0("man/", name, ".Rd lacks ", parts)
}))

for (file in list.files("man", "[.]Rd$", full.names = TRUE)) {
  wrong <- miscased_links(file)
  if (length(wrong) > 0L) faults <- c(faults, paste0(file, " has ", wrong, "}: write \\code{\\link{...}()}"))
}

exported <- sub("^export\\((.*)\\)$", "\\1", grep("^export\\(", readLines("NAMESPACE"), value = TRUE))
aliases <- unlist(lapply(pages, text_of, "\\alias"))
without <- setdiff(exported, aliases)
if (length(without) > 0L) faults <- c(faults, paste(without, "has no help page"))

# A link is {hpi()}, or {Hpi}() if it is written as \code{\link{Hpi}()}.
index <- gsub("}()", "()}", paste(readLines("man/kestrel-package.Rd"), collapse = "\n"), fixed = TRUE)
listed <- function(names) vapply(names, function(name) grepl(paste0("{", name, "}"), index, fixed = TRUE), NA)
# se() is a generic for regressions only, and is on the page of their methods.
functions <- paste0(setdiff(exported, "se"), "()")
vignettes <- sub("[.]Rmd$", "", list.files("vignettes", "[.]Rmd$"))
for (name in c(functions[!listed(functions)], vignettes[!listed(vignettes)])) {
  faults <- c(faults, paste0("man/kestrel-package.Rd does not list ", name))
}

site <- sub("^ *- ", "", grep("^ +- [^ :]+$", readLines("_pkgdown.yml"), value = TRUE))
for (name in c(names(pages), vignettes)) {
  known <- if (name %in% vignettes) name else c(name, text_of(pages[[name]], "\\alias"))
  if (!any(known %in% site)) faults <- c(faults, paste0("_pkgdown.yml does not list ", name))
}

if (length(faults) > 0L) {
  writeLines(faults)
  message("check-help: ^ every help page is whole, and the indices are")
  quit(status = 1)
}
cat("check-help: ", length(pages), " pages whole\n", sep = "")
