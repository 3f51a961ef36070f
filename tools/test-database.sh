#!/bin/sh
# Runs the R tests of tests/database on the installed tarball, with a PostgreSQL server of their own.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

make_tarball quick
install_into build/library
R_LIBS=$(pwd)/build/library
export R_LIBS
# Runs a copy, since testthat makes a folder beside them.
rm -rf build/database
cp -R tests/database/testthat build/database
echo "test: R tests with a PostgreSQL server"
tools/with-postgres.sh Rscript --vanilla tools/run-tests.R build/database .
