#!/bin/sh
# Installs missing packages that the targets of the Makefile need:
# tools/setup.sh [lint] [docs] [bench] [site] [installs] [slurm]
set -eu

# The packages, in this order:
# - R and a compiler;
# - packages that kestrel links to;
# - packages that its tests (pictures by vdiffr), vignettes and demo use, with netcdf-bin for ncdump, PostgreSQL for tests
#   of synopses, and pngquant, which makes the pictures of vignettes a third of their size;
# - tools that R CMD check looks for (qpdf, tidy, and checkbashisms of devscripts);
# - tools to build the tests of the core, and ccache.
packages="r-base-core g++ make
  r-cran-cli r-cran-rcpp r-cran-rcppeigen libfftw3-dev
  r-cran-testthat r-cran-vdiffr r-cran-knitr r-cran-rmarkdown pandoc
  r-cran-ks r-cran-kedd r-cran-kernsmooth r-cran-mclust r-cran-quantreg r-cran-mass r-cran-ggplot2 r-cran-isoband
  r-cran-lubridate r-cran-ncdf4 r-cran-generics r-cran-tibble r-cran-dplyr r-cran-rsqlite r-cran-dbplyr
  r-cran-rpostgresql postgresql-15 r-cran-future.apply r-cran-ff r-cran-bigmemory
  r-cran-sf r-cran-terra r-cran-stars netcdf-bin pngquant
  qpdf tidy devscripts cmake libgtest-dev ccache"
for group in "$@"; do
  case $group in
    lint) packages="$packages r-cran-lintr clang-format shellcheck aspell aspell-en" ;;
    docs) packages="$packages r-cran-roxygen2" ;;
    bench) packages="$packages r-cran-locfit r-cran-sm" ;;
    site) packages="$packages r-cran-pkgdown" ;;
    installs) packages="$packages r-cran-remotes git" ;;
    slurm) packages="$packages slurmctld slurmd munge r-cran-future.batchtools" ;;
    *)
      echo "setup: no such group: $group" >&2
      exit 2
      ;;
  esac
done

missing=
for package in $packages; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
  echo "setup: some Debian packages are missing. Run as root, and then again what you ran:" >&2
  echo "  apt-get update && apt-get install --no-install-recommends$missing" >&2
  exit 1
fi

echo "setup: installing$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
# shellcheck disable=SC2086  # a list of names
apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends $missing >/dev/null
