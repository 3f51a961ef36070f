# The colours of all plots. Blue is for estimates, red for what they are compared with (readers who confuse red and
# green can tell these apart), grey for the rest.

colours <- list(
  curve = "#1F5A7A", # an estimate, a fit, an objective
  ink = "#17445C",   # contour lines and meshes, on blue fills
  shade = "#DCEAF2", # areas under a curve, bands, surfaces
  mark = "#B5442E",  # the minimum of an objective
  other = "#7A1F1F", # a model, over the observations
  data = "#222222",  # observations
  faint = "grey50",  # references, notes, points that do not count
  frame = "grey70",  # around panels
  pale = "grey92"    # backgrounds and guide lines
)

# For n nested regions: light enough for dark labels on the smallest one.
fill_colours <- function(n) grDevices::hcl.colors(2 * n, "Blues 3", rev = TRUE)[seq_len(n) + 1L]

# A scale from zero upwards.
scale_colours <- function(n) grDevices::hcl.colors(n, "Blues 3", rev = TRUE)

# For n categories without an order.
kind_colours <- function(n) grDevices::hcl.colors(n, "Dark 3")
