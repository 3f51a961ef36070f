#!/bin/sh
# Tests the C++ core without R: tools/core-tests.sh [plain] [portable] [address] [thread], by default all four, that is,
# without sanitizers, as on processors other than x86-64, under ASan and UBSan, and under TSan (tests/cpp/CMakeLists.txt).
set -eu
cd "$(dirname "$0")/.."
jobs=$(nproc)
[ $# -gt 0 ] || set -- plain portable address thread

# The tests set their numbers of threads themselves.
unset OMP_NUM_THREADS OMP_THREAD_LIMIT RCPP_PARALLEL_NUM_THREADS

folder=build/core-tests
mkdir -p "$folder"
# logged LOG LINES COMMAND...: the output of the command goes to a file. Lines that match, such as "[ 12%] Building ..."
# and "3/8 Test #3: plain-2 ... Passed", also go to the screen as they come; if the command fails, all of it does.
logged() {
  log=$1
  lines=$2
  shift 2
  { "$@" 2>&1 && echo "core-tests: ended well"; } | tee "$log" | grep --line-buffered -E "$lines" || true
  if ! tail -n 1 "$log" | grep -q '^core-tests: ended well$'; then
    cat "$log"
    exit 1
  fi
}
echo "core-tests: building the core and its tests: $* (minutes, the first time)"
logged "$folder/cmake.log" '^$' cmake -S tests/cpp -B "$folder"
logged "$folder/build.log" '(Built target|Linking)' cmake --build "$folder" --parallel "$jobs" --target "$@"
for variant in "$@"; do
  # What has passed is not run again until one of these files changes, the last of which says which tests run.
  programs=$(cksum "$folder/$variant" "$folder/libkestrel-$variant.so" "$folder"/libfake-cuda-*.so \
    "$folder/CTestTestfile.cmake")
  if [ "$(cat "$folder/$variant.passed" 2>/dev/null)" = "$programs" ]; then
    echo "core-tests: $variant: has passed, and nothing has changed since"
    continue
  fi
  echo "core-tests: $variant"
  logged "$folder/$variant.log" 'Test +#|tests passed' ctest --test-dir "$folder" \
    --label-regex "^$variant\$" --parallel "$jobs" --output-on-failure
  echo "$programs" >"$folder/$variant.passed"
done
