#!/bin/bash
# One look tells: what status says of a real project, in each of the states it can be in.
# shellcheck source=tests/flow/operator/operator.sh
. "${BASH_SOURCE[0]%/*}/operator.sh"
begin "$1" "$2"

fresh
gate status
equal "nothing installed: exit" "$RC" 2
gate status --all
equal "nothing installed, --all: exit" "$RC" 2
project
gate status
equal "fresh: exit" "$RC" 0
for part in "demo  (script)" "checkout   $P" "queue      0 waiting, 0 in hand, 0 read-only running; drain idle" "rate       0 of 20 in 600 s" \
        "last day   nothing" "seal       " " old, by tester" "paused     no" "disk       spool "; do
        has "fresh: $part" "$OUT" "$part"
done
clean "no colour on no terminal" "$OUT"

ask restart web
ask restart api
ask rebuild web
request ping
gate status
has "a waiting request" "$OUT" "queue      1 waiting"
has "outcomes" "$OUT" "last day   1 done, 1 failed, 1 denied"
like "the latest first" "$OUT" "*latest     rebuild web: denied: policy, * ago${NL}*restart api: failed: exit-nonzero, *restart web: done, *"
has "rate windows" "$OUT" "rate       2 of 20 in 600 s; restart web 1 of 6; restart api 1 of 6"
drain
policy RATE_PER_VERB=1/600
gate status
like "a full window says when" "$OUT" "*restart web 1 of 1, free in * min*"
gate status --json
check "--json" python3 -c 'import json,sys
p=json.loads(sys.argv[1])["projects"][0]
assert p["project"]=="demo" and p["waiting"]==0 and p["last_day"]=={"done":2,"failed":1,"uncertain":0,"denied":1,"expired":0}
assert p["latest"][0]["what"]=="ping" and p["integrity"]=="ok" and p["paused"] is False and p["bad"] is False
r=p["rate"]; assert r["used"]==2 and r["limit"]==20 and {v["what"] for v in r["verbs"]}=={"restart web","restart api"} and all(v["free_in_ms"]>0 for v in r["verbs"])
assert p["state_bytes"]>0 and p["free_bytes"]>0 and p["units"] is None' "$OUT"

printf 'at 2026-01-01T00:00:00.000Z\nby me\nreason \033[2Jlunch\n' >"$STATE/paused"
gate status
has "paused" "$OUT" 'paused     yes, by me at 2026-01-01T00:00:00.000Z: \x1b[2Jlunch'
clean "paused: nothing raw" "$OUT"
rm "$STATE/paused"

rm "$STATE/seal/seal"
gate status
equal "unsealed: exit" "$RC" 1
has "unsealed" "$OUT" "seal       none"
like "unsealed: what next, alone on the last line" "$OUT" "*${NL}spoolgate doctor -s demo"
echo junk >"$STATE/seal/seal"
gate status
has "a damaged seal" "$OUT" "seal       damaged"
seal
policy MAX_AGE=never
gate status
equal "broken policy: exit" "$RC" 1
has "broken policy: the line" "$OUT" "policy     policy.conf:"
policy MAX_AGE=300
cp -p "$STATE/audit.log" "$T/keep"
sed -i 1d "$STATE/audit.log"
gate status
equal "broken audit log: exit" "$RC" 1
has "broken audit log" "$OUT" "audit      audit.log line 1"
cp -p "$T/keep" "$STATE/audit.log"
echo "junk" >"$STATE/rate/window"
gate status
has "broken rate file" "$OUT" "rate       STATE/rate/window doesn't parse"
rm "$STATE/rate/window"

# running: a run that an earlier drain left is seen through its ledger entry
mkfifo "$T/go"
cat >"$STACK" <<STACK
#!/bin/bash
read -r _ <"$T/go"
STACK
policy RATE_PER_VERB=6/600
request restart web
drain &
drainer=$!
gate_running() { gate status; [[ $OUT == *"running    restart web for "* ]]; }
check "a run that is going on" await gate_running
has "a run that is going on: the drain" "$OUT" "drain at work"
echo go >"$T/go"
wait "$drainer"
gate status
lacks "a run that has ended" "$OUT" "running    restart"

# narrow and coloured, on a terminal of its own
if command -v script >/dev/null; then
        screen() { # COLUMNS ENV COMMAND
                script -qec "stty cols $1; cd '$P' && env -i HOME='$H' TERM=xterm $2 $PREFIX/bin/spoolgate $3" /dev/null </dev/null 2>/dev/null | tr -d '\r'
        }
        narrow=$(screen 60 NO_COLOR=1 status | sed "s|$P|CHECKOUT|")
        has "60 columns: all there" "$narrow" "integrity  "
        equal "60 columns: no line is longer" "$(printf '%s\n' "$narrow" | awk 'length($0) > 60' | grep -vc 'spoolgate/inspect')" 0
        clean "NO_COLOR" "$narrow"
        coloured=$(screen 100 A=1 status)
        has "colour on a terminal" "$coloured" $'\033[32m'
        watched=$(timeout 5 script -qec "cd '$P' && timeout 3 env -i HOME='$H' TERM=dumb $PREFIX/bin/spoolgate status --watch" /dev/null </dev/null 2>/dev/null)
        equal "--watch redraws" "$(printf '%s' "$watched" | grep -c $'\033\\[H\033\\[2J')" 2
else
        skip "on a terminal" "script(1) is not there"
fi

# the audit log's budget
lacks "the day's audit lines: nothing to say" "$OUT" "AUDIT_DAY"
printf '%020d %020d %020d %020d\n' 1 1 0 "$(($(date +%s) * 1000000 + 86400 * 999000))" >"$STATE/rate/refusals"
gate status
has "the day's audit lines are used up" "$OUT" "of AUDIT_DAY's 20000 lines are used up"
has "and whose they are" "$OUT" "${NL}spoolgate audit -s demo${NL}"
gate status --json
check "and in JSON" python3 -c 'import json,sys
r=json.loads(sys.argv[1])["projects"][0]["rate"]; assert r["audit_day"]==20000 and 19900<=r["audit_used"]<=20000' "$OUT"
rm "$STATE/rate/refusals"

# two projects
(cd "$W" && mkdir -p other/.git/info && echo /untracked/ >other/.git/info/exclude)
Q=$P
P=$W/other
install --slug other --stack script --stack-bin "$STACK" --service web --launch direct
gate status --all
like "--all" "$OUT" "demo  (script)*${NL}${NL}other  (script)*"
gate status
like "the project of this folder" "$OUT" "other  (script)*"
P=$Q
echo '{' >"$H/.config/spoolgate/other/bridge.json"
gate status --all
equal "a broken project: exit" "$RC" 1
has "a broken project: the other is shown" "$OUT" "demo  (script)"
like "a broken project: the remedy alone on the last line" "$OUT" "*other${NL}  broken *${NL}spoolgate install --slug other"
gate status --json --watch
equal "--json --watch: usage" "$RC" 64
flow_end
