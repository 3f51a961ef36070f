# The constants of costs in src/core/*/costs.hpp: read, fitted to the clock, and written back. Needs `here`.
cost_folders <- function() {
  dirname(list.files(file.path(here, "..", "src", "core"), "^costs[.]hpp$", recursive = TRUE))
}
cost_file <- function(folder) file.path(here, "..", "src", "core", folder, "costs.hpp")
cost_line <- function(name) paste0("^constexpr double (", name, ") = ([0-9.e+-]+);$")

# All constants by name. The attribute `folder` has the folder of each.
read_costs <- function() {
  folders <- cost_folders()
  found <- lapply(folders, function(folder) {
    lines <- grep(cost_line("k[A-Za-z0-9]+"), readLines(cost_file(folder)), value = TRUE)
    values <- as.numeric(sub(cost_line("k[A-Za-z0-9]+"), "\\2", lines))
    stats::setNames(values, sub(cost_line("k[A-Za-z0-9]+"), "\\1", lines))
  })
  costs <- unlist(found)
  twice <- anyDuplicated(names(costs))
  if (twice) stop("found ", names(costs)[twice], " more than once in src/core/*/costs.hpp", call. = FALSE)
  structure(costs, folder = stats::setNames(rep(folders, lengths(found)), names(costs)))
}

# Fits the constants of one engine. parts: for each task a function of the constants that returns the seconds of each of
# them, or of groups of them that keep their ratios (`groups`, by name); took: by the clock.
#
# The sum of absolute logarithms of took / expected is least, smoothed within `noise` of zero: a short task counts as
# much as a long one, and a disturbed one hardly at all. The factor of each constant is held to the median of took /
# expected as if by a task of its own, with the weight `hold`, so that one that matters little follows the others, and
# none becomes zero, as it may by non-negative least squares. A constant without seconds in any task keeps its number.
fit_engine <- function(costs, parts, took, groups = list(), noise = 0.05, hold = 0.2) {
  seconds <- unlist(lapply(unname(parts), function(part) part(costs)))
  fitted <- unique(names(seconds)[seconds > 0])
  scaled <- function(logs) {
    for (k in seq_along(fitted)) {
      names <- if (fitted[k] %in% names(groups)) groups[[fitted[k]]] else fitted[k]
      costs[names] <- costs[names] * exp(logs[k])
    }
    costs
  }
  off <- function(costs) log(took / vapply(parts, function(part) sum(part(costs)), 0))
  size <- function(off) sqrt(off^2 + noise^2)
  common <- stats::median(off(costs))
  loss <- function(logs) sum(size(off(scaled(logs)))) + hold * sum(size(logs - common))
  scaled(stats::nlminb(rep(common, length(fitted)), loss)$par)
}

# Replaces the numbers of constants, by name, and in the files that have one of them the line that says where they were
# measured. No file is written unless every constant, and every such line, is found exactly once.
write_costs <- function(values, measured) {
  replaced <- function(lines, word, pattern, new, what) {
    at <- grep(word, lines)
    if (length(at) != 1L) stop("found ", what, " ", length(at), " times, not once; nothing was written", call. = FALSE)
    if (!grepl(pattern, lines[at])) stop("cannot read ", what, "; nothing was written", call. = FALSE)
    replace(lines, at, new)
  }
  folders <- attr(read_costs(), "folder")[names(values)]
  if (anyNA(folders)) stop("there is no ", names(values)[is.na(folders)][1L], "; nothing was written", call. = FALSE)
  texts <- lapply(split(values, folders), function(of_folder) {
    file <- cost_file(folders[[names(of_folder)[1L]]])
    lines <- replaced(readLines(file), "^// Measured", "", paste0("// Measured ", measured),
                      paste("\"Measured\" in", file))
    for (name in names(of_folder)) {
      number <- format(signif(of_folder[[name]], 3L), scientific = FALSE, trim = TRUE, digits = 3L)
      lines <- replaced(lines, paste0("\\b", name, "\\b"), cost_line(name),
                        paste0("constexpr double ", name, " = ", number, ";"), paste(name, "in", file))
    }
    list(file = file, lines = lines)
  })
  for (text in texts) writeLines(text$lines, text$file)
  vapply(texts, `[[`, "", "file")
}
