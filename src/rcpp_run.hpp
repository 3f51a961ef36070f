// How R wants a call to run: the list that run_options() of R/backend.R makes.
#ifndef KESTREL_RCPP_RUN_HPP
#define KESTREL_RCPP_RUN_HPP

#include <Rcpp.h>

#include <string>
#include <vector>

#include "core/base/run_options.hpp"
#include "gpu/gpu_use.hpp"
#include "rcpp_fields.hpp"

namespace kestrel {

/// A poll that lets Ctrl-C and setTimeLimit() through and then calls `progress` (NULL or an R
/// function of the fraction done). unwindProtect turns R's jump into a C++ exception, which
/// parallel_for carries out of the loop and with which Rcpp continues the jump at the boundary. The
/// usual way, R_ToplevelExec, would swallow time limits.
inline Poll r_poll(SEXP progress) {
  const bool reports = !Rf_isNull(progress);
  const Rcpp::RObject function = progress;
  return [reports, function](double fraction) {
    Rcpp::unwindProtect([]() -> SEXP {
      R_CheckUserInterrupt();
      return R_NilValue;
    });
    if (reports) Rcpp::Function(SEXP(function))(fraction);
  };
}

/// The options of a pass over data that needs no run of its own.
inline ParallelOptions polled() { return {0, r_poll(R_NilValue)}; }

inline const simd::Table& table_of(const std::string& isa) {
  const simd::Table* table = simd::find_table(isa.c_str());
  if (table == nullptr) {
    throw error(ErrorKind::input, "this machine has no instruction set named " + isa);
  }
  return *table;
}

/// The options of the core, and what a user asked for.
struct Run : RunOptions {
  Backend backend = Backend::cpu;
  bool single = false;          // whether a device may compute in single precision
  bool settled = false;         // a device was chosen before, and is not weighed again
  bool slabs = false;           // of a density: DensityRequest::slabs
  std::string engine = "auto";  // of a density
  double tolerance = 1e-12;     // of a density

  /// The place, CPU or device, of a task, or of several that stay together. A device that was
  /// chosen before is taken at once.
  GpuUse place() const;
};

/// What a result says of its place: the backend and, if it is one, the device.
inline Rcpp::List place_list(const GpuUse& use) {
  if (!use.on_device()) return Rcpp::List::create(Rcpp::Named("backend") = "cpu");
  return Rcpp::List::create(Rcpp::Named("backend") = "cuda", Rcpp::Named("device") = use.device());
}

inline Backend backend_of(const std::string& name) {
  if (name == "cuda") return Backend::cuda;
  return name == "cpu" ? Backend::cpu : Backend::automatic;
}

/// The option kestrel.devices: numbers from 1, or NULL for all.
inline std::vector<int> device_numbers(SEXP devices) {
  if (Rf_isNull(devices)) return {};
  std::vector<int> numbers = Rcpp::as<std::vector<int>>(devices);
  for (int& number : numbers) --number;
  return numbers;
}

inline Run unpack_run(const Rcpp::List& list) {
  const Fields fields(list, "a run",
                      {"backend", "threads", "isa", "precision", "progress", "engine", "tol",
                       "poll", "settled", "slabs", "devices"});
  Run run;
  run.table = &table_of(fields.get<std::string>("isa"));
  run.parallel.threads = fields.get<int>("threads");
  run.parallel.poll = r_poll(fields.optional("progress"));
  const SEXP poll = fields.optional("poll");
  set_poll_interval(Rf_isNull(poll) ? kPollInterval : Rcpp::as<double>(poll));
  set_gpu_devices(device_numbers(fields.optional("devices")));
  run.backend = backend_of(fields.get<std::string>("backend"));
  run.single = fields.get<std::string>("precision") == "single";
  run.settled = !Rf_isNull(fields.optional("settled"));
  run.slabs = !Rf_isNull(fields.optional("slabs"));
  if (!Rf_isNull(fields.optional("engine"))) run.engine = fields.get<std::string>("engine");
  if (!Rf_isNull(fields.optional("tol"))) run.tolerance = fields.get<double>("tol");
  return run;
}

/// The same without progress, for a small part of the work that the progress reports.
inline Run unpack_silent_run(const Rcpp::List& list) {
  Run run = unpack_run(list);
  run.parallel.poll = r_poll(R_NilValue);
  return run;
}

}  // namespace kestrel

#endif
