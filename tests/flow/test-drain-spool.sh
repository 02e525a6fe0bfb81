#!/bin/bash
# test-drain-spool.sh BUILD_ROOT SOURCE_ROOT - what is no request leaves requests/; swapped, missing and read-only directories
# shellcheck source=tests/flow/lib.sh
. "$(dirname -- "$0")/lib.sh"
flow_begin "$@"
flow_project
mkdir "$T/canary"
echo secret-of-the-host >"$T/canary/file"
before=$(canary)

# ---- every kind of non-file, under a right name and under none ----------------------------------------------------------

shaped() { # a right name for restart; sets NAME
        nonce
        NAME=$(stamp)-restart-$NONCE.json
}
odd=()
body="{\"verb\":\"restart\",\"arg\":\"web\",\"requested_at\":\"$(iso)\"}"
R=$S/requests
shaped; ln -s "$T/canary/file" "$R/$NAME"; odd+=("$NAME" "a symlink to a host file")
shaped; ln -s /nonexistent "$R/$NAME"; odd+=("$NAME" "a dangling symlink")
shaped; ln -s "$NAME" "$R/$NAME"; odd+=("$NAME" "a symlink to itself")
shaped; ln -s /proc/self/fd/0 "$R/$NAME"; odd+=("$NAME" "a magic link")
shaped; mkfifo "$R/$NAME"; odd+=("$NAME" "a FIFO")
shaped; (cd "$R" && python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$NAME"); odd+=("$NAME" "a socket")
shaped; mkdir "$R/$NAME"; odd+=("$NAME" "an empty directory")
shaped; mkdir -p "$R/$NAME/a/b/c"; (cd "$R/$NAME/a" && for i in {1..200}; do : >"f$i"; done); odd+=("$NAME" "a full directory")
shaped; echo "$body" >"$R/.n"; chmod 000 "$R/.n"; mv "$R/.n" "$R/$NAME"; odd+=("$NAME" "a file of mode 000")
shaped; echo "$body" >"$T/twin"; ln "$T/twin" "$R/$NAME"; odd+=("$NAME" "a file with two links")
shaped; truncate -s 1T "$R/.n"; mv "$R/.n" "$R/$NAME"; odd+=("$NAME" "a sparse TiB")
shaped; head -c 65537 /dev/zero | tr '\0' ' ' >"$R/.n"; mv "$R/.n" "$R/$NAME"; odd+=("$NAME" "64 KiB and one byte")

long=$(printf 'n%.0s' {1..255})
names=("$long" $'new\nline' $'esc\e[31m' $'bad\xff\xfe' 'quote"\'"'"'' $'rtl\xe2\x80\xaetxt' 'a b ' '-rf' '--help' 'x.json' 'a.json.json' 'UPPER.JSON'
        "$(stamp)-restart-0000000000000001.json " "$(stamp)-restart-000000000000000A.json" "$(stamp)-restart-0001.json" "$(stamp)--0000000000000001.json"
        "$(stamp)-Restart-0000000000000001.json" "$(stamp)-restart-0000000000000001.json.response.json" "20260230T000000Z-ping-0000000000000001.json"
        $'{"event":"end"}\n{"seq":1}' '%n%s%n' "$(stamp)-restart-0000000000000001.jso")
for name in "${names[@]}"; do
        echo "$body" >"$R/$name"
done
mkdir "$R/no-request"
ln -s "$T/canary" "$R/link"
mkfifo "$R/pipe"
echo "$body" >"$R/.draft"
mkdir "$R/.dir"
request ping
drain
equal "the drain exits 0" "$RC $(cat "$T/drain.err")" "0 "
expect "a right request among them" "$NAME" state=done
equal "requests/ is empty but for the drafts" "$(cd "$R" && printf '%s ' .[!.]* *)" ".dir .draft * "
equal "processing/ is empty" "$(visible "$S/processing")" 0
for ((i = 0; i < ${#odd[@]}; i += 2)); do
        expect "${odd[i + 1]}: answered" "${odd[i]}" state=denied reason=malformed output=null
done
equal "each is kept as evidence" "$(visible "$S/quarantine")" $((${#odd[@]} / 2 + ${#names[@]} + 3))
equal "under a generated name" "$(find "$S/quarantine" -mindepth 1 -maxdepth 1 -printf '%f\n' | grep -cvE '^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{16}$')" 0
equal "the trees were moved whole" "$(find "$S/quarantine" -name f200 | wc -l)" 1
equal "nothing ran" "$(cat "$EFFECTS")" ""
equal "the host's files are as they were" "$(canary)" "$before"
equal "nothing of them is told" "$(grep -rlF -e secret-of-the-host "$S/responses" "$STATE" | wc -l)" 0
check "one record a line, whatever the name" audit_chain
equal "as many lines as events" "$(wc -l <"$STATE/audit.log")" $((${#odd[@]} / 2 * 3 + ${#names[@]} + 3 + 2))
check "the bytes of a name are escaped" grep -qF 'new\\x0aline' "$STATE/audit.log"
equal "no control byte, no forged record" "$(tr -d '\n' <"$STATE/audit.log" | LC_ALL=C grep -c -P '[\x00-\x1f\x7f-\xff]')$(grep -c '^{"event":"end"}\|^{"seq":1}' "$STATE/audit.log")" 00

# Old drafts are swept: an hour by the file's time.
touch -d '2 hours ago' "$R/.draft" "$R/.dir" "$S/tmp/visible" "$S/responses/.tmp.x" "$S/processing/.bad-x"
request ping
drain
equal "stale drafts are swept" "$(find "$R" "$S/tmp" "$S/processing" -mindepth 1 | wc -l)$(find "$S/responses" -name '.*' -type f | wc -l)" 00

# ---- what stands where an answer should go --------------------------------------------------------------------------------

request restart web
link=$NAME
ln -s "$T/canary/file" "$S/responses/$link.response.json"
ln -s "$T/canary/file" "$S/archive/$link"
ln -s "$T/canary/file" "$S/archive/$link.log"
request restart api
dirs=$NAME
mkdir -p "$S/responses/$dirs.response.json/x" "$S/archive/$dirs/y" "$S/archive/$dirs.log/z"
request restart web
forged=$NAME
echo '{"v":1,"state":"done"}' >"$S/responses/$forged.response.json"
request restart web
claimed=$NAME
echo "$body" >"$S/processing/$claimed"
request ping
fifo=$NAME
mkfifo "$S/responses/$fifo.response.json"
: >"$EFFECTS"
drain
equal "the drain exits 0" "$RC $(cat "$T/drain.err")" "0 "
expect "a symlink in the answer's place" "$link" state=done reason=null
check "the link is gone, not followed" test ! -L "$S/responses/$link.response.json" -a ! -L "$S/archive/$link" -a ! -L "$S/archive/$link.log"
expect "a full directory in the answer's place" "$dirs" state=done
check "its log and request are archived" test -f "$S/archive/$dirs" -a -f "$S/archive/$dirs.log"
expect "a forged answer is replaced" "$forged" "request=$forged" state=done 'output=restarted web\n'
expect "a file planted in processing/" "$claimed" state=done
expect "a FIFO in the answer's place" "$fifo" state=done
equal "each ran once" "$(sort "$EFFECTS" | uniq -c | tr -s ' ' | tr '\n' ';')" " 1 restart api; 3 restart web;"
equal "the host's files are as they were" "$(canary)" "$before"
empty "nothing is left in the line"

# ---- planted in processing/ -----------------------------------------------------------------------------------------------

nonce
NAME=$(stamp)-restart-$NONCE.json
echo "$body" >"$S/processing/$NAME"
planted=$NAME
nonce
NAME=$(stamp)-down-$NONCE.json
echo "{\"verb\":\"down\",\"requested_at\":\"$(iso)\"}" >"$S/processing/$NAME"
down=$NAME
echo junk >"$S/processing/junk"
mkdir "$S/processing/dir"
mkfifo "$S/processing/$(stamp)-ping-00000000000000ff.json"
flow_policy MODE_down=deny
drain
expect "a request planted in processing/ meets every gate" "$down" state=denied reason=policy
expect "and is served like any other" "$planted" state=done replayed=false
empty "nothing is left in the line"
equal "junk in it is kept as evidence" "$(audit '"detail":"stood in processing/')" 3
flow_policy

# ---- directories that are missing, swapped, of another kind -----------------------------------------------------------------

rm -r "$S"/{tmp,inbox,diagnostics,quarantine,archive,responses,processing}
request ping
drain
expect "directories that were cleaned away are made again" "$NAME" state=done

refuses() { # CASE WHICH: exits 78 within the pace, says what
        local begin=$EPOCHSECONDS
        drain
        like "$1" "$RC $(cat "$T/drain.err")" "78 *the spool's $2 *nothing was read*"$'\n''spoolgate install --slug demo'
        check "$1: paced, not slow" test $((EPOCHSECONDS - begin)) -le 6
}
mv "$S/requests" "$T/elsewhere"
ln -s "$T/elsewhere" "$S/requests"
request ping
refuses "requests/ is a symlink" requests
equal "nothing was read through it" "$(visible "$T/elsewhere")" 1
rm "$S/requests"
: >"$S/requests"
refuses "requests/ is a file" requests
rm "$S/requests"
mkfifo "$S/requests"
refuses "requests/ is a FIFO" requests
rm "$S/requests"
mv "$T/elsewhere" "$S/requests"
mv "$P/untracked" "$T/untracked"
ln -s "$T/untracked" "$P/untracked"
refuses "the spool's parent is a symlink" untracked/spoolgate
rm "$P/untracked"
refuses "no spool" untracked/spoolgate
mv "$T/untracked" "$P/untracked"
drain
expect "and all is well again" "$NAME" state=done
mv "$P" "$P.old"
cp -r "$P.old" "$P"
drain
like "the checkout is another directory" "$RC $(cat "$T/drain.err")" "78 *is another directory than the one installed for*"
rm -r "$P"
mv "$P.old" "$P"

# ---- host files ------------------------------------------------------------------------------------------------------------

host() { # CASE PATTERN
        drain
        like "$1" "$RC $(cat "$T/drain.err")" "78 *$2*"
}
chmod 777 "$STATE"
host "a state directory that others may write" "$STATE has permissions that are too wide"
chmod 700 "$STATE"
chmod 777 "$CONF"
host "a configuration that others may write" "$CONF has permissions that are too wide"
chmod 700 "$CONF"
mv "$CONF/bridge.json" "$T/bridge.json"
host "no bridge file" "bridge.json*"
ln -s "$T/bridge.json" "$CONF/bridge.json"
host "a bridge file that is a link" "bridge.json*symbolic link*"
rm "$CONF/bridge.json"
sed 's/"v": 1/"v": 2/' "$T/bridge.json" >"$CONF/bridge.json"
host "a bridge file of another version" "bridge.json: v: must be 1"
echo '{"v": 1,' >"$CONF/bridge.json"
host "a bridge file that is no JSON" "bridge.json:"
sed 's/"slug": "demo"/"slug": "other"/' "$T/bridge.json" >"$CONF/bridge.json"
host "another project's bridge file" "is another project's"
sed 's/"stack": "script"/"stack": "magic"/' "$T/bridge.json" >"$CONF/bridge.json"
host "an unknown stack" "stack"
mv "$T/bridge.json" "$CONF/bridge.json"
mkdir -p "$P/inside"
mv "$STATE" "$P/inside/demo"
ln -s "$P/inside/demo" "$STATE"
host "a state directory inside the checkout" "lies inside the checkout"
rm "$STATE"
mv "$P/inside/demo" "$STATE"

before=$(canary)

# ---- swapped while it runs ---------------------------------------------------------------------------------------------------

: >"$EFFECTS"
request restart gate
gate=$NAME
drain_start
entered
mv "$S/requests" "$S/old"
mkdir "$S/requests"
request restart web
let_go on
drain_wait
equal "requests/ replaced in the middle: the drain ends well" "$RC" 0
expect "what ran has its answer" "$gate" state=done
expect "and the new directory is served" "$NAME" state=done
rm -r "$S/old"
request restart gate
gate=$NAME
drain_start
entered
mv "$S/requests" "$S/old"
ln -s "$T/canary" "$S/requests"
let_go on
drain_wait
equal "requests/ made a link in the middle: refused" "$RC" 78
expect "what ran has its answer" "$gate" state=done
equal "the host's files are as they were" "$(canary)" "$before"
rm "$S/requests"
mv "$S/old" "$S/requests"

# ---- no writing ----------------------------------------------------------------------------------------------------------------

chmod 555 "$S/responses"
request restart web
locked=$NAME
count=$(effects 'restart web')
drain
equal "responses/ read-only: it completes" "$RC $(effects 'restart web')" "0 $((count + 1))"
equal "no answer could be given" "$(response "$locked")" ""
drain
equal "and isn't run again" "$(effects 'restart web')" $((count + 1))
chmod 755 "$S/responses"
cp "$S/archive/$locked" "$S/requests/.again" && mv "$S/requests/.again" "$S/requests/$locked"
drain
expect "sent again, the ledger answers" "$locked" state=done replayed=true
chmod 555 "$S/archive"
request restart web
noarchive=$NAME
request ping
drain
expect "archive/ read-only: ping" "$NAME" state=done
expect "archive/ read-only: no log, no run" "$noarchive" state=denied reason=host-error
chmod 755 "$S/archive"
chmod 555 "$S/processing"
request restart web
request ping
drain
equal "processing/ read-only: the line is cleared all the same" "$RC $(visible "$S/requests")" "0 0"
expect "and answered" "$NAME" state=denied
chmod 755 "$S/processing"
chmod 555 "$S/diagnostics"
request ping
drain
expect "diagnostics/ read-only: nothing lost" "$NAME" state=done
chmod 755 "$S/diagnostics"

# ---- a flood ---------------------------------------------------------------------------------------------------------------------

(cd "$S/requests" && for ((i = 0; i < 4500; i++)); do : >"junk$i"; done)
request ping
drain
equal "4500 junk entries: one drain clears them" "$RC $(visible "$S/requests")" "0 0"
expect "and the ping among them" "$NAME" state=done
check "refusals beyond AUDIT_REFUSALS are summed" test "$(audit '"event":"quarantined"')" -lt 1000
# looking on and on must not push old lines out of the log: beyond the day's budget looks wait, what changes something goes on
flow_policy AUDIT_DAY=1000 AUDIT_REFUSALS=100000/60
rm -f "$STATE/rate/refusals"
lines=$(wc -l <"$STATE/audit.log")
for ((i = 0; i < 500; i++)); do request ping; done
drain
lines=$(($(wc -l <"$STATE/audit.log") - lines))
check "the day's lines are used up" test "$lines" -ge 999 -a "$lines" -le 1002
request status
look=$NAME
request restart web
drain_start
check "what changes something goes on" await answered "$NAME" "done"
check "with its own lines" test "$(grep -F "$NAME" "$STATE/audit.log" | grep -c -e '"event":"start"' -e '"event":"end"')" = 2
expect "a look waits in the line" "$look" state=queued
check "and is still there" test -f "$S/requests/$look"
check "the drain says why" grep -q "AUDIT_DAY lines are used up" "$T/drain.bg.err"
sleep 3
equal "once, with a command alone on its line" "$(grep -c "AUDIT_DAY" "$T/drain.bg.err") $(grep -cx "spoolgate audit -s demo" "$T/drain.bg.err")" "1 1"
kill -TERM "$DRAIN_PID"
drain_wait
equal "it lets itself be stopped" "$RC" 0
rm "$STATE/rate/refusals"
drain
expect "a new day" "$look" state=done
check "the audit log's chain holds" audit_chain
flow_end
