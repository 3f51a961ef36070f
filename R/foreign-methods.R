# Methods of generics of packages that kestrel does not need. They are registered when such a package is loaded, before
# kestrel or after it. Lines of NAMESPACE could do that only with a function of its own for each class, while here the
# classes share one function, which looks for the class in a table.

# For each package, for each of its generics: the method and its classes.
foreign_methods <- function() {
  list(generics = list(
    tidy = list(method = tidy_object, classes = names(tidy_frames)),
    glance = list(method = glance_object, classes = names(glance_frames)),
    augment = list(method = augment_object, classes = names(augment_frames))
  ), ggplot2 = list(
    autoplot = list(method = autoplot_object, classes = names(pictures)),
    autolayer = list(method = autolayer_object, classes = names(pictures))
  ), knitr = list(
    knit_print = list(method = knit_explorer, classes = "kestrel_explorer")
  ), sf = list(
    st_as_sf = list(method = as_sf_object, classes = c("kestrel_kde", "kestrel_bkde", "kestrel_kde_groups"))
  ), stars = list(
    st_as_stars = list(method = as_stars_object, classes = c("kestrel_kde", "kestrel_bkde"))
  ))
}

register_foreign_methods <- function() {
  methods <- foreign_methods()
  lapply(names(methods), function(package) {
    when_loaded(package, function() register_methods(package, methods[[package]]))
  })
  when_loaded("terra", register_rast)
}

when_loaded <- function(package, code) {
  if (isNamespaceLoaded(package)) code() else setHook(packageEvent(package, "onLoad"), function(...) code())
}

register_methods <- function(package, methods) {
  for (generic in names(methods)) {
    method <- methods[[generic]]$method
    body(method) <- bquote(classing_memory(.(body(method))))
    for (class in methods[[generic]]$classes) registerS3method(generic, class, method, envir = asNamespace(package))
  }
}

# What a table has for the class of an object.
entry_for <- function(table, object) table[[intersect(class(object), names(table))[1L]]]
