#!/bin/sh
# Prints the newest file of bench/results that is for a GPU: such a file gives its compute capability in the first
# lines.
set -eu
cd "$(dirname "$0")/.."
grep -l '^#.*compute capability' bench/results/*.csv | sort | tail -n 1
