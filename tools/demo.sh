#!/bin/sh
# Installs kestrel into build/library and renders the demo report to build/report.html.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

make_tarball quick
install_into build/library
echo "demo: rendering demo/report.Rmd"
# Renders a copy, so that nothing appears in demo/.
rm -rf build/demo
mkdir -p build/demo
cp -R demo/. build/demo/
R_LIBS=$(pwd)/build/library run_logged demo Rscript --vanilla -e '
  build <- normalizePath("build")
  rmarkdown::render(file.path(build, "demo", "report.Rmd"), output_dir = build,
                    params = list(figures = file.path(build, "figures.txt")), quiet = TRUE)'
echo
cat build/figures.txt
echo
echo "report: $(pwd)/build/report.html"
echo "try it: R_LIBS='$(pwd)/build/library' R, and then library(kestrel); make install puts it into your own library"
