// Lends RcppParallel's threads to the core, for machines whose compiler has no OpenMP (macOS).
// With OpenMP there is nothing to register.
#include <R_ext/Rdynload.h>

#include "config.hpp"
#if !KESTREL_HAVE_OPENMP
// Not RcppParallel.h, whose matrix iterators use what C++17 deprecates: R CMD check would warn.
#include <RcppParallel/TinyThread.h>
#if RCPP_PARALLEL_USE_TBB
#include <RcppParallel/TBB.h>
#endif

#include <algorithm>
#include <thread>

#include "core/base/parallel.hpp"

namespace {

class Pieces : public RcppParallel::Worker {
 public:
  Pieces(void (*work)(void*, int), void* context) : work_(work), context_(context) {}

  void operator()(std::size_t begin, std::size_t end) override {
    for (std::size_t piece = begin; piece < end; ++piece) {
      work_(context_, static_cast<int>(piece));
    }
  }

 private:
  void (*work_)(void*, int);
  void* context_;
};

// tinythread cuts a range into one piece for each processor. If the range is a little longer than
// that, it makes far fewer pieces, so no more pieces than processors are asked for. The workers
// that do run take all the items.
void run_rcpp_parallel(int threads, void (*work)(void*, int), void* context) {
  const int processors = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int pieces = std::min(threads, processors);
  Pieces worker(work, context);
#if RCPP_PARALLEL_USE_TBB
  RcppParallel::tbbParallelFor(0, static_cast<std::size_t>(pieces), worker, 1, pieces);
#else
  RcppParallel::ttParallelFor(0, static_cast<std::size_t>(pieces), worker, 1);
#endif
}

}  // namespace
#endif

// Called once, when R loads the package.
// [[Rcpp::init]]
void kestrel_register_rcpp_parallel(DllInfo* library) {
  (void)library;
#if !KESTREL_HAVE_OPENMP
  kestrel::register_parallel_backend("rcppparallel", run_rcpp_parallel);
#endif
}
