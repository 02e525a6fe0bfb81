#!/bin/bash
# show, list, policy and explain on a real spool: what they say, and that they run and count nothing.
# shellcheck source=tests/flow/operator/operator.sh
. "${BASH_SOURCE[0]%/*}/operator.sh"
begin "$1" "$2"

fresh
gate list
equal "list of nothing: exit" "$RC" 0
has "list of nothing: remedy" "$OUT" "${NL}spoolgate install"
project
gate list
equal "list: exit" "$RC" 0
like "list: a row" "$OUT" "demo *script *units *$P"
gate list --json
check "list --json" python3 -c 'import json,sys
p=json.loads(sys.argv[1])["projects"]
assert len(p)==1 and p[0]["project"]=="demo" and p[0]["checkout"]==sys.argv[2] and p[0]["trouble"] is None' "$OUT" "$P"

# explain
before=$(snapshot | grep -v state/spoolgate/demo/rate)
gate explain restart web
equal "explain, granted: exit" "$RC" 0
has "explain, granted" "$OUT" "restart web: would run now"
has "explain, granted: argv" "$OUT" "$STACK restart web"
has "explain, granted: gates" "$OUT" "hard-deny, verb, arg, clock, replay, mac, paused, policy, scope, rate, integrity"
gate explain status
has "explain, read-only: gates" "$OUT" "hard-deny, verb, arg, clock, replay, mac, policy, scope"
gate explain ping
has "explain ping" "$OUT" "(answered by the drain)"
gate explain rebuild web
equal "explain, policy: exit" "$RC" 1
has "explain, policy" "$OUT" "would be denied: policy"
has "explain, policy: setting" "$OUT" "MODE_rebuild=deny"
like "explain, policy: remedy alone on the last line" "$OUT" "*${NL}vi *policy.conf*"
gate explain restart nobody
has "explain, arg" "$OUT" "would be denied: arg-not-listed"
gate explain restart
has "explain, no arg" "$OUT" "arg-missing"
gate explain bash
has "explain, hard-denied" "$OUT" "hard-denied"
gate explain frobnicate
has "explain, unknown" "$OUT" "unknown-verb"
gate explain $'x\033[2J'
equal "explain, no verb at all: exit" "$RC" 1
clean "explain, no verb at all" "$ERR"
gate explain restart web --json
check "explain --json" python3 -c 'import json,sys
d=json.loads(sys.argv[1]); assert d["runs"] is True and d["reason"] is None and d["argv"].endswith(" restart web")' "$OUT"
gate explain rebuild web --json
check "explain --json, refused" python3 -c 'import json,sys
d=json.loads(sys.argv[1]); assert d["runs"] is False and d["reason"]=="policy" and d["gate"]=="policy" and d["argv"] is None' "$OUT"
gate explain
equal "explain without a verb: usage" "$RC" 64
gate explain restart web more
equal "explain with too much: usage" "$RC" 64
policy RATE_PER_VERB=1/600
for _ in 1 2 3; do gate explain restart web; done
equal "explain counts nothing" "$RC" 0
equal "explain ran nothing" "$(cat "$EFFECTS")" ""
ask restart web
web=$NAME
gate explain restart web
has "explain, rate" "$OUT" "would be denied: rate"
like "explain, rate: windows" "$OUT" "*RATE_PER_VERB, RATE_TOTAL (used 1 of 1, 1 of 20)*try again in *"
printf 'at 2026-01-01T00:00:00.000Z\nby me\nreason \033[2Jlunch\n' >"$STATE/paused"
gate explain restart api
has "explain, paused" "$OUT" "would be denied: paused"
rm "$STATE/paused" "$STATE/seal/seal"
gate explain restart api
has "explain, integrity" "$OUT" "would be denied: integrity-unsealed"
like "explain, integrity: remedy alone on the last line" "$OUT" "*${NL}spoolgate seal -s demo"
seal
policy RATE_PER_VERB=6/600

# show
ask restart api '"idempotency_key":"k1"'
api=$NAME
ask rebuild web
rebuild=$NAME
gate show "$web"
equal "show: exit" "$RC" 0
for part in "request       $web" "file          archive/" '  | {"verb":"restart"' "gates passed  hard-deny, verb" \
        "argv          $STACK restart web" "answer        done (from the ledger)" "exit          0" "duration " "log           (from the spool)" \
        "  | restarted web"; do
        has "show: $part" "$OUT" "$part"
done
clean "show: nothing raw" "$OUT"
lacks "show: the file is the one that came" "$OUT" "not the bytes"
cp -p "$S/archive/$web" "$T/keep"
echo '{"verb":"ping"}' >"$S/archive/$web"
gate show "$web"
has "show: the file was rewritten" "$OUT" "file          archive/ (not the bytes that were claimed)${NL}"
cp -p "$T/keep" "$S/archive/$web"
gate show "${api:17:30}"
has "show by a part: failed" "$OUT" "answer        failed: exit-nonzero"
has "show by a part: its log" "$OUT" "  | no such thing"
gate show "$rebuild"
has "show, refused: who decided" "$OUT" "decided by    policy (MODE_ of the verb in policy.conf)"
has "show, refused: what passed" "$OUT" "gates passed  hard-deny, verb, arg, clock, replay, mac, paused${NL}"
gate show restart
equal "show, two: exit" "$RC" 1
like "show, two: each to paste" "$ERR" "*which one?*${NL}spoolgate show *$web*"
gate show nothing-like-it
equal "show, none: exit" "$RC" 1
request ping
gate show "$NAME"
equal "show, waiting: exit" "$RC" 0
has "show, waiting" "$OUT" "file          requests/"
has "show, waiting: no answer" "$OUT" "none yet"
drain
gate show "$web" --json
check "show --json" python3 -c 'import json,sys
d=json.loads(sys.argv[1]); assert d["request"]==sys.argv[2] and [e["event"] for e in d["events"]]==["claimed","start","end"]
assert d["response"]["state"]=="done" and d["from_ledger"] is True and "restarted" in d["log_tail"]' "$OUT" "$web"
gate show "$web" --lines 0
lacks "show --lines 0" "$OUT" "  | restarted"
# what the agent plants in place of its files
rm "$S/archive/$web" "$S/archive/$web.log"
ln -s /etc/passwd "$S/archive/$web.log"
printf '{"a":"\033]0;x\007\n\nanswer        done"}' >"$S/archive/$web"
gate show "$web"
equal "show, planted: exit" "$RC" 0
lacks "show, planted: no link is followed" "$OUT" "root:"
clean "show, planted: nothing raw" "$OUT"
equal "show, planted: no forged line" "$(printf '%s\n' "$OUT" | grep -c '^answer ')" 1

# policy
gate policy
equal "policy: exit" "$RC" 0
has "policy: said" "$OUT" "MODE_restart=auto$NL"
like "policy: default" "$OUT" "*MAX_AGE=300 *(default)*"
gate policy --json
check "policy --json" python3 -c 'import json,sys
d=json.loads(sys.argv[1])["settings"]; assert d["MODE_up"]=="deny" and d["MAX_AGE"]==300 and d["RATE_TOTAL"]=="20/600" and d["INTEGRITY"]=="seal"' "$OUT"
gate policy --check
equal "policy --check: exit" "$RC" 0
cp -p "$CONF/policy.conf" "$T/policy.keep"
echo 'MAX_AGE=never' >>"$CONF/policy.conf"
gate policy --check
equal "policy --check, bad: exit" "$RC" 1
like "policy --check, bad: file and line" "$OUT" "$CONF/policy.conf:$(wc -l <"$CONF/policy.conf"): *${NL}vi $CONF/policy.conf"
gate policy
equal "policy, bad: exit" "$RC" 1
gate explain restart web
has "explain, bad policy" "$OUT" "host-config"
cp -p "$T/policy.keep" "$CONF/policy.conf"
echo '{' >"$CONF/verbs.json"
gate policy --check
has "policy --check, verbs.json" "$OUT" "$CONF/verbs.json"
rm "$CONF/verbs.json"
printf 'fine x+\nbad (\n' >"$CONF/redact.conf"
chmod 600 "$CONF/redact.conf"
gate policy --check
equal "policy --check, redact.conf: exit" "$RC" 1
like "policy --check, redact.conf: file and line" "$OUT" "$CONF/redact.conf:2: *${NL}vi $CONF/redact.conf"
gate doctor
like "doctor, redact.conf" "$OUT" "*redact.conf:2: *${NL}*vi '$CONF/redact.conf'*"
rm "$CONF/redact.conf"

edit() { # SHELL COMMANDS on "$1"
        printf '#!/bin/sh\n%s\n' "$1" >"$T/editor"
        chmod 755 "$T/editor"
        GATE_ENV=("EDITOR=$T/editor")
        gate policy --edit
        GATE_ENV=()
}
# shellcheck disable=SC2016
edit 'echo MAX_AGE=60 >>"$1"'
equal "edit: exit" "$RC" 0
check "edit: saved" grep -qx MAX_AGE=60 "$CONF/policy.conf"
equal "edit: mode" "$(stat -c %a "$CONF/policy.conf")" 600
check "edit: no copy left" test ! -e "$CONF/policy.conf.edit"
before=$(cat "$CONF/policy.conf")
# shellcheck disable=SC2016
edit 'echo MODE_restart=perhaps >>"$1"; echo "# my words" >>"$1"'
equal "edit, bad: exit" "$RC" 1
equal "edit, bad: policy.conf stays" "$(cat "$CONF/policy.conf")" "$before"
check "edit, bad: the text is kept" grep -qx '# my words' "$CONF/policy.conf.edit"
like "edit, bad: where" "$ERR" "*$CONF/policy.conf.edit:*${NL}spoolgate policy --edit -s demo"
# shellcheck disable=SC2016
edit 'grep -q "my words" "$1" && sed -i /perhaps/d "$1"'
equal "edit, taken up again: exit" "$RC" 0
check "edit, taken up again: saved" grep -qx '# my words' "$CONF/policy.conf"
edit 'exit 3'
equal "edit, the editor fails: exit" "$RC" 1
rm "$CONF/policy.conf.edit"
edit true
has "edit, nothing changed" "$OUT" "nothing changed"
# shellcheck disable=SC2016
edit "echo '# other' >>'$CONF/policy.conf'; echo '# mine' >>\"\$1\""
equal "edit, changed meanwhile: exit" "$RC" 1
has "edit, changed meanwhile: why" "$ERR" "changed meanwhile"
drain
equal "edit: each that was saved is on record, with its hash" "$(grep -cE '"event":"edited".*"detail":"policy.conf, now [0-9a-f]{64}"' "$STATE/audit.log")" 2
check "edit: the hash is the file's" grep -qF "\"policy.conf, now $(grep -vxF '# other' "$CONF/policy.conf" | sha256sum | cut -d' ' -f1)\"" "$STATE/audit.log"
gate policy --check --edit
equal "policy, two at once: usage" "$RC" 64
flow_end
