#!/bin/sh
# tools/with-postgres.sh COMMAND...: runs a command beside a PostgreSQL server of its own, whose port is in
# KESTREL_TEST_PORT: a cluster in a temporary folder, on a port of this machine only, which is stopped and removed at the
# end. The server refuses to run as root, so root starts it as the user postgres.
set -eu
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
export KESTREL_TEST_PORT
as_server "$programs/initdb" -D "$cluster/data" -A trust -U kestrel --no-sync >"$cluster.log"
as_server "$programs/pg_ctl" -D "$cluster/data" -l "$cluster/server.log" -w \
  -o "-p $KESTREL_TEST_PORT -k $cluster -c listen_addresses=127.0.0.1 -c fsync=off" start >>"$cluster.log"
rm -f "$cluster.log"
"$@"
