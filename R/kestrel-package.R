#' kestrel: kernel estimation, regression and bandwidth selection
#'
#' Kernel density estimates in any dimension and the bandwidths that they need, computed as exact kernel sums: no
#' binning and no interpolation stands between the data and the estimate. Functions, arguments and results follow
#' the conventions of package \pkg{ks}, so that a script written for it runs unchanged.
#'
#' Start with [kde()]; bandwidths are in [hpi()] and [Hpi()]; [kestrel_info()] says what the machine offers.
#'
#' @section Options:
#' \describe{
#'   \item{`kestrel.isa`}{instruction set of the kernel sums: `"auto"` (the default: the best that the processor has),
#'     `"scalar"`, `"sse2"`, `"avx2"` or `"avx512"`.}
#'   \item{`kestrel.memory_limit`}{the most memory, in bytes, that a grid may need. By default the memory that the
#'     machine has available.}
#' }
#' @keywords internal
#' @useDynLib kestrel, .registration = TRUE
#' @importFrom Rcpp evalCpp
#' @importFrom RcppParallel RcppParallelLibs
"_PACKAGE"
