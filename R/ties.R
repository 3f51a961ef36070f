# Observations that are equal in every column, and their effect on cross-validation.

# Ordered tied pairs per observation, and whether they make LSCV fall to minus infinity at 0. For H = h^2 S, h^d LSCV(H)
# tends to a multiple of R(K) sum_ties p_i p_j - 2 c K(0) sum_(ties, i != j) p_i p_j. For equal weights that is negative
# if the tied pairs per observation exceed R(K) / (2 K(0) - R(K)), except for terms in 1/n. For derivatives of order r,
# by the Gaussian kernel, the r-th Laplacians of K_2H and K_H at 0 take the places of R(K) and K(0): 2^-r as much.
count_ties <- function(sample, kernel, order = 0L) {
  d <- NCOL(sample$x)
  ties <- count_ties_cpp(sample$data)
  if (ties$pairs == 0) return(list(per_observation = 0, unbounded = FALSE))
  diagonal <- ties$diagonal
  roughness <- kernel_constants(kernel, d)$roughness / 2^order
  at_zero <- kernel_at_zero(kernel, d)
  limit <- roughness * (ties$weight + diagonal) - 2 * at_zero * ties$weight / (1 - diagonal)
  list(per_observation = ties$pairs / length(sample$w), unbounded = limit < 0,
       threshold = tie_threshold(kernel, d, order))
}

tie_threshold <- function(kernel, d, order = 0L) {
  roughness <- kernel_constants(kernel, d)$roughness / 2^order
  roughness / (2 * kernel_at_zero(kernel, d) - roughness)
}
