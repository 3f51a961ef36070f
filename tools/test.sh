#!/bin/sh
# Runs the R tests on the installed tarball, in parallel. Ends with the test runner's own summary
# and a line "N passed, N failed".
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

make_tarball quick
install_into build/library
unpack_tests build/tests
echo "test: R tests"
R_LIBS=$(pwd)/build/library Rscript --vanilla tools/run-tests.R build/tests/testthat
