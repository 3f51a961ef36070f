# Segments of the end points of ridges: single linkage, and an order along each.

#' @rdname kdr
#' @export
kdr.segment <- function(x, k, kmax, min.seg.size, verbose = NULL, ...) {
  check_arguments("kdr.segment", given_names(...))
  check_object(x, "x", "kestrel_kdr")
  asked_verbose(verbose)
  asked <- check_segments(if (!missing(k)) k, if (!missing(kmax)) kmax, if (!missing(min.seg.size)) min.seg.size)
  if (is.null(asked$least)) asked$least <- x$min.seg.size
  x$min.seg.size <- asked$least
  made <- replace(x, "end.points", list(unname(as.matrix(x$end.points[seq_along(x$names)]))))
  in_segments(made, asked)
}

check_segments <- function(k, kmax, least) {
  list(k = if (!is.null(k)) check_count(k, "k"), kmax = if (is.null(kmax)) 30L else check_count(kmax, "kmax"),
       least = if (!is.null(least)) check_count(least, "min.seg.size", 0L))
}

# The object with some of its points, in this order.
with_points <- function(made, chosen) {
  for (field in c("y", "end.points")) made[[field]] <- made[[field]][chosen, , drop = FALSE]
  made$steps <- made$steps[chosen]
  if (!is.null(made$path)) made$path <- made$path[chosen]
  made
}

# Without points that end in groups of at most the least size, unless all do.
without_strays <- function(made, tolerance) {
  label <- linked_labels(made$end.points, tolerance)
  kept <- tabulate(label)[label] > made$min.seg.size
  if (any(kept)) with_points(made, kept) else made
}

# Segments by size, the largest first, and the points of each in order. `made$end.points` is a matrix, and then a data
# frame.
in_segments <- function(made, asked, sorted = TRUE) {
  points <- made$end.points
  tree <- if (sorted) spanning_tree(points)
  k <- if (!sorted) 1L else if (is.null(asked$k)) best_count(points, tree, asked$kmax) else min(asked$k, nrow(points))
  label <- if (sorted) tree_labels(tree, k) else rep(1L, nrow(points))
  sizes <- tabulate(label)
  large <- which(sizes > made$min.seg.size)
  if (length(large) == 0L) large <- which.max(sizes)
  large <- large[order(-sizes[large])]
  rows <- lapply(large, function(one) {
    rows <- which(label == one)
    if (sorted) rows[chain_order(points[rows, , drop = FALSE])] else rows
  })
  made <- with_points(made, unlist(rows))
  frame <- as.data.frame(made$end.points)
  names(frame) <- beside("segment", made$names)
  frame$segment <- rep(seq_along(rows), lengths(rows))
  rownames(frame) <- NULL
  made$end.points <- frame
  made$k <- k
  made
}

# The tree of least length that joins all points (Prim 1957): the points in the order in which they join, the one that
# each joins to, and the distance. Cutting its longest edges gives the clusters of single linkage.
spanning_tree <- function(points) {
  count <- nrow(points)
  order <- parent <- integer(count)
  length <- numeric(count)
  nearest <- rep(1L, count)
  distance <- rep(Inf, count)
  order[1L] <- last <- 1L
  distance[1L] <- NA
  for (step in seq_len(count)[-1L]) {
    if (step %% 100L == 0L) heard()
    gap <- sqrt(rowSums((points - rep(points[last, ], each = count))^2))
    closer <- which(gap < distance)
    distance[closer] <- gap[closer]
    nearest[closer] <- last
    last <- which.min(distance)
    order[step] <- last
    parent[last] <- nearest[last]
    length[last] <- distance[last]
    distance[last] <- NA
  }
  list(order = order, parent = parent, length = length)
}

# Labels of k clusters.
tree_labels <- function(tree, k) {
  count <- length(tree$order)
  first <- c(tree$order[1L], tree$order[-1L][order(-tree$length[tree$order[-1L]])[seq_len(k - 1L)]])
  label <- integer(count)
  label[first] <- seq_along(first)
  for (i in tree$order) if (label[i] == 0L) label[i] <- label[tree$parent[i]]
  label
}

# The number of clusters with the largest index of Calinski & Harabasz (1974, equation 3.1).
best_count <- function(points, tree, kmax) {
  count <- nrow(points)
  tried <- seq_len(min(kmax, count - 1L))[-1L]
  if (length(tried) == 0L) return(1L)
  all <- sum((points - rep(colMeans(points), each = count))^2)
  index <- vapply(tried, function(k) {
    heard()
    label <- tree_labels(tree, k)
    centre <- rowsum(points, label) / tabulate(label)
    within <- sum((points - centre[label, , drop = FALSE])^2)
    (all - within) / (k - 1) / (within / (count - k))
  }, 0)
  index[is.nan(index)] <- 0
  tried[which.max(index)]
}

# From a point that is far from the others, each followed by the nearest that is left.
chain_order <- function(points) {
  count <- nrow(points)
  left <- seq_len(count)
  last <- which.max(rowSums((points - rep(colMeans(points), each = count))^2))
  order <- integer(count)
  for (step in seq_len(count)) {
    if (step %% 100L == 0L) heard()
    order[step] <- last
    left <- left[left != last]
    if (length(left) == 0L) break
    rest <- points[left, , drop = FALSE]
    last <- left[which.min(rowSums((rest - rep(points[last, ], each = length(left)))^2))]
  }
  order
}
