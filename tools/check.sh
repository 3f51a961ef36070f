#!/bin/sh
# Runs R CMD check on the built tarball, and fails on any ERROR or WARNING: tools/check.sh [OPTION]..., with options of
# R CMD check.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

make_tarball
echo "check: R CMD check --as-cran"
# The check uses no network, and it compares snapshots.
export NOT_CRAN=true
export _R_CHECK_CRAN_INCOMING_=false _R_CHECK_CRAN_INCOMING_REMOTE_=false
export _R_CHECK_FORCE_SUGGESTS_=false _R_CHECK_SYSTEM_CLOCK_=false
export _R_CHECK_XREFS_USE_ALIASES_FROM_CRAN_=false
rm -rf build/check
mkdir -p build/check
log=build/check/kestrel.Rcheck/00check.log
# The CUDA object is built only once, for the tests.
export KESTREL_CUDA=no
# R CMD build has just made the vignettes, so they are not made again.
if ! MAKEFLAGS="-j$jobs" R CMD check --as-cran --no-manual --no-vignettes "$@" -o build/check "$tarball" \
  >build/check/output.log 2>&1; then
  cat build/check/output.log
  for file in build/check/kestrel.Rcheck/tests/*.fail build/check/kestrel.Rcheck/00install.out; do
    if [ -f "$file" ]; then
      echo "---- $file"
      cat "$file"
    fi
  done
  exit 1
fi
awk '/^\* / { told = /(NOTE|WARNING|ERROR)$/ } told' "$log"
status=$(sed -n 's/^Status: //p' "$log")
echo "check: $status"
case $status in
  '' | *ERROR* | *WARNING*) exit 1 ;;
esac
