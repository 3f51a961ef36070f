// What lets functions of the device be compiled for the host as well, where they are tested.
#ifndef KESTREL_CUDA_BASE_HOST_CUH
#define KESTREL_CUDA_BASE_HOST_CUH

#ifdef __CUDACC__
#define KESTREL_DEVICE __device__ __forceinline__
#define KESTREL_CONSTANT __host__ __device__ constexpr
#define KESTREL_UNROLL _Pragma("unroll")
#define KESTREL_ROLLED _Pragma("unroll 1")
#else
#include <cmath>
#define KESTREL_DEVICE inline
#define KESTREL_CONSTANT constexpr
#define KESTREL_UNROLL
#define KESTREL_ROLLED
struct double2 {
  double x, y;
};
#endif

#endif
