# The last sections of bench/bandwidth-matrix.R: memory of the direct sums, whole selections beside ks, and
# with a million observations beside std::sort. A selection of ks without bins takes half a minute, so it runs once, and
# those of kestrel before and after it.

three_clusters <- function(n, d) {
  centres <- rbind(rep(-1.5, d), rep(0, d), c(1.5, rep(-1.5, d - 1)))
  which <- sample.int(3L, n, replace = TRUE)
  centres[which, ] + matrix(stats::rnorm(n * d), n) * c(0.4, 0.3, 0.5)[which]
}
correlated <- function(n, d) matrix(stats::rnorm(n * d), n) %*% chol(diag(0.4, d) + 0.6)

# Seconds of CPU of `ours`, a median, and of one call of `theirs`.
beside_once <- function(ours, theirs) {
  some <- function() replicate(repetitions, seconds_of(ours))
  before <- some()
  slow <- seconds_of(theirs)
  c(ours = stats::median(c(before, some())), theirs = slow)
}
seconds_of <- function(call) {
  start <- process_seconds()
  call()
  process_seconds() - start
}

# ---- memory
# The most bytes that a call needs beyond what the session holds; NA where /proc does not say.
added_bytes <- function(call) {
  kilobytes <- function(field) {
    as.numeric(gsub("[^0-9]", "", grep(field, readLines("/proc/self/status"), value = TRUE)))
  }
  tryCatch({
    gc()
    before <- kilobytes("^VmRSS")
    cat("5", file = "/proc/self/clear_refs")
    call()
    1024 * (kilobytes("^VmHWM") - before)
  }, error = function(e) NA_real_)
}

bench_memory <- function() {
  n <- 100000L
  x <- normal_data(n, 6L)
  root <- lower_root(reference_h(n, 6L)^2 * stats::cov(x))
  added <- added_bytes(function() direct_lscv(x, rep(1 / n, n), root, TRUE, 1L, "auto", NULL))
  cat(sprintf("\nLSCV with gradient, n = 1e5, d = 6, direct sums: %.1f MB more than the session held (all pairs: %s MB)\n",
              added / 1e6, figure(8 * n^2 / 1e6)))
}

# ---- ks, over all pairs: with bins its search of a full matrix takes minutes and ends elsewhere
compare_lscv <- function(name, x) {
  d <- ncol(x)
  ours <- theirs <- NULL
  times <- beside_once(function() ours <<- Hlscv(x), function() theirs <<- ks::Hlscv(x, binned = FALSE))
  at <- function(H) lscv(x, (H + t(H)) / 2)
  gain <- times[["theirs"]] / times[["ours"]]
  data.frame(
    data = name, d = d, n = nrow(x), `kestrel, ms` = figure(1e3 * times[["ours"]]),
    `ks, s` = figure(times[["theirs"]]), `ks / kestrel` = figure(gain), `>= 500` = verdict(gain >= 500),
    `LSCV, kestrel` = sprintf("%.12f", at(ours)), `ks above` = formatC(at(theirs) - at(ours), digits = 1, format = "e"),
    lower = verdict(at(ours) <= at(theirs) + 1e-12), check.names = FALSE
  )
}

compare_plug_in <- function(name, x) {
  ours <- theirs <- NULL
  times <- beside_once(function() ours <<- Hpi(x), function() theirs <<- ks::Hpi(x, binned = FALSE))
  gain <- times[["theirs"]] / times[["ours"]]
  data.frame(
    data = name, d = ncol(x), n = nrow(x), `kestrel, ms` = figure(1e3 * times[["ours"]]),
    `ks, s` = figure(times[["theirs"]]), `ks / kestrel` = figure(gain), `>= 100` = verdict(gain >= 100),
    `largest difference of H` = formatC(max(abs(ours - theirs)) / max(abs(ours)), digits = 1, format = "e"),
    check.names = FALSE
  )
}

bench_peers <- function() {
  if (!requireNamespace("ks", quietly = TRUE)) return(cat("\nks is not installed\n"))
  data <- list(
    list("normal", correlated(2000L, 2L)), list("clusters", three_clusters(2000L, 2L)),
    list("normal", correlated(1000L, 3L)), list("clusters", three_clusters(1000L, 3L))
  )
  over <- function(compare) show(do.call(rbind, lapply(data, function(one) compare(one[[1]], one[[2]]))))
  cat("\nHlscv, full matrix, beside ks::Hlscv(binned = FALSE)\n")
  over(compare_lscv)
  cat("\nHpi, full matrix, beside ks::Hpi(binned = FALSE)\n")
  over(compare_plug_in)
}

# ---- a million observations
# Of a session of its own: what earlier calls gave back would be taken again unseen. NA where it cannot be measured.
session_bytes <- function(d) {
  script <- c(shQuote(file.path(here, "bandwidth-matrix-memory.R")), d)
  printed <- system2(file.path(R.home("bin"), "Rscript"), script, stdout = TRUE, stderr = FALSE)
  as.numeric(c(tail(printed, 1L), NA))[1L]
}

large_selection <- function(d) {
  n <- 1000000L
  x <- correlated(n, d)
  sample <- of_kestrel("selector_sample")(x, NULL)
  # From the grid that all sums over pairs come from to the least value of LSCV.
  search <- function() {
    criteria <- of_kestrel("fourier_criteria")(sample, of_kestrel("run_options")(threads = 1L))
    of_kestrel("search_matrices")(sample, criteria, NULL, FALSE, "optim", reference_h(n, d) * c(1 / 32, 8))
  }
  peak <- session_bytes(d)
  times <- race(list(
    sort = function() sort_values(x[, 1L]), search = search, whole = function() Hlscv(x), plug_in = function() Hpi(x)
  ))
  data.frame(
    d = d, n = "1e6", `std::sort, s` = figure(middle(times)["sort"]), `grid to optimum, s` = figure(middle(times)["search"]),
    sorts = figure(times_of(times, "search", "sort")), `Hlscv(), s` = figure(middle(times)["whole"]),
    `in sorts` = figure(times_of(times, "whole", "sort")), `Hpi(), s` = figure(middle(times)["plug_in"]),
    evaluations = search()$evaluations, `peak of the session, MB` = figure(peak / 1e6),
    bar = if (d == 2L) "3 sorts" else "5 s, 1 GB",
    met = verdict(if (d == 2L) times_of(times, "search", "sort") < 3 else middle(times)["whole"] < 5 && isTRUE(peak < 1e9)),
    check.names = FALSE
  )
}

bench_large <- function() {
  cat("\nHlscv, full matrix, n = 1e6, correlated normal data, one thread\n")
  show(do.call(rbind, lapply(2:3, large_selection)))
}
