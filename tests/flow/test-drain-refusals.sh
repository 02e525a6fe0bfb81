#!/bin/bash
# test-drain-refusals.sh BUILD_ROOT SOURCE_ROOT - each refusal of protocol version 1 by its reason code, and broken host files
# shellcheck source=tests/flow/lib.sh
. "$(dirname -- "$0")/lib.sh"
flow_begin "$@"
flow_project

refused=()
# refuse CASE VERB BODY STATE REASON: written now, looked at after the drain
refuse() {
        raw "$2" "$3"
        refused+=("$NAME" "$1" "$4" "$5")
}

look() {
        local i
        for ((i = 0; i < ${#refused[@]}; i += 4)); do
                expect "${refused[i + 1]}" "${refused[i]}" state="${refused[i + 2]}" reason="${refused[i + 3]}" exit=null signal=null output=null \
                        started_at=null log=null
        done
        refused=()
}

now=$(iso)
at="\"requested_at\":\"$now\""

# ---- body -------------------------------------------------------------------------------------------------------------

refuse "empty file" ping '' denied malformed
refuse "not JSON" ping 'hello' denied malformed
refuse "an array" ping '[]' denied malformed
refuse "no verb" ping "{$at}" denied malformed
refuse "no requested_at" ping '{"verb":"ping"}' denied malformed
refuse "a verb that is a number" ping "{\"verb\":1,$at}" denied malformed
refuse "a local time" ping '{"verb":"ping","requested_at":"2026-01-01T00:00:00+01:00"}' denied malformed
refuse "timeout_sec 0" ping "{\"verb\":\"ping\",$at,\"timeout_sec\":0}" denied malformed
refuse "max_age_sec a real" ping "{\"verb\":\"ping\",$at,\"max_age_sec\":30.0}" denied malformed
refuse "a key with a slash" ping "{\"verb\":\"ping\",$at,\"idempotency_key\":\"../x\"}" denied malformed
refuse "an unknown scope" ping "{\"verb\":\"ping\",$at,\"permission_scope\":\"root\"}" denied malformed
refuse "a short mac" ping "{\"verb\":\"ping\",$at,\"mac\":\"00\"}" denied malformed
refuse "a key twice" ping "{\"verb\":\"ping\",\"verb\":\"ping\",$at}" denied malformed
refuse "an unknown key" ping "{\"verb\":\"ping\",$at,\"argv\":[\"sh\"]}" denied unknown-key
refuse "another verb than the name's" ping "{\"verb\":\"down\",$at}" denied name-mismatch
refuse "another time than the name's" ping "{\"verb\":\"ping\",\"requested_at\":\"$(iso -61)\"}" denied name-mismatch

# ---- verb and arg -----------------------------------------------------------------------------------------------------

for verb in exec eval shell sh bash reset-db; do
        refuse "hard-denied: $verb" $verb "{\"verb\":\"$verb\",$at}" denied hard-denied
done
refuse "an unknown verb" explode "{\"verb\":\"explode\",$at}" denied unknown-verb
refuse "no arg" restart "{\"verb\":\"restart\",$at}" denied arg-missing
missing=$NAME
refuse "an arg too many" status "{\"verb\":\"status\",$at,\"arg\":\"web\"}" denied arg-unexpected
refuse "an empty arg too many" ping "{\"verb\":\"ping\",$at,\"arg\":\"\"}" denied arg-unexpected
# shellcheck disable=SC2016
for arg in -f --help -- '' '../x' 'web;id' 'web api' 'Web' '$(id)' 'web\u000aapi' '\u001b[31m' 'w\u0435b'; do
        refuse "arg shape: $arg" restart "{\"verb\":\"restart\",$at,\"arg\":\"$arg\"}" denied arg-shape
done
refuse "an unlisted service" restart "{\"verb\":\"restart\",$at,\"arg\":\"nope\"}" denied arg-not-listed
unlisted=$NAME
refuse "a service that isn't built" rebuild "{\"verb\":\"rebuild\",$at,\"arg\":\"api\"}" denied arg-not-listed
refuse "hard deny comes before anything else" exec "{\"verb\":\"exec\",\"requested_at\":\"$now\",\"arg\":\"-f\"}" denied hard-denied

# ---- clock ------------------------------------------------------------------------------------------------------------

old() { # SECONDS VERB MEMBERS: a request dated that far from now
        nonce
        NAME=$(stamp "$1")-$2-$NONCE.json
        put "$NAME" "{\"verb\":\"$2\",\"requested_at\":\"$(iso "$1")\"$3}"
}
old -400 ping ''
refused+=("$NAME" "older than MAX_AGE" expired expired)
old -30 restart ',"arg":"web","max_age_sec":10'
refused+=("$NAME" "older than its own max_age_sec" expired expired)
old -400 ping ',"max_age_sec":100000'
refused+=("$NAME" "max_age_sec can't widen" expired expired)
old 120 ping ''
refused+=("$NAME" "dated ahead" denied future-dated)
old 31536000 restart ',"arg":"web"'
refused+=("$NAME" "dated a year ahead" denied future-dated)

# ---- policy, scope ----------------------------------------------------------------------------------------------------

flow_policy MODE_down=deny MODE_health=deny SCOPE_CEILING=edit
request down
refused+=("$NAME" "denied by policy" denied policy)
policy=$NAME
request health
refused+=("$NAME" "a read-only verb denied by policy" denied policy)
request init
refused+=("$NAME" "wider than the ceiling" denied scope)
request init '' '"permission_scope":"full"'
refused+=("$NAME" "a request can't widen the ceiling" denied scope)
request restart web '"permission_scope":"readonly"'
refused+=("$NAME" "narrower than its verb" denied scope)
request init '' '"permission_scope":"plan"'
refused+=("$NAME" "a plan is bound by the ceiling" denied scope)
request join-network
refused+=("$NAME" "a verb whose binary isn't there" denied host-config)
absent=$NAME
drain
equal "the drain exits 0" "$RC $(cat "$T/drain.err")" "0 "
look
empty "nothing is left in the line"
equal "nothing ran" "$(cat "$EFFECTS")" ""
like "arg-missing lists what there is" "$(field "$missing" message)" '*: one of web api fail *'
like "arg-not-listed too" "$(field "$unlisted" message)" '*: one of web api *'
like "policy says which line, and ends with the command" "$(field "$policy" message)" "*MODE_down is not auto*\\nvi '$CONF/policy.conf'"
like "what is missing, and how to mend it" "$(field "$absent" message)" "*podman*\\nspoolgate install --slug demo"
check "no message holds agent bytes" test "$(cat "$S/responses"/* | grep -c -e 'nope' -e explode.*explode.*explode -e '31m')" = 0

# ---- paused -----------------------------------------------------------------------------------------------------------

as_user touch "$STATE/paused"
flow_policy
request restart web
paused=$NAME
request status
status=$NAME
drain
expect "paused: mutating verbs" "$paused" state=denied reason=paused
expect "paused: read-only verbs go on" "$status" state=done
rm "$STATE/paused"

# ---- integrity ------------------------------------------------------------------------------------------------------------

mv "$STATE/seal/seal" "$T/seal"
request restart web
restart=$NAME
request status
drain
expect "no seal, and so no sealed .env: mutating verbs" "$restart" state=denied reason=integrity-env
like "the message ends with the command" "$(field "$restart" message)" '*\\nspoolgate seal -s demo'
expect "no seal: read-only verbs go on" "$NAME" state=done
echo torn | as_user tee "$STATE/seal/seal" >/dev/null
request restart web
drain
like "a torn seal" "$(field "$NAME" state) $(field "$NAME" reason)" 'denied integrity-*'
mv "$T/seal" "$STATE/seal/seal"
equal "nothing ran" "$(effects 'restart web')" 0
request restart web
drain
expect "sealed again" "$NAME" state=done
: >"$EFFECTS"

# ---- rate -------------------------------------------------------------------------------------------------------------

rm -f "$STATE"/rate/*
flow_policy RATE_PER_VERB=2/600 RATE_TOTAL=3/600
names=()
for arg in web web web api api; do
        request restart $arg
        names+=("$NAME")
done
request status
drain
expect "rate: 1" "${names[0]}" state=done retry_after_sec=null
expect "rate: 2" "${names[1]}" state=done
expect "rate per verb and arg" "${names[2]}" state=denied reason=rate
retry=$(field "${names[2]}" retry_after_sec)
check "says when: at most the window" test "$retry" -gt 590 -a "$retry" -le 600
expect "another arg has its own window" "${names[3]}" state=done
expect "the total binds all" "${names[4]}" state=denied reason=rate
expect "read-only verbs have none" "$NAME" state=done
equal "three ran" "$(grep -c '^restart [wa]' "$EFFECTS")" 3
request restart web
drain
expect "the windows outlive the drain" "$NAME" state=denied reason=rate
rm -f "$STATE"/rate/*
echo "not a window" >"$T/x" && as_user cp "$T/x" "$STATE/rate/window"
request restart web
drain
expect "a window file that doesn't parse refuses" "$NAME" state=denied reason=host-error
empty "and leaves nothing in the line"
rm -f "$STATE"/rate/*

# ---- queue-full -------------------------------------------------------------------------------------------------------

flow_policy QUEUE_DEPTH=2
request restart gate
gate=$NAME
drain_start
entered
check "the running state is published" await answered "$gate" running
names=()
for arg in web web web web; do
        request restart $arg
        names+=("$NAME")
done
check "beyond the depth" await answered "${names[2]}" denied
expect "queue-full" "${names[2]}" state=denied reason=queue-full retry_after_sec=30
check "and the next" await answered "${names[3]}" denied
expect "within the depth: queued, with its place" "${names[0]}" state=queued ahead=1 reason=null
expect "and the second" "${names[1]}" state=queued ahead=2
let_go now
drain_wait
expect "the gate has passed" "$gate" state=done 'output=passed now\n'
expect "then the first" "${names[0]}" state=done ahead=null
expect "then the second" "${names[1]}" state=done
flow_policy

# ---- failures of a run --------------------------------------------------------------------------------------------------

request restart slow '"timeout_sec":1'
slow=$NAME
mv "$HOST/stack" "$HOST/stack.away"
request restart web
drain_start
check "a binary that isn't there" await answered "$NAME" failed
expect "spawn" "$slow" state=failed reason=spawn exit=null signal=null output=null
like "the message says why" "$(field "$NAME" message)" "the command could not be started: No such file or directory"
drain_wait
mv "$HOST/stack.away" "$HOST/stack"
request restart slow '"timeout_sec":1'
slow=$NAME
drain
expect "timeout" "$slow" state=failed reason=timeout exit=null signal=null
like "the message says after how long" "$(field "$slow" message)" "*after 1 s"
request restart slow
slow=$NAME
drain_start
entered
check "the keeper's pid is on file" await test -s "$(echo "$STATE"/run/*.lock)"
kill -TERM "$(tr -dc 0-9 <"$(echo "$STATE"/run/*.lock)")"
drain_wait
expect "cancelled" "$slow" state=failed reason=cancelled
equal "nothing is left of the runs" "$(visible "$STATE/run")" 0

# ---- broken host files ------------------------------------------------------------------------------------------------

broken() { # CASE: whatever waits is answered host-config, and the spool is emptied
        request restart web
        local restart=$NAME
        request ping
        echo junk >"$S/requests/junk"
        drain
        equal "$1: the drain exits 0" "$RC" 0
        expect "$1: mutating" "$restart" state=denied reason=host-config
        expect "$1: read-only" "$NAME" state=denied reason=host-config
        like "$1: what and where" "$(field "$NAME" message)" "the host's configuration of this bridge does not hold: policy.conf*\\nvi '$CONF/policy.conf'"
        empty "$1: nothing is left in the line"
}
effects_before=$(wc -l <"$EFFECTS")
echo "MODE_restart=perhaps" >>"$CONF/policy.conf"
broken "a bad line"
like "names the line" "$(field "$NAME" message)" "*policy.conf:15: *"
flow_policy
printf 'MODE_restart=auto\r\nMODE_restart=auto\n' >"$CONF/policy.conf"
broken "a key twice"
rm "$CONF/policy.conf"
broken "no policy.conf"
ln -s "$T/tests/policy.conf" "$CONF/policy.conf"
broken "policy.conf is a link"
rm "$CONF/policy.conf"
mkdir "$CONF/policy.conf"
broken "policy.conf is a directory"
rmdir "$CONF/policy.conf"
mkfifo -m 600 "$CONF/policy.conf"
broken "policy.conf is a FIFO"
rm "$CONF/policy.conf"
flow_policy
chmod 666 "$CONF/policy.conf"
broken "policy.conf is writable by others"
flow_policy
head -c 70000 /dev/zero | tr '\0' '#' >"$CONF/policy.conf"
broken "policy.conf is too big"
equal "nothing ran" "$(wc -l <"$EFFECTS")" "$effects_before"
flow_policy
request restart web
restart=$NAME
printf 'good  [0-9]+\nbad (\n' >"$CONF/redact.conf"
flow_own "$CONF/redact.conf"
request ping
drain
expect "a broken redact.conf: nothing is run" "$restart" state=denied reason=host-config
like "names the line, ends with the command" "$(field "$restart" message)" "*redact.conf:2:*\\nvi '$CONF/redact.conf'"
expect "ping has no output to redact" "$NAME" state=done
rm "$CONF/redact.conf"
cp "$T/tests/policy.conf" "$CONF/policy.conf"
flow_own "$CONF/policy.conf"
request restart web
restart=$NAME
request up
drain
expect "the shipped policy.conf asks git too, and none is pinned here" "$restart" state=denied reason=integrity-error
expect "the shipped policy.conf: up" "$NAME" state=denied reason=policy
check "the audit log's chain holds" audit_chain
flow_end
