#!/bin/sh
# Generates the files that are made from the sources and are committed, too: RcppExports, NAMESPACE and man/.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

Rscript --vanilla -e 'Rcpp::compileAttributes()'
make_tarball
install_into build/library
R_LIBS=$(pwd)/build/library Rscript --vanilla -e 'roxygen2::roxygenise(load_code = "installed")'
