#!/bin/sh
# Installs the package and renders the demonstration report.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

make_tarball
library=$(pwd)/build/library
install_into "$library"

export R_LIBS="$library" OMP_WAIT_POLICY=passive
echo 'demo: rendering (a minute or two)'
run_logged demo Rscript --vanilla -e 'rmarkdown::render("demo/report.Rmd",
  output_dir = "build", intermediates_dir = "build/demo", quiet = TRUE,
  params = list(figures = file.path(getwd(), "build", "figures.txt")))'
echo
echo "$(pwd)/build/report.html"
cat build/figures.txt
