#!/bin/sh
# Builds the CUDA object and tests/gpu/gpu-check.cpp in build/gpu, and runs it on this machine's device:
# tools/gpu-check.sh [device|check|check-tensor|check-derivatives|check-variable|check-pairs|check-scanline|
# check-regression|check-mixed|brief|tiny-density|tiny-tensor|tiny-derivatives|tiny-variable|tiny-pairs|tiny-scanline|
# tiny-regression|tiny-mixed|time|time-derivatives|time-variable|time-pairs|time-scanline|time-regression|time-mixed|
# bench-scanline|check-devices|tiny-devices|check-lost|bench-devices|bench-devices-grid]...
# The last five compare several devices, and need two or more.
# R is not needed. In the environment, KESTREL_CUDA_ARCH names the architecture to build for, and KESTREL_CUDA_OBJECT
# names an object that is already built.
set -eu
cd "$(dirname "$0")/.."
out=build/gpu
jobs=$(nproc)
mkdir -p "$out"
{
  # The core without the parts that need an FFT or Eigen, and of src/gpu what computes but not what chooses.
  folders='base kernel data engine direct sweep scanline regression mixed'
  gpu='cost density derivatives device_sums devices loader mixed mixed_density mixed_regression pairs reach regression scanline scanline_tiles variable'
  # shellcheck disable=SC2046,SC2086  # lists of names without spaces
  echo FILES = $(find $(printf 'src/core/%s ' $folders) -name '*.cpp' ! -name small_matrix.cpp) \
    src/simd/*/*.cpp $(printf 'src/gpu/%s.cpp ' $gpu) tests/gpu/gpu-check*.cpp
  cat <<'MAKE'
SHARED = $(wildcard src/shared/*) src/gpu/gpu_abi.h
OBJECTS = $(FILES:%.cpp=$(OUT)/%.o)
CUDA = $(patsubst %.cu,$(OUT)/%.o,$(wildcard src/cuda/*/*.cu))
$(OUT)/gpu-check: $(OBJECTS)
	g++ -o $@ $(OBJECTS) -ldl -lpthread
$(OUT)/lib%_cuda.so: tests/gpu/%-cuda.cpp tests/gpu/timed-cuda.hpp $(SHARED)
	g++ -std=gnu++17 -O2 -Wall -Wextra -Isrc -shared -fPIC -o $@ $< -ldl
$(OUT)/libkestrel_cuda.so: $(CUDA)
	nvcc -shared -cudart static -Xlinker --exclude-libs,ALL -o $@ $(CUDA)
$(OUT)/%.o: %.cpp $(SHARED)
	@mkdir -p $(@D)
	g++ -std=gnu++17 -O2 -Wall -Wextra -Isrc -c -o $@ $<
$(OUT)/%.o: %.cu $(wildcard src/cuda/*/*.cuh) $(SHARED)
	@mkdir -p $(@D)
	nvcc -O3 -std=c++17 -lineinfo -arch=$(ARCH) -Isrc -Xcompiler -fPIC,-fvisibility=hidden,-Wall,-Wextra -c -o $@ $<
MAKE
} >"$out/Makefile"
object=${KESTREL_CUDA_OBJECT:-$out/libkestrel_cuda.so}
make -s -f "$out/Makefile" -j "$jobs" OUT="$out" ARCH="${KESTREL_CUDA_ARCH:-native}" \
  "$out/gpu-check" "$out/libfailing_cuda.so" "$out/libtimed_cuda.so" "$object"
for what in "${@:-check}"; do
  if [ "$what" = check-lost ]; then
    FAILING_CUDA_OBJECT=$object FAILING_CUDA=${FAILING_CUDA:-1 2} "$out/gpu-check" "$out/libfailing_cuda.so" "$what"
  elif [ "${what#bench-devices}" != "$what" ]; then
    TIMED_CUDA_OBJECT=$object "$out/gpu-check" "$out/libtimed_cuda.so" "$what"
  else
    "$out/gpu-check" "$object" "$what"
  fi
done
