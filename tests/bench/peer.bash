#!/usr/bin/env bash
# peer.bash SPOOL STATE CHECKOUT STACK_BIN - one drain of a spool as the shell design does it (bash, jq, git,
# flock, coreutils): the peer that spoolgate-drain is measured against. Acknowledge, claim, check the schema,
# deny list, allowlist, argument, policy, rate, integrity ahead of mutating verbs, fixed argv, publish by rename,
# audit line, archive. It syncs nothing, which is to its advantage.
set -uo pipefail
spool=$1 state=$2 checkout=$3 stack=$4
deny='exec eval shell sh bash reset-db'
allow='ping status health logs up down restart rebuild init'
takes_arg='logs restart rebuild'
read_only='ping status health logs'
services='web db'
buildable='web'

has() { [[ " $1 " == *" $2 "* ]]; }

put() { # DIRECTORY NAME TEXT
        local t
        t=$(mktemp "$spool/tmp/w.XXXXXX") && printf '%s\n' "$3" >"$t" && mv -f "$t" "$spool/$1/$2"
}

answer() { # NAME STATE REASON EXIT
        put responses "$1.response.json" \
                "$(jq -nc --arg s "$2" --arg r "$3" --arg e "$4" '{v: 1, state: $s, reason: $r, exit: $e}')"
}

note() { # NAME STATE REASON
        jq -nc --arg t "$(date -u +%Y-%m-%dT%H:%M:%SZ)" --arg n "$1" --arg s "$2" --arg r "$3" \
                '{ts: $t, request: $n, state: $s, reason: $r}' >>"$state/peer-audit.log"
}

check() { # NAME BODY: sets verb, arg, why
        verb='' arg='' why=''
        [[ $1 =~ ^[0-9]{8}T[0-9]{6}Z-[a-z-]+-[0-9a-f]{16}\.json$ ]] || { why=name; return 1; }
        verb=$(jq -r '.verb // empty' <<<"$2")
        has "$deny" "$verb" && { why=hard-denied; return 1; }
        has "$allow" "$verb" || { why=unknown-verb; return 1; }
        has "$takes_arg" "$verb" || return 0
        arg=$(jq -r '.arg // empty' <<<"$2")
        # shellcheck disable=SC2100
        [[ $arg =~ ^[a-z][a-z0-9_-]*$ ]] || { why=arg-shape; return 1; }
        # shellcheck disable=SC2100
        if [ "$verb" = rebuild ]; then has "$buildable" "$arg"; else has "$services" "$arg"; fi || { why=arg-not-listed; return 1; }
}

permitted() {
        [ "$(sed -n "s/^MODE_$verb=//p" "$state/peer-policy.conf" | tail -n 1)" = auto ] || { why=policy; return 1; }
        has "$read_only" "$verb" && return 0
        local now
        now=$(date +%s)
        touch "$state/peer-rate"
        awk -v from=$((now - 600)) '$1 > from' "$state/peer-rate" >"$state/peer-rate.new"
        mv -f "$state/peer-rate.new" "$state/peer-rate"
        [ "$(wc -l <"$state/peer-rate")" -lt 1000000 ] || { why=rate; return 1; }
        echo "$now" >>"$state/peer-rate"
        [ -z "$(git -C "$checkout" status --porcelain -- stack)" ] || { why=integrity; return 1; }
}

run() { # NAME
        case $verb in
        ping) set -- "$1" true ;;
        up) set -- "$1" "$stack" start ;;
        down) set -- "$1" "$stack" stop ;;
        rebuild) set -- "$1" "$stack" build "$arg" ;;
        *) set -- "$1" "$stack" "$verb" ${arg:+"$arg"} ;;
        esac
        local name=$1 code=0
        shift
        "$@" >"$spool/archive/$name.log" 2>&1 9>&- </dev/null || code=$?
        if [ $code -eq 0 ]; then answer "$name" 'done' '' 0; note "$name" 'done' ''; else
                answer "$name" failed exit-nonzero $code
                note "$name" failed "exit $code"
        fi
}

cd "$spool/requests" || exit 1
shopt -s nullglob
for name in *.json; do
        [ -e "$spool/responses/$name.response.json" ] || answer "$name" queued '' ''
done
exec 9>"$state/peer-lock"
flock -n 9 || exit 0
for name in *.json; do
        if [ -L "$name" ] || [ ! -f "$name" ]; then mv -f "$name" "$spool/quarantine/"; continue; fi
        mv -f "$name" "$spool/processing/" || continue
        body=$(cat "$spool/processing/$name")
        if ! jq -e . >/dev/null 2>&1 <<<"$body"; then
                mv -f "$spool/processing/$name" "$spool/quarantine/"
                note "$name" quarantined ''
                continue
        fi
        if check "$name" "$body" && permitted; then run "$name"; else
                answer "$name" denied "$why" ''
                note "$name" denied "$why"
        fi
        mv -f "$spool/processing/$name" "$spool/archive/"
done
