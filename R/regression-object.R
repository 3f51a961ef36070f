# Bandwidth objects as `bws`: what they decide.

# The arguments that a bandwidth object given as `bws` decides, and its fields of them.
chosen_by_object <- c(regtype = "regtype", method = "bwmethod", ckertype = "ckertype", ckerorder = "ckerorder",
                      scaling = "bwscaling", bw.scale = "bw.scale", type = "bwtype", unsupported = "unsupported",
                      period = "period")

chosen_by_density <- c(method = "bwmethod", scaling = "bwscaling", ckertype = "ckertype", ckerorder = "ckerorder",
                       ukertype = "ukertype", okertype = "okertype")

chosen_by_condensity <- c(chosen_by_density[1:2], stats::setNames(nm = c(
  "cxkertype", "cykertype", "cxkerorder", "cykerorder", "uxkertype", "uykertype", "oxkertype", "oykertype"
)))

# Of distribution functions; y has no factors without an order.
chosen_by_distribution <- chosen_by_density[names(chosen_by_density) != "ukertype"]

chosen_by_condistribution <- chosen_by_condensity[names(chosen_by_condensity) != "uykertype"]

chosen_by_coefficients <- chosen_by_density[names(chosen_by_density) != "method"]

chosen_by_index <- stats::setNames(nm = c("method", "ckertype", "ckerorder"))

chosen_by <- function(bws) {
  if (inherits(bws, "kestrel_scbw")) return(chosen_by_coefficients)
  if (inherits(bws, "kestrel_sibw")) return(chosen_by_index)
  if (inherits(bws, "kestrel_condistbw")) return(chosen_by_condistribution)
  if (inherits(bws, "kestrel_distbw")) return(chosen_by_distribution)
  if (inherits(bws, "kestrel_condensbw")) return(chosen_by_condensity)
  if (inherits(bws, "kestrel_densbw")) return(chosen_by_density)
  if (!is_mixed_object(bws)) return(chosen_by_object)
  c(chosen_by_object[!chosen_by_object %in% c("bw.scale", "period")], ukertype = "ukertype", okertype = "okertype")
}

# Whether a bandwidth object is one of several regressors or of factors.
is_mixed_object <- function(bws) inherits(bws, "kestrel_mixed_bw")

# Those of an object. Arguments `given` beside it must have its values.
choices_of <- function(bws, given) {
  chosen <- chosen_by(bws)
  choices <- stats::setNames(unclass(bws)[names(chosen)], chosen)
  for (name in names(given)) {
    if (isTRUE(all.equal(plain(given[[name]]), choices[[name]]))) next
    abort_input("`", name, "` must be that of the bandwidth object, ", describe_value(choices[[name]]), ", not ",
                describe_value(given[[name]]), ".")
  }
  choices
}

check_weighted_object <- function(bws, w) {
  check_object(bws, "bws", "kestrel_regbw")
  if (is.null(w) && any(bws$w != bws$w[1L])) {
    abort_input("`w` must be given where `bws` is a bandwidth object that has weights.")
  }
}
