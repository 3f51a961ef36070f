# What print() and summary() say of several regressors or of factors; the other methods are those of one regressor.

mixed_bandwidth_text <- function(bws) {
  nearest <- is_nearest(bws)
  units <- if (bws$scaling || nearest) "" else vapply(unclass(bws$x)[seq_along(bws$bw)], unit_text, "")
  paste0(paste0(bws$xnames, ifelse(nearest & bws$icon, " k = ", " "), vapply(bws$bw, format_short, ""), units,
                collapse = ", "),
         if (bws$scaling) " (scale factors)", if (nearest) paste0(" (", nearest_names[[bws$type]], ")"))
}

mixed_kernel_text <- function(bws) {
  paste(c(if (bws$ncon > 0L) paste0(bws$ckertype, if (bws$ckerorder > 2) paste(", order", bws$ckerorder)),
          if (bws$nuno > 0L) paste(bws$ukertype, "for factors"),
          if (bws$nord > 0L) paste(bws$okertype, "for ordered factors")), collapse = "; ")
}

mixed_search_text <- function(bws) {
  if (bws$search == "none") return("these bandwidths alone")
  count <- length(bws$fval.history)
  paste0(count, if (count == 1L) " start" else " starts")
}

mixed_regbw_lines <- function(bws) {
  c("Bandwidths of a kernel regression, by cross-validation",
    call_lines(bws$call),
    label_line("n", size_text(bws)),
    label_line("regression", smoother_text(bws)),
    label_line("kernel", kernel_text(bws)),
    label_line("bandwidth", bandwidth_text(bws)),
    label_line(bws$method, format(bws$fval, digits = 7)),
    label_line("search", mixed_search_text(bws)),
    if (bws$n.unsupported > 0L) label_line("support", without_neighbour(bws$n.unsupported)),
    unlist(lapply(bws$remarks, label_line, label = "remark")),
    label_line("engine", paste0(bws$engine, " on ", backend_text(bws), ", ", bws$evaluations,
                                if (bws$evaluations == 1L) " evaluation, " else " evaluations, ",
                                format_short(bws$seconds), " s"))
  )
}

#' @rdname kestrel_reg-methods
#' @export
summary.kestrel_mixed_bw <- function(object, ...) {
  check_object(object, "object", "kestrel_regbw")
  raw <- if (object$scaling) object$bw * mixed_scale(object) else object$bw
  table <- bandwidth_table(object, raw, "regressor")
  structure(list(bws = object, table = table), class = "summary.kestrel_mixed_bw")
}

#' @export
print.summary.kestrel_mixed_bw <- function(x, ...) {
  check_object(x, "x", "summary.kestrel_mixed_bw")
  cat(mixed_regbw_lines(x$bws), "", "Bandwidths, with the largest of each factor, at which it is smoothed out:",
      sep = "\n")
  print_bandwidth_table(x$table)
  invisible(x)
}

# A row for each column; `raw`: its bandwidth without scaling.
bandwidth_table <- function(bws, raw, label) {
  dates <- vapply(unclass(bws$x)[seq_len(bws$ndim)], is_date, NA)
  kind <- ifelse(dates, "date", ifelse(bws$icon, "number", ifelse(bws$iuno, "factor", "ordered")))
  largest <- rep(NA_real_, bws$ndim)
  largest[core_order(bws)[seq_len(bws$ndim) > bws$ncon]] <- largest_lambda(bws)
  scaled <- ifelse(bws$icon & !is_nearest(bws), raw / mixed_scale(bws), NA_real_)
  stats::setNames(data.frame(bws$xnames, kind, raw, scaled, largest),
                  c(label, "kind", "bandwidth", "scale.factor", "largest"))
}

print_bandwidth_table <- function(table) {
  table <- plain_columns(table)
  table[] <- lapply(unclass(table), without_class)
  numbers <- vapply(table, is.numeric, NA)
  table[numbers] <- lapply(table[numbers], function(v) ifelse(is.na(v), "", vapply(v, format_short, "")))
  print(table, row.names = FALSE)
}
