#!/bin/bash
# test-script.sh BUILD_ROOT SOURCE_ROOT: the gate on the whole program, for a stack's program in the checkout
# shellcheck source=tests/attack/gate/world.sh disable=SC2034
. "${0%/*}/world.sh"
begin "$@"
project script
watch
F=$P/deploy/stack

ran "nothing changed"
mirrors "nothing changed: diagnostics" ok ''

# 67, 69: edit, commit, seal
stack_text evil >"$F"
stopped "67 edited" integrity-modified "deploy/stack differs from the last commit"
ask status
equal "67 edited: read-only verbs go on, with the sealed bytes" "$RC $OUT" "0 good status"
git_as commit -q -a -m evil
stopped "69 committed" integrity-unsealed "deploy/stack differs from the sealed one"
stack_text good >"$F"
echo '# second' >>"$F"
git_as commit -q -a -m second
stopped "69 committed again" integrity-unsealed deploy/stack
seals=$(audit '"event":"sealed"')
sealed "a person seals"
ran "sealed"
equal "sealed: an audit record" "$(audit '"event":"sealed"')" $((seals + 1))
check "sealed: the new bytes" cmp -s "$F" "$STATE/seal/run/stack"
gate seal --check
equal "seal --check: nothing to say" "$RC" 0
stack_text evil >"$F"
gate seal --yes
like "uncommitted: not sealed under both" "$RC $ERR" "1 *deploy/stack differs from the last commit*git -C *commit -m sealed -- 'deploy/stack'"
gate seal --check
equal "seal --check: tells" "$RC" 1
git_as checkout -q -- deploy/stack
ran "reverted"

# 72, 78, 109: mode, symlink, another kind, gone
chmod g+w "$F"
stopped "72 g+w" integrity-unsealed "deploy/stack has another mode than the sealed one"
chmod 644 "$F"
stopped "72 -x" integrity-modified "deploy/stack has another mode than in the last commit"
chmod 755 "$F"
ran "72 the mode is back"
mv "$F" "$T/away"
stopped "78 gone" integrity-modified "deploy/stack is in the last commit and missing here"
ln -s "$T/away" "$F"
stopped "78 a symlink to the same bytes" integrity-modified "deploy/stack is or lies behind a symbolic link"
rm "$F"
mkfifo "$F"
stopped "78 a FIFO" integrity-modified "deploy/stack is not of the right type"
rm "$F"
mv "$T/away" "$F"
mv "$P/deploy" "$P/real"
ln -s real "$P/deploy"
stopped "78 its folder is a symlink" integrity-modified "deploy/stack is or lies behind a symbolic link"
rm "$P/deploy"
mv "$P/real" "$P/deploy"
ran "78 all is back"

# 96, 97: .env
cp -p "$P/.env" "$T/env"
echo 'COMPOSE_FILE=/evil' >>"$P/.env"
stopped "97 .env changed" integrity-env ".env differs from the sealed one"
equal "97 no value in the answer" "$(grep -c COMPOSE_FILE <<<"$ERR")" 0
rm "$P/.env"
stopped "96 .env gone" integrity-env ".env is missing"
ln -s "$T/env" "$P/.env"
stopped "96 .env a symlink" integrity-env ".env is or lies behind a symbolic link"
rm "$P/.env"
mkfifo "$P/.env"
stopped "96 .env a FIFO" integrity-env ".env is not of the right type"
rm "$P/.env"
cp -p "$T/env" "$P/.env"
ln "$P/.env" "$P/second"
stopped "96 .env with a second link" integrity-env ".env has more than one hard link"
rm "$P/second"
ran "96 .env is back"

# INTEGRITY
policy INTEGRITY=head
stack_text evil >"$F"
stopped "head: uncommitted" integrity-modified "deploy/stack differs from the last commit"
git_as commit -q -a -m evil
ran "head: committed passes, and what runs is the sealed copy"
echo B=2 >>"$P/.env"
stopped "head: .env is sealed all the same" integrity-env .env
cp -p "$T/env" "$P/.env"
policy INTEGRITY=seal
stopped "seal: committed is not enough" integrity-modified "deploy/stack differs from the sealed one"
git_as revert --no-edit HEAD >/dev/null
ran "seal: the sealed bytes"
mv "$P/.git" "$T/away.git"
ran "seal: no repository is asked"
mv "$T/away.git" "$P/.git"
policy INTEGRITY=both
ran "both again"

# Checked is what runs: a change while it runs
(ask restart slow; echo "$RC $ERR" >"$T/slow") &
slow=$!
entered
stack_text evil >"$F"
let_go on
wait "$slow"
like "during the run: failed" "$(cat "$T/slow")" "70 spoolgate: failed: integrity-modified: *deploy/stack*"
equal "during the run: the command" "$(tail -n 1 "$T/slow")" "spoolgate resume -s demo"
equal "during the run: it ran the sealed bytes" "$(tail -n 1 "$EFFECTS")" "good restart slow"
equal "during the run: the audit log" "$(audit '"event":"changed_during_run"')" 1
stack_text good >"$F"
echo '# second' >>"$F"
stopped "during the run: put back, still paused" paused "" "spoolgate resume -s demo"
ask status
equal "during the run: read-only verbs go on" "$RC" 0
gate resume
equal "during the run: resumed" "$RC" 0
ran "during the run: and on"

# 63: the agent's budget is not the operator's
policy RATE_PER_VERB=2/600 RATE_TOTAL=3/600
for _ in 1 2 3 4; do ask restart web; done
like "63 the agent's budget is burnt" "$RC $ERR" "70 spoolgate: denied: rate:*"
for i in 1 2 3 4; do
        gate run restart web
        equal "63 the operator's run $i" "$RC $OUT" "0 good restart web"
done
policy RATE_PER_VERB=100000/600 RATE_TOTAL=100000/600

# 109: a program of the operator's own, outside of the checkout, is named by its path: an update of it is taken as it comes
unwatch
printf '#!/bin/sh\necho "first $*"\n' >"$T/own"
chmod 755 "$T/own"
install --slug demo --stack script --stack-bin "$T/own" --service web --launch direct
watch
ask restart web
equal "109 a program outside" "$RC $OUT" "0 first restart web"
printf '#!/bin/sh\necho "second $*"\n' >"$T/own.new"
chmod 755 "$T/own.new"
mv "$T/own.new" "$T/own"
ask restart web
equal "109 its update runs" "$RC $OUT" "0 second restart web"
chmod g+w "$T/own"
gate doctor
has "109 doctor tells one that others may write" "$OUT$ERR" "$T/own, is writable by others"
rm "$T/own"
ask restart web
like "109 gone: spawn" "$RC $ERR" "70 spoolgate: failed: spawn:*"
gate doctor
has "109 doctor tells one that is gone" "$OUT$ERR" "$T/own, is gone"
unwatch
flow_end
