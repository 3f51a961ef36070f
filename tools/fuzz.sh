#!/bin/sh
# Stress tests: random calls of everything that kestrel exports; see tests/fuzz/run.R.
#
#   tools/fuzz.sh [--sanitized] [--groups GROUP,...] [CALLS] [SEED]
#   tools/fuzz.sh [--sanitized] --replay FILE
#
# --sanitized uses a build that reports misuse of memory and undefined behaviour. Without it the memory of the session
# is limited, so that other users of the machine do not notice the calls. A call with a wrong result stays in
# build/fuzz-failures/SEED-NUMBER.R. Runs with different seeds can go side by side.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

library=$(pwd)/build/library
preload=
if [ "${1:-}" = --sanitized ]; then
  shift
  library=$(pwd)/build/library-sanitized
  preload="$(${CXX:-g++} -print-file-name=libasan.so) $(${CXX:-g++} -print-file-name=libstdc++.so.6)"
fi
groups=
if [ "${1:-}" = --groups ]; then
  groups=$2
  shift 2
fi
failures=$(pwd)/build/fuzz-failures
if [ "${1:-}" != --replay ]; then set -- "${1:-5000}" "${2:-1}" "$failures" ${groups:+"$groups"}; fi

make_tarball quick
if [ -n "$preload" ]; then
  # Some checks are left out. R itself calls functions through pointers of other types. Uses of the stack after a return
  # are not checked either, see tests/cpp/CMakeLists.txt.
  {
    echo 'CXX17FLAGS = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined' \
      '--param=asan-use-after-return=0'
    echo 'SHLIB_CXX17LDFLAGS = -shared -fsanitize=address,undefined'
  } >build/sanitized.mk
  R_MAKEVARS_USER=$(pwd)/build/sanitized.mk
  # Leaks are not reported, because R has its own. configure loads the library that it has just linked.
  ASAN_OPTIONS=detect_leaks=0
  UBSAN_OPTIONS=print_stacktrace=1
  KESTREL_DEBUG_SYMBOLS=yes
  export R_MAKEVARS_USER ASAN_OPTIONS UBSAN_OPTIONS KESTREL_DEBUG_SYMBOLS
  LD_PRELOAD=$preload install_into "$library" --without-cuda
else
  install_into "$library"
fi

# A small disk that only this process sees, and a folder for the files of the session.
mkdir -p "$failures"
work=$(mktemp -d)
mkdir "$work/disk"
KESTREL_FUZZ_DISK=
if mount -t tmpfs -o size=64k kestrel-fuzz "$work/disk" 2>/dev/null; then
  KESTREL_FUZZ_DISK=$work/disk
else
  echo "fuzz: no file system can be mounted here: no calls on a full one"
fi
trap '[ -z "$KESTREL_FUZZ_DISK" ] || umount "$KESTREL_FUZZ_DISK"; rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

status=0
# Under the sanitizer there is no limit, because the sanitizer reserves terabytes of addresses.
# shellcheck disable=SC3045  # dash has it, too
[ -n "$preload" ] || ulimit -v 8000000
[ "$1" = --replay ] || echo "fuzz: $1 calls, seed $2${groups:+, of $groups}${preload:+, sanitized}"
export R_LIBS="$library" TMPDIR="$work" KESTREL_FUZZ_DISK
LD_PRELOAD=$preload Rscript --vanilla tests/fuzz/run.R "$@" || status=$?
if [ $status -gt 1 ] && [ "$1" != --replay ]; then
  echo "fuzz: the session ended with status $status; its last call:"
  # The newest file has the call that ran.
  # shellcheck disable=SC2012
  last=$(ls -t "$failures/$2"-*.R | head -n 1)
  cut -c1-1500 "$last"
  echo "  tools/fuzz.sh${preload:+ --sanitized} --replay build/fuzz-failures/$(basename "$last")"
fi
exit $status
