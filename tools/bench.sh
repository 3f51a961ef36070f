#!/bin/sh
# Speed of the engines, on a machine that does nothing else.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

make_tarball
install_into build/library
for script in direct one-dimension bandwidth-matrix grid-gaussian grid score; do
  R_LIBS=$(pwd)/build/library Rscript --vanilla bench/$script.R
done
