# operator.sh - sourced by the operator's flow tests: the installer's begin.sh, and a project with a real spool and real
# drains
#
#   . operator.sh; begin BUILD_ROOT SOURCE_ROOT; project
#
# $S, $STATE, $CONF and $EFFECTS are the project's.
# shellcheck shell=bash disable=SC2034,SC1091
if [ -f "${BASH_SOURCE[0]%/*}/begin.sh" ]; then
        . "${BASH_SOURCE[0]%/*}/begin.sh"
else
        . "${BASH_SOURCE[0]%/*}/../installer/begin.sh"
fi
NL=$'\n'

# begin copies the test and its own file for the unprivileged run; this one comes along.
eval "$(declare -f begin_prefix | sed '1s/begin_prefix/installer_prefix/')"
begin_prefix() {
        installer_prefix "$@"
        cp "${BASH_SOURCE[0]}" "$FLOW_TOP/tests/"
}

operator_stack() {
        cat >"$STACK" <<'STACK'
#!/bin/bash
echo "$*" >>"${0%/*}/effects"
case ${2:-$1} in
status) echo "web up" ;;
api) echo "no such thing"; exit 3 ;;
*) printf 'restarted %s \033[31mred\033[0m\n' "${2:-$1}" ;;
esac
STACK
}

# project [INSTALL OPTIONS...]: a fresh home and checkout with a bridge
project() {
        fresh demo
        operator_stack
        install --slug demo --stack script --stack-bin "$STACK" --service web --service api --buildable web --launch direct "$@"
        equal "project is installed" "$RC" 0
        S=$P/untracked/spoolgate
        STATE=$H/.local/state/spoolgate/demo
        CONF=$H/.config/spoolgate/demo
        : >"$T/effects"
        EFFECTS=$T/effects
        (umask 077 && printf '%s\n' MODE_ping=auto MODE_status=auto MODE_restart=auto MODE_up=deny INTEGRITY=seal LINGER_MS=250 >"$CONF/policy.conf")
        seal
}

# What `spoolgate seal` leaves where nothing is guarded and there is no env file.
seal() {
        mkdir -p "$STATE/seal"
        (umask 077 && printf '%s\n' "spoolgate-seal 1" "time $(iso | tr -d Z).000Z" "by tester" "commit -" "end 0" >"$STATE/seal/seal")
}

policy() { # LINE: replaces its key's
        sed -i "/^${1%%=*}=/d" "$CONF/policy.conf"
        echo "$1" >>"$CONF/policy.conf"
}

# one bounded run of the installed drain
drain() {
        timeout -k 2 40 env -i HOME="$H" PATH=/nonexistent "${FLOW_ENV[@]}" "$H/.local/lib/spoolgate/demo/spoolgate-drain" demo \
                2>"$T/drain.err" </dev/null
        DRAIN_RC=$?
        ! grep -q -e Sanitizer -e 'runtime error' "$T/drain.err" || fail "no sanitizer report" "$(cat "$T/drain.err")"
}

# ask VERB [ARG [MEMBERS]]: request and drain it
ask() {
        request "$@"
        drain
}

clean() { # NAME TEXT: no byte that a terminal would act upon
        if printf '%s' "$2" | LC_ALL=C grep -q $'[\001-\010\013-\037\177]'; then fail "$1" "$2"; else pass "$1"; fi
}

lacks() { # NAME TEXT PART
        if [[ $2 == *"$3"* ]]; then fail "$1" "got:    $2" $'\n'"not wanted: $3"; else pass "$1"; fi
}

logged() { # NAME-OF-CASE PATTERN TIMES: in the audit log, now or when the drain that was woken has written it
        await log_has "$2" "$3"
        equal "$1" "$(grep -cE -- "$2" "$STATE/audit.log")" "$3"
}

log_has() {
        [ "$(grep -cE -- "$1" "$STATE/audit.log")" -ge "$2" ]
}

settled() {
        case $(field "$1" state) in
        done | failed | denied | uncertain | expired) ;;
        *) return 1 ;;
        esac
}

settle() { # a drain; where an earlier one lingers, that one does it
        drain
        await settled "$NAME"
}
