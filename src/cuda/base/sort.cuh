// Sorting on the device.
#ifndef KESTREL_CUDA_BASE_SORT_CUH
#define KESTREL_CUDA_BASE_SORT_CUH

namespace kestrel_cuda {

/// Sorts n < 2^31 finite numbers into ascending order, ties by their index; `order` gets the index
/// that each had. All arrays are in device memory, of which sorting takes 24 n bytes meanwhile.
void sort_ascending(const double* values, unsigned n, double* sorted, unsigned* order);

}  // namespace kestrel_cuda

#endif
