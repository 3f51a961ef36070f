// Sums over the pairs of a sample on the device: their interface to api.cu.
#ifndef KESTREL_CUDA_PAIRS_PAIRS_CUH
#define KESTREL_CUDA_PAIRS_PAIRS_CUH

#include <cstddef>
#include <memory>

#include "cuda/direct/direct.cuh"
#include "gpu/gpu_abi.h"

namespace kestrel_cuda {

/// See pairs_open() in gpu/gpu_abi.h. Memory on the device: 16 d + 16 bytes a sample, in single
/// precision 8 d + 4 more; at most 128 MiB of partial sums (for many monomials one number for each
/// of them and each 128 samples), and with moments 16 d bytes for each point of a piece and each of
/// at most eight parts of the samples.
class Pairs {
 public:
  virtual ~Pairs() = default;
  virtual std::size_t pieces() const = 0;
  /// Returns false if the poll stopped it.
  virtual bool sum(std::size_t piece, double* sum, const Poll& poll) = 0;
};

/// `from`: null, or one that was made of the same request and samples on another device.
std::unique_ptr<Pairs> make_pairs(const kestrel_gpu_pairs& request, const double* x,
                                  std::size_t stride, const double* w, std::size_t n,
                                  const Pairs* from, int from_device);

}  // namespace kestrel_cuda

#endif
