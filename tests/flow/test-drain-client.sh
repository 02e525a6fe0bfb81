#!/bin/bash
# test-drain-client.sh BUILD_ROOT SOURCE_ROOT - the agent's program against the real drain: --follow, both phases of waiting, --async
# and --poll, --cancel
# shellcheck source=tests/flow/lib.sh disable=SC2317
. "$(dirname -- "$0")/lib.sh"
flow_begin "$@"
flow_project
client=$S/spoolgate-request
as_user cp "$T/tests/spoolgate-request" "$client"

cat >"$T/stack.tmp" <<'STACK'
#!/bin/bash
here=${0%/*}
echo "$*" >>"$here/effects"
case ${2:-$1} in
gate) exec 9<>"$here/go"; echo in >"$here/entered"; { flock 8; read -r word <&9; } 8>>"$here/turn"; echo "passed $word" ;;
web) exec 9<>"$here/go"
        echo first; echo in >"$here/entered"; read -r word <&9
        printf 'second %s \033[31mred\n' "$word"; echo in >"$here/entered"; read -r word <&9
        echo third ;;
slow) echo begun; echo in >"$here/entered"; exec sleep 30 ;;
*) echo "$* ran" ;;
esac
STACK
as_user cp "$T/stack.tmp" "$HOST/stack"

ask() { # TAG ARGS...: in the background; sets ASK; asked sets RC
        local tag=$1
        shift
        as_user timeout 60 env -i PATH=/usr/bin:/bin sh "$client" "$@" >"$T/$tag.out" 2>"$T/$tag.err" </dev/null &
        ASK=$!
}
asked() { # PID
        wait "$1"
        RC=$?
}
shows() { # FILE TEXT
        grep -qF -- "$2" "$T/$1"
}

# ---- --follow ----------------------------------------------------------------------------------------------------------------

drain_start --watch "$SLUG"
watcher=$DRAIN_PID
ask follow --follow --wait 20 logs web
entered
check "follow: the first line while it runs" await shows follow.out first
check "follow: nothing of what is to come" test "$(grep -c second "$T/follow.out")" = 0
let_go one
entered
check "follow: the second while it runs" await shows follow.out 'second one \x1b[31mred'
equal "follow: no verdict yet" "$(cat "$T/follow.err")" ""
let_go two
asked "$ASK"
equal "follow: exit" "$RC" 0
equal "follow: the whole log, once, escaped" "$(cat "$T/follow.out")" "first"$'\n''second one \x1b[31mred'$'\n'third
like "follow: the verdict" "$(cat "$T/follow.err")" 'spoolgate: done: -: *'

ask late --follow --wait 20 logs slow --timeout 1
asked "$ASK"
equal "follow: a run stopped by its deadline: exit" "$RC" 70
equal "its output so far" "$(cat "$T/late.out")" begun
like "its verdict" "$(cat "$T/late.err")" 'spoolgate: failed: timeout: *'
flow_flush

# ---- two phases: what moves keeps us waiting, what stands still doesn't --------------------------------------------------------

# One at a time: five others ahead, each let go after a second, with a patience of three.
for i in 1 2 3 4 5; do ask "ahead$i" --wait 30 restart gate; others[i]=$ASK; sleep 0.05; done
entered
ask patient --wait 3 restart api
patient=$ASK
begin=$EPOCHSECONDS
for i in 1 2 3 4 5; do
        sleep 1
        let_go "$i"
        [ "$i" = 5 ] || entered
done
asked "$patient"
equal "a queue that moves: it waits for its turn" "$RC $(cat "$T/patient.out")" "0 restart api ran"
check "longer than its patience" test $((EPOCHSECONDS - begin)) -ge 4
for i in 1 2 3 4 5; do
        asked "${others[i]}"
        equal "one ahead of it: answered" "$RC" 0
done

# A long run of somebody else is no stopped queue: the heartbeat moves each five seconds.
ask long --wait 30 restart gate
long=$ASK
entered
ask behind --wait 7 restart api
behind=$ASK
sleep 9
check "behind a long run: still waiting after more than its patience" kill -0 "$behind"
let_go on
asked "$behind"
equal "and answered" "$RC $(cat "$T/behind.out")" "0 restart api ran"
asked "$long"
equal "the long one too" "$RC" 0

# Nobody drains: it gives up when nothing has moved.
kill -TERM "$watcher"
drain_wait
: >"$EFFECTS"
begin=$EPOCHSECONDS
ask still --wait 2 restart api
asked "$ASK"
equal "a queue that stands still: exit" "$RC" 75
check "after its patience" test $((EPOCHSECONDS - begin)) -ge 2 -a $((EPOCHSECONDS - begin)) -le 8
like "it says that the request stays, and how to ask again" "$(cat "$T/still.err")" 'spoolgate: queued: no-answer: *'$'\n'*'--poll '*'-restart-'*.json
id=$(sed -n 's/.*--poll //p' "$T/still.err")
drain
ask poll --poll "$id"
asked "$ASK"
equal "the next drain runs it; --poll fetches the answer" "$RC $(cat "$T/poll.out")" "0 restart api ran"
equal "it ran once" "$(effects 'restart api')" 1

# ---- --async, --cancel ---------------------------------------------------------------------------------------------------------

flow_policy MODE_cancel=auto
drain_start --watch "$SLUG"
ask async --async restart slow
asked "$ASK"
id=$(cat "$T/async.out")
like "--async prints the id" "$RC $id" '0 *-restart-*.json'
entered
ask cancel --wait 10 --cancel "$id"
asked "$ASK"
equal "--cancel" "$RC $(head -c 15 "$T/cancel.err")" "0 spoolgate: done"
ask poll --wait 20 --poll "$id"
asked "$ASK"
equal "what was cancelled: exit" "$RC" 70
like "its verdict" "$(cat "$T/poll.err")" 'spoolgate: failed: cancelled: *'
kill -TERM "$DRAIN_PID"
drain_wait
equal "the watcher ends well" "$RC $(cat "$T/drain.bg.err")" "0 "
check "the audit log's chain holds" audit_chain
flow_end
