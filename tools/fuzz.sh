#!/bin/sh
# Hard use: random calls of everything that kestrel exports; see tools/fuzz/run.R.
#
#   tools/fuzz.sh [--sanitized] [CALLS] [SEED]
#
# --sanitized: on a build that reports misuse of memory and undefined behaviour. What a call may
# take of memory is bounded, so that the machine's other users do not notice.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

library=$(pwd)/build/library
preload=
if [ "${1:-}" = --sanitized ]; then
  shift
  library=$(pwd)/build/library-sanitized
  preload="$(${CXX:-g++} -print-file-name=libasan.so) $(${CXX:-g++} -print-file-name=libstdc++.so)"
fi
calls=${1:-5000}
seed=${2:-1}

make_tarball
if [ -n "$preload" ]; then
  # Not the whole of -fsanitize=undefined: R itself calls functions through pointers of other types.
  {
    echo 'CXX17FLAGS = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined'
    echo 'SHLIB_CXX17LDFLAGS = -shared -fsanitize=address,undefined'
  } >build/sanitized.mk
  R_MAKEVARS_USER=$(pwd)/build/sanitized.mk
  # R has no leak to report that is kestrel's, and configure loads what it has just linked.
  ASAN_OPTIONS=detect_leaks=0
  UBSAN_OPTIONS=print_stacktrace=1
  export R_MAKEVARS_USER ASAN_OPTIONS UBSAN_OPTIONS
  LD_PRELOAD=$preload install_into "$library" --without-cuda
else
  install_into "$library"
fi

last=$(pwd)/build/fuzz-$seed.R
status=0
# The sanitizer reserves terabytes of addresses.
# shellcheck disable=SC3045  # dash has it, too
[ -n "$preload" ] || ulimit -v 8000000
echo "fuzz: $calls calls, seed $seed${preload:+, sanitized}"
export R_LIBS="$library" OMP_WAIT_POLICY=passive
LD_PRELOAD=$preload Rscript --vanilla tools/fuzz/run.R "$calls" "$seed" "$last" || status=$?
if [ $status -gt 1 ]; then
  echo "fuzz: the session ended with status $status in"
  cat "$last"
fi
exit $status
