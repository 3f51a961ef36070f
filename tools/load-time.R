# Rscript tools/load-time.R: measures how long library(kestrel) takes in a fresh session. The result is the median of 20
# sessions, after two more to warm up, minus the time that R itself takes to start.
seconds <- function(code) {
  one <- function(session) {
    system.time(system2("Rscript", c("--vanilla", "-e", shQuote(code)), stdout = FALSE))[["elapsed"]]
  }
  stats::median(vapply(seq_len(22), one, 0)[-(1:2)])
}
empty <- seconds("NULL")
with_package <- seconds("library(kestrel)")
cat(sprintf("library(kestrel): %.2f s (a session with it %.2f s, without %.2f s)\n", with_package - empty, with_package,
            empty))
