#!/bin/bash
# test-seal.sh BUILD_ROOT SOURCE_ROOT: the first seal, seal, --check, what is refused, and what the gate then says
# shellcheck shell=bash disable=SC1091,SC2034
here=${BASH_SOURCE[0]%/*}
if [ -f "$here/operator.sh" ]; then . "$here/operator.sh" || exit 2; else . "$here/../operator/operator.sh" || exit 2; fi
begin "$@"

quiet_git() {
        (cd "$P" && HOME=$T GIT_CONFIG_NOSYSTEM=1 git -c user.name=t -c user.email=t@t -c init.defaultBranch=main "$@") >/dev/null
}

commit() { # FILES...
        quiet_git add -- "$@"
        quiet_git commit -q -m "$serial" -- "$@"
}

seal_file() {
        cat "$STATE/seal/seal"
}

# repository INTEGRITY: a checkout with conf.ini and run.sh committed and an .env, installed
repository() {
        fresh demo
        operator_stack
        rm -rf "$P/.git"
        quiet_git init -q .
        printf 'untracked/\n.env\n' >"$P/.gitignore"
        printf 'one\ntwo\nthree\n' >"$P/conf.ini"
        printf 'TOKEN=abc123secret\n' >"$P/.env"
        commit .gitignore conf.ini
        STATE=$H/.local/state/spoolgate/demo
        CONF=$H/.config/spoolgate/demo
        S=$P/untracked/spoolgate
        : >"$T/effects"
        EFFECTS=$T/effects
        mkdir -p "$CONF"
        (umask 077 && printf '%s\n' MODE_restart=auto MODE_status=auto "INTEGRITY=$1" LINGER_MS=250 >"$CONF/policy.conf")
        install --slug demo --stack script --stack-bin "$STACK" --service web --service api --launch direct --guard conf.ini --env-file .env
}

# the first seal
repository both
equal "install: exit" "$RC" 0
like "install: makes the first seal" "$OUT" "*sealed 2 files*"
like "install: no warning of it" "$ERR" ""
like "the seal: guarded" "$(seal_file)" "*file guarded tracked 100644 14 * conf.ini${NL}*"
like "the seal: env" "$(seal_file)" "*file env untracked 100644 19 * .env${NL}*"
like "the seal: commit and who" "$(seal_file)" "spoolgate-seal 1${NL}time 20*Z${NL}by *${NL}commit $(cd "$P" && git -c safe.directory="$P" rev-parse HEAD)${NL}*"
before=$(seal_file)
install --slug demo --stack script --stack-bin "$STACK" --service web --service api --launch direct --guard conf.ini --env-file .env
like "install again: nothing changes" "$OUT" "*nothing changed*"
equal "install again: the seal stays" "$(seal_file)" "$before"
gate run restart web
equal "sealed: it runs" "$RC" 0
logged "sealed: on record" '"event":"sealed".*2 files at commit' 1
gate seal
equal "seal: nothing to do: exit" "$RC" 0
equal "seal: nothing to do" "$OUT" "everything is as it was sealed"
gate seal --check
equal "seal --check: nothing to do" "$RC$OUT" "0everything is as it was sealed"

# a change that is not committed
printf 'one\nTWO \e[31m\nthree\n' >"$P/conf.ini"
gate run restart web
like "changed: the gate refuses" "$ERR" "*denied: integrity-modified*"
gate seal --check
equal "uncommitted, --check: exit" "$RC" 1
equal "uncommitted, --check: says what" "$OUT" "conf.ini: changed"
like "uncommitted, --check: and why it can't be sealed" "$ERR" "*conf.ini differs from the last commit${NL}git -C '$P' *commit -m sealed -- 'conf.ini'"
gate seal --yes
equal "uncommitted: refused: exit" "$RC" 1
like "uncommitted: the command to paste" "$(printf '%s\n' "$ERR" | tail -1)" "git -C '$P' * -- 'conf.ini'"
equal "uncommitted: nothing is sealed" "$(seal_file)" "$before"
(cd "$P" && HOME=$T GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t \
        bash -c "$(printf '%s\n' "$ERR" | tail -1)" >/dev/null)
equal "uncommitted: the pasted command commits it" "$?" 0

# committed, not sealed
gate run restart web
like "committed: the gate asks for a seal" "$ERR" "*denied: integrity-unsealed*"
like "committed: and says how" "$(printf '%s\n' "$ERR" | tail -1)" "spoolgate seal -s demo"
gate seal
equal "committed: without a terminal: exit" "$RC" 1
like "committed: the diff is shown, escaped" "$OUT" "--- conf.ini${NL}+++ conf.ini${NL}@@ -1,3 +1,3 @@${NL} one${NL}-two${NL}+TWO ?x1b[[]31m${NL} three${NL}conf.ini: changed"
equal "committed: nothing is sealed" "$(seal_file)" "$before"
gate seal --yes
equal "committed: --yes: exit" "$RC" 0
like "committed: --yes seals" "$OUT" "*sealed 2 files of demo"
gate run restart web
equal "committed: it runs" "$RC" 0
logged "committed: on record" '"event":"sealed".*conf.ini: changed.*"by":' 1
gate audit verify
equal "the log holds" "$RC" 0

# the env file
printf 'TOKEN=other456secret\nNEW=1\n' >"$P/.env"
gate run restart web
like "env: the gate refuses" "$ERR" "*denied: integrity-env*"
gate seal --yes
equal "env: sealed again" "$RC" 0
like "env: names are shown, values not" "$OUT" "*-TOKEN=(hidden)${NL}+TOKEN=(hidden)${NL}+NEW=(hidden)*"
case $OUT$ERR in *secret*) fail "env: no value is shown" "$OUT" ;; *) pass "env: no value is shown" ;; esac
rm "$P/.env"
gate seal --check
like "env: gone" "$OUT" ".env: is missing now"
gate seal --yes
gate run restart web
equal "env: absent is a sealed state" "$RC" 0

# at a terminal: asked once, paged
terminal() { # ANSWER ARGS...: sets OUT and RC
        local answer=$1
        shift
        OUT=$(cd "$P" && timeout -k 2 60 env -i HOME="$H" PATH=/usr/bin:/bin PAGER="${PAGER_LINE:-}" "${FLOW_ENV[@]}" \
                python3 - "$answer" "$PREFIX/bin/spoolgate" "$@" <<'PTY'
import os, pty, select, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
said, answered = b"", False
while True:
    try:
        got = os.read(fd, 65536)
    except OSError:
        break
    if not got:
        break
    said += got
    if not answered and b"[y/N]" in said:
        os.write(fd, sys.argv[1].encode() + b"\n")
        answered = True
status = os.waitpid(pid, 0)[1]
sys.stdout.buffer.write(said.replace(b"\r\n", b"\n"))
sys.stdout.flush()
os._exit(os.waitstatus_to_exitcode(status) & 127)
PTY
        )
        RC=$?
}
printf 'TOKEN=third\n' >"$P/.env"
before=$(seal_file)
terminal n seal
equal "terminal: no: exit" "$RC" 1
like "terminal: no" "$OUT" "*.env: was absent${NL}Seal this? [[]y/N]*nothing was done"
equal "terminal: no: nothing is sealed" "$(seal_file)" "$before"
printf '#!/bin/sh\nprintf "%%s|" "$@" >"%s"; cat >>"%s"\n' "$T/paged" "$T/paged" >"$T/pager"
chmod 755 "$T/pager"
PAGER_LINE="$T/pager  -R -X"
terminal y seal
PAGER_LINE=
equal "terminal: yes: exit" "$RC" 0
like "terminal: yes: sealed" "$OUT" "*Seal this? [[]y/N]*sealed 2 files of demo"
like "terminal: the pager had the diff, by its words" "$(cat "$T/paged")" "-R|-X|--- .env (absent)${NL}+++ .env${NL}*+TOKEN=(hidden)"
printf 'TOKEN=fourth\n' >"$P/.env"
PAGER_LINE=/nonexistent/pager
terminal y seal
PAGER_LINE=
equal "terminal: a pager that is not there: exit" "$RC" 0
like "terminal: a pager that is not there: shown all the same" "$OUT" "*+TOKEN=(hidden)*"

# what is never sealed
for how in link hard fifo; do
        rm -f "$P/conf.ini"
        case $how in
        link) ln -s .gitignore "$P/conf.ini" ;;
        hard) (cd "$P" && git -c safe.directory="$P" show HEAD:conf.ini >conf.ini && ln conf.ini "$W/other") ;;
        fifo) mkfifo "$P/conf.ini" ;;
        esac
        gate seal --yes
        equal "$how: refused: exit" "$RC" 1
        like "$how: refused: text" "$ERR" "spoolgate seal: conf.ini *"
done
rm -f "$P/conf.ini"

# INTEGRITY=seal takes what is not committed
repository seal
equal "seal only: install" "$RC" 0
echo four >>"$P/conf.ini"
gate run restart web
like "seal only: the gate refuses" "$ERR" "*denied: integrity-modified*"
gate seal --yes
equal "seal only: sealed: exit" "$RC" 0
gate run restart web
equal "seal only: it runs" "$RC" 0

# a file of the seal that is guarded no longer, and a damaged seal
install --slug demo --stack script --stack-bin "$STACK" --service web --service api --launch direct --env-file .env
like "no longer guarded: install says so" "$ERR" "*conf.ini: is no longer guarded${NL}spoolgate seal -s demo*"
gate seal --yes
like "no longer guarded: sealed" "$OUT" "*conf.ini: is no longer guarded${NL}sealed 1 files of demo"
echo x >>"$STATE/seal/seal"
gate seal --check
like "a damaged seal: --check" "$OUT" "*the seal is damaged"
gate seal --yes
equal "a damaged seal is made anew" "$RC" 0
gate seal --check
equal "a damaged seal is mended" "$RC" 0

# without a commit under both: installed, not sealed, and told
fresh demo
operator_stack
rm -rf "$P/.git"
quiet_git init -q .
printf 'untracked/\n' >"$P/.gitignore"
echo one >"$P/conf.ini"
install --slug demo --stack script --stack-bin "$STACK" --service web --launch direct --guard conf.ini
equal "unborn: install: exit" "$RC" 0
like "unborn: install: told" "$ERR" "*not sealed; mutating verbs are refused:*no commit at HEAD*spoolgate seal -s demo*"
check "unborn: nothing is sealed" test ! -e "$H/.local/state/spoolgate/demo/seal/seal"
gate seal --maybe
equal "usage" "$RC" 64

flow_end
