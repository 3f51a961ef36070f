#!/bin/sh
# Tests the C++ core without R: as it is, under ASan and UBSan, and with the std::thread backend
# under TSan (tools/core-tests/CMakeLists.txt).
set -eu
cd "$(dirname "$0")/.."
jobs=$(getconf _NPROCESSORS_ONLN)

# The tests choose their numbers of threads themselves.
unset OMP_NUM_THREADS OMP_THREAD_LIMIT RCPP_PARALLEL_NUM_THREADS
export OMP_WAIT_POLICY=passive

folder=build/core-tests
mkdir -p "$folder"
echo "core-tests: building"
if ! {
  cmake -S tools/core-tests -B "$folder" && cmake --build "$folder" --parallel "$jobs"
} >"$folder/build.log" 2>&1; then
  cat "$folder/build.log"
  exit 1
fi
for variant in plain address thread; do
  echo "core-tests: $variant"
  # All of it goes to a file, failures and the last lines to the screen.
  if ! ctest --test-dir "$folder" --label-regex "^$variant\$" --parallel "$jobs" \
    --output-on-failure >"$folder/$variant.log" 2>&1; then
    cat "$folder/$variant.log"
    exit 1
  fi
  grep 'tests passed' "$folder/$variant.log"
done
