#!/bin/sh
# Checks the rules of the layers, the formatting of the C++, that each source compiles without those that builds join it
# with, shell scripts, the style of the R code, and all prose.
set -eu
cd "$(dirname "$0")/.."
status=0
tools/check-layers.sh || status=1
echo "lint: clang-format"
find src tests bench \( -name '*.cpp' -o -name '*.hpp' \) ! -name 'RcppExports.cpp' \
  ! -path src/config.hpp ! -path 'src/joined/*' -exec clang-format --dry-run -Werror {} + || status=1
echo "lint: sources of the core, each alone"
eigen=$(Rscript --vanilla -e "cat(system.file('include', package = 'RcppEigen'))")
find src/core src/gpu -name '*.cpp' -print0 | xargs -0 -n 1 -P "$(nproc)" \
  "${CXX:-g++}" -std=gnu++17 -fsyntax-only -I src -isystem "$eigen" || status=1
echo "lint: shellcheck"
shellcheck -x configure cleanup .ci/run tools/*.sh || status=1
echo "lint: lintr"
Rscript --vanilla -e '
  found <- list(lintr::lint_package(exclusions = list("R/RcppExports.R")),
                lintr::lint_dir("bench"), lintr::lint_dir("tools"), lintr::lint_dir("tests/fuzz"))
  invisible(lapply(found, print))
  quit(status = any(lengths(found) > 0))' || status=1
echo "lint: prose"
Rscript --vanilla tools/check-prose.R || status=1
exit $status
