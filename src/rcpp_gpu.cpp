// R to the CUDA object: what there is of it, densities at points and on grids, sums over pairs,
// cross-validation of regression.
#include "config.hpp"
#include "gpu/density.hpp"
#include "gpu/loader.hpp"
#include "gpu/pairs.hpp"
#include "gpu/regression.hpp"
#include "gpu/scanline.hpp"
#include "rcpp_pairs.hpp"
#include "rcpp_points.hpp"
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

/// What call() returns, or the problem.
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

/// The device, or the problem that it has: a list either way.
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

/// The sums of density_points_cpp() or density_grid_cpp(), on the device, with the attribute
/// `single`: whether they are those of single precision; or the problem.
// [[Rcpp::export]]
SEXP density_cuda_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w, Rcpp::NumericMatrix points,
                      Rcpp::List axes, Rcpp::NumericMatrix root, std::string kernel, bool product,
                      bool single, std::string isa, Rcpp::Nullable<Rcpp::Function> progress) {
  const KeptPoints kept(points, axes);
  return or_problem([&] {
    Rcpp::NumericVector out = uninitialised(kept.at.size());
    out.attr("single") =
        gpu_density(view(x), view(w), kept.at, choice(kernel, product), entries(root), single,
                    options(1, isa, progress), {out.begin(), kept.at.size()});
    return out;
  });
}

/// What density_scanline_cpp() returns, on the device; or the problem.
// [[Rcpp::export]]
SEXP scanline_cuda_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w, Rcpp::List axes,
                       Rcpp::NumericMatrix root, std::string kernel, bool product, int threads,
                       std::string isa) {
  return or_problem([&] {
    return kept_runs<GpuScanline>(x, w, axes, root, choice(kernel, product),
                                  options(threads, isa, R_NilValue));
  });
}

/// What density_slab_cpp() returns, or the problem.
// [[Rcpp::export]]
SEXP slab_cuda_cpp(SEXP runs, double first, double count, int threads, std::string isa) {
  return or_problem([&] {
    return slab_values(*Rcpp::XPtr<GpuScanline>(runs), first, count,
                       options(threads, isa, R_NilValue));
  });
}

/// Gives back what the device holds of scanline_cuda_cpp(): R's garbage collector, which knows
/// nothing of that memory, may come late. No slab can be had afterwards.
// [[Rcpp::export]]
void close_scanline_cuda_cpp(SEXP runs) { Rcpp::XPtr<GpuScanline>(runs).release(); }

/// The sums of density_grid_cpp() with the engine "scanline", on the device; or the problem.
// [[Rcpp::export]]
SEXP density_scanline_cuda_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w, Rcpp::List axes,
                               Rcpp::NumericMatrix root, std::string kernel, bool product,
                               int threads, std::string isa,
                               Rcpp::Nullable<Rcpp::Function> progress) {
  const KeptPoints kept(axes);
  return or_problem([&] {
    Rcpp::NumericVector out = uninitialised(kept.at.size());
    const std::vector<RegularAxis> regular = regular_axes(kept.at);
    gpu_scanline_density(view(x), view(w), {regular.data(), regular.size()},
                         choice(kernel, product), entries(root), {},
                         options(threads, isa, progress), {out.begin(), kept.at.size()});
    return out;
  });
}

/// What direct_lscv_cpp() returns, or the problem.
// [[Rcpp::export]]
SEXP lscv_cuda_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w, Rcpp::NumericMatrix root,
                   bool moments, std::string isa, Rcpp::Nullable<Rcpp::Function> progress) {
  return or_problem([&] {
    const LscvPairSums sums =
        gpu_lscv(view(x), view(w), entries(root), moments, options(1, isa, progress));
    return lscv_list(sums, x.ncol());
  });
}

/// The sums of direct_lscv_curve_cpp(), or the problem.
// [[Rcpp::export]]
SEXP lscv_curve_cuda_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w, Rcpp::NumericMatrix root,
                         Rcpp::NumericVector h, bool single, std::string isa,
                         Rcpp::Nullable<Rcpp::Function> progress) {
  return or_problem([&] {
    return curve_matrix(gpu_lscv_curve(view(x), view(w), entries(root), view(h), single,
                                       options(1, isa, progress)));
  });
}

/// The sums of pair_psi_cpp() for a vector, or of pair_laplacian_cpp(), at every g; or the problem.
// [[Rcpp::export]]
SEXP pair_laplacian_cuda_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w, Rcpp::NumericVector g,
                             int order, bool single, std::string isa,
                             Rcpp::Nullable<Rcpp::Function> progress) {
  return or_problem([&] {
    Rcpp::NumericVector out(g.size());
    for (R_xlen_t k = 0; k < g.size(); ++k) {
      out[k] = gpu_pair_laplacian(view(x), view(w), g[k], order, single, options(1, isa, progress));
    }
    return out;
  });
}

/// The sums of pair_moments_cpp(), or the problem.
// [[Rcpp::export]]
SEXP pair_moments_cuda_cpp(Rcpp::NumericMatrix x, Rcpp::NumericVector w, double g, int order,
                           std::string isa, Rcpp::Nullable<Rcpp::Function> progress) {
  return or_problem([&] {
    return named_moments(gpu_pair_moments(view(x), view(w), g, order, options(1, isa, progress)),
                         x.ncol(), order);
  });
}

/// What regression_cv_cpp() returns, or the problem.
// [[Rcpp::export]]
SEXP regression_cv_cuda_cpp(Rcpp::NumericVector x, Rcpp::NumericVector y, Rcpp::NumericVector w,
                            Rcpp::NumericVector bandwidths, std::string kernel, bool local_linear,
                            std::string isa, Rcpp::Nullable<Rcpp::Function> progress) {
  return or_problem([&] {
    return curve_list(gpu_cross_validate(sample_of(x, y, w), view(bandwidths),
                                         kernel_of_name(kernel), local_linear,
                                         options(1, isa, progress)));
  });
}
