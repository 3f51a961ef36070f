#!/bin/sh
# Installs the tarball in all the ways that people use, and computes a value with each installation. This takes long the
# first time, so it is not part of `make test`.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

root=$(pwd)
installs=$root/build/installs
# One folder below is read-only on purpose.
if [ -e "$installs" ]; then chmod -R u+w "$installs"; fi
rm -rf "$installs"
mkdir -p "$installs"
make_tarball
cp "$tarball" "$installs/"
name=$(basename "$tarball")
# The speed of the package does not matter here, and without optimisation it compiles in a fraction of the time.
echo 'CXX17FLAGS = -O0' >"$installs/Makevars"
R_MAKEVARS_USER=$installs/Makevars
export R_MAKEVARS_USER

# smoke LIBRARY CUDA: the density of N(0, 1) at 0 from one observation there; CUDA says whether there must be an object
# for GPUs.
# shellcheck disable=SC2016  # R's dollars
smoke() {
  R_LIBS=$1 Rscript --vanilla -e 'library(kestrel)
    arguments <- commandArgs(trailingOnly = TRUE)
    info <- kestrel_info()
    stopifnot(all.equal(kde(0, h = 1, eval.points = 0)$estimate, dnorm(0), tolerance = 1e-15),
              normalizePath(find.package("kestrel")) == normalizePath(file.path(arguments[1], "kestrel")),
              info[["cuda"]][["built"]] == (arguments[2] == "cuda"))' \
    "$1" "$2"
}

# install LIBRARY TARBALL OPTIONS: the output goes to a log, which is shown on failure.
install() {
  mkdir -p "$1"
  log=$logs/installs-$(basename "$1" | tr ' ' -).log
  if ! MAKEFLAGS="-j$jobs" R CMD INSTALL --library="$1" --configure-args="$3" "$2" >"$log" 2>&1; then
    cat "$log"
    return 1
  fi
}

say() {
  echo "test-installs: $*"
}

say "without CUDA"
install "$installs/plain" "$installs/$name" --without-cuda
smoke "$installs/plain" none

if [ -n "$nvcc" ]; then
  say "with CUDA"
  install "$installs/cuda" "$installs/$name" --with-cuda
  smoke "$installs/cuda" cuda
fi

say "nvcc nowhere to be found"
# configure also looks for it in /usr/local/cuda, which is empty for these processes alone.
cat >"$installs/without-nvcc.sh" <<'CODE'
if [ -e /usr/local/cuda ]; then mount -t tmpfs none "$(readlink -f /usr/local/cuda)"; fi
exec "$@"
CODE
(
  PATH=$(printf '%s' "$PATH" | tr ':' '\n' | while read -r folder; do
    [ -x "$folder/nvcc" ] || printf '%s:' "$folder"
  done)
  PATH=${PATH%:}
  CUDA_HOME=/nowhere
  export PATH CUDA_HOME
  mkdir "$installs/without-nvcc"
  run_logged installs-without-nvcc env MAKEFLAGS="-j$jobs" unshare --map-root-user --mount \
    sh "$installs/without-nvcc.sh" R CMD INSTALL --library="$installs/without-nvcc" "$installs/$name"
)
grep 'no (no CUDA compiler was found)' "$logs/installs-without-nvcc.log"
smoke "$installs/without-nvcc" none

say "from and into paths with spaces"
mkdir "$installs/a folder"
cp "$tarball" "$installs/a folder/"
TMPDIR="$installs/a folder" install "$installs/a library" "$installs/a folder/$name" --without-cuda
smoke "$installs/a library" none

say "from a folder that cannot be written to, by a user who is not root"
mkdir "$installs/read-only"
cp "$tarball" "$installs/read-only/"
chmod 555 "$installs/read-only"
if [ "$(id -u)" -eq 0 ]; then
  # This user may have no access to the folders above, so it gets a folder of its own.
  place=$(mktemp -d)
  trap 'rm -rf "$place"' EXIT
  cp -R "$installs/read-only" "$installs/Makevars" "$place/"
  mkdir "$place/library" "$place/home"
  cp -RL "$CCACHE_DIR" "$place/ccache"
  chown -R nobody "$place/library" "$place/home" "$place/ccache"
  chmod 755 "$place"
  as_user="setpriv --reuid=nobody --regid=nogroup --clear-groups env HOME=$place/home"
  as_user="$as_user CCACHE_DIR=$place/ccache R_MAKEVARS_USER=$place/Makevars"
else
  place=$installs
  trap 'chmod u+w "$installs/read-only"' EXIT # so that build/ can be removed
  mkdir "$place/library"
  as_user='env'
fi
# shellcheck disable=SC2086  # a command and its arguments
(
  cd "$place/read-only"
  if $as_user touch file 2>"$logs/touch.log"; then
    echo "test-installs: the folder can be written to" >&2
    exit 1
  fi
  run_logged installs-read-only $as_user MAKEFLAGS="-j$jobs" R CMD INSTALL --library="$place/library" \
    --configure-args=--without-cuda "$name"
)
smoke "$place/library" none

# A repository of the working tree. remotes would ask the network for other packages, so it is told to leave them alone.
say "with remotes::install_git() and remotes::install_local()"
repository=$installs/repository
mkdir "$repository" "$installs/git" "$installs/local"
git ls-files --cached --others --exclude-standard -z | xargs -0 cp --parents --target-directory="$repository"
git -C "$repository" init --quiet
git -C "$repository" add --all
git -C "$repository" -c user.name=test -c user.email=test@example.org commit --quiet --message='The working tree'
for from in git local; do
  case $from in
    git) address=file://$repository ;;
    local) address=$repository ;;
  esac
  # shellcheck disable=SC2016  # R's dollars
  run_logged "installs-remotes-$from" env KESTREL_CUDA=no MAKEFLAGS="-j$jobs" Rscript --vanilla -e '
    given <- commandArgs(trailingOnly = TRUE)
    install <- list(git = remotes::install_git, local = remotes::install_local)[[given[1]]]
    install(given[2], lib = given[3], dependencies = FALSE, upgrade = "never")' \
    "$from" "$address" "$installs/$from"
  smoke "$installs/$from" none
done

say "two at once into two libraries"
install "$installs/first" "$installs/$name" --without-cuda &
first=$!
install "$installs/second" "$installs/$name" --without-cuda &
second=$!
wait $first
wait $second
smoke "$installs/first" none
smoke "$installs/second" none
say "all installed and computed"
