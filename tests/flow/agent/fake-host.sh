#!/bin/sh
# fake-host.sh SPOOL PLAN - waits for one visible request, takes it, then does what PLAN says, line by line:
#   answer FILE   FILE's bytes become the response      beat TEXT   the heartbeat's new content
#   log TEXT      printf %b TEXT at the log's end       nap SEC
# The request as it was first seen is left as SPOOL/../seen.NAME.
set -u
spool=$1
plan=$2
turns=0
name=
while [ -z "$name" ]; do
        for entry in "$spool"/requests/*; do
                if [ -f "$entry" ]; then
                        name=${entry##*/}
                        break
                fi
        done
        turns=$((turns + 1))
        [ "$turns" -lt 400 ] || exit 1
        [ -n "$name" ] || sleep 0.05
done
cat "$spool/requests/$name" >"$spool/../seen.$name"
mv "$spool/requests/$name" "$spool/processing/$name"
publish() {
        cat >"$spool/tmp/fake.$$"
        mv "$spool/tmp/fake.$$" "$spool/$1"
}
while IFS=' ' read -r word rest; do
        case $word in
        answer) publish "responses/$name.response.json" <"$rest" ;;
        beat) printf '{"beat":"%s"}\n' "$rest" | publish diagnostics/heartbeat.json ;;
        log) printf '%b' "$rest" >>"$spool/archive/$name.log" ;;
        nap) sleep "$rest" ;;
        esac
done <"$plan"
mv "$spool/processing/$name" "$spool/archive/$name"
