#!/bin/sh
# The package as it is built without OpenMP and a CUDA compiler: it must run on RcppParallel's threads, say that it has
# no CUDA, and pass the tests of threads.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

make_tarball
# This tests threads, not speed: with -O1 it compiles in two thirds of the time.
echo 'CXX17FLAGS = -O1' >build/variant.mk
R_MAKEVARS_USER=$(pwd)/build/variant.mk
export R_MAKEVARS_USER
install_into build/library-without-openmp "--without-openmp --without-cuda"
unset R_MAKEVARS_USER
unpack_tests build/tests-without-openmp
echo "test: R tests of threads, without OpenMP"
R_LIBS=$(pwd)/build/library-without-openmp
export R_LIBS
Rscript --vanilla -e 'cuda <- kestrel::kestrel_info()[["cuda"]]
  stopifnot(kestrel:::parallel_backend_cpp() == "rcppparallel", !cuda[["built"]], !cuda[["usable"]])'
Rscript --vanilla tools/run-tests.R build/tests-without-openmp/testthat "parallel|cuda-loader"
