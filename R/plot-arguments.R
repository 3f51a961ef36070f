# Graphical arguments are checked before anything is drawn: R's own errors seldom say which one is wrong.

# What an argument must be, and whether a value is that; `several`: whether it may have more than one value.
graphical_kinds <- list(
  colours = list(must = "colours that R knows", several = TRUE, holds = function(value) are_colours(value)),
  widths = list(must = "numbers that are not negative", several = TRUE,
                holds = function(value) are_finite(value) && all(value >= 0)),
  sizes = list(must = "positive numbers", several = TRUE, holds = function(value) are_finite(value) && all(value > 0)),
  colour = list(must = "a colour that R knows", holds = function(value) length(value) == 1L && are_colours(value)),
  size = list(must = "a positive number", holds = function(value) is_number(value) && value > 0),
  angle = list(must = "a number", holds = function(value) is_number(value)),
  limits = list(must = "two finite numbers", holds = function(value) length(value) == 2L && are_finite(value)),
  interval = list(must = "two finite numbers, the lower one first",
                  holds = function(value) length(value) == 2L && are_finite(value) && value[1L] < value[2L]),
  flag = list(must = "TRUE or FALSE", holds = function(value) isTRUE(value) || isFALSE(value)),
  line_types = list(must = 'line types: 0 to 6, names like "dashed" or lengths like "44"', several = TRUE,
                    holds = function(value) are_line_types(value)),
  symbols = list(must = "numbers of symbols, 0 to 25, or single characters", several = TRUE,
                 holds = function(value) are_symbols(value)),
  las = list(must = "0, 1, 2 or 3", holds = function(value) is_number(value) && value %in% 0:3),
  log = list(must = 'one of "", "x", "y", "xy"', holds = function(value) {
    is.character(value) && length(value) == 1L && value %in% c("", "x", "y", "xy", "yx")
  }),
  # As a list it has its size, font and colour, too: see title().
  label = list(must = "text or an expression", holds = function(value) {
    if (is.list(value)) value <- if (length(value) > 0L) value[[1L]]
    is.atomic(value) || is.language(value)
  })
)

graphical_arguments <- c(
  col = "colours", col.cont = "colours", col.pt = "colours", lwd = "widths",
  lty = "line_types", pch = "symbols",
  bg = "colour", border = "colour", col.axis = "colour", col.lab = "colour", col.main = "colour", col.sub = "colour",
  fg = "colour", cex = "sizes", cex.axis = "size", cex.lab = "size", cex.main = "size", cex.sub = "size",
  expand = "size", phi = "angle", theta = "angle", xlim = "limits", ylim = "limits", zlim = "interval",
  ann = "flag", axes = "flag", box = "flag", frame.plot = "flag", las = "las", log = "log",
  main = "label", sub = "label", xlab = "label", ylab = "label", zlab = "label"
)

are_finite <- function(value) is_numbers(value) && length(value) > 0L && all(is.finite(value))

# Whether the value is colours. col2rgb() does not take 0, the background, and takes numbers that are none.
are_colours <- function(value) {
  if (length(value) == 0L || is.logical(value) && !all(is.na(value))) return(FALSE)
  if (is_numbers(value) && !all(is.na(value) | abs(value) <= .Machine$integer.max)) return(FALSE)
  if (!is.character(value) && !is.logical(value) && !is_numbers(value)) return(FALSE)
  catching_errors({
    grDevices::col2rgb(value[!value %in% 0])
    TRUE
  }, function(e) FALSE)
}

are_line_types <- function(value) {
  if (is_numbers(value)) return(are_finite(value) && all(value >= 0 & value == round(value)))
  known <- c("blank", "solid", "dashed", "dotted", "dotdash", "longdash", "twodash")
  is.character(value) && length(value) > 0L && all(value %in% known | grepl("^([1-9A-Fa-f]{2}){1,4}$", value))
}

are_symbols <- function(value) {
  if (is_numbers(value)) return(length(value) > 0L && all(is.na(value) | value %in% c(0:25, 32:127) | value < 0))
  is.character(value) && length(value) > 0L && all(is.na(value) | nchar(value) == 1L)
}

# The argument with this name, as the functions that draw take it. NULL is a default, and of names that are not listed
# above nothing is known.
check_graphical <- function(value, name) {
  if (is.null(value) || !name %in% names(graphical_arguments)) return(value)
  kind_name <- graphical_arguments[[name]]
  kind <- graphical_kinds[[kind_name]]
  value <- plain(value)
  if (!kind$holds(value)) {
    if (isTRUE(kind$several) && is.atomic(value) && length(value) > 1L) value <- Find(Negate(kind$holds), value)
    abort_input("`", name, "` must be ", kind$must, ", not ", describe_value(value), ".")
  }
  # grDevices::adjustcolor() does not take the number of the background.
  if (kind_name == "colours") value[value %in% 0] <- graphics::par("bg")
  value
}

check_graphicals <- function(given) {
  given[] <- Map(check_graphical, given, names(given))
  given
}

# Parameters that plots take besides those above, and those of graphics::persp() only.
further_parameters <- c(
  "adj", "asp", "bty", "err", "family", "font", "font.axis", "font.lab", "font.main", "font.sub", "lab", "lend",
  "ljoin", "lmitre", "mgp", "srt", "tck", "tcl", "xaxp", "xaxs", "xaxt", "xpd", "yaxp", "yaxs", "yaxt"
)
surface_parameters <- c("border", "box", "d", "expand", "lphi", "ltheta", "nticks", "phi", "r", "scale", "shade",
                        "theta", "ticktype", "zlim")

# Those that R takes by par() only.
device_parameters <- c("ask", "cin", "fig", "fin", "mai", "mar", "mex", "mfcol", "mfg", "mfrow", "new", "oma", "omd",
                       "omi", "pin", "plt", "ps", "pty", "usr", "xlog", "ylog")

# Arguments of plots in ks that have no meaning here.
ks_plot_arguments <- c("alphavec", "colors", "cont.lwd", "jitter", "kdde.flag", "labcex", "lwd.fc", "size", "thin",
                       "type")

# Parameters of lines and points; `type` for those that are added to a plot.
drawn_parameters <- c("bg", "cex", "col", "err", "family", "font", "lend", "ljoin", "lmitre", "lty", "lwd", "pch",
                      "type", "xpd")

frame_parameters <- c(setdiff(names(graphical_arguments), c(surface_parameters, "col.cont", "col.pt", "zlab")),
                      further_parameters)

# Dots that end in a call of R's graphics, which only warns of names that it does not know.
check_parameters <- function(more, known = frame_parameters) {
  if (length(more) > 0L && (is.null(names(more)) || !all(nzchar(names(more))))) {
    abort_input("`...` must not have arguments without a name.")
  }
  unknown <- setdiff(names(more), known)
  if (length(unknown) == 0L) return(check_graphicals(more))
  abort_input("`", readable(unknown[1L]), "` must not be given: ", if (unknown[1L] %in% device_parameters)
              "par() sets it, before the plot." else "it is not a graphical parameter of what is drawn.")
}

# The look of what a method draws: values by default, or those that its dots give.
look_of <- function(more, ...) {
  usual <- list(...)
  utils::modifyList(usual, check_graphicals(more[names(more) %in% names(usual)]))
}

# The look of an estimate's plot, from the arguments of its method and the dots that concern more than the empty plot.
check_style <- function(style, more) {
  style <- check_graphicals(c(style, more[names(more) %in% c("lty", "pch", "cex")]))
  if (!is.null(style$col.fun) && !is.function(style$col.fun)) {
    abort_input("`col.fun` must be a function, not ", describe_value(style$col.fun), ".")
  }
  for (name in c("drawpoints", "drawlabels", "add")) style[[name]] <- check_flag(style[[name]], name)
  style$alpha <- check_alpha(style$alpha)
  style$d <- check_positive(style$d, "d")
  if (is.null(style$col.cont)) style$col.cont <- colours$ink
  style
}

# The dots of a plot that takes those of ks, without the ones that have no meaning for this display.
parameters_for <- function(more, display) {
  surface <- display == "persp"
  known <- setdiff(frame_parameters, if (surface) c("frame.plot", "log"))
  more <- check_parameters(more, c(known, surface_parameters, ks_plot_arguments))
  more[!names(more) %in% c(ks_plot_arguments, if (!surface) surface_parameters)]
}

# Parameters that panels which share axes cannot have.
check_panel_parameters <- function(more, refused, d) {
  given <- intersect(refused, names(more))
  if (length(given) > 0L) abort_input("`", given[1L], "` must not be given for the panels of ", d, " variables.")
}

check_alpha <- function(alpha) {
  alpha <- plain(alpha)
  if (!is_number(alpha) || alpha < 0 || alpha > 1) {
    abort_input("`alpha` must be a number between 0 and 1, not ", describe_value(alpha), ".")
  }
  alpha
}

# `count` colours by the function of the user.
colours_by <- function(col.fun, count) {
  col <- catching_errors(col.fun(count), function(e) {
    abort_input("`col.fun` must return colours that R knows, but it says: ", conditionMessage(e), ".")
  })
  if (!are_colours(col)) abort_input("`col.fun` must return colours that R knows, not ", describe_value(col), ".")
  col
}

room_messages <- c("figure margins too large", "figure region too large", "plot region too large",
                   "outer margins too large (figure region too small)")

# The result of `code`, which draws with further arguments of the user, checked as far as they are known here. R says
# that margins are too large where a device or a panel is too small for any plot.
drawing_with <- function(more, code) {
  given <- Filter(nzchar, names(more))
  catching_errors(code, function(e) {
    if (conditionMessage(e) %in% gettext(room_messages, domain = "graphics")) {
      abort_input("The plot must have more room: its window or panel is smaller than its margins. Make the window ",
                  "larger, or the margins smaller with par(mar = ).")
    }
    if (length(given) == 0L) stop(e)
    # R may name the one that is wrong.
    meant <- Filter(function(name) grepl(paste0("['\"\u2018]", name, "['\"\u2019]"), conditionMessage(e)), given)
    if (length(meant) > 0L) given <- meant
    what <- if (length(given) == 1L) "a graphical parameter" else "graphical parameters"
    abort_input(quoted(given), " must be ", what, " with which R can draw, but it says: ", conditionMessage(e), ".")
  })
}

# A plot that is there, for `add` and for lines() and points().
check_plot_to_add_to <- function(added = FALSE) {
  there <- grDevices::dev.cur() > 1L && catching_errors({
    graphics::strwidth("x")
    TRUE
  }, function(e) FALSE)
  if (!there && added) abort_input("There must be a plot to add `x` to: plot(x) starts one.")
  if (!there) abort_input("`add` must be FALSE when there is no plot to add to.")
}
