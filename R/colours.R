# The colours of all plots. Blue is what is estimated, red what it is held against (those who confuse red and green can
# tell the two apart), grey what is beside the point.

colours <- list(
  curve = "#1F5A7A", # an estimate, a fit, an objective
  ink = "#17445C",   # contour lines and meshes, on blue fills
  shade = "#DCEAF2", # areas under a curve, bands, surfaces
  mark = "#B5442E",  # the minimum of an objective
  other = "#7A1F1F", # a model, over the observations
  data = "#222222",  # observations
  faint = "grey50",  # references, notes, what does not count
  frame = "grey70",  # around panels
  pale = "grey92"    # backgrounds and guide lines
)

# For n regions, one in the other: light enough for dark labels on the smallest.
fill_colours <- function(n) grDevices::hcl.colors(2 * n, "Blues 3", rev = TRUE)[seq_len(n) + 1L]

# From nothing to much.
scale_colours <- function(n) grDevices::hcl.colors(n, "Blues 3", rev = TRUE)

# For n things without an order.
kind_colours <- function(n) grDevices::hcl.colors(n, "Dark 3")
