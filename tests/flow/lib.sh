# lib.sh - sourced by the flow and attack tests: the real drain on a project of its own, without systemd
#
#   . lib.sh; flow_begin BUILD_ROOT SOURCE_ROOT [keep-root]
#
# Root re-executes itself as a free uid (the drain refuses root) unless keep-root is given; then `as_user` runs things as that
# uid. $T is the scratch directory, $P the checkout, $S the spool, $STATE and $CONF the host's, $EFFECTS what the stack did.
# Every drain run is bounded in time. Events are waited for by FIFO or by `await`, never by a fixed sleep.
# shellcheck shell=bash disable=SC2034,SC2120
set -u
LC_ALL=C
TZ=UTC
PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
export LC_ALL TZ PATH
passed=0
failed=0
serial=0

pass() {
        passed=$((passed + 1))
        printf 'ok %s\n' "$1"
}

fail() { # NAME [DETAIL...]
        failed=$((failed + 1))
        printf 'not ok %s\n' "$1"
        shift
        [ $# -eq 0 ] || printf '%s\n' "$*" | cat -v | cut -c1-600 | sed 's/^/# /'
}

check() { # NAME COMMAND...
        local what=$1
        shift
        if "$@"; then pass "$what"; else fail "$what" "failed: $*"; fi
}

equal() { # NAME GOT WANTED
        if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "got:    $2" $'\n'"wanted: $3"; fi
}

like() { # NAME GOT PATTERN
        # shellcheck disable=SC2053
        if [[ $2 == $3 ]]; then pass "$1"; else fail "$1" "got:     $2" $'\n'"pattern: $3"; fi
}

skip() { # NAME WHY
        if [ "${MUST_WORK:-0}" = 1 ]; then fail "$1" "skipped: $2"; else printf 'ok %s # skip %s\n' "$1" "$2"; fi
}

# ---- where and as whom ------------------------------------------------------------------------------------------------

flow_free_uid() {
        local uid=2900
        while getent passwd "$uid" >/dev/null || pgrep -u "$uid" >/dev/null 2>&1; do uid=$((uid + 1)); done
        echo "$uid"
}

flow_begin() {
        local build=$1 source=$2 keep=${3:-}
        if [ -z "${FLOW_TOP:-}" ]; then
                FLOW_TOP=$(mktemp -d "${TMPDIR:-/tmp}/flow.XXXXXX") || exit 2
                FLOW_TOP=$(cd -P -- "$FLOW_TOP" && pwd -P)
                FLOW_UID=$(id -u)
                if [ "$FLOW_UID" = 0 ]; then FLOW_UID=$(flow_free_uid); fi
                mkdir "$FLOW_TOP/bin" "$FLOW_TOP/tests"
                cp "$build"/src/spoolgate-drain "$FLOW_TOP/bin/" || exit 2
                cp "${BASH_SOURCE[0]}" "$FLOW_TOP/tests/lib.sh"
                cp "$0" "$FLOW_TOP/tests/"
                cp "$source/policy/policy.conf" "$source/src/agent/spoolgate-request" "$FLOW_TOP/tests/"
                chmod 755 "$FLOW_TOP" "$FLOW_TOP"/*
                export FLOW_TOP FLOW_UID
                trap 'rm -rf -- "$FLOW_TOP"' EXIT
                trap 'exit 1' INT TERM HUP
                if [ "$(id -u)" = 0 ]; then chown -R "$FLOW_UID:$FLOW_UID" "$FLOW_TOP"; fi
                if [ "$(id -u)" = 0 ] && [ "$keep" != keep-root ]; then
                        setpriv --reuid "$FLOW_UID" --regid "$FLOW_UID" --clear-groups --no-new-privs \
                                bash "$FLOW_TOP/tests/${0##*/}" "$build" "$source"
                        exit $?
                fi
        fi
        T=$FLOW_TOP
        DRAIN=$T/bin/spoolgate-drain
        cd "$T" || exit 2
}

as_user() {
        if [ "$(id -u)" = 0 ]; then
                setpriv --reuid "$FLOW_UID" --regid "$FLOW_UID" --clear-groups "$@"
        else
                "$@"
        fi
}

flow_end() {
        echo "$passed passed, $failed failed"
        [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
        exit $?
}

# ---- a project --------------------------------------------------------------------------------------------------------

# What stands for a stack: each service name is a behaviour. It records what it did before it does it.
flow_stack() {
        cat <<'STACK'
#!/bin/bash
here=${0%/*}
echo "$*" >>"$here/effects"
case ${2:-$1} in
status) echo "web up"; echo "api down" >&2 ;;
health) env >"$here/seen.env"; ls -l /proc/self/fd >"$here/seen.fd"; pwd >"$here/seen.cwd"; cat >"$here/seen.stdin"
        cat /proc/self/status >"$here/seen.status"; umask >"$here/seen.umask"; ulimit -a >"$here/seen.limits"
        ps -o pid=,sid=,tty= -p $$ >"$here/seen.session"; echo healthy ;;
web | api) echo "restarted $2" ;;
fail) echo "no such thing"; exit 3 ;;
kill) kill -KILL $$ ;;
term) kill -TERM $$ ;;
gate) exec 9<>"$here/go"; echo in >"$here/entered"; { flock 8; read -r word <&9; } 8>>"$here/turn"; echo "passed $word" ;;
slow) echo in >"$here/entered"; exec sleep 30 ;;
deaf) trap '' TERM; echo in >"$here/entered"; while :; do sleep 0.1; done ;;
left) (exec 0<&- 1>&- 2>&-; exec sleep 20) & echo $! >"$here/left.pid"; disown; echo left ;;
holder) sleep 20 & echo $! >"$here/left.pid"; disown; echo held ;;
big) head -c 300000 /dev/zero | tr '\0' x; echo; echo end ;;
huge) head -c 9000000 /dev/zero | tr '\0' y; echo; echo end ;;
dirty) printf 'a\033[31mred\033[0m\tb\r\nc\000d\377e\302\233f\342\200\256g\n%%n %%s\n' ;;
secret) cat "$here/secret.out" ;;
quiet) ;;
esac
STACK
}

# flow_project [SLUG]: HOME, checkout with a real repository, spool, configuration; variables set for this slug.
flow_project() {
        SLUG=${1:-demo}
        HOST=$T/host.$SLUG
        P=$T/projects/$SLUG
        S=$P/untracked/spoolgate
        CONF=$T/home/.config/spoolgate/$SLUG
        STATE=$T/home/.local/state/spoolgate/$SLUG
        EFFECTS=$HOST/effects
        as_user mkdir -p "$T/home" "$T/projects" "$HOST" "$P" "$CONF" "$STATE" "$S"/{tmp,requests,processing,responses,archive,quarantine,diagnostics,inbox}
        as_user chmod 700 "$CONF" "$STATE"
        flow_stack >"$T/stack.tmp"
        as_user cp "$T/stack.tmp" "$HOST/stack"
        as_user chmod 755 "$HOST/stack"
        as_user touch "$EFFECTS"
        as_user mkfifo "$HOST/entered" "$HOST/go"
        exec 7<>"$HOST/entered" 8<>"$HOST/go" # held open: what is written waits for its reader
        (cd "$P" && export HOME="$T/home" GIT_CONFIG_NOSYSTEM=1 && as_user git -c init.defaultBranch=main init -q . &&
                echo untracked/ | as_user tee .gitignore && as_user git add .gitignore &&
                as_user git -c user.name=t -c user.email=t@t commit -q -m first) >/dev/null
        flow_bridge
        flow_policy
        flow_seal
}

# flow_seal: what `spoolgate seal` leaves where nothing is guarded and .env is as it is now
flow_seal() {
        local entry="- - absent"
        if [ -f "$P/.env" ]; then
                entry="$(stat -c '100%a %s' "$P/.env") $(sha256sum <"$P/.env" | cut -d' ' -f1)"
        fi
        as_user mkdir -p -m 700 "$STATE/seal"
        printf '%s\n' "spoolgate-seal 1" "time $(iso | tr -d Z).000Z" "by tester" "commit -" "file env untracked $entry .env" "end 1" >"$T/seal.tmp"
        as_user cp "$T/seal.tmp" "$STATE/seal/seal"
        as_user chmod 600 "$STATE/seal/seal"
}

flow_bridge() { # [EXTRA JSON MEMBERS]
        local pin
        pin=$(stat -c '"device": %d, "inode": %i' "$P")
        cat >"$CONF/.b" <<BRIDGE
{"v": 1, "slug": "$SLUG", "checkout": {"path": "$P", $pin}, "git_dir": null, "spool": "untracked/spoolgate",
 "stack": "script", "project": "$SLUG", "path": "/usr/bin:/bin", "home": "$T/home", "runtime_dir": null,
 "bins": ["stack=$HOST/stack"], "services": ["web", "api", "fail", "kill", "term", "gate", "slow", "deaf", "left", "holder", "big", "huge", "dirty", "secret", "quiet"],
 "buildable": ["web"], "env_files": [".env"], "launch": "direct", "jail": "landlock", "agent_uid": -1, "version": "test"${1:+, $1}}
BRIDGE
        flow_own "$CONF/.b"
        mv "$CONF/.b" "$CONF/bridge.json"
}

flow_own() {
        if [ "$(id -u)" = 0 ]; then chown "$FLOW_UID:$FLOW_UID" "$@"; fi
        chmod 600 "$@"
}

# flow_policy [LINE...]: everything on auto, wide limits, a short linger; later lines win by replacing earlier ones.
flow_policy() {
        local line key
        {
                for key in ping status health logs up down restart rebuild init; do echo "MODE_$key=auto"; done
                printf '%s\n' MODE_join-network=deny RATE_PER_VERB=1000/600 RATE_TOTAL=1000/600 LINGER_MS=250 INTEGRITY=seal
        } >"$CONF/.p"
        for line in "$@"; do
                sed -i "/^${line%%=*}=/d" "$CONF/.p"
                echo "$line" >>"$CONF/.p"
        done
        flow_own "$CONF/.p"
        mv "$CONF/.p" "$CONF/policy.conf"
}

# ---- requests and answers ---------------------------------------------------------------------------------------------

stamp() { # [SECONDS FROM NOW]
        printf '%(%Y%m%dT%H%M%SZ)T' $(($(printf '%(%s)T' -1) + ${1:-0}))
}

iso() {
        printf '%(%Y-%m-%dT%H:%M:%SZ)T' $(($(printf '%(%s)T' -1) + ${1:-0}))
}

nonce() { # sets NONCE: in the order of writing, so that names of one second sort so
        serial=$((serial + 1))
        printf -v NONCE '%016x' "$serial"
}

# request VERB [ARG [MEMBERS]]: a right request, published as the protocol says; sets NAME. ARG "": none.
request() {
        local body
        nonce
        NAME=$(stamp)-$1-$NONCE.json
        body="{\"verb\":\"$1\",\"requested_at\":\"$(iso)\"${2:+,\"arg\":\"$2\"}${3:+,$3}}"
        put "$NAME" "$body"
}

put() { # NAME BYTES: into requests/ by rename
        printf '%s' "$2" >"$S/requests/.new"
        if [ "$(id -u)" = 0 ]; then chown "$FLOW_UID:$FLOW_UID" "$S/requests/.new"; fi
        mv "$S/requests/.new" "$S/requests/$1"
}

# raw VERB BODY: any body under a right name; sets NAME
raw() {
        nonce
        NAME=$(stamp)-$1-$NONCE.json
        put "$NAME" "$2"
}

# drain [ARGS...]: one bounded run in a hostile environment; sets RC; stderr in $T/drain.err
drain() {
        [ $# -gt 0 ] || set -- "$SLUG"
        [ ! -p /dev/fd/7 ] || flow_flush
        as_user timeout -k 2 40 env -i HOME="$T/home" PATH=/nonexistent "${FLOW_ENV[@]}" "$DRAIN" "$@" 2>"$T/drain.err" >"$T/drain.out" </dev/null
        RC=$?
        if grep -q -e 'Sanitizer' -e 'runtime error' "$T/drain.err"; then
                fail "no sanitizer report" "$(head -c 3000 "$T/drain.err")"
        fi
}
FLOW_ENV=(ASAN_OPTIONS=detect_leaks=1:exitcode=99 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1)

# drain_start [ARGS...]: in the background; sets DRAIN_PID (of the program itself); drain_wait sets RC
drain_start() {
        [ $# -gt 0 ] || set -- "$SLUG"
        flow_flush
        if [ "$(id -u)" = 0 ]; then
                exec_user=(setpriv --reuid "$FLOW_UID" --regid "$FLOW_UID" --clear-groups)
        else
                exec_user=()
        fi
        "${exec_user[@]}" env -i HOME="$T/home" PATH=/nonexistent "${FLOW_ENV[@]}" "$DRAIN" "$@" 2>"$T/drain.bg.err" >/dev/null </dev/null &
        DRAIN_PID=$!
}

drain_wait() {
        ( waited=0; while [ $waited -lt 400 ]; do sleep 0.1; waited=$((waited + 1)); done; kill -KILL "$DRAIN_PID" ) 2>/dev/null &
        local guard=$!
        wait "$DRAIN_PID" 2>/dev/null
        RC=$?
        kill "$guard" 2>/dev/null
        wait "$guard" 2>/dev/null
        if grep -q -e 'Sanitizer' -e 'runtime error' "$T/drain.bg.err"; then
                fail "no sanitizer report" "$(head -c 3000 "$T/drain.bg.err")"
        fi
}

# await COMMAND...: true within 15 s; looks each 20 ms
await() {
        local looks=0
        until "$@" 2>/dev/null; do
                looks=$((looks + 1))
                [ "$looks" -lt 750 ] || return 1
                sleep 0.02
        done
}

# entered: the stack's gate, slow or deaf behaviour has begun
entered() {
        local word=
        if ! IFS= read -r -t 15 word <&7 || [ "$word" != in ]; then
                fail "the stack has begun" "nothing came"
        fi
}

let_go() { # WORD
        echo "$1" >&8
}

flow_flush() { # what an earlier run said and nobody heard
        local word
        while IFS= read -r -t 0.01 word <&7; do :; done
        while IFS= read -r -t 0.01 word <&8; do :; done
}

response() { # NAME: the line
        RESPONSE=
        [ ! -f "$S/responses/$1.response.json" ] || IFS= read -r RESPONSE <"$S/responses/$1.response.json" || RESPONSE=
        printf '%s' "$RESPONSE"
}

# value LINE KEY: a JSON scalar as written, strings without their quotes
value() {
        local re="[{,]\"$2\":(\"(([^\"\\\\]|\\\\.)*)\"|[^,}]*)"
        if [[ $1 =~ $re ]]; then
                case ${BASH_REMATCH[1]} in
                \"*) printf '%s' "${BASH_REMATCH[2]}" ;;
                *) printf '%s' "${BASH_REMATCH[1]}" ;;
                esac
        else
                printf 'no-such-key'
        fi
}

field() { # NAME KEY
        value "$(response "$1")" "$2"
}

answered() { # NAME STATE: for await
        [ "$(field "$1" state)" = "$2" ]
}

# expect NAME-OF-CASE REQUEST KEY=VALUE...
expect() {
        local what=$1 name=$2 line pair got wrong=
        shift 2
        line=$(response "$name")
        for pair in "$@"; do
                got=$(value "$line" "${pair%%=*}")
                [ "$got" = "${pair#*=}" ] || wrong="$wrong ${pair%%=*}: got '$got', wanted '${pair#*=}';"
        done
        if [ -z "$wrong" ] && [ -n "$line" ]; then
                pass "$what"
        else
                fail "$what" "$wrong" $'\n'"$line" $'\n'"$(cat "$T/drain.err" 2>/dev/null)"
        fi
}

effects() { # EXACT LINE: how often it happened
        grep -cxF -- "$1" "$EFFECTS" || true
}

visible() { # DIR: visible entries
        local n=0 entry
        for entry in "$1"/*; do
                if [ -e "$entry" ] || [ -L "$entry" ]; then n=$((n + 1)); fi
        done
        echo "$n"
}

empty() { # NAME-OF-CASE: nothing waits, nothing is in hand
        equal "$1" "$(visible "$S/requests") $(visible "$S/processing")" "0 0"
}

audit() { # PATTERN: lines of the audit log that hold it
        grep -cF -- "$1" "$STATE/audit.log" || true
}

# The chain: each line's prev is the SHA-256 of the line before, seq counts from 1, each line is one JSON object.
audit_chain() {
        python3 - "$STATE/audit.log" <<'CHAIN'
import hashlib, json, sys
prev, seq = "0" * 64, 0
with open(sys.argv[1], "rb") as f:
    for raw in f:
        assert raw.endswith(b"\n"), "torn"
        line = json.loads(raw)
        seq += 1
        assert line["seq"] == seq, f"seq {line['seq']} at {seq}"
        assert line["prev"] == prev, f"prev at {seq}"
        assert len(raw) <= 4096
        prev = hashlib.sha256(raw[:-1]).hexdigest()
assert seq > 0
CHAIN
}

# What lies outside spool and state, as one hash: it must not be touched.
canary() {
        find "$T/canary" "$P/.git" "$P/.gitignore" -printf '%p %y %m %s %T@ %l\n' 2>/dev/null | sort | sha256sum
}
