#' kestrel: kernel estimation, regression and bandwidth selection
#'
#' Kernel density estimates in any dimension and the bandwidths that they need, computed as exact kernel sums, without
#' binning or interpolation. Functions, arguments and results follow the conventions of package \pkg{ks}, so that
#' scripts that use these functions run unchanged.
#'
#' Start with [kde()]. [kestrel_info()] shows the instruction set, the threads and the GPU of the machine.
#'
#' @section Functions by task:
#' \describe{
#'   \item{Densities}{[kde()] and its [methods][kestrel_kde-methods] and [plots][plot.kestrel_kde], [dkde()], [pkde()],
#'     [qkde()], [rkde()], [marginal()]. Derivatives: [kdde()] and their [methods][kdde-methods], curvature: [kcurv()],
#'     clusters: [kms()], significant features: [kfs()], [sizer()], modes: [nmodes()], [bw.crit()], [modetest()],
#'     [modetree()], ridges: [kdr()], [kdr.segment()]. Bandwidths that vary: [kde.balloon()], [kde.sp()] and their
#'     [methods][kestrel_vkde-methods], [kde.boundary()], [kde.truncate()] and theirs ([methods][kestrel_bkde-methods]),
#'     [hbeta()]. Regions of highest density: [contourLevels()], [contourSizes()], [contourProbs()], [ksupp()].
#'     Histograms: [histde()], [binning()]. A page with a slider: [explore()]. Grids larger than memory:
#'     [kde_stream()]. Regressions of sorted rows in chunks: [npreg_stream()]. Files: [write_pdf()], [read_pdf()],
#'     [read_sample()].}
#'   \item{Distribution functions}{[kcde()] and its [methods][kestrel_kcde-methods], [kcopula()], [kroc()].}
#'   \item{Confidence bands}{of densities and distribution functions, [bands].}
#'   \item{Densities of mixed data}{of numbers and factors, [npudensbw()], [npudens()], and conditional ones,
#'     [npcdensbw()], [npcdens()], [npconmode()]; their [methods][kestrel_dens-methods] and [plots][plot.kestrel_dens].}
#'   \item{Distribution functions of mixed data}{of numbers and ordered factors, [npudistbw()], [npudist()], and
#'     conditional ones, [npcdistbw()], [npcdist()], whose methods are those of densities. [npquantile()] for
#'     quantiles; [npcopula()] for copulas; [npqreg()] for conditional quantiles, their [methods][kestrel_qreg-methods]
#'     and [plots][plot.kestrel_qreg].}
#'   \item{Kernel sums}{[npksum()] and its [methods][kestrel_ksum-methods].}
#'   \item{Bandwidths}{by a normal reference [hns()], \code{\link{Hns}()}, [Hns.diag()]; plug-in [hpi()],
#'     \code{\link{Hpi}()}, [Hpi.diag()], for distribution functions [hpi.kcde()], \code{\link{Hpi.kcde}()},
#'     [Hpi.diag.kcde()]; by least-squares cross-validation [hlscv()], \code{\link{Hlscv}()}, [Hlscv.diag()]; by
#'     smoothed cross-validation [hscv()], \code{\link{Hscv}()}, [Hscv.diag()]; by smoothed bootstrap [hboot()],
#'     \code{\link{Hboot}()} ([plot][plot.kestrel_boot]). Their [records][kestrel_record-methods], criteria and parts:
#'     [lscv()], [psi()], [vech()], [invvech()], [vec()], [invvec()], [matrix.sqrt()], [pre.sphere()], [pre.scale()].
#'     Other names of them: \code{\link{hucv}()}, \code{\link{Hucv}()}, [Hucv.diag()]. By biased cross-validation
#'     \code{\link{Hbcv}()}, [Hbcv.diag()]; with other references \code{\link{hnm}()}, \code{\link{Hnm}()},
#'     [Hnm.diag()], [hmise.mixt()], [hamise.mixt()], \code{\link{Hmise.mixt}()}, [Hmise.mixt.diag()],
#'     \code{\link{Hamise.mixt}()}, [Hamise.mixt.diag()], \code{\link{hns.kcde}()}, \code{\link{Hns.kcde}()}.}
#'   \item{Classes}{[kda()], \code{\link{Hkda}()}, [Hkda.diag()], \code{\link{hkda}()}, [compare()],
#'     [compare.kda.cv()], [compare.kda.diag.cv()].}
#'   \item{Mixtures}{[dnorm.mixt()], [rnorm.mixt()], [dmvnorm.mixt()], [rmvnorm.mixt()], [dmvt.mixt()],
#'     [rmvt.mixt()], [moments.mixt()], [plotmixt()]; errors of their estimates [mise.mixt()], [amise.mixt()],
#'     [ise.mixt()].}
#'   \item{Regression}{[npregbw()], [npreg()], their [methods][kestrel_reg-methods], such as [gradients()], and
#'     [plots][plot.kestrel_reg], [npplot()].}
#'   \item{Tests and semiparametric models}{tests of regressors [npsigtest()], of parametric models [npcmstest()],
#'     [npqcmstest()] and of densities [kde.test()], [kde.local.test()], [npdeneqtest()], [npunitest()], [npsymtest()],
#'     [npdeptest()], [npsdeptest()]; partially linear regressions [npplregbw()], [npplreg()]; single index models
#'     [npindexbw()], [npindex()]; smooth coefficients [npscoefbw()], [npscoef()].}
#'   \item{Evaluation of models}{[pdf_score()] and its [plot][plot.kestrel_score].}
#'   \item{Queries}{[kde_query()], [kde_join()], [kde_synopsis()] and [verbs of dplyr][synopsis-verbs] on one,
#'     [learn()], [refresh()], [q_error()].}
#'   \item{Sketches}{of more data than memory: [sketch_plan()], [kde_sketch()] and their
#'     [methods][kestrel_sketch-methods], [next_chunk()], [as_sketch()], [sketch_sql()].}
#'   \item{Tables}{every result as a [data frame][data-frames]; [tidy()][tidiers], glance() and augment(); the
#'     [parts][model-parts] that models have: nobs(), logLik(), formula(), model.frame().}
#'   \item{Groups and maps}{[densities by group][kde-groups] of data frames,
#'     [of tables in databases][kde-tables]; [maps]: points and polygons of sf, rasters
#'     of terra and stars; [kde_overlap()], [kde_risk()].}
#'   \item{ggplot2}{[stat_kestrel_density()], [stat_kestrel_density_2d()], [geom_kestrel_hdr()],
#'     [stat_kestrel_smooth()]; [autoplot()][ggplot-pictures] and autolayer().}
#'   \item{Session}{[kestrel_info()], [kestrel_threads()]; how sums are computed: [engines].}
#' }
#' @section Vignettes:
#' `browseVignettes("kestrel")` lists them in a browser; `vignette("kestrel")` shows the first.
#' \describe{
#'   \item{`kestrel`}{the first hour: the usual tasks one after another. Begin here.}
#'   \item{`density`}{a density from the data to contours, quantiles and draws.}
#'   \item{`regression`}{regression, and the bandwidths that it needs.}
#'   \item{`coming-from-ks-and-np`}{calls of those packages side by side, and what differs.}
#'   \item{`choosing-a-bandwidth`}{the selectors compared on known densities.}
#'   \item{`evaluating-a-model`}{models against observations: from a netCDF file to a ranked table.}
#'   \item{`space-use`}{points on maps: home ranges, their areas and overlap, boundaries.}
#'   \item{`approximate-answers`}{counts and means from a density instead of a scan, and their errors.}
#'   \item{`more-data-than-memory`}{bandwidths and densities from files, processes and databases, by sketches.}
#'   \item{`large-grids`}{compact kernels on millions of points.}
#'   \item{`gpu`}{how to use a GPU, what precision means, how fast it is.}
#' }
#' @section Conditions:
#' Errors have the class `kestrel_error` and one that says what kind: `kestrel_error_input`, `kestrel_error_memory`,
#' `kestrel_error_backend`. Warnings have the class `kestrel_warning` and one of these:
#'
#' - `kestrel_warning_search`: the result of a search is in doubt;
#' - `kestrel_warning_grid`: a grid misses samples;
#' - `kestrel_warning_rounding`: an estimate has fewer digits than promised;
#' - `kestrel_warning_support`: points have no neighbour;
#' - `kestrel_warning_bias`: the means of a model are off;
#' - `kestrel_warning_groups`: groups with too few observations were left out.
#'
#' @section Options:
#' \describe{
#'   \item{`kestrel.devices`}{the numbers of the GPUs that calls may use, as [kestrel_info()] lists them. By default
#'     they use all.}
#'   \item{`kestrel.isa`}{instruction set of the kernel sums: `"auto"` (the default: the best that the processor has),
#'     `"sse2"`, `"avx2"` or `"avx512"`, and on processors other than x86-64 `"scalar"`.}
#'   \item{`kestrel.memory_limit`}{the maximum memory, in bytes, that a grid of estimates may need. By default that is
#'     the available memory. On Linux this is the minimum of the machine's available memory and of the memory that the
#'     limits of the process (`ulimit -v`, `ulimit -d`) and of its control groups, such as containers, leave.}
#'   \item{`kestrel.poll`}{the minimum number of seconds between two polls of a long computation, 0.05 by default. A
#'     poll looks for Ctrl-C and time limits, and moves the progress bar.}
#' }
#' @references Wand, M.P. & Jones, M.C. (1995) *Kernel Smoothing*. Chapman & Hall.
#'
#'   Andrzejewski, W., Gramacki, A. & Gramacki, J. (2013) Graphics processing units in acceleration of bandwidth
#'   selection for kernel density estimation. *International Journal of Applied Mathematics and Computer Science*
#'   **23**, 869-885.
#'
#'   Rohlfs, C. & Zahran, M. (2017) Optimal bandwidth selection for kernel regression using a fast grid search and a
#'   GPU. *IEEE International Parallel and Distributed Processing Symposium Workshops*, 550-556.
#'
#'   Lopez-Novoa, U. (2015) *Contributions to the Efficient Use of General Purpose Coprocessors: Kernel Density
#'   Estimation as Case Study*. PhD thesis, University of the Basque Country.
#' @examples
#' fhat <- kde(faithful)
#' plot(fhat, drawpoints = TRUE)
#' plot(npreg(waiting ~ eruptions, data = faithful))
#' @useDynLib kestrel, .registration = TRUE
#' @importFrom Rcpp evalCpp
#' @importFrom graphics lines points
#' @importFrom stats coef fitted formula nobs predict residuals vcov
"_PACKAGE"
