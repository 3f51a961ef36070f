# Headers of netCDF files of the classic formats (The NetCDF Classic Format Specification). The library would read
# missing values at the end of such a file as zeros.

# Where the last value ends, in bytes; an error if there is no header. `version` 1, 2 (offsets of 8 bytes) or 5 (all
# numbers of 8 bytes). The connection is read from its beginning; the file has `size` bytes.
classic_end <- function(connection, version, size) {
  word <- if (version == 5L) 8L else 4L
  count <- function() {
    value <- read_count(connection, word, "big")
    if (value > size) stop("has a header that is damaged")
    value
  }
  seek(connection, 4)
  records <- read_count(connection, word, "big")
  # All bits set: the number of records is unknown.
  if (records == 256^word - 1) records <- 0
  text <- function() {
    bytes <- count()
    if (bytes > longest_name) stop("has a name of more than ", longest_name, " characters")
    skip_bytes(connection, bytes, size)
  }
  entries <- function(tag, read) {
    found <- read_count(connection, 4L, "big")
    n <- count()
    if (found != (if (n == 0 && found == 0) 0 else tag)) stop("has a header that is damaged")
    lapply(seq_len(n), function(i) read())
  }
  type <- function() {
    sizes <- c(1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8)
    code <- read_count(connection, 4L, "big")
    if (!code %in% seq_along(sizes)) stop("has a header that is damaged")
    sizes[code]
  }
  attribute <- function() {
    text()
    skip_bytes(connection, type() * count(), size)
  }
  dimensions <- unlist(entries(10, function() {
    text()
    read_count(connection, word, "big")
  }))
  entries(12, attribute)
  variable <- function() {
    text()
    of <- 1 + vapply(seq_len(count()), function(i) count(), 0)
    entries(12, attribute)
    width <- type()
    read_count(connection, word, "big")
    begin <- read_count(connection, if (version == 1L) 4L else 8L, "big")
    if (any(of > length(dimensions))) stop("has a header that is damaged")
    lengths <- dimensions[of]
    recorded <- length(lengths) > 0L && lengths[1L] == 0
    c(begin = begin, bytes = width * prod(if (recorded) lengths[-1L] else lengths), recorded = recorded)
  }
  variables <- do.call(rbind, entries(11, variable))
  if (is.null(variables)) seek(connection) else last_byte(variables, records)
}

# `variables`: a row for each with the position of its first byte, its number of bytes (of one record if it has
# records), and whether it has records. Records come one after the other; in each, every variable takes whole words
# unless it is the only one.
last_byte <- function(variables, records) {
  recorded <- variables[, "recorded"] == 1
  bytes <- variables[, "bytes"]
  step <- if (sum(recorded) == 1L) bytes[recorded] else sum(4 * ceiling(bytes[recorded] / 4))
  before <- ifelse(recorded, (records - 1) * step, 0)
  ends <- variables[, "begin"] + before + bytes
  max(ends[!recorded | records > 0], 0)
}

# Skips the next bytes of a header, up to a whole word.
skip_bytes <- function(connection, bytes, size) {
  force(bytes) # this may read from the connection
  after <- seek(connection) + 4 * ceiling(bytes / 4)
  if (after > size) stop("ends before its header does")
  seek(connection, after)
}
