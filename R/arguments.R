# Checks for arguments that a function does not have, and messages about arguments that it takes without effect.
#
# Every exported function has `...` after the arguments of ks or np, or after its own main arguments, and before the
# arguments that all functions share. So R never matches an unknown name to part of a shared argument's name, and the
# unknown name ends in an error from here.

# Checks the dots of the function named `called`. `given`: the names in its dots, see given_names(). `ignored`: the
# arguments without effect. A message says so once in a session.
check_arguments <- function(called, given, ignored = NULL) {
  of <- sys.function(sys.parent())
  check_known(called, given, names(formals(of)))
  if (is.null(ignored)) return(invisible())
  call <- match.call(of, sys.call(sys.parent()), envir = parent.frame(2L))
  # FALSE asks for what is done in any case.
  for (name in intersect(names(call), ignored)) if (!identical(call[[name]], FALSE)) inform_ignored(name)
}

# The names of the arguments, "" for an argument without a name. The arguments are left unevaluated.
given_names <- function(...) {
  given <- names(substitute(list(...)))[-1L]
  if (is.null(given)) rep("", ...length()) else given
}

# An error if any of the names `given` is not among the `known` names. These include "...".
check_known <- function(called, given, known) {
  unknown <- setdiff(given, known)
  if (length(unknown) == 0L) return(invisible())
  named <- Filter(nzchar, unknown)
  if (length(named) > 0L) abort_input(called, "() has no argument `", readable(named[1L]), "`. ",
                                      hint_at(called, named[1L], setdiff(known, "...")))
  check_named(called, given, known[match("...", known) - 1L])
}

# An error if an argument after the one named `last` has no name.
check_named <- function(called, given, last) {
  if (all(nzchar(given))) return(invisible())
  abort_input(called, "() takes ", if (length(last) == 0L) "no arguments." else
    paste0("arguments after `", last, "` by their names only."))
}

# The names that other functions of R, of ks and of np have for an argument, each with our names for it. The message
# suggests the first of these that the function has.
other_names <- list(
  adjust = c("h", "bws"), bandwidth = c("h", "bws"), bw = c("h", "bws"), bws = "h", h = "bws", sd = "h", width = "h",
  sigma = c("H", "h"), Sigma = "H", h0 = c("h", "bws"),
  n = c("gridsize", "nbw"), m = "gridsize", ngrid = "gridsize", grid = "gridsize", npoints = "gridsize",
  from = c("xmin", "bwmin"), to = c("xmax", "bwmax"), min = c("xmin", "bwmin"), max = c("xmax", "bwmax"),
  hmin = "bwmin", hmax = "bwmax", cut = "supp", by = "step", delta = "step",
  at = c("eval.points", "newdata", "exdat"), points = c("eval.points", "newdata", "exdat"),
  newdata = c("eval.points", "x"), eval.points = c("newdata", "exdat", "x"), exdat = c("newdata", "eval.points"),
  weights = "w", weight = "w", wt = "w", wts = "w",
  kernel = "ckertype", ckertype = "kernel", kern = c("kernel", "ckertype"), kerneltype = c("kernel_type", "ckertype"),
  method = c("bwmethod", "optim.fun", "type", "form"), degree = "regtype", optimizer = "optim.fun",
  na.rm = "na.action", missing = "na.action", tolerance = "tol", eps = "tol",
  cores = "threads", mc.cores = "threads", ncores = "threads", nthreads = "threads", workers = "threads",
  device = "backend", gpu = "backend", single = "precision",
  progress = "verbose", quiet = "verbose", silent = "verbose", trace = "verbose",
  nboot = "B", R = "B", reps = "B", replicates = "B", conf.level = "level", confidence = "level",
  probs = c("prob", "p"), levels = c("cont", "level"), content = "cont",
  x = c("xdat", "txdat", "data", "obs"), y = c("ydat", "tydat"), data = "x", object = "fhat", size = "n"
)

# "Did you mean `h`?"
hint_at <- function(called, name, known) {
  meant <- intersect(other_names[[name]], known)
  if (length(meant) > 0L) meant <- meant[1L] else meant <- alike(name, known)
  if (length(meant) == 0L) meant <- intersect(unlist(other_names[alike(name, names(other_names))]), known)
  if (length(meant) == 0L) return(paste0("See ?", called, " for those that it has."))
  paste0("Did you mean ", paste0("`", meant, "`", collapse = " or "), "?")
}

# The known names that differ from this one only by capitals, dots and underscores. If there are none: names that begin
# with this one, or that differ from it by a typing error.
alike <- function(name, known) {
  if (length(known) == 0L) return(character(0))
  bare <- function(names) tolower(gsub("[._]", "", readable(names)))
  same <- known[bare(known) == bare(name)]
  if (length(same) > 0L) return(same)
  begun <- known[startsWith(bare(known), bare(name))]
  if (nchar(name) > 1L && length(begun) %in% 1:3) return(begun)
  distance <- as.vector(utils::adist(bare(name), bare(known)))
  near <- distance == min(distance) & distance <= nchar(name) / 4
  if (sum(near) <= 3L) known[near] else character(0)
}

# Why an argument has no effect. The arguments of np's search have their reason in inform_ignored().
why_ignored <- c(
  binned = "sums are exact, nothing is binned", bgridsize = "sums are exact, nothing is binned",
  bw.ucv = "the criterion is exact, and its minimum the global one", density = "no estimate is negative",
  trunc = "the help page tells the range of the search", Hstart = "the matrix is not searched for",
  bws = "the search finds the least value of the whole curve; bandwidth.compute = FALSE fixes a bandwidth",
  data = "a bandwidth object has its data; `newdata` are points",
  subset = "a bandwidth object has its data",
  y.eval = "npreg() compares responses at points with the fit",
  eydat = "npreg() compares responses at points with the fit",
  pilot = "it has none in ks either", residuals = "residuals are always there",
  zero.flag = "values beyond the grid are exact, too"
)

# Once in a session for each set of names.
inform_ignored <- function(names, why = NULL) {
  if (length(names) == 0L) return(invisible())
  if (is.null(why)) {
    why <- if (names[1L] %in% names(why_ignored)) why_ignored[[names[1L]]] else
      "the search finds the least value of the whole curve"
  }
  inform_once(paste("ignored", names, collapse = " "), quoted(names), if (length(names) == 1L) " has" else " have",
              " no effect: ", why, ".")
}
