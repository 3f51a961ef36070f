#!/bin/sh
# A function that runs long commands. Source this file from the root of the project.
#
#   run_logged NAME COMMAND...    the output goes to build/logs/NAME.log, and to the screen if the command fails. Every
#                                 ten seconds the screen shows the last line of the log, so that one sees how far it is.
logs=$(pwd)/build/logs
mkdir -p "$logs"

# Ends with the script, too, if that is interrupted.
show_last_line() {
  seconds=10
  while sleep 10 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
    printf '  %3d s: %s\n' $seconds "$(tail -n 1 "$1" | tail -c 60)"
    seconds=$((seconds + 10))
  done
}

run_logged() {
  log=$logs/$1.log
  shift
  : >"$log"
  show_last_line "$log" &
  shown=$!
  status=0
  "$@" >"$log" 2>&1 || status=$?
  kill $shown 2>/dev/null || true
  wait $shown 2>/dev/null || true
  [ $status -eq 0 ] || cat "$log"
  return $status
}
