#!/bin/sh
# tools/with-slurm.sh COMMAND...: runs a command beside a Slurm cluster of its own, of which this machine is the only
# computer. Its daemons run as root with files in a temporary folder and on ports of this machine only. They are stopped
# at the end, and the folder is removed. SLURM_CONF is set for the command.
set -eu
if [ "$(id -u)" -ne 0 ]; then
  echo "with-slurm: the daemons of Slurm need root" >&2
  exit 1
fi
cluster=$(mktemp -d)
chmod 755 "$cluster" # munged wants that others can reach its socket
controller=
node=
stop_cluster() {
  for process in $controller $node; do kill "$process" 2>/dev/null || true; done
  [ ! -f "$cluster/munged.pid" ] || kill "$(cat "$cluster/munged.pid")" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$cluster"
}
trap stop_cluster EXIT
name=$(hostname -s)
port=$((20000 + $$ % 20000))
head -c 128 /dev/urandom >"$cluster/munge.key"
chmod 600 "$cluster/munge.key"
munged --force --key-file="$cluster/munge.key" --socket="$cluster/munge.socket" --pid-file="$cluster/munged.pid" \
  --log-file="$cluster/munged.log" --seed-file="$cluster/munge.seed"
mkdir "$cluster/state" "$cluster/spool"
cat >"$cluster/slurm.conf" <<CONF
ClusterName=kestrel
SlurmctldHost=$name(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$cluster/munge.socket
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1
NodeName=$name NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES State=UP
CONF
export SLURM_CONF="$cluster/slurm.conf"
slurmctld -D >"$cluster/slurmctld.log" 2>&1 &
controller=$!
slurmd -D >"$cluster/slurmd.log" 2>&1 &
node=$!
waited=0
until sinfo -h -t idle -o %D 2>/dev/null | grep -q 1; do
  waited=$((waited + 1))
  if [ $waited -gt 30 ] || ! kill -0 $controller 2>/dev/null || ! kill -0 $node 2>/dev/null; then
    echo "with-slurm: the cluster does not start" >&2
    cat "$cluster"/*.log >&2
    exit 1
  fi
  sleep 1
done
"$@"
