# kestrel and other packages, one table from one run: seconds of CPU on one thread, the memory of a call, and its error
# against the exact value of what it approximates, relative to the largest value.
#
#   Rscript bench/peers.R [--short] [points grids bandwidths matrices regression]
#
# kestrel must be installed; ks, KernSmooth, kedd, locfit, sm, MASS, np and FKSUM run if they are installed. Contenders
# and exact values: peers-densities.R, peers-bandwidths.R. Memory: each call in a session of its own (memory.R).
#
# Every contender has a first call on small data. One that then takes a second or more is timed once, all others again
# in turn, with medians; the rule is the same for kestrel. `binned = FALSE` is ks without bins; its defaults, bins
# included, are what a user of it gets.

library(kestrel)
here <- dirname(gsub("~+~", " ", sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)), fixed = TRUE))
for (file in c("harness.R", "sums.R", "peers-densities.R", "peers-bandwidths.R")) source(file.path(here, file))
compile("clock.cpp")

quietly <- function(call) {
  function() {
    utils::capture.output(value <- suppressWarnings(suppressMessages(call())))
    value
  }
}

# A package's work at its first call happens here. An error shows when the contender is timed.
small_n <- 200
warm_up <- function(key, names) {
  small <- peer_tasks[[key]](small_n)$contenders
  for (name in names) try(quietly(small[[name]]$call)(), silent = TRUE)
}
# Values of all contenders that are installed and run at this size, with the seconds of this call. One that fails is
# left out, with a message.
values_of <- function(key, task) {
  ready <- Filter(function(one) has(one$package) && task$n <= one$max, task$contenders)
  warm_up(key, names(ready))
  found <- lapply(stats::setNames(names(ready), names(ready)), function(name) {
    start <- process_seconds()
    tryCatch(list(value = quietly(ready[[name]]$call)(), seconds = process_seconds() - start), error = function(e) {
      cat("  ", name, " stops: ", conditionMessage(e), "\n", sep = "")
    })
  })
  Filter(Negate(is.null), found)
}
errors_of <- function(task, found) {
  exact <- list()
  vapply(names(found), function(name) {
    key <- task$contenders[[name]]$reference
    if (is.na(key)) return(NA_real_)
    if (is.null(exact[[key]])) exact[[key]] <<- task$references[[key]]()
    value <- found[[name]]$value
    if (!is.null(task$value)) value <- task$value(value)
    max(abs(value - exact[[key]])) / max(abs(exact[[key]]))
  }, 0)
}
seconds_of <- function(task, found) {
  seconds <- vapply(found, function(one) one$seconds, 0)
  again <- names(found)[seconds < 1]
  if (length(again)) {
    calls <- lapply(task$contenders[again], function(one) quietly(one$call))
    seconds[again] <- middle(race(calls, rounds = 3L))
  }
  seconds
}

one_task <- function(key, n) {
  task <- peer_tasks[[key]](n)
  found <- values_of(key, task)
  names <- names(found)
  errors <- errors_of(task, found)
  seconds <- seconds_of(task, found)
  memory <- vapply(names, function(name) bytes_of("peer", key, name, n)[["added"]], 0) / 1e6
  for (quantity in list(list("seconds", seconds), list("error", errors), list("MB", memory))) {
    keep(task$what, names, quantity[[1L]], quantity[[2L]], d = task$d, n = n, m = task$m)
  }
  data.frame(task = task$what, d = task$d, n = format(n, big.mark = ",", scientific = FALSE), contender = names,
             s = figure(seconds), MB = figure(memory), error = ifelse(is.na(errors), "-", scientific(errors)))
}

over <- function(keys, sizes) {
  function() {
    for (i in seq_along(keys)) {
      for (n in sizes[[i]]) {
        cat("\n")
        show(one_task(keys[i], n))
      }
    }
  }
}
sections <- list(
  points = over(c("points1", "points2", "points3"), sized(list(c(1e4, 1e6), c(1e4, 1e6), c(1e4, 1e5)),
                                                          list(1e4, 1e4, 1e4))),
  grids = over(c("grid1", "grid2", "grid3"), sized(list(c(1e4, 1e6), c(2e3, 1e6), c(1e3, 2e3, 1e5)),
                                                   list(1e4, 2e3, 2e3))),
  bandwidths = over(c("hpi", "hlscv"), sized(list(c(2e3, 1e4, 1e6), c(2e3, 1e4, 1e6)), list(1e3, 1e3))),
  matrices = over(c("Hpi2", "Hpi3", "Hlscv2", "Hlscv3"),
                  sized(list(c(1e3, 1e5), c(1e3, 2e3, 1e5), c(1e3, 1e5), c(1e3, 2e3, 1e5)),
                        list(1e3, 500, 500, 300))),
  regression = over(c("npregbw", "fit"), sized(list(c(2e3, 1e6), c(2e3, 1e5, 1e6)), list(2e3, 2e3)))
)
run_sections(sections, check_direct_density)
cat("-: no common value to compare with. A bandwidth at a least value is known to about 1e-8 to 1e-6 in double\n",
    "arithmetic, because a curve is flat there. MB: what the call adds to a session that holds data and packages.\n",
    sep = "")
