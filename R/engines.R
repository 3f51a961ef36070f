#' Engines: how kernel sums are computed
#'
#' An engine is an algorithm for kernel sums, sum_j w_j K_H(x - x_j). All engines compute the same sum to the same
#' accuracy. Each of them is fast for some kernels, dimensions and points. With `engine = "auto"`, the default, the
#' fastest one is used, so that few users need to choose. This page describes the engines and the arguments `engine`,
#' `tol`, `threads`, `backend` and `precision`, which many functions share.
#'
#' @section The engines:
#' With n observations, m points and d variables:
#'
#' | engine | kernels | d | points | time |
#' |---|---|---|---|---|
#' | `"direct"` | all | any | any | O(n m d) |
#' | `"kdtree"` | compact | any | any | O((n + m) log(n + m)), and O(d) for each near pair |
#' | `"sweep"` | polynomial | 1 | any | O((n + m) log n) |
#' | `"fgt"` | Gaussian | 1 | any | O(n + m) |
#' | `"fourier"` | Gaussian | 2, 3 | any | O(n + m) and a Fourier grid |
#' | `"scanline"` | compact | 1 to 6 | regular grid | O(rows crossed + m) |
#'
#' A compact kernel is zero beyond the bandwidth: all kernels except the Gaussian are compact. The polynomial kernels
#' are uniform, triangular, epanechnikov, biweight, triweight and tricube.
#'
#' - `"direct"` adds the kernel of every observation at every point.
#' - `"kdtree"` puts observations and points into trees, and compares only those that are near each other.
#' - `"sweep"` sums over windows of the sorted observations.
#' - `"fgt"`, the fast Gauss transform, expands the Gaussian kernel in cells.
#' - `"fourier"` uses fast Fourier transforms on a grid of at most 1 GB.
#' - `"scanline"` adds each observation to the points that it reaches, row by row, in exact integers (S-KDE,
#'   Lopez-Novoa 2015, ch. 6). It needs a grid with equal steps of at most 256 bandwidths, and at most 2^27 points on
#'   each axis.
#'
#' @section Which engine is chosen:
#' For densities `"auto"` estimates the time of each engine that takes the task, on one thread, and its memory. It
#' chooses the fastest one that fits. The choice depends on n, m, d, the kernel, the grid and the spread of the data in
#' bandwidths. It does not depend on the number of threads. If you name an engine, it is used. If it does not take the
#' task, an error says which tasks it takes. The field `engine` of a result names the engine that was used, and
#' `kde(verbose = TRUE)` names it before the computation.
#'
#' The selectors of bandwidth matrices use `"fourier"` or `"direct"`. `"fourier"` is for two and three variables, and
#' `"auto"` uses it there unless there are few observations. For more than 16 variables \code{\link{Hlscv}()} and
#' \code{\link{Hscv}()} use `"direct"` only if you ask for it, by this name or by `backend = "cuda"`. The plug-in
#' selectors, the selectors in one dimension, [lscv()], [psi()] and the regressions have no argument `engine`. They
#' choose the engine themselves.
#'
#' @section The argument tol:
#' `tol` is the error that a density may have, relative to the largest value of the estimate. The default is 1e-12. A
#' larger `tol` makes Fourier transforms shorter. All other engines keep to 1e-12 for any `tol`. `tol` does not affect
#' the selection of bandwidths. There are these exceptions:
#'
#' - If `tol` is below 1e-13, `"fourier"` has an error of up to 1e-13.
#' - If the data or the points extend b > 2,500 bandwidths from the middle of the data, rounding gives `"fourier"` an
#'   error of up to 4e-16 b. `"auto"` does not use it then if this is more than `tol`. An error of more than 0.01 is
#'   refused.
#' - `"fourier"` computes values below 100 `tol` of the largest once more, with an error of at most 1 per cent of the
#'   value.
#' - `"fgt"` may give zero at points more than 8 bandwidths from all data, where `"direct"` still has correct digits.
#'
#' @section The argument threads:
#' `threads` is the number of threads. The default is [kestrel_threads()], which also describes the maximum. The result
#' has the same bits for any number of threads.
#'
#' @section The argument backend:
#' - `"cpu"` never uses a GPU.
#' - `"cuda"` uses an NVIDIA GPU. If that is not possible, there is an error of class `kestrel_error_backend`, and
#'   [kestrel_info()] says why. On a GPU the engine is `"direct"`, or `"scanline"` for densities with a compact
#'   kernel on a grid with equal steps, unless the kernel is so wide that direct sums are faster. Derivatives of
#'   densities ([kdde()]) use `"direct"`. Regressions use sums over blocks of sorted observations (`"blocks"`), except
#'   with the Gaussian kernel and with several regressors.
#'   With several GPUs a call uses all of them, or those of `options(kestrel.devices = )`, see [kestrel_info()]. Points,
#'   rows of pairs, bandwidths and slabs of grids are then cut into pieces, and any GPU takes any piece. A grid stays
#'   on one GPU if the threads of the host take longer to copy its values than that GPU to compute them. If a GPU fails
#'   or has too little memory, the others take its pieces. If it was the last one, there is the error.
#' - `"auto"`, the default, uses a GPU if there is one, if the CPU would take a second or more, and if the GPU is
#'   expected to be at least twice as fast. The selectors of matrices use a GPU only with the engine `"direct"`. In one
#'   dimension the selectors, [lscv()] and [psi()] use the CPU, because their engines take time in proportion to n. If
#'   the GPU fails, the CPU takes over, with one message in a session for each kind of problem.
#'
#' The time of the CPU depends on the number of threads, so the choice of device may depend on it, too. The bits of a
#' result on the same device do not. They do not depend on the number of GPUs either, if these are of one kind. In
#' double precision the results of a GPU differ from those of the CPU by at most 1e-12 of the largest value for
#' densities. For sums over pairs they differ by at most 1e-12 of the sum of the absolute values of the terms. If
#' [kde()] selects the bandwidth, it does so with `"auto"`, even for `backend = "cuda"`.
#'
#' @section The argument precision:
#' `"double"` is the default. `"single"` lets a GPU compute kernel values in single precision. The CPU always computes
#' in double.
#'
#' - Densities then have an error of at most 1e-5 of the largest value that the estimate has anywhere. Where the density
#'   is below about 1e-30 of one observation's value at its own position, the result may be zero. The uniform kernel,
#'   points that are too scattered and the engine `"scanline"` are computed in double anyway. The field `precision` of
#'   the result has the precision that was used.
#' - Sums over pairs add their terms in double, and have an error of at most 1e-5 of the sum of the absolute values of
#'   their terms. This changes the bandwidth of [hpi()] by about a fifth of that.
#'
#' @section Limits of a GPU: A GPU computes sums over pairs of at most 128 columns, and for \code{\link{Hpi}()} and the
#' pilot `"samse"` of at most 32. In several dimensions the observations must lie within 512 bandwidths of the middle of
#' each column's range. For \code{\link{Hpi}()} these are the pilot bandwidths. The limit is lower with more than 28
#' columns (480 bandwidths with 32 columns, 224 with 128), and if H is strongly correlated. With `"cuda"` it is an error
#' if a search meets a matrix H that is too narrow for this limit. With `"auto"` the CPU then takes over for the rest of
#' the selection, with a message. In one dimension there is a limit only in single precision, 1e7 times the smallest
#' bandwidth.
#'
#' Of mixed data, such as several regressors, a GPU takes one to six numeric columns, eight factors and 512 combinations
#' of their levels, with fixed bandwidths.
#'
#' @section What a GPU computes:
#' \tabular{lll}{
#'    \tab on a GPU \tab on the CPU only \cr
#'   [kde()], [kde_stream()] \tab all kernels by direct sums; compact kernels on grids by `"scanline"`
#'   \tab sources in chunks, sketches, other engines \cr
#'   [kde.sp()], [kde.balloon()] \tab all kernels by direct sums \tab other engines \cr
#'   [kdde()] \tab derivatives by direct sums \tab `"fourier"` \cr
#'   selectors of [kde()], [lscv()], [psi()] \tab sums over pairs, and gradients by matrices
#'   \tab bounds, periods, sketches, the bootstrap \cr
#'   [npregbw()], one number \tab curves of cross-validation
#'   \tab fits, kernels of higher order, neighbours, periods \cr
#'   [npregbw()], [npreg()], several columns \tab criteria, fits and standard errors
#'   \tab gradients; local lines by kernels of higher order; neighbours \cr
#'   [npudensbw()], [npudens()] \tab criteria, densities and standard errors \tab the normal reference \cr
#'   [npcdensbw()], [npcdens()] \tab `"cv.ml"` \tab `"cv.ls"`, densities \cr
#' }
#'
#' Everything else is computed on the CPU, such as distribution functions, bands, tests, queries and scores.
#'
#' @section Errors: Errors of class `kestrel_error_input` are for an unknown engine or one that does not take the task.
#'   Errors of class `kestrel_error_backend` are for a backend that this build or machine lacks, or that does not take
#'   the task. Errors of class `kestrel_error_memory` are for a Fourier grid of more than 1 GB if you asked for
#'   `"fourier"`, and for a GPU that you asked for and that has too little memory.
#'
#' @section Cost: The engines use all threads. These are their times on one thread, and the memory of a GPU:
#'
#'   - In one dimension an estimate takes at most about 0.2 microseconds for each observation and each point.
#'   - `"fourier"` takes at most about 0.2 (d = 2) or 1.3 (d = 3) microseconds for each observation, and 0.2 or 1 for
#'     each point. For each cell of the Fourier grid it takes 0.05 microseconds. The cells are about 0.3 bandwidths
#'     wide.
#'   - `"scanline"` takes about 0.1 microseconds for each observation and 5 nanoseconds for each point of the grid. With
#'     the radial Epanechnikov kernel it takes 0.02 microseconds for each row of the grid that a kernel crosses. With
#'     other kernels it takes 0.02 microseconds for every eight points that a kernel covers. Its memory holds the
#'     estimate and a sorted copy of the data.
#'   - For direct sums a GPU needs at most 2 GiB of its own memory, and 24 d + 16 bytes for each of at most a million
#'     points at a time. For `"scanline"` it needs 8 bytes for each coordinate and weight, 32 MiB, and 256 MiB for
#'     values. It needs more if the values at one index of the last axis take more, or if the runs lie along that axis.
#'     An H200 takes 30 picoseconds for each row that a radial Epanechnikov kernel crosses. With other kernels it takes
#'     about 200 for each row and 5 for each point that a kernel covers.
#'   - For sums over pairs a GPU needs 16 d + 16 bytes for each observation and at most 128 MiB. Gradients add up to
#'     128 d bytes for each observation, and single precision adds 8 d + 4. For \code{\link{Hpi}()} the 128 MiB may
#'     become one number for each functional and each 128 observations.
#'
#' @references Barnett, A.H., Magland, J. & af Klinteberg, L. (2019) A parallel nonuniform fast Fourier transform
#'   library based on an "exponential of semicircle" kernel. *SIAM Journal on Scientific Computing* **41**, C479-C504.
#'
#'   Bentley, J.L. (1975) Multidimensional binary search trees used for associative searching. *Communications of the
#'   ACM* **18**, 509-517.
#'
#'   Greengard, L. & Strain, J. (1991) The fast Gauss transform. *SIAM Journal on Scientific and Statistical Computing*
#'   **12**, 79-94.
#'
#'   Lopez-Novoa, U. (2015) *Contributions to the Efficient Use of General Purpose Coprocessors: Kernel Density
#'   Estimation as Case Study*. PhD thesis, University of the Basque Country.
#' @seealso [kde()], [kestrel_info()], [kestrel_threads()]; `vignette("gpu", "kestrel")`
#' @examples
#' # two engines for one estimate
#' H <- Hpi(faithful)
#' direct <- kde(faithful, H = H, engine = "direct")
#' fourier <- kde(faithful, H = H, engine = "fourier")
#' max(abs(direct$estimate - fourier$estimate)) / max(direct$estimate)
#'
#' # the engine that is chosen
#' kde(faithful, H = H)$engine
#' kde(faithful, H = H, kernel = "epanechnikov")$engine
#' @name engines
NULL
