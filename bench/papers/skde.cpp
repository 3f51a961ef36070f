// The programs of Lopez-Novoa (2015), chapters 6 (skde.hpp) and 7 (skde-pipeline.hpp), for R. Also,
// not theirs, the simplest vector loop in one dimension: each sample adds its parabola to the
// points that it reaches.
// [[Rcpp::plugins(cpp17, openmp)]]
#include "skde.hpp"

#include <Rcpp.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "skde-pipeline.hpp"

namespace {

using lopez_novoa::Problem;

// ---- one function for each instruction set, everything inlined into it
#if defined(__x86_64__)
#define EVERY_ISA __attribute__((flatten, target_clones("avx512f", "avx2", "default")))
#else
#define EVERY_ISA
#endif

EVERY_ISA void ep_kde(const Problem& p, int d, std::size_t first, std::size_t last) {
  switch (d) {
    case 1: return lopez_novoa::ep_kde(p, first, last, std::make_index_sequence<1>());
    case 2: return lopez_novoa::ep_kde(p, first, last, std::make_index_sequence<2>());
    case 3: return lopez_novoa::ep_kde(p, first, last, std::make_index_sequence<3>());
    default: return lopez_novoa::ep_kde(p, first, last, std::make_index_sequence<4>());
  }
}

EVERY_ISA void s_kde(const Problem& p, int d, bool chop) {
  switch (d) {
    case 1: return lopez_novoa::s_kde<1, false>(p, chop);
    case 2: return lopez_novoa::s_kde<2, false>(p, chop);
    case 3: return lopez_novoa::s_kde<3, false>(p, chop);
    default: return lopez_novoa::s_kde<4, false>(p, chop);
  }
}

EVERY_ISA void s_kde_atomic(const Problem& p, int d, bool chop) {
  switch (d) {
    case 1: return lopez_novoa::s_kde<1, true>(p, chop);
    case 2: return lopez_novoa::s_kde<2, true>(p, chop);
    case 3: return lopez_novoa::s_kde<3, true>(p, chop);
    default: return lopez_novoa::s_kde<4, true>(p, chop);
  }
}

// d = 1. In steps of the grid: a sample at c reaches R, and adds top - bend (i - c)^2 to point i.
EVERY_ISA void direct_rows(const Problem& p) {
  const double reach = p.reach[0] / p.step[0], per_unit = 1 / p.step[0];
  const double top = p.constant, bend = p.constant / (reach * reach);
  double* const grid = p.grid;
  for (std::size_t s = 0; s < p.samples; ++s) {
    const double c = (p.sample[s] - p.origin[0]) * per_unit;
    const double first = std::max(std::ceil(c - reach), 0.0);
    const double last = std::min(std::floor(c + reach), p.points[0] - 1.0);
    const int from = static_cast<int>(std::min(first, last + 1)), to = static_cast<int>(last) + 1;
#pragma omp simd
    for (int i = from; i < to; ++i) {
      const double u = i - c;
      grid[i] += top - bend * u * u;
    }
  }
}

// The accelerator of the pipeline.
EVERY_ISA void compute_2(const lopez_novoa::Accelerator<2>& a, std::size_t first,
                         std::size_t count) {
  lopez_novoa::compute_chunk(a, first, count);
}
EVERY_ISA void compute_3(const lopez_novoa::Accelerator<3>& a, std::size_t first,
                         std::size_t count) {
  lopez_novoa::compute_chunk(a, first, count);
}
EVERY_ISA void compute_4(const lopez_novoa::Accelerator<4>& a, std::size_t first,
                         std::size_t count) {
  lopez_novoa::compute_chunk(a, first, count);
}

template <int d>
Rcpp::NumericVector pipeline(const Problem& p, double object_bytes, bool overlapped,
                             typename lopez_novoa::HostDevice<d>::Compute compute) {
  lopez_novoa::HostDevice<d> device(p, object_bytes, compute);
  const auto stages = lopez_novoa::run_pipeline<d>(device, p, device.chunk(), overlapped);
  return Rcpp::NumericVector::create(
      Rcpp::Named("computation") = stages.computation, Rcpp::Named("transfer") = stages.transfer,
      Rcpp::Named("consolidation") = stages.consolidation, Rcpp::Named("total") = stages.total,
      Rcpp::Named("chunk") = static_cast<double>(device.chunk()),
      Rcpp::Named("densities") = static_cast<double>(stages.densities));
}

// Arguments as for the exported functions.
Problem problem(const Rcpp::NumericMatrix& x, const Rcpp::List& task, Rcpp::NumericVector& grid) {
  const int d = x.ncol();
  if (d < 1 || d > 4) Rcpp::stop("one to four axes");
  // Elements of the task's own vectors, which the caller keeps: nothing is converted.
  const auto element = [&](const char* name, SEXPTYPE type, R_xlen_t length) -> SEXP {
    const SEXP values = task[name];
    if (TYPEOF(values) != type || Rf_xlength(values) != length)
      Rcpp::stop("not as it should be: %s", name);
    return values;
  };
  const auto numbers = [&](const char* name, R_xlen_t length) {
    return static_cast<const double*>(REAL(element(name, REALSXP, length)));
  };
  Problem p;
  p.sample = x.begin();
  p.samples = x.nrow();
  p.origin = numbers("origin", d);
  p.step = numbers("step", d);
  p.points = INTEGER(element("points", INTSXP, d));
  p.reach = numbers("reach", d);
  p.inverse = numbers("inverse", d * d);
  p.constant = *numbers("constant", 1);
  p.grid = grid.begin();
  R_xlen_t size = 1;
  for (int k = 0; k < d; ++k) size *= p.points[k];
  if (grid.size() != size) Rcpp::stop("grid has the wrong length");
  return p;
}

}  // namespace

// x: the samples used, m * d, d = 1 to 4. task: list of origin, step (real) and points (integer) of
// the grid, reach = h sqrt(diag(Sigma)), inverse of H, and constant (see Problem). grid: real,
// first axis fastest; the densities are added to it in place.

// Grid points first to last, numbered from 1.
// [[Rcpp::export]]
void lopez_novoa_ep_kde(Rcpp::NumericMatrix x, Rcpp::List task, double first, double last,
                        Rcpp::NumericVector grid) {
  const Problem p = problem(x, task, grid);
  if (first < 1 || last > grid.size()) Rcpp::stop("points outside of the grid");
  ep_kde(p, x.ncol(), static_cast<std::size_t>(first) - 1, static_cast<std::size_t>(last));
}

// chop: chop & crop if d >= 2 (d = 2: the slice is the box); atomic: atomic additions.
// [[Rcpp::export]]
void lopez_novoa_s_kde(Rcpp::NumericMatrix x, Rcpp::List task, bool chop, bool atomic,
                       Rcpp::NumericVector grid) {
  const Problem p = problem(x, task, grid);
  atomic ? s_kde_atomic(p, x.ncol(), chop) : s_kde(p, x.ncol(), chop);
}

// Chapter 7, d = 2 to 4, with the host in the role of the accelerator, whose memory takes objects
// of `object_bytes`: seconds of the three stages and in all, samples of a chunk, densities
// transferred.
// [[Rcpp::export]]
Rcpp::NumericVector lopez_novoa_pipeline(Rcpp::NumericMatrix x, Rcpp::List task,
                                         double object_bytes, bool overlapped,
                                         Rcpp::NumericVector grid) {
  const Problem p = problem(x, task, grid);
  switch (x.ncol()) {
    case 2: return pipeline<2>(p, object_bytes, overlapped, compute_2);
    case 3: return pipeline<3>(p, object_bytes, overlapped, compute_3);
    case 4: return pipeline<4>(p, object_bytes, overlapped, compute_4);
    default: Rcpp::stop("two to four axes");
  }
}

// d = 1.
// [[Rcpp::export]]
void direct_rows(Rcpp::NumericMatrix x, Rcpp::List task, Rcpp::NumericVector grid) {
  const Problem p = problem(x, task, grid);
  if (x.ncol() != 1) Rcpp::stop("one axis");
  direct_rows(p);
}
