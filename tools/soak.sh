#!/bin/sh
# Tests interrupts at random times, the memory over many calls, and the time to load the package:
# tools/soak.sh [MINUTES] [SEED]
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

make_tarball
install_into build/library
R_LIBS=$(pwd)/build/library
export R_LIBS
Rscript --vanilla tools/load-time.R
Rscript --vanilla tests/fuzz/soak.R "${1:-5}" "${2:-1}"
