#!/usr/bin/env bash
# bench-ledger.sh BUILD_ROOT SOURCE_ROOT [BIG [ROUNDS]] - what a request costs (system calls excepted: CPU, user + system) at a
# ledger of BIG (100000) keys and at one of 100: a drain of 50 keyed requests each, ROUNDS (5) times in turn; prints the medians
# and their ratio. Status 1: more than one and a half times.
# Needs bash, git, python3; as root it works as an unprivileged user.
set -euo pipefail
build=$(readlink -f "$1") big=${3:-100000} rounds=${4:-5} each=50
uid=2978
work=$(mktemp -d "${TMPDIR:-/var/tmp}/spoolgate-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/home"
DESTDIR=$work/dest meson install -C "$build" --no-rebuild >"$work/install.log" || { cat "$work/install.log"; exit 1; }
ours=$(find "$work/dest" -path '*/bin/spoolgate') drain=$(find "$work/dest" -name spoolgate-drain -perm -100)
printf '#!/bin/sh\necho "$@"\n' >"$work/stack"
chmod 755 "$work/stack" "$work"
as() { env -i HOME="$work/home" PATH=/usr/bin:/bin TZ=UTC "$@"; }
if [ "$(id -u)" = 0 ]; then
        chown -R $uid:$uid "$work"
        as() { setpriv --reuid $uid --regid $uid --clear-groups env -i HOME="$work/home" PATH=/usr/bin:/bin TZ=UTC "$@"; }
fi
project() { # SLUG
        as mkdir -p "$work/$1"
        as git -C "$work/$1" init -q
        as git -C "$work/$1" -c user.name=b -c user.email=b@localhost commit -q --allow-empty -m first
        as "$ours" install --project "$work/$1" --slug "$1" --stack script --stack-bin "$work/stack" --service web \
                --no-units --launch direct >"$work/install.log" 2>&1 || { cat "$work/install.log"; exit 1; }
        (cd "$work/$1" && as "$ours" seal -s "$1" --yes >"$work/install.log" 2>&1) || { cat "$work/install.log"; exit 1; }
        printf '%s\n' MODE_ping=auto MODE_status=auto RATE_PER_VERB=1000/600 RATE_TOTAL=1000/600 LINGER_MS=250 KEEP_LEDGER=1000000 |
                as tee "$work/home/.config/spoolgate/$1/policy.conf" >/dev/null
}
state() { echo "$work/home/.local/state/spoolgate/$1"; }
fill() { # SLUG COUNT: ended entries as the ledger writes them
        as python3 - "$(state "$1")/ledger/ended" "$2" <<'FILL'
import hashlib, os, sys, time
where, count, now = sys.argv[1], int(sys.argv[2]), int(time.time() * 1000)
for i in range(count):
    key = hashlib.sha256(b"k:bench-%d" % i).hexdigest()
    body = (f"key {key}\nfingerprint {key}\nname 20260101T000000Z-status-{i:016x}.json\nverb status\n"
            f"began_ms {now}\nended_ms {now}\n\n{{}}\n").encode()
    with open(f"{where}/{key}", "wb") as f:
        f.write(b"spoolgate-ledger 1\nsum " + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    os.chmod(f"{where}/{key}", 0o600)
FILL
}
put() { # SLUG ROUND
        # shellcheck disable=SC2016
        as bash -c '
                for ((i = 0; i < $3; i++)); do
                        printf -v name "%s-status-%08x%08x.json" "$(printf "%(%Y%m%dT%H%M%SZ)T" -1)" "$2" "$i"
                        printf "{\"verb\":\"status\",\"requested_at\":\"%s\",\"idempotency_key\":\"r%s.%s\"}\n" "$(printf "%(%Y-%m-%dT%H:%M:%SZ)T" -1)" "$2" "$i" >"$1/$name"
                done' put "$work/$1/untracked/spoolgate/requests" "$2" "$each"
}
measure() { # SLUG: CPU seconds of one drain and what it starts
        local TIMEFORMAT='%U %S' answered
        { time as "$drain" "$1" >"$work/out" 2>&1; } 2>"$work/time" || { cat "$work/out" >&2; exit 1; }
        answered=$(find "$work/$1/untracked/spoolgate/responses" -name '*.json' -exec grep -l '"state":"done"' {} + | wc -l)
        [ "$answered" = $((each * ($2 + 1))) ] || { echo "only $answered answered of $((each * ($2 + 1)))" >&2; exit 1; }
        awk '{ print $1 + $2 }' "$work/time"
}
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
project small
project big
fill small 100
fill big "$big"
for ((r = 0; r <= rounds; r++)); do
        for slug in small big; do
                put $slug $r
                seconds=$(measure $slug $r)
                if [ $r -gt 0 ]; then echo "$seconds" >>"$work/$slug.cpu"; else echo "first round, $slug: $seconds s"; fi
        done
done
awk -v s="$(median <"$work/small.cpu")" -v b="$(median <"$work/big.cpu")" -v n=$each -v keys="$big" 'BEGIN {
        printf "a request of a drain of %d: %.2f ms of CPU at 100 keys, %.2f ms at %d keys: ratio %.2f\n", n, s / n * 1000, b / n * 1000, keys, b / s
        exit b > 1.5 * s }'
