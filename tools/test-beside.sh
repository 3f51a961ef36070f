#!/bin/sh
# tools/test-beside.sh database|slurm: runs the R tests of tests/database or tests/slurm on the installed tarball, beside
# a PostgreSQL server or a Slurm cluster of their own.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

case ${1:-} in
  database) start=tools/with-postgres.sh ;;
  slurm) start=tools/with-slurm.sh ;;
  *)
    echo "test-beside: say database or slurm" >&2
    exit 2
    ;;
esac
make_tarball quick
install_into build/library
R_LIBS=$(pwd)/build/library
export R_LIBS
# Runs a copy, since testthat and batchtools make folders beside them.
rm -rf "build/$1"
cp -R "tests/$1/testthat" "build/$1"
echo "test: R tests of $1"
$start Rscript --vanilla tools/run-tests.R "build/$1" .
