#!/bin/sh
# Runs the R tests of tests/fake-cuda on the installed tarball, with a CUDA object that needs no CUDA. They test the
# messages and the behaviour when a GPU fails, and when a call on it is interrupted.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

make_tarball quick
install_into build/library
folder=build/core-tests
mkdir -p "$folder"
run_logged fake-cuda-cmake cmake -S tests/cpp -B "$folder"
run_logged fake-cuda cmake --build "$folder" --target fake-cuda-good
FAKE_CUDA_OBJECT=$(pwd)/$folder/libfake-cuda-good.so
R_LIBS=$(pwd)/build/library
export FAKE_CUDA_OBJECT R_LIBS
# Runs a copy, since testthat makes a folder beside them.
rm -rf build/fake-cuda
cp -R tests/fake-cuda/testthat build/fake-cuda
echo "test: R tests with a CUDA object that needs no CUDA"
Rscript --vanilla tools/run-tests.R build/fake-cuda .
