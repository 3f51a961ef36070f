# Bandwidths of a regression that are distances to nearest neighbours: the arguments, and the search for their number.

# The first is the default.
bandwidth_types <- c("fixed", "generalized_nn", "adaptive_nn")

nearest_names <- c(generalized_nn = "generalized nearest neighbour", adaptive_nn = "adaptive nearest neighbour")

# Objects of densities, whose bandwidths are fixed, may have any value there.
is_nearest <- function(asked) {
  type <- asked[["type"]]
  is.character(type) && length(type) == 1L && type %in% bandwidth_types[-1L]
}

# Numbers of neighbours as a user gives them.
check_neighbours <- function(bws, name = "bws") {
  bws <- plain(bws)
  if (!is_numbers(bws) || length(bws) == 0L || anyNA(bws) || any(bws < 1 | bws != round(bws) | bws > 1e9)) {
    abort_input("`", name, "` must be whole numbers of neighbours, at least 1, not ", describe_value(bws), ".")
  }
  as.numeric(bws)
}

# What has no meaning without a fixed bandwidth.
check_nearest_arguments <- function(asked, given) {
  if (asked$scaling) abort_input("`bwscaling` must be FALSE for bwtype = \"", asked$type, "\", not TRUE.")
  for (name in c("nbw", "bwmin", "bwmax")) {
    if (!is.null(given[[name]])) {
      abort_input("`", name, "` must not be given for bwtype = \"", asked$type, "\": `bws` lists the numbers of ",
                  "neighbours to try.")
    }
  }
}

# Observations up to which all numbers of neighbours are tried, and the ratio of successive ones in a scan for more.
whole_curve <- 500L
scan_ratio_neighbours <- 1.05

# Valleys of a scan that are searched.
valleys_of_neighbours <- 10L

# The numbers of neighbours to evaluate; the fields are those of candidate_bandwidths().
candidate_neighbours <- function(data, asked, given, run) {
  n <- length(data$x)
  made <- function(grid, search, argument) {
    list(grid = grid, h = grid, unit = 1, search = search, argument = argument)
  }
  most <- function(limit) regression_neighbours_cpp(data$sorted, limit, run)
  if (is.null(given$bws)) {
    most <- most(length(unique(data$x)) - 1)
    if (n <= whole_curve) return(made(as.numeric(seq_len(most)), "global", "ydat"))
    steps <- ceiling(log(most) / log(scan_ratio_neighbours))
    return(made(unique(round(most^(0:steps / steps))), "global", "ydat"))
  }
  grid <- sort(unique(check_neighbours(given$bws)))
  largest <- grid[length(grid)]
  if (largest > n - 1) {
    abort_input("`bws` must be at most ", n - 1, ", the number of other observations, not ", describe_value(largest),
                ".")
  }
  there <- most(largest)
  if (there < largest) {
    abort_input("`bws` must be at most ", there, " for these data, not ", describe_value(largest), ": an ",
                "observation has no more neighbours at different distances.")
  }
  made(grid, if (length(grid) == 1L) "none" else "grid", "bws")
}

# As search_bandwidth().
search_neighbours <- function(sample, data, asked, given, refine, run, needed) {
  grid <- candidate_neighbours(data, asked, given, run)
  single <- grid$search == "none"
  if (refine && single) abort_input("`refine` must be FALSE for a single bandwidth, not TRUE.")
  choose_regression_place_cpp(data$sorted, local_fits(grid$h, asked), run)
  if (single && !is.null(needed)) data <- with_fit(data, grid$h, asked, needed, run)
  curve <- regression_curve(data, grid$h, asked, run)
  allowed <- function(curve) {
    ifelse(!is.na(curve$cv) & (asked$unsupported == "exclude" | curve$unsupported == 0L), curve$cv, NA)
  }
  tried <- list(bw = grid$grid, value = allowed(curve), evaluations = length(grid$grid))
  if (single) {
    warn_unsupported(curve$unsupported, sample$nobs, grid$grid, asked)
    tried$value <- curve$cv
  } else {
    if (all(is.na(tried$value))) {
      abort_input("`", grid$argument, "` must give every observation a neighbour within its bandwidth, but at each ",
                  "number of neighbours some have none",
                  if (asked$unsupported == "reject") "; unsupported = \"exclude\" leaves them out", ".")
    }
    check_least(tried$value, asked, sample)
    if (grid$search == "global" || refine) {
      tried <- refine_neighbours(tried, function(k) allowed(regression_curve(data, k, asked, run)))
    }
  }
  best <- least_of_tried(tried, asked)
  bw <- tried$bw[max(best)]
  if (grid$search == "grid" && bw %in% range(grid$grid)) warn_end_of_grid(bw, grid, asked)
  found <- list(bw = bw, h = bw, fval = tried$value[max(best)], search = grid$search, grid = grid$grid, cv = curve$cv,
                n.unsupported = curve$unsupported,
                ties = if (length(best) > 1L && grid$search == "grid") tried$bw[best] else numeric(0),
                evaluations = tried$evaluations)
  remark <- if (grid$search == "global" && bw == max(grid$grid)) {
    paste0("The least ", asked$method, " is at k = ", bw, ", the largest number of neighbours that every observation ",
           "has.")
  }
  c(found, regression_place_cpp(data$sorted), list(remarks = as.character(remark), data = data))
}

# What was tried, and with it numbers between each of the lowest valleys and the numbers beside it, until no number is
# left there.
refine_neighbours <- function(tried, objective) {
  repeat {
    value <- ifelse(is.na(tried$value), Inf, tried$value)
    last <- length(value)
    bottom <- which(value < Inf & value <= c(Inf, value[-last]) & value <= c(value[-1L], Inf))
    bottom <- utils::head(bottom[order(value[bottom])], valleys_of_neighbours)
    gap <- unique(c(bottom[bottom > 1L] - 1L, bottom[bottom < last]))
    between <- unlist(lapply(gap, function(k) {
      ends <- tried$bw[k + 0:1]
      unique(round(seq(ends[1L], ends[2L], length.out = min(6, ends[2L] - ends[1L] + 1))))
    }))
    new <- sort(setdiff(between, tried$bw))
    if (length(new) == 0L) return(tried)
    tried <- together(tried, list(bw = new, value = objective(new), evaluations = length(new)))
  }
}
