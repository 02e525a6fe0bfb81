#!/bin/bash
# test-drain-uncertain.sh BUILD_ROOT SOURCE_ROOT - what is told of a run whose end is not known; ledger entries that are no good
# shellcheck source=tests/flow/lib.sh
. "$(dirname -- "$0")/lib.sh"
flow_begin "$@"
flow_project

gone() { ! kill -0 "$1" 2>/dev/null; }

# lost VERB [ARG]: drain and keeper of a run die in the middle of it; sets NAME
lost() {
        local pid
        request "$@"
        drain_start
        entered
        pid=$(tr -dc 0-9 <"$(echo "$STATE"/run/*.lock)")
        kill -KILL "$DRAIN_PID"
        wait "$DRAIN_PID" 2>/dev/null
        kill -KILL "$pid"
        let_go lost
        await gone "$pid"
        : >"$EFFECTS"
}

unknown="the run was interrupted; whether it took effect is not known"
resolve() { printf '\\nspoolgate resolve -s demo %s %s' "$1" retry "$1" "done" "$1" failed; }

# ---- the log --------------------------------------------------------------------------------------------------------------

lost restart gate
drain
expect "nothing was written" "$NAME" state=uncertain reason=interrupted output=null output_bytes=null log="archive/$NAME.log"
equal "said: what is known, then what settles it" "$(field "$NAME" message)" "$unknown; its log is empty$(resolve "$NAME")"

lost restart gate
printf 'so far\n\033[2J\377' >"$T/log"
as_user cp "$T/log" "$S/archive/$NAME.log"
drain
expect "the log so far" "$NAME" state=uncertain 'output=so far\n\\x1b[2J\\xff' truncated=false output_bytes=12
equal "said: who can write it" "$(field "$NAME" message)" "$unknown; the log so far is not verified, the agent can write it$(resolve "$NAME")"
first=$(response "$NAME")
rm "$S/responses/$NAME.response.json"
mv "$S/archive/$NAME" "$S/processing/$NAME"
drain
equal "the stored answer is the same" "$(response "$NAME")" "$first"

lost restart gate
head -c 200000 /dev/zero | tr '\0' z >"$T/log"
echo end >>"$T/log"
as_user cp "$T/log" "$S/archive/$NAME.log"
drain
expect "a long log: its end" "$NAME" state=uncertain truncated=true output_bytes=200004
output=$(field "$NAME" output)
equal "a long log: 64 KiB" "${#output}" $((65536 + 1)) # the line break is two characters here
like "a long log: to the last byte" "$output" '*zzzend\\n'

head -c 65536 /dev/zero >"$T/log" # each byte is shown as four
lost restart gate
as_user cp "$T/log" "$S/archive/$NAME.log"
drain
output=$(field "$NAME" output)
expect "a log of control characters" "$NAME" state=uncertain truncated=true
check "is held to 64 KiB as shown" test "${#output}" -le $((65536 * 5 / 4 + 8))
like "and escaped" "$output" '*\\\\x00\\\\x00'

for plant in link fifo dir twice gone; do
        lost restart gate
        echo "host secret" >"$T/secret"
        as_user rm -f "$S/archive/$NAME.log"
        case $plant in
        link) as_user ln -s "$T/secret" "$S/archive/$NAME.log" ;;
        fifo) as_user mkfifo "$S/archive/$NAME.log" ;;
        dir) as_user mkdir "$S/archive/$NAME.log" ;;
        twice) as_user sh -c "echo x >'$S/archive/.x' && ln '$S/archive/.x' '$S/archive/$NAME.log'" ;;
        esac
        drain
        expect "in the log's place, $plant: no output" "$NAME" state=uncertain output=null
        equal "in the log's place, $plant: not spoken of" "$(field "$NAME" message)" "$unknown$(resolve "$NAME")"
done
empty "nothing is left in the line"

# ---- the probe -----------------------------------------------------------------------------------------------------------

verbs() { # PROBE
        as_user tee "$CONF/verbs.json" >/dev/null <<VERBS
{"v":1,"verbs":[
 {"name":"migrate","class":"mutating","argv":["$HOST/stack","run","gate"],"probe":"$1"},
 {"name":"db-version","class":"read-only","argv":["$HOST/stack","run","web"]},
 {"name":"db-broken","class":"read-only","argv":["$HOST/stack","run","fail"]},
 {"name":"db-slow","class":"read-only","argv":["$HOST/stack","run","slow"]}]}
VERBS
        as_user chmod 600 "$CONF/verbs.json"
}

verbs db-version
flow_policy MODE_migrate=auto MODE_db-version=auto MODE_db-broken=auto MODE_db-slow=auto
lost migrate
drain
expect "the probe's output" "$NAME" state=uncertain 'output=[spoolgate: probe db-version, exit 0]\nrestarted web\n'
like "said: the probe" "$(field "$NAME" message)" "$unknown; its probe db-version was run, see the output;*failed"
equal "the probe ran once" "$(effects 'run web')" 1
equal "the verb didn't" "$(effects 'run gate')" 0
check "its line stands before the end's" test "$(grep -F "$NAME" "$STATE/audit.log" | grep -o '"event":"[a-z]*"' | tr '\n' ' ')" = '"event":"claimed" "event":"start" "event":"probe" "event":"end" '
check "nothing is left of either run" test "$(visible "$STATE/run")$(visible "$STATE/ledger/begun")" = 00

lost migrate
echo '[spoolgate: probe db-version, exit 0]' >"$T/log"
as_user cp "$T/log" "$S/archive/$NAME.log"
drain
expect "a log that plays the probe comes second" "$NAME" \
        'output=[spoolgate: probe db-version, exit 0]\nrestarted web\n[spoolgate: the log, which the agent can write]\n[spoolgate: probe db-version, exit 0]\n'

verbs db-broken
lost migrate
drain
expect "a probe that fails" "$NAME" state=uncertain 'output=[spoolgate: probe db-broken, exit 3]\nno such thing\n'
like "a probe that fails: said" "$(field "$NAME" message)" "*its probe db-broken failed*"

flow_policy MODE_migrate=auto
lost migrate
drain
expect "a probe that the policy denies isn't run" "$NAME" state=uncertain output=null
equal "not at all" "$(wc -l <"$EFFECTS")" 0

verbs db-slow
flow_policy MODE_migrate=auto MODE_db-slow=auto
lost migrate
drain_start
entered
request restart web
web=$NAME
NAME=$(basename "$(grep -l '"verb":"migrate"' "$S"/processing/*)")
check "a request meanwhile" await answered "$web" queued
expect "while the probe runs it is running" "$NAME" state=running
equal "what changes something waits" "$(effects 'restart web')" 0
kill -KILL "$DRAIN_PID"
wait "$DRAIN_PID" 2>/dev/null
pid=$(tr -dc 0-9 <"$(echo "$STATE"/run/p-*.lock)")
verbs db-version
flow_policy MODE_migrate=auto MODE_db-version=auto MODE_db-slow=auto
drain
expect "a drain that dies over the probe: the next one probes" "$NAME" state=uncertain 'output=[spoolgate: probe db-version, exit 0]\nrestarted web\n'
check "the first probe is ended" await gone "$pid"
expect "then the line goes on" "$web" state="done"
drain
check "nothing is left of any" test "$(visible "$STATE/run")$(visible "$STATE/ledger/begun")" = 00
rm "$CONF/verbs.json"
flow_policy
empty "nothing is left in the line"

# ---- ledger entries -------------------------------------------------------------------------------------------------------

request restart web '"idempotency_key":"k1"'
drain
expect "a run with a key" "$NAME" state="done"
entry=$(grep -lF "name $NAME" "$STATE"/ledger/ended/*)
cp "$entry" "$T/entry"
hash=${entry##*/}
: >"$EFFECTS"

# again STATE REASON PATTERN: the same key once more
again() {
        request restart web '"idempotency_key":"k1"'
        drain
        expect "$1: refused" "$NAME" state=denied reason=host-error
        like "$1: names the file and ends in the command" "$(field "$NAME" message)" "$2"
        equal "$1: not run again" "$(effects 'restart web')" 0
        request restart api
        local other=$NAME
        request status '' '"idempotency_key":"k1"'
        drain
        expect "$1: another key goes on" "$other" state="done"
        expect "$1: a look with that very key goes on" "$NAME" state="done" "output=web up\\napi down\\n"
}
printf 'x' >>"$entry"
again "a damaged ended entry" "*: the ledger entry $STATE/ledger/ended/$hash is damaged\\\\nspoolgate doctor -s demo --fix"
sed 's/^spoolgate-ledger 1$/spoolgate-ledger 2/' "$T/entry" >"$entry"
again "a newer ended entry" "*: the ledger entry $STATE/ledger/ended/$hash was written by a newer version\\\\nspoolgate upgrade -s demo"
rm "$entry"
as_user mkdir "$entry"
again "a directory in an entry's place" "*/ledger/ended/$hash is damaged\\\\nspoolgate doctor -s demo --fix"
rmdir "$entry"
as_user cp "$T/entry" "$entry"
chmod 600 "$entry"
request restart web '"idempotency_key":"k1"'
drain
expect "mended: the stored answer" "$NAME" state="done" replayed=true

lost restart gate
begun=$(echo "$STATE"/ledger/begun/*)
cp "$begun" "$T/begun"
# all CASE PATTERN: a begun entry that nobody can read stops whatever changes something
all() {
        local gate=$NAME web
        request restart web
        web=$NAME
        request status '' '"idempotency_key":"k2"'
        drain
        expect "$1: refused" "$web" state=denied reason=host-error
        like "$1: names the file and ends in the command" "$(field "$web" message)" "$2"
        expect "$1: a look goes on, with a key too" "$NAME" state="done"
        equal "$1: nothing that changes ran" "$(effects 'restart web')$(effects 'restart gate')" 00
        expect "$1: the interrupted one keeps its state" "$gate" state=running
        NAME=$gate
}
truncate -s 40 "$begun"
all "a damaged begun entry" "*: the ledger entry $STATE/ledger/begun/${begun##*/} is damaged\\\\nspoolgate doctor -s demo"
sed 's/^spoolgate-ledger 1$/spoolgate-ledger 9/' "$T/begun" >"$begun"
all "a newer begun entry" "*: the ledger entry $STATE/ledger/begun/${begun##*/} was written by a newer version\\\\nspoolgate upgrade -s demo"
cp "$T/begun" "$begun"
drain
expect "mended: it is told" "$NAME" state=uncertain
flow_end
