#!/bin/bash
# test-upkeep.sh BUILD_ROOT SOURCE_ROOT: resolve, reap, upgrade
# shellcheck shell=bash disable=SC1091,SC2034
here=${BASH_SOURCE[0]%/*}
if [ -f "$here/operator.sh" ]; then . "$here/operator.sh" || exit 2; else . "$here/../operator/operator.sh" || exit 2; fi
begin "$@"

# uncertain [MEMBERS]: a restart whose drain and keeper are killed in the middle; sets NAME
uncertain() {
        local drain keeper
        printf '#!/bin/bash\necho $$ >"%s"\necho "$*" >>"%s"\nexec sleep 30\n' "$T/verb.pid" "$EFFECTS" >"$STACK"
        : >"$EFFECTS"
        flock -w 15 "$STATE/lock" true # no drain lingers
        request restart web "${1:-}"
        env -i HOME="$H" PATH=/nonexistent "$H/.local/lib/spoolgate/demo/spoolgate-drain" demo >/dev/null 2>&1 </dev/null &
        drain=$!
        check "uncertain: it runs" await grep -q restart "$EFFECTS"
        keeper=$(cat "$STATE"/run/*.lock | tr -dc 0-9)
        kill -KILL "$drain"
        kill -KILL "$keeper"
        wait "$drain" 2>/dev/null
        kill -KILL "$(cat "$T/verb.pid")" 2>/dev/null || true
        operator_stack
        : >"$EFFECTS"
}

project

# resolve
uncertain
gate resolve "$NAME" "done"
equal "resolve: before a drain has looked: exit" "$RC" 1
like "resolve: before a drain has looked: text" "$ERR" "*no drain has settled it yet; let one look first${NL}spoolgate run ping -s demo"
gate run ping
equal "resolve: the named command: exit" "$RC" 0
equal "resolve: it is uncertain" "$(field "$NAME" state) $(field "$NAME" reason)" "uncertain interrupted"
gate resolve "$NAME" perhaps
equal "resolve: usage" "$RC" 64
gate resolve "$NAME" "done"
equal "resolve done: exit" "$RC" 0
equal "resolve done: the agent's answer" "$(field "$NAME" state) $(field "$NAME" reason)" "done null"
like "resolve done: says who" "$(field "$NAME" message)" "the run was interrupted; * says that it took effect"
drain
logged "resolve done: on record" '"event":"resolved","request":"'"$NAME"'".*"detail":"done".*"by":' 1
gate resolve "$NAME" failed
equal "resolve: a second time: exit" "$RC" 1
like "resolve: a second time" "$ERR" "*it is not uncertain"
equal "resolve: nothing ran" "$(wc -l <"$EFFECTS")" 0

uncertain '"idempotency_key":"key-1"'
settle
gate resolve "$NAME" failed
equal "resolve failed: exit" "$RC" 0
equal "resolve failed: the agent's answer" "$(field "$NAME" state)" failed
request restart web '"idempotency_key":"key-1"'
settle
equal "resolve failed: its key replays that" "$(field "$NAME" state) $(field "$NAME" replayed)" "failed true"
equal "resolve failed: nothing ran" "$(wc -l <"$EFFECTS")" 0

uncertain '"idempotency_key":"key-2"'
settle
gate resolve "$NAME" retry
equal "resolve retry: exit" "$RC" 0
request restart web '"idempotency_key":"key-2"'
settle
equal "resolve retry: a new request with the key runs" "$(field "$NAME" state) $(field "$NAME" replayed)" "done false"
equal "resolve retry: it ran" "$(wc -l <"$EFFECTS")" 1

policy RATE_PER_VERB=100/600
for word in failed retry; do
        uncertain
        echo x >>"$(echo "$STATE"/ledger/begun/*)"
        drain
        check "resolve, damaged entry: no drain settles it" test -e "$S/processing/$NAME"
        equal "resolve, damaged entry: nothing runs" "$(wc -l <"$EFFECTS")" 0
        gate doctor
        has "resolve, damaged entry: doctor's line" "$OUT" "${NL}spoolgate resolve -s demo $NAME failed${NL}"
        gate resolve "$NAME" $word
        equal "resolve $word, damaged entry: exit" "$RC $ERR" "0 "
        settle
        equal "resolve $word, damaged entry: begun no more" "$(ls "$STATE/ledger/begun")$(ls "$S/processing")" ""
        case $word in
        failed) want="failed interrupted 0" ;;
        retry) want="done null 1" ;;
        esac
        equal "resolve $word, damaged entry: what became of it" "$(field "$NAME" state) $(field "$NAME" reason) $(wc -l <"$EFFECTS")" "$want"
done

request status
settle
gate resolve "$NAME" "done"
like "resolve: what has no entry" "$ERR" "*the ledger has no entry of it"
exec 6>>"$STATE/lock"
flock 6
gate resolve "$NAME" "done"
equal "resolve: a drain at work: exit" "$RC" 1
like "resolve: a drain at work" "$ERR" "*a drain of demo is at work*"
exec 6>&-
gate audit verify
equal "the log holds" "$RC" 0

# reap
project
gate run status
touch "$STATE/run/r-0123456789abcdef.lock"
echo junk >"$STATE/run/r-fedcba9876543210.result"
policy KEEP_FILES=10
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo x >"$S/archive/old$i.log"; done
gate reap
equal "reap: exit" "$RC" 0
like "reap: says what" "$OUT" "removed: files of 2 finished runs, 0 empty scopes, * old files, 0 ledger entries"
equal "reap: run files" "$(find "$STATE/run" -mindepth 1 | wc -l)" 0
equal "reap: archive" "$(find "$S/archive" -type f | wc -l)" 10
drain
logged "reap: on record" '"event":"reaped".*"by":' 1
uncertain
gate reap
like "reap: what a drain must settle stays" "$OUT" "*files of 0 finished runs*; 1 are for the next drain to settle"
settle
equal "reap: it is settled" "$(field "$NAME" state)" uncertain
policy KEEP_FILES=nonsense
gate reap
equal "reap: a broken policy: exit" "$RC" 2
like "reap: a broken policy" "$ERR" "*KEEP_FILES*${NL}spoolgate policy --check -s demo"

# upgrade
project
before=$(snapshot)
gate upgrade
equal "upgrade: nothing to do: exit" "$RC" 0
equal "upgrade: nothing to do" "$OUT" "demo: up to date"
same "upgrade: nothing is written" "$before"
lib=$H/.local/lib/spoolgate/demo
echo old >"$lib/spoolgate-drain"
sed -i 's/"version": "[^"]*"/"version": "0.0.1"/' "$CONF/bridge.json"
echo '# mine' >>"$CONF/policy.conf"
before=$(snapshot)
gate upgrade --dry-run
equal "upgrade --dry-run: exit" "$RC" 0
like "upgrade --dry-run: says what" "$OUT" "*would * $lib/spoolgate-drain*demo: nothing was written"
same "upgrade --dry-run: nothing is written" "$before"
gate upgrade
equal "upgrade: exit" "$RC" 0
like "upgrade: says what" "$OUT" "*$lib/spoolgate-drain*bridge.json*demo: upgraded to *"
check "upgrade: the program" cmp "$PREFIX/libexec/spoolgate/spoolgate-drain" "$lib/spoolgate-drain"
equal "upgrade: policy stays" "$(tail -1 "$CONF/policy.conf")" "# mine"
like "upgrade: version" "$(cat "$CONF/bridge.json")" "*\"version\": \"$("$PREFIX/bin/spoolgate" --version | cut -d' ' -f2)\"*"
drain
equal "upgrade: the drain starts" "$DRAIN_RC" 0
logged "upgrade: on record" '"event":"upgraded".*"detail":"0.0.1 -> ' 1

# units: their diff, without a manager
units=$H/.config/systemd/user
install --slug demo --stack script --stack-bin "$STACK" --service web --launch direct
gate install --slug demo --stack script --stack-bin "$STACK" --service web --launch direct
check "units are there" test -f "$units/spoolgate-demo.service"
sed -i 's/^KillMode=mixed/KillMode=process/' "$units/spoolgate-demo.service"
gate upgrade
equal "upgrade, units: exit" "$RC" 0
like "upgrade, units: the diff" "$OUT" "*--- spoolgate-demo.service${NL}+++ spoolgate-demo.service${NL}@@*-KillMode=process${NL}+KillMode=mixed*"
check "upgrade, units: renewed" grep -q '^KillMode=mixed' "$units/spoolgate-demo.service"
gate upgrade --all
equal "upgrade --all" "$RC$OUT" "0demo: up to date"
mv "$P" "$P.old"
mkdir -p "$P/.git"
gate upgrade -s demo
equal "upgrade: another checkout: exit" "$RC" 1
like "upgrade: another checkout" "$ERR" "*is another folder than the one installed for${NL}spoolgate install --slug demo"

flow_end
