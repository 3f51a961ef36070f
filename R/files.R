# Files that are complete or absent: they are written under another name in the same folder, and then renamed.

# Whether the value, whose class was taken off (packages for paths have one), can be the name of a file: a string in
# characters of this session.
is_file_name <- function(value) {
  is.character(value) && !is.object(value) && length(value) == 1L && !is.na(value) && nzchar(value) &&
    identical(value, readable(value))
}

# Where to write a file; `to` is the argument with that name. `file`: its name; `path`: the file to replace, with links
# followed; `name`: the argument's name. A device or a pipe cannot be replaced.
check_target <- function(to, name) {
  file <- path.expand(to)
  kind <- file_kind_cpp(file)
  if (kind == "other") {
    abort_input("`", name, "` must be the name of a file, not of a device or a pipe, as ", describe_value(to), " is.")
  }
  path <- if (kind == "unreachable") file else follow_links(file)
  if (kind == "folder" || endsWith(file, "/") || !dir.exists(dirname(path))) {
    abort_input("`", name, "` must be the name of a file in a folder that exists, not ", describe_value(to), ".")
  }
  # A file is replaced, so it must be possible to create files in its folder. One that is read-only is meant to stay.
  if (kind == "unreachable" || file.access(dirname(path), 2L) != 0L ||
    (kind == "file" && file.access(path, 2L) != 0L)) {
    abort_input("`", name, "` must be a file that can be written, in a folder that can be, but ", describe_value(to),
                " is not.")
  }
  list(file = file, path = file.path(normalizePath(dirname(path)), basename(path)), name = name)
}

# The path that a name leads to; it need not exist.
follow_links <- function(path) {
  repeat {
    link <- Sys.readlink(path)
    if (is.na(link) || !nzchar(link)) return(path)
    path <- if (startsWith(link, "/")) link else file.path(dirname(path), link)
  }
}

# Writes the target, about `bytes` bytes, by fill(temporary), which writes it under the name `temporary`; returns the
# result of fill(). An old file stays until the new one is complete, and after an error. Only a process that is killed
# leaves the temporary file behind.
write_whole <- function(target, bytes, fill) {
  temporary <- tempfile("kestrel-", dirname(target$path), ".incomplete")
  on.exit(unlink(temporary))
  reserve_room(target, temporary, bytes)
  result <- fill(temporary)
  replaced <- written(target, {
    if (file.exists(target$path)) Sys.chmod(temporary, file.mode(target$path), use_umask = FALSE)
    file.rename(temporary, target$path)
  })
  if (!replaced) abort_unwritten(target, "it cannot be replaced.")
  result
}

# Reserves room for a file before anything is written. So a full disk ends a long computation before it has begun, and
# libraries that do not notice a full disk do not meet one. Opening a file again gives the room back, so it has to be
# reserved again.
reserve_room <- function(target, temporary, bytes) {
  said <- reserve_file_cpp(temporary, bytes)
  if (nzchar(said)) abort_unwritten(target, "there is no room for ", format_bytes(bytes), " (", said, ").")
}

abort_unwritten <- function(target, ...) {
  abort_input("`", target$name, "` must be a file with room for all of it, but ", describe_value(target$file),
              " cannot be written: ", ...)
}

# The result of use(connection), for a connection to a file. Ctrl-C and limits of time wait while it is opened and
# closed, or it could stay open.
with_connection <- function(file, mode, use) {
  connection <- NULL
  on.exit(suspendInterrupts(if (!is.null(connection)) close(connection)))
  suspendInterrupts(connection <- file(file, mode))
  use(connection)
}

# The result of `code`, which writes the target. A warning also means that something was not written.
written <- function(target, code) {
  failed <- function(e) abort_unwritten(target, "the disk is full or does not answer (", conditionMessage(e), ").")
  catching_errors(tryCatch(code, warning = failed), failed)
}

# How many numbers go to a connection at once: the user can interrupt between them, and R takes no more than 2 GB.
numbers_at_once <- 2^20

# Writes a file of `count` doubles: `fill(put)` gets a function that writes some of them.
write_doubles <- function(target, count, fill) {
  bytes <- 8 * count
  write_whole(target, bytes, function(temporary) {
    connection <- NULL
    on.exit(suspendInterrupts(if (!is.null(connection)) suppressWarnings(close(connection))))
    suspendInterrupts(connection <- written(target, file(temporary, "wb")))
    reserve_room(target, temporary, bytes)
    result <- fill(function(values) {
      for (first in seq(1, length(values), by = numbers_at_once)) {
        part <- values[first:min(first + numbers_at_once - 1, length(values))]
        written(target, writeBin(part, connection, endian = "little"))
      }
    })
    suspendInterrupts({
      open <- connection
      connection <- NULL
      written(target, close(open))
    })
    if (file.size(temporary) != bytes) {
      abort_unwritten(target, "it has ", format_bytes(file.size(temporary)), ", not ", format_bytes(bytes), ".")
    }
    result
  })
}
