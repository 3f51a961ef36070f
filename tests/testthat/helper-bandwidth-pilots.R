# Plain-R oracle of the unconstrained pilot matrix, from Chacon & Duong's (2010) vectors of all d^r derivatives,
# including repeated ones.

# |D^4 phi_G(0) / n + (vec'G x I) psi_6(g^2 I) / 2|^2 as a function of G.
oracle_functional_bias <- function(x, g) {
  d <- ncol(x)
  exponents <- oracle_exponents(d, 6)
  name <- function(r) paste(r, collapse = " ")
  psi6 <- vapply(oracle_psis(x, g, exponents), as.numeric, 0)
  names(psi6) <- apply(exponents, 1, name)
  tuples <- as.matrix(expand.grid(rep(list(seq_len(d)), 4)))
  # The d^2 functionals of each tuple, a column.
  ahead <- apply(tuples, 1, function(t) {
    outer(seq_len(d), seq_len(d), Vectorize(function(k, l) psi6[[name(tabulate(c(t, k, l), d))]]))
  })
  function(G) {
    P <- solve(G)
    of <- function(a, b) P[tuples[, c(a, b)]]
    pairings <- of(1, 2) * of(3, 4) + of(1, 3) * of(2, 4) + of(1, 4) * of(2, 3)
    sum((pairings * (2 * pi)^(-d / 2) / sqrt(det(G)) / nrow(x) + colSums(as.vector(G) * ahead) / 2)^2)
  }
}

# Replaces the value of a name in the package's namespace while `code` runs.
with_binding <- function(name, value, code) {
  namespace <- asNamespace("kestrel")
  old <- get(name, namespace)
  bind <- function(value) {
    unlockBinding(name, namespace) # testthat 3.1.6 has no mocked bindings
    assign(name, value, namespace)
    lockBinding(name, namespace)
  }
  on.exit(bind(old))
  bind(value)
  code
}
