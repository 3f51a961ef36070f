#!/bin/sh
# R CMD check --as-cran of the built tarball; any ERROR or WARNING makes this fail, NOTEs are shown.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

make_tarball
rm -rf build/check
mkdir -p build/check
export NOT_CRAN=true OMP_WAIT_POLICY=passive MAKEFLAGS="-j$jobs"
export _R_CHECK_CRAN_INCOMING_=false _R_CHECK_CRAN_INCOMING_REMOTE_=false
export _R_CHECK_FORCE_SUGGESTS_=false _R_CHECK_SYSTEM_CLOCK_=false
status=0
R CMD check --as-cran --no-manual --output=build/check "$tarball" >build/check/log 2>&1 || status=$?
grep -E '(NOTE|WARNING|ERROR)$|^Status|^ERROR|^  ' build/check/log || true
if [ "$status" -ne 0 ] || grep -qE '(WARNING|ERROR)$' build/check/log; then
  cat build/check/log
  find build/check -name 'testthat.Rout.fail' -exec tail -n 60 {} +
  echo 'check: failed'
  exit 1
fi
echo 'check: no ERROR, no WARNING'
