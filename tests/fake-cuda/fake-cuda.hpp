// What the files of the fake CUDA object share; see fake-cuda.cpp.
#ifndef KESTREL_TESTS_FAKE_CUDA_HPP
#define KESTREL_TESTS_FAKE_CUDA_HPP

#include <cstddef>

#include "gpu/gpu_abi.h"

/// The code with which a call on a device fails: the one that the environment variable holds, or
/// that of FAKE_CUDA_LOST; and a text about it.
int fake_failing(const char* variable, int device, char* problem, std::size_t room);

/// The whole number that an environment variable holds.
int fake_number(const char* variable, int otherwise);

/// Asks the poll whether to go on, after the interrupt that FAKE_CUDA_INTERRUPT asks for.
int fake_asked(kestrel_gpu_poll poll, void* context, double fraction);

/// Adds `more` to the number of open handles, which is left in FAKE_CUDA_HELD.
void fake_holds(int more);

int fake_variable_open(int device, const kestrel_gpu_variable* request, const double* x,
                       std::size_t stride, const double* w, const double* h, std::size_t n,
                       const void* from, void** variable, char* problem, std::size_t room);
int fake_variable_sum(void* variable, const double* e, std::size_t stride, const double* h,
                      std::size_t m, double* sum, kestrel_gpu_poll poll, void* context,
                      char* problem, std::size_t room);
void fake_variable_close(void* variable);

int fake_scanline_open(int device, const kestrel_gpu_scanline* grid, const void* from, void** out,
                       char* problem, std::size_t room);
int fake_scanline_slab(void* runs, const kestrel_gpu_scanline_slab* slab, double largest[2],
                       kestrel_gpu_take take, kestrel_gpu_pair pair, kestrel_gpu_poll poll,
                       void* context, char* problem, std::size_t room);
void fake_scanline_close(void* runs);

int fake_regression_open(int device, const kestrel_gpu_regression* request, const void* from,
                         void** regression, char* problem, std::size_t room);
int fake_regression_sums(void* regression, std::size_t first, std::size_t count, double* sum,
                         kestrel_gpu_poll poll, void* context, char* problem, std::size_t room);
void fake_regression_close(void* regression);

int fake_mixed_open(int device, const kestrel_gpu_mixed* data, const void* from, void** mixed,
                    char* problem, std::size_t room);
int fake_mixed_kernel(void* mixed, const kestrel_gpu_mixed_kernel* kernel, char* problem,
                      std::size_t room);
int fake_mixed_sums(void* mixed, int task, std::size_t first, std::size_t count,
                    const double* given, double* sum, kestrel_gpu_poll poll, void* context,
                    char* problem, std::size_t room);
void fake_mixed_close(void* mixed);

#endif
