# What npregbw() says of a bandwidth that few observations decide, or that does not reach beyond ties.

# Observations that may be left out before the criterion over the others means something else: where many have no
# neighbour, the others are those with many, and their criterion is small at any bandwidth.
few_unsupported <- 0.01

remarks_on_bandwidth <- function(found, asked, sample, data) {
  if (found$search == "none") return(character(0))
  as.character(c(remark_on_isolated(found, asked, sample, data), remark_on_ties(found, asked, sample, data),
                 remark_on_infinite(found, asked, sample)))
}

remark_on_infinite <- function(found, asked, sample) {
  if (found$search != "global" || found$bw <= max(found$grid)) return(NULL)
  line <- asked$regtype == "ll" && is.null(sample$period)
  paste0("The least ", asked$method, " is at an infinite bandwidth, where the fit is the ",
         if (line) "straight line of " else "mean of ", sample$ynames,
         if (line) paste(" on", sample$xnames), "; h = ", format_short(found$bw), " stands for it.")
}

# If a rejected bandwidth below the chosen one has a lower criterion, taken as the mean over the observations with a
# neighbour.
remark_on_isolated <- function(found, asked, sample, data) {
  n <- length(data$x)
  left_out <- found$n.unsupported
  mean <- if (asked$method == "cv.ls") found$cv * n / (n - left_out) else found$cv
  rejected <- left_out > 0L & left_out <= max(1, few_unsupported * n) & found$grid < found$bw
  lower <- which(rejected & mean < found$fval)
  if (asked$unsupported == "exclude" || length(lower) == 0L) return(NULL)
  decides <- max(lower)
  count <- left_out[decides]
  one <- count == 1L
  at <- format_short(found$grid[decides])
  support <- regression_support_cpp(data$sorted, asked$ckertype) * found$bw / found$h
  paste0(format(count, big.mark = ","), " of ", format(n, big.mark = ","), " observations ",
         if (one) paste0("has no neighbour below h = ", format_short(support), " (")
         else paste0("have no neighbour at h = ", at, " (the most isolated: "), isolated_text(sample, data),
         if (one) paste0("). So h = ", at, " is rejected") else "), which is rejected", ", though ", asked$method,
         " over the others is lower there; unsupported = \"exclude\" leaves ", if (one) "it" else "them", " out.")
}

# The observation that is farthest from its neighbours: its row in the data as given, and its place.
isolated_text <- function(sample, data) {
  farthest <- regression_isolated_cpp(data$sorted)
  kept <- which(sample$w > 0)[farthest]
  gone <- as.integer(sample$na.action)
  row <- if (length(gone) > 0L) seq_len(length(sample$x) + length(gone))[-gone][kept] else kept
  paste0("row ", row, ", ", sample$xnames, " = ", describe_value(data$x[farthest]))
}

# If no fit reaches from one value of x to the next, and some values are shared.
remark_on_ties <- function(found, asked, sample, data) {
  # Four standard deviations away a Gaussian weight is 3e-4.
  reach <- if (is_compact(asked$ckertype)) found$h else 4 * found$h
  # Mostly some observations show that a fit reaches farther, and not all have to be sorted.
  if (smallest_step(utils::head(data$x, 1000L)) < reach) return(NULL)
  step <- smallest_step(data$x)
  if (reach > step || !is.finite(step) || anyDuplicated(data$x) == 0L) return(NULL)
  paste0("The least ", asked$method, " is at h = ", format_short(found$bw), ", where no fit reaches from one value of ",
         sample$xnames, " to the next: the smallest step is ", format_short(step),
         ". The fit at each value is the mean of its tied responses.")
}

# The smallest distance of different values, Inf without any.
smallest_step <- function(x) {
  x <- sorted_cpp(x)
  heard()
  gaps <- diff(x)
  min(gaps[gaps > 0], Inf)
}
