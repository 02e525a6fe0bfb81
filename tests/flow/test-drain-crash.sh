#!/bin/bash
# test-drain-crash.sh BUILD_ROOT SOURCE_ROOT - a drain killed in the middle, records that are torn or closed: the next drain tells the truth
# shellcheck source=tests/flow/lib.sh
. "$(dirname -- "$0")/lib.sh"
flow_begin "$@"
flow_project

killed() { # SIGKILL to the drain alone: what it started goes on
        kill -KILL "$DRAIN_PID"
        wait "$DRAIN_PID" 2>/dev/null
}

keeper() { tr -dc 0-9 <"$(echo "$STATE"/run/*.lock)"; }

gone() { ! kill -0 "$1" 2>/dev/null; }

# ---- the drain dies, the run goes on ------------------------------------------------------------------------------------

request restart gate
gate=$NAME
drain_start
entered
killed
expect "killed in the middle: the last word is running" "$gate" state=running
request restart web
drain_start
check "the next drain works while it runs" await answered "$NAME" queued
expect "and says that it runs" "$gate" state=running
request status
check "a look is served meanwhile" await answered "$NAME" "done"
echo "true" >&8
drain_wait
expect "its true outcome" "$gate" state=done exit=0 'output=passed true\n' replayed=false "log=archive/$gate.log"
equal "it ran once" "$(effects 'restart gate')" 1
equal "the log is whole" "$(cat "$S/archive/$gate.log")" "passed true"
empty "nothing is left in the line"
check "claim, start and end are on record" test "$(grep -F "$gate" "$STATE/audit.log" | grep -o '"event":"[a-z]*"' | tr '\n' ' ')" = '"event":"claimed" "event":"start" "event":"end" '

request restart gate
gate=$NAME
drain_start
entered
pid=$(keeper)
killed
let_go late
check "the run ends while no drain is there" await gone "$pid"
check "its result waits" test -n "$(echo "$STATE"/run/*.result)"
drain
expect "and is told by the next" "$gate" state=done 'output=passed late\n'
equal "nothing is left of it" "$(visible "$STATE/run")$(visible "$STATE/ledger/begun")" 00
equal "it ran once" "$(effects 'restart gate')" 2

request restart gate
gate=$NAME
drain_start
entered
kill -TERM "$DRAIN_PID"
drain_wait
equal "SIGTERM in the middle: the drain ends well" "$RC" 0
let_go term
drain
expect "the next one tells the outcome" "$gate" state=done 'output=passed term\n'

# ---- both die --------------------------------------------------------------------------------------------------------------

request restart gate
gate=$NAME
drain_start
entered
pid=$(keeper)
killed
kill -KILL "$pid"
let_go lost
await gone "$pid"
: >"$EFFECTS"
request restart web
drain
expect "no result: uncertain" "$gate" state=uncertain reason=interrupted exit=null signal=null output=null
like "the message ends with the command" "$(field "$gate" message)" "*\\\\nspoolgate resolve -s demo $gate failed"
expect "the rest of the line goes on" "$NAME" state=done
cp "$S/archive/$gate" "$S/requests/.again" && mv "$S/requests/.again" "$S/requests/$gate"
drain
expect "sent again: the same answer" "$gate" state=uncertain replayed=true
equal "never run again" "$(effects 'restart gate')" 0
empty "nothing is left in the line"

# ---- a read-only run without a key runs again -----------------------------------------------------------------------------

request logs gate
gate=$NAME
drain_start
entered
pid=$(keeper)
killed
: >"$EFFECTS"
drain_start
entered
check "the first one is cancelled" await gone "$pid"
let_go again
drain_wait
expect "a look simply runs again" "$gate" state=done 'output=passed again\n'
drain
equal "nothing is left of either" "$(visible "$STATE/run")" 0
empty "nothing is left in the line"

request logs gate '"idempotency_key":"look"'
gate=$NAME
drain_start
entered
killed
drain_start
check "with a key it is watched" await answered "$gate" running
let_go keyed
drain_wait
expect "and told" "$gate" state=done 'output=passed keyed\n'

# ---- between two steps --------------------------------------------------------------------------------------------------------

request restart web
web=$NAME
mv "$S/requests/$web" "$S/processing/$web"
drain
expect "claimed, nothing started: back in line" "$web" state=done replayed=false
as_user touch "$STATE/paused"
: >"$EFFECTS"
request restart web
drain
expect "refused while paused" "$NAME" state=denied reason=paused
denied=$(response "$NAME")
as_user rm "$STATE/paused"
mv "$S/archive/$NAME" "$S/processing/$NAME"
drain
equal "refused, and killed before it was archived: no gate is asked again" "$(effects 'restart web')" 0
equal "its answer stands" "$(response "$NAME")" "$denied"
check "and it is archived" test -f "$S/archive/$NAME" -a ! -e "$S/processing/$NAME"
raw restart '{"verb":'
drain
denied=$(response "$NAME")
mv "$S"/quarantine/* "$S/processing/$NAME"
drain
equal "the same for what could not be read" "$(response "$NAME")" "$denied"
check "and it is kept" test -n "$(ls "$S/quarantine")" -a ! -e "$S/processing/$NAME"
: >"$EFFECTS"
first=$(response "$web")
rm "$S/responses/$web.response.json"
mv "$S/archive/$web" "$S/processing/$web"
drain
equal "ended, answer not delivered: the stored one" "$(response "$web")" "$first"
check "and archived" test -f "$S/archive/$web" -a ! -e "$S/processing/$web"
key=$(grep -lF "name $web" "$STATE"/ledger/ended/* | sed 's,.*/,,')
cp "$STATE/ledger/ended/$key" "$T/ended"
request restart gate
drain_start
entered
begun=$(echo "$STATE"/ledger/begun/*)
cp "$begun" "$T/begun"
let_go x
drain_wait
cp "$T/begun" "$begun"
chmod 600 "$begun"
drain
equal "both begun and ended: ended wins" "$(visible "$STATE/ledger/begun")" 0
rm "$S/responses/$web.response.json"
as_user sh -c ": >'$STATE/run/$key.lock'"
drain
equal "a run's file beside an ended entry: the answer again" "$(response "$web")" "$first"
equal "and the file is gone" "$(visible "$STATE/run")" 0
equal "nothing ran for all that" "$(effects 'restart web')" 0

# ---- records -------------------------------------------------------------------------------------------------------------------

blocked() { # CASE: nothing starts, each is answered, the line is emptied
        : >"$EFFECTS"
        request restart web
        local restart=$NAME
        request status
        local status=$NAME
        request ping
        echo junk >"$S/requests/junk"
        drain
        equal "$1: the drain exits 0" "$RC" 0
        expect "$1: mutating" "$restart" state=denied reason=host-error
        expect "$1: read-only" "$status" state="$2" reason="$3"
        expect "$1: ping" "$NAME" state="$4" reason="$5"
        equal "$1: nothing is left in requests/" "$(visible "$S/requests")" 0
        equal "$1: nothing that changes ran" "$(effects 'restart web')" 0
}
chmod 666 "$STATE/audit.log"
blocked "an audit log that others may write" denied host-error denied host-error
chmod 600 "$STATE/audit.log"
mv "$STATE/audit.log" "$STATE/audit.log.away"
mkdir "$STATE/audit.log"
blocked "a directory in the audit log's place" denied host-error denied host-error
rmdir "$STATE/audit.log"
ln -s "$T/elsewhere" "$STATE/audit.log"
blocked "a link in the audit log's place" denied host-error denied host-error
check "isn't followed" test ! -e "$T/elsewhere"
rm "$STATE/audit.log"
mv "$STATE/audit.log.away" "$STATE/audit.log"
mv "$STATE/ledger" "$STATE/ledger.away"
: >"$STATE/ledger"
blocked "no ledger" "done" null "done" null
rm "$STATE/ledger"
mv "$STATE/ledger.away" "$STATE/ledger"
request restart gate
gate=$NAME
drain_start
entered
pid=$(keeper)
killed
kill -KILL "$pid"
let_go x
begun=$(echo "$STATE"/ledger/begun/*)
cp "$begun" "$T/begun"
chmod 666 "$STATE/audit.log"
blocked "a begun entry and no audit log" denied host-error denied host-error
expect "the interrupted one keeps its state" "$gate" state=running
chmod 600 "$STATE/audit.log"
truncate -s 20 "$begun"
expect "the interrupted one keeps its state" "$gate" state=running
blocked "a torn ledger entry" "done" null "done" null
cp "$T/begun" "$begun"
drain
expect "mended: it is told" "$gate" state=uncertain
printf '{"seq":torn' >>"$STATE/audit.log"
request restart web
drain
expect "a torn last line of the audit log" "$NAME" state=done
equal "is recorded as a gap" "$(audit '"event":"gap"')" 1
check "the chain holds over it" audit_chain
empty "nothing is left in the line"
flow_end
