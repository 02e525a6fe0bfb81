#!/bin/bash
# test-drain-lanes.sh BUILD_ROOT SOURCE_ROOT - lanes, first come first served, the heartbeat, many drains at once, followers
# shellcheck source=tests/flow/lib.sh
. "$(dirname -- "$0")/lib.sh"
flow_begin "$@"
flow_project
LANE_LIMIT=3

# ---- a long mutating run delays no look ------------------------------------------------------------------------------------

request restart gate
gate=$NAME
drain_start
entered
request restart web
first=$NAME
request restart api
second=$NAME
begin=${EPOCHREALTIME/./}
request status
check "status is answered while a mutating verb runs" await answered "$NAME" "done"
check "within 2 s" test $((${EPOCHREALTIME/./} - begin)) -lt 2000000
request ping
check "ping too" await answered "$NAME" "done"
expect "the mutating ones wait, one at a time" "$first" state=queued ahead=1
expect "with their place in the line" "$second" state=queued ahead=2
equal "none has begun" "$(effects 'restart web')$(effects 'restart api')" 00
beat=$(cat "$S/diagnostics/heartbeat.json")
equal "the heartbeat tells what runs" "$(python3 -c '
import json, sys
h = json.load(open(sys.argv[1]))
print([(r["verb"], r["arg"]) for r in h["running"]], h["waiting_mutating"])' "$S/diagnostics/heartbeat.json")" "[('restart', 'gate')] 2"
moved() { [ "$(cat "$S/diagnostics/heartbeat.json")" != "$beat" ]; }
check "and moves while it runs" await moved
let_go on
drain_wait
equal "the drain exits 0" "$RC $(cat "$T/drain.bg.err")" "0 "
expect "the long one" "$gate" state=done
equal "then the others, in their order" "$(tr '\n' ';' <"$EFFECTS")" "restart gate;status;restart web;restart api;"
check "one after the other" test "$(field "$first" finished_at)" \< "$(field "$second" started_at)"

# ---- read-only lanes ---------------------------------------------------------------------------------------------------------

: >"$EFFECTS"
names=()
for i in 1 2 3 4 5; do
        request logs gate
        names+=("$NAME")
done
drain_start
for ((i = 0; i < LANE_LIMIT; i++)); do entered; done
check "three run" await answered "${names[2]}" running
request restart web
check "they don't hold up a mutating one" await answered "$NAME" "done"
equal "no fourth begins" "$(effects 'logs gate')" $LANE_LIMIT
expect "the fourth waits" "${names[3]}" state=queued
let_go a
entered
equal "then the fourth does" "$(effects 'logs gate')" 4
for i in 1 2 3 4; do
        [ $i = 4 ] || let_go b
        [ $i != 1 ] || entered
done
let_go b
drain_wait
for name in "${names[@]}"; do
        expect "each is answered" "$name" state=done
done
flow_policy LANES_READ=1
: >"$EFFECTS"
request logs gate
request logs web
drain_start
entered
check "one lane: the second waits" await answered "$NAME" queued
equal "and hasn't begun" "$(effects 'logs web')" 0
let_go x
drain_wait
expect "and is served next" "$NAME" state=done
flow_policy

# ---- followers -----------------------------------------------------------------------------------------------------------------

: >"$EFFECTS"
request logs gate '"idempotency_key":"same"'
one=$NAME
drain_start
entered
request logs gate '"idempotency_key":"same"'
two=$NAME
request logs web '"idempotency_key":"same"'
three=$NAME
check "another request under a running key: conflict" await answered "$three" denied
expect "key-conflict" "$three" reason=key-conflict
request restart gate '"idempotency_key":"change"'
four=$NAME
entered
request restart gate '"idempotency_key":"change"'
five=$NAME
check "a twin of a running one waits" await answered "$five" queued
cp "$S/processing/$four" "$S/requests/.twin" && mv "$S/requests/.twin" "$S/requests/$four"
let_go x
let_go x
drain_wait
expect "the first" "$one" state=done replayed=false 'output=passed x\n'
expect "its follower has the same answer" "$two" state=done replayed=true 'output=passed x\n'
expect "the mutating one" "$five" state=done replayed=true
expect "the very file sent again while it ran" "$four" state=done replayed=true
equal "each key ran once" "$(tr '\n' ';' <"$EFFECTS")" "logs gate;restart gate;"
empty "nothing is left in the line"

# ---- cancel: the nonce says which -----------------------------------------------------------------------------------------------

cancel() { # NAME [MEMBERS]: sets NAME to the cancelling request's
        local nonce=${1##*-}
        NAME=$(stamp)-cancel-$nonce
        put "$NAME" "{\"verb\":\"cancel\",\"requested_at\":\"$(iso)\"${2:+,$2}}"
}
flow_policy MODE_cancel=auto
: >"$EFFECTS"
request restart gate
gate=$NAME
drain_start
entered
request restart web
web=$NAME
check "one waits" await answered "$web" queued
cancel "$web" '"permission_scope":"plan"'
check "a plan of a cancel" await answered "$NAME" "done"
expect "cancels nothing" "$web" state=queued
rm "$S/responses/$NAME.response.json"
sleep 1 # a name of its own: the stamp has seconds
cancel "$web"
check "a cancel is answered at once" await answered "$NAME" "done"
expect "what waited is out of the line" "$web" state=failed reason=cancelled exit=null
cancel "$gate"
check "what runs can be cancelled too" await answered "$gate" failed
expect "and says so" "$gate" state=failed reason=cancelled
cancel "000-0123456789abcdef.json"
check "a nonce that nobody has" await answered "$NAME" denied
drain_wait
equal "what was cancelled in the line never began" "$(effects 'restart web')" 0
empty "nothing is left in the line"
flow_policy MODE_cancel=auto AUDIT_REFUSALS=5/600
rm -f "$STATE/rate/refusals"
request restart deaf
deaf=$NAME
drain_start
entered
lines=$(wc -l <"$STATE/audit.log")
for ((i = 0; i < 30; i++)); do
        cancel "$deaf"
        await test ! -e "$S/requests/$NAME"
done
check "cancelling again and again pushes no line out of the log" test "$(($(wc -l <"$STATE/audit.log") - lines))" -le 7
drain_wait
flow_policy

# ---- many drains ------------------------------------------------------------------------------------------------------------------

: >"$EFFECTS"
request restart gate
gate=$NAME
drain_start
worker=$DRAIN_PID
entered
request restart web
drain
equal "a second drain exits 0" "$RC $(cat "$T/drain.err")" "0 "
expect "and has acknowledged, not run" "$NAME" state=queued
expect "the running state isn't covered" "$gate" state=running
let_go on
DRAIN_PID=$worker
drain_wait
expect "the first one did both" "$NAME" state=done
: >"$EFFECTS"
names=()
for i in {1..10}; do
        request restart web
        names+=("$NAME")
        request ping
        names+=("$NAME")
done
pids=()
for i in {1..20}; do
        as_user timeout 40 env -i HOME="$T/home" "${FLOW_ENV[@]}" "$DRAIN" demo 2>"$T/many.$i.err" </dev/null &
        pids+=($!)
done
status=
for pid in "${pids[@]}"; do
        wait "$pid"
        status="$status$?"
done
equal "20 drains at once: all exit 0" "$status $(cat "$T"/many.*.err)" "00000000000000000000 "
good=0
for name in "${names[@]}"; do
        if answered "$name" "done"; then good=$((good + 1)); fi
done
equal "each request is answered" $good 20
equal "each ran exactly once" "$(effects 'restart web')" 10
equal "each has one end on record" "$(grep '"event":"end"' "$STATE/audit.log" | grep -o '"request":"[^"]*"' | sort | uniq -d | wc -l)" 0
check "the audit log's chain holds" audit_chain
empty "nothing is left in the line"

# The agent can't hold the lock: it isn't in the spool.
python3 - "$S" "$S/go" <<'LOCK' &
import fcntl, os, sys, time
held = [os.open(os.path.join(sys.argv[1], d), os.O_RDONLY) for d in os.listdir(sys.argv[1])]
for fd in held: fcntl.flock(fd, fcntl.LOCK_EX)
open(sys.argv[1] + "/locked", "w").close()
while not os.path.exists(sys.argv[2]): time.sleep(0.05)
LOCK
await test -e "$S/locked"
request restart web
drain
expect "flocks on the spool's directories change nothing" "$NAME" state=done
touch "$S/go"
wait

# ---- a burst is one activation, a follow-up finds a warm drain --------------------------------------------------------------------

flow_policy LINGER_MS=3000
request ping
drain_start
await answered "$NAME" "done"
request restart quiet
check "a follow-up within the linger" await answered "$NAME" "done"
request status
check "and one after a run" await answered "$NAME" "done"
check "by the same drain" kill -0 "$DRAIN_PID"
begin=$EPOCHSECONDS
drain_wait
equal "which then ends" "$RC" 0
check "after the linger, not before, not long after" test $((EPOCHSECONDS - begin)) -ge 2 -a $((EPOCHSECONDS - begin)) -le 6
begin=${EPOCHREALTIME/./}
flow_policy
drain
check "woken for nothing: it stays a second" test $((${EPOCHREALTIME/./} - begin)) -ge 1000000
flow_end
