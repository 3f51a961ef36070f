// R to the CUDA object: information about it, and its problems in R's words.
#include <cmath>

#include "config.hpp"
#include "gpu/loader.hpp"
#include "rcpp_run.hpp"

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
// [[Rcpp::export(rng = false)]]
void cuda_object_cpp(std::string path) { set_gpu_object(path, KESTREL_CUDA_REASON); }

// [[Rcpp::export(rng = false)]]
bool cuda_built_cpp() { return KESTREL_HAVE_CUDA != 0; }

GpuUse Run::place() const {
  const Backend asked = backend;
  GpuUse use(asked, [asked](const gpu_error& problem) {
    const Rcpp::Environment package = Rcpp::Environment::namespace_env("kestrel");
    const Rcpp::Function tell = package["cuda_failed"];
    tell(asked == Backend::cuda, problem_list(problem));
  });
  if (settled) use.choose(HUGE_VAL, [](const kestrel_gpu_device&) { return 0.0; });
  return use;
}

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
