// What sums over all pairs cost on the CPU and on a device.
#ifndef KESTREL_GPU_PAIR_COST_HPP
#define KESTREL_GPU_PAIR_COST_HPP

#include <cstddef>

#include "gpu/gpu_abi.h"

namespace kestrel {

/// The work of a task. cpu: in densities at all n samples by the engine "direct", n^2 pairs;
/// device: in picoseconds of an H200 for each pair i < j.
struct PairWork {
  double cpu, device;
};

/// Sums at one matrix with their gradient.
PairWork gradient_work(std::size_t d);
/// Sums at so many multiples of a matrix.
PairWork curve_work(std::size_t d, std::size_t bandwidths);
/// One iterated Laplacian.
PairWork laplacian_work(std::size_t d);
/// All monomials up to an order.
PairWork monomial_work(std::size_t d, int order);

/// Seconds of that work for n samples.
double pair_seconds_on(const kestrel_gpu_device& device, const PairWork& work, double n,
                       bool single);

}  // namespace kestrel

#endif
