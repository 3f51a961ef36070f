#!/bin/sh
# Tests the C++ core without R: as it is, under ASan and UBSan, and with the std::thread backend
# under TSan.
set -eu
cd "$(dirname "$0")/.."
jobs=$(getconf _NPROCESSORS_ONLN)

# The tests choose their numbers of threads themselves.
unset OMP_NUM_THREADS OMP_THREAD_LIMIT RCPP_PARALLEL_NUM_THREADS
export OMP_WAIT_POLICY=passive

# build_and_test NAME CMAKE-OPTION...
build_and_test() {
  name=$1
  folder=build/core-tests/$name
  shift
  echo "core-tests: $name"
  mkdir -p "$folder"
  if ! {
    cmake -S tools/core-tests -B "$folder" "$@" &&
      cmake --build "$folder" --parallel "$jobs"
  } >"$folder/build.log" 2>&1; then
    cat "$folder/build.log"
    return 1
  fi
  # All of it goes to a file, failures and the last lines to the screen.
  if ! ctest --test-dir "$folder" --parallel "$jobs" --output-on-failure >"$folder/test.log" 2>&1
  then
    cat "$folder/test.log"
    return 1
  fi
  grep 'tests passed' "$folder/test.log"
}

build_and_test plain
build_and_test address -DSANITIZE=address,undefined
build_and_test thread -DSANITIZE=thread -DKESTREL_NO_OPENMP=ON
