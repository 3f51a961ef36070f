#!/bin/sh
# Runs the R tests of tests/database on the installed tarball, with a PostgreSQL server of their own: a cluster in a
# temporary folder, on a port of this machine only, which is stopped and removed at the end. The server refuses to run as
# root, so root starts it as the user postgres.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

make_tarball quick
install_into build/library
programs=$(find /usr/lib/postgresql -maxdepth 2 -name bin | sort -V | tail -n 1)
cluster=$(mktemp -d)
as_server() {
  if [ "$(id -u)" -eq 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}
if [ "$(id -u)" -eq 0 ]; then chown postgres "$cluster"; fi
stop_server() {
  as_server "$programs/pg_ctl" -D "$cluster/data" -m immediate stop >/dev/null 2>&1 || true
  rm -rf "$cluster"
}
trap stop_server EXIT
KESTREL_TEST_PORT=$((20000 + $$ % 20000))
as_server "$programs/initdb" -D "$cluster/data" -A trust -U kestrel --no-sync >"$cluster.log"
as_server "$programs/pg_ctl" -D "$cluster/data" -l "$cluster/server.log" -w \
  -o "-p $KESTREL_TEST_PORT -k $cluster -c listen_addresses=127.0.0.1 -c fsync=off" start >>"$cluster.log"
rm -f "$cluster.log"
R_LIBS=$(pwd)/build/library
export R_LIBS KESTREL_TEST_PORT
# Runs a copy, since testthat makes a folder beside them.
rm -rf build/database
cp -R tests/database/testthat build/database
echo "test: R tests with a PostgreSQL server"
Rscript --vanilla tools/run-tests.R build/database .
