#!/bin/sh
# Prints the name of the newest file in bench/results with the results of a GPU. Such a file gives the GPU's compute
# capability in its first lines.
set -eu
cd "$(dirname "$0")/.."
grep -l '^#.*compute capability' bench/results/*.csv | sort | tail -n 1
