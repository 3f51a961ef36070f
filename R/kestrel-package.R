#' kestrel: kernel estimation, regression and bandwidth selection
#'
#' Kernel density estimates in any dimension and the bandwidths that they need, computed as exact kernel sums: no
#' binning and no interpolation stands between the data and the estimate. Functions, arguments and results follow
#' the conventions of package \pkg{ks}, so that a script written for it runs unchanged.
#'
#' Start with [kde()]; its bandwidths are in [hpi()], [hlscv()] and [hscv()] for one dimension and in [Hpi()] for
#' several. Regression with one regressor, in the conventions of package \pkg{np}: [npregbw()] and [npreg()]. Models are
#' compared with observations by [pdf_score()], at a bandwidth of [Hboot()]. [kestrel_info()] says what the machine
#' offers.
#'
#' @section Conditions:
#' Errors have the class `kestrel_error` and one that says what kind: `kestrel_error_input`, `kestrel_error_memory`,
#' `kestrel_error_backend`. Warnings have the class `kestrel_warning` and one of their own: `kestrel_warning_search`
#' (a search ended where its result is in doubt), `kestrel_warning_grid` (a grid that misses samples),
#' `kestrel_warning_support` (points without a neighbour), `kestrel_warning_bias` (a model whose means are off).
#'
#' @section Options:
#' \describe{
#'   \item{`kestrel.isa`}{instruction set of the kernel sums: `"auto"` (the default: the best that the processor has),
#'     `"scalar"`, `"sse2"`, `"avx2"` or `"avx512"`.}
#'   \item{`kestrel.memory_limit`}{the most memory, in bytes, that a grid of estimates may need. By default the
#'     memory that the machine has available.}
#' }
#' @keywords internal
#' @useDynLib kestrel, .registration = TRUE
#' @importFrom Rcpp evalCpp
#' @importFrom RcppParallel RcppParallelLibs
#' @importFrom stats fitted formula nobs predict residuals
"_PACKAGE"
