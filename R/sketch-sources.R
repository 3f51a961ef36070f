# Where the rows of a sketch come from: sources that are read one chunk after the other.

# Chunks of files and of results of queries have so many rows, and a pilot not more.
rows_of_chunk <- 100000L

#' Sources of data that are read in chunks
#'
#' [sketch_plan()] and [kde_sketch()] read their source by this generic function, one chunk after the other. Methods for
#' further classes make sources of other objects.
#'
#' @section Sources:
#' - A numeric vector, a matrix or a data frame is one chunk.
#' - A function `f(reset)` is called with `reset = TRUE` first, whose value is ignored, and then with `reset = FALSE`,
#'   and returns the next chunk, or NULL at the end, as for `biglm::bigglm()`.
#' - A string is the name of a file of comma-separated values, unless it ends in `.nc`. Its first line has the names of
#'   the columns, in any order. It is read in chunks of 100,000 lines, each of which is one row. Empty fields and `NA`
#'   are missing values, and empty lines are skipped.
#' - A string that ends in `.nc` is the name of a netCDF file (package \pkg{ncdf4}). Columns are variables that have the
#'   same dimensions in the same order. They are read by some indices of the last dimension at a time, and unpacked as
#'   [read_sample()] does.
#' - A result of a query, made by `DBI::dbSendQuery()`, is fetched in chunks of 100,000 rows, once. The caller makes and
#'   clears it. To a sketch and to the pilot of a plan each belongs a result of its own.
#' - Vectors, matrices and data frames on disk, of the packages \pkg{ff} and \pkg{bigmemory}, are read in chunks of
#'   100,000 rows.
#' - A `RecordBatchReader` of package \pkg{arrow} is read once, batch by batch.
#'
#' @section Methods: A method is called with `state = NULL` first, and returns a list of `chunk` and `state`, or NULL at
#' the end. It is also called with `columns`, the names of the columns that are needed, or NULL for all. A method
#' without that argument must have `...`. The next call gets that `state`. A chunk is a numeric vector, a matrix or a
#' data frame; one without rows is skipped. The list may also have `close`, a function without arguments. It is called
#' at the end, and also after an error or an interrupt.
#'
#' @param source the source.
#' @param state NULL for the first chunk, then what the call before has returned as `state`.
#' @param ... further arguments of methods.
#' @param columns the names of the columns that are needed; others are left out. NULL for all.
#' @return NULL at the end, otherwise a list:
#'   \item{chunk}{the next rows}
#'   \item{state}{for the next call; not NULL}
#'   \item{close}{NULL, or a function to be called when no more chunks are wanted}
#' @section Units: Those of the data.
#' @section Errors: Errors of class `kestrel_error_input` are for objects that are no sources, and for files that do not
#'   exist or do not have the columns that a header names.
#' @section Cost: That of reading the rows.
#' @references Lumley, T. (2020) *biglm: Bounded Memory Linear and Generalized Linear Models*. R package. (The
#'   convention of functions that return chunks.)
#' @seealso [kde_sketch()]
#' @examples
#' # a generator of chunks
#' chunks <- function(reset) {
#'   if (reset) {
#'     left <<- 3
#'     return(NULL)
#'   }
#'   if (left == 0) return(NULL)
#'   left <<- left - 1
#'   rnorm(1000)
#' }
#' left <- 0
#' kde_sketch(chunks, sketch_plan(chunks))
#'
#' # a source of one's own: several files that saveRDS() wrote
#' next_chunk.rds_files <- function(source, state = 0, ...) {
#'   at <- if (is.null(state)) 1 else state + 1
#'   if (at > length(source$files)) return(NULL)
#'   list(chunk = readRDS(source$files[at]), state = at)
#' }
#' registerS3method("next_chunk", "rds_files", next_chunk.rds_files)
#' files <- replicate(2, tempfile(fileext = ".rds"))
#' for (file in files) saveRDS(rnorm(500), file)
#' kde_sketch(structure(list(files = files), class = "rds_files"), sketch_plan(rnorm(500)))
#' unlink(files)
#' @export
next_chunk <- function(source, state = NULL, ...) UseMethod("next_chunk")

#' @rdname next_chunk
#' @export
next_chunk.default <- function(source, state = NULL, ...) {
  if (!is.null(state)) return(NULL)
  if (!is_numbers(plain_points(source)) && !is_frame(source)) {
    abort_input("`source` must be a numeric vector, matrix or data frame, the name of a file, a function or an object ",
                "with a method of next_chunk(), not ", describe_value(source), ".")
  }
  list(chunk = source, state = TRUE)
}

#' @rdname next_chunk
#' @export
next_chunk.function <- function(source, state = NULL, ...) {
  known <- names(formals(args(source)))
  if (!any(c("reset", "...") %in% known)) {
    abort_input("`source` must be a function with the argument `reset`, not one ",
                if (length(known) == 0L) "without arguments" else paste("with", quoted(known)), ".")
  }
  if (is.null(state)) source(reset = TRUE)
  chunk <- source(reset = FALSE)
  if (!is.null(chunk)) list(chunk = chunk, state = TRUE)
}

#' @rdname next_chunk
#' @export
next_chunk.DBIResult <- function(source, state = NULL, ...) {
  if (DBI::dbHasCompleted(source)) return(NULL)
  list(chunk = DBI::dbFetch(source, n = rows_of_chunk), state = TRUE)
}

#' @rdname next_chunk
#' @export
next_chunk.RecordBatchReader <- function(source, state = NULL, ...) {
  batch <- source$read_next_batch()
  if (!is.null(batch)) list(chunk = as.data.frame(batch), state = TRUE)
}

#' @rdname next_chunk
#' @export
next_chunk.ff <- function(source, state = NULL, ..., columns = NULL) next_rows(source, "ff", state, columns)

#' @rdname next_chunk
#' @export
next_chunk.ffdf <- function(source, state = NULL, ..., columns = NULL) next_rows(source, "ff", state, columns)

#' @rdname next_chunk
#' @export
next_chunk.big.matrix <- function(source, state = NULL, ..., columns = NULL) {
  next_rows(source, "bigmemory", state, columns)
}

# Rows of an object on disk that is indexed like a vector or a matrix, by the methods of its package. `state` is the
# last row that was read.
next_rows <- function(source, package, state, columns) {
  need_package(package, paste("to read an object of class", quoted(class(source)[1L])))
  size <- dim(source)
  if (length(size) > 2L) abort_input("`source` must have rows and columns, not ", length(size), " dimensions.")
  n <- if (is.null(size)) length(source) else size[1L]
  last <- if (is.null(state)) 0 else state
  if (last >= n) return(NULL)
  rows <- seq(last + 1, min(n, last + rows_of_chunk))
  state <- rows[length(rows)]
  if (is.null(size)) return(list(chunk = source[rows], state = state))
  known <- colnames(source)
  wanted <- if (is.null(columns)) seq_len(size[2L]) else match(columns, known)
  if (anyNA(wanted)) {
    abort_input("`source` must have the column ", quoted(columns[is.na(wanted)][1L]),
                if (is.null(known)) "; its columns have no names." else paste0("; it has ", quoted(known), "."))
  }
  list(chunk = source[rows, wanted, drop = FALSE], state = state)
}

#' @rdname next_chunk
#' @export
next_chunk.character <- function(source, state = NULL, ..., columns = NULL) {
  if (length(source) == 1L && is_file_name(without_class(source)) && endsWith(source, ".nc")) {
    return(next_slab(source, state, columns))
  }
  if (is.null(state)) state <- open_csv(source, columns)
  repeat {
    lines <- readLines(state$connection, n = rows_of_chunk, warn = FALSE)
    if (length(lines) == 0L) {
      state$close()
      return(NULL)
    }
    lines <- lines[nzchar(lines)]
    if (length(lines) > 0L) break
  }
  read <- function(classes) {
    utils::read.csv(text = lines, header = FALSE, col.names = state$names, check.names = FALSE, colClasses = classes,
                    na.strings = c("NA", ""), fill = FALSE)
  }
  # Numbers are read several times as fast if they are known to be. If they are not, an error says so in the end.
  numeric <- ifelse(is.na(state$classes), "numeric", "NULL")
  chunk <- if (state$all) read(NA) else catching_errors(read(numeric), function(e) read(state$classes))
  list(chunk = chunk, state = state, close = state$close)
}

# Some indices of the last dimension of variables of a netCDF file, about as many values as other chunks have rows. The
# file is closed meanwhile. `state` is the next index.
next_slab <- function(file, state, columns) {
  known_as("source", of = "file", with_netcdf(file, function(nc) {
    columns <- check_variables(nc, columns)
    size <- nc$var[[columns[1L]]]$size
    d <- length(size)
    first <- if (is.null(state)) 1 else state
    if (first > size[d]) return(NULL)
    slice <- prod(size[-d])
    indices <- min(max(1, floor(rows_of_chunk / slice)), size[d] - first + 1)
    start <- c(rep(1, d - 1), first)
    values <- lapply(columns, function(name) as.vector(unpacked(nc, name, start, c(size[-d], indices))))
    list(chunk = as.data.frame(stats::setNames(values, columns), optional = TRUE), state = first + indices)
  }))
}

# The names of the variables that are needed.
check_variables <- function(nc, columns) {
  known <- names(nc$var)
  if (is.null(columns)) {
    if (length(known) == 1L) return(known)
    abort_input("`file` must have one variable, or `column` must name it; it has ", quoted(known), ".")
  }
  lacking <- setdiff(columns, known)
  if (length(lacking) > 0L) {
    abort_input("`file` must have the variable ", quoted(lacking[1L]), "; it has ", quoted(known), ".")
  }
  dimensions <- lapply(columns, function(name) vapply(nc$var[[name]]$dim, `[[`, "", "name"))
  if (length(unique(dimensions)) > 1L || length(dimensions[[1L]]) == 0L) {
    abort_input("`file` must have the same dimensions, one at least, for ", quoted(columns), ".")
  }
  columns
}

# A file whose header has been read.
open_csv <- function(name, columns) {
  if (length(name) != 1L || !is_file_name(without_class(name))) {
    abort_input("`source` must be the name of a file, not ", describe_value(name), ".")
  }
  if (!file.exists(name)) abort_input("`source` must be a file that exists, not ", describe_value(name), ".")
  connection <- file(name, "r")
  is_open <- TRUE
  close_file <- function() {
    if (is_open) close(connection)
    is_open <<- FALSE
  }
  header <- readLines(connection, n = 1L, warn = FALSE)
  if (length(header) == 0L) {
    close_file()
    abort_input("`source` must have a line with the names of its columns, but ", describe_value(name), " is empty.")
  }
  header <- sub("^\xef\xbb\xbf", "", header, useBytes = TRUE) # the mark that some programs begin a file with
  names <- scan(text = header, what = "", sep = ",", quote = "\"", quiet = TRUE, strip.white = TRUE)
  # Reading all columns would take several times as long.
  needed <- is.null(columns) | names %in% columns
  list(connection = connection, close = close_file, names = names, classes = ifelse(needed, NA, "NULL"),
       all = is.null(columns))
}

# Calls body(chunk, k) for the k-th chunk of a source, of which `columns` are needed. Errors get the fields `chunk`, k,
# and `sketch`, so_far(). Ends if the body returns TRUE.
each_chunk <- function(source, columns, body, so_far) {
  k <- 0
  state <- NULL
  close <- NULL
  on.exit(if (is.function(close)) close())
  failed <- function(e, ...) {
    class <- c("kestrel_error_input", "kestrel_error")
    stop(errorCondition(readable(paste0(...)), class = class, call = NULL, chunk = k, sketch = so_far(), parent = e))
  }
  repeat {
    heard()
    k <- k + 1
    step <- tryCatch(catching_errors(next_chunk(source, state, columns = columns), function(e) {
      failed(e, "`source` must return chunk ", k, ", but it failed: ", conditionMessage(e))
    }), kestrel_error_input = function(e) if (is.null(e$chunk)) failed(e, conditionMessage(e)) else stop(e))
    if (is.null(step)) break
    if (!is.list(step) || is.null(step$state)) {
      failed(NULL, "`source` must return a list with `chunk` and `state` from its method of next_chunk(), not ",
             describe_value(step), ".")
    }
    close <- step$close
    if (isTRUE(tryCatch(body(step$chunk, k), kestrel_error_input = function(e) failed(e, conditionMessage(e))))) break
    state <- step$state
  }
}

# The values `x` and the weights, or the responses, `w` of the k-th chunk, none missing or infinite; `w` is NULL for a
# plan without both. check_second(w, plan, k) refuses some of them.
rows_of_source <- function(chunk, plan, k, na.action, check_second = check_chunk_second) {
  second <- c(plan$weight, plan$response)
  second <- second[nzchar(second)]
  x <- columns_of_chunk(chunk, plan$column, k, second)$x
  w <- if (length(second) > 0L) second_of_chunk(chunk, second, k)
  if (all_finite_cpp(x) && (is.null(w) || all_finite_cpp(w))) {
    check_second(w, plan, k)
    return(list(x = x, w = w))
  }
  any_of <- function(of_values) if (is.matrix(x)) rowSums(of_values) > 0 else of_values
  missing <- any_of(is.na(x))
  if (!is.null(w)) missing <- missing | is.na(w)
  if (any(missing) && na.action == "na.fail") {
    abort_input("`source` must not have missing values, but row ", which(missing)[1L], " of chunk ", k,
                " has one; na.action = na.omit leaves them out.")
  }
  infinite <- which(any_of(is.infinite(x)) | if (is.null(w)) FALSE else is.infinite(w))
  if (length(infinite) > 0L) {
    abort_input("`source` must be finite, but row ", infinite[1L], " of chunk ", k, " is not.")
  }
  check_second(w, plan, k)
  list(x = if (is.matrix(x)) x[!missing, , drop = FALSE] else x[!missing], w = w[!missing])
}

# The weights or the responses.
second_of_chunk <- function(chunk, name, k) {
  found <- columns_of_chunk(chunk, name, k)
  if (!identical(found$names, name)) {
    abort_input("`source` must have the column ", quoted(name), " in every chunk; chunk ", k, " has no names.")
  }
  found$x
}

check_chunk_second <- function(w, plan, k) {
  if (is.null(w)) return()
  if (nzchar(plan$response)) return(check_chunk_responses(w, plan, k))
  check_chunk_negative(w, k)
  most <- 2^(plan$weight_exponent + 24)
  large <- which(w >= most)
  if (length(large) > 0L) {
    abort_input("`source` must have weights below ", describe_value(most),
                ", a million times those of the pilot, but row ", large[1L], " of chunk ", k, " has ",
                describe_value(w[large[1L]]), ".")
  }
}

check_chunk_negative <- function(w, k) {
  negative <- which(w < 0)
  if (length(negative) > 0L) {
    abort_input("`source` must have weights that are not negative, but row ", negative[1L], " of chunk ", k, " has ",
                describe_value(w[negative[1L]]), ".")
  }
}

check_chunk_responses <- function(y, plan, k) {
  most <- 2^(plan$response_exponent + 24)
  far <- which(abs(y - plan$response_origin) >= most)
  if (length(far) > 0L) {
    abort_input("`source` must have responses within ", describe_value(most), " of ",
                describe_value(plan$response_origin), ", a million times as far as those of the pilot, but row ",
                far[1L], " of chunk ", k, " has ", describe_value(y[far[1L]]), ".")
  }
}

# The columns of a chunk, a vector if it is one, else a matrix, and their names, "" without names. `columns` are "" for
# a plan of a source without names. They are NULL if there is no plan yet: then all are taken but `others`, the columns
# of the weights or of the responses, and there may be `most` of them.
columns_of_chunk <- function(chunk, columns, k, others = NULL, most = 3L) {
  points <- plain_points(chunk)
  is_table <- is_frame(points) || length(dim(points)) == 2L
  names <- if (is_frame(points)) names(points) else if (is_table) colnames(points)
  count <- if (is_frame(points)) length(unclass(points)) else if (is_table) ncol(points) else 1L
  unnamed <- is.null(columns) || !all(nzchar(columns)) || is.null(names) && count == 1L && length(columns) == 1L
  if (unnamed) {
    at <- setdiff(seq_len(count), match(others, names))
    if (is.null(columns) && !length(at) %in% seq_len(most)) {
      one <- most == 1L
      abort_input("`source` must have ", if (one) "one column beside the response" else
                    paste("one to", number_words[[most]], "columns"), ", or `column` must name ",
                  if (one) "it" else "them", "; chunk ", k, " has ",
                  if (count == 0L) "none" else if (is.null(names)) count else quoted(names), ".")
    }
    if (!is.null(columns) && length(at) != length(columns)) {
      abort_input("`source` must have ", if (length(columns) == 1L) "one column" else paste(length(columns), "columns"),
                  " in every chunk; chunk ", k, " has ", count, ".")
    }
  } else {
    at <- match(columns, names)
    if (anyNA(at)) {
      abort_input("`source` must have the column ", quoted(columns[is.na(at)][1L]), " in every chunk; chunk ", k,
                  " has ", if (length(names) == 0L) "no names" else quoted(names), ".")
    }
  }
  found <- if (is.null(names)) rep("", length(at)) else readable(names)[at]
  found[is.na(found)] <- ""
  # Names of some columns only are none.
  if (length(found) > 1L && !all(nzchar(found))) found[] <- ""
  found <- enc2utf8(found)
  # A copy of a large chunk would take as long as a part of its sketch.
  if (length(dim(points)) == 2L && is.double(points) && length(at) > 1L && identical(at, seq_len(count))) {
    return(list(x = points, names = found))
  }
  values <- lapply(at, function(j) {
    x <- if (is_frame(points)) unclass(points)[[j]] else if (is_table) points[, j] else points
    # A chunk of a file whose fields are all missing is logical.
    if (is.logical(x) && all(is.na(x))) x <- as.numeric(x)
    if (!is_numbers(x) || length(dim(x)) > 1L) {
      abort_input("`source` must have ", if (length(at) == 1L) "a numeric column" else "numeric columns",
                  ", but in chunk ", k, " ", if (length(at) == 1L) "it" else quoted(names[j]), " is ", kind_of(x), ".")
    }
    as.numeric(x)
  })
  list(x = if (length(at) == 1L) values[[1L]] else matrix(unlist(values), ncol = length(at)), names = found)
}

# The finite values, weights and responses in the first chunk that has rows, at most rows_of_chunk of them, at equal
# distances.
pilot_of <- function(source, column, weight, response) {
  found <- NULL
  each_chunk(source, if (!is.null(column)) c(column, weight, response), function(chunk, k) {
    found <<- columns_of_chunk(chunk, column, k, c(weight, response))
    if (!is.null(weight)) found$w <<- second_of_chunk(chunk, weight, k)
    if (!is.null(response)) found$y <<- second_of_chunk(chunk, response, k)
    length(found$x) > 0L
  }, so_far = function() NULL)
  if (is.null(found)) abort_input("`source` must have at least one row, but it has none.")
  x <- as.matrix(found$x)
  usable <- rowSums(!is.finite(x)) == 0
  if (!is.null(weight)) usable <- usable & is.finite(found$w) & found$w > 0
  if (!is.null(response)) usable <- usable & is.finite(found$y)
  rows <- which(usable)
  if (length(rows) == 0L && !is.null(response)) abort_input("`source` must have a finite response in its first chunk.")
  if (length(rows) == 0L && !is.null(weight)) abort_input("`source` must have a positive weight in its first chunk.")
  if (length(rows) > rows_of_chunk) rows <- rows[round(seq(1, length(rows), length.out = rows_of_chunk))]
  list(x = if (ncol(x) == 1L) x[rows] else x[rows, , drop = FALSE], w = found$w[rows], y = found$y[rows],
       column = if (is.null(column)) found$names else column)
}
