#!/usr/bin/env bash
# bench-status.sh BUILD_ROOT SOURCE_ROOT [COUNT [ROUNDS]] - what a `status` costs: spoolgate-drain beside the floor (floor.c: the same
# spawn, the same two fdatasyncs, the same publishes, and nothing else), in turn, ROUNDS (5) times COUNT (20) requests each; the stack
# program is one and the same. warm: the program runs already. cold: it is started for each request, as by the path unit.
# Wall time from the request's rename to its final response; CPU time of the program and all it started. Medians, 90 %.
# As root it works as an unprivileged user.
set -euo pipefail
build=$(readlink -f "$1") source=$(readlink -f "$2") count=${3:-20} rounds=${4:-5}
uid=2978
work=$(mktemp -d /var/tmp/spoolgate-bench.XXXXXX)
drain_pid=
trap '[ -z "$drain_pid" ] || kill "$drain_pid" 2>/dev/null; rm -rf "$work"' EXIT
mkdir -p "$work/home" "$work/shop" "$work/bin" "$work/floor"/{requests,processing,responses,archive}
drain=$work/bin/spoolgate-drain floor=$work/bin/floor
cp "$build/src/spoolgate-drain" "$build/tests/bench/floor" "$work/bin/"
cp "$source/tests/flow/lib.sh" "$work/bin/"
printf '#!/bin/sh\necho "web up"\n' >"$work/shop/stack"
chmod 755 "$work/shop/stack" "$work"
user=(env -i HOME="$work/home" PATH=/usr/bin:/bin)
if [ "$(id -u)" = 0 ]; then
        chown -R $uid:$uid "$work"
        user=(setpriv --reuid "$uid" --regid "$uid" --clear-groups "${user[@]}")
fi
as() { "${user[@]}" "$@"; }
conf=$work/home/.config/spoolgate/bench state=$work/home/.local/state/spoolgate/bench spool=$work/shop/untracked/spoolgate
as mkdir -p -m 700 "$conf" "$state"
as mkdir -p "$spool"/{tmp,requests,processing,responses,archive,quarantine,diagnostics,inbox}
pin=$(stat -c '"device": %d, "inode": %i' "$work/shop")
cat >"$work/bridge" <<END
{"v": 1, "slug": "bench", "checkout": {"path": "$work/shop", $pin}, "git_dir": null, "spool": "untracked/spoolgate",
 "stack": "script", "project": "bench", "path": "/usr/bin:/bin", "home": "$work/home", "runtime_dir": null,
 "bins": ["stack=$work/shop/stack"], "services": ["web"], "buildable": ["web"], "env_files": [".env"],
 "launch": "direct", "jail": "landlock", "agent_uid": -1, "version": "bench"}
END
printf '%s\n' MODE_ping=auto MODE_status=auto LINGER_MS=250 KEEP_FILES=1000000 >"$work/policy"
printf 'DB_PASSWORD=hunter2-is-long-enough\nTOKEN=0123456789abcdef-token\n' >"$work/shop/.env"
chmod 644 "$work/bridge" "$work/policy" "$work/shop/.env"
as cp "$work/bridge" "$conf/bridge.json"
as cp "$work/policy" "$conf/policy.conf"
as chmod 600 "$conf/bridge.json" "$conf/policy.conf"

half() { # NAME: times to NAME.wall, CPU to NAME.cpu
        sed -n 's/^cpu //p' "$work/out" >>"$work/$1.cpu"
        sed '/^cpu/d' "$work/out" >>"$work/$1.wall"
}
warm() {
        "${user[@]}" "$drain" --watch bench &
        drain_pid=$!
        as "$floor" ask "$spool" 3 $drain_pid >/dev/null # the first ones read and compile
        as "$floor" ask "$spool" "$count" $drain_pid >"$work/out"
        half warm.drain
        kill $drain_pid
        wait $drain_pid || true
        "${user[@]}" "$floor" serve "$work/floor" "$state" "$work/shop/stack" 1000000 &
        drain_pid=$!
        as "$floor" ask "$work/floor" 3 $drain_pid >/dev/null
        as "$floor" ask "$work/floor" "$count" $drain_pid >"$work/out"
        half warm.floor
        kill $drain_pid
        wait $drain_pid 2>/dev/null || true
        drain_pid=
}
cold() {
        as "$floor" cold "$spool" "$count" "$drain" bench >"$work/out"
        half cold.drain
        as "$floor" cold "$work/floor" "$count" "$floor" serve "$work/floor" "$state" "$work/shop/stack" 1 >"$work/out"
        half cold.floor
}
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
p90() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int(NR * 0.9 + 0.5)] }'; }
for ((r = 1; r <= rounds; r++)); do
        warm
        cold
done
for kind in warm cold; do
        for who in floor drain; do
                printf '%s %s: wall median %.2f ms, 90 %% %.2f ms; CPU %.2f ms\n' $kind $who "$(median "$work/$kind.$who.wall")" \
                        "$(p90 "$work/$kind.$who.wall")" "$(median "$work/$kind.$who.cpu")"
        done
        awk -v k=$kind -v a="$(median "$work/$kind.drain.wall")" -v b="$(median "$work/$kind.floor.wall")" -v c="$(median "$work/$kind.drain.cpu")" \
                -v d="$(median "$work/$kind.floor.cpu")" 'BEGIN { printf "%s drain / floor: wall %.2f, CPU %.2f\n", k, a / b, c / d }'
done
