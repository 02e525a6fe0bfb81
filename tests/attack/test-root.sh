#!/bin/bash
# test-root.sh BUILD_ROOT SOURCE_ROOT - rows of the catalogue that need another uid, a device or a mount: 6 9 10 15 20 25 27 64
# shellcheck source=tests/flow/lib.sh
. "$(dirname -- "$0")/lib.sh"
if [ "$(id -u)" != 0 ]; then
        echo "needs root"
        [ "${MUST_WORK:-0}" = 1 ] && exit 1
        exit 77
fi
# A mount namespace of its own: what is mounted here is seen by nobody else.
if [ -z "${ATTACK_ROOT_NS:-}" ]; then
        export ATTACK_ROOT_NS=1
        exec unshare -m --propagation private bash "$0" "$@"
fi
flow_begin "$1" "$2" keep-root
flow_project
AGENT=$((FLOW_UID + 1))
as_agent() { setpriv --reuid "$AGENT" --regid "$AGENT" --clear-groups "$@"; }
R=$S/requests
shaped() { nonce; NAME=$(stamp)-restart-$NONCE.json; }
body() { echo "{\"verb\":\"restart\",\"arg\":\"web\",\"requested_at\":\"$(iso)\"}"; }

# ---- entries of another uid, devices --------------------------------------------------------------------------------------

chmod 1777 "$R"
odd=()
shaped; mknod "$R/$NAME" c 1 5; odd+=("$NAME" "row 6: a character device")
shaped; mknod "$R/$NAME" b 7 99; odd+=("$NAME" "row 6: a block device")
shaped; as_agent mkdir -m 700 "$R/$NAME"; odd+=("$NAME" "row 9: an empty directory of the agent's")
shaped; as_agent mkdir -m 700 "$R/$NAME"; as_agent touch "$R/$NAME/x"; odd+=("$NAME" "row 9: a full directory of the agent's")
shaped; body >"$R/.n"; chown "$AGENT:$AGENT" "$R/.n"; chmod 000 "$R/.n"; mv "$R/.n" "$R/$NAME"; odd+=("$NAME" "row 10: a file of the agent's, mode 000")
as_agent mkdir -m 700 "$R/named-badly"
shaped; body >"$R/.n"; chown "$AGENT:$AGENT" "$R/.n"; chmod 644 "$R/.n"; mv "$R/.n" "$R/$NAME"; theirs=$NAME
chmod 755 "$R"
drain
equal "the drain exits 0" "$RC $(cat "$T/drain.err")" "0 "
for ((i = 0; i < ${#odd[@]}; i += 2)); do
        expect "${odd[i + 1]}" "${odd[i]}" state=denied reason=malformed output=null
done
equal "rows 6, 9, 10: the line is empty" "$(visible "$R") $(visible "$S/processing")" "0 0"
equal "row 9: what can't be moved has a dot name" "$(find "$R" -maxdepth 1 -name '.bad-*' | wc -l)" 3
expect "a readable file of the agent's is served" "$theirs" state=done
equal "once" "$(effects 'restart web')" 1
rm -rf "$R"/.bad-*

refuses() { # CASE
        drain
        like "$1" "$RC $(cat "$T/drain.err")" "78 *nothing was read*"
}
chown "$AGENT" "$R"
request ping
refuses "row 25: requests/ belongs to the agent"
chown "$FLOW_UID" "$R"
chown "$AGENT" "$S"
refuses "row 25: the spool belongs to the agent"
chown "$FLOW_UID" "$S"
drain
expect "and all is well again" "$NAME" state=done
chown 0 "$CONF/policy.conf"
request ping
drain
expect "a policy.conf of another user" "$NAME" state=denied reason=host-config
chown "$FLOW_UID" "$CONF/policy.conf"

# ---- mounts -------------------------------------------------------------------------------------------------------------------

mount --bind "$R" "$R"
request ping
refuses "row 15: a bind mount over requests/"
umount "$R"
mount -t tmpfs -o "uid=$FLOW_UID,mode=755" none "$S/responses"
refuses "row 27: responses/ on another filesystem"
umount "$S/responses"
drain
expect "and all is well again" "$NAME" state=done

if chattr +i "$S/responses" 2>/dev/null; then
        request restart api
        drain
        equal "row 20: responses/ immutable: it completes" "$RC $(effects 'restart api')" "0 1"
        chattr -i "$S/responses"
        drain
        equal "row 20: and isn't run again" "$(effects 'restart api')" 1
else
        skip "row 20: responses/ immutable" "no chattr here"
fi

# ---- full disks ------------------------------------------------------------------------------------------------------------------

fill() { # DIR: not a byte is left
        as_user dd if=/dev/zero of="$1/.fill" bs=4096 2>/dev/null
        as_user dd if=/dev/zero of="$1/.fill2" bs=1 2>/dev/null
}
small() { # DIR SIZE INODES: a tmpfs with what DIR held
        mkdir "$T/small"
        mount -t tmpfs -o "size=$2,nr_inodes=$3,uid=$FLOW_UID,gid=$FLOW_UID,mode=700" none "$T/small"
        cp -a "$1/." "$T/small"
        mount --move "$T/small" "$1"
        rmdir "$T/small"
}
: >"$EFFECTS"
small "$STATE" 512k 400
fill "$STATE"
request restart web
restart=$NAME
request ping
ping=$NAME
echo junk >"$R/junk"
drain
equal "row 64: a full state directory: nothing that changes runs" "$(effects 'restart web')" 0
equal "row 64: the line is emptied" "$(visible "$R")" 0
expect "row 64: and answered" "$restart" state=denied reason=host-error
like "row 64: ping too" "$(field "$ping" state)" 'd*'
rm "$STATE"/.fill*
cp "$S/archive/$restart" "$R/.n" && mv "$R/.n" "$R/$restart"
drain
expect "row 64: with room again the same request runs" "$restart" state=done
equal "row 64: once" "$(effects 'restart web')" 1
cp -a "$STATE/." "$T/state.kept"
umount "$STATE"
as_user cp -a "$T/state.kept/." "$STATE"

: >"$EFFECTS"
small "$S" 512k 400
request restart web
restart=$NAME
request ping
ping=$NAME
request logs web
logs=$NAME
shaped
mkdir "$R/$NAME"
fill "$S"
drain
equal "row 64: a full spool: requests/ is emptied" "$RC $(visible "$R")" "75 0"
like "row 64: and it says so" "$(cat "$T/drain.err")" '*no room on the disk*'
check "row 64: at most one run" test "$(effects 'restart web')" -le 1
rm "$S"/.fill*
drain
like "row 64: with room again each is answered: restart" "$(field "$restart" state)" '@(done|denied)'
expect "row 64: ping" "$ping" state=done
like "row 64: logs" "$(field "$logs" state)" '@(done|denied)'
empty "row 64: nothing is left in the line"
check "row 64: still at most one run" test "$(effects 'restart web')" -le 1
if [ "$(field "$restart" state)" = "done" ]; then wanted=1; else wanted=0; fi
equal "row 64: done means once, denied means never" "$(effects 'restart web')" $wanted
umount "$S"
check "the audit log's chain holds" audit_chain
flow_end
