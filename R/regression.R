# Bandwidths of kernel regression, by cross-validation.

# The first is the default.
regression_kernels <- function() c("gaussian", polynomial_kernels())

# np's Epanechnikov kernel has variance one, and so the support sqrt(5); its other kernels have ours.
np_scale <- function(kernel) if (kernel == "epanechnikov") sqrt(5) else 1

#' Bandwidth of a kernel regression by cross-validation
#'
#' Selects the bandwidths of the Nadaraya-Watson or local linear regression of `y` on one or several regressors by
#' cross-validation. Regressors may be numbers, factors and ordered factors. Names, conventions and defaults are those
#' of package \pkg{np}. Bandwidths are fixed or, with `bwtype`, distances to nearest neighbours. Most of this page is
#' about one numeric regressor. The section on several regressors says what differs.
#'
#' Let g_-i be the fit without observation i, and w the weights (1 for all if not given). Let M_i be 1 if another
#' observation is within the bandwidth of x_i, and 0 otherwise. The objectives are
#' \deqn{cv.ls(h) = \sum_i w_i (y_i - g_{-i}(x_i))^2 M_i / \sum_i w_i,}{cv.ls(h) = sum_i w_i (y_i - g_-i(x_i))^2 M_i /
#' sum_i w_i,}
#' \deqn{cv.aic(h) = \log s^2 + (1 + tr/n) / (1 - (tr + 2)/n).}{cv.aic(h) = log s^2 + (1 + tr/n) / (1 - (tr + 2)/n).}
#' Here s^2 is the (weighted) mean square of the residuals of the fit, and tr is the trace of the smoother matrix.
#' `cv.aic` is infinite if tr + 2 reaches n.
#'
#' A neighbour is an observation at a distance below the bandwidth. For the uniform kernel the distance may equal the
#' bandwidth, and for the Gaussian kernel it is below 38 bandwidths. If all observations of a local linear fit have the
#' same value of x, the fit is their mean.
#'
#' @section Several regressors: With several regressors, or a factor, weights are products of kernels, one for each
#'   regressor (Racine & Li 2004). For two levels of a factor with c levels the kernel is
#'
#'   - `"aitchisonaitken"`: 1 - lambda if they are equal, otherwise lambda / (c - 1), with lambda up to (c - 1) / c;
#'   - `"liracine"`: 1 if they are equal, otherwise lambda, with lambda up to 1.
#'
#'   For two levels of an ordered factor at the distance d, with lambda up to 1, it is
#'
#'   - `"liracine"`: lambda^d;
#'   - `"wangvanryzin"`: 1 - lambda if they are equal, otherwise (1 - lambda) lambda^d / 2;
#'   - `"racineliyan"`: lambda^d divided by its sum over all levels, seen from the observation.
#'
#'   The distance is that of the numbers if all levels are numbers, as in \pkg{np}, and otherwise of their positions.
#'   For `"racineliyan"` it is always that of positions. With lambda = 0 a factor splits the data, and at the largest
#'   lambda it has no effect: it is smoothed out. So is a number with an infinite bandwidth. All levels count in c, also
#'   those without observations. Logical values are a factor with the levels FALSE and TRUE.
#'
#'   The search is over the logarithms of bandwidths and over lambda, by a quasi-Newton method ([stats::nlminb()]) with
#'   exact gradients. The objective has several minima, mostly by which regressors are smoothed out. So the search
#'   begins at `nmulti` places: at the normal reference, and by turns at the best of the corners, where each regressor
#'   is near the reference or nearly smoothed out, and at the best of some points between them. From the least minimum
#'   each regressor is smoothed out, and each factor made to split the data, where this is no worse. No random numbers
#'   are drawn. For the uniform kernel, whose objective has steps, the search takes steps along one regressor after the
#'   other. It is not certain that the result is the least value of all.
#'
#'   The kernels are the Gaussian and the Epanechnikov kernel, both with the orders 2 to 8, and the others of [kde()].
#'   There are no grids. Where the neighbours of a local linear fit do not differ in some direction, the fit has there
#'   the slope of the plane of least squares. A message counts such fits. \pkg{np} adds a ridge to them.
#'
#' @section Dates: A regressor of class `Date` counts as a number of days, and one of class `POSIXct` as a number of
#'   seconds. These are also the units of its bandwidth. Points at which to evaluate a fit must have the class of the
#'   data. Points in results have it, and in plots the axis has dates. The same holds for the columns of densities and
#'   distribution functions, and for the regressors of [npplreg()], [npscoef()] and [npindex()]. A response must not be
#'   a date. \pkg{np} 0.60 refuses dates.
#'
#' @section The search: With one numeric regressor the result is the least value of the objective over all bandwidths at
#'   which every observation has a neighbour. \pkg{np} descends from random starts and may end in another minimum. Here
#'   the whole curve is scanned, in steps of 6 %, from the smallest of these bandwidths to 1000 times the range of x.
#'   Then all its valleys are searched. With the Gaussian kernel the result is the least minimum, and the relative error
#'   of the bandwidth is about that of the objective, divided by its curvature there: mostly below 1e-6. The valley may
#'   be missed only if it is narrower than a step. With the other kernels the three lowest valleys are searched (see the
#'   section on refinement).
#'
#'   The least value may be that of an infinite bandwidth. The fit is then the mean of the responses, or for local
#'   linear fits a straight line. A message says so, and a power of ten beyond 1e9 times the range of x stands for the
#'   infinite bandwidth, as in \pkg{np}, which returns large numbers in this case. Of values within 1e-12 of the least
#'   the widest bandwidth is taken.
#'
#'   One observation far from all others can decide the bandwidth. A message then names the observation. It appears if
#'   two conditions hold for smaller bandwidths of the scan. They are rejected because at most one per cent of the
#'   observations lack neighbours, and the mean over the other observations is lower there. Another message appears if
#'   no fit reaches from one value of x to the next, as with rounded data.
#'
#' @section The bandwidth: A bandwidth is on the scale of \pkg{np}: the standard deviation of the Gaussian kernel, half
#'   the width of the support of other kernels, but of the Epanechnikov kernel half the width divided by sqrt(5).
#'   `bw.scale = "support"` means half the width for the Epanechnikov kernel, too. The triangular, biweight, triweight
#'   and tricube kernels do not exist in \pkg{np}. With `bwscaling = TRUE` bandwidths are multiples of s n^(-1/(2 P
#'   + 1)). Here P is the order of the kernel, and s the least of the standard deviation, the interquartile range
#'   divided by `2 * qnorm(3/4)`, and the median absolute deviation, as far as they are positive. The field
#'   `bandwidth` has the bandwidth without, and `sfactor` with this scaling. A bandwidth may be infinite.
#'
#' @section Nearest neighbours: With `bwtype = "generalized_nn"` the bandwidth of the fit at a point is the distance
#'   from this point to its k-th nearest neighbour. With `"adaptive_nn"` every observation has a bandwidth h_i, the
#'   distance from it to its k-th neighbour, and the weight K((x_i - x) / h_i) / h_i. The number k is what is selected
#'   or given. Neighbours are counted as in \pkg{np}. The different distances from a point, as rounded, are sorted, and
#'   the least of them counts as number 0. So tied observations are no neighbours of each other, and two observations at
#'   the same distance are one neighbour. At a point between observations the nearest one is number 0. Weights do not
#'   change the distances. The bandwidth is this distance on the scale of `bw.scale`: the support of the Epanechnikov
#'   kernel reaches sqrt(5) times as far. The window of the uniform kernel is open here, as in \pkg{np}, so the k-th
#'   neighbour itself is not in it.
#'
#'   Without `bws` all k that every observation has are tried for up to 500 observations. For more observations a scan
#'   has steps of 5 %. Then the numbers between the 10 lowest valleys of the scan and those beside them are tried, until
#'   both k - 1 and k + 1 have been. Of equal values the largest k is taken. `bws` may list the k to try. `bwscaling`,
#'   `nbw`, `bwmin` and `bwmax` are for fixed bandwidths, and a GPU takes those only.
#'
#'   For local linear fits with `"generalized_nn"`, \pkg{np} 0.60 weighs each pair of observations in its objective by
#'   the bandwidth at one of them, so its objective depends on the order of the data and is not that of its fits. With
#'   `options(np.tree = TRUE)` it is, and then equal to the one here.
#'
#'   With several regressors each numeric one has a number k of its own, and its distances are those along it alone, as
#'   in \pkg{np}. The search starts from `nmulti` places. It goes along one regressor after the other, over all k in
#'   steps of 50 % and then between the best ones, and along lambda of all factors by their gradient, until nothing is
#'   lower.
#'   Last, pairs of numbers are changed together. It is not certain that the result is the least value of all. With the
#'   uniform kernel an observation is outside of a window if its distance differs from the bandwidth by rounding only.
#'
#' @section Sketches: [kde_sketch()] makes a sketch of a regression if [sketch_plan()] was given a response `y`. With
#'   such a sketch in place of the data the bandwidth is that of all rows, to about 1e-5: the objectives differ by 1e-12
#'   of themselves and by what rounding the responses adds. The kernel is Gaussian, the bandwidth fixed, and of the
#'   arguments there are those that the usage shows. Bandwidths are searched from the width of a cell on, and such that
#'   every observation has a neighbour within 37 of them. If the least value is at the narrowest that cells serve, an
#'   error says so. Fits with very small residuals beside the range of the response, and local linear fits through tied
#'   observations that are alone in a cell, need more than moments: such bandwidths are left out. A sketch that has kept
#'   all rows is treated as these rows. Otherwise the result has the class `"kestrel_sketch_regbw"`, a list with `bw`,
#'   `fval`, `search`, `grid`, `cv`, `evaluations`, `remarks`, `regtype`, `method`, `nobs`, `xnames` and `ynames` as
#'   below, and the `sketch`; [kestrel_sketch_regbw-methods] has its methods. The time does not depend on the number of
#'   rows: with 2e5 normal ones a search took 1.2 s on one thread, and 24 s for local linear fits.
#'
#' @section Grids: With several values of `bws`, or with `nbw`, `bwmin` or `bwmax`, the objective is computed on a grid
#'   and the result is its least value. A grid of `nbw` bandwidths, by default 50, has equal steps up to `bwmax`, by
#'   default the range of x, max - min. This is the grid of Rohlfs & Zahran (2017). For the Gaussian kernel it ends at
#'   the range divided by sqrt(5). Then its candidates have the same standard deviations as those of the Epanechnikov
#'   kernel. If the least value is at an end of the grid, a warning of class `kestrel_warning_search` says so.
#'
#'   Because cv.ls leaves out observations without a neighbour, it rewards bandwidths that are too small to reach any.
#'   By default such bandwidths are rejected, as in \pkg{np}. Rohlfs & Zahran (2017) take the smallest value of all:
#'   `unsupported = "exclude"` does, too, and always on a grid.
#'
#' @section Refinement: As the bandwidth of a compact kernel grows past the distance of two observations, a window gains
#'   an observation. There the curve bends, and it may jump. With the uniform kernel it jumps at every distance and
#'   is constant in between. With other kernels it jumps where a window gains its first neighbour or, with local linear
#'   fits, its second.
#'
#'   With few observations, up to about 80, all distances are tried first, on both sides (with the uniform kernel up to
#'   about 200). In a valley all are tried if there are at most 4e6 / n of them. With the uniform kernel the result is
#'   then the least value there. Otherwise only the distances of jumps are tried, and those next to the minimum. Between
#'   distances a scan of 10 to 96 bandwidths finds the valleys of the curve, and each is cut to a 256th of its width. So
#'   a minimum between two bandwidths may be missed if there are many distances, or if it is narrow. In 594
#'   searches over samples of 4 to 300 observations this happened nine times, by up to 2e-3 of the objective.
#'
#'   The bandwidth may be just above a distance, where the curve jumps, and its rounded digits in print may be below it.
#'   So use the object, or its field `bw`, not the printed digits.
#'
#' @section Periods: With a `period` the regressor is an hour of the day, a direction, a longitude or a day of the year.
#'   The weight of an observation is then the sum of the kernel over all whole periods, so that the fit is periodic. An
#'   observation is left out with all of its images. The objectives, standard errors and gradients are those of these
#'   weights. A local linear fit is the line through all images near the point. Values whole periods apart are the same
#'   place: observations that are more than a period beyond the least one are moved into the period that begins there,
#'   with a message. Points may be anywhere. The infinite bandwidth gives the mean of the responses, also for local
#'   linear fits. The windows of the compact kernels must not be wider than the period, or else infinite. The scan, and
#'   a grid of `nbw` bandwidths, end there. There must be one numeric regressor, a fixed bandwidth and a kernel of order
#'   2, and the CPU computes.
#'
#'   Up to a bandwidth of an 18th of the period the Gaussian kernel is summed over images of the data, by the same
#'   engines as without a period. Wider ones are summed by their Fourier series (Mardia & Jupp 2000), which has at most
#'   26 terms, in O(n) for each bandwidth. Where observations are so few that the series loses digits, the sums are over
#'   all images.
#'   With 100,000 observations a search took 5.5 seconds on one core with the Gaussian kernel and 1.3 seconds with the
#'   Epanechnikov kernel, and without a period 1.1 and 0.5 seconds.
#'
#' @section Errors: Errors of class `kestrel_error_input` are for
#'
#'   - infinite values, lengths that differ, and fewer than two observations;
#'   - missing values where `na.action` is [stats::na.fail];
#'   - a numeric regressor that is constant or has a range outside of 1e-290 to 1e300, and one that is neither numbers
#'     nor a factor. For local linear fits numeric regressors must not determine each other;
#'   - responses whose squared differences have a sum that is not between 1e-290 and 1.8e308, unless all are equal;
#'   - bandwidths that are not within 1e-300 and 1e300, and numbers of neighbours that are not whole, not positive, or
#'     more than some observation has;
#'   - a `period` that is not a positive number, with what it does not take, or with a window wider than it;
#'   - arguments that neither \pkg{np} nor this function has, or values of the arguments of \pkg{np} that this function
#'     does not support;
#'   - a grid in which no bandwidth supports every observation. The message gives the smallest bandwidth that would.
#'
#'   Errors of class `kestrel_error_backend` are for a backend that this build or machine lacks, or that does not take
#'   the task. Errors of class `kestrel_error_memory` are for a GPU that you asked for and that has too little memory.
#' @section Cost: The search takes O(n log n) once and O(n) for each bandwidth, on all threads. A few local linear fits
#'   whose sums have lost their digits are summed again, in O(n) each. With the Gaussian
#'   kernel a bandwidth takes O(n) once and then O(range / bandwidth), whatever n, where cells as wide as the bandwidth
#'   hold 16 observations. Where they hold fewer, or with weights, it takes O(n) fits of their own. The scan has 100 to
#'   1000 bandwidths, and each valley takes 19 to 46 more. With a compact kernel three valleys take 50 to 500 and, for
#'   n below 400,000, at most 1.2e7 / n more.
#'
#'   With nearest neighbours each k takes the sum over all observations of those in their windows, at most O(n^2): with
#'   1,000 observations about 3 ms on one core, and for a search 0.5 s.
#'   With several regressors, or a factor, each evaluation sums all pairs, in O(n^2) for each regressor. With
#'   three numbers and a gradient a pair takes about 4.5 nanoseconds on one core, and three times as long for local
#'   linear fits. On an H100 160 billion pairs take a second. There are mostly 20 to 40 evaluations for
#'   each start, 32 at most for the corners, and some tens for what is smoothed out. The memory is O(n). All threads are
#'   used.
#'
#'   A GPU needs 32 MiB of its memory and at most 80 bytes for each observation. For a kernel that is a polynomial of
#'   degree p it needs 8 p + 16 bytes more for each observation, with p + 2 in place of p for local linear fits. The
#'   degree is 0 (uniform), 1 (triangular), 2 (Epanechnikov), 4 (biweight), 6 (triweight) or 9 (tricube).
#'
#' @section On a GPU: A GPU computes the objective at all bandwidths at once, within 1e-12 of the CPU and with the same
#'   bits in every run. With the polynomial kernels it uses sums over blocks of 8, 16, 32, ... sorted observations, and
#'   a fit takes O(log n). With the Gaussian kernel it sums all pairs
#'   within reach, in O(n^2), and `"auto"` takes the CPU. Kernels of higher order are for the CPU. Bandwidths below
#'   1e-23 times the range of x, or 1e-17 times for the tricube kernel, may be refused. [engines] says when `"auto"`
#'   uses a GPU. The fits of [npreg()] are computed on the CPU. With several regressors a GPU takes the Gaussian kernel
#'   of order 2, without weights.
#'
#' @param formula `y ~ x` or `y ~ x + z`. Regressors may be expressions such as `log(x)`. Interactions are refused, as
#'   in
#'   \pkg{np}: the weights are products, so the fit has all interactions.
#' @param data a data frame, list or environment with the variables of `formula`.
#' @param subset which rows of `data` to use, an expression in its variables.
#' @param xdat the regressors, or a sketch of a regression, see below: a numeric vector, a factor, a numeric matrix,
#'   or a data frame of numbers and factors.
#'   Numbers may be dates.
#' @param ydat the response, one value for each value of the regressor.
#' @param bws a vector of candidate bandwidths, the grid, or the bandwidth for `bandwidth.compute = FALSE`. Otherwise a
#'   single one, which is the start of \pkg{np}'s search, has no effect. With several regressors it has one bandwidth
#'   for each, in the order of the columns, which are the first start or, for `bandwidth.compute = FALSE`, the
#'   bandwidths. A bandwidth object decides on kernel, regression, criterion and scale, as in \pkg{np}, and for
#'   `bandwidth.compute = FALSE` is the bandwidth.
#' @param bandwidth.compute FALSE to take the single bandwidth `bws` as it is and compute only its objective.
#' @param regtype `"lc"`, local constant (Nadaraya-Watson), or `"ll"`, local linear.
#' @param bwmethod the objective, `"cv.ls"` (least squares) or `"cv.aic"` (the corrected AIC of Hurvich, Simonoff & Tsai
#'   1998).
#' @param bwtype `"fixed"` for one bandwidth, or `"generalized_nn"` or `"adaptive_nn"` for distances to the k-th nearest
#'   neighbour; `bws` is then k, for several regressors one for each number, and lambda for factors. See the section on
#'   nearest neighbours.
#' @param ckertype the kernel.
#' @param ckerorder the order of the Gaussian or the Epanechnikov kernel, 2, 4, 6 or 8. The other kernels are of order
#'   2; for the uniform kernel other orders have no effect. With an Epanechnikov kernel of order 4 or more the sums and
#'   the result are those for several regressors.
#' @param ukertype,okertype the kernels of factors and of ordered factors (see below).
#' @param nmulti the number of starts of the search with several regressors, by default their number, but at most 5.
#' @param bwscaling whether bandwidths, given and returned, are multiples of the spread of x (see below), and for
#'   factors of n^(-2/(2 P + p)), with P the order of the kernel and p the number of numeric regressors.
#' @param nbw,bwmin,bwmax the number of bandwidths in a grid, its first and its last.
#' @param bw.scale the meaning of all bandwidths, given and returned: see below.
#' @param unsupported `"reject"` bandwidths at which an observation has no neighbour, or `"exclude"` these observations.
#' @param period the period of the regressor, in its units, for dates in days or seconds: see Periods.
#' @param w weights, one for each observation, non-negative and not all zero. Rows of weight zero are left out, and
#'   others must have at least 1e-100 of the largest weight. An observation that is left out of its own fit is left out
#'   with its whole weight. So a weight of 3 stands for three copies in fits, but not in the objective. In the formula
#'   method `w` is an expression in the variables of `data`.
#' @param refine if TRUE, look for a better bandwidth between the two neighbours of the best one of a grid. If the
#'   best one is the first of the grid, the search goes down to the bandwidth at which observations lose their
#'   neighbours. The result is never worse than that of the grid. Without a grid the search does this in any case.
#' @param na.action what to do about rows with missing values: leave them out ([stats::na.omit]), with a message that
#'   counts them, the same with NA in their places in [fitted()] and [residuals()] of a fit ([stats::na.exclude]), or
#'   end in an error ([stats::na.fail]). As in \pkg{np}, the formula method asks `options(na.action=)`.
#' @param threads the number of threads. The default is [kestrel_threads()], which also describes the maximum.
#' @param backend where the objective is computed: `"auto"`, `"cpu"` or `"cuda"`, see [engines].
#' @param verbose if TRUE, show progress; if NULL, `options(kestrel.verbose=)` decides, or else interactive sessions
#'   show it after a second.
#' @param ... arguments of the methods. The default method also takes the arguments of \pkg{np}'s search (`itmax`, ...),
#'   which have no effect here, and `ckerbound = "none"` and `nomad = FALSE`. With one numeric
#'   regressor `nmulti`, `ukertype` and `okertype` have none, either.
#' @return An object of class `c("kestrel_regbw", "rbandwidth")`, a list with
#'   \item{bw}{the bandwidth, in the units of x and on the scales of `bw.scale` and `bwscaling`, or the number of
#'     neighbours}
#'   \item{type}{`bwtype`}
#'   \item{h}{the bandwidth as half the width of the support (for the Gaussian kernel the standard deviation); the
#'     number of neighbours}
#'   \item{fval}{the objective at the bandwidth}
#'   \item{bandwidth, sfactor}{lists whose entry `x` is the bandwidth without and with the scaling by the spread of x}
#'   \item{sdev, nconfac}{that spread, and the power of n}
#'   \item{search}{`"global"`, `"grid"`, or `"none"` for a bandwidth that was given}
#'   \item{grid, cv}{the bandwidths of the scan or the grid, increasing, and the objective at each; NA where no
#'     observation has a neighbour}
#'   \item{n.unsupported}{how many observations have no neighbour, for each of them}
#'   \item{ties}{the bandwidths of a grid that share the smallest objective, when there are several}
#'   \item{remarks}{the messages about the bandwidth: that few observations decide it, that it is infinite, or that no
#'     fit reaches from one value of x to the next}
#'   \item{method, regtype, ckertype, ckerorder, bw.scale, scaling, unsupported}{as asked for}
#'   \item{nobs}{the number of observations of positive weight}
#'   \item{x, y, w}{the data as used, the weights rescaled to sum to `nobs`; dates in `x` as numbers}
#'   \item{dates}{the first date of the data if the regressor is a date}
#'   \item{period}{as given, if the regressor has one; `x` is then within one period}
#'   \item{xnames, ynames}{the names of the variables}
#'   \item{na.action, rows.omit, nobs.omit}{the rows left out, if any, their numbers, and how many}
#'   \item{evaluations, seconds, engine, backend, device, call}{how the bandwidth was found. The engine is `"sweep"`, on
#'     a GPU `"blocks"`, or for the Gaussian kernel `"nodes"`, on a GPU
#'     `"direct"`, as with neighbours. The device is the name of the GPU, if one was used}
#'   and `ndim`, `ncon`, `nuno` and `nord`, the numbers of regressors as in \pkg{np}, and `formula` and `terms` from a
#'   formula. With several regressors, or a factor, the class is `c("kestrel_mixed_bw", "kestrel_regbw", "rbandwidth")`.
#'   Then `bw` and the entries of `bandwidth` and `sfactor` have a number for each regressor, and `x` is a data frame,
#'   in which dates keep their class. There are no `h`, `grid`, `cv`, `ties` and `bw.scale`. `n.unsupported` is one
#'   number. There are also
#'   \item{icon, iuno, iord}{which regressors are numbers, factors and ordered factors}
#'   \item{sdev, nconfac, ncatfac}{the spread of each number, and the powers of n for numbers and for factors}
#'   \item{ifval, fval.history, starts}{which start led to the least minimum, the objective that each start reached, and
#'     the bandwidths there, a row for each}
#'   \item{num.feval}{the number of evaluations}
#'   \item{n.ridged}{how many local linear fits had a direction without a slope of their own}
#'   \item{ukertype, okertype}{as asked for}
#'
#'   The fields `bw`, `regtype`, `ckertype` and `ckerorder` may be edited: `bw$bw <- 4` makes [npreg()],
#'   [predict()] and plots use this bandwidth.
#' @references Fan, J. & Gijbels, I. (1996) *Local Polynomial Modelling and Its Applications*. Chapman & Hall.
#'
#'   Hurvich, C.M., Simonoff, J.S. & Tsai, C.-L. (1998) Smoothing parameter selection in nonparametric regression using
#'   an improved Akaike information criterion. *Journal of the Royal Statistical Society B* **60**, 271-293.
#'
#'   Li, Q. & Racine, J.S. (2007) *Nonparametric Econometrics*. Princeton University Press, ch. 2.
#'
#'   Mardia, K.V. & Jupp, P.E. (2000) *Directional Statistics*. Wiley.
#'
#'   Nadaraya, E.A. (1964) On estimating regression. *Theory of Probability and Its Applications* **9**, 141-142.
#'
#'   Racine, J. & Li, Q. (2004) Nonparametric estimation of regression functions with both categorical and continuous
#'   data. *Journal of Econometrics* **119**, 99-130.
#'
#'   Racine, J.S., Li, Q. & Yan, K.X. (2020) Kernel smoothed probability mass functions for ordered datatypes. *Journal
#'   of Nonparametric Statistics* **32**, 563-586.
#'
#'   Rohlfs, C. & Zahran, M. (2017) Optimal bandwidth selection for kernel regression using a fast grid search and a
#'   GPU. *IEEE International Parallel and Distributed Processing Symposium Workshops*, 550-556.
#'
#'   Watson, G.S. (1964) Smooth regression analysis. *Sankhya A* **26**, 359-372.
#' @seealso [npreg()] for the fit, [plot.kestrel_regbw()] for its plot and that of the curve.
#' @examples
#' bw <- npregbw(dist ~ speed, data = cars)
#' bw
#' plot(bw)
#' plot(bw, what = "cv")
#'
#' # local linear, by AICc
#' npregbw(xdat = faithful$eruptions, ydat = faithful$waiting, regtype = "ll", bwmethod = "cv.aic")
#'
#' # bandwidths that follow the density of the observations
#' npregbw(dist ~ speed, data = cars, regtype = "ll", bwtype = "generalized_nn")
#' # a sketch, of parts that need not be in memory together
#' plan <- sketch_plan(faithful, column = "eruptions", y = "waiting", hmin = 0.3)
#' npregbw(kde_sketch(faithful, plan))
#' # numbers, a factor and an ordered factor
#' npregbw(mpg ~ wt + factor(cyl) + ordered(gear), data = mtcars)
#'
#' # the temperature in the course of the year
#' month <- rep(1:12, 20)
#' npregbw(as.vector(nottem) ~ month, period = 12)
#'
#' # the grid of Rohlfs & Zahran
#' npregbw(dist ~ speed, data = cars, ckertype = "epanechnikov", bw.scale = "support", nbw = 50)
#' @export
npregbw <- function(...) {
  UseMethod("npregbw", dispatched_on(..., .called = "npregbw", .known = npregbw_arguments(),
                                     .classes = list(formula = "formula", xdat = "kestrel_sketch")))
}

npregbw_arguments <- function() {
  c(names(formals(npregbw.formula)), names(formals(npregbw.default)), np_search_arguments, names(np_fixed_arguments))
}

#' @rdname npregbw
#' @export
npregbw.formula <- function(formula, data = NULL, subset, na.action = getOption("na.action"), ..., w = NULL) {
  call <- called_as(quote(npregbw), match.call())
  # A list or data frame without another class, whose methods may fail.
  data <- if (is_frame(data)) structure(data, class = "data.frame") else without_class(data)
  check_formula(formula, data)
  wanted <- match.call(expand.dots = FALSE)
  wanted <- wanted[c(1L, match(c("formula", "data", "subset", "w"), names(wanted), nomatch = 0L))]
  wanted[[1L]] <- quote(stats::model.frame)
  if (!is.null(data)) wanted$data <- data
  wanted$na.action <- quote(stats::na.pass)
  frame <- try_formula(eval(wanted, parent.frame()))
  check_named("npregbw", given_names(...), "na.action")
  bw <- npregbw.default(frame[regressors_of(attr(frame, "terms"))], frame[1L], w = frame[["(w)"]],
                        na.action = na.action, ...)
  bw$terms <- attr(frame, "terms")
  bw$formula <- stats::formula(bw$terms)
  bw$call <- call
  bw
}

#' @rdname npregbw
#' @export
npregbw.default <- function(xdat, ydat, bws = NULL, bandwidth.compute = TRUE, ..., regtype = c("lc", "ll"),
                            bwmethod = c("cv.ls", "cv.aic"), bwtype = c("fixed", "generalized_nn", "adaptive_nn"),
                            ckertype = "gaussian", ckerorder = 2,
                            ukertype = c("aitchisonaitken", "liracine"),
                            okertype = c("liracine", "wangvanryzin", "racineliyan"), bwscaling = FALSE, nmulti = NULL,
                            nbw = NULL, bwmin = NULL, bwmax = NULL, bw.scale = c("np", "support"),
                            unsupported = c("reject", "exclude"), refine = FALSE, period = NULL, w = NULL,
                            na.action = stats::na.omit, backend = "auto", threads = NULL, verbose = NULL) {
  started <- proc.time()[["elapsed"]]
  check_named("npregbw", given_names(...), "bandwidth.compute")
  if (inherits(bws, "kestrel_regbw")) {
    here <- environment()
    check_weighted_object(bws, w)
    list2env(choices_of(bws, mget(intersect(chosen_by(bws), names(match.call())), here)), here)
    bws <- if (check_flag(bandwidth.compute, "bandwidth.compute") && is.null(added_by_fit(...))) NULL else bws$bw
  }
  several <- !missing(xdat) && is_mixed(xdat)
  # These sums are those of several regressors.
  higher <- identical(ckertype, "epanechnikov") && !identical(check_order(ckerorder, ckertype), 2)
  mixed <- several || !missing(xdat) && higher
  check_np_arguments(..., .named = names(match.call()), .mixed = mixed)
  needed <- added_by_fit(...)
  asked <- list(regtype = check_choice(regtype, c("lc", "ll"), "regtype"),
                method = check_choice(bwmethod, c("cv.ls", "cv.aic"), "bwmethod"),
                ckertype = check_choice(ckertype, if (mixed) kernel_names() else regression_kernels(), "ckertype"),
                bw.scale = check_choice(bw.scale, c("np", "support"), "bw.scale"),
                unsupported = check_choice(unsupported, c("reject", "exclude"), "unsupported"),
                scaling = check_flag(bwscaling, "bwscaling"), type = check_choice(bwtype, bandwidth_types, "bwtype"))
  asked$ckerorder <- check_order(ckerorder, asked$ckertype)
  refine <- check_flag(refine, "refine")
  verbose <- asked_verbose(verbose)
  given <- list(bws = bws, nbw = nbw, bwmin = bwmin, bwmax = bwmax)
  given$fixed <- !check_flag(bandwidth.compute, "bandwidth.compute") ||
    !is.null(needed) && (mixed && !is.null(bws) || length(plain(bws)) == 1L)
  y <- if (!missing(ydat)) ydat
  if (mixed) {
    refuse_for_mixed(c(given[c("nbw", "bwmin", "bwmax")], refine = if (refine) TRUE, list(period = period)), asked,
                     several)
    if (is_nearest(asked)) check_nearest_arguments(asked, given)
    asked <- c(asked[names(asked) != "bw.scale"],
               ukertype = check_choice(ukertype, c("aitchisonaitken", "liracine"), "ukertype"),
               okertype = check_choice(okertype, c("liracine", "wangvanryzin", "racineliyan"), "okertype"))
    bw <- mixed_regbw(xdat, y, w, asked, c(given, list(nmulti = nmulti)), na.action,
                      run_options(threads, backend, cuda = TRUE), verbose)
  } else {
    if (!is.null(period)) period <- check_regression_period(period, asked)
    bw <- single_regbw(if (!missing(xdat)) xdat, y, asked, given, refine, w, na.action,
                       run_options(threads, backend, cuda = is.null(period)), verbose, needed, period)
  }
  call <- called_as(quote(npregbw), match.call())
  call$.needed <- NULL
  structure(c(bw, list(rows.omit = as.vector(bw$na.action), nobs.omit = length(bw$na.action), call = call,
                       seconds = proc.time()[["elapsed"]] - started)),
            class = c(if (mixed) "kestrel_mixed_bw", "kestrel_regbw", "rbandwidth"))
}
