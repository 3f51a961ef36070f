#!/bin/sh
# Prints the newest file of bench/results that is of a GPU: those say its compute capability in their first lines.
set -eu
cd "$(dirname "$0")/.."
grep -l '^#.*compute capability' bench/results/*.csv | sort | tail -n 1
