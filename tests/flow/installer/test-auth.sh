#!/bin/bash
# Signed requests: install --auth, the agent's program with openssl and with python3, what is refused, rotation, off again.
# shellcheck source=tests/flow/installer/begin.sh
. "${BASH_SOURCE[0]%/*}/begin.sh"
begin "$1" "$2"
NL=$'\n'
mkdir "$T/python" "$T/openssl" "$T/neither"
for tool in sh awk cat date grep head ls mv od printf readlink rm sed sleep sort tail tr python3 openssl; do
        at=$(command -v "$tool") || continue
        [ "$tool" != python3 ] || at=$(python3 -c 'import sys; print(sys.executable)')
        [ "$tool" = openssl ] || ln -s "$at" "$T/python/$tool"
        [ "$tool" = python3 ] || ln -s "$at" "$T/openssl/$tool"
        [ "$tool" = python3 ] || [ "$tool" = openssl ] || ln -s "$at" "$T/neither/$tool"
done

fresh
S=$P/untracked/spoolgate
CONF=$H/.config/spoolgate/demo
STATE=$H/.local/state/spoolgate/demo
DRAIN=$H/.local/lib/spoolgate/demo/spoolgate-drain
setup=(--slug demo --stack script --stack-bin "$STACK" --service web --service api --launch direct)

drain() {
        timeout -k 2 40 env -i HOME="$H" PATH=/nonexistent "${FLOW_ENV[@]}" "$DRAIN" demo 2>"$T/drain.err" >"$T/drain.out" </dev/null
        RC=$?
        case $(cat "$T/drain.err") in
        *Sanitizer* | *"runtime error"*) fail "no sanitizer report" "$(cat "$T/drain.err")" ;;
        esac
}

# ---- what install writes ------------------------------------------------------------------------------------------------

before=$(snapshot)
install "${setup[@]}" --auth --dry-run
equal "dry run: exit" "$RC" 0
same "dry run: nothing is written" "$before"
like "dry run: says the key file" "$OUT" "*would create $CONF/mac-1.key*nothing was written*"
refused "--auth and --no-auth" "*--no-auth goes with neither*" "${setup[@]}" --auth --no-auth
refused "--rotate-key and --no-auth" "*--no-auth goes with neither*" "${setup[@]}" --rotate-key --no-auth

install "${setup[@]}" --auth
equal "install --auth: exit" "$RC" 0
equal "the key file: mode" "$(stat -c %a "$CONF/mac-1.key")" 600
like "the key file: 64 digits and a line's end" "$(tr -c '0-9a-f' . <"$CONF/mac-1.key")" "$(printf '[0-9a-f]%.0s' {1..64})."
check "the bridge file names it" grep -qE '"keys": *\[ *("mac-1.key" *\]|$)' "$CONF/bridge.json"
like "how the agent gets it" "$OUT" "*podman secret create spoolgate-demo '$CONF/mac-1.key'${NL}podman run --secret spoolgate-demo --env SPOOLGATE_KEY_FILE=/run/secrets/spoolgate-demo ...${NL}*"
KEY1=$(cat "$CONF/mac-1.key")
sed -i '/^INTEGRITY=/d; /^LINGER_MS=/d' "$CONF/policy.conf" # there is no repository here
printf '%s\n' INTEGRITY=seal LINGER_MS=250 >>"$CONF/policy.conf"
case $OUT$ERR in *"$KEY1"*) fail "the key is not printed" ;; *) pass "the key is not printed" ;; esac
before=$(snapshot)
install "${setup[@]}" --auth
same "again: nothing changes" "$before"
like "again: says so" "$OUT" "*demo: nothing changed*"
install "${setup[@]}"
same "a plain install keeps it" "$before"
case $OUT in *podman*) fail "a plain install doesn't speak of it" "$OUT" ;; *) pass "a plain install doesn't speak of it" ;; esac
gate install --slug demo --auth
equal "--auth alone: exit" "$RC" 0
same "--auth alone: nothing changes" "$before"
gate upgrade -s demo
equal "upgrade: exit" "$RC" 0
same "upgrade keeps it" "$before"

# ---- who signs ------------------------------------------------------------------------------------------------------------

cp "$CONF/mac-1.key" "$T/agent.key"
env -i HOME="$H" PATH=/nonexistent "${FLOW_ENV[@]}" "$DRAIN" --watch demo 2>"$T/watch.err" >/dev/null </dev/null &
WATCH=$!
ask() { # TOOLS KEYFILE ARGS...: sets RC, ERR, OUT
        local tools=$1 key=$2
        shift 2
        OUT=$(cd / && timeout 60 env -i PATH="$T/$tools" ${key:+SPOOLGATE_KEY_FILE="$key"} sh "$S/spoolgate-request" --wait 20 "$@" 2>"$T/ask.err" </dev/null)
        RC=$?
        ERR=$(cat "$T/ask.err")
}
if [ -e "$T/openssl/openssl" ]; then
        ask openssl "$T/agent.key" restart web
        equal "signed by openssl: mutating" "$RC $OUT" "0 restart web"
        ask openssl "$T/agent.key" status --key look:1 --max-age 100 --timeout 9 --scope readonly
        equal "signed by openssl: every field" "$RC $OUT" "0 status"
else
        skip "signed by openssl" "no openssl here"
fi
ask python "$T/agent.key" restart api
equal "signed by python3: mutating" "$RC $OUT" "0 restart api"
ask python "$T/agent.key" status --key look:2 --max-age 100 --timeout 9 --scope readonly
equal "signed by python3: every field" "$RC $OUT" "0 status"
ask python "$T/agent.key" --explain restart web
equal "signed by python3: --explain" "$RC" 0
ask neither "$T/agent.key" ping
like "signed by nobody: nothing is asked" "$RC $ERR" "64 spoolgate: usage: cannot-sign:*"
ask python "" ping
like "unsigned" "$RC $ERR" "70 spoolgate: denied: bad-mac: the request is not signed with this project's key"
printf '%064d\n' 7 >"$T/wrong.key"
ask python "$T/wrong.key" restart web
like "another key" "$RC $ERR" "70 spoolgate: denied: bad-mac:*"

# mac NAME VERB ARG AT [IDEMPOTENCY-KEY MAX-AGE TIMEOUT SCOPE]: signed here, with KEY1
mac() {
        printf '%s\n' spoolgate-mac-1 "$1" "$2" "$3" "$4" "${5-}" "${6-}" "${7-}" "${8-}" |
                SPOOLGATE_KEY=${WITH:-$KEY1} python3 -c 'import hashlib, hmac, os, sys
print(hmac.new(os.environb[b"SPOOLGATE_KEY"], sys.stdin.buffer.read(), hashlib.sha256).hexdigest())'
}
# send CASE STATE REASON VERB MEMBERS MAC-FIELDS...: a body of these members, a mac over those fields; NAME and AT are set
send() {
        local what=$1 state=$2 reason=$3 verb=$4 members=$5
        shift 5
        put "$NAME" "{\"verb\":\"$verb\",\"requested_at\":\"$AT\"$members,\"mac\":\"$(mac "$@")\"}"
        if ! await answered "$NAME" "$state"; then fail "$what: answered" "$(response "$NAME")"; fi
        expect "$what" "$NAME" state="$state" reason="$reason"
}
named() { # VERB
        nonce
        NAME=$(stamp)-$1-$NONCE.json
        AT=$(iso)
}
named restart
send "the list of fields as it is written down" "done" null restart ',"arg":"web","idempotency_key":"k:1","max_age_sec":60,"timeout_sec":20,"permission_scope":"edit"' \
        "$NAME" restart web "$AT" k:1 60 20 edit
signed=$(mac "$NAME" restart web "$AT" k:1 60 20 edit)
named restart
send "another arg than signed" denied bad-mac restart ',"arg":"api"' "$NAME" restart web "$AT"
named restart
send "an idempotency key that wasn't signed" denied bad-mac restart ',"arg":"web","idempotency_key":"k:2"' "$NAME" restart web "$AT"
named restart
send "a timeout that wasn't signed" denied bad-mac restart ',"arg":"web","timeout_sec":9' "$NAME" restart web "$AT"
named restart
send "a max age that wasn't signed" denied bad-mac restart ',"arg":"web","max_age_sec":299' "$NAME" restart web "$AT"
named restart
send "a scope that was signed and is left out" denied bad-mac restart ',"arg":"web"' "$NAME" restart web "$AT" "" "" "" readonly
named restart
send "another time than signed" denied bad-mac restart ',"arg":"web"' "$NAME" restart web "$(iso -9)"
named status
send "another verb than signed" denied bad-mac status '' "$NAME" ping "" "$AT"
first=$NAME
named ping
send "a signature of another name" denied bad-mac ping '' "$first" ping "" "$AT"
named restart
put "$NAME" "{\"verb\":\"restart\",\"requested_at\":\"$AT\",\"arg\":\"web\",\"mac\":\"$signed\"}"
check "a mac seen in the archive, sent again: answered" await answered "$NAME" denied
expect "a mac seen in the archive, sent again" "$NAME" reason=bad-mac
for bad in "" "${signed%?}" "${signed}0" "$(tr a-f A-F <<<"$signed")"; do
        named ping
        put "$NAME" "{\"verb\":\"ping\",\"requested_at\":\"$AT\",\"mac\":\"$bad\"}"
        check "no mac at all: '$bad'" await answered "$NAME" denied
done

# ---- rotation, under the eyes of a drain that runs --------------------------------------------------------------------------

gate install --slug demo --rotate-key
equal "rotate: exit" "$RC" 0
check "rotate: two keys" test -f "$CONF/mac-1.key" -a -f "$CONF/mac-2.key"
equal "rotate: the old one is as it was" "$(cat "$CONF/mac-1.key")" "$KEY1"
KEY2=$(cat "$CONF/mac-2.key")
check "rotate: the new one is another" test "$KEY1" != "$KEY2"
like "rotate: says how the agent gets it" "$OUT" "*podman secret rm spoolgate-demo${NL}podman secret create spoolgate-demo '$CONF/mac-2.key'*The key before it, mac-1.key, is good until the next rotation.*"
ask python "$T/agent.key" ping
equal "the old key is good" "$RC" 0
printf '%s\n' "$KEY2" >"$T/new.key"
ask python "$T/new.key" ping
equal "so is the new one" "$RC" 0
gate install --slug demo --rotate-key
equal "rotate again: exit" "$RC" 0
like "rotate again: what goes" "$OUT" "*removed      $CONF/mac-1.key*"
equal "rotate again: the newest two" "$(cd "$CONF" && echo mac-*)" "mac-2.key mac-3.key"
ask python "$T/agent.key" ping
like "the oldest is no good any more" "$RC $ERR" "70 spoolgate: denied: bad-mac:*"
ask python "$T/new.key" ping
equal "the one before is" "$RC" 0
KEY3=$(cat "$CONF/mac-3.key")
cp "$CONF/mac-3.key" "$T/agent.key"
before=$(snapshot | grep "$CONF\|\./home/.config")
install "${setup[@]}"
equal "a plain install keeps both" "$(snapshot | grep "$CONF\|\./home/.config")" "$before"
kill "$WATCH"
wait "$WATCH" 2>/dev/null

# ---- key files that are no good -----------------------------------------------------------------------------------------------

# config CASE PATTERN: everything is denied host-config, the last line mends it
config() {
        local one two
        named ping
        put "$NAME" "{\"verb\":\"ping\",\"requested_at\":\"$AT\",\"mac\":\"$(WITH=$KEY3 mac "$NAME" ping "" "$AT")\"}"
        one=$NAME
        named restart
        put "$NAME" "{\"verb\":\"restart\",\"arg\":\"web\",\"requested_at\":\"$AT\"}"
        two=$NAME
        drain
        expect "$1: signed" "$one" state=denied reason=host-config
        expect "$1: unsigned" "$two" state=denied reason=host-config
        like "$1: says what and the command" "$(field "$one" message)" "$2"
}
remedy='\\nspoolgate install --slug demo --auth'
# mended CASE: the command of the message, pasted; then the agent's key is good
mended() {
        gate install --slug demo --auth
        equal "$1: mended: exit" "$RC" 0
        KEY3=$(cat "$CONF/mac-3.key")
        named ping
        put "$NAME" "{\"verb\":\"ping\",\"requested_at\":\"$AT\",\"mac\":\"$(WITH=$KEY3 mac "$NAME" ping "" "$AT")\"}"
        drain
        expect "$1: mended" "$NAME" state="done"
}
chmod 644 "$CONF/mac-3.key"
config "mode 644" "*the key file mac-3.key *$remedy"
mended "mode 644"
equal "mode 644: 600 again" "$(stat -c %a "$CONF/mac-3.key")" 600
like "mode 644: to be rotated" "$ERR" "*could be read by others*${NL}*spoolgate install --slug demo --rotate-key"
chmod 640 "$CONF/mac-2.key"
config "mode 640 of the older one" "*the key file mac-2.key *$remedy"
mended "mode 640 of the older one"
chmod 0 "$CONF/mac-3.key"
config "unreadable" "*the key file mac-3.key *$remedy"
mended "unreadable"
echo short >"$CONF/mac-3.key"
config "no key" "*the key file mac-3.key holds no key$remedy"
mended "no key"
like "no key: another one" "$ERR" "*held no key*"
rm "$CONF/mac-3.key"
config "gone" "*the key file mac-3.key *$remedy"
mended "gone"
mv "$CONF/mac-3.key" "$T/elsewhere.key"
ln -s "$T/elsewhere.key" "$CONF/mac-3.key"
config "a link" "*the key file mac-3.key *$remedy"
mended "a link"
check "a link: replaced, not followed" test -f "$CONF/mac-3.key" -a ! -L "$CONF/mac-3.key"
rm "$CONF/mac-2.key"
config "the older one is gone" "*the key file mac-2.key *$remedy"
mended "the older one is gone"
check "the older one is gone: named no more" test "$(grep -c mac-2 "$CONF/bridge.json")" = 0

# a damaged bridge file doesn't switch it off
echo '{' >"$CONF/bridge.json"
install "${setup[@]}"
equal "a damaged bridge file: exit" "$RC" 0
check "a damaged bridge file: signatures stay" grep -q mac-3.key "$CONF/bridge.json"

equal "each change of the keys is on record" "$(grep '"event":"keyed"' "$STATE/audit.log" | grep -o '"detail":"[^"]*"' | head -3 | tr '\n' ' ')" \
        '"detail":"good: mac-1.key" "detail":"good: mac-2.key mac-1.key" "detail":"good: mac-3.key mac-2.key" '

# ---- never told -----------------------------------------------------------------------------------------------------------------

# the stack prints its key: the drain hides it like any secret
printf '#!/bin/sh\ncat %s/mac-*.key\n' "$CONF" >"$STACK"
named status
put "$NAME" "{\"verb\":\"status\",\"requested_at\":\"$AT\",\"mac\":\"$(WITH=$KEY3 mac "$NAME" status "" "$AT")\"}"
drain
expect "a verb that prints the key" "$NAME" state="done"
like "is hidden" "$(field "$NAME" output)" '*redacted*'
for secret in "$KEY1" "$KEY2" "$KEY3"; do
        equal "a key is nowhere but in its file" "$(grep -rlF "$secret" "$S" "$STATE" "$CONF" "$H/.local" "$T/watch.err" "$T/drain.err" | grep -cv '/mac-[0-9]*.key$')" 0
done

# ---- off ---------------------------------------------------------------------------------------------------------------------------

gate install --slug demo --no-auth --dry-run
like "--no-auth --dry-run" "$RC $OUT" "0 *would remove $CONF/mac-3.key*"
check "--no-auth --dry-run: it stays" test -f "$CONF/mac-3.key"
gate install --slug demo --no-auth
equal "--no-auth: exit" "$RC" 0
like "--no-auth: said" "$OUT" "*removed      $CONF/mac-3.key*demo: requests need no signature*"
equal "--no-auth: no key is left" "$(find "$CONF" -name '*.key')" ""
named ping
put "$NAME" "{\"verb\":\"ping\",\"requested_at\":\"$AT\"}"
drain
expect "--no-auth: unsigned" "$NAME" state="done"
install "${setup[@]}"
check "a plain install leaves it off" test "$(grep -c mac- "$CONF/bridge.json")" = 0
gate install --slug demo --auth
like "on again: exit" "$RC $OUT" "0 *created      $CONF/mac-1.key*demo: requests must be signed*"
check "on again: another key" test "$(cat "$CONF/mac-1.key")" != "$KEY1"
gate uninstall -s demo
equal "uninstall: exit" "$RC" 0
equal "uninstall: no key is left" "$(find "$H" -name '*.key')" ""

fresh
gate install --slug demo --auth
like "--auth alone of what is not installed: a whole install" "$RC $ERR" "1 *which stack is it*"
flow_end
