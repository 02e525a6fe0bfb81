#!/bin/bash
# bench-gate.sh GATE INSPECT [RUNS]: the integrity gate beside `git status --porcelain -- FILES`, three guarded files, on
# repositories of 500 and of 50,000 files. Times are those of the whole check (process included), warm, alternating.
# Built by meson, run by no test: bash tests/bench/bench-gate.sh BUILD/tests/attack/git/gate BUILD/src/spoolgate-inspect
set -eu
GATE=$1 INSPECT=$2 RUNS=${3:-200}
export INSPECT GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null LC_ALL=C
export GUARDED="deploy/compose.yaml deploy/stack.sh deploy/nginx.conf" ENV_FILES=.env
top=$(mktemp -d "${TMPDIR:-/tmp}/spoolgate-bench.XXXXXX")
trap 'rm -rf "$top"' EXIT

repository() { # FILES
        mkdir -p "$top/$1/co/deploy" "$top/$1/state"
        cd "$top/$1/co"
        git init -q -b main .
        awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) { d = "d" int(i / 100)
                if (i % 100 == 0) system("mkdir " d)
                f = d "/f" i; print "file " i "\nline\nline" >f; close(f) } }'
        echo 'services: {}' >deploy/compose.yaml
        printf '#!/bin/sh\n' >deploy/stack.sh
        echo 'server {}' >deploy/nginx.conf
        chmod 755 deploy/stack.sh
        echo A=1 >.env
        echo .env >.gitignore
        git add . && git -c user.name=a -c user.email=a@example.org commit -qm base && git repack -adq && git status --porcelain
        "$GATE" seal "$top/$1/co" "$top/$1/state" "$top/$1/co/.git"
        cd /
}

median() { sort -n | awk '{ v[NR] = $1 } END { printf "min %.2f  median %.2f  p95 %.2f ms\n", v[1] / 1000, v[int((NR + 1) / 2)] / 1000, v[int(NR * 0.95)] / 1000 }'; }

compare() { # FILES
        local co=$top/$1/co state=$top/$1/state pin
        pin=$("$GATE" pin "$co/.git")
        "$GATE" time 10 "$co" "$state" "$co/.git" "$pin" both >/dev/null
        for _ in $(seq 1 "$((RUNS / 10))"); do
                "$GATE" time 10 "$co" "$state" "$co/.git" "$pin" both >>"$top/gate.$1"
                # shellcheck disable=SC2086
                "$GATE" spawn 10 git -C "$co" status --porcelain -- $GUARDED >>"$top/git.$1"
        done
        "$GATE" time "$RUNS" "$co" "$state" "$co/.git" "$pin" seal >"$top/seal.$1"
        printf '%6d files  gate, both       ' "$1"; median <"$top/gate.$1"
        printf '%6d files  gate, seal alone ' "$1"; median <"$top/seal.$1"
        printf '%6d files  git status       ' "$1"; median <"$top/git.$1"
}

for n in 500 50000; do repository $n; compare $n; done
