#!/usr/bin/env bash
# bench-ping.sh BUILD_ROOT SOURCE_ROOT [COUNT [ROUNDS]] - CPU time (user + system, seconds) of one drain of COUNT (1000) waiting
# pings: spoolgate-drain and the shell peer in turn, ROUNDS (3) times; prints each and the ratio of the medians.
# Needs bash, jq, git; as root it works as an unprivileged user.
set -euo pipefail
build=$(readlink -f "$1") source=$(readlink -f "$2") count=${3:-1000} rounds=${4:-3}
uid=2977
work=$(mktemp -d /var/tmp/spoolgate-bench.XXXXXX)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/home" "$work/shop" "$work/bin"
DESTDIR=$work/dest meson install -C "$build" --no-rebuild >"$work/install.log" || { cat "$work/install.log"; exit 1; }
ours=$(find "$work/dest" -path '*/bin/spoolgate') drain=$(find "$work/dest" -name spoolgate-drain -perm -100)
cp "$source/tests/bench/peer.bash" "$work/bin/"
printf '#!/bin/sh\necho "$@"\n' >"$work/shop/stack"
chmod 755 "$work/shop/stack" "$work"
git -C "$work/shop" init -q
git -C "$work/shop" -c user.name=b -c user.email=b@localhost add stack
git -C "$work/shop" -c user.name=b -c user.email=b@localhost commit -qm stack
as() { env -i HOME="$work/home" PATH=/usr/bin:/bin "$@"; }
if [ "$(id -u)" = 0 ]; then
        chown -R $uid:$uid "$work"
        as() { setpriv --reuid $uid --regid $uid --clear-groups env -i HOME="$work/home" PATH=/usr/bin:/bin "$@"; }
fi
as "$ours" install --project "$work/shop" --slug bench --stack script --stack-bin "$work/shop/stack" \
        --service web --service db --buildable web --no-units --launch direct >"$work/install.log" 2>&1 ||
        { cat "$work/install.log"; exit 1; }
spool=$work/shop/untracked/spoolgate state=$work/home/.local/state/spoolgate/bench
as cp "$work/home/.config/spoolgate/bench/policy.conf" "$state/peer-policy.conf"

fill() { # COUNT pings, as a container's agent would leave them
        # shellcheck disable=SC2016
        as bash -c '
                for ((i = 0; i < $2; i++)); do
                        printf -v name "%s-ping-%016x.json" "$(printf "%(%Y%m%dT%H%M%SZ)T" -1)" "$((RANDOM * 1000000 + i))"
                        printf "{\"verb\":\"ping\",\"requested_at\":\"%s\"}\n" "$(printf "%(%Y-%m-%dT%H:%M:%SZ)T" -1)" >"$1/$name"
                done' fill "$spool/requests" "$1" TZ=UTC
        # shellcheck disable=SC2016
        as bash -c 'rm -f "$1"/responses/* "$1"/archive/*' clean "$spool"
}
measure() { # COMMAND...: CPU seconds
        local TIMEFORMAT='%U %S'
        { time as "$@" >"$work/out" 2>&1; } 2>"$work/time" || { cat "$work/out" >&2; exit 1; }
        awk '{ print $1 + $2 }' "$work/time"
}
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

export TZ=UTC
for ((r = 1; r <= rounds; r++)); do
        fill "$count"
        measure "$drain" bench >>"$work/ours"
        [ "$(find "$spool/responses" -name '*.json' -exec grep -l '"state":"done"' {} + | wc -l)" = "$count" ] || { echo "not all answered"; exit 1; }
        fill "$count"
        measure bash "$work/bin/peer.bash" "$spool" "$state" "$work/shop" "$work/shop/stack" >>"$work/peer"
        [ "$(find "$spool/responses" -name '*.json' -exec grep -l '"state":"done"' {} + | wc -l)" = "$count" ] || { echo "peer: not all answered"; exit 1; }
        echo "round $r: drain $(tail -n 1 "$work/ours") s, shell $(tail -n 1 "$work/peer") s of CPU for $count pings"
done
awk -v a="$(median <"$work/ours")" -v b="$(median <"$work/peer")" -v n="$count" 'BEGIN { printf "median: drain %.3f s, shell %.3f s of CPU for %d pings: ratio %.0f\n", a, b, n, b / a }'
