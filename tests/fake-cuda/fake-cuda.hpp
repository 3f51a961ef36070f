// What the files of the fake CUDA object share; see fake-cuda.cpp.
#ifndef KESTREL_TESTS_FAKE_CUDA_HPP
#define KESTREL_TESTS_FAKE_CUDA_HPP

#include <cstddef>

#include "gpu/gpu_abi.h"

/// The code that the environment variable holds, and a text about it.
int fake_failing(const char* variable, char* problem, std::size_t room);

/// Asks the poll whether to go on, after the interrupt that FAKE_CUDA_INTERRUPT asks for.
int fake_asked(kestrel_gpu_poll poll, void* context, double fraction);

/// Adds `more` to the number of open handles, which is left in FAKE_CUDA_HELD.
void fake_holds(int more);

int fake_scanline_open(const kestrel_gpu_scanline* grid, void** out, char* problem,
                       std::size_t room);
int fake_scanline_slab(void* runs, const kestrel_gpu_scanline_slab* slab, double largest[2],
                       kestrel_gpu_take take, kestrel_gpu_poll poll, void* context, char* problem,
                       std::size_t room);
void fake_scanline_close(void* runs);

int fake_cross_validation(const kestrel_gpu_regression* regression, double* sum,
                          kestrel_gpu_poll poll, void* context, char* problem, std::size_t room);

int fake_mixed_open(const kestrel_gpu_mixed* data, void** mixed, char* problem, std::size_t room);
int fake_mixed_moments(void* mixed, const kestrel_gpu_mixed_kernel* kernel, double* sum,
                       kestrel_gpu_poll poll, void* context, char* problem, std::size_t room);
int fake_mixed_changes(void* mixed, const double* fit, double* change, kestrel_gpu_poll poll,
                       void* context, char* problem, std::size_t room);
void fake_mixed_close(void* mixed);

#endif
