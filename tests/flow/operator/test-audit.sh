#!/bin/bash
# The audit log as the operator reads it: filters, grouping, proof, and no byte of the agent's raw.
# shellcheck source=tests/flow/operator/operator.sh
. "${BASH_SOURCE[0]%/*}/operator.sh"
begin "$1" "$2"

fresh
gate audit
equal "nothing installed: exit" "$RC" 2
has "nothing installed: remedy" "$ERR" "${NL}spoolgate install"
project
gate audit verify
equal "empty log: exit" "$RC" 0
has "empty log: verify" "$OUT" "0 records, each in the chain"

ask ping
ping=$NAME
ask restart web
web=$NAME
ask restart api
ask rebuild web
ask rebuild web
ask nothing
put $'bad\033[2Jname.json' '{}'
drain

gate audit
equal "audit: exit" "$RC" 0
equal "audit: one line a record" "$(printf '%s\n' "$OUT" | wc -l)" "$(wc -l <"$STATE/audit.log")"
has "audit: an end" "$OUT" "end          restart web: done"
has "audit: a failure" "$OUT" "restart api: failed: exit-nonzero 3"
has "audit: a refusal" "$OUT" "refused      rebuild web: denied: policy"
clean "audit: nothing raw" "$OUT"
has "audit: the hostile name, escaped" "$OUT" '\x1b[2Jname'

gate audit --verb rebuild
equal "by verb" "$(printf '%s\n' "$OUT" | grep -c rebuild) $(printf '%s\n' "$OUT" | wc -l)" "4 4"
gate audit --outcome failed
like "by outcome" "$OUT" "*restart api: failed*"
equal "by outcome: nothing else" "$(printf '%s\n' "$OUT" | wc -l)" 1
gate audit --request "$web"
equal "by request" "$(printf '%s\n' "$OUT" | wc -l)" 3
gate audit --since 2000-01-01 --verb ping
has "since a date" "$OUT" "$ping"
gate audit --since 2999-01-01
equal "since the future" "$OUT" ""
gate audit --since 1h --verb ping
has "since an hour" "$OUT" "$ping"
for bad in 1x h -1h 2026-13-01 ""; do
        gate audit --since "$bad"
        equal "since '$bad': usage" "$RC" 64
done
gate audit --outcome odd
equal "unknown outcome: usage" "$RC" 64
gate audit --json --verb rebuild
check "json lines" python3 -c 'import json,sys
rows=[json.loads(l) for l in sys.argv[1].splitlines()]
assert [r["event"] for r in rows]==["claimed","refused"]*2
assert all(r["reason"]=="policy" and r["state"]=="denied" for r in rows[1::2])' "$OUT"

gate audit --would
like "would: the setting first" "$OUT" " *2  MODE_rebuild=deny * rebuild web*"
has "would: others" "$OUT" "no such verb: verbs.json"
gate audit --would --json
check "would --json" python3 -c 'import json,sys
d=json.loads(sys.argv[1]); g=d["groups"][0]
assert g["setting"]=="MODE_rebuild=deny" and g["count"]==2 and g["what"]=="rebuild web" and d["left_out"]==0' "$OUT"

# --follow shows what comes, and nothing twice
(cd "$P" && exec timeout 20 env -i HOME="$H" "${FLOW_ENV[@]}" "$PREFIX/bin/spoolgate" audit --follow --verb ping) >"$T/follow" 2>&1 &
follower=$!
check "follow: what was" await grep -q "$ping" "$T/follow"
ask ping
check "follow: what comes" await grep -q "$NAME" "$T/follow"
kill "$follower"
wait "$follower" 2>/dev/null
equal "follow: nothing twice" "$(wc -l <"$T/follow")" 4

gate audit verify
equal "verify: exit" "$RC" 0
like "verify: count" "$OUT" "$(wc -l <"$STATE/audit.log") records, each in the chain"
gate audit verify --json
has "verify --json" "$OUT" '"whole": true'

cp -p "$STATE/audit.log" "$T/audit.keep"
sed -i '2s/"request":"2/"request":"1/' "$STATE/audit.log"
gate audit verify
equal "a changed record: exit" "$RC" 1
has "a changed record: where" "$OUT" "audit.log line 3, record 3, doesn't carry the hash"
gate audit
equal "a changed record, list: exit" "$RC" 1
has "a changed record, list: remedy" "$ERR" "${NL}spoolgate audit verify"
cp -p "$T/audit.keep" "$STATE/audit.log"
sed -i 2d "$STATE/audit.log"
gate audit verify
has "a record taken out" "$OUT" "records before it are missing"
cp -p "$T/audit.keep" "$STATE/audit.log"
chmod 666 "$STATE/audit.log"
gate audit verify
equal "writable by others: exit" "$RC" 1
cp -p "$T/audit.keep" "$STATE/audit.log"
gate audit verify
equal "as it was: exit" "$RC" 0
gate audit verify --journal
like "verify --journal answers" "$RC" "[01]"
gate audit nonsense
equal "a stray word: usage" "$RC" 64
flow_end
