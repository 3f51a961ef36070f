# The scores of a task (see score_task_of_data() in score.R): of its densities and their margins, at other bandwidths,
# and for samples that are drawn again.

score_task <- function(task, B, level, run, progress) {
  done <- 0
  densities <- (1 + B + length(task$further)) * (1 + length(task$models))
  if (!is.null(progress)) run$progress <- function(fraction) progress((done + fraction) / densities)
  counted <- function(density) {
    force(density)
    done <<- done + 1
    if (!is.null(progress)) progress(done / densities)
    density
  }
  whole <- scores_and_margins(task, run, counted)
  score <- whole$score
  sensitivity <- if (length(task$further) > 0L) {
    sensitivity_table(task$h, score, task$further, function(h) joint_scores(task$at(h), run, counted))
  }
  replicates <- if (B > 0L) {
    drawn <- lapply(seq_len(B), function(b) joint_scores(drawn_anew(task), run, counted))
    matrix(unlist(drawn), B, byrow = TRUE, dimnames = list(NULL, names(score)))
  }
  c(list(table = score_table(score, replicates, level), sensitivity = sensitivity, replicates = replicates), whole)
}

# counted(density) is called with each density.
joint_scores <- function(task, run, counted) {
  values <- function(fhat) counted(run_density(fhat, task_on_axes(fhat, task$axes), run)$estimate)
  obs <- values(task$obs)
  vapply(task$models, function(fhat) overlap(task$axes, obs, values(fhat)), 0)
}

# Joint scores, those of each variable and of each pair, and the densities of these margins.
scores_and_margins <- function(task, run, counted) {
  d <- length(task$axes)
  margins <- margin_dims(d)
  estimate <- function(fhat) counted(if (fhat$gridded) fhat else estimate_on_grid(fhat, task, run))
  obs <- estimate(task$obs)
  of_obs <- marginal_values(obs, margins, run)
  each <- lapply(task$models, function(fhat) {
    model <- estimate(fhat)
    of_model <- marginal_values(model, margins, run)
    shared <- function(dims, f, g) overlap(task$axes[dims], f, g)
    list(joint = overlap(task$axes, obs$estimate, model$estimate), marginals = of_model,
         scores = mapply(shared, margins, of_obs, of_model))
  })
  scores <- matrix(unlist(lapply(each, `[[`, "scores")), length(each), byrow = TRUE,
                   dimnames = list(names(each), margin_names(margins, task$obs$names)))
  list(score = vapply(each, `[[`, 0, "joint"), variables = scores[, seq_len(d), drop = FALSE],
       pairs = if (d > 1L) scores[, -seq_len(d), drop = FALSE],
       marginals = list(obs = of_obs, models = lapply(each, `[[`, "marginals")))
}

overlap <- function(axes, f, g) min(1, grid_integral(axes, pmin(f, g)))

# Each variable and each pair of them, named by their numbers.
margin_dims <- function(d) {
  dims <- c(as.list(seq_len(d)), if (d > 1L) utils::combn(d, 2L, simplify = FALSE))
  names(dims) <- vapply(dims, paste, "", collapse = ",")
  dims
}

margin_names <- function(margins, names) vapply(margins, function(dims) paste(names[dims], collapse = ", "), "")

# Margins take little time compared with the density: the bar does not wait for them.
marginal_values <- function(fhat, margins, run) {
  run$progress <- NULL
  lapply(margins, function(dims) {
    if (length(dims) == dimension(fhat)) fhat$estimate else marginal_of(fhat, dims, run)$estimate
  })
}

# Rows drawn with replacement, as many as the effective sample size.
drawn_anew <- function(task) {
  draw <- function(fhat) {
    x <- sample_matrix(fhat)
    m <- round(fhat$n_eff)
    rows <- drawn_rows(m, fhat$w)
    heard()
    fhat$x <- if (ncol(x) == 1L) x[rows] else x[rows, , drop = FALSE]
    fhat$w <- rep(1, m)
    fhat
  }
  task$obs <- draw(task$obs)
  task$models <- lapply(task$models, draw)
  task
}

score_ranks <- function(score) rank(-score, ties.method = "min")

score_table <- function(score, replicates, level) {
  table <- data.frame(model = names(score), score = unname(score), rank = unname(score_ranks(score)))
  if (!is.null(replicates)) {
    # Replicates are biased as the score is; twice the score less theirs is not. Of these the median is within the ends.
    at <- apply(replicates, 2L, stats::quantile, c(0.5, (1 + level) / 2, (1 - level) / 2), names = FALSE)
    table[c("corrected", "lower", "upper")] <- t(pmin(pmax(2 * rep(score, each = 3L) - at, 0), 1))
  }
  table <- table[order(table$rank), ]
  rownames(table) <- NULL
  table
}

# Like table 2 of Lopez-Novoa (2015, ch. 8), in long form.
sensitivity_table <- function(h, score, further, at) {
  all <- sort(unique(c(h, further)))
  do.call(rbind, lapply(all, function(one) {
    value <- if (one == h) score else at(one)
    data.frame(model = names(score), h = one, score = unname(value), rank = unname(score_ranks(value)))
  }))
}
