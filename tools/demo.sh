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
figures=$(pwd)/build/figures.txt
export figures
run_logged demo Rscript --vanilla -e 'rmarkdown::render("demo/report.Rmd",
  output_dir = "build", intermediates_dir = "build/demo", quiet = TRUE,
  params = list(figures = Sys.getenv("figures")))'
echo
echo "$(pwd)/build/report.html"
cat "$figures"
