#!/bin/sh
# The R tests, against the installed tarball, two files at a time. Ends with a plain count.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

make_tarball
library=$(pwd)/build/library
install_into "$library"

export R_LIBS="$library" NOT_CRAN=true OMP_WAIT_POLICY=passive
rm -rf build/tests
cp -R tests build/tests
cd build/tests
exec Rscript --vanilla ../../tools/run-tests.R "$@"
