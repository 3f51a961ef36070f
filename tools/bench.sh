#!/bin/sh
# The benchmark of the direct engine, by hand, on a quiet machine.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

make_tarball
library=$(pwd)/build/library
install_into "$library"
R_LIBS="$library" OMP_WAIT_POLICY=passive exec Rscript --vanilla bench/direct.R
