#!/bin/sh
# Tests the C++ core without R: tools/core-tests.sh [plain] [portable] [address] [thread] [package]. The
# builds are: without sanitizers; as on processors other than x86-64; under ASan and UBSan; under TSan; and the object
# files of the installed package, which the second takes, too (tests/cpp/CMakeLists.txt). By default the first four are
# tested.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh
[ $# -gt 0 ] || set -- plain portable address thread

# The tests set their numbers of threads themselves.
unset OMP_NUM_THREADS OMP_THREAD_LIMIT RCPP_PARALLEL_NUM_THREADS

folder=build/core-tests
objects=
alone=
for variant in "$@"; do
  case $variant in
    package | portable) objects=$(pwd)/build/source-library/kestrel/src ;;
    *) alone="$alone $variant" ;;
  esac
done
if [ -n "$alone" ]; then
  # Before the package, whose sources `make check` compiles meanwhile if it runs at the same time.
  echo "core-tests: building the core and its tests:$alone (minutes, the first time)"
  run_logged core-cmake cmake -S tests/cpp -B "$folder"
  # shellcheck disable=SC2086  # several words
  run_logged core-build cmake --build "$folder" --parallel "$jobs" --target test-objects $alone
fi
if [ -n "$objects" ]; then
  # Building and installing a package keep one processor busy for half of their time. The tests do not need it to
  # compile.
  log=$logs/core-tests-alone.log
  {
    cmake -S tests/cpp -B "$folder" && cmake --build "$folder" --parallel "$jobs" --target test-objects
  } >"$log" 2>&1 &
  compiling=$!
  make_tarball quick
  install_into build/library
  wait $compiling || {
    cat "$log"
    exit 1
  }
fi

echo "core-tests: building the tests: $*"
run_logged core-cmake cmake -S tests/cpp -B "$folder" -D KESTREL_OBJECTS="$objects"
run_logged core-build cmake --build "$folder" --parallel "$jobs" --target "$@"
for variant in "$@"; do
  # Tests that have passed do not run again until one of these files changes. The last file says which tests run.
  programs=$(find "$folder" -maxdepth 1 \( -name "$variant" -o -name "libkestrel-$variant.so" \
    -o -name 'libfake-cuda-*.so' -o -name CTestTestfile.cmake \) -exec cksum {} +)
  if [ "$(cat "$folder/$variant.passed" 2>/dev/null)" = "$programs" ]; then
    echo "core-tests: $variant: has passed, and nothing has changed since"
    continue
  fi
  echo "core-tests: $variant"
  run_logged "core-$variant" ctest --test-dir "$folder" --label-regex "^$variant\$" --parallel "$jobs" \
    --output-on-failure
  grep 'tests passed' "$logs/core-$variant.log"
  echo "$programs" >"$folder/$variant.passed"
done
