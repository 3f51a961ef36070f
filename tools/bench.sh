#!/bin/sh
# Speed of the direct engine; some minutes, on a machine that does nothing else.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

make_tarball
install_into build/library
R_LIBS=$(pwd)/build/library Rscript --vanilla bench/direct.R
