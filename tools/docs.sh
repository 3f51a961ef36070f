#!/bin/sh
# R/RcppExports.R, src/RcppExports.cpp, NAMESPACE and man/ from the sources. Run it after changing an
# exported function of C++ or the comment of one in R, and commit what it writes.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

Rscript --vanilla -e 'Rcpp::compileAttributes(".")'
make_tarball
library=$(pwd)/build/library
install_into "$library"
R_LIBS="$library" Rscript --vanilla -e 'roxygen2::roxygenise(".", load_code = "installed")'
