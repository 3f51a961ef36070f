// R to the CUDA object: information about it, and its problems in R's words.
#include <algorithm>
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

/// The first device that is used, and all that there are; or the problem: a list either way.
/// `devices`: the option kestrel.devices.
// [[Rcpp::export]]
SEXP cuda_devices_cpp(SEXP devices) {
  set_gpu_devices(device_numbers(devices));
  return or_problem([&] {
    const auto capability = [](const kestrel_gpu_device& of) {
      return std::to_string(of.major) + "." + std::to_string(of.minor);
    };
    const std::vector<FoundDevice> all = find_gpu_devices();
    const std::vector<int> used = gpu_devices();
    Rcpp::CharacterVector names, capabilities, reasons;
    Rcpp::NumericVector memory;
    Rcpp::IntegerVector multiprocessors;
    Rcpp::LogicalVector is_used;
    for (std::size_t k = 0; k < all.size(); ++k) {
      names.push_back(all[k].device.name);
      memory.push_back(all[k].device.memory);
      multiprocessors.push_back(all[k].device.multiprocessors);
      capabilities.push_back(capability(all[k].device));
      is_used.push_back(std::find(used.begin(), used.end(), static_cast<int>(k)) != used.end());
      reasons.push_back(all[k].problem);
    }
    const kestrel_gpu_device& first = gpu_device();
    return Rcpp::List::create(
        Rcpp::Named("device") = std::string(first.name), Rcpp::Named("memory") = first.memory,
        Rcpp::Named("multiprocessors") = first.multiprocessors,
        Rcpp::Named("capability") = capability(first),
        Rcpp::Named("driver") =
            std::to_string(first.driver / 1000) + "." + std::to_string(first.driver % 1000 / 10),
        Rcpp::Named("devices") =
            Rcpp::List::create(Rcpp::Named("device") = names, Rcpp::Named("memory") = memory,
                               Rcpp::Named("multiprocessors") = multiprocessors,
                               Rcpp::Named("capability") = capabilities,
                               Rcpp::Named("used") = is_used, Rcpp::Named("reason") = reasons));
  });
}
