#!/bin/bash
# test-content.sh BUILD_ROOT SOURCE_ROOT - rows 28 to 43 and 118: what a request file may hold
# shellcheck source=tests/flow/lib.sh
. "$(dirname -- "$0")/lib.sh"
flow_begin "$@"
flow_project
R=$S/requests

# Every case is written as raw bytes under a right name, with the reason it must be refused for; one drain answers all.
cat >"$T/cases.py" <<'CASES'
import os, sys, time
spool, table = sys.argv[1], sys.argv[2]
stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()).encode()
n = 0x1000
rows = open(table, "w")
def case(title, verb, body, state="denied", reason="malformed"):
    global n
    n += 1
    name = f"{stamp}-{verb}-{n:016x}.json"
    with open(f"{spool}/requests/.c", "wb") as f: f.write(body)
    os.rename(f"{spool}/requests/.c", f"{spool}/requests/{name}")
    rows.write(f"{name}\t{state}\t{reason}\t{title}\n")
def obj(extra=b"", verb=b"ping"): return b'{"verb":"' + verb + b'","requested_at":"' + at + b'"' + extra + b"}"
case("row 28: 64 KiB to the byte is read", "ping", obj() + b" " * (65536 - len(obj())), "done", "null")
case("row 28: one byte more isn't", "ping", obj() + b" " * (65537 - len(obj())))
case("row 32: nested arrays", "ping", b"[" * 65536)
case("row 32: nested objects", "ping", b'{"a":' * 10000)
case("row 32: five deep", "ping", obj(b',"arg":[[[[1]]]]'))
case("row 33: a key twice", "ping", obj(b',"verb":"down"'))
case("row 33: a key twice by escape", "ping", obj(b',"\\u0076erb":"down"'))
case("row 34: an unknown key", "ping", obj(b',"cmd":"id"'), reason="unknown-key")
case("row 34: an empty key", "ping", obj(b',"":1'), reason="unknown-key")
case("row 34: a known key in another case", "ping", obj(b',"Arg":"web"'), reason="unknown-key")
case("row 34: __proto__", "ping", obj(b',"__proto__":{}'), reason="unknown-key")
case("row 34: 17 keys", "ping", obj(b"".join(b',"k%d":1' % i for i in range(17))))
for top in (b"[]", b'"ping"', b"1", b"null", b"true", b"", b" ", b"{}", b"{", b'{"verb"', b"[" + obj() + b"]"):
    case(f"row 35: top level {top[:12]!r}", "ping", top)
case("row 35: bytes after the object", "ping", obj() + b"x")
case("row 35: two objects", "ping", obj() + obj())
case("row 36: a raw NUL", "ping", obj(b',"arg":"w\0b"'))
case("row 36: NUL after the object", "ping", obj() + b"\0")
case("row 36: an escaped NUL in a value", "restart", obj(b',"arg":"web\\u0000x"', b"restart"))
case("row 36: an escaped NUL in a key", "ping", obj(b',"verb\\u0000":"x"'))
for bad in (b"\xff", b"\xc0\xaf", b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc3", b"\\ud800", b"\\udc00\\ud800"):
    case(f"row 37: {bad!r}", "restart", obj(b',"arg":"' + bad + b'"', b"restart"))
case("row 37: a byte order mark", "ping", b"\xef\xbb\xbf" + obj())
for num in (b"9223372036854775808", b"1e400", b"-0", b"30.0", b"01", b"NaN", b"1e2", b"0", b"-1", b"4294967296", b"true", b'"30"', b"null", b"[30]"):
    case(f"row 38: timeout_sec {num.decode()}", "ping", obj(b',"timeout_sec":' + num))
    case(f"row 38: max_age_sec {num.decode()}", "ping", obj(b',"max_age_sec":' + num))
for odd in (b"\\u009b31m", b"\\u007f", b"\\u202e", b"\\u001b[31m", "і".encode(), b"w\\neb", b"web ", b" web", b"w/eb", b"..", b"%s%n", b"web\\u200b"):
    case(f"rows 39, 40: arg {odd!r}", "restart", obj(b',"arg":"' + odd + b'"', b"restart"), reason="arg-shape")
case("row 40: a homoglyph verb", "ping", obj(verb="pіng".encode()), reason="name-mismatch")
case("row 40: a verb with a NUL", "ping", obj(verb=b"ping\\u0000"))
for flag in (b"-f", b"--help", b"--", b"-", b"-web", b"--tail=1"):
    case(f"row 41: arg {flag.decode()}", "logs", obj(b',"arg":"' + flag + b'"', b"logs"), reason="arg-shape")
for verb, arg, reason in (("restart", "api", None), ("rebuild", "api", "arg-not-listed"), ("rebuild", "web", None), ("logs", "nope", "arg-not-listed"),
                          ("restart", None, "arg-missing"), ("rebuild", None, "arg-missing"), ("logs", None, "arg-missing"), ("up", "web", "arg-unexpected"),
                          ("down", "web", "arg-unexpected"), ("init", "web", "arg-unexpected"), ("status", "web", "arg-unexpected"), ("ping", "web", "arg-unexpected")):
    body = obj((b',"arg":"%s"' % arg.encode()) if arg else b"", verb.encode())
    case(f"row 42: {verb} {arg}", verb, body, "done" if reason is None else "denied", reason or "null")
for key in ("verb", "arg", "requested_at", "idempotency_key", "permission_scope", "mac"):
    for byte in range(256):
        value = b"x" + bytes([byte]) + b"x"
        whole = {"verb": b"restart", "requested_at": at, "arg": b"web"}
        whole[key] = value
        n += 1
        name = f"{stamp}-restart-{n:016x}.json"
        with open(f"{spool}/requests/.c", "wb") as f:
            f.write(b"{" + b",".join(b'"%s":"%s"' % (k.encode(), v) for k, v in whole.items()) + b"}")
        os.rename(f"{spool}/requests/.c", f"{spool}/requests/{name}")
        # the only bytes that make a right value: those of a key's alphabet
        good = key == "idempotency_key" and chr(byte) in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-"
        listed = key == "arg"
        rows.write(f"{name}\t{'done' if good else 'denied'}\t*\trow 43: {key} byte {byte:#04x}\n")
CASES
python3 "$T/cases.py" "$S" "$T/table"
flow_policy QUEUE_DEPTH=10000 KEEP_FILES=10000
drain
equal "the drain exits 0" "$RC $(cat "$T/drain.err")" "0 "
empty "nothing is left in the line"
python3 - "$S" "$T/table" <<'LOOK' >"$T/looked"
import json, sys
for line in open(sys.argv[2], encoding="utf-8"):
    name, state, reason, title = line.rstrip("\n").split("\t")
    try:
        raw = open(f"{sys.argv[1]}/responses/{name}.response.json", "rb").read()
        r = json.loads(raw)
        ok = r["state"] == state and (reason == "*" or str(r["reason"] or "null") == reason) and r["request"] == name and raw.count(b"\n") == 1
        ok = ok and not any(b < 32 or b > 126 for b in raw[:-1])
        print("ok" if ok else "not ok", title, "" if ok else raw)
    except Exception as e: print("not ok", title, repr(e))
LOOK
total=$(wc -l <"$T/table")
while IFS= read -r line; do
        case $line in
        "ok row 43"*) passed=$((passed + 1)) ;;
        "ok "*) pass "${line#ok }" ;;
        *) fail "${line#not ok }" ;;
        esac
done <"$T/looked"
equal "every case has its answer" "$(wc -l <"$T/looked")" "$total"
equal "only what may run has run" "$(sort -u "$EFFECTS" | tr '\n' ';')" "build web;restart api;restart web;"
equal "as often as it may" "$(effects 'restart web') $(effects 'restart api') $(effects 'build web')" "66 1 1"

# ---- row 118: what a refusal says comes from a fixed stock, whatever the agent wrote --------------------------------------------

equal "row 118: no message holds bytes of a request" "$(grep -ohE '"message":"([^"\\]|\\.)*"' "$S/responses"/* | grep -c -e homoglyph -e '31m' -e 'x.x' -e '__proto__' -e nope)" 0
check "row 118: few sentences say it all" test "$(grep -ohE '"message":"([^"\\]|\\.)*"' "$S/responses"/* | sort -u | wc -l)" -le 40
check "the audit log's chain holds" audit_chain
equal "and holds no raw byte of a request" "$(LC_ALL=C grep -c -P '[\x00-\x1f\x7f-\xff]' "$STATE/audit.log")" 0

# ---- rows 28 to 30: sizes that move -------------------------------------------------------------------------------------------------

move() { # CASE PROGRAM: f is the open file, beside the drain
        request restart web
        rm -f "$T/stop" "$T/ready"
        python3 -c '
import os, sys
f = os.open(sys.argv[1], os.O_RDWR)
open(sys.argv[2] + "/ready", "w").close()
while not os.path.exists(sys.argv[2] + "/stop"):
    '"$2"'' "$R/$NAME" "$T" &
        local racer=$!
        await test -e "$T/ready"
        drain
        touch "$T/stop"
        wait "$racer"
        like "$1" "$RC $(field "$NAME" state) $(field "$NAME" reason)" '0 @(denied malformed|done null)'
        check "$1: bounded" test "$(cat "$S/archive/$NAME" 2>/dev/null | wc -c)" -le 65536
}
move "row 29: grows while it is read" 'os.lseek(f, 0, 2); os.write(f, b" " * 1000) if os.fstat(f).st_size < 10**7 else os.ftruncate(f, 90)'
move "row 30: shrinks while it is read" 'os.ftruncate(f, 0); os.ftruncate(f, 100)'
move "row 28: a TiB comes and goes" 'os.ftruncate(f, 1 << 40); os.ftruncate(f, 90)'
empty "nothing is left in the line"
flow_end
