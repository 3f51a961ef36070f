# Rscript tools/check-prose.R [FILE...]: checks the spelling and the length of the sentences of all prose, or of these
# files: Markdown, vignettes, the report of demo/, help pages and DESCRIPTION. Code, formulas and references are left
# out. Words that aspell does not know but we use are in tools/words.txt.

longest <- 40L # words in a sentence
mean_longest <- 20 # mean number of words in the sentences of a file
# A mean of fewer sentences than this says little.
enough <- 10L

files <- function() {
  c("README.md", "NEWS.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "bench/README.md",
    list.files("src/core", "^README[.]md$", full.names = TRUE, recursive = TRUE), "DESCRIPTION",
    list.files("vignettes", "[.]R?md$", full.names = TRUE),
    list.files(c("demo", "bench"), "[.]Rmd$", full.names = TRUE), list.files("man", "[.]Rd$", full.names = TRUE))
}

# Paragraphs are data frames: the line where each begins, its text, and whether it is made of sentences.
paragraph <- function(line, text, whole = TRUE) {
  if (length(text) == 0L) NULL else data.frame(line = line, text = paste(text, collapse = " "), whole = whole)
}

# TRUE for lines that are not prose: the header, fenced and indented code, comments and references.
not_prose <- function(lines) {
  inside <- function(opens) cumsum(opens) %% 2L == 1L | opens
  fenced <- inside(grepl("^ *```", lines))
  header <- rep(FALSE, length(lines))
  if (length(lines) > 0L && lines[1L] == "---") header[seq_len(which(lines == "---")[2L])] <- TRUE
  comment <- cumsum(grepl("<!--", lines)) > cumsum(grepl("-->", lines)) | grepl("-->", lines)
  formula <- inside(grepl("^ *[$][$]", lines) & !grepl("[$][$].*[$][$]", lines)) | grepl("^ *[$][$].*[$][$]", lines)
  heading <- cumsum(grepl("^#+ ", lines) & !fenced)
  reference <- heading %in% heading[grepl("^#+ References?$", lines)]
  fenced | header | comment | formula | reference | grepl("^ {4}", lines) | grepl("^ *</?[a-z]+[^>]*>$", lines)
}

# A heading, an item of a list and a cell of a table are paragraphs of their own.
markdown_paragraphs <- function(file) {
  lines <- readLines(file, encoding = "UTF-8")
  lines[not_prose(lines)] <- ""
  table <- grepl("^ *[|]", lines)
  heading <- grepl("^#+ ", lines)
  begins <- grepl("^ *([-*]|[0-9]+[.]) ", lines) | lines == "" | heading | c(TRUE, lines[-length(lines)] == "") |
    c(FALSE, heading[-length(lines)]) | table
  text <- sub("^ *([-*>]|[0-9]+[.]|#+) +", "", lines)
  first <- which(begins)
  parts <- lapply(unname(split(seq_along(lines), cumsum(begins))), function(rows) {
    if (!table[rows[1L]]) return(paragraph(rows[1L], text[rows], !heading[rows[1L]]))
    cells <- strsplit(gsub("\\\\[|]", " ", text[rows]), "|", fixed = TRUE)[[1L]]
    do.call(rbind, lapply(cells, function(cell) paragraph(rows[1L], cell, FALSE)))
  })
  found <- do.call(rbind, parts)
  found$text <- gsub("!?\\[([^]]*)\\]\\([^)]*\\)", "\\1", gsub("(`+)[^`]+\\1", "Code", found$text))
  found$text <- gsub("[$][^$]+[$]", "Code", found$text)
  found[grepl("[[:alpha:]]", found$text), ]
}

hidden <- c("\\name", "\\alias", "\\keyword", "\\usage", "\\examples", "\\references", "\\author", "\\seealso",
            "\\concept", "\\docType", "\\encoding", "\\Rdversion", "COMMENT", "\\figure")
shown_as_code <- c("\\code", "\\eqn", "\\deqn", "\\link", "\\url", "\\href", "\\pkg", "\\doi", "\\preformatted",
                   "\\verb", "\\env", "\\option", "\\file")

# The text of a part of a help page; empty lines and the ends of items separate paragraphs.
rd_text <- function(part) {
  tag <- attr(part, "Rd_tag")
  if (is.null(tag)) tag <- ""
  if (tag %in% hidden) return("")
  if (tag == "\\deqn") return(if (grepl("[.]\\s*$", paste(unlist(part[[1L]]), collapse = ""))) " Code. " else " Code")
  if (tag %in% shown_as_code) return("Code")
  if (is.character(part)) return(paste(part, collapse = ""))
  inner <- vapply(part, rd_text, "")
  # The first part is the name of an argument or a field.
  if (tag == "\\item" && length(part) == 2L) inner[[1L]] <- "X"
  if (tag == "\\tabular") return(paste0("\n\n", paste(inner[[2L]], collapse = ""), "\n\n"))
  separate <- tag %in% c("\\item", "\\section", "\\title", "\\description", "\\details", "\\value", "\\arguments",
                         "\\itemize", "\\describe", "\\enumerate", "\\subsection", "\\cr", "\\tab")
  paste0(if (separate) "\n\n", paste(inner, collapse = if (separate && length(part) == 2L) "\n\n" else ""),
         if (separate) "\n\n")
}

rd_paragraphs <- function(file) {
  text <- paste(vapply(tools::parse_Rd(file), rd_text, ""), collapse = "")
  parts <- gsub("\\s+", " ", strsplit(text, "\n[ \t]*\n")[[1L]])
  data.frame(line = NA, text = parts, whole = TRUE)[grepl("[[:alpha:]]{2}", parts), ]
}

description_paragraphs <- function(file) {
  fields <- read.dcf(file, c("Title", "Description"))[1L, ]
  data.frame(line = NA, text = gsub("'[^']+'|<[^>]+>", "Code", gsub("\\s+", " ", fields)), whole = c(FALSE, TRUE))
}

paragraphs <- function(file) {
  if (grepl("[.]Rd$", file)) return(rd_paragraphs(file))
  if (basename(file) == "DESCRIPTION") return(description_paragraphs(file))
  markdown_paragraphs(file)
}

sentences <- function(text) {
  text <- gsub("\\b(et al|ch|eq|e\\.g|i\\.e|vs|[A-Z])[.](?= )", "\\1", text, perl = TRUE)
  strsplit(text, "[.?!][\"')*]*\\s+(?=[A-Z\"('*])", perl = TRUE)[[1L]]
}

# A number, a name and a piece of code count like a word; punctuation does not.
count_words <- function(sentence) {
  sum(grepl("[[:alnum:]]", strsplit(sentence, "[[:space:]]+")[[1L]]))
}

long_sentences <- function(file, found) {
  parts <- lapply(found$text, sentences)
  line <- rep(found$line, lengths(parts))
  whole <- rep(found$whole, lengths(parts))
  text <- trimws(unlist(parts))
  words <- vapply(text, count_words, 0L)
  where <- paste0(file, ifelse(is.na(line), "", paste0(":", line)))
  long <- words > longest
  mean_words <- mean(words[whole])
  c(sprintf("%s: a sentence of %d words: %s ...", where[long], words[long], substr(text[long], 1L, 60L)),
    if (sum(whole) >= enough && mean_words > mean_longest) {
      sprintf("%s: sentences have %.1f words in the mean, not at most %g", file, mean_words, mean_longest)
    })
}

# Words go to aspell if they consist of letters only, at least three. A word with capitals inside is a name or code.
unknown_words <- function(file, found, known) {
  text <- gsub("https?://[^ )]+", " ", found$text)
  tokens <- unlist(strsplit(text, "[[:space:]/()|-]+"))
  tokens <- gsub("^[^[:alpha:]]+|[^[:alpha:]]+$", "", gsub("'s$", "", tokens))
  tokens <- unique(tokens[grepl("^[[:alpha:]']+$", tokens) & grepl("[[:alpha:]]{3}", tokens) &
                            !grepl("[[:alpha:]][[:upper:]]", tokens)])
  unknown <- system2("aspell", c("list", "--lang=en", "--encoding=utf-8"), stdout = TRUE, input = enc2utf8(tokens))
  unknown <- unknown[!tolower(unknown) %in% tolower(known)]
  if (length(unknown) > 0L) paste0(file, ": unknown words: ", paste(unknown, collapse = ", "))
}

arguments <- commandArgs(trailingOnly = TRUE)
checked <- if (length(arguments) > 0L) arguments else files()
known <- readLines("tools/words.txt", encoding = "UTF-8")
faults <- unlist(lapply(checked, function(file) {
  found <- paragraphs(file)
  c(unknown_words(file, found, known), long_sentences(file, found))
}))
if (length(faults) > 0L) {
  writeLines(faults)
  message("check-prose: mend the above; a word that is right goes into tools/words.txt")
  quit(status = 1)
}
cat("check-prose: ", length(checked), " files\n", sep = "")
