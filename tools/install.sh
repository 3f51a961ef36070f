#!/bin/sh
# Installs kestrel into the first library that the user can write to. If there is none, the user's library is made.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

# With the user's .Renviron, which may name the library, but without a profile, which may print.
# shellcheck disable=SC2016  # the dollars are R's
library=$(Rscript --no-init-file --no-site-file -e '
  user <- strsplit(Sys.getenv("R_LIBS_USER"), .Platform$path.sep)[[1L]][1L]
  open <- Filter(function(folder) file.access(folder, 2L) == 0L, .libPaths())
  cat(path.expand(if (length(open) > 0L) open[1L] else user))')
make_tarball quick
mkdir -p "$library"
echo "install: into $library"
run_logged install env MAKEFLAGS="-j$jobs" R CMD INSTALL --library="$library" "$tarball"
grep '^kestrel: ' "$logs/install.log"
echo "install: start R and type library(kestrel)"
