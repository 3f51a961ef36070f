# Densities by kestrel and by other packages, for bench/peers.R: the Gaussian kernel, a diagonal bandwidth matrix that
# all of them take, at points and on grids. Each task has contenders, with calls whose values can be compared; `max` is
# the largest n for which a contender runs.
#
# They all approximate the same sum, `references$density`: direct sums at the points named by `at`.

peer <- function(package, call, reference, max = Inf) {
  list(package = package, call = call, reference = reference, max = max)
}

# Half N(0, 1), half N(3, 0.3^2), in every variable.
two_humps <- function(n, d) {
  first <- seq_len(n) <= n / 2
  x <- matrix(stats::rnorm(n * d, sd = ifelse(first, 1, 0.3)), n) + ifelse(first, 0, 3)
  x[sample.int(n), , drop = FALSE]
}
direct_density <- function(x, h, points) {
  kde(x, H = diag(h^2, ncol(x)), eval.points = points, engine = "direct", threads = 1L)$estimate
}
# The formula, in plain R.
check_direct_density <- function() {
  x <- two_humps(50L, 3L)
  h <- c(0.3, 0.5, 0.4)
  at <- x[1:9, ] + 0.1
  plain <- apply(at, 1L, function(e) mean(apply(x, 1L, function(one) prod(stats::dnorm(e, one, h)))))
  stopifnot(max(abs(direct_density(x, h, at) / plain - 1)) < 1e-12)
}

# locfit's Gaussian is exp(-(2.5 u)^2 / 2), and a local constant with an identity link is its sum; several points are
# one vector, point after point.
locfit_density <- function(x, h, points) {
  fit <- locfit::locfit.raw(x, ev = as.vector(t(points)), alpha = c(0, 2.5), scale = h, deg = 0, kern = "gauss",
                            link = "ident")
  stats::predict(fit, where = "fitp")
}
sm_density <- function(x, h, points, ...) {
  sm::sm.density(x, h = h, eval.points = points, eval.grid = FALSE, display = "none", ...)$estimate
}

# ---- at 1,000 points
density_at_points <- function(d) {
  function(n) {
    x <- two_humps(n, d)
    h <- 0.5 * apply(x, 2L, stats::sd) * n^(-1 / (d + 4))
    points <- two_humps(1000L, d)
    data <- if (d == 1L) drop(x) else x
    at <- if (d == 1L) drop(points) else points
    by_ks <- function(...) {
      if (d == 1L) ks::kde(data, h = h, eval.points = at, compute.cont = FALSE, ...)$estimate
      else ks::kde(data, H = diag(h^2), eval.points = at, compute.cont = FALSE, ...)$estimate
    }
    contenders <- list(
      "kestrel::kde" = peer("kestrel", function() kde(data, H = diag(h^2, d), eval.points = at)$estimate, "density"),
      "ks::kde" = peer("ks", function() by_ks(), "density"),
      "ks::kde, binned = FALSE" = peer("ks", function() by_ks(binned = FALSE), "density", max = 1e5),
      "locfit" = peer("locfit", function() locfit_density(x, h, points), "density", max = 1e5),
      "np::npudens" = peer("np", function() {
        options(np.messages = FALSE)
        np::npudens(bws = h, tdat = as.data.frame(x), edat = as.data.frame(points))$dens
      }, "density", max = 1e5)
    )
    if (d <= 2L) {
      contenders[["sm::sm.density"]] <- peer("sm", function() sm_density(data, h, at), "density", max = 1e5)
      contenders[["sm::sm.density, nbins = 0"]] <-
        peer("sm", function() sm_density(data, h, at, nbins = 0), "density", max = 2e4)
    }
    if (d == 1L) {
      # A kernel of its own, so its values cannot be compared.
      contenders[["FKSUM::fk_density"]] <- peer("FKSUM", function() FKSUM::fk_density(data, h = h, x_eval = at)$y, NA)
      contenders[["kedd::dkde"]] <- peer("kedd", function() {
        kedd::dkde(data, y = at, deriv.order = 0, h = h, kernel = "gaussian")$est.fx
      }, "density", max = 2e4)
    }
    list(what = "kde at points", d = d, n = n, m = nrow(points), contenders = contenders,
         references = list(density = function() direct_density(x, h, points)))
  }
}

# ---- on the default grid of ks; errors at 2,000 of its points
density_on_grid <- function(d) {
  function(n) {
    x <- two_humps(n, d)
    h <- 0.5 * apply(x, 2L, stats::sd) * n^(-1 / (d + 4))
    size <- rep(c(401L, 151L, 51L)[d], d)
    ends <- apply(x, 2L, range) + rbind(-3.7 * h, 3.7 * h)
    axes <- lapply(seq_len(d), function(k) seq(ends[1L, k], ends[2L, k], length.out = size[k]))
    m <- prod(size)
    which <- if (m <= 2000) seq_len(m) else round(seq(1, m, length.out = 2000))
    place <- arrayInd(which, size)
    points <- vapply(seq_len(d), function(k) axes[[k]][place[, k]], numeric(length(which)))
    data <- if (d == 1L) drop(x) else x
    by_ks <- function(...) {
      if (d == 1L) {
        ks::kde(data, h = h, gridsize = size, xmin = ends[1L, ], xmax = ends[2L, ], compute.cont = FALSE,
                ...)$estimate[which]
      } else {
        ks::kde(data, H = diag(h^2), gridsize = size, xmin = ends[1L, ], xmax = ends[2L, ], compute.cont = FALSE,
                ...)$estimate[which]
      }
    }
    ours <- function(...) {
      kde(data, H = diag(h^2, d), gridsize = size, xmin = ends[1L, ], xmax = ends[2L, ], compute.cont = FALSE,
          ...)$estimate[which]
    }
    # Without bins ks takes every sample at every point.
    contenders <- list(
      "kestrel::kde" = peer("kestrel", function() ours(), "density"),
      "ks::kde" = peer("ks", function() by_ks(), "density"),
      "ks::kde, binned = FALSE" = peer("ks", function() by_ks(binned = FALSE), "density",
                                       max = c(1e5, 2e3, 1e3)[d])
    )
    grids <- switch(d, line_peers(data, h, ends, size, axes), plane_peers(x, h, ends, size, axes, which))
    list(what = "kde on a grid", d = d, n = n, m = m, contenders = c(contenders, grids),
         references = list(density = function() direct_density(x, h, points)))
  }
}
line_peers <- function(x, h, ends, size, axes) {
  list(
    "stats::density" = peer("stats", function() {
      stats::density(x, bw = h, n = size, from = ends[1L, ], to = ends[2L, ])$y
    }, "density"),
    "KernSmooth::bkde" = peer("KernSmooth", function() {
      KernSmooth::bkde(x, bandwidth = h, gridsize = size, range.x = ends[, 1L])$y
    }, "density"),
    "sm::sm.density" = peer("sm", function() sm_density(x, h, axes[[1L]]), "density", max = 1e5),
    "locfit" = peer("locfit", function() locfit_density(matrix(x), h, matrix(axes[[1L]])), "density", max = 1e5),
    "kedd::dkde" = peer("kedd", function() {
      kedd::dkde(x, y = axes[[1L]], deriv.order = 0, h = h, kernel = "gaussian")$est.fx
    }, "density", max = 2e4)
  )
}
plane_peers <- function(x, h, ends, size, axes, which) {
  list(
    "KernSmooth::bkde2D" = peer("KernSmooth", function() {
      KernSmooth::bkde2D(x, bandwidth = h, gridsize = size, range.x = list(ends[, 1L], ends[, 2L]))$fhat[which]
    }, "density"),
    # Its bandwidths are four standard deviations.
    "MASS::kde2d" = peer("MASS", function() {
      MASS::kde2d(x[, 1L], x[, 2L], h = 4 * h, n = size, lims = as.vector(ends))$z[which]
    }, "density", max = 2e4),
    "sm::sm.density, nbins = 0" = peer("sm", function() {
      sm::sm.density(x, h = h, eval.points = do.call(cbind, axes), display = "none", nbins = 0)$estimate[which]
    }, "density", max = 2e4)
  )
}
