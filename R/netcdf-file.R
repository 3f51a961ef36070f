# netCDF files as bytes. Formats, sizes and seals are checked before the library sees a file, since it reads damaged
# data without noticing, or crashes.

# A limit of time while a package loads counts as a failure to load for R, so it has to wait.
need_ncdf4 <- function(argument) {
  if (!suspendInterrupts(requireNamespace("ncdf4", quietly = TRUE))) {
    abort_input("`", argument, "` must not be a netCDF file unless the package ncdf4 is installed; it is not.")
  }
}

check_netcdf_name <- function(file) {
  need_ncdf4("file")
  name <- without_class(file)
  if (!is_file_name(name)) abort_input("`file` must be the name of a file, not ", describe_value(file), ".")
  name
}

# The result of `code`, which reads a file that the user named. Errors of the library become errors about the file.
with_netcdf <- function(file, code) {
  given <- check_netcdf_name(file)
  file <- path.expand(given)
  if (file_kind_cpp(file) != "file") {
    abort_input("`file` must be the name of a file that exists, not ", describe_value(given), ".")
  }
  # file() and the library take some names, as "stdin" and "http://...", for something else, but no whole path.
  file <- normalizePath(file)
  problem <- catching_errors(netcdf_problem(file), conditionMessage)
  if (!is.null(problem)) abort_input("`file` must be a whole netCDF file, but ", describe_value(given), " ", problem,
                                     ".")
  nc <- NULL
  on.exit(if (!is.null(nc)) suspendInterrupts(ncdf4::nc_close(nc)))
  catching_errors({
    # Does not make up indices for dimensions that have no values.
    silently(suspendInterrupts(nc <- closing_halves(ncdf4::nc_open(file, suppress_dimvals = TRUE))))
    code(nc)
  }, function(e) {
    abort_input("`file` must be a netCDF file that can be read, but ", describe_value(given), " cannot: ",
                conditionMessage(e))
  })
}

# The maximum length of a name in ncdf4, which writes longer ones past the end of its memory.
longest_name <- 128L

# Runs code without the output that the library prints before it fails, since the errors here are clearer; returns that
# output. Ctrl-C and limits of time in the middle of capture.output() could leave the session without output.
silently <- function(code) {
  output <- NULL
  on.exit(suspendInterrupts(if (!is.null(output)) {
    sink()
    close(output)
  }))
  suspendInterrupts({
    connection <- textConnection(NULL, "w")
    sink(connection)
    output <- connection
  })
  code
  textConnectionValue(output)
}

# The result of `code`, which opens or creates a file by the library. If that fails half-way, the file stays open, and
# only the function that failed knows its id; this closes it.
closing_halves <- function(code) {
  withCallingHandlers(code, error = function(e) {
    for (k in rev(seq_len(sys.nframe()))) {
      if (identical(sys.function(k), ncdf4::nc_open) || identical(sys.function(k), ncdf4::nc_create)) {
        id <- sys.frame(k)$nc$id
        if (is.null(id)) id <- sys.frame(k)$rv$id
        return(close_half(id, sys.frame(k)$filename, identical(sys.function(k), ncdf4::nc_create)))
      }
    }
  })
}

# Closing writes what is still buffered. If there was no room for that, emptying the file, which is given up anyway,
# makes some.
close_half <- function(id, file, emptied) {
  if (emptied) with_connection(file, "wb", function(connection) NULL)
  if (is.numeric(id) && id >= 0) silently(ncdf4::nc_close(structure(list(id = id, safemode = FALSE), class = "ncdf4")))
}

# A seal is appended to a file that this package wrote, as HDF5 allows: a word and the checksum of all bytes before it.
# The values in a netCDF-4 file have no checksum of their own.
seal_word <- charToRaw("kestrel\n")
seal_bytes <- length(seal_word) + 8

seal_netcdf <- function(file) {
  with_connection(file, "ab", function(connection) {
    writeBin(c(seal_word, checksum_of(file, file.size(file))), connection)
  })
}

# The checksum of the first `size` bytes, which are read in multiples of 8.
checksum_of <- function(file, size) {
  with_connection(file, "rb", function(connection) {
    state <- raw(0)
    while (size > 0) {
      heard()
      bytes <- readBin(connection, "raw", min(size, 8 * numbers_at_once))
      if (length(bytes) == 0L) stop("cannot be read to its end")
      state <- checksum_cpp(bytes, state)
      size <- size - length(bytes)
    }
    state
  })
}

# What is wrong with the bytes of a file; NULL if nothing is.
netcdf_problem <- function(file) with_connection(file, "rb", function(connection) problem_of_bytes(connection, file))

problem_of_bytes <- function(connection, file) {
  size <- file.size(file)
  start <- readBin(connection, "raw", 8L)
  if (length(start) >= 4L && identical(start[1:3], charToRaw("CDF")) && as.integer(start[4L]) %in% c(1L, 2L, 5L)) {
    end <- classic_end(connection, as.integer(start[4L]), size)
    return(if (size < end) size_problem(size, end))
  }
  end <- hdf5_end(connection, size)
  if (is.null(end)) return("is none at all")
  if (size < end) return(size_problem(size, end))
  if (size == end) return(NULL)
  if (size != end + seal_bytes) return(size_problem(size, end))
  seek(connection, end)
  seal <- readBin(connection, "raw", seal_bytes)
  if (!identical(seal, c(seal_word, checksum_of(file, end)))) "was damaged or changed since it was written"
}

size_problem <- function(size, end) {
  bytes <- format(c(size, end), big.mark = ",", trim = TRUE, scientific = FALSE)
  paste0("has ", bytes[1L], " bytes, not ", bytes[2L])
}

# An unsigned number from the bytes of a connection; `order`: lowest or highest byte first.
read_count <- function(connection, size, order = "little") {
  bytes <- as.numeric(readBin(connection, "raw", size))
  if (length(bytes) < size) stop("ends before its header does")
  sum((if (order == "little") bytes else rev(bytes)) * 256^(seq_len(size) - 1))
}

# The end of an HDF5 file according to its superblock (HDF5 File Format Specification, II.A), NULL if there is none. The
# superblock is at the start of the file or, after other data, at 512 bytes or a larger power of two.
hdf5_end <- function(connection, size) {
  signature <- as.raw(c(0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a))
  at <- 0
  repeat {
    seek(connection, at)
    if (identical(readBin(connection, "raw", 8L), signature)) break
    at <- max(512, 2 * at)
    if (at >= size) return(NULL)
  }
  version <- read_count(connection, 1L)
  # Four sizes, one byte each. That of addresses is the fifth byte in versions 0 and 1, the first in 2 and 3.
  if (version > 3) return(NULL)
  seek(connection, at + if (version < 2) 13 else 9)
  width <- read_count(connection, 1L)
  if (!width %in% c(2, 4, 8)) return(NULL)
  # Addresses: the base, another one, the end.
  seek(connection, at + c(24, 28, 12, 12)[version + 1] + 2 * width)
  read_count(connection, width)
}
