# The columns of a table for a synopsis: variables, which have a density, and labels, which have categories.

# A column's kind and its values: numbers, or texts for labels. NULL for a kind that a synopsis cannot have.
column_values <- function(column) {
  if (is_date(column)) {
    return(list(kind = if (inherits(column, "Date")) "Date" else "POSIXct", values = as.double(numbers_of(column))))
  }
  if (is.factor(column) || is.logical(column) && !is.object(column)) {
    return(list(kind = "text", values = enc2utf8(readable(as.character(column)))))
  }
  column <- if (is.character(column)) without_class(column) else plain(column)
  if (length(dim(column)) > 1L) return(NULL)
  if (is.character(column)) return(list(kind = "text", values = enc2utf8(readable(as.vector(column)))))
  if (is_numbers(column)) list(kind = "number", values = as.double(column))
}

# A table in memory: `x`, a matrix of its variables; `codes`, for each label the numbers of the categories of all rows;
# `N`, `names`, `types`, `labels` and `ranges` as in a synopsis.
columns_of_table <- function(data, na.action) {
  x <- plain_points(data)
  if (!is_frame(x) || length(not_numbers(x)) == 0L) {
    table <- as_points(data, "data")
    if (length(table) == 0L) abort_input("`data` must have at least one row and one column, not none.")
    if (na.action == "na.omit") table <- table[complete_rows(rowSums(is.na(table)) == 0), , drop = FALSE]
    check_finite(table, "data")
    names <- check_sample(table)$names
    if (is.null(dim(x))) names <- "x"
    return(list(x = table, codes = list(), N = nrow(table), names = names, types = rep("number", ncol(table)),
                labels = list(), ranges = unname(apply(table, 2L, range))))
  }
  if (nrow(x) == 0L) abort_input("`data` must have at least one row and one column, not none.")
  if (any(rows_of_columns(x) != nrow(x))) abort_input("`data` must have columns of one length.")
  numbered_labels(check_some_rows(gather_rows(data, Inf, na.action), na.action))
}

check_some_rows <- function(gathered, na.action) {
  if (!is.null(gathered)) return(gathered)
  abort_input("`data` must have ", if (na.action == "na.omit") "a row without missing values" else "at least one row",
              ", but it has none.")
}

complete_rows <- function(complete) {
  if (any(complete)) return(complete)
  abort_input("`data` must have a row without missing values; all ", length(complete), " have some.")
}

# A label has at most so many categories while a table is read, and the commonest of them in a synopsis.
most_categories_read <- 1e5
most_categories <- 1000L

# The rows of all chunks of a source, or a random sample of at most `capacity` of them: those with the smallest of
# random numbers, one for each row (a reservoir; Fan, Muller & Rezucha 1962). So the source is read once, and no more
# than 2 `capacity` rows and a chunk are in memory. Also the number of rows, the ranges of variables and the counts of
# categories. NULL if there are no rows.
gather_rows <- function(source, capacity, na.action) {
  columns <- NULL # for each column `name`, `kind`, NA if only missing values came, and `levels` and `counts`
  parts <- list()
  keys <- list()
  held <- 0
  limit <- Inf # keys above are not among the smallest
  N <- 0
  ranges <- NULL
  trim <- function() {
    rows <- do.call(rbind, parts)
    key <- unlist(keys)
    if (length(key) > capacity) {
      limit <<- sort(key, partial = capacity)[capacity]
      rows <- rows[key <= limit, , drop = FALSE]
      key <- key[key <= limit]
    }
    parts <<- list(rows)
    keys <<- list(key)
    held <<- nrow(rows)
  }
  add_chunk <- function(chunk, k) {
    frame <- as_table(chunk, k)
    if (is.null(columns)) columns <<- lapply(names(frame), function(name) list(name = name, kind = NA, levels = NULL))
    n <- nrow(frame)
    if (n == 0L) return()
    values <- matrix(0, n, length(columns))
    for (at in seq_along(columns)) {
      read <- read_column(frame[[at]], columns[[at]], k)
      columns[[at]] <<- read$column
      values[, at] <- read$values
      heard()
    }
    missing <- rowSums(is.na(values)) > 0
    if (any(missing)) {
      if (na.action == "na.fail") abort_missing(values, columns, k)
      values <- values[!missing, , drop = FALSE]
    }
    n <- nrow(values)
    if (n == 0L) return()
    for (at in seq_along(columns)) {
      if (identical(columns[[at]]$kind, "text")) {
        columns[[at]]$counts <<- added(columns[[at]]$counts, tabulate(values[, at], length(columns[[at]]$levels)))
      } else if (!all_finite_cpp(values[, at])) {
        abort_input("`data` must be finite, but a value of ", quoted(columns[[at]]$name), " is not.")
      }
    }
    N <<- N + n
    ranges <<- rbind(ranges, apply(values, 2L, range))
    ranges <<- apply(ranges, 2L, range)
    if (is.finite(capacity)) {
      key <- stats::runif(n)
      drawn <- key <= limit
      values <- values[drawn, , drop = FALSE]
      keys[[length(keys) + 1L]] <<- key[drawn]
    }
    parts[[length(parts) + 1L]] <<- values
    held <<- held + nrow(values)
    if (held > 2 * capacity) trim()
  }
  known_as("data", each_chunk(source, NULL, function(chunk, k) {
    add_chunk(chunk, k)
    NULL
  }, so_far = function() NULL), of = "source")
  if (N == 0) return(NULL)
  trim()
  list(rows = parts[[1L]], columns = columns, N = N, ranges = ranges)
}

# Counts of categories, of which the later ones may be new.
added <- function(counts, more) c(counts, numeric(length(more) - length(counts))) + more

# A chunk of a table as a data frame.
as_table <- function(chunk, k) {
  if (is_frame(chunk)) return(structure(unclass(chunk), class = "data.frame"))
  abort_input("`data` must have columns with names, but chunk ", k, " is ", describe_value(chunk), ".")
}

# Values of a column of a chunk as numbers, with what is then known of the column.
read_column <- function(values, column, k) {
  # Columns of which nothing is known yet are logical in some databases.
  if (is.logical(values) && !is.object(values) && all(is.na(values))) {
    return(list(values = rep(NA_real_, length(values)), column = column))
  }
  read <- column_values(values)
  if (is.null(read)) {
    abort_input("`data` must have columns of numbers, dates, times, texts or TRUE and FALSE; not so: ",
                quoted(column$name), ", which is ", kind_of(values), ".")
  }
  if (is.na(column$kind)) column$kind <- read$kind
  if (column$kind != read$kind) {
    abort_input("`data` must have one type for each column, but ", quoted(column$name), " is of type ", read$kind,
                " in chunk ", k, ", and ", column$kind, " before.")
  }
  if (read$kind != "text") return(list(values = read$values, column = column))
  column$levels <- c(column$levels, setdiff(unique(read$values[!is.na(read$values)]), column$levels))
  if (length(column$levels) > most_categories_read) {
    most <- format(most_categories_read, big.mark = ",", scientific = FALSE)
    abort_input("`data` must have columns of text with at most ", most, " categories, but ", quoted(column$name),
                " has more: name the columns that are needed.")
  }
  list(values = as.double(match(read$values, column$levels)), column = column)
}

abort_missing <- function(values, columns, k) {
  at <- which(colSums(is.na(values)) > 0)[1L]
  abort_input("`data` must not have missing values, but row ", which(is.na(values[, at]))[1L],
              if (k > 1) paste(" of chunk", k), " has one in ", quoted(columns[[at]]$name),
              "; na.action = na.omit leaves such rows out.")
}

# The rows that were gathered as `x` and `codes`, with what a synopsis says of the table.
numbered_labels <- function(gathered) {
  kinds <- vapply(gathered$columns, `[[`, "", "kind")
  names <- readable(vapply(gathered$columns, `[[`, "", "name"))
  check_variables_of_table(names, kinds)
  text <- kinds == "text"
  labels <- lapply(gathered$columns[text], function(column) label_of(column$levels, column$counts, gathered$N))
  codes <- Map(function(label, at) label$number[gathered$rows[, at]], labels, which(text))
  list(x = gathered$rows[, !text, drop = FALSE], codes = stats::setNames(unname(codes), names[text]), N = gathered$N,
       names = names[!text], types = kinds[!text],
       labels = stats::setNames(lapply(labels, `[`, c("levels", "counts", "other")), names[text]),
       ranges = unname(gathered$ranges[, !text, drop = FALSE]))
}

check_variables_of_table <- function(names, kinds) {
  if (anyDuplicated(names) > 0L) {
    abort_input("`data` must have columns with different names, but two are ", quoted(names[anyDuplicated(names)]), ".")
  }
  if (all(kinds == "text")) abort_input("`data` must have a column of numbers, dates or times, not only texts.")
}

# The commonest categories with their counts, the first the commonest; `other`, the number of rows with others; and for
# each of `levels` its number in this order, 0 for others.
label_of <- function(levels, counts, N) {
  counts <- added(counts, numeric(length(levels)))
  common <- order(-counts, levels, method = "radix")
  common <- common[counts[common] > 0]
  common <- common[seq_len(min(length(common), most_categories))]
  number <- match(seq_along(levels), common, nomatch = 0L)
  list(levels = levels[common], counts = counts[common], other = N - sum(counts[common]), number = number)
}

kept_labels <- function(labels, codes) {
  Map(function(label, code) c(label, list(codes = as.integer(code))), labels, codes)
}

# Weights of rows with which the weighted counts of each label's categories are in proportion to those of the table, as
# far as a category has rows (raking; Deming & Stephan 1940). Their mean is 1. NULL without labels.
label_weights <- function(labels, n) {
  if (length(labels) == 0L) return(NULL)
  w <- rep(1, n)
  for (round in seq_len(100L)) {
    before <- w
    for (label in labels) {
      code <- label$codes + 1L
      counts <- c(label$other, label$counts)
      held <- vapply(split(w, factor(code, seq_along(counts))), sum, 0, USE.NAMES = FALSE)
      # Categories without rows leave theirs to the others.
      factors <- ifelse(held > 0 & counts > 0, counts / held, 0)
      w <- w * factors[code]
      w <- w * (n / sum(w))
    }
    if (length(labels) == 1L || max(abs(w / before - 1)) < 1e-12) break
  }
  w
}

# Numbers of a variable as what they stand for.
shown_values <- function(values, type) {
  switch(type, Date = structure(values, class = "Date"),
         POSIXct = structure(values, class = c("POSIXct", "POSIXt"), tzone = "UTC"), values)
}

# "[0.2, 5.01]", "[2015-01-01, 2016-12-31]".
variable_ranges <- function(synopsis) {
  vapply(seq_along(synopsis$names), function(k) {
    ends <- synopsis$ranges[, k]
    shown <- if (synopsis$types[k] == "number") format_short(ends) else format(shown_values(ends, synopsis$types[k]))
    paste0("[", shown[1L], ", ", shown[2L], "]")
  }, "")
}

# "(5: Ideal, Premium, ...)".
label_texts <- function(labels) {
  vapply(labels, function(label) {
    first <- label$levels[seq_len(min(3L, length(label$levels)))]
    more <- length(label$levels) > 3L || label$other > 0
    paste0("(", length(label$levels), if (label$other > 0) " and others", ": ",
           paste(shorten(first, 20L), collapse = ", "), if (more) ", ...", ")")
  }, "")
}
