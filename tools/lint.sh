#!/bin/sh
# Layers, formatting of C++, style of R and of shell scripts.
set -eu
cd "$(dirname "$0")/.."
tools/check-layers.sh
clang-format --dry-run --Werror src/*.cpp src/*.hpp src/core/*.?pp src/simd/*.?pp tools/core-tests/*.?pp
shellcheck -x tools/*.sh configure cleanup .ci/run
Rscript --vanilla -e 'found <- c(lintr::lint_dir("R"), lintr::lint_dir("tests")); print(found)
  quit(status = length(found) > 0)'
