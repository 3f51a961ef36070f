#!/bin/sh
# The package built without OpenMP, as on macOS: RcppParallel's threads, then std::thread's.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

make_tarball
library=$(pwd)/build/library-without-openmp
install_into "$library" --without-openmp

export R_LIBS="$library" NOT_CRAN=true OMP_WAIT_POLICY=passive
rm -rf build/tests-without-openmp
cp -R tests build/tests-without-openmp
cd build/tests-without-openmp
# shellcheck disable=SC2016  # the dollar is R's
Rscript --vanilla -e 'stopifnot(identical(kestrel::kestrel_info()$parallel, "rcppparallel"))'
Rscript --vanilla ../../tools/run-tests.R parallel
