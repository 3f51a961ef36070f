#!/bin/sh
# Runs the R tests of tests/slurm on the installed tarball, with a Slurm cluster of their own.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

make_tarball quick
install_into build/library
R_LIBS=$(pwd)/build/library
export R_LIBS
# Runs a copy, since batchtools makes a folder beside them.
rm -rf build/slurm
cp -R tests/slurm/testthat build/slurm
echo "test: R tests with a Slurm cluster"
tools/with-slurm.sh Rscript --vanilla tools/run-tests.R build/slurm .
