#!/bin/sh
# Functions that make the tarball and install it. Source this file from the root of the project.
#
#   make_tarball             makes build/kestrel_x.y.z.tar.gz, if it is older than any source
#   make_tarball quick       makes it without vignettes, in build/quick, unless there is already one with vignettes
#   install_into LIB [ARG]   installs the tarball into the library LIB, with --configure-args=ARG;
#                            ARG is --with-cuda by default if there are nvcc and a device
#
# The working tree is not changed: R CMD build works on a copy.
set -eu

. tools/logged.sh

# The CUDA object is built only on machines with a device that can run it. On others tools/test-cuda.sh builds it.
nvcc=$(command -v nvcc || command -v "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" || true)
cuda=--without-cuda
if [ -n "$nvcc" ] && nvidia-smi -L >/dev/null 2>&1; then cuda=--with-cuda; fi

jobs=$(nproc)
version=$(sed -n 's/^Version: *//p' DESCRIPTION)
tarball=$(pwd)/build/kestrel_$version.tar.gz

# The same sources are compiled for the vignettes, the check and the tests; ccache compiles them once.
PATH=/usr/lib/ccache:$PATH
CCACHE_DIR=$(pwd)/build/ccache
CCACHE_NOHASHDIR=1
export PATH CCACHE_DIR CCACHE_NOHASHDIR

# Folders are in the list, because they become newer when a file in them is removed.
newer_than() {
  find DESCRIPTION NAMESPACE NEWS.md README.md .Rbuildignore configure cleanup \
    R src man inst tests/testthat tests/testthat.R vignettes -newer "$1" 2>/dev/null
}

# shellcheck disable=SC2120  # the argument is optional
make_tarball() {
  if [ -f "$tarball" ] && [ -z "$(newer_than "$tarball")" ]; then return 0; fi
  if [ "${1:-}" = quick ]; then
    mkdir -p build/quick
    tarball=$(pwd)/build/quick/$(basename "$tarball")
    if [ -f "$tarball" ] && [ -z "$(newer_than "$tarball")" ]; then return 0; fi
  fi
  echo "package: building $(basename "$tarball")${1:+ without vignettes}"
  work=$(mktemp -d)
  root=$(pwd)
  # Copies only what can be in the package, not build/ or .git.
  mkdir "$work/kestrel"
  for entry in DESCRIPTION NAMESPACE NEWS.md README.md .Rbuildignore configure cleanup \
    R src man inst tests vignettes; do
    if [ -e "$entry" ]; then cp -R "$entry" "$work/kestrel/"; fi
  done
  cd "$work"
  # This installs it for the vignettes, which need no CUDA object.
  run_logged build env MAKEFLAGS="-j$jobs" KESTREL_CUDA=no R CMD build ${1:+--no-build-vignettes} kestrel || return 1
  cd "$root"
  mv "$work/$(basename "$tarball")" "$tarball"
  rm -rf "$work"
}

install_into() {
  stamp=$1/kestrel.installed
  if [ -f "$stamp" ] && [ -z "$(find "$tarball" -newer "$stamp")" ]; then return 0; fi
  echo "package: installing into $1${2:+ with $2}"
  mkdir -p "$1"
  name=install-$(basename "$1")
  # The object files stay there: tests of the core link them.
  source=build/source-$(basename "$1")
  rm -rf "$source"
  mkdir "$source"
  tar -xzf "$tarball" -C "$source"
  # Warnings of nvcc are errors here.
  run_logged "$name" env MAKEFLAGS="-j$jobs" KESTREL_WERROR=1 R CMD INSTALL --no-docs --no-test-load \
    --library="$1" --configure-args="${2:-$cuda}" "$source/kestrel" || return 1
  grep '^kestrel: ' "$logs/$name.log"
  touch "$stamp"
}

# unpack_tests FOLDER: a new copy of the tests in the tarball.
unpack_tests() {
  rm -rf "$1"
  mkdir -p "$1"
  tar -xzf "$tarball" -C "$1" --strip-components=2 kestrel/tests
}
