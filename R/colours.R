# The colours of all plots. Blue is for estimates, red for what they are compared with (readers who confuse red and
# green can tell these apart), grey for the rest.

colours <- list(
  curve = "#1F5A7A", # an estimate, a fit, an objective
  ink = "#17445C",   # contour lines and meshes, on blue fills
  bar = "#C3DCEA",   # the lightest of bars on each other
  shade = "#DCEAF2", # areas under a curve, bands, surfaces
  mark = "#B5442E",  # the minimum of an objective
  other = "#7A1F1F", # a model, over the observations
  data = "#222222",  # observations
  on_both = "#D55E00", # observations where some of the ground is light and some is dark
  faint = "grey50",  # references, notes, points that do not count
  frame = "grey70",  # around panels
  pale = "grey92"    # backgrounds and guide lines
)

# On a page whose text is light observations lie on dark ground and on light regions.
data_colour <- function() if (ground_for(graphics::par("fg")) == "white") colours$data else colours$on_both

# From white to this colour.
shades_of <- function(col, n) grDevices::colorRampPalette(c("white", col))(n)

# For n nested regions: light enough for dark labels on the smallest one, and one region alone is light.
fill_colours <- function(n) {
  place <- if (n == 1L) 2 / 7 else seq(1, 4, length.out = n) / 7
  grDevices::hcl.colors(701L, "Blues 3", rev = TRUE)[1L + round(700 * place)]
}

# A scale from zero upwards.
scale_colours <- function(n) grDevices::hcl.colors(n, "Blues 3", rev = TRUE)

# For n categories without an order; the first are told apart by readers who confuse red and green.
kind_colours <- function(n) {
  first <- c(colours$curve, colours$mark, "#D9A21B", "#6A9FB5", "#555555", "#A87CA0")
  if (n <= length(first)) first[seq_len(n)] else grDevices::hcl.colors(n, "Dark 3")
}
