#!/bin/sh
# Builds the pages of the package (help with its examples run, articles, news) in build/site, by _pkgdown.yml and
# without the network. A help page or article that is in no group of the index is an error.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

make_tarball
install_into build/library
echo "site: rendering"
# Renders a copy, as the pages leave files beside their sources.
rm -rf build/site build/site-source
mkdir -p build/site-source
tar -xzf "$tarball" -C build/site-source --strip-components=1
cp _pkgdown.yml build/site-source/
R_LIBS=$(pwd)/build/library run_logged site Rscript --vanilla tools/build-site.R build/site-source build/site
echo "site: $(pwd)/build/site/index.html"
