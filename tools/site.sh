#!/bin/sh
# Builds the web pages of the package in build/site: help pages with the output of their examples, articles and news.
# _pkgdown.yml describes the site, and no network is needed. A help page or article that is in no group of the index is
# an error.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

make_tarball
install_into build/library
echo "site: rendering"
# Renders a copy, because building the pages leaves files beside their sources.
rm -rf build/site build/site-source
mkdir -p build/site-source
tar -xzf "$tarball" -C build/site-source --strip-components=1
cp _pkgdown.yml build/site-source/
R_LIBS=$(pwd)/build/library run_logged site Rscript --vanilla tools/build-site.R build/site-source build/site
echo "site: $(pwd)/build/site/index.html"
