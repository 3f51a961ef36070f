// R to the CUDA object: information about it, densities at points and on grids, sums over pairs,
// cross-validation of regression.
#include "config.hpp"
#include "gpu/density.hpp"
#include "gpu/loader.hpp"
#include "gpu/pairs.hpp"
#include "gpu/regression.hpp"
#include "gpu/scanline.hpp"
#include "rcpp_density.hpp"
#include "rcpp_pairs.hpp"
#include "rcpp_regression.hpp"

using namespace kestrel;

namespace {

const char* name_of(GpuProblem problem) {
  switch (problem) {
    case GpuProblem::not_built: return "not_built";
    case GpuProblem::not_loaded: return "not_loaded";
    case GpuProblem::no_device: return "no_device";
    case GpuProblem::forked: return "forked";
    case GpuProblem::memory: return "memory";
    case GpuProblem::unsuited: return "unsuited";
    case GpuProblem::failed: return "failed";
  }
  return "failed";
}

Rcpp::List problem_list(const gpu_error& problem) {
  return Rcpp::List::create(Rcpp::Named("problem") = name_of(problem.problem),
                            Rcpp::Named("reason") = problem.what());
}

/// Returns whether the sums are in single precision.
bool device_sums(const Sample& data, const DensitySums& task, const std::string& engine,
                 const Run& how, Span<double> out) {
  if (engine != "scanline") {
    return gpu_density(data.x(), data.w(), task.at, task.kernel, task.root, how.single, how, out);
  }
  const std::vector<RegularAxis> axes = regular_axes(task.at);
  gpu_scanline_density(data.x(), data.w(), {axes.data(), axes.size()}, task.kernel, task.root, {},
                       how, out);
  return false;
}

/// The result of call(), or the problem.
template <class Call>
SEXP or_problem(const Call& call) {
  try {
    return Rcpp::wrap(call());
  } catch (const gpu_error& problem) {
    return problem_list(problem);
  }
}

}  // namespace

/// The file of the CUDA object, "" without one; called when R loads the package, and by tests.
// [[Rcpp::export]]
void cuda_object_cpp(std::string path) { set_gpu_object(path, KESTREL_CUDA_REASON); }

// [[Rcpp::export]]
bool cuda_built_cpp() { return KESTREL_HAVE_CUDA != 0; }

/// The device, or its problem: a list either way.
// [[Rcpp::export]]
SEXP cuda_device_cpp() {
  return or_problem([&] {
    const kestrel_gpu_device& device = gpu_device();
    return Rcpp::List::create(Rcpp::Named("device") = std::string(device.name),
                              Rcpp::Named("memory") = device.memory,
                              Rcpp::Named("multiprocessors") = device.multiprocessors,
                              Rcpp::Named("capability") =
                                  std::to_string(device.major) + "." + std::to_string(device.minor),
                              Rcpp::Named("driver") = std::to_string(device.driver / 1000) + "." +
                                                      std::to_string(device.driver % 1000 / 10));
  });
}

/// The sums of density_cpp() by "direct" or "scanline", on the device; the attribute `single` says
/// whether they are in single precision. Or the problem.
// [[Rcpp::export]]
SEXP density_cuda_cpp(SEXP sample, Rcpp::List task, std::string engine, Rcpp::List run) {
  const Sample& data = sample_of(sample);
  const DensitySums sums = unpack_density(task);
  const Run how = unpack_run(run);
  return or_problem([&] {
    Rcpp::NumericVector out = uninitialised(sums.at.size());
    const Span<double> values{out.begin(), sums.at.size()};
    out.attr("single") = device_sums(data, sums, engine, how, values);
    divide(values, sums.n, how.parallel);
    return out;
  });
}

/// The result of density_scanline_cpp(), on the device; or the problem.
// [[Rcpp::export]]
SEXP scanline_cuda_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  return or_problem([&] {
    return kept_runs<GpuScanline>(sample_of(sample), unpack_density(task), unpack_silent_run(run));
  });
}

/// The result of density_slab_cpp(), or the problem.
// [[Rcpp::export]]
SEXP slab_cuda_cpp(SEXP runs, double first, double count, double n, Rcpp::List run) {
  return or_problem([&] {
    return slab_values(*Rcpp::XPtr<GpuScanline>(runs), first, count, n, unpack_silent_run(run));
  });
}

/// Frees the memory of scanline_cuda_cpp() on the device: R's garbage collector does not know about
/// that memory and may come late. No slab can be computed afterwards.
// [[Rcpp::export]]
void close_scanline_cuda_cpp(SEXP runs) { Rcpp::XPtr<GpuScanline>(runs).release(); }

/// The result of direct_lscv_cpp(), or the problem.
// [[Rcpp::export]]
SEXP lscv_cuda_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  const Sample& data = sample_of(sample);
  const MatrixSums sums = unpack_matrix_sums(task);
  return or_problem([&] {
    return lscv_list(
        gpu_lscv(data.x(), data.w(), entries(sums.root), sums.moments, unpack_run(run)), data.d());
  });
}

/// The sums of direct_lscv_curve_cpp(), or the problem.
// [[Rcpp::export]]
SEXP lscv_curve_cuda_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  const Sample& data = sample_of(sample);
  const CurveSums sums = unpack_curve_sums(task);
  const Run how = unpack_run(run);
  return or_problem([&] {
    return curve_matrix(
        gpu_lscv_curve(data.x(), data.w(), entries(sums.root), view(sums.h), how.single, how));
  });
}

/// The sums of pair_laplacian_cpp(), or the problem.
// [[Rcpp::export]]
SEXP pair_laplacian_cuda_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  const Sample& data = sample_of(sample);
  const DerivativeSums sums = unpack_derivative_sums(task);
  const Run how = unpack_run(run);
  return or_problem([&] {
    Rcpp::NumericVector out(sums.g.size());
    for (R_xlen_t k = 0; k < sums.g.size(); ++k) {
      out[k] = gpu_pair_laplacian(data.x(), data.w(), sums.g[k], sums.order, how.single, how);
    }
    return out;
  });
}

/// The sums of pair_moments_cpp(), or the problem.
// [[Rcpp::export]]
SEXP pair_moments_cuda_cpp(SEXP sample, Rcpp::List task, Rcpp::List run) {
  const Sample& data = sample_of(sample);
  const DerivativeSums sums = unpack_derivative_sums(task);
  return or_problem([&] {
    return named_moments(
        gpu_pair_moments(data.x(), data.w(), sums.bandwidth(), sums.order, unpack_run(run)),
        data.d(), sums.order);
  });
}

/// The result of regression_cv_cpp(), or the problem.
// [[Rcpp::export]]
SEXP regression_cv_cuda_cpp(Rcpp::List sample, Rcpp::List task, Rcpp::List run) {
  const Observations data = unpack_observations(sample);
  const LocalFits fits = unpack_local_fits(task);
  return or_problem([&] {
    return curve_list(gpu_cross_validate(data.views, view(fits.h), fits.kernel, fits.local_linear,
                                         unpack_run(run)));
  });
}
