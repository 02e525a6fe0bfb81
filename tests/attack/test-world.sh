#!/bin/bash
# test-world.sh BUILD_ROOT SOURCE_ROOT - rows 99 to 117 that tests/flow leaves open: planted files, endless and binary output, the audit file
# shellcheck source=tests/flow/lib.sh
. "$(dirname -- "$0")/lib.sh"
flow_begin "$@"
flow_project
R=$S/requests

# ---- row 99, 103: files that a tool finds by cwd or PATH ------------------------------------------------------------------------

for name in env ls cat ps git sh bash; do
        printf '#!/bin/sh\ntouch "%s/trapped"\n' "$T" >"$P/$name"
        chmod 755 "$P/$name"
done
printf 'touch %s/trapped\n' "$T" | tee "$P/.envrc" "$P/.bashrc" "$P/.profile" "$P/Makefile" >"$P/.npmrc"
mkdir -p "$T/home/bin"
cp "$P/env" "$T/home/bin/env"
cat >"$CONF/verbs.json" <<VERBS
{"v": 1, "verbs": [
 {"name": "bare", "class": "read-only", "argv": ["ls"]},
 {"name": "look", "class": "read-only", "argv": ["/bin/ls", "-a"]}]}
VERBS
flow_own "$CONF/verbs.json"
request health
health=$NAME
request bare
drain
expect "rows 99, 103: nothing planted is found" "$health" state=done 'output=healthy\n'
expect "row 99: an argv that isn't absolute makes no verb" "$NAME" state=denied reason=host-config
equal "rows 99, 103: nothing was trapped" "$(find "$T" -name trapped | wc -l)" 0
cat >"$CONF/verbs.json" <<VERBS
{"v": 1, "verbs": [{"name": "inside", "class": "read-only", "argv": ["$P/sh"]}]}
VERBS
request inside
drain
like "row 99: a program of the checkout" "$(field "$NAME" state) $(field "$NAME" reason)" 'denied host-config'
cat >"$CONF/verbs.json" <<VERBS
{"v": 1, "verbs": [{"name": "poisoned", "class": "read-only", "argv": ["/bin/true"], "env": {"LD_PRELOAD": "/x"}}]}
VERBS
request poisoned
drain
expect "row 100: an own verb's environment may not load code" "$NAME" state=denied reason=host-config
rm "$CONF/verbs.json"
cp "$CONF/bridge.json" "$T/bridge.json"
flow_bridge '"env": ["LD_PRELOAD=/x"]'
drain
like "row 100: nor may the bridge file's" "$RC $(cat "$T/drain.err")" '78 *bridge.json: env: *'
cp "$T/bridge.json" "$CONF/bridge.json"

# ---- row 104: descriptors ---------------------------------------------------------------------------------------------------------

request restart left
drain
pid=$(cat "$HOST/left.pid")
equal "row 104: what stays behind holds no fd of ours" "$(find "/proc/$pid/fd" -type l -printf '%l\n' | grep -c -e "$S" -e "$STATE" -e "$CONF")" 0
kill "$pid"

# ---- rows 110 to 112: bytes in names -------------------------------------------------------------------------------------------------

i=0
for bytes in $'\e]52;c;AAAA\a' $'\e]8;;x\e\\' $'\xc2\x9b31m' $'\e[2J' '%n%n%s%s' '%99999999d' $'a\n{"event":"done"}' $'a"b\\c' $'\x7f' $'\xe2\x80\xae'; do
        echo x >"$R/name-$bytes"
        i=$((i + 1))
done
lines=$(wc -l <"$STATE/audit.log")
request logs dirty
drain
equal "rows 110-112: the drain exits 0" "$RC $(cat "$T/drain.err")" "0 "
equal "row 111: one record, one line" "$(($(wc -l <"$STATE/audit.log") - lines))" $((i + 3))
check "row 111: each line parses, the chain holds" audit_chain
equal "row 110: no control byte in audit log, answers, diagnostics" "$(cat "$STATE/audit.log" "$S/responses"/* "$S/diagnostics"/* | tr -d '\n' | LC_ALL=C grep -c -P '[\x00-\x1f\x7f-\xff]')" 0
equal "row 110: nor in what a log file shows" "$(tr -d '\n\t' <"$S/archive/$NAME.log" | LC_ALL=C grep -c -P '[\x00-\x1f\x7f]')" 0
check "row 112: a format is a text" grep -qF 'name-%n%n%s%s' "$STATE/audit.log"

# ---- rows 113, 114: endless and binary output ---------------------------------------------------------------------------------------------

cat >"$HOST/stack" <<'STACK'
#!/bin/bash
here=${0%/*}
case ${2:-$1} in
web) exec yes 'an endless line of output' ;;
api) head -c 20000000 /dev/urandom ;;
quiet) head -c 3000000 /dev/zero ;;
big) printf '\xf0\x9f\x98'; printf 'x%.0s' {1..70000}; printf '\xf0\x9f\x98\x80\xff' ;;
esac
STACK
request logs web '"timeout_sec":2'
yes=$NAME
request logs api
random=$NAME
request logs quiet
zero=$NAME
request logs big
cut=$NAME
drain
expect "row 113: an endless output ends with the deadline" "$yes" state=failed reason=timeout truncated=true
check "row 113: the log is bounded" test "$(wc -c <"$S/archive/$yes.log")" -le 4195000
expect "row 114: 20 MB of noise" "$random" state=done output_bytes=20000000 truncated=true
expect "row 114: 3 MB of NUL" "$zero" state=done output_bytes=3000000 truncated=true
expect "row 114: cut characters" "$cut" state=done truncated=true
for name in "$yes" "$random" "$zero" "$cut"; do
        check "row 114: the answer is JSON of at most 400 KB" python3 -c '
import json, sys
raw = open(sys.argv[1], "rb").read()
out = json.loads(raw)["output"]
assert len(raw) < 400000 and len(out.encode()) <= 65536, (len(raw), len(out))' "$S/responses/$name.response.json"
done
check "row 114: the logs are text" python3 -c '
import sys
for name in sys.argv[1:]: open(name, encoding="utf-8").read()' "$S/archive/$random.log" "$S/archive/$zero.log" "$S/archive/$cut.log"
flow_stack >"$HOST/stack"

# ---- row 117: the audit file ------------------------------------------------------------------------------------------------------------------

drain_start --watch demo
request restart web
await answered "$NAME" "done"
rm "$STATE/audit.log"
request restart api
check "row 117: deleted under a watcher: it goes on" await answered "$NAME" "done"
kill -TERM "$DRAIN_PID"
drain_wait
request restart web
drain
expect "row 117: and the next drain too" "$NAME" state=done
check "row 117: what is there chains" test "$(wc -l <"$STATE/audit.log")" -ge 2
flow_end
