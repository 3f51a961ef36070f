// Macros that let one text be compiled for the CPU and, by nvcc, for a device as well.
#ifndef KESTREL_SHARED_HOST_DEVICE_HPP
#define KESTREL_SHARED_HOST_DEVICE_HPP

// KESTREL_HD is for functions that both have, KESTREL_INLINE for those that are always inlined.
// KESTREL_SELDOM is for what a loop seldom calls: inlined, it would force variables of the loop
// into memory. KESTREL_UNROLL is for loops whose arrays must stay in registers, KESTREL_ROLLED for
// loops that run too rarely to be worth the instructions of unrolling.
#if defined(__CUDACC__)

#define KESTREL_HD __host__ __device__
#define KESTREL_INLINE __forceinline__
#define KESTREL_SELDOM __noinline__
#if defined(__CUDA_ARCH__)
#define KESTREL_UNROLL _Pragma("unroll")
#define KESTREL_ROLLED _Pragma("unroll 1")
#else  // the pass for the host, which runs none of this
#define KESTREL_UNROLL
#define KESTREL_ROLLED
#endif

#else

#define KESTREL_HD
#if defined(__GNUC__)
#define KESTREL_INLINE inline __attribute__((always_inline))
#define KESTREL_SELDOM __attribute__((noinline))
#else
#define KESTREL_INLINE inline
#define KESTREL_SELDOM
#endif
#if defined(__clang__)
#define KESTREL_UNROLL _Pragma("unroll")
#elif defined(__GNUC__)
// R compiles with -O2, at which GCC does not unroll: without this every register array of the leaf
// loops lives in memory and the loops run at a quarter of their speed. The longest of those loops
// has 21 steps, for the highest degree of the sweep.
#define KESTREL_UNROLL _Pragma("GCC unroll 32")
#else
#define KESTREL_UNROLL
#endif
#define KESTREL_ROLLED

#endif

#endif
