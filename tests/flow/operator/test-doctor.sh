#!/bin/bash
# Seeded faults, each found, each finding ending in a command alone on its line, the safe ones mended by --fix. Units and
# lingering need a user manager: those are seen on a live host.
# shellcheck source=tests/flow/operator/operator.sh
. "${BASH_SOURCE[0]%/*}/operator.sh"
begin "$1" "$2"

# found NAME PATTERN COMMAND: a finding with this text, its command exactly so on the next line
found() {
        local name=$1 pattern=$2 command=$3 line next
        gate doctor
        equal "$name: exit" "$RC" 1
        line=$(printf '%s\n' "$OUT" | grep -n -- "^finding $pattern" | head -1)
        next=$(printf '%s\n' "$OUT" | sed -n "$((${line%%:*} + 1))p" 2>/dev/null)
        if [ -n "$line" ]; then pass "$name: said"; else fail "$name: said" "$OUT"; fi
        equal "$name: the command alone on its line" "$next" "$command"
        clean "$name: nothing raw" "$OUT"
}

healthy() { # NAME
        gate doctor
        lacks "$1" "$OUT" "finding "
}

# as it is pasted: the printed line, run by a shell
paste() {
        (cd "$P" && env -i HOME="$H" PATH="$PREFIX/bin:/usr/bin:/bin" sh -c "$1") >/dev/null 2>&1
}

fresh
gate doctor
equal "nothing installed: exit" "$RC" 2
project
gate doctor
equal "healthy: exit" "$RC" 0
has "healthy" "$OUT" "demo: nothing found"
has "healthy: what is lost without scopes" "$OUT" "note    launch: direct: a run ends"
# it tries inotify in requests/, whose time that changes
unchanged() { snapshot | grep -v '^./demo/untracked/spoolgate/requests d'; }
before=$(unchanged)
gate doctor
equal "doctor only looks" "$(unchanged)" "$before"

chmod g+w "$CONF/policy.conf"
found "writable policy" "owners and modes: $CONF/policy.conf is writable by others" "chmod go-w '$CONF/policy.conf'"
paste "chmod go-w '$CONF/policy.conf'"
healthy "writable policy: mended by pasting"
chmod 777 "$CONF"
found "writable configuration" "owners and modes: $CONF is writable by others" "chmod go-w '$CONF'"
chmod 700 "$CONF"
policy MAX_AGE=never
found "bad policy line" "policy and verbs: nothing runs: policy.conf:" "spoolgate policy --edit -s demo"
policy MAX_AGE=300
echo '{"v":1,"verbs":[{"name":"exec"}]}' >"$CONF/verbs.json"
chmod 600 "$CONF/verbs.json"
found "bad verbs" "policy and verbs: verbs.json" "vi '$CONF/verbs.json'"
rm "$CONF/verbs.json"
echo '(' >"$CONF/redact.conf"
chmod 600 "$CONF/redact.conf"
found "bad redact.conf" "policy and verbs: redact.conf" "vi '$CONF/redact.conf'"
rm "$CONF/redact.conf"
rm "$STATE/seal/seal"
found "unsealed" "seal: integrity-unsealed: " "spoolgate seal -s demo"
seal
mv "$STACK" "$STACK.away"
found "missing binary" "programs: stack, $STACK, is gone" "spoolgate upgrade -s demo"
mv "$STACK.away" "$STACK"
cp -p "$H/.local/lib/spoolgate/demo/spoolgate-drain" "$T/pinned"
echo old >>"$H/.local/lib/spoolgate/demo/spoolgate-drain"
found "old pinned program" "pinned programs: the pinned spoolgate-drain is another build" "spoolgate upgrade -s demo"
rm "$H/.local/lib/spoolgate/demo/spoolgate-drain"
found "pinned program gone" "pinned programs: the pinned program .* is gone" "spoolgate upgrade -s demo"
cp -p "$T/pinned" "$H/.local/lib/spoolgate/demo/spoolgate-drain"
: >"$P/.git/info/exclude"
found "spool not ignored" "spool is ignored: git doesn't ignore" "echo /'untracked/spoolgate'/ >>'$P/.git/info/exclude'"
paste "echo /'untracked/spoolgate'/ >>'$P/.git/info/exclude'"
healthy "spool not ignored: mended by pasting"
echo junk >"$STATE/rate/window"
chmod 600 "$STATE/rate/window"
found "rate file" "rate: $STATE/rate/window doesn't parse" "rm '$STATE/rate/window'"
paste "rm '$STATE/rate/window'"
healthy "rate file: mended by pasting"
ask ping
cp -p "$STATE/audit.log" "$T/keep"
echo junk >>"$STATE/audit.log"
found "broken audit log" "audit log and clock: the audit log is broken: audit.log line 4" "spoolgate audit verify -s demo"
cp -p "$T/keep" "$STATE/audit.log"
chmod 777 "$S/responses"
found "spool mode" "spool: .*/responses has mode 777" "chmod u+rwx,go-w '$S/responses'"
chmod 755 "$S/responses"
mv "$S/archive" "$S/.away"
ln -s /tmp "$S/archive"
found "a link in the spool" "spool: the spool's .*/archive " "ls -ld '$S/archive'"
rm "$S/archive"
found "a folder of the spool is gone" "spool: the spool's .*/archive does not exist" "mkdir -p -m 755 '$S/archive'"
paste "mkdir -p -m 755 '$S/archive'"
healthy "a folder of the spool is gone: mended by pasting"
request ping
found "requests wait" "queue: requests wait, and no drain is at work" "systemctl --user start spoolgate-demo.service"
drain
healthy "requests wait: drained"
printf 'reason \033[2Jlunch\n' >"$STATE/paused"
chmod 600 "$STATE/paused"
gate doctor
equal "paused: no finding" "$RC" 0
has "paused: a note" "$OUT" 'pause: paused: \x1b[2Jlunch'
has "paused: its command" "$OUT" "${NL}spoolgate resume -s demo"
clean "paused: nothing raw" "$OUT"
rm "$STATE/paused"
bridge=$CONF/bridge.json
cp -p "$bridge" "$T/bridge"
echo '{' >"$bridge"
found "broken bridge file" "bridge: " "spoolgate install --slug demo"
cp -p "$T/bridge" "$bridge"
sed 's/"inode": \([0-9]*\)/"inode": 1\1/' "$T/bridge" >"$bridge"
found "another checkout" "bridge: .*is another directory" "spoolgate install --slug demo"
cp -p "$T/bridge" "$bridge"

# --fix: asks, runs the safe ones only, says what is left
chmod g+w "$CONF/policy.conf"
: >"$P/.git/info/exclude"
rm "$STATE/seal/seal"
gate doctor --fix
equal "--fix without an answer: exit" "$RC" 1
equal "--fix without an answer: nothing is run" "$(stat -c %a "$CONF/policy.conf")" 620
has "--fix asks" "$OUT" "run it? [y/N]"
gate doctor --fix --yes
equal "--fix --yes: exit" "$RC" 1
equal "--fix --yes: mode" "$(stat -c %a "$CONF/policy.conf")" 600
check "--fix --yes: ignored" grep -qx /untracked/spoolgate/ "$P/.git/info/exclude"
check "--fix --yes: seals nothing" test ! -e "$STATE/seal/seal"
has "--fix --yes: what is left" "$OUT" "demo: 1 finding"
seal
gate doctor --json
check "--json" python3 -c 'import json,sys
d=json.loads(sys.argv[1]); assert d["project"]=="demo" and all(set(i)=={"check","finding","text","command","safe"} for i in d["items"])
assert not any(i["finding"] for i in d["items"]) and d["could_not_look"] is None' "$OUT"
gate doctor --json --fix
equal "--json --fix: usage" "$RC" 64

# the ledger: an answer that is no good is put aside by --fix, a run that was only begun is not
ask restart web '"idempotency_key":"k1"'
expect "a run with a key" "$NAME" state="done"
run=$NAME
entry=$(grep -lF "name $NAME" "$STATE"/ledger/ended/*)
hash=${entry##*/}
cp -p "$entry" "$T/entry"
echo x >>"$entry"
found "damaged entry" "ledger: $entry is damaged" "mv -n -- '$entry' '$STATE/ledger/$hash.ended'"
ask restart web '"idempotency_key":"k1"'
expect "damaged entry: refused" "$NAME" state=denied reason=host-error
like "damaged entry: the message's command" "$(field "$NAME" message)" '*\\nspoolgate doctor -s demo --fix'
cp -p "$T/entry" "$STATE/ledger/begun/$hash" # begun, too, and no good as such
found "damaged begun entry" "ledger: .*/begun/$hash is damaged: nothing that changes something runs. restart web was begun" "spoolgate resolve -s demo $run failed"
gate doctor --fix --yes
equal "--fix: the answer is put aside, the begun one stays" "$(cd "$STATE/ledger" && echo * begun/* ended/*)" "$hash.ended begun ended begun/$hash ended/*"
paste "spoolgate resolve -s demo $run failed"
healthy "damaged entries: mended"
ask restart web '"idempotency_key":"k1"'
expect "what was said is the key's answer" "$NAME" state="failed" replayed=true
stray=$(printf 'k:%s' stray | sha256sum | cut -c1-64)
(umask 077 && echo junk >"$STATE/ledger/begun/$stray")
found "damaged begun entry of no record" "ledger: .*/begun/$stray is damaged: nothing that changes something runs" "mv -n -- '$STATE/ledger/begun/$stray' '$STATE/ledger/$stray.begun'"
paste "mv -n -- '$STATE/ledger/begun/$stray' '$STATE/ledger/$stray.begun'"
healthy "damaged begun entry of no record: mended"
sed -i 's/^spoolgate-ledger 1$/spoolgate-ledger 2/' "$STATE/ledger/ended/$hash"
found "newer entry" "ledger: .*/ended/$hash was written by a newer version" "spoolgate upgrade -s demo"
rm "$STATE/ledger/ended/$hash" "$STATE/ledger/$hash".*

# an agent of another uid must get in
project --agent-uid 100999
healthy "another uid"
chmod 755 "$S/requests"
found "another uid, requests/ is shut" "spool: .*/requests has mode 755: the agent's uid can't file a request" "chmod 1777 '$S/requests'"
paste "chmod 1777 '$S/requests'"
healthy "another uid, requests/ is shut: mended by pasting"
flow_end
