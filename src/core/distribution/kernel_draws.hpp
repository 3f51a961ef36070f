// Draws from an estimate, made of random numbers: an observation plus a draw from the kernel.
#ifndef KESTREL_CORE_DISTRIBUTION_KERNEL_DRAWS_HPP
#define KESTREL_CORE_DISTRIBUTION_KERNEL_DRAWS_HPP

#include "core/base/parallel.hpp"
#include "core/base/span.hpp"
#include "shared/kernel.hpp"

namespace kestrel {

/// Turns draws from Beta(d / inner, outer + 1) into radii of a power kernel (1 - r^inner)^outer in
/// d dimensions, whose density is proportional to r^(d-1) k(r): r^inner has that distribution.
void radii_from_betas(const KernelRow& kernel, Span<double> betas, const ParallelOptions& options);

/// Gives normal numbers, n*d column-major, the lengths `radius`: each row, if there are n of them,
/// or each number.
void scale_to_radii(Span<double> normal, Span<const double> radius, std::size_t d,
                    const ParallelOptions& options);

/// Row i of the draws becomes row rows[i] (from 1 on) of x plus itself times root', a d*d root of
/// the bandwidth matrix. draws: n*d.
void place_draws(const MatrixView& x, Span<const int> rows, Span<const double> root,
                 Span<double> draws, const ParallelOptions& options);

}  // namespace kestrel

#endif
