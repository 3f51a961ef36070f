// Sorting on the device.
#ifndef KESTREL_CUDA_BASE_SORT_CUH
#define KESTREL_CUDA_BASE_SORT_CUH

namespace kestrel_cuda {

/// n < 2^31 finite numbers in ascending order, ties by their place, and where each stood. All in
/// device memory; 24 n bytes of it meanwhile.
void sort_ascending(const double* values, unsigned n, double* sorted, unsigned* order);

}  // namespace kestrel_cuda

#endif
