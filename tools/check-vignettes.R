# Rscript tools/check-vignettes.R [FILE]...: checks that readers can paste the code of vignettes/*.Rmd and demo/*.Rmd,
# or of the files given, into a session of their own. The chunks that a page shows run in order, statement by
# statement, in a fresh R process that has nothing else. kestrel must be in the library path. A chunk with error = TRUE
# may fail. No line of code has more than 88 characters, because a longer one does not fit on the page. The list of the
# functions of ks and np must be whole.
widest <- 88L

# The options in the header of a chunk, "r name, echo=FALSE" between braces, without the name.
chunk_options <- function(header) {
  given <- sub("^```+\\{r *[^,=]*(,|$)", "", sub("\\}\\s*$", "", header))
  as.list(str2lang(paste0("alist(", given, ")")))[-1L]
}

# The chunks of R code in a file. The chunks of its child documents are at the places of these documents.
chunks_of <- function(file) {
  lines <- readLines(file, encoding = "UTF-8")
  starts <- grep("^```+\\{r\\b.*\\}\\s*$", lines)
  fences <- grep("^```+\\s*$", lines)
  do.call(c, lapply(starts, function(start) {
    options <- chunk_options(lines[start])
    if (!is.null(options$child)) return(chunks_of(file.path(dirname(file), options$child)))
    end <- fences[fences > start][1L]
    list(list(file = file, line = start, options = options, code = lines[seq_len(end - start - 1L) + start]))
  }))
}

is_visible <- function(chunk) {
  !any(vapply(chunk$options[c("echo", "include", "eval")], identical, TRUE, FALSE))
}

# The lines between fences, in any language.
too_wide <- function(file) {
  lines <- readLines(file, encoding = "UTF-8")
  fence <- grepl("^```", lines)
  wide <- which(nchar(lines) > widest & cumsum(fence) %% 2L == 1L & !fence)
  if (length(wide) > 0L) sprintf("%s:%d: more than %d characters", file, wide, widest)
}

# Runs in the fresh process. It shows the output that a reader who pastes the chunks would see, and ends with status 1
# at the first error.
paste_chunks <- function(chunks) {
  for (chunk in chunks) {
    statements <- parse(text = chunk$code, keep.source = TRUE)
    lines <- vapply(attr(statements, "srcref"), `[`, 0L, 1L)
    for (k in seq_along(statements)) {
      tryCatch({
        value <- withVisible(eval(statements[k], globalenv()))
        if (value$visible) print(value$value)
      }, error = function(e) {
        if (isTRUE(chunk$options$error)) return()
        cat("\n", sprintf("%s:%d: %s", chunk$file, chunk$line + lines[k], conditionMessage(e)), "\n", sep = "")
        quit(status = 1L)
      })
    }
  }
}

# The script runs in an environment of its own, so that the global one is empty, and in an empty folder.
run_fresh <- function(chunks, script) {
  folder <- tempfile("pasted")
  dir.create(folder)
  home <- setwd(folder)
  on.exit(setwd(home))
  saveRDS(chunks, "chunks.rds")
  output <- suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), c(
    "--vanilla", "-e", shQuote(sprintf("sys.source('%s', new.env())", script)), "--paste", "chunks.rds"
  ), stdout = TRUE, stderr = TRUE))
  if (!is.null(attr(output, "status"))) c(utils::tail(output, 3L), "the code shown does not run by itself")
}

# The problems that were found, and the seconds that the file took.
check <- function(file, script) {
  chunks <- chunks_of(file)
  started <- Sys.time()
  files <- unique(c(file, vapply(chunks, `[[`, "", "file")))
  faults <- c(unlist(lapply(files, too_wide)), run_fresh(Filter(is_visible, chunks), script))
  seconds <- as.numeric(difftime(Sys.time(), started, units = "secs"))
  list(faults = faults, line = sprintf("check-vignettes: %s, %.0f s", file, seconds))
}

# The versions of the peers whose functions are listed.
listed_versions <- c(ks = "1.14", np = "0.60")

# What is wrong in vignettes/peer-functions.csv: functions that kestrel has, or has not, against what it says. Where the
# listed version of the peer is installed, also names that it does not export, and exports that the file does not name.
peer_faults <- function(file = "vignettes/peer-functions.csv") {
  rows <- utils::read.csv(file)
  names <- strsplit(rows$functions, " ")
  here <- rep(rows$here != "no", lengths(names))
  package <- rep(rows$package, lengths(names))
  names <- unlist(names)
  differ <- names[here != names %in% getNamespaceExports("kestrel")]
  faults <- if (length(differ) > 0L) paste(file, "is wrong about", paste(differ, collapse = ", "))
  for (peer in unique(package)) {
    if (!requireNamespace(peer, quietly = TRUE)) next
    if (!startsWith(as.character(utils::packageVersion(peer)), listed_versions[[peer]])) next
    listed <- names[package == peer]
    exported <- getNamespaceExports(peer)
    unlike <- c(setdiff(exported, listed), setdiff(listed, exported), listed[duplicated(listed)])
    if (length(unlike) > 0L) faults <- c(faults, paste(file, "is not", peer, "in", paste(unlike, collapse = ", ")))
  }
  faults
}

arguments <- commandArgs(trailingOnly = TRUE)
if (identical(arguments[1L], "--paste")) {
  paste_chunks(readRDS(arguments[2L]))
} else {
  script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
  files <- if (length(arguments) > 0L) arguments else Sys.glob(c("vignettes/*.Rmd", "demo/*.Rmd"))
  # Each file has a process of its own, so that as many as there are cores can run at once.
  found <- parallel::mclapply(files, check, script = script, mc.cores = parallel::detectCores(), mc.preschedule = FALSE)
  for (one in found) writeLines(c(one$line, paste0("  ", one$faults, recycle0 = TRUE)))
  wrong_list <- if (length(arguments) == 0L) peer_faults()
  writeLines(as.character(wrong_list))
  quit(status = as.integer(any(lengths(lapply(found, `[[`, "faults")) > 0L) || length(wrong_list) > 0L))
}
