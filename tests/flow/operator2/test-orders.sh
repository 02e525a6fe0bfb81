#!/bin/bash
# test-orders.sh BUILD_ROOT SOURCE_ROOT: run, approve, cancel, pause, resume, tell by the real programs, without systemd
# shellcheck shell=bash disable=SC1091,SC2034
here=${BASH_SOURCE[0]%/*}
if [ -f "$here/operator.sh" ]; then . "$here/operator.sh" || exit 2; else . "$here/../operator/operator.sh" || exit 2; fi
begin "$@"

agent() { # VERB [ARG [MEMBERS]]: a request as the agent writes it; sets NAME
        request "$@"
}

project

# run
gate run status
equal "run: exit" "$RC" 0
equal "run: prints the output" "$OUT" "web up"
like "run: says the outcome" "$ERR" "spoolgate run: *-status-*.json: done, exit 0*"
logged "run: audited as the operator's" '"event":"start".*"verb":"status".*"by":' 1
gate run restart api
equal "run: a failing verb: exit" "$RC" 1
equal "run: a failing verb: output" "$OUT" "no such thing"
like "run: a failing verb: outcome" "$ERR" "*failed: exit-nonzero, exit 3*"
gate run restart web
equal "run: control characters of the output are escaped" "$OUT" 'restarted web \x1b[31mred\x1b[0m'
gate run up
equal "run: policy's mode is not asked" "$RC" 0
gate run --json status
equal "run --json: exit" "$RC" 0
like "run --json: the response line" "$OUT" '{"v":1,"request":"*-status-*.json","state":"done",*'
equal "run --json: nothing else" "$ERR" ""
gate run restart nobody
equal "run: an arg that is not in the enum: exit" "$RC" 1
like "run: an arg that is not in the enum: text" "$ERR" "*does not take this argument${NL}spoolgate verbs -s demo"
gate run frobnicate
like "run: no such verb" "$ERR" "*frobnicate is no verb of demo${NL}spoolgate verbs -s demo"
gate run
equal "run: usage" "$RC" 64
gate run status --wait 0
equal "run: a bad number" "$RC" 64
equal "no order and no answer is left" "$(find "$STATE/orders" -type f | wc -l)" 0
equal "the log of it all holds" "$(gate audit verify; echo "$RC")" 0

# approve: refused by policy, then run by hand, and the agent has the answer
agent up
settle
equal "approve: refused first" "$(field "$NAME" state) $(field "$NAME" reason)" "denied policy"
refused_name=$NAME
: >"$EFFECTS"
gate approve "$refused_name"
equal "approve: without a terminal nothing is done: exit" "$RC" 1
like "approve: it is shown" "$OUT" "request  $refused_name${NL}refused  * by policy${NL}verb     up${NL}runs     $STACK*"
like "approve: --yes is named" "$ERR" "*--yes*"
equal "approve: nothing ran" "$(wc -l <"$EFFECTS")" 0
gate approve "$refused_name" --yes
equal "approve: exit" "$RC" 0
equal "approve: ran once" "$(wc -l <"$EFFECTS")" 1
logged "approve: audited" '"event":"approved".*"verb":"up".*"by":' 1
equal "approve: the agent that polls has the result" "$(field "$refused_name" state)" "done"
gate show "$refused_name"
lacks "approve: show does not call its file a changed one" "$OUT" "not the bytes"
gate approve "$refused_name" --yes
equal "approve: a second time: exit" "$RC" 1
like "approve: a second time: text" "$ERR" "*it was run already*"
equal "approve: still ran once" "$(wc -l <"$EFFECTS")" 1

# approve: with a key, which the agent sends again
agent up "" '"idempotency_key":"k-1"'
settle
equal "approve, key: refused first" "$(field "$NAME" reason)" policy
gate approve "${NAME%.json}" --yes
equal "approve, key: exit" "$RC" 0
equal "approve, key: ran" "$(wc -l <"$EFFECTS")" 2
policy MODE_up=auto
agent up "" '"idempotency_key":"k-1"'
settle
equal "approve, key: sent again: replayed" "$(field "$NAME" state) $(field "$NAME" replayed)" "done true"
equal "approve, key: ran once" "$(wc -l <"$EFFECTS")" 2
policy MODE_up=deny

# approve: a request that asked for less than a plain run must not become one
before=$(wc -l <"$EFFECTS")
agent up "" '"permission_scope":"plan"'
settle
equal "approve, scope: refused first" "$(field "$NAME" reason)" policy
gate approve "$NAME" --yes
equal "approve, scope: exit" "$RC" 1
like "approve, scope: text" "$ERR" "*asked for less than a plain run*"
equal "approve, scope: nothing ran" "$(wc -l <"$EFFECTS")" "$before"

# approve refuses what policy did not refuse
agent status
settle
gate approve "$NAME" --yes
like "approve: what was done" "$ERR" "*$NAME: *"
equal "approve: what was done: exit" "$RC" 1
agent restart nobody
settle
gate approve "$NAME" --yes
like "approve: another refusal" "$ERR" "*policy did not refuse it*"
gate approve 20260101T000000Z-up-0123456789abcdef.json --yes
like "approve: an unknown request" "$ERR" "*knows no 20260101T000000Z-up-0123456789abcdef.json*"
gate approve ../../etc/passwd --yes
like "approve: no name" "$ERR" "*no request's name*"
agent up
settle
sed -i '2s/"event"/"EVENT"/' "$STATE/audit.log"
: >"$EFFECTS"
gate approve "$NAME" --yes
equal "approve: a broken log approves nothing: exit" "$RC" 1
like "approve: a broken log approves nothing: text" "$ERR" "*spoolgate audit verify -s demo"
equal "approve: a broken log approves nothing" "$(wc -l <"$EFFECTS")" 0

# cancel
project
gate cancel 20260101T000000Z-up-0123456789abcdef --wait 20
equal "cancel: nothing there: exit" "$RC" 1
like "cancel: nothing there: text" "$ERR" "*no such request is waiting or running*"
mkfifo "$T/go$serial" || exit 2
cat >"$STACK" <<STACK
#!/bin/bash
echo "\$*" >>"$EFFECTS"
exec sleep 30 <"$T/go$serial"
STACK
(exec 9<>"$T/go$serial"; gate run restart web; echo "$RC" >"$T/run.rc"; printf '%s' "$ERR" >"$T/run.err") &
pid=$!
check "cancel: it runs" await grep -q restart "$EFFECTS"
running=$(cd "$STATE/orders" && ls -- *.json)
gate cancel "$running" --wait 30
equal "cancel: exit" "$RC" 0
like "cancel: says so" "$ERR" "*cancelled*"
wait "$pid"
equal "cancel: who waited is told: exit" "$(cat "$T/run.rc")" 1
like "cancel: who waited is told" "$(cat "$T/run.err")" "*failed: cancelled*"
operator_stack

# a drain dies under the operator's run, and another
project
policy MODE_cancel=auto
mkfifo "$T/hold" || exit 2
cat >"$STACK" <<STACK
#!/bin/bash
echo "\$*" >>"$EFFECTS"
IFS= read -r word <"$T/hold"
echo "passed \$word"
STACK
no_drain() { # SIGKILL to every drain, none to the keeper
        local pid
        while [ -n "$(pgrep -f "^$H/.local/lib/spoolgate/demo/spoolgate-drain demo" | grep -vx "$keeper")" ]; do
                for pid in $(pgrep -f "^$H/.local/lib/spoolgate/demo/spoolgate-drain demo" | grep -vx "$keeper"); do kill -KILL "$pid" 2>/dev/null; done
                sleep 0.02
        done
}
exec 9<>"$T/hold"
gate run restart web --wait 1
equal "run, killed: no answer yet: exit" "$RC" 1
running=$(cd "$STATE/orders" && ls -- *.json)
keeper=$(tr -dc 0-9 <"$(echo "$STATE"/run/*.lock)")
no_drain
NAME=$(stamp)-cancel-${running##*-}
put "$NAME" "{\"verb\":\"cancel\",\"requested_at\":\"$(iso)\"}"
(drain) &
pid=$!
check "run, killed: the agent's cancel is answered" await settled "$NAME"
equal "run, killed: it is still the operator's alone" "$(field "$NAME" state) $(field "$NAME" reason)" "denied arg-not-listed"
policy MAX_AGE=1
no_drain
wait "$pid" 2>/dev/null
sleep 2
echo on >&9
check "run, killed: it ends with no drain there" await test ! -e "/proc/$keeper"
drain
equal "run, killed: ran once" "$(wc -l <"$EFFECTS")" 1
like "run, killed: its order has the true answer, late as it is" "$(cat "$STATE/orders/${running%.json}.done.json")" '*"state":"done"*"output":"passed on*'
logged "run, killed: the end is the operator's" '"event":"end".*"by":' 1
exec 9>&-
operator_stack

# ended, and its order not answered
policy MAX_AGE=300
policy LINGER_MS=250
exec 6>>"$STATE/lock"
flock 6
gate run restart web --wait 1
running=$(cd "$STATE/orders" && ls -- *restart*.json | grep -v 'done.json$')
cp -p "$STATE/orders/$running" "$T/order"
exec 6>&-
drain
policy MAX_AGE=1
sleep 2
rm "$STATE/orders/${running%.json}.done.json"
cp -p "$T/order" "$STATE/orders/$running"
: >"$EFFECTS"
drain
like "run, not answered: the stored answer, late as it is" "$(cat "$STATE/orders/${running%.json}.done.json")" '*"state":"done"*'
equal "run, not answered: not run again" "$(wc -l <"$EFFECTS")" 0

# an order outlives who gave it
project
policy LINGER_MS=250
exec 6>>"$STATE/lock"
flock 6
gate run status --wait 1
equal "run: no answer in time: exit" "$RC" 1
like "run: no answer in time: it stays" "$ERR" "*no answer yet, it stays in the line${NL}spoolgate cancel *-status-*.json -s demo"
(cd "$P" && exec env -i HOME="$H" PATH=/usr/bin:/bin "${FLOW_ENV[@]}" "$PREFIX/bin/spoolgate" run status) 2>"$T/run.err" </dev/null &
pid=$!
orders_wait() {
        [ "$(find "$STATE/orders" -name '*-status-*.json' | wc -l)" = "$1" ]
}
check "run: a second order waits" await orders_wait 2
check "run: it is being waited for" await grep -q '^SigCgt:.*[2367abef]$' "/proc/$pid/status"
kill -INT "$pid"
wait "$pid"
equal "run: Ctrl-C: exit" "$?" 1
like "run: Ctrl-C: it stays" "$(cat "$T/run.err")" "*no answer yet, it stays in the line*"
exec 6>&-
drain
answers() {
        [ "$(find "$STATE/orders" -name '*.done.json' | wc -l)" = "$1" ]
}
check "run: the next drain takes them" await answers 2

# a drain that does not know orders
project
printf '#!/bin/sh\nexit 78\n' >"$H/.local/lib/spoolgate/demo/spoolgate-drain"
gate run status
equal "a drain that ends: exit" "$RC" 1
like "a drain that ends: text" "$ERR" "*the drain ended with exit status 78; the order waits for the next one${NL}$H/.local/lib/spoolgate/demo/spoolgate-drain demo"
rm "$H/.local/lib/spoolgate/demo/spoolgate-drain"
gate run status
like "no drain: text" "$ERR" "*can't be started${NL}spoolgate upgrade -s demo"

# pause and resume
project
gate pause "backup is running"
equal "pause: exit" "$RC" 0
like "pause: file" "$(cat "$STATE/paused")" "at 20*Z${NL}by *${NL}reason backup is running"
equal "pause: mode" "$(stat -c %a "$STATE/paused")" 600
agent restart web
settle
equal "pause: what changes something is refused" "$(field "$NAME" state) $(field "$NAME" reason)" "denied paused"
logged "pause: audited" '"event":"paused".*"detail":"backup is running".*"by":' 1
agent status
settle
equal "pause: read-only goes on" "$(field "$NAME" state)" "done"
gate run restart web
like "pause: for the operator too" "$ERR" "*denied: paused*"
gate resume
equal "resume: exit" "$RC" 0
like "resume: says what it was" "$OUT" "demo goes on; it was paused:${NL}at *reason backup is running*"
check "resume: file gone" test ! -e "$STATE/paused"
gate run restart web
equal "resume: it runs again" "$RC" 0
logged "resume: audited" '"event":"resumed".*"detail":"backup is running"' 1
gate resume
like "resume: not paused" "$OUT" "demo was not paused"
gate pause $'two\nlines \e[31m'
like "pause: the reason is one line" "$(tail -1 "$STATE/paused")" 'reason two\\x0alines \\x1b\[31m'
gate pause "$(printf '%0201d' 0)"
equal "pause: too long a reason" "$RC" 64
gate resume

# tell
gate tell "the database moved"
equal "tell: exit" "$RC" 0
like "tell: where" "$OUT" "inbox/20*Z-*.txt"
equal "tell: what the agent reads" "$(cat "$S/$OUT")" "the database moved"
equal "tell: mode" "$(stat -c %a "$S/$OUT")" 644
gate tell --list
like "tell --list" "$OUT" "== 20*.txt${NL}the database moved"
gate tell $'\e[31mred'
like "tell: what nobody can see" "$ERR" "*characters that nobody can see*"
gate tell "$(printf '%4097s' x)"
like "tell: too long" "$ERR" "*longer than 4096 bytes*"
gate tell ""
like "tell: nothing" "$ERR" "*there is nothing to tell*"
ln -s "$STATE/audit.log" "$S/inbox/link.txt"
gate tell --list
like "tell --list goes through no link" "$OUT" "*== link.txt: *"
gate tell --clear
equal "tell --clear" "$OUT" "2 removed"
equal "tell --clear: empty" "$(find "$S/inbox" -mindepth 1 | wc -l)" 0
check "tell --clear: the link's target stays" test -s "$STATE/audit.log"
drain
logged "tell: audited" '"event":"told".*"detail":"the database moved' 1

flow_end
