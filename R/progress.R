# Progress of long computations: a bar of package cli, which appears after a second if a terminal can show it, and is
# silent under suppressMessages(). The fractions come from the polls of the core (r_poll() in src/rcpp_run.hpp), on the
# calling thread, where interrupts are checked, too.

# The argument `verbose` of a function: TRUE, FALSE, or NULL for the option, and without that one for the session to
# decide. The result may be passed on as the `verbose` of another function.
asked_verbose <- function(verbose) {
  if (!is.null(verbose)) return(check_flag(verbose, "verbose"))
  option <- getOption("kestrel.verbose")
  if (!is.null(option)) check_flag(option, "options(kestrel.verbose=)")
}

session_is_interactive <- function() interactive()

wants_bar <- function(verbose) isTRUE(verbose) || is.null(verbose) && session_is_interactive()

# Seconds; cli's own default is two.
bar_delay <- function() getOption("cli.progress_show_after", 1)

# Without auto_terminate a finished bar stays: another sum may follow.
open_bar <- function(label, total) {
  before <- options(cli.progress_show_after = bar_delay())
  on.exit(options(before))
  # Without a total cli would show the count alone.
  format <- if (is.na(total)) "{cli::pb_spin} {cli::pb_name} {cli::pb_status} | {cli::pb_elapsed}"
  cli::cli_progress_bar(label, total = total, format = format, clear = TRUE, current = FALSE, auto_terminate = FALSE,
                        .auto_close = FALSE)
}

move_bar <- function(bar, at, status = NULL) cli::cli_progress_update(id = bar, set = at, status = status)

# Lets cli draw. Ctrl-C and limits of time wait, since in the middle they would leave cli broken for the bars after it;
# the next poll notices them. An error of cli is no reason to end a computation.
drawing_bar <- function(code) suspendInterrupts(catching_errors(code, function(e) NULL))

# The result of body(move), where move(at, status) moves a bar.
with_bar <- function(label, total, body) {
  bar <- NULL
  on.exit(if (!is.null(bar)) drawing_bar(cli::cli_progress_done(id = bar)))
  drawing_bar(bar <- open_bar(label, total))
  body(function(at, status = NULL) if (!is.null(bar)) drawing_bar(move_bar(bar, at, status)))
}

# Calls body(progress). progress(fraction) moves a bar if one is wanted, and is NULL otherwise. A computation of several
# sums may start again in the middle; the bar never goes back.
with_progress <- function(verbose, label, body) {
  if (!wants_bar(verbose)) return(body(NULL))
  with_bar(label, 100, function(move) {
    furthest <- 0
    body(function(fraction) {
      furthest <<- max(furthest, 100 * fraction)
      move(furthest)
    })
  })
}

# The same for a search, whose number of sums and evaluations is unknown. The bar tells how far the sum is that is being
# computed, since one of them may take minutes, and counts sums and evaluations (see counted()). A fraction below the
# last is of the next sum.
with_search_progress <- function(verbose, label, body) {
  if (!wants_bar(verbose)) return(body(NULL))
  with_bar(label, NA, function(move) {
    evaluations <- sums <- last <- 0
    show <- function(fraction = last) {
      if (fraction < last) sums <<- sums + 1
      last <<- fraction
      move(100 * sums + 100 * fraction + evaluations,
           paste0("sum ", sums + 1, ", ", floor(100 * fraction), " %", if (evaluations > 0) paste0(" (", evaluations,
                  if (evaluations == 1) " evaluation)" else " evaluations)")))
    }
    body(structure(show, evaluated = function() {
      evaluations <<- evaluations + 1
      show()
    }))
  })
}

# A criterion whose evaluations move the bar of a search.
counted <- function(criterion, progress) {
  force(criterion)
  if (is.null(progress)) return(criterion)
  function(...) {
    value <- criterion(...)
    attr(progress, "evaluated")()
    value
  }
}

# R checks for Ctrl-C and time limits between some of its own functions, never within one. With two million observations
# most take a few hundredths of a second: with heard() between some of them the user waits at most 0.2 s. Longer ones
# are cut into parts of a fixed size, with heard() in each.
part_size <- 1e5

# The indices 1, ..., n in parts.
parts_of <- function(n, size = part_size) {
  lapply(seq_len(ceiling(n / size)), function(part) ((part - 1) * size + 1):min(part * size, n))
}

heard <- function() poll_cpp()

# The results of of_part(indices) for the parts of 1, ..., n, one after the other.
in_parts <- function(n, size, of_part) {
  all <- lapply(parts_of(n, size), function(part) {
    heard()
    of_part(part)
  })
  if (length(all) == 1L) all[[1L]] else unlist(all)
}
