#!/bin/bash
# test-drain-run.sh BUILD_ROOT SOURCE_ROOT - what a run may leave and show: processes, locks, output caps, bytes, secrets
# shellcheck source=tests/flow/lib.sh
. "$(dirname -- "$0")/lib.sh"
flow_begin "$@"
flow_project

# ---- processes that stay ------------------------------------------------------------------------------------------------

request restart left
drain
expect "a verb that leaves a process behind" "$NAME" state=done 'output=left\n'
pid=$(cat "$HOST/left.pid")
check "the process lives" kill -0 "$pid"
check "the drain's lock isn't inherited" flock -n "$STATE/lock" true
equal "nor the run's" "$(visible "$STATE/run")" 0
equal "it holds nothing of ours" "$(find "/proc/$pid/fd" -lname "$T/*" | wc -l)" 0
request ping
drain
expect "the next drain works" "$NAME" state=done
kill "$pid"
request restart holder
drain
expect "a process that holds the pipe open" "$NAME" state=done 'output=held\n'
check "isn't waited for" test "$(field "$NAME" duration_ms)" -lt 3000
kill "$(cat "$HOST/left.pid")"
request restart deaf '"timeout_sec":1'
drain
expect "a verb that ignores TERM" "$NAME" state=failed reason=timeout
check "is killed after the grace" test "$(field "$NAME" duration_ms)" -ge 5900 -a "$(field "$NAME" duration_ms)" -lt 9000
check "and is gone" test "$(pgrep -cf "$HOST/stack restart deaf")" = 0
request restart term
drain
expect "a signal's number" "$NAME" state=failed reason=signal signal=15 exit=null
like "and its name" "$(field "$NAME" message)" '*[(]SIGTERM[)]'

# ---- an inheritance that must not pass ------------------------------------------------------------------------------------

request health
mkdir -p "$P/bin"
printf '#!/bin/sh\ntouch %s/trapped\n' "$T" >"$P/bin/env"
chmod 755 "$P/bin/env"
printf 'touch %s/trapped\n' "$T" >"$T/rc"
(
        for fd in {10..100}; do eval "exec $fd</dev/null"; done
        trap '' TERM HUP PIPE USR1
        umask 000
        ulimit -c unlimited 2>/dev/null
        ulimit -Sn 256
        cd "$P" || exit
        as_user env LD_LIBRARY_PATH="$P" BASH_ENV="$T/rc" ENV="$T/rc" PATH="$P/bin:/usr/bin:/bin" DOCKER_HOST=tcp://evil COMPOSE_FILE=evil GIT_SSH_COMMAND="$T/rc" \
                PYTHONSTARTUP="$T/rc" NODE_OPTIONS=--require=evil CONTAINER_HOST=evil PODMAN_COMPOSE_PROVIDER=evil BUILDX_BUILDER=evil PS4='$(touch trapped)' \
                SHELLOPTS=xtrace GCONV_PATH="$P" HOME="$T/home" "${FLOW_ENV[@]}" timeout 30 "$DRAIN" demo 2>"$T/drain.err"
)
expect "health under a poisoned environment" "$NAME" state=done 'output=healthy\n'
equal "nothing of it came through" "$(grep -c -e LD_ -e BASH_ENV -e '^ENV=' -e DOCKER -e COMPOSE -e SSH -e PYTHON -e NODE -e CONTAINER -e PODMAN -e BUILDX_BUILDER \
        -e SHELLOPTS -e PS4 -e GCONV -e ASAN "$HOST/seen.env")" 0
equal "PATH is the installed one" "$(grep ^PATH= "$HOST/seen.env")" PATH=/usr/bin:/bin
equal "nothing was trapped" "$(find "$T" -name trapped | wc -l)" 0
equal "fds 0 to 2 only, with 90 open before" "$(awk 'NF > 8 { print $9 }' "$HOST/seen.fd" | tr '\n' ' ')" "0 1 2 3 "
equal "signals are as new" "$(awk '/^Sig(Blk|Ign):/ { print $2 }' "$HOST/seen.status" | tr '\n' ' ')" "0000000000000000 0000000000000000 "
equal "umask 022" "$(cat "$HOST/seen.umask")" 0022
equal "no core files" "$(awk '/core file size/ { print $NF }' "$HOST/seen.limits")" 0
equal "cwd is not the checkout" "$(cat "$HOST/seen.cwd")" /
equal "state is private whatever the umask" "$(find "$STATE" -perm /077 | wc -l)" 0
request health
script -qec "$(printf '%q ' env -i HOME="$T/home" "${FLOW_ENV[@]}" "$DRAIN" demo)" /dev/null >/dev/null 2>&1
expect "run by hand on a terminal" "$NAME" state=done
read -r pid sid tty <"$HOST/seen.session"
equal "the verb has no controlling terminal" "$sid $tty" "$pid ?"

# ---- output ---------------------------------------------------------------------------------------------------------------

request logs big
big=$NAME
request logs huge
huge=$NAME
request logs dirty
dirty=$NAME
drain
expect "300 KB: the tail is told, and that it is one" "$big" state=done output_bytes=300005 truncated=true
like "it is the end" "$(field "$big" output)" '*xxx\\nend\\n'
check "at most 64 KiB" test "$(field "$big" output | wc -c)" -le 65600
equal "the log holds it all" "$(wc -c <"$S/archive/$big.log")" 300005
expect "9 MB" "$huge" state=done output_bytes=9000005 truncated=true
check "the log is bounded" test "$(wc -c <"$S/archive/$huge.log")" -le 4195000
like "and says what was dropped" "$(grep -a dropped "$S/archive/$huge.log" | head -c 200)" '*[[]spoolgate: * bytes dropped here]*'
like "and holds the end" "$(tail -n 1 "$S/archive/$huge.log")" end
expect "terminal bytes" "$dirty" state=done
check "the answer is JSON without a control byte" python3 -c '
import json, sys
raw = open(sys.argv[1], "rb").read()
assert not any(b < 32 or b == 127 for b in raw[:-1]), "control byte"
out = json.loads(raw)["output"]
assert not any((ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 or c == "\u202e" for c in out), repr(out)
assert "\\x1b[31mred" in out and "%n %s" in out, repr(out)' "$S/responses/$dirty.response.json"

# ---- secrets -----------------------------------------------------------------------------------------------------------------

secret=hunter2-is-long-enough
printf 'DB_PASSWORD="%s"\nSHORT=abc\n' "$secret" >"$P/.env"
{
        echo "plain $secret end"
        printf 'coloured %s\033[1m%s\n' "${secret:0:9}" "${secret:9}"
        echo "base64 $(printf %s "$secret" | base64)"
        echo "token ghp_$(printf 'A%.0s' {1..36}) x"
        head -c 65530 /dev/zero | tr '\0' .
        echo "$secret"
} >"$HOST/secret.out"
request restart secret
drain
expect "a .env that isn't the sealed one: nothing that changes runs" "$NAME" state=denied reason=integrity-env
like "the message names it, and ends with the command" "$(field "$NAME" message)" '*.env*\\nspoolgate seal -s demo'
flow_seal
request logs secret
logs=$NAME
request restart secret
restart=$NAME
drain
expect "a verb that prints secrets" "$logs" state=done
expect "a mutating one" "$restart" state=done
like "they are redacted" "$(cat "$S/archive/$logs.log")" 'plain [[]redacted* end*'
equal "in no file of spool and state" "$(grep -rlF -e "$secret" -e "$(printf %s "$secret" | base64)" -e ghp_AAAA "$S" "$STATE" | wc -l)" 0
equal "what isn't one stays" "$(grep -c '^token .* x$' "$S/archive/$logs.log")" 1
secret=another-value-of-length
echo "KEY=$secret" >"$P/.env"
echo "now $secret" >"$HOST/secret.out"
request logs secret
drain
like "a changed .env is read again" "$(field "$NAME" output)" 'now [[]redacted*\n'
printf 'ticket TICKET-[0-9]+\n' >"$CONF/redact.conf"
flow_own "$CONF/redact.conf"
echo "see TICKET-4711" >"$HOST/secret.out"
request logs secret
drain
like "the operator's own pattern" "$(field "$NAME" output)" 'see [[]redacted:ticket]\\n'
rm "$P/.env"
mkfifo "$P/.env"
request logs secret
drain
expect "a .env that is a FIFO holds up nobody" "$NAME" state=done
check "the audit log's chain holds" audit_chain
flow_end
