#!/bin/bash
# test-drain-clock.sh BUILD_ROOT SOURCE_ROOT - a clock that jumps, under and between drains (libfaketime): nothing runs twice, nothing is lost, nothing spins
# shellcheck source=tests/flow/lib.sh
. "$(dirname -- "$0")/lib.sh"
flow_begin "$@"
flow_project
faketime=
for file in /usr/lib/*/faketime/libfaketime.so.1 /usr/lib/faketime/libfaketime.so.1 /usr/lib64/faketime/libfaketime.so.1; do
        [ ! -e "$file" ] || faketime=$file
done
real=("${FLOW_ENV[@]}")

# at SECONDS: the drain's wall clock is so far from ours from now on; its boot clock is left alone
at() {
        FLOW_ENV=("${real[@]}" LD_PRELOAD="$faketime" FAKETIME_DONT_FAKE_MONOTONIC=1 DONT_FAKE_MONOTONIC=1 FAKETIME_NO_CACHE=1 FAKETIME_TIMESTAMP_FILE="$T/clock")
        moved "$1"
}
moved() { # SECONDS: also under a drain that runs
        printf '%+d\n' "$1" >"$T/clock.new"
        chmod 644 "$T/clock.new"
        mv "$T/clock.new" "$T/clock"
}
fits() { # SECONDS VERB [ARG [MEMBERS]]: a request dated by a clock so far from ours; sets NAME
        nonce
        NAME=$(stamp "$1")-$2-$NONCE.json
        put "$NAME" "{\"verb\":\"$2\",\"requested_at\":\"$(iso "$1")\"${3:+,\"arg\":\"$3\"}${4:+,$4}}"
}

if nm -D "$DRAIN" 2>/dev/null | grep -q __asan; then
        pass "not under a sanitizer, which wants to be loaded first"
        flow_end
fi
if [ -z "$faketime" ]; then
        pass "there is a drain to look at"
        skip "a clock that jumps" "no libfaketime"
        flow_end
fi
at -86400
request ping
drain
expect "the clock is moved for the drain" "$NAME" state=denied reason=future-dated
year=31536000

# ---- between drains ---------------------------------------------------------------------------------------------------------

# the files have the kernel's dates, which nobody moves here: retention by age is out of the way
flow_policy RATE_PER_VERB=2/600 KEEP_DAYS=3650
at 0
fits 0 restart web '"idempotency_key":"k1"'
drain
expect "now" "$NAME" state="done"
key=$NAME
for jump in -$year -3600 -61 61 3600 $year; do
        at "$jump"
        fits "$jump" restart web '"idempotency_key":"k1"'
        drain
        expect "the clock jumps by $jump s: the key's answer stands" "$NAME" state="done" replayed=true
        equal "the clock jumps by $jump s: the drain ends well" "$RC" 0
done
equal "it ran once in all" "$(effects 'restart web')" 1
at $((year + 5))
cp "$S/archive/$key" "$S/requests/.again"
mv "$S/requests/.again" "$S/requests/$key"
drain
expect "an old file again, a year ahead: not run" "$key" state=expired
equal "it ran once in all, still" "$(effects 'restart web')" 1
: >"$EFFECTS"

# the rate window: a jump back must not open it, nor shut it for good
at 0
for _ in 1 2 3; do
        fits 0 restart api
        drain
done
expect "the window is full" "$NAME" state=denied reason=rate
at -3600
fits -3600 restart api
drain
expect "back an hour: still full" "$NAME" state=denied reason=rate
check "back an hour: a wait that is bounded" test "$(field "$NAME" retry_after_sec)" -le 600
at 700
fits 700 restart api
drain
expect "the window passes" "$NAME" state="done"
equal "three in all" "$(effects 'restart api')" 3
flow_policy KEEP_DAYS=3650

# a jump ahead must not make another of what is begun
at 0
fits 0 restart gate
gate=$NAME
drain_start
entered
kill -KILL "$DRAIN_PID"
wait "$DRAIN_PID" 2>/dev/null
at $year
fits $year ping
drain_start
check "a year ahead: the run is watched" await answered "$gate" running
let_go through
drain_wait
expect "and told" "$gate" state="done" 'output=passed through\n'
equal "it ran once" "$(effects 'restart gate')" 1

# what is begun is kept however old it looks
flow_policy KEEP_DAYS=1
at 0
fits 0 restart gate
gate=$NAME
drain_start
entered
kill -KILL "$DRAIN_PID"
wait "$DRAIN_PID" 2>/dev/null
at $year
drain_start
check "a year ahead with a day's retention: the next drain watches it" await answered "$gate" running
entry=$(echo "$STATE"/ledger/begun/*)
check "and its entry stands" test -f "$entry"
let_go kept
drain_wait
equal "it is told to the audit log" "$(grep -F "$gate" "$STATE/audit.log" | grep -c '"event":"end".*"state":"done"')" 1
equal "it ran once" "$(effects 'restart gate')" 2
flow_policy KEEP_DAYS=3650

# ---- under a drain that runs ------------------------------------------------------------------------------------------------

# a deadline is the boot clock's
flow_policy TIMEOUT_restart=3 KEEP_DAYS=3650
at 0
fits 0 restart gate
gate=$NAME
drain_start
entered
moved $year
fits $year ping
check "ahead by a year in the middle of a run: the line goes on" await answered "$NAME" "done"
expect "its deadline has not come" "$gate" state=running
moved -$year
fits -$year ping
check "back by two: the line goes on" await answered "$NAME" "done"
drain_wait
expect "its deadline comes all the same" "$gate" state=failed reason=timeout
check "no negative duration" test "$(field "$gate" duration_ms)" -ge 2900 -a "$(field "$gate" duration_ms)" -lt 20000
flow_policy KEEP_DAYS=3650

# the linger is the boot clock's too: the drain ends soon whatever the clock says
at 0
fits 0 ping
drain_start
check "served" await answered "$NAME" "done"
began=$SECONDS
moved -$year
drain_wait
equal "back by a year while it lingers: ends well" "$RC" 0
check "and soon" test $((SECONDS - began)) -le 5

at 0
check "the audit log's chain holds over all of it" audit_chain
empty "nothing is left in the line"
equal "nothing is left of any run" "$(visible "$STATE/run")$(visible "$STATE/ledger/begun")" 00
fits 0 restart web
drain
expect "the clock is right again: so is all" "$NAME" state="done"
flow_end
