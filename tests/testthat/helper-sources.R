# Sources of data for tests.

# What a condition says and has.
caught <- function(code) tryCatch(code, kestrel_error_input = identity)

# A function that returns the values of a vector, or the rows of a matrix or data frame, so many at a time.
chunks_of <- function(x, size) {
  at <- 0
  function(reset) {
    if (reset) {
      at <<- 0
      return(NULL)
    }
    if (at >= NROW(x)) return(NULL)
    at <<- at + size
    rows <- seq(at - size + 1, min(at, NROW(x)))
    if (is.null(dim(x))) x[rows] else x[rows, , drop = FALSE]
  }
}
