#!/bin/bash
# test-drain-basic.sh BUILD_ROOT SOURCE_ROOT - the plain way through: ping, status, logs, restart, plan, replays, own verbs, --watch
# shellcheck source=tests/flow/lib.sh
. "$(dirname -- "$0")/lib.sh"
flow_begin "$@"
flow_project

# ---- the program itself -----------------------------------------------------------------------------------------------

"$DRAIN" --help >"$T/out" 2>&1
equal "--help exits 0" $? 0
check "--help says how it is used" grep -q '^usage: spoolgate-drain \[--watch\] SLUG$' "$T/out"
"$DRAIN" --version >"$T/out" 2>&1
like "--version" "$?: $(cat "$T/out")" '0: spoolgate-drain [0-9]*.[0-9]*'
drain --nonsense
equal "an unknown option is a usage error" "$RC" 64
drain demo more
equal "two operands are a usage error" "$RC" 64
drain 'No Slug'
like "a bad slug is a configuration error" "$RC $(cat "$T/drain.err")" "78 *is no project name*"
drain other
like "a project that isn't installed" "$RC $(cat "$T/drain.err")" "78 *other*"$'\n''spoolgate install --slug other'

# ---- answers ----------------------------------------------------------------------------------------------------------

request ping
ping=$NAME
request status
status=$NAME
request health
health=$NAME
request logs web
logs=$NAME
request restart web
restart=$NAME
request restart fail
fail=$NAME
request restart kill
kill=$NAME
request restart quiet
quiet=$NAME
request restart api '"permission_scope":"plan"'
plan=$NAME
request ping '' '"permission_scope":"plan"'
plan_ping=$NAME
drain
equal "the drain exits 0" "$RC $(cat "$T/drain.err")" "0 "
empty "nothing is left in the line"

keys='v request state reason message verb arg exit signal started_at finished_at duration_ms output output_bytes truncated log replayed retry_after_sec ahead'
for name in "$ping" "$status" "$fail" "$plan"; do
        equal "every key, in the order of the protocol: ${name:17:6}" "$(python3 -c '
import json, sys
print(" ".join(k for k, v in json.load(open(sys.argv[1]), object_pairs_hook=lambda p: p)))' "$S/responses/$name.response.json")" "$keys"
        equal "one line: ${name:17:6}" "$(wc -l <"$S/responses/$name.response.json")" 1
done
expect "ping is answered by the drain" "$ping" v=1 "request=$ping" state=done reason=null verb=ping arg=null exit=0 signal=null \
        'output=pong\n' output_bytes=5 truncated=false log=null replayed=false retry_after_sec=null ahead=null duration_ms=0
expect "status: stdout and stderr, in order" "$status" state=done reason=null exit=0 signal=null 'output=web up\napi down\n' output_bytes=16 \
        truncated=false "log=archive/$status.log" message=done
equal "the log holds the same" "$(cat "$S/archive/$status.log")" $'web up\napi down'
expect "logs: the arg reaches the argv" "$logs" state=done arg=web 'output=restarted web\n'
expect "restart" "$restart" state=done verb=restart arg=web 'output=restarted web\n' exit=0
expect "a failing command" "$fail" state=failed reason=exit-nonzero exit=3 signal=null 'output=no such thing\n'
expect "a killed command" "$kill" state=failed reason=signal exit=null signal=9
expect "no output" "$quiet" state=done output= output_bytes=0 truncated=false
expect "scope plan tells the argv" "$plan" state=done reason=null "output=$HOST/stack restart api\\n" message=planned log=null
equal "scope plan runs nothing" "$(effects 'restart api')" 0
expect "scope plan of ping" "$plan_ping" state=done 'output=pong\n'
equal "each ran once" "$(sort "$EFFECTS" | tr '\n' ';')" "health;logs web;restart fail;restart kill;restart quiet;restart web;status;"
for name in "$ping" "$status" "$restart" "$fail" "$plan"; do
        check "the request is archived: ${name:17:7}" test -s "$S/archive/$name"
done
line=$(response "$restart")
like "times are RFC 3339 UTC" "$(value "$line" started_at) $(value "$line" finished_at)" '20??-??-??T??:??:??.???Z 20??-??-??T??:??:??.???Z'
check "started no later than finished" test "$(value "$line" started_at)" \< "$(value "$line" finished_at)"

# ---- the world of a verb ----------------------------------------------------------------------------------------------

expect "health ran" "$health" state=done 'output=healthy\n'
equal "the environment is built from nothing" "$(grep -v -e '^_=' -e '^SHLVL=' -e '^PWD=' -e '^OLDPWD=' "$HOST/seen.env" | sort)" "BUILDX_GIT_INFO=false
GIT_ALLOW_PROTOCOL=none
GIT_DIR=/nonexistent
GIT_NO_LAZY_FETCH=1
HOME=$T/home
LANG=C.UTF-8
PATH=/usr/bin:/bin
SPOOLGATE_CHECKOUT=$P"
equal "cwd is a host-only directory" "$(cat "$HOST/seen.cwd")" /
equal "stdin is at its end" "$(stat -c %s "$HOST/seen.stdin")" 0
# 3 is the directory that ls itself reads; 255 would be bash's own script
equal "fds 0 to 2 only" "$(awk 'NF > 8 { print $9 }' "$HOST/seen.fd" | tr '\n' ' ')" "0 1 2 3 "
like "stdin is /dev/null" "$(grep ' 0 -> ' "$HOST/seen.fd")" '*-> /dev/null'
equal "umask 022" "$(cat "$HOST/seen.umask")" 0022
equal "no signal is blocked or ignored" "$(awk '/^Sig(Blk|Ign):/ { print $2 }' "$HOST/seen.status" | tr '\n' ' ')" "0000000000000000 0000000000000000 "
read -r pid sid tty <"$HOST/seen.session"
equal "a session of its own, no terminal" "$sid $tty" "$pid ?"

# ---- audit ------------------------------------------------------------------------------------------------------------

check "the audit log's chain holds" audit_chain
equal "a run has its claim, its start and its end" "$(grep -F "$restart" "$STATE/audit.log" | grep -o '"event":"[a-z]*"' | tr '\n' ' ')" '"event":"claimed" "event":"start" "event":"end" '
equal "the start tells the argv" "$(grep -F "$restart" "$STATE/audit.log" | grep -cF "\"argv\":\"$HOST/stack restart web\"")" 1
equal "the claim tells the bytes that came" "$(grep -F "$restart" "$STATE/audit.log" | grep -cF "\"sha256\":\"$(sha256sum <"$S/archive/$restart" | cut -c1-64)\"")" 1
check "ping, plan and failure are on record" test "$(audit '"event":"answered"')$(audit '"event":"planned"')$(audit '"state":"failed"')" = 212
check "the ledger has ended what it began" test "$(visible "$STATE/ledger/begun") $(visible "$STATE/ledger/ended")" = "0 4"
equal "nothing is left of the runs" "$(visible "$STATE/run")" 0
equal "state is private" "$(stat -c %a "$STATE/audit.log" "$STATE/lock" | tr '\n' ' ')" "600 600 "

# ---- diagnostics ------------------------------------------------------------------------------------------------------

python3 - "$S/diagnostics" >"$T/out" 2>&1 <<'CAP'
import json, sys
c = json.load(open(sys.argv[1] + "/capabilities.json"))
verbs = {v["verb"]: v for v in c["verbs"]}
assert c["v"] == 1 and c["slug"] == "demo" and c["stack"] == "script"
assert list(verbs) == "ping cancel status health logs up down restart rebuild init join-network".split(), list(verbs)
assert verbs["restart"]["class"] == "mutating" and "web" in verbs["restart"]["arg"] and verbs["restart"]["mode"] == "auto"
assert verbs["rebuild"]["arg"] == ["web"] and verbs["status"]["arg"] is None
assert verbs["join-network"] == {"verb": "join-network", "class": "mutating", "mode": "deny", "arg": None, "timeout_sec": 60, "available": False}
assert c["limits"]["max_age_sec"] == 300 and c["limits"]["rate_total"] == "1000/600"
h = json.load(open(sys.argv[1] + "/heartbeat.json"))
assert h["completed"] == 10 and h["running"] == [], h
CAP
equal "capabilities and heartbeat" "$(cat "$T/out")" ""

# ---- replays ----------------------------------------------------------------------------------------------------------

cp "$S/archive/$restart" "$S/requests/.again" && mv "$S/requests/.again" "$S/requests/$restart"
first=$(response "$restart")
drain
expect "an archived request sent again is replayed" "$restart" state=done replayed=true 'output=restarted web\n' \
        "started_at=$(value "$first" started_at)"
equal "and not run again" "$(effects 'restart web')" 1

request restart web '"idempotency_key":"deploy:1"'
one=$NAME
request restart web '"idempotency_key":"deploy:1"'
two=$NAME
request restart api '"idempotency_key":"deploy:1"'
three=$NAME
request restart web '"idempotency_key":"deploy:2"'
four=$NAME
drain
expect "a key's first request runs" "$one" state=done replayed=false
expect "the same key again: the same answer" "$two" state=done replayed=true "request=$two" 'output=restarted web\n'
expect "the same key, another request" "$three" state=denied reason=key-conflict
expect "another key" "$four" state=done replayed=false
equal "effects: the first one, key 1, key 2" "$(effects 'restart web')" 3
equal "the conflict ran nothing" "$(effects 'restart api')" 0
request restart web '"idempotency_key":"deploy:1"'
drain
expect "a later drain replays too" "$NAME" state=done replayed=true
equal "still three" "$(effects 'restart web')" 3

# ---- own verbs --------------------------------------------------------------------------------------------------------

cat >"$CONF/verbs.json" <<VERBS
{"v": 1, "verbs": [
 {"name": "disk", "class": "read-only", "argv": ["/bin/echo", "disk", "{arg}"], "arg": {"enum": ["root", "home"]}, "timeout_sec": 10},
 {"name": "where", "class": "read-only", "argv": ["/bin/pwd"], "cwd": "checkout"},
 {"name": "touch-it", "class": "mutating", "argv": ["$HOST/stack", "own"], "permission_scope": "full", "env": {"WHO": "own"}}]}
VERBS
flow_own "$CONF/verbs.json"
flow_policy MODE_disk=auto MODE_where=auto MODE_touch-it=auto
request disk home
disk=$NAME
request disk nowhere
nowhere=$NAME
request where
where=$NAME
request touch-it
touched=$NAME
request touch-it '' '"permission_scope":"edit"'
narrow=$NAME
drain
equal "own verbs load" "$RC $(cat "$T/drain.err")" "0 "
expect "an own verb with its arg" "$disk" state=done 'output=disk home\n'
expect "an arg that its enum lacks" "$nowhere" state=denied reason=arg-not-listed
like "the message lists what there is" "$(field "$nowhere" message)" '*: one of root home'
expect "an own verb in the checkout" "$where" state=done "output=$P\\n"
expect "an own mutating verb" "$touched" state=done verb=touch-it
expect "marked full, asked with edit" "$narrow" state=denied reason=scope
echo '{"v": 1, "verbs": [{"name": "sh", "class": "read-only", "argv": ["/bin/sh"]}]}' >"$CONF/verbs.json"
request disk home
disk=$NAME
request restart web
restart=$NAME
drain
expect "a broken verbs.json: own verbs are refused" "$disk" state=denied reason=host-config
like "the message ends with the command" "$(field "$disk" message)" "*\\nvi '$CONF/verbs.json'"
expect "and the built-in ones go on" "$restart" state=done
rm "$CONF/verbs.json"
flow_policy

# ---- --watch ----------------------------------------------------------------------------------------------------------

drain_start --watch demo
request ping
check "a watcher answers" await answered "$NAME" "done"
request restart web
check "and the next one" await answered "$NAME" "done"
request status
check "and a third" await answered "$NAME" "done"
flow_policy MODE_restart=deny
request restart web
check "a changed policy holds at once" await answered "$NAME" denied
check "capabilities follow" await grep -q '"verb":"restart","class":"mutating","mode":"deny"' "$S/diagnostics/capabilities.json"
flow_policy
flow_bridge '"tasks_max": 100'
request restart web
check "a changed bridge file is taken up" await answered "$NAME" "done"
kill -TERM "$DRAIN_PID"
drain_wait
equal "SIGTERM ends it well" "$RC $(cat "$T/drain.bg.err")" "0 "
check "the lock is free" flock -n "$STATE/lock" true
check "the audit log's chain holds at the end" audit_chain
flow_end
