#!/bin/bash
# test-installed.sh BUILD_ROOT SOURCE_ROOT - the installed programs together: install, a watching drain, the agent's program, a tampered script
# shellcheck source=tests/flow/installer/begin.sh disable=SC2034
if [ -f "${0%/*}/begin.sh" ]; then . "${0%/*}/begin.sh"; else . "${0%/*}/installer/begin.sh"; fi
begin "$@"
fresh demo
rm -r "$P/.git"
STACK=$P/deploy/stack
EFFECTS=$T/effects
mkdir "$P/deploy"
printf '#!/bin/sh\necho "$*" >>%s\ncase $1 in restart) echo "restarted $2" ;; *) echo "$1 ok" ;; esac\n' "$EFFECTS" >"$STACK"
chmod 755 "$STACK"
git_as() { HOME=$H GIT_CONFIG_NOSYSTEM=1 git -C "$P" -c user.name=t -c user.email=t@t -c init.defaultBranch=main "$@"; }
git_as init -q
echo /untracked/ >"$P/.gitignore"
git_as add .
git_as commit -q -m first
: >"$EFFECTS"
install --slug demo --stack script --stack-bin deploy/stack --service web --service api --launch direct
like "installed" "$RC $ERR" '0 *'
S=$P/untracked/spoolgate
CONF=$H/.config/spoolgate/demo
STATE=$H/.local/state/spoolgate/demo
DRAIN=$H/.local/lib/spoolgate/demo/spoolgate-drain
SLUG=demo
check "the pinned drain is a copy" cmp -s "$DRAIN" "$PREFIX/libexec/spoolgate/spoolgate-drain"

env -i HOME="$H" PATH=/nonexistent "${FLOW_ENV[@]}" "$DRAIN" --watch demo 2>"$T/drain.bg.err" >/dev/null </dev/null &
DRAIN_PID=$!
ask() { # what the agent sees: sets RC, OUT, ERR
        OUT=$(cd / && timeout 60 env -i PATH=/usr/bin:/bin sh "$S/spoolgate-request" --wait 20 "$@" 2>"$T/ask.err" </dev/null)
        RC=$?
        ERR=$(cat "$T/ask.err")
}
ask ping
equal "ping" "$RC $OUT" "0 pong"
ask status
equal "status" "$RC $OUT" "0 status ok"
ask restart web
equal "restart web" "$RC $OUT" "0 restarted web"
like "restart web: one line" "$ERR" 'spoolgate: done*'
ask exec
like "exec" "$RC $ERR" '70 spoolgate: denied: hard-denied:*'
ask restart nope
like "an unlisted service" "$RC $ERR" '70 spoolgate: denied: arg-not-listed:*'
ask up
like "a verb that the shipped policy denies" "$RC $ERR" "70 spoolgate: denied: policy:*vi '$CONF/policy.conf'"
equal "what ran" "$(tr '\n' ';' <"$EFFECTS")" "status;restart web;"

# ---- what the agent can't change --------------------------------------------------------------------------------------------

echo 'touch /tmp/never' >>"$STACK"
ask restart web
like "an edited script doesn't run" "$RC $ERR" '70 spoolgate: denied: integrity-modified:*'
ask ping
equal "ping goes on" "$RC" 0
git_as commit -q -a -m evil
ask restart web
like "nor a committed one" "$RC $ERR" '70 spoolgate: denied: integrity-*'
git_as revert --no-edit HEAD >/dev/null 2>&1
ask restart web
equal "put back as it was, it runs" "$RC $OUT" "0 restarted web"
equal "twice in all" "$(effects 'restart web')" 2
kill -TERM "$DRAIN_PID"
drain_wait
equal "the watcher ends well" "$RC $(cat "$T/drain.bg.err")" "0 "
check "the audit log's chain holds" audit_chain
flow_end
