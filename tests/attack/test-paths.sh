#!/bin/bash
# test-paths.sh BUILD_ROOT SOURCE_ROOT - rows of the catalogue on paths, with a racer where the row asks for one: 1-3 8 13 14 16 19 21 56-58
# shellcheck source=tests/flow/lib.sh
. "$(dirname -- "$0")/lib.sh"
flow_begin "$@"
flow_project
R=$S/requests
mkdir "$T/canary"
echo secret-of-the-host >"$T/canary/file"
before=$(canary)
shaped() { nonce; NAME=$(stamp)-restart-$NONCE.json; }
body() { echo "{\"verb\":\"restart\",\"arg\":\"${1:-web}\",\"requested_at\":\"$(iso)\"}"; }

# A program of the agent's that runs beside the drain until told to stop; argv: what to do. Its rounds go to $T/rounds.
cat >"$T/racer.py" <<'RACER'
import ctypes, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
what, stop, args = sys.argv[1], sys.argv[2], [a.encode() for a in sys.argv[3:]]
EXCHANGE, NOREPLACE, CWD = 2, 1, -100
def rename(a, b, flags): return libc.renameat2(CWD, a, CWD, b, flags) == 0
def exchange(): return rename(args[0], args[1], EXCHANGE)
def flip():                      # rewrites an open file for ever
    os.pwrite(flip.fd, flip.bodies[flip.n % 2], 0); flip.n += 1
    return True
def vanish():                    # takes the request away and puts it back
    return rename(args[0], args[1], NOREPLACE) | rename(args[1], args[0], NOREPLACE)
def copy():                      # puts the request back whenever it is gone
    if os.path.exists(args[1]): return False
    draft = os.path.join(os.path.dirname(args[1]), b".twin")
    with open(draft, "wb") as f: f.write(args[0])
    os.rename(draft, args[1])
    return True
def wreck():                     # deletes and forges what the drain writes
    n = 0
    for d in args:
        for e in os.listdir(d):
            try:
                if n % 3 == 0: os.unlink(os.path.join(d, e))
                elif n % 3 == 1 and len(e) < 64: os.symlink(b"/etc/passwd", os.path.join(d, e) + b".log")
                else:
                    with open(os.path.join(d, e), "wb") as f: f.write(b"{}")
            except OSError: pass
            n += 1
    time.sleep(0.0002)
    return True
if what == "flip":
    flip.fd = os.open(args[0], os.O_RDWR); flip.bodies = args[1:3]; flip.n = 0
rounds = 0
open(os.path.join(os.path.dirname(stop), "ready"), "w").close()
while not os.path.exists(stop):
    for _ in range(20): rounds += {"exchange": exchange, "flip": flip, "vanish": vanish, "copy": copy, "wreck": wreck}[what]()
open(os.path.join(os.path.dirname(stop), "rounds"), "w").write(str(rounds))
RACER
race() { rm -f "$T/stop" "$T/ready"; python3 "$T/racer.py" "$1" "$T/stop" "${@:2}" & RACER=$!; await test -e "$T/ready"; }
race_end() { touch "$T/stop"; wait "$RACER"; ROUNDS=$(cat "$T/rounds"); }

# ---- rows 1 to 3 ------------------------------------------------------------------------------------------------------------

shaped; ln -s "$T/canary/file" "$R/$NAME"; one=$NAME
if strace -V >/dev/null 2>&1 && strace -o /dev/null true 2>/dev/null; then
        as_user timeout 60 strace -f -e trace=%file,openat2 -o "$T/trace" env -i HOME="$T/home" ASAN_OPTIONS=detect_leaks=0 "$DRAIN" demo 2>"$T/drain.err"
        check "row 1: it was traced" grep -q openat2 "$T/trace"
        equal "row 1: the link's target is never opened" "$(grep -c 'canary' "$T/trace")" 0
else
        skip "row 1: the link's target is never opened" "no strace here"
        drain
fi
expect "row 1: a link to a host file" "$one" state=denied reason=malformed
request restart web
drain
done_one=$NAME
shaped; ln -s "../archive/$done_one" "$R/$NAME"; two=$NAME
shaped; ln "$S/archive/$done_one" "$R/$NAME"; three=$NAME
shaped; ln "$T/canary/file" "$R/$NAME"; four=$NAME
drain
expect "row 2: a link to an archived request" "$two" state=denied reason=malformed
expect "row 2: a hard link to it" "$three" state=denied reason=malformed
expect "row 3: a hard link to a host file" "$four" state=denied reason=malformed
equal "row 3: nothing of it is told" "$(grep -rlF secret-of-the-host "$S/responses" "$S/archive" "$STATE" | wc -l)" 0
equal "rows 1-3: one run in all" "$(effects 'restart web')" 1
find "$S/quarantine" -mindepth 1 -delete
equal "rows 1-3: the host's files are as they were" "$(canary)" "$before"

# ---- row 8 --------------------------------------------------------------------------------------------------------------------

shaped
mkdir "$T/deep" && (cd "$T/deep" && for ((i = 0; i < 10000; i++)); do : >"f$i"; done && d=. && for ((i = 0; i < 100; i++)); do d=$d/d; done && mkdir -p "$d")
mv "$T/deep" "$R/$NAME"
request ping
begin=${EPOCHREALTIME/./}
drain
check "row 8: a tree of 10,000 files is one rename" test $((${EPOCHREALTIME/./} - begin)) -lt 4000000
expect "row 8: and the next request is served" "$NAME" state=done
empty "row 8: nothing is left in the line"

# ---- rows 12 to 14 --------------------------------------------------------------------------------------------------------------

request restart gate
gate=$NAME
drain_start
entered
mv "$P/untracked" "$P/moved"
cp -r "$T/canary" "$P/untracked"
let_go x
drain_wait
equal "row 13: the spool's parent swapped in the middle: it stops cleanly" "$RC" 78
rm -r "$P/untracked"
mv "$P/moved" "$P/untracked"
drain
expect "row 13: what ran has its answer" "$gate" state=done

mkdir -p "$P/evil/spoolgate"
for d in tmp processing responses archive quarantine diagnostics inbox; do ln -s "$T/canary" "$P/evil/spoolgate/$d"; done
mkdir "$P/evil/spoolgate/requests"
: >"$EFFECTS"
wrong=0
for what in untracked/spoolgate:evil/spoolgate untracked/spoolgate/responses:evil/spoolgate/responses untracked/spoolgate/requests:evil/spoolgate/tmp; do
        race exchange "$P/${what%%:*}" "$P/${what##*:}"
        for i in 1 2 3; do
                drain
                case $RC in 0 | 78 | 75) ;; *) wrong=$((wrong + 1)) ;; esac
        done
        race_end
        check "row 14: the racer raced: ${what##*/}" test "$ROUNDS" -gt 100
        # set right again
        if [ -L "$P/${what%%:*}" ] || [ -L "$P/${what%%:*}/tmp" ]; then
                python3 -c 'import ctypes, sys; ctypes.CDLL(None).renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2)' "$P/${what%%:*}" "$P/${what##*:}"
        fi
done
equal "row 14: the drain always ends as it should" $wrong 0
equal "row 14: nothing escapes" "$(canary)" "$before"
request ping
drain
expect "row 14: and all is well again" "$NAME" state=done
rm -r "$P/evil"

# ---- row 16 ------------------------------------------------------------------------------------------------------------------------

cp "$CONF/bridge.json" "$T/bridge.json"
for path in ../outside /etc untracked/../../x untracked//spoolgate .; do
        sed "s,\"spool\": \"[^\"]*\",\"spool\": \"$path\"," "$T/bridge.json" >"$CONF/bridge.json"
        drain
        like "row 16: spool $path" "$RC $(cat "$T/drain.err")" '78 *bridge.json: spool: must be a relative path*'
done
ln -s /proc/self/root "$P/magic"
sed "s,\"spool\": \"[^\"]*\",\"spool\": \"magic$S\"," "$T/bridge.json" >"$CONF/bridge.json"
drain
like "row 16: a magic link on the way" "$RC $(cat "$T/drain.err")" '78 *nothing was read*'
rm "$P/magic"
cp "$T/bridge.json" "$CONF/bridge.json"
before=$(canary)

# ---- row 21 --------------------------------------------------------------------------------------------------------------------------

shaped
python3 - "$R" "$NAME" "$(body)" <<'TMPFILE'
import ctypes, os, sys
fd = os.open(sys.argv[1], os.O_TMPFILE | os.O_WRONLY, 0o644)
os.write(fd, sys.argv[3].encode())
assert ctypes.CDLL(None).linkat(-100, f"/proc/self/fd/{fd}".encode(), -100, os.path.join(sys.argv[1], sys.argv[2]).encode(), 0x400) == 0
TMPFILE
drain
expect "row 21: O_TMPFILE and linkat publish like a rename" "$NAME" state=done

# ---- racers on the request itself ---------------------------------------------------------------------------------------------------------

: >"$EFFECTS"
for i in 1 2 3 4; do
        shaped
        flipped=$NAME
        body web >"$R/.n"
        mv "$R/.n" "$R/$flipped"
        race flip "$R/$flipped" "$(body web)" "$(body api)"
        drain
        race_end
        arg=$(field "$flipped" arg)
        equal "row 31: what was judged is what ran and what is archived ($i)" "$(tail -n 1 "$EFFECTS") $(grep -o '"arg":"[a-z]*"' "$S/archive/$flipped")" \
                "restart $arg \"arg\":\"$arg\""
done
equal "row 31: one run each" "$(wc -l <"$EFFECTS")" 4
for i in 1 2 3; do
        request restart web
        race vanish "$R/$NAME" "$R/.away"
        drain
        equal "row 58: a request that comes and goes: the drain exits 0 ($i)" "$RC $(cat "$T/drain.err")" "0 "
        race_end
        rm -f "$R/.away"
done
drain
empty "row 58: nothing is left in the line"
: >"$EFFECTS"
shaped
race copy "$(body api)" "$R/$NAME"
drain_start
check "row 57: it is answered" await answered "$NAME" "done"
kill -TERM "$DRAIN_PID"
drain_wait
race_end
drain
check "row 57: sent again while it is archived: one run" test "$(effects 'restart api')" = 1
empty "row 57: nothing is left in the line"
: >"$EFFECTS"
race wreck "$S/responses" "$S/archive" "$S/quarantine" "$S/diagnostics"
for i in 1 2 3; do
        request restart web
        request logs web
        echo junk >"$R/junk"
        drain
        equal "row 56: what the drain wrote is wrecked meanwhile: it exits 0 ($i)" "$RC $(cat "$T/drain.err")" "0 "
done
race_end
equal "row 56: each ran once" "$(effects 'restart web') $(effects 'logs web')" "3 3"
empty "row 56: nothing is left in the line"
check "the audit log's chain holds" audit_chain
equal "nothing outside was touched" "$(canary)" "$before"
flow_end
