# begin.sh - sourced by the installer's flow tests: an installed prefix of its own and a home, no systemd
#
#   . begin.sh; begin BUILD_ROOT SOURCE_ROOT
#
# Root re-executes itself as a free uid, since the installer refuses root. $T is the scratch directory, $H the home,
# $P a checkout (a bare .git folder: no git is run), $STACK a stack's program outside of it.
# shellcheck shell=bash disable=SC2034
if [ -f "${BASH_SOURCE[0]%/*}/lib.sh" ]; then . "${BASH_SOURCE[0]%/*}/lib.sh"; else . "${BASH_SOURCE[0]%/*}/../lib.sh"; fi

begin() {
        local build=$1 source=$2 here=${BASH_SOURCE[1]}
        if [ -z "${FLOW_TOP:-}" ]; then
                FLOW_TOP=$(mktemp -d "${TMPDIR:-/tmp}/flow.XXXXXX") || exit 2
                FLOW_TOP=$(cd -P -- "$FLOW_TOP" && pwd -P)
                FLOW_UID=$(id -u)
                if [ "$FLOW_UID" = 0 ]; then FLOW_UID=$(flow_free_uid); fi
                export FLOW_TOP FLOW_UID
                trap 'chmod -R u+rwx -- "$FLOW_TOP" 2>/dev/null; rm -rf -- "$FLOW_TOP"' EXIT
                trap 'exit 1' INT TERM HUP
                begin_prefix "$build" "$source"
                cp "${here%/*}"/*.sh "${BASH_SOURCE[0]}" "${BASH_SOURCE[0]%/*}/../lib.sh" "$FLOW_TOP/tests/"
                chmod 755 "$FLOW_TOP" "$FLOW_TOP"/*
                if [ "$(id -u)" = 0 ]; then
                        chown -R "$FLOW_UID:$FLOW_UID" "$FLOW_TOP"
                        setpriv --reuid "$FLOW_UID" --regid "$FLOW_UID" --clear-groups --no-new-privs \
                                bash "$FLOW_TOP/tests/${here##*/}" "$build" "$source"
                else
                        bash "$FLOW_TOP/tests/${here##*/}" "$build" "$source"
                fi
                exit $?
        fi
        umask 022
        T=$FLOW_TOP
        cd "$T" || exit 2
        PREFIX=$T/prefix
        printf '#!/bin/sh\necho "$@"\n' >"$T/stack"
        chmod 755 "$T/stack"
        STACK=$T/stack
}

# As `meson install` lays it out: the programs find their files from where they are.
begin_prefix() {
        local p=$FLOW_TOP/prefix
        mkdir -p "$FLOW_TOP/tests" "$p/bin" "$p/libexec/spoolgate" "$p/share/spoolgate/units" "$p/share/spoolgate/policy"
        cp "$1/src/spoolgate" "$p/bin/" || exit 2
        cp "$1/src/spoolgate-drain" "$1/src/spoolgate-inspect" "$p/libexec/spoolgate/" || exit 2
        cp "$2"/units/*.in "$p/share/spoolgate/units/"
        cp "$2/policy/policy.conf" "$p/share/spoolgate/policy/"
        cp "$2/src/agent/spoolgate-request" "$p/share/spoolgate/"
        mkdir "$p/share/spoolgate/agent"
        cp "$2"/src/agent/*.md "$2/src/agent/settings.json" "$2/src/agent/stop-hook" "$p/share/spoolgate/agent/"
}

# A home and a checkout, fresh; the checkout's folder is named $1.
fresh() {
        W=$T/w$((serial += 1))
        H=$W/home
        P=$W/${1:-demo}
        mkdir -p "$H" "$P/.git/info"
        echo /untracked/ >"$P/.git/info/exclude"
}

# spoolgate ARGS... in $P, in an environment of its own; sets RC, OUT and ERR
gate() {
        OUT=$(cd "$P" && timeout -k 2 60 env -i HOME="$H" PATH="${GATE_PATH:-/usr/bin:/bin}" SHELL=/bin/sh "${FLOW_ENV[@]}" "${GATE_ENV[@]}" \
                "$PREFIX/bin/spoolgate" "$@" 2>"$T/err" </dev/null)
        RC=$?
        ERR=$(cat "$T/err")
        case $ERR in
        *Sanitizer* | *"runtime error"*) fail "no sanitizer report" "$ERR" ;;
        esac
}
GATE_ENV=()

install() {
        gate install --no-units "$@"
}

# Everything below the home and the checkout: names, types, modes, times and contents.
snapshot() {
        (cd "$W" && find . ! -path ./home -printf '%p %y %m %T@ %s %i\n' | sort
                find "$W" -type f -exec sha256sum {} + | sort)
}

same() { # NAME BEFORE: the snapshot has not changed
        local now
        now=$(snapshot)
        if [ "$now" = "$2" ]; then pass "$1"; else fail "$1" "$(diff <(printf '%s\n' "$2") <(printf '%s\n' "$now"))"; fi
}

has() { # NAME TEXT PART
        if [[ $2 == *"$3"* ]]; then pass "$1"; else fail "$1" "got:    $2" $'\n'"wanted: $3"; fi
}

# refused NAME PATTERN ARGS...: exit 1, the text, and nothing written
refused() {
        local name=$1 pattern=$2 before
        shift 2
        before=$(snapshot)
        install "$@"
        equal "$name: exit" "$RC" 1
        # shellcheck disable=SC2254
        case $ERR in
        $pattern) pass "$name: text" ;;
        *) fail "$name: text" "got:     $ERR" $'\n'"pattern: $pattern" ;;
        esac
        equal "$name: nothing on stdout" "$OUT" ""
        same "$name: nothing written" "$before"
}
