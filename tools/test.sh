#!/bin/sh
# Runs the R tests on the installed tarball, in parallel. Tests that compare numbers with an oracle run under each
# instruction set of this machine. All tests run under the set that is chosen by default. The output ends with the test
# runner's own summary and a line "N passed, N failed".
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

make_tarball quick
install_into build/library
unpack_tests build/tests
R_LIBS=$(pwd)/build/library
export R_LIBS
# The other sets run at the same time, since one set has too few files to keep many processors busy.
# shellcheck disable=SC2016  # the dollar is R's
sets=$(Rscript --vanilla -e 'found <- kestrel::kestrel_info(); cat(setdiff(found$isa_available, found$isa))')
number=$(echo "$sets" | wc -w)
TESTTHAT_CPUS=$((number > 0 && jobs > number ? jobs / number : 1))
export TESTTHAT_CPUS
running=
for isa in $sets; do
  echo "test: R tests of numbers, instruction set $isa"
  run_logged "test-$isa" env KESTREL_TEST_ISA="$isa" Rscript --vanilla tools/run-tests.R \
    build/tests/testthat '^(regression|density|engines|scanline|distribution)$' &
  running="$running $!"
done
for process in $running; do wait "$process"; done
for isa in $sets; do echo "$isa: $(tail -n 1 "$logs/test-$isa.log")"; done
unset TESTTHAT_CPUS
echo "test: R tests"
Rscript --vanilla tools/run-tests.R build/tests/testthat
