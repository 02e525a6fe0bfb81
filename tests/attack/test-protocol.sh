#!/bin/bash
# test-protocol.sh BUILD_ROOT SOURCE_ROOT - rows 44 to 66: replays, keys, clocks, policy, floods, two projects
# shellcheck source=tests/flow/lib.sh
. "$(dirname -- "$0")/lib.sh"
flow_begin "$@"
flow_project
R=$S/requests
again() { cp "$1" "$R/.again" && mv "$R/.again" "$R/$2"; }

# ---- rows 44 to 48: replays and keys ------------------------------------------------------------------------------------------

request restart web
one=$NAME
drain
cp "$S/archive/$one" "$T/copy"
again "$T/copy" "$one"
drain
expect "row 44: an archived request copied back" "$one" state=done replayed=true
again "$T/copy" "${one/restart/down}"
down=${one/restart/down}
put "${one/restart/init}" "{\"verb\":\"restart\",\"arg\":\"web\",\"requested_at\":\"$(iso)\"}"
sed 's/web/api/' "$T/copy" >"$T/changed"
again "$T/changed" "$one"
drain
expect "row 45: the same bytes under another verb's name" "$down" state=denied reason=name-mismatch
expect "row 45: and a third" "${one/restart/init}" state=denied reason=name-mismatch
expect "row 46: the same name with another arg" "$one" state=denied reason=key-conflict
equal "rows 44-46: one run" "$(wc -l <"$EFFECTS")" 1
request restart web '"idempotency_key":"k","timeout_sec":50'
drain
request restart web '"idempotency_key":"k","timeout_sec":51'
conflict=$NAME
request restart web '"idempotency_key":"k","timeout_sec":50,"permission_scope":"edit"'
scoped=$NAME
request logs web '"idempotency_key":"k"'
drain
expect "row 46: the same key, another timeout" "$conflict" state=denied reason=key-conflict
expect "row 46: another scope" "$scoped" state=denied reason=key-conflict
expect "row 46: another verb" "$NAME" state=denied reason=key-conflict
request restart web "\"idempotency_key\":\"n:$one\""
drain
expect "row 47: a key that looks like a name's is another key" "$NAME" state=done replayed=false
: >"$EFFECTS"
keys=('../x' '/etc/passwd' 'a/b' '.' '..' '...' "$(printf 'k%.0s' {1..128})" "$(printf 'k%.0s' {1..129})" "$(printf 'k%.0s' {1..4096})" '' 'a b' 'a\u0000b' 'a\nb' '%s' '-rf' ':')
names=()
for key in "${keys[@]}"; do
        request restart web "\"idempotency_key\":\"$key\""
        names+=("$NAME")
done
drain
got=
for name in "${names[@]}"; do got="$got $(field "$name" state)"; done
equal "row 48: a key is no path" "$got" " denied denied denied done done done done denied denied denied denied denied denied denied done done"
equal "row 48: its files are hashes" "$(find "$STATE/ledger/begun" "$STATE/ledger/ended" -type f ! -name '.*' | grep -cvE '/(begun|ended)/[0-9a-f]{64}$')" 0

# ---- rows 49 to 51: clocks ---------------------------------------------------------------------------------------------------------

dated() { # NAME-OFFSET BODY-OFFSET: sets NAME
        nonce
        NAME=$(stamp "$1")-restart-$NONCE.json
        put "$NAME" "{\"verb\":\"restart\",\"arg\":\"web\",\"requested_at\":\"$(iso "$2")\"}"
}
: >"$EFFECTS"
for row in "-1000 0 name-mismatch" "0 -1000 name-mismatch" "-1000 -1000 expired" "400 0 name-mismatch" "0 400 name-mismatch" "400 400 future-dated" \
        "-330 -280 done" "-250 -305 expired" "31536000 31536000 future-dated" "50 55 done" "-315360000 -315360000 expired"; do
        read -r name_off body_off want <<<"$row"
        dated "$name_off" "$body_off"
        touch -d '1990-01-01' "$R/$NAME"
        drain
        if [ "$want" = "done" ]; then
                expect "rows 49, 50: name $name_off s, body $body_off s" "$NAME" state=done
        else
                expect "rows 49, 50: name $name_off s, body $body_off s" "$NAME" reason="$want"
        fi
done
equal "rows 49, 50: two ran" "$(effects 'restart web')" 2
flow_policy RATE_PER_VERB=2/60 RATE_TOTAL=100/60
rm -f "$STATE"/rate/window
ahead=$((($(printf '%(%s)T' -1) + 86400) * 1000))
printf '%s restart.web\n%s restart.web\n' $ahead $ahead >"$T/window"
as_user cp "$T/window" "$STATE/rate/window"
as_user chmod 600 "$STATE/rate/window"
request restart web
drain
expect "row 51: stamps from a clock that was ahead deny, never free" "$NAME" state=denied
flow_policy
rm -f "$STATE"/rate/window

# ---- rows 52 to 54: verbs and policy ----------------------------------------------------------------------------------------------------

put "$(stamp)-ping-00000000000000aa.json" "{\"verb\":\"down\",\"requested_at\":\"$(iso)\"}"
NAME=$(cd "$R" && echo *aa.json)
drain
expect "row 52: ping by name, down by body" "$NAME" state=denied reason=name-mismatch
equal "row 52: nothing ran" "$(effects stop)" 0
deny() { # CASE LINES: exec stays hard-denied, restart gets host-config
        printf '%b' "$2" >"$CONF/policy.conf"
        flow_own "$CONF/policy.conf"
        nonce
        local hard
        hard=$(stamp)-exec-$NONCE.json
        put "$hard" "{\"verb\":\"exec\",\"requested_at\":\"$(iso)\"}"
        request restart web
        drain
        expect "row 53: $1: exec" "$hard" state=denied reason=hard-denied
        expect "row 54: $1: restart" "$NAME" state=denied reason="$3"
}
deny "MODE_exec=auto" 'MODE_exec=auto\nMODE_restart=auto\n' host-config
deny "an unknown key" 'MODE_restart=auto\nFUN=1\n' host-config
deny "an unknown mode" 'MODE_restart=ask\n' host-config
deny "spaces" 'MODE_restart = auto\n' host-config
deny "a NUL" 'MODE_restart=auto\n\0' host-config
deny "out of bounds" 'MODE_restart=auto\nRATE_TOTAL=0/600\n' host-config
deny "a wider timeout than the cap" 'MODE_restart=auto\nTIMEOUT_restart=99999\n' host-config
deny "an empty file" '' policy
deny "comments alone" '# MODE_restart=auto\n' policy
deny "no value" 'MODE_restart\n' host-config
printf 'MODE_restart=auto\r\nMODE_ping=auto\r\nLINGER_MS=250\r\nINTEGRITY=seal\r\n' >"$CONF/policy.conf"
flow_own "$CONF/policy.conf"
request restart web
drain
expect "row 54: CRLF is a line's end" "$NAME" state=done
cat >"$CONF/verbs.json" <<'VERBS'
{"v": 1, "verbs": [{"name": "exec", "class": "read-only", "argv": ["/bin/sh", "-c", "id"]}]}
VERBS
flow_own "$CONF/verbs.json"
flow_policy
nonce
put "$(stamp)-exec-$NONCE.json" "{\"verb\":\"exec\",\"requested_at\":\"$(iso)\"}"
NAME=$(cd "$R" && echo *-exec-*)
drain
expect "row 53: an own verb can't be called exec" "$NAME" state=denied reason=hard-denied
rm "$CONF/verbs.json"

# ---- row 61: a flood ---------------------------------------------------------------------------------------------------------------------

flow_policy KEEP_FILES=20000
python3 - "$R" 6000 <<'FLOOD'
import os, sys, time
stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()); at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
for i in range(int(sys.argv[2])):
    with open(f"{sys.argv[1]}/.f", "w") as f: f.write('{"verb":"ping","requested_at":"%s"}' % at)
    os.rename(f"{sys.argv[1]}/.f", f"{sys.argv[1]}/{stamp}-ping-{0xf00000 + i:016x}.json")
FLOOD
request restart web
before=$(wc -l <"$STATE/audit.log")
begin=$EPOCHSECONDS
as_user bash -c 'ulimit -v unlimited; exec /usr/bin/env -i HOME="$1" ASAN_OPTIONS=detect_leaks=0 /usr/bin/python3 -c "
import os, resource, sys
pid = os.spawnv(os.P_NOWAIT, sys.argv[1], [sys.argv[1], \"demo\"])
status = os.wait()[1]
print(os.waitstatus_to_exitcode(status), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)" "$2"' - "$T/home" "$DRAIN" >"$T/usage"
read -r RC rss <"$T/usage"
equal "row 61: 6,000 requests: the drain exits 0" "$RC" 0
check "row 61: in bounded time" test $((EPOCHSECONDS - begin)) -lt 60
check "row 61: in bounded memory ($rss KiB)" test "$rss" -lt 400000
empty "row 61: nothing is left in the line"
expect "row 61: the last one is served" "$NAME" state=done
equal "row 61: each has its answer" "$(grep -l '"state":"done"' -r "$S/responses" --include='*-ping-*' | wc -l)" 6000
check "row 61: the audit log doesn't grow with it" test $(($(wc -l <"$STATE/audit.log") - before)) -lt 700
check "row 61: its chain holds" audit_chain
flow_policy

# ---- row 62: evading the rate ----------------------------------------------------------------------------------------------------------------

rm -f "$STATE"/rate/window
flow_policy RATE_PER_VERB=3/600 RATE_TOTAL=4/600
: >"$EFFECTS"
for i in 1 2 3 4; do
        for key in a b; do request restart web "\"idempotency_key\":\"$i$key\""; done
        rm -rf "$S/diagnostics" "$S/archive" "$S/responses"
        drain
done
equal "row 62: many names, keys, drains and a wiped mirror: three" "$(effects 'restart web')" 3
request restart api
drain
request restart quiet
drain
equal "row 62: four in all" "$(wc -l <"$EFFECTS")" 4
flow_policy

# ---- row 66, and keys across projects: a second project on this host -------------------------------------------------------------------------

rm -f "$STATE"/rate/window
request restart web '"idempotency_key":"shared"'
drain
expect "row 66: the first project" "$NAME" state=done replayed=false
first_effects=$EFFECTS
flow_project demo-two
request restart web '"idempotency_key":"shared"'
drain
expect "row 66: the same key in another project is another key" "$NAME" state=done replayed=false
equal "row 66: its own stack ran" "$(cat "$EFFECTS")" "restart web"
: >"$EFFECTS"
: >"$first_effects"
request restart gate
gate=$NAME
drain_start
entered
exec 5>&8
SLUG=demo
S=$T/projects/demo/untracked/spoolgate
request status
drain
expect "row 66: one project's run doesn't hold the other's lock" "$NAME" state=done
echo go >&5
S=$T/projects/demo-two/untracked/spoolgate
drain_wait
expect "row 66: and both end well" "$gate" state=done
equal "row 66: nothing of one ran for the other" "$(cat "$first_effects")" status
flow_end
