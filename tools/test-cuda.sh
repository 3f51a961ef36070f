#!/bin/sh
# If there is nvcc, compiles the CUDA programs of bench/, installs the package with its CUDA object, and runs the R
# tests of loading that object. Warnings are errors. Nothing runs on a GPU here.
# tools/gpu-check.sh and bench/gpu.R use a GPU, and so does make test on a machine that has one.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh
# The programs are compiled for one architecture, the object for all, as for users without a device of their own.
program_arch=${KESTREL_CUDA_ARCH:-sm_90}
: "${KESTREL_CUDA_ARCH:=all-major}"
export KESTREL_CUDA_ARCH
# The package should stay small: the object has 8.5 MB in November 2026.
most_bytes=12000000

if [ -z "$nvcc" ]; then
  echo "test: no nvcc, so CUDA programs are not compiled"
  exit 0
fi
mkdir -p build/cuda
# Several programs are compiled at a time.
running=
number=0
for source in bench/*.cu bench/papers/*.cu; do
  object=build/cuda/$(basename "$source" .cu).o
  if [ -f "$object" ] && [ -z "$(find "$source" bench/papers/*.cuh bench/papers/*.hpp src/cuda src/shared src/gpu/gpu_abi.h -newer "$object")" ]; then
    continue
  fi
  echo "test: compiling $source"
  run_logged "cuda-$(basename "$source" .cu)" "$nvcc" -O3 -std=c++17 "-arch=$program_arch" -Isrc \
    -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror -c -o "$object" "$source" &
  running="$running $!"
  number=$((number + 1))
  if [ $((number % jobs)) -eq 0 ]; then
    for process in $running; do wait "$process"; done
    running=
  fi
done
for process in $running; do wait "$process"; done

# What tools/gpu-check.sh compiles beside the core.
run_logged cuda-gpu-check "${CXX:-g++}" -std=gnu++17 -Wall -Wextra -Werror -Isrc -fsyntax-only tests/gpu/gpu-check*.cpp

make_tarball quick
install_into build/library-cuda --with-cuda
object=build/library-cuda/kestrel/cuda/libkestrel_cuda.so
bytes=$(wc -c <"$object")
echo "test: the CUDA object for $KESTREL_CUDA_ARCH has $bytes bytes"
if [ "$bytes" -gt "$most_bytes" ]; then
  echo "test: that is more than $most_bytes" >&2
  exit 1
fi
unpack_tests build/tests-cuda
echo "test: R tests of loading the CUDA object"
R_LIBS=$(pwd)/build/library-cuda Rscript --vanilla tools/run-tests.R build/tests-cuda/testthat '^(cuda-loader|backend)$'
